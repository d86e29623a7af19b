//! A module in a repository or directory: what it is, and what lies beside it.

use serde::Serialize;
use tofu_oci_explain::releases::{AttachedReferrer, attached};
use tofu_oci_layout::annotation;
use tofu_oci_types::{Digest, Place, Reference, ReleaseName, Subdir, Tag, Version};

use super::text;
use crate::args::ShowArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::page::Page;
use crate::verbs::context::{Context, tagged};
use crate::verbs::module::open as module_open;

/// A module, and what lies beside it.
#[derive(Serialize)]
#[serde(tag = "event", rename = "module-release")]
struct ModuleLine {
    version: Version,
    place: Place,
    tag: Tag,
    manifest: Digest,
    source: Option<String>,
    attached: Option<Vec<AttachedReferrer>>,
}

/// Prints what is known of the module that the argument names; `None` if it names none.
pub(super) async fn show(context: &Context, args: &ShowArgs) -> Result<Option<()>, Diagnostic> {
    let (end, version) = match crate::subject::read(&args.subject)? {
        ReleaseName::Repository { repository, version } => (End::Registry(repository), version),
        ReleaseName::Layout { dir, version } => (End::Layout(dir), version),
        ReleaseName::Provider { .. } | ReleaseName::Whole(_) => return Ok(None),
    };
    let Ok(tag) = Tag::for_version(&version) else { return Ok(None) };
    let store = context.reach(&args.access, &[&end], args.chdir.as_deref()).await?.source(&end)?;
    let reference = Reference::Tag(tag.clone());
    let Ok(module) = module_open::in_store(store, &end, &reference, &Subdir::root()).await else { return Ok(None) };
    let Some((store, descriptor)) = module.package.repository() else { return Ok(None) };
    let about = module.package.about();
    let line = ModuleLine {
        version,
        place: module.package.place().clone(),
        tag,
        manifest: descriptor.digest.clone(),
        source: about.and_then(|about| about.annotations().get(annotation::SOURCE).cloned()),
        attached: attached(store.as_ref(), &descriptor.digest).await.ok(),
    };
    context.emit(&line, || page(&line));
    Ok(Some(()))
}

fn page(line: &ModuleLine) -> Page {
    let mut page = Page::of(format_args!("module {} {}", line.place, line.version));
    page.row("  ", "place", tagged(&line.place, &line.tag));
    page.row("  ", "manifest", &line.manifest);
    line.source.iter().for_each(|source| page.row("  ", "source", source));
    text::attached(line.attached.as_deref(), &mut page);
    page
}
