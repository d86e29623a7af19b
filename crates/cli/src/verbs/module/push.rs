//! `module push`.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_layout::annotation;
use tofu_oci_packer::{
    DistOptions, ModuleChecks, ModulePushRequest, PackedFiles, ReplaceTag, UnknownPlatforms, read_dist_with,
};
use tofu_oci_tfconfig::is_configuration_file;
use tofu_oci_types::Moment;

use crate::args::ModulePushArgs;
use crate::diagnostic::Diagnostic;
use crate::invocation;
use crate::page::Page;
use crate::signing_key::NamedSigner;
use crate::subject;
use crate::verbs::context::Context;
use crate::verbs::published::{self, PushLine};
use crate::verbs::push::place_after_folder;
use crate::verbs::sign::one_password;

/// Refuses a folder with the release files of a provider, and without a module.
fn demand_module(args: &ModulePushArgs) -> Result<(), Diagnostic> {
    let mut names = std::fs::read_dir(&args.dir).into_iter().flatten().flatten().map(|entry| entry.file_name());
    if args.skip_checks || names.any(|name| is_configuration_file(&name.to_string_lossy())) {
        return Ok(());
    }
    let options = DistOptions { version: None, unknown_platforms: UnknownPlatforms::Refuse };
    match read_dist_with(&args.dir, &options) {
        Ok(dist) if !dist.packages.is_empty() => {
            let words = format!("push {} {}", quoted(args), invocation::quoted(&args.destination));
            Err(Diagnostic::usage(format!("{} holds release files of a provider, and no module", args.dir.display()))
                .hint(format!(
                    "to publish them: {} --address HOST/NAMESPACE/TYPE",
                    invocation::with_all_options(&words)
                ))
                .hint("to publish the folder as a module all the same, add --skip-checks"))
        }
        _ => Ok(()),
    }
}

/// Publishes a module to a registry, or to a directory.
pub(super) async fn push(context: &Context, args: &ModulePushArgs) -> Result<(), Diagnostic> {
    let (end, named) = place_after_folder("module push", &args.dir, &args.destination)?;
    let version = subject::one_version(&args.destination, named, args.version.as_ref())?;
    let Some(version) = version else {
        let words = format!("module push {} {}", quoted(args), invocation::quoted(&args.destination));
        return Err(Diagnostic::usage("the version of the module is missing")
            .hint(format!("add it: {} --version 1.0.0", invocation::with_all_options(&words))));
    };
    demand_module(args)?;
    one_password(args.signer.key.key_password_stdin, args.access.identity.password_stdin)?;
    let connector = context.reach(&args.access, &[&end], None).await?;
    let signer = NamedSigner::of(&args.signer, context.reporter.as_ref()).await?;
    let request = ModulePushRequest {
        dir: &args.dir,
        version: &version,
        annotations: annotations(args)?,
        replace: if args.replace_tag { ReplaceTag::Replace } else { ReplaceTag::Refuse },
        files: PackedFiles::Chosen,
        checks: if args.skip_checks { ModuleChecks::Skip } else { ModuleChecks::Run },
        signer: signer.as_ref().map(NamedSigner::signer),
        work_dir: std::env::temp_dir(),
    };
    if args.dry_run {
        let store = connector.preview(&end)?;
        let plan = tofu_oci_packer::plan_module_push(&request, store.as_ref(), context.reporter.as_ref()).await?;
        return published::plan(context, PushLine::ModulePushPlan, &plan, (request.replace, Page::default()));
    }
    let store = connector.destination(&end)?;
    let report = tofu_oci_packer::push_module(&request, store.as_ref(), context.reporter.as_ref()).await?;
    store.persist().await?;
    published::report(context, PushLine::ModulePushed, &report, Page::default());
    Ok(())
}

fn quoted(args: &ModulePushArgs) -> String {
    invocation::quoted(&args.dir.to_string_lossy())
}

/// The annotations that the arguments and the environment name.
fn annotations(args: &ModulePushArgs) -> Result<BTreeMap<String, String>, Diagnostic> {
    let own = [
        (annotation::SOURCE, args.source.clone()),
        (annotation::REVISION, args.revision.clone()),
        (annotation::LICENSES, args.licenses.clone()),
        (annotation::CREATED, source_date()?),
    ];
    let mut annotations = BTreeMap::new();
    for (key, value) in own.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))) {
        annotations.insert(key, value);
    }
    let (mut given, created) = (args.annotations.iter(), annotation::CREATED);
    // The time that the user names counts more than the environment.
    if args.annotations.iter().any(|(key, _)| key == created) {
        annotations.remove(created);
    }
    match given.find(|(key, value)| annotations.insert(key.clone(), value.clone()).is_some()) {
        Some((key, _)) => Err(Diagnostic::usage(format!("the annotation {key} is given twice")).hint("give it once")),
        None => Ok(annotations),
    }
}

/// The moment in `SOURCE_DATE_EPOCH`, by which builds name the time of their source; without it a package has no time.
fn source_date() -> Result<Option<String>, Diagnostic> {
    let Some(text) = std::env::var_os("SOURCE_DATE_EPOCH").filter(|text| !text.is_empty()) else { return Ok(None) };
    let seconds = text.to_str().and_then(|text| text.parse::<u64>().ok()).filter(|seconds| *seconds < 1 << 38);
    match seconds {
        Some(seconds) => Ok(Some(Moment::from(UNIX_EPOCH + Duration::from_secs(seconds)).to_string())),
        None => Err(Diagnostic::usage("SOURCE_DATE_EPOCH is not a number of seconds since 1970")
            .hint("unset it, or set it to such a number: git log -1 --format=%ct")),
    }
}
