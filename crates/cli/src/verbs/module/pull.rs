//! `module pull`.

use std::fmt;
use std::path::Path;

use serde::Serialize;
use tofu_oci_archive::Limits;
use tofu_oci_fetch::{ModuleDir, ModulePlaced, ModuleStanding, Replace, SignedBy, fetch_module, judge_module};
use tofu_oci_tfconfig::{PackageModulesError, package_modules};
use tofu_oci_types::{Digest, Event, GitReference, PackageHash, Place, Version};

use super::mapped::{MappedBy, MappedModule};
use super::open::{self, OpenedModule};
use crate::args::ModulePullArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;
use crate::modules;
use crate::page::{Page, counted};
use crate::report::human_bytes;
use crate::subject::{is_oci_source, module_name};
use crate::trust;
use crate::verbs::context::Context;

/// Fetches a module into a folder.
pub(super) async fn pull(context: &Context, args: &ModulePullArgs) -> Result<(), Diagnostic> {
    let name = module_name(&args.source).map_err(|diagnostic| {
        let dir = args.dir.to_string_lossy();
        let is_folder = args.source.starts_with(['.', '/']) || !args.source.contains('/');
        if (is_folder || is_oci_source(&dir)) && module_name(&dir).is_ok() {
            return Diagnostic::usage("`module pull` takes the source first, and then the folder")
                .hint(invocation::with_first(&dir));
        }
        diagnostic
    })?;
    let working_dir = std::env::current_dir()
        .map_err(|error| Diagnostic::new(Exit::Fixable, format!("the current folder cannot be read: {error}")))?;
    let target = ModuleDir::new(&args.dir, &working_dir)?;
    let trust = trust::load(&args.trust, Path::new("."))?;
    let mapped = MappedModule::of(&modules::load(&args.mapping, &args.trust.predecessors, Path::new("."))?, &name)?;
    let connector = open::connector(context, &name, mapped.as_ref(), &args.access, None).await?;
    let found = open::find(&name, mapped.as_ref(), &connector).await?;
    open::note_other_address(context, &name, &found, trust.policy.predecessors());
    let OpenedModule { package, version, subject, .. } = found;
    let (reporter, limits) = (context.reporter.as_ref(), Limits::default());
    let standing = judge_module(&package, version.as_ref(), &trust, reporter).await?;
    let fetched = fetch_module(&package, &target, &subject, &limits, reporter).await?;
    let outside = calls_outside(fetched.path());
    let commit = fetched.commit().cloned();
    let (h1, files, bytes, folder) = (fetched.h1(), fetched.files(), fetched.bytes(), fetched.subdir().to_owned());
    let replace = if args.force { Replace::Everything } else { Replace::Never };
    let placed = fetched.place(replace, &limits).await?;
    let outcome = match placed {
        ModulePlaced::Now => "pulled",
        ModulePlaced::Replaced => "replaced",
        ModulePlaced::Before => "up-to-date",
    };
    reporter.event(&Event::Finished { subject, outcome: outcome.to_owned() });
    if let Some(outside) = outside {
        let (what, hint) = match folder.as_str() {
            "" => ("outside of its package".to_owned(), "OpenTofu refuses such a module; tell its publisher"),
            folder => (format!("outside of //{folder} and was not pulled"), "pull the whole package: omit //SUB"),
        };
        let text = format!("the module calls {outside}, which is {what}");
        reporter.event(&Event::warning("call-outside-folder", text).with_hint(hint));
    }
    let signers = match &standing {
        ModuleStanding::Signed(signers) => signers.as_slice(),
        ModuleStanding::NotJudged | ModuleStanding::Unsigned => &[],
    };
    let line = PulledModule {
        outcome,
        dir: target.shown(),
        source: package.place(),
        mapped_by: mapped.as_ref().map(|mapped| &mapped.by),
        version: version.as_ref(),
        manifest: package.manifest(),
        git: package.git().map(|checkout| checkout.source().to_string()),
        commit: commit.as_ref().map(GitReference::as_str),
        folder: &folder,
        files,
        bytes,
        h1: &h1,
        signers,
    };
    context.emit(&line, || page(&line));
    Ok(())
}

/// The source of the first call that leads out of the folder.
fn calls_outside(folder: &Path) -> Option<String> {
    // Whatever else is wrong with a module, OpenTofu says when it reads it.
    match package_modules(folder, "") {
        Err(PackageModulesError::Escapes { source_text, .. }) => Some(source_text),
        _ => None,
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-pulled")]
struct PulledModule<'a> {
    outcome: &'static str,
    dir: &'a Path,
    /// The repository or directory, or the host of the archive.
    source: &'a Place,
    /// The rule that maps the module to that repository.
    mapped_by: Option<&'a MappedBy>,
    version: Option<&'a Version>,
    manifest: Option<&'a Digest>,
    /// The git repository with the reference, and the commit that was fetched.
    git: Option<String>,
    commit: Option<&'a str>,
    folder: &'a str,
    files: usize,
    bytes: u64,
    h1: &'a PackageHash,
    signers: &'a [SignedBy],
}

fn page(line: &PulledModule<'_>) -> Page {
    let PulledModule { outcome, dir, source, mapped_by, version, manifest, git, commit, files, bytes, signers, .. } =
        line;
    let source: &dyn fmt::Display = match git {
        Some(git) => git,
        None => source,
    };
    let named = version.map(|version| format!(" {version}")).unwrap_or_default();
    let dir = dir.display();
    let mut page = Page::of(match *outcome {
        "up-to-date" => format!("{dir} has the module{named} already; nothing was changed"),
        "replaced" => format!("pulled the module{named} from {source} into {dir}, and removed what was there"),
        _ => format!("pulled the module{named} from {source} into {dir}"),
    });
    if let Some(by) = mapped_by {
        page.line(format_args!("  mapped by {by}"));
    }
    if let Some(manifest) = manifest {
        page.line(format_args!("  manifest {manifest}"));
    }
    if let Some(commit) = commit {
        page.line(format_args!("  commit {commit}"));
    }
    page.line(format_args!("  {}, {}", counted(*files, "file"), human_bytes(*bytes)));
    if !signers.is_empty() {
        let keys: Vec<&str> = signers.iter().map(|signer| signer.name.as_str()).collect();
        page.line(format_args!("  signed by {}", keys.join(", ")));
    }
    page
}
