//! A module in a repository or directory: what it is, and what lies beside it.

use serde::Serialize;
use tofu_oci_explain::releases::{AttachedReferrer, attached};
use tofu_oci_fetch::{ReleaseWithEvidence, SignatureStanding, Trust};
use tofu_oci_layout::annotation;
use tofu_oci_source::Listing;
use tofu_oci_store::ReadStore;
use tofu_oci_trust::Examined;
use tofu_oci_types::{Constraints, Digest, Place, Reference, ReleaseName, Subdir, Tag, Version};

use super::report::{Attached, Signatures, unlisted};
use super::text;
use crate::args::ShowArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::page::Page;
use crate::verbs::context::{Context, tagged};
use crate::verbs::module::open::{self as module_open, OpenedModule};
use crate::verbs::typed::refuse_given;
use crate::verbs::verify::CodeAndText;

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-release")]
struct ModuleLine<'a> {
    version: &'a Version,
    place: &'a Place,
    tag: &'a Tag,
    manifest: &'a Digest,
    source: Option<&'a String>,
    signatures: Option<&'a SignatureStanding>,
    evidence: &'a [Examined],
    evidence_error: Option<CodeAndText>,
    attached: Option<&'a [AttachedReferrer]>,
}

/// The module that the argument names, the newest of a repository if it names no version; `None` if it names none.
pub(super) async fn find(context: &Context, args: &ShowArgs) -> Result<Option<OpenedModule>, Diagnostic> {
    let (end, version) = match crate::subject::read(&args.subject)? {
        ReleaseName::Repository { repository, version } => (End::Registry(repository), Some(version)),
        ReleaseName::Layout { dir, version } => (End::Layout(dir), Some(version)),
        ReleaseName::Whole(text) if args.lookup.from.is_none() => match End::parse(&text) {
            Ok(end) => (end, None),
            Err(_) => return Ok(None),
        },
        ReleaseName::Provider { .. } | ReleaseName::Whole(_) => return Ok(None),
    };
    let store = context.reach(&args.access, &[&end], args.chdir.as_deref()).await?.source(&end)?;
    let version = match version {
        Some(version) => Some(version),
        None => newest(store.as_ref()).await,
    };
    let Some(Ok(tag)) = version.as_ref().map(Tag::for_version) else { return Ok(None) };
    let found = module_open::in_store(store, &end, &Reference::Tag(tag), &Subdir::root()).await;
    Ok(found.ok().filter(|module| module.package.repository().is_some()))
}

async fn newest(store: &dyn ReadStore) -> Option<Version> {
    let listing = Listing::in_store(store, &store.tags().await.ok()?).await.ok()?;
    Constraints::any().select(&listing.versions).cloned()
}

/// Prints what is known of a module.
pub(super) async fn show(
    context: &Context,
    args: &ShowArgs,
    trust: &Trust,
    module: &OpenedModule,
) -> Result<(), Diagnostic> {
    let OpenedModule { package, version: Some(version), tag: Some(tag), .. } = module else { return Ok(()) };
    let Some((store, descriptor)) = package.repository() else { return Ok(()) };
    refuse_given(
        &[("--platform", args.platform.is_some())],
        |option| format!("{option} is for providers, and `{}` is a module", args.subject),
        "omit it: a module has one package for all platforms",
    )?;
    module_open::refuse_for_module(&args.subject, &args.lookup, &[])?;
    let judged = ReleaseWithEvidence::of_module(package, Some(version), Some(tag));
    let (judged, attached) = tokio::join!(judged, attached(store.as_ref(), &descriptor.digest));
    let signatures = match judged {
        Ok(mut found) => {
            let verdict = Box::new(found.judge(trust));
            let standing = found.standing(&verdict, trust);
            Signatures::Judged { verdict, standing }
        }
        Err(error) => Signatures::Failed(CodeAndText { code: error.code(), text: error.to_string() }),
    };
    let (standing, evidence, error) = signatures.line();
    let line = ModuleLine {
        version,
        place: package.place(),
        tag,
        manifest: &descriptor.digest,
        source: package.about().and_then(|about| about.annotations().get(annotation::SOURCE)),
        signatures: standing,
        evidence,
        evidence_error: error.cloned().or_else(|| unlisted(&attached)),
        attached: attached.as_deref().ok(),
    };
    context.emit(&line, || page(&line, &signatures, &attached));
    Ok(())
}

fn page(line: &ModuleLine<'_>, signatures: &Signatures, attached: &Attached) -> Page {
    let mut page = Page::of(format_args!("module {} {}", line.place, line.version));
    page.row("  ", "place", tagged(line.place, line.tag));
    page.row("  ", "manifest", line.manifest);
    line.source.iter().for_each(|source| page.row("  ", "source", source));
    text::signatures(signatures, &mut page);
    text::attached(attached, &mut page);
    page
}
