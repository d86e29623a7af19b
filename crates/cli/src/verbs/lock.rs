//! `lock`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_fetch::Trust;
use tofu_oci_installer::{
    Basis, LockDifference, LockOptions, LockReport, LockRequest, LockWrite, LockedPlatform, LockedProvider, Upgrade,
};
use tofu_oci_lockfile::{LOCK_FILE_NAME, WriteOutcome};
use tofu_oci_tfconfig::TfConfigError;
use tofu_oci_trust::{ManifestChecksums, Policy, Standing};
use tofu_oci_types::{Constraints, ProviderAddr};

use super::context::{Context, config_folder};
use super::install::{finder, working_dir};
use super::locked::{LockChange, changes, diff};
use super::printed::shown;
use super::required::{demand_opentofu, given, nothing_required, required};
use crate::args::LockArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::From;
use crate::exit::Exit;
use crate::invocation;
use crate::lookup::Finder;
use crate::page::Page;
use crate::report::{JsonLines, human_bytes};
use crate::subject;

/// Brings the lock file up to date for all platforms, or says what that would change.
pub(crate) async fn lock(context: &Context, args: &LockArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    args.lookup.from.as_deref().map(From::parse).transpose()?;
    let wanted = wanted(context, args, &dir)?;
    let path = dir.join(LOCK_FILE_NAME);
    demand_opentofu(&wanted.providers, tofu_oci_lockfile::read(&path)?.file())?;
    let trust = trust(args, &wanted.providers, &dir)?;
    let finder = finder(context, &args.lookup, &args.access, args.chdir.as_deref(), &[]).await?;
    finder.tell_apart(&wanted.providers, trust.policy.predecessors()).await?;
    let jobs = jobs(args, &wanted.providers, &finder)?;
    let write = if args.check { LockWrite::Compare } else { LockWrite::Write };
    let mut options = LockOptions::new(path.clone(), write, std::env::temp_dir(), trust);
    if let Some(jobs) = args.jobs {
        options.parallel = usize::from(jobs);
    }
    options.waiter = context.waiter(&args.access.network);
    options.configured = wanted.configured;
    tracing::info!(providers = jobs.len(), lock_file = %path.display(), "locking");
    let locked = tofu_oci_installer::lock(jobs, &options, context.reporter.as_ref()).await;
    let report = locked.map_err(|error| Diagnostic::from(error).hint("the lock file is as it was"))?;
    print(context, args, &path, &report);
    match report.difference {
        LockDifference::Entries if args.check => Err(not_up_to_date(&path)),
        _ => Ok(()),
    }
}

/// What is trusted; with `--no-ch` the rules want no `ch:` lines.
fn trust(args: &LockArgs, wanted: &[(ProviderAddr, Constraints)], dir: &Path) -> Result<Trust, Diagnostic> {
    let trust = crate::trust::load(&args.trust, dir)?;
    let trust = Trust { renamed: args.rename.or(subject::renamed(args.providers.iter())), ..trust };
    if !args.no_ch {
        return Ok(trust);
    }
    let demanded =
        |address: &&ProviderAddr| trust.policy.rule(address).manifest_checksums == ManifestChecksums::Required;
    if let Some(address) = wanted.iter().map(|(address, _)| address).find(demanded) {
        return Err(Diagnostic::usage(format!(
            "--no-ch contradicts the trust policy, which demands ch: lines of {address}"
        ))
        .code("ch-demanded")
        .hint("omit --no-ch, or change manifest_checksums = \"required\" in the rule to \"off\""));
    }
    Ok(Trust { policy: Arc::new(Policy::clone(&trust.policy).without_manifest_checksums()), ..trust })
}

fn not_up_to_date(path: &Path) -> Diagnostic {
    Diagnostic::new(Exit::Fixable, format!("{} is not what `tofu-oci lock` writes", shown(path)))
        .code("lock-outdated")
        .hint(format!("write it: {}; look at the difference, and commit the file", invocation::this_without("check")))
}

fn jobs(
    args: &LockArgs,
    wanted: &[(ProviderAddr, Constraints)],
    finder: &Finder,
) -> Result<Vec<LockRequest>, Diagnostic> {
    let platforms = if args.platform.is_empty() {
        tofu_oci_installer::PlatformChoice::Offered
    } else {
        tofu_oci_installer::PlatformChoice::Named(args.platform.clone())
    };
    let job = |(address, constraints): &(ProviderAddr, Constraints)| {
        Ok(LockRequest {
            address: address.clone(),
            constraints: constraints.clone(),
            source: finder.source(address)?,
            platforms: platforms.clone(),
            upgrade: if args.upgrade { Upgrade::Newest } else { Upgrade::KeepLocked },
        })
    };
    wanted.iter().map(job).collect()
}

struct Wanted {
    /// Each with what its version must meet.
    providers: Vec<(ProviderAddr, Constraints)>,
    /// What the configuration says of its providers; empty without a configuration.
    configured: BTreeMap<ProviderAddr, Constraints>,
}

/// What the configuration requires, or what was named; a configuration must require that too, if there is one.
///
/// Spec: `OpenTofu` 1.12, `providers lock`: "is not required by the current configuration".
fn wanted(context: &Context, args: &LockArgs, dir: &Path) -> Result<Wanted, Diagnostic> {
    let named = given(&args.providers)?;
    let folder = config_folder(context, dir, &args.tests);
    let configured: BTreeMap<_, _> = match required(context, &folder) {
        Err(TfConfigError::NoConfiguration { .. }) if !named.is_empty() => BTreeMap::new(),
        required => required.map_err(Diagnostic::of_needed_configuration)?.into_iter().collect(),
    };
    if named.is_empty() && configured.is_empty() {
        return Err(nothing_required(&folder));
    }
    if named.is_empty() {
        let providers = configured.iter().map(|(address, constraints)| (address.clone(), constraints.clone()));
        return Ok(Wanted { providers: providers.collect(), configured });
    }
    if let Some((stranger, _)) = named.iter().find(|(address, _)| !configured.contains_key(address))
        && !configured.is_empty()
    {
        let list: Vec<String> = configured.keys().map(ToString::to_string).collect();
        return Err(Diagnostic::usage(format!("the configuration does not require {stranger}"))
            .hint(format!("it requires {}", list.join(", "))));
    }
    let both = |(address, constraints): (ProviderAddr, Constraints)| {
        let constraints = configured.get(&address).map_or(constraints.clone(), |theirs| theirs.and(&constraints));
        (address, constraints)
    };
    Ok(Wanted { providers: named.into_iter().map(both).collect(), configured })
}

#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
enum LockLine<'a> {
    Locked(&'a LockedProvider),
    /// What the lock file becomes, or would become.
    Lock {
        #[serde(serialize_with = "tofu_oci_types::path_as_text")]
        path: &'a Path,
        outcome: &'static str,
        difference: LockDifference,
        changes: &'a [LockChange],
        diff: Option<&'a str>,
    },
}

fn print(context: &Context, args: &LockArgs, path: &Path, report: &LockReport) {
    let changes = changes(report.before.file(), &report.after);
    let diff = (args.check && report.difference != LockDifference::None).then(|| diff(&report.before, &report.after));
    let outcome = match (report.written, report.difference) {
        (WriteOutcome::Created, _) => "created",
        (WriteOutcome::Updated, _) => "updated",
        (WriteOutcome::Unchanged, LockDifference::None) => "unchanged",
        (WriteOutcome::Unchanged, _) => "would-change",
    };
    let (changes, diff, difference) = (changes.as_slice(), diff.as_deref(), report.difference);
    let lines = |lines: &JsonLines| {
        lines.add_all(report.providers.iter().map(LockLine::Locked));
        lines.add(&LockLine::Lock { path, outcome, difference, changes, diff });
    };
    context.emit_all(lines, || {
        let mut page = Page::default();
        report.providers.iter().for_each(|locked| provider(args, locked, &mut page));
        page.line(format_args!("lock file {} {}", shown(path), outcome.replace('-', " ")));
        if report.before.text().is_some() {
            for change in changes {
                page.line(format_args!("  {}", change.text()));
            }
        }
        if difference == LockDifference::OptionalManifests && args.check {
            page.line("  it differs only by ch: lines, which every init drops, and no rule demands them");
        }
        if let Some(diff) = diff {
            page.gap();
            page.block("", diff);
        }
        page
    });
}

fn provider(args: &LockArgs, provider: &LockedProvider, page: &mut Page) {
    let LockedProvider { address, version, place, platforms, restored, .. } = provider;
    page.line(format_args!("{address} {version} from {place}"));
    if let Some(published_as) = &provider.published_as {
        page.line(format_args!("  published as {published_as}"));
    }
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for platform in platforms {
        let basis = basis(platform);
        let name = platform.platform.to_string();
        match groups.iter_mut().find(|(known, _)| *known == basis) {
            Some((_, names)) => names.push(name),
            None => groups.push((basis, vec![name])),
        }
    }
    for (basis, names) in groups {
        page.line(format_args!("  {basis}: {}", names.join(", ")));
    }
    match provider.bytes() {
        0 => {}
        bytes => page.line(format_args!("  {} downloaded", human_bytes(bytes))),
    }
    let lines = match restored.len() {
        0 => return,
        1 => "1 ch: line".to_owned(),
        count => format!("{count} ch: lines"),
    };
    page.line(match (provider.seen_before, args.check) {
        // Seen before is not dropped: a release whose archives alone are signed has `zh:` lines without them at first.
        (true, true) => format!("  {lines} would be added; every init drops such lines"),
        (true, false) => format!("  {lines} added; every init drops such lines"),
        (false, true) => format!("  {lines} would be added"),
        (false, false) => format!("  {lines} added"),
    });
}

/// Why `lock` trusts a platform's checksums.
fn basis(platform: &LockedPlatform) -> String {
    let names: Vec<&str> = platform.trust.signers.iter().map(|signer| signer.name.as_str()).collect();
    let by = if names.is_empty() { String::new() } else { format!(" by {}", names.join(", ")) };
    let signed = match platform.trust.standing {
        Standing::Signed => format!("signed{by}"),
        Standing::Pinned => format!("signed before{by}"),
        Standing::Unsigned => "unsigned".to_owned(),
    };
    match (platform.basis, platform.trust.standing) {
        (Basis::SignedAtOrigin, Standing::Unsigned) => "signed by a key that its registry names".to_owned(),
        (Basis::Signed | Basis::SignedAtOrigin, _) => signed,
        (Basis::Downloaded, Standing::Unsigned) => "downloaded and verified".to_owned(),
        (Basis::Downloaded, _) => format!("{signed}, downloaded for what that does not cover"),
        (Basis::Kept, Standing::Unsigned) => "locked already".to_owned(),
        (Basis::Kept, _) => format!("locked already, {signed}"),
    }
}
