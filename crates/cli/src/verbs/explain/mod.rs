//! `resolve --explain`: every method, what it answers, who wins, and where `OpenTofu` would stop.
//!
//! ```text
//! Configured (as each release reads it) --steps--> [Step] --asked--> [Step] --verdict--> a Verdict each release
//!                                                                       |
//!                                                                       +--> text, or JSON lines
//! ```

mod ask;
mod line;
mod step;
mod text;
mod verdict;

use std::path::{Path, PathBuf};

use tofu_oci_lockfile::Guide;
use tofu_oci_mapper::config::MEASURED;
use tofu_oci_types::{Constraints, Platform, ProviderAddr, TofuRelease, Version};

use super::Context;
use super::install::LOCK_FILE;
use crate::args::ResolveArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use crate::exit::Exit;
use crate::lookup::{Configured, Finder, Opener};
use step::Step;
use tofu_oci_logins::Access;
use verdict::{Program, Verdict, verdict};

/// What was asked for.
struct Question<'a> {
    address: &'a ProviderAddr,
    constraints: &'a Constraints,
    platform: Platform,
    locked: Option<Locked>,
}

/// The version that the lock file names.
struct Locked {
    path: PathBuf,
    version: Version,
    /// The provider whose entry names it: the one that was asked for, or its predecessor.
    by: ProviderAddr,
    /// Whether it meets what was asked for.
    admitted: bool,
}

impl Question<'_> {
    /// The version to install: the locked one, or the newest that is admitted.
    fn select<'v>(&self, versions: &'v [Version]) -> Option<&'v Version> {
        match &self.locked {
            Some(locked) => Constraints::exactly(locked.version.clone()).select(versions),
            None => self.constraints.select(versions),
        }
    }
}

/// Who would do what.
struct Outcome {
    programs: Vec<Program>,
    verdict: Verdict,
}

/// Explains where an address would come from.
///
/// # Errors
/// What is wrong with the CLI configuration, after all that `OpenTofu` would do in spite of it; exit code 2.
pub(crate) async fn explain(
    context: &Context,
    args: &ResolveArgs,
    connector: Connector,
    address: &ProviderAddr,
    constraints: &Constraints,
) -> Result<(), Diagnostic> {
    if address.is_builtin() {
        return Err(Diagnostic::new(Exit::Fixable, format!("{address} is part of OpenTofu and Terraform themselves"))
            .hint("it comes from nowhere, and nothing needs to be installed"));
    }
    let platform = args.platform.clone().unwrap_or_else(Platform::current);
    let locked = if args.upgrade { None } else { locked(args.chdir.as_deref(), address, constraints)? };
    let question = Question { address, constraints, platform, locked };
    if args.lookup.from.is_some() {
        return explain_from(context, args, connector, &question).await;
    }
    let read = |release| Configured::new(&ReadConfig::read_as(release, args.chdir.as_deref())?, &args.lookup, &[]);
    let latest = read(TofuRelease::V1_13)?;
    let refused = latest.refuse(connector.access());
    // What is wrong there may have others shown than were meant.
    let ambient = matches!(connector.access(), Access::Ambient { .. });
    let doubtful = ambient && latest.reading.credential_errors().next().is_some();
    let opener = Opener::new(&latest, &if doubtful { connector.anonymous() } else { connector })?;
    let mut steps = step::steps(&latest, &opener, address);
    ask::ask(&mut steps, &latest, &opener, &question).await;
    let mut outcomes = Vec::new();
    for release in MEASURED {
        let program = Program::OpenTofu(release);
        if release == TofuRelease::V1_13 {
            add(&mut outcomes, program, verdict(&steps, &question, program));
            continue;
        }
        let configured = read(release)?;
        let mut others = step::steps(&configured, &opener, address);
        // The same file, read in the same way, needs no second round of questions.
        if step::same(&steps, &others) {
            add(&mut outcomes, program, verdict(&steps, &question, program));
        } else {
            ask::ask(&mut others, &configured, &opener, &question).await;
            add(&mut outcomes, program, verdict(&others, &question, program));
        }
    }
    let ours = match &refused {
        Ok(()) => verdict(&steps, &question, Program::Ours),
        Err(_) => Verdict::Refuses { errors: latest.reading.errors().count() },
    };
    outcomes.insert(0, Outcome { programs: vec![Program::Ours], verdict: ours });
    let overridden = latest.reading.config.installation.iter().flat_map(|there| &there.dev_overrides);
    let overridden = overridden.filter(|entry| entry.address == *address).map(|entry| entry.path.clone()).next();
    if context.json {
        line::print(&question, &steps, &outcomes, overridden.as_deref());
    } else {
        text::print(&question, &latest, &steps, &outcomes, overridden.as_deref());
    }
    refused
}

/// What the lock file of the directory says of an address.
fn locked(
    chdir: Option<&Path>,
    address: &ProviderAddr,
    constraints: &Constraints,
) -> Result<Option<Locked>, Diagnostic> {
    let path = chdir.map_or_else(|| PathBuf::from(LOCK_FILE), |dir| dir.join(LOCK_FILE));
    let guide = tofu_oci_lockfile::read(&path)?.file().guide(address);
    Ok(guide.map(|Guide { by, entry }| Locked {
        admitted: constraints.admits(&entry.version),
        version: entry.version,
        by,
        path,
    }))
}

/// Programs that do the same stand together.
fn add(outcomes: &mut Vec<Outcome>, program: Program, verdict: Verdict) {
    match outcomes.iter_mut().find(|outcome| outcome.verdict == verdict) {
        Some(outcome) => outcome.programs.push(program),
        None => outcomes.push(Outcome { programs: vec![program], verdict }),
    }
}

/// With `--from` there is one place, and `OpenTofu` knows nothing of it.
async fn explain_from(
    context: &Context,
    args: &ResolveArgs,
    connector: Connector,
    question: &Question<'_>,
) -> Result<(), Diagnostic> {
    let finder = Finder::new(&args.lookup, connector, args.chdir.as_deref(), &[])
        .map_err(|diagnostic| diagnostic.version_said(""))?;
    let places = finder.places(question.address).await?.found;
    let source = finder.source(question.address)?;
    let mut steps: Vec<Step> = places.into_iter().map(|found| Step::from_option(found.place, &source)).collect();
    ask::ask_one(&mut steps, question).await;
    let verdict = verdict(&steps, question, Program::Ours);
    let outcomes = vec![Outcome { programs: vec![Program::Ours], verdict }];
    if context.json {
        line::print(question, &steps, &outcomes, None);
    } else {
        text::print_from(question, &steps, &outcomes);
    }
    Ok(())
}
