//! `module versions`.

use std::path::Path;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_explain::releases::{NoticesOf, VersionNotice};
use tofu_oci_source::{Listing, ModuleError, ModulePackage};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Constraints, Event, ModuleName, Place, Reference, Subdir, Tag, Version};

use super::mapped::MappedModule;
use super::open;
use crate::args::ModuleVersionsArgs;
use crate::diagnostic::Diagnostic;
use crate::modules;
use crate::page::{Page, first_of};
use crate::subject;
use crate::verbs::context::Context;
use crate::verbs::versions::{keep, noticed, print};

/// How many other tags a note names.
const NAMED: usize = 10;

/// Lists the versions of a module, newest first.
pub(super) async fn versions(context: &Context, args: &ModuleVersionsArgs) -> Result<(), Diagnostic> {
    let name = subject::module_name(&args.source)?;
    let mapped = MappedModule::of(&modules::load(&args.mapping, &args.predecessors, Path::new("."))?, &name)?;
    let connector = open::connector(context, &name, mapped.as_ref(), &args.access, None).await?;
    let end = open::end(&name).or_else(|| mapped.as_ref().map(|mapped| mapped.end.clone()));
    let (address, wanted) = match &name {
        ModuleName::Registry { address, constraints, .. } => (Some(address), constraints.clone()),
        ModuleName::Git(source) => {
            let message =
                format!("{source} is a git repository, and `module versions` lists registries and OCI repositories");
            return Err(Diagnostic::usage(message)
                .code("git-has-no-versions")
                .hint("`git ls-remote --tags` lists the tags of a git repository"));
        }
        ModuleName::Oci(_) | ModuleName::Layout { .. } => match open::reference(&name) {
            Some(Reference::Tag(tag)) => {
                (None, tag.canonical_version().map_or_else(Constraints::any, Constraints::exactly))
            }
            _ => (None, Constraints::any()),
        },
    };
    if let (Some(mapped), Some(address)) = (&mapped, address) {
        mapped.note(context, address);
    }
    let store = end.map(|end| connector.source(&end)).transpose()?;
    let (place, mut listing, others) = match (&store, address) {
        (Some(store), _) => {
            let (listing, others) = sorted(store.as_ref(), &store.tags().await?).await?;
            warn_of_others(context, store, &listing.versions).await;
            (store.place(), listing, others)
        }
        (None, Some(address)) => {
            let registry = open::opener(&connector)?.module_registry(address.hostname()).await?;
            (registry.place().clone(), registry.versions(address).await?, Vec::new())
        }
        (None, None) => unreachable!("any other name is of a repository"),
    };
    let of = store.as_deref().map(NoticesOf::Module);
    keep(&mut listing, &wanted, &place, of).await?;
    let notices = match of {
        Some(of) => noticed(context, &place, &listing, of).await,
        None => Vec::new(),
    };
    let newest = listing.versions.into_iter().rev().take(args.limit.map_or(usize::MAX, usize::from));
    let lines = newest.map(|version| {
        let tag = Tag::for_version(&version).ok().filter(|_| store.is_some());
        let notice = notices.iter().find(|notice| notice.version == version);
        ModuleVersionLine { place: &place, version, tag, notice }
    });
    let lines: Vec<ModuleVersionLine<'_>> = lines.collect();
    note_other_tags(context, &place, &others);
    print(context, &place, &lines, |lines| {
        let mut page = Page::default();
        for line in lines {
            match line.notice {
                Some(notice) => page.line(format_args!("{} ({})", line.version, notice.state)),
                None => page.line(&line.version),
            }
        }
        page
    });
    Ok(())
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-version")]
struct ModuleVersionLine<'a> {
    place: &'a Place,
    version: Version,
    /// The tag to name in a source; `None` in a registry.
    tag: Option<Tag>,
    /// What its publisher says of it later, unverified.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<&'a VersionNotice>,
}

/// The versions, and the tags that are not versions. Tags that this project writes beside the versions are neither.
async fn sorted(store: &dyn ReadStore, tags: &[Tag]) -> Result<(Listing, Vec<Tag>), StoreError> {
    let listing = Listing::in_store(store, tags).await?;
    let versions = listing.versions.iter().chain(&listing.half_withdrawn);
    let is_version = |tag: &Tag| versions.clone().any(|version| Tag::for_version(version).is_ok_and(|own| own == *tag));
    let others = tags.iter().filter(|tag| !is_version(tag) && !tag.is_beside()).cloned().collect();
    Ok((listing, others))
}

/// One note for all other tags: a source may name them, and no rule orders them.
fn note_other_tags(context: &Context, place: &Place, others: &[Tag]) {
    if others.is_empty() {
        return;
    }
    let are = if others.len() == 1 { "one tag is not a version" } else { "some tags are not versions" };
    let text = format!("{place}: {are}: {}", first_of(others, NAMED, (", and", "more")));
    context.reporter.event(&Event::note("other-tags", text).with_hint("a source can name any tag: ?tag=TAG"));
}

/// Warns if the newest version is not a module package: the repository may be another one than was meant.
async fn warn_of_others(context: &Context, store: &Arc<dyn ReadStore>, versions: &[Version]) {
    let Some(Ok(tag)) = versions.last().map(Tag::for_version) else { return };
    let newest = ModulePackage::of_store(Arc::clone(store), &Reference::Tag(tag.clone()), Subdir::root()).await;
    if let Err(ModuleError::Manifest { source, place, .. }) = newest {
        let text = format!("the newest version of {place}, {tag}, is not a module package: {source}");
        let hint = "check the repository; `tofu-oci versions` lists the versions of a provider";
        context.reporter.event(&Event::warning("not-a-module", text).with_hint(hint));
    }
}
