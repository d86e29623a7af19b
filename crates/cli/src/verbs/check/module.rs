//! `check --module`.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_checker::facts::Depth;
use tofu_oci_checker::opentofu::AskedModule;
use tofu_oci_checker::{
    AskedModules, Group, ModuleCheckReport, ModuleCheckRequest, check_modules, needs_packages, refused_module,
};
use tofu_oci_store::ReadStore;
use tofu_oci_types::{OciModuleSource, Tag, Version, masked};

use super::against::{RepositoryDifferences, compare_modules};
use super::checked::{Checked, Predicted, Unjudged, idle};
use super::target::{Target, refuse_other_options};
use crate::args::CheckArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, LAYOUT_MARK};
use crate::exit::Exit;
use crate::page::counted;
use crate::subject;
use crate::verbs::context::Context;
use crate::verbs::typed::typed;

enum ModuleTarget {
    Repository(End, AskedModules),
    /// A source that `OpenTofu` refuses before it asks for anything.
    Refused(AskedModule),
}

/// Checks modules of a repository.
pub(super) async fn check(context: &Context, args: &CheckArgs, target: &str) -> Result<Checked, Diagnostic> {
    refuse(args)?;
    let looked = read(args, target)?;
    let deep = args.deep || matches!(looked, ModuleTarget::Repository(End::Layout(_), _));
    let depth = if deep { Depth::Packages } else { Depth::Manifests };
    let compared = compared(context, args, &looked).await?;
    let (shown, report) = match looked {
        ModuleTarget::Refused(asked) => (masked(target), refused_module(&asked, "")),
        ModuleTarget::Repository(End::Layout(dir), AskedModules::Source(asked)) if !dir.exists() => {
            let missing = format!("there is no repository {}", dir.display());
            (target.to_owned(), refused_module(&asked, &missing))
        }
        ModuleTarget::Repository(end, asked) => (end.to_string(), read_end(context, args, &end, asked, depth).await?),
    };
    let mut checked = checked(shown, report, depth);
    if let Some(found) = compared {
        found.into_checked(&mut checked);
    }
    Ok(checked)
}

/// The differences to the repository of `--against`, if it is given.
async fn compared(
    context: &Context,
    args: &CheckArgs,
    looked: &ModuleTarget,
) -> Result<Option<RepositoryDifferences>, Diagnostic> {
    let Some(other) = args.against.as_deref() else { return Ok(None) };
    let (end, version) = match looked {
        ModuleTarget::Repository(end, AskedModules::EveryTag) => (end, None),
        ModuleTarget::Repository(end, AskedModules::Tag(tag)) => (end, tag.version()),
        ModuleTarget::Repository(_, AskedModules::Source(_)) | ModuleTarget::Refused(_) => {
            return Err(Diagnostic::usage(
                "--against compares repositories, and the argument is the source of a module",
            )
            .hint("name the repository: check REGISTRY/REPOSITORY --module --against OTHER"));
        }
    };
    Ok(Some(compare_modules(context, args, (end, other), version.as_ref()).await?))
}

/// The same of a repository that turned out to hold modules.
pub(super) async fn of_store(
    context: &Context,
    end: &End,
    store: &dyn ReadStore,
    version: Option<&Version>,
    depth: Depth,
) -> Result<Checked, Diagnostic> {
    let request = ModuleCheckRequest { asked: of_version(version)?, depth, work_dir: &std::env::temp_dir() };
    let report = check_modules(store, &request, context.reporter.as_ref()).await?;
    Ok(checked(end.to_string(), report, depth))
}

/// Every tag, or that of a version.
fn of_version(version: Option<&Version>) -> Result<AskedModules, Diagnostic> {
    Ok(version.map(tag).transpose()?.map_or(AskedModules::EveryTag, AskedModules::Tag))
}

fn checked(target: String, report: ModuleCheckReport, depth: Depth) -> Checked {
    let ModuleCheckReport { predictions, findings, not_judged } = report;
    Checked {
        target,
        looked_at: format!("{} looked at", counted(predictions.len(), "module")),
        groups: vec![Group::Modules],
        left_out: match depth {
            Depth::Packages => BTreeMap::new(),
            Depth::Manifests => idle(needs_packages, "the packages were not read; --deep reads them"),
        },
        findings,
        not_judged: not_judged.into_iter().map(Unjudged::from).collect(),
        predicted: Some(Predicted::Modules(predictions)),
        ..Checked::default()
    }
}

async fn read_end(
    context: &Context,
    args: &CheckArgs,
    end: &End,
    asked: AskedModules,
    depth: Depth,
) -> Result<ModuleCheckReport, Diagnostic> {
    let store = context.reach(&args.access, &[end], args.chdir.as_deref()).await?.source(end)?;
    let request = ModuleCheckRequest { asked, depth, work_dir: &std::env::temp_dir() };
    Ok(check_modules(store.as_ref(), &request, context.reporter.as_ref()).await?)
}

fn refuse(args: &CheckArgs) -> Result<(), Diagnostic> {
    refuse_other_options(args)?;
    let policy = args.trust.trust_policy.as_deref().and_then(Path::to_str);
    if typed(policy, "TOFU_OCI_TRUST_POLICY") {
        return Err(Diagnostic::usage("--trust-policy has no meaning here: check --module looks at no signatures")
            .hint("leave the option out"));
    }
    Ok(())
}

fn read(args: &CheckArgs, target: &str) -> Result<ModuleTarget, Diagnostic> {
    if subject::is_oci_source(target) {
        if args.source.is_some() || args.version.is_some() {
            let option = if args.source.is_some() { "--source" } else { "--version" };
            return Err(Diagnostic::usage(format!("{option} has no meaning here: the argument is a source"))
                .hint("name the tag or digest in it: ?tag=1.0.0"));
        }
        return Ok(match AskedModule::of_source(target) {
            (asked, Some(source)) => {
                ModuleTarget::Repository(End::Registry(source.repository().clone()), AskedModules::Source(asked))
            }
            (asked, None) => ModuleTarget::Refused(asked),
        });
    }
    let (end, version) = match Target::parse(target)? {
        Target::Repository(end, version) => (end, version),
        Target::LockFile(path) => {
            return Err(Diagnostic::usage(format!("--module takes a repository, and {} is a file", path.display()))
                .hint("write REGISTRY/REPOSITORY, oci:DIR or oci://HOST/REPOSITORY?tag=TAG"));
        }
    };
    let version = subject::one_version(&end.to_string(), version, args.version.as_ref())?;
    let Some(text) = &args.source else {
        return Ok(ModuleTarget::Repository(end, of_version(version.as_ref())?));
    };
    if version.is_some() {
        return Err(Diagnostic::usage("--source names the package, so that no version can be named beside it")
            .hint("name the tag in the source: ?tag=1.0.0"));
    }
    if !subject::is_oci_source(text) {
        return Err(Diagnostic::usage(format!("`{}` is not an oci:// source", masked(text)))
            .hint("write it as in a module block: 'oci://HOST/REPOSITORY//FOLDER?tag=1.0.0'"));
    }
    Ok(match AskedModule::of_source(text) {
        (asked, Some(source)) => ModuleTarget::Repository(layout_of(end, &source), AskedModules::Source(asked)),
        (asked, None) => ModuleTarget::Refused(asked),
    })
}

fn tag(version: &Version) -> Result<Tag, Diagnostic> {
    Tag::for_version(version).map_err(|error| Diagnostic::of(Exit::Usage, &error))
}

/// A directory that is not an image layout itself holds one for each repository, by its name.
fn layout_of(end: End, source: &OciModuleSource) -> End {
    match end {
        End::Layout(dir) if dir.is_dir() && !dir.join(LAYOUT_MARK).exists() => {
            End::Layout(dir.join(source.repository().name()))
        }
        end => end,
    }
}
