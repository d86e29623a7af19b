//! `show`.

mod json;
mod module;
mod report;
mod subject;
mod text;

use std::sync::Arc;

use tofu_oci_explain::releases::describe;
use tofu_oci_fetch::{Trust, judged};
use tofu_oci_source::{Release, SourceError};
use tofu_oci_trust::Policy;
use tofu_oci_types::Platform;

use super::context::Context;
use super::install::working_dir;
use crate::args::ShowArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use json::ReleaseLine;
use report::{ShowReport, Signatures};
use subject::{ReleaseNaming, ShownSubject};
pub(super) use subject::{ReleaseQuestion, find};
pub(super) use text::reason;

/// Prints what is known of one release, or of a module.
pub(crate) async fn show(context: &Context, args: &ShowArgs) -> Result<(), Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let mut trust = crate::trust::load(&args.trust, &dir)?;
    if !args.key.is_empty() {
        let policy = Policy::with_keys(crate::trust::keys(&args.key)?);
        trust.policy = Arc::new(policy.with_predecessors(args.trust.predecessors.all()));
    }
    let ShowArgs { subject, lookup, access, .. } = args;
    let question = ReleaseQuestion { subject, lookup, access, chdir: args.chdir.as_deref() };
    let ShownSubject { release, naming } = match find(context, &question).await {
        Ok(found) => found,
        Err(error) if error.exit() == Exit::Fixable => {
            let module = module::find(context, args).await?.ok_or(error)?;
            return module::show(context, args, &trust, &module).await;
        }
        Err(error) => return Err(error),
    };
    let report =
        read(context, &release, naming, &trust, args.platform.clone()).await.map_err(|error| match naming {
            ReleaseNaming::Asked => Diagnostic::from(error),
            ReleaseNaming::ByItself | ReleaseNaming::Unnamed => Diagnostic::of_repository(error),
        })?;
    context.emit(&ReleaseLine::of(&report), || text::page(&report));
    Ok(())
}

/// Reads the packages and the signatures side by side.
async fn read(
    context: &Context,
    release: &Arc<dyn Release>,
    naming: ReleaseNaming,
    trust: &Trust,
    platform: Option<Platform>,
) -> Result<ShowReport, SourceError> {
    let described = describe(release, platform.as_ref(), context.reporter.as_ref());
    let (facts, signatures) = tokio::join!(described, signatures(&**release, naming, trust));
    Ok(ShowReport { facts: facts?, naming, signatures, platform })
}

async fn signatures(release: &dyn Release, naming: ReleaseNaming, trust: &Trust) -> Signatures {
    if naming == ReleaseNaming::Unnamed {
        return Signatures::Unnamed;
    }
    match judged(release, trust).await {
        Ok((verdict, standing)) => Signatures::Judged { verdict: Box::new(verdict), standing },
        Err(error) => Signatures::Failed(json::fault(&error)),
    }
}
