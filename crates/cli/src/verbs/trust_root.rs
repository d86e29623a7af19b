//! `trust root`: what proves signatures by certificates.

mod files;
mod tuf_files;

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use tofu_oci_fetch::FolderLock;
use tofu_oci_trust::{DescribedRoot, RootChain, RootMember, TufError, built_in_roots};
use tofu_oci_types::{Digest, PathText};

use self::files::{KeptState, demand_file, read, unwritable, write};
use self::tuf_files::TufFiles;
use crate::args::{TrustRootUpdateArgs, TrustRootVerb};
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::page::{Page, padded};
use crate::verbs::context::Context;
use crate::verbs::install::working_dir;

/// A root that is built in, or that a file has.
#[derive(Serialize)]
#[serde(tag = "event", rename = "trust-root")]
struct ShownRoot<'a> {
    #[serde(flatten)]
    root: &'a DescribedRoot,
}

/// A root that was written.
#[derive(Serialize)]
#[serde(tag = "event", rename = "trust-root-updated")]
struct UpdatedRoot<'a> {
    path: PathText<'a>,
    sha256: String,
    /// The version of the root of TUF that signed it in the end.
    root_version: u64,
    /// The version of the list of targets that names it.
    targets_version: u64,
    /// Whether the file had other bytes before.
    changed: bool,
}

/// Runs one of its verbs.
pub(crate) async fn run(context: &Context, verb: &TrustRootVerb) -> Result<(), Diagnostic> {
    match verb {
        TrustRootVerb::Show(args) => {
            let policy = crate::trust::load(&args.trust, &working_dir(None)?)?.policy;
            let roots: Vec<DescribedRoot> = built_in_roots().into_iter().chain(policy.roots()).collect();
            print(context, &roots);
            Ok(())
        }
        TrustRootVerb::Verify(args) => {
            let text = read(&args.file)?;
            print(context, &[described(&args.file, &text)?]);
            Ok(())
        }
        TrustRootVerb::Update(args) => update(context, args).await,
    }
}

fn described(path: &Path, text: &[u8]) -> Result<DescribedRoot, Diagnostic> {
    DescribedRoot::read(&path.display().to_string(), text).map_err(|problem| {
        Diagnostic::new(Exit::Fixable, format!("the trusted root {} cannot be used: {problem}", path.display()))
            .code("trust-root-invalid")
            .hint("a trusted_root.json is what `tofu-oci trust root update` or `cosign trusted-root create` writes")
    })
}

fn print(context: &Context, roots: &[DescribedRoot]) {
    let page = || {
        let mut page = Page::default();
        for (nth, root) in roots.iter().enumerate() {
            if nth > 0 {
                page.gap();
            }
            page.line(&root.name);
            let row = |what: &str, text: &str| format!("  {}{text}", padded(what, 17));
            if let Some(date) = &root.date {
                page.line(row("taken", date));
            }
            for (what, members) in [
                ("authority", &root.authorities),
                ("log", &root.logs),
                ("certificate log", &root.certificate_logs),
                ("timestamps", &root.timestamp_authorities),
            ] {
                for member in members {
                    page.line(row(what, &valid(member)));
                }
            }
        }
        page
    };
    context.emit_all(|lines| lines.add_all(roots.iter().map(|root| ShownRoot { root })), page);
}

fn valid(RootMember { name, from, until }: &RootMember) -> String {
    let day = |time: &Option<String>| time.as_ref().map(|time| time.chars().take(10).collect::<String>());
    match (day(from), day(until)) {
        (None, None) => name.clone(),
        (Some(from), None) => format!("{name}  since {from}"),
        (None, Some(until)) => format!("{name}  until {until}"),
        (Some(from), Some(until)) => format!("{name}  {from} to {until}"),
    }
}

async fn update(context: &Context, args: &TrustRootUpdateArgs) -> Result<(), Diagnostic> {
    let path = &args.target;
    demand_file(path)?;
    // A link stays one.
    let real = tofu_oci_disk::resolve_links(path).map_err(|error| unwritable(path, &error))?;
    demand_file(&real)?;
    let files = TufFiles::open(context, args)?;
    // What proves a root must not change between reading and writing it.
    let waiter = context.waiter(&args.access.network);
    let _folder_lock = FolderLock::take(&real, &waiter, context.reporter.as_ref()).await?;
    let kept = KeptState::read(&real)?;
    let failed = |error: TufError| {
        let not_proven =
            Diagnostic::new(Exit::Fixable, format!("{} does not prove a trusted root: {error}", args.from))
                .code("trust-root-not-proven");
        if matches!(error, TufError::OtherInstance) {
            return not_proven
                .hint(kept.other_instance())
                .hint("name the root of an instance of your own with --tuf-root, and a file for each with --output")
                .hint(kept.hint());
        }
        let not_proven = not_proven
            .hint("nothing was written; take a newer copy of the repository, or look at the clock of this machine");
        match (&error, &kept.state) {
            (TufError::Rollback { .. }, Some(_)) => not_proven.hint(kept.hint()),
            _ => not_proven,
        }
    };
    let chain = match &args.tuf_root {
        Some(path) => {
            let root = read(path)?;
            RootChain::of(&root, SystemTime::now()).map_err(|error| {
                Diagnostic::new(Exit::Fixable, format!("{} is no root of TUF to begin with: {error}", path.display()))
                    .code("trust-root-not-proven")
                    .hint("nothing was written; name the root.json of the instance, such as 1.root.json")
            })?
        }
        None => RootChain::built_in(SystemTime::now()),
    };
    let mut chain = chain.remembering(kept.state.clone());
    while let Some(wanted) = chain.wanted() {
        let Some(next) = files.read(&wanted).await? else { break };
        chain.root(&next).map_err(failed)?;
    }
    let wanted = chain.timestamp(&files.demand(&RootChain::timestamp_wanted()).await?).map_err(failed)?;
    let snapshot = files.demand(&wanted.wanted()).await?;
    let wanted = wanted.snapshot(&snapshot).map_err(failed)?;
    let targets = files.demand(&wanted.wanted()).await?;
    let wanted = wanted.targets(&targets).map_err(failed)?;
    let text = files.demand(&wanted.wanted()).await?;
    wanted.target(&text).map_err(failed)?;
    described(path, &text)?;
    let changed = read(path).ok().as_ref() != Some(&text);
    let versions = wanted.state().versions;
    kept.write(wanted.state())?;
    if changed {
        write(&real, &text)?;
    }
    let updated = UpdatedRoot {
        path: PathText(path),
        sha256: Digest::sha256(&text).encoded().to_owned(),
        root_version: versions.root,
        targets_version: versions.targets,
        changed,
    };
    context.emit(&updated, || {
        let mut page = Page::default();
        let done = if changed { "wrote" } else { "already in" };
        page.line(format_args!("{done} {}", path.display()));
        page.line(format_args!("to use it: root = {:?} in an [[identity]] of trust.toml", path.display().to_string()));
        page
    });
    Ok(())
}
