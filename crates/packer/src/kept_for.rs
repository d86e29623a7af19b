//! That two kinds never share a repository: it holds the versions of one provider or one module, because `OpenTofu`
//! takes each tag of a provider's repository for a version.

use std::mem::discriminant;

use tofu_oci_layout::ModuleManifest;
use tofu_oci_source::{Neighbour, newest_neighbour, version_of};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{
    Descriptor, Event, ModuleAddr, OciModuleSource, Place, Predecessors, ProviderAddr, Reference, Reporter, Tag,
    Version,
};

use crate::{KeptForOther, ModuleFault, OtherAddress, OtherModule, PackError, Rename};

/// Whether versions of the two may lie in one repository. Which provider it is does not matter here.
fn is_other_kind(one: &VersionOf, other: &VersionOf) -> bool {
    discriminant(one) != discriminant(other)
}

/// What lies in a repository with these tags: under the tag `own`, which points at `existing`, and under the newest other
/// version that says what it is. Both are of the same kind as `of`.
///
/// # Errors
/// [`PackError::KeptForOther`] if one of them is of another kind.
pub(crate) async fn neighbours(
    store: &dyn ReadStore,
    tags: &[Tag],
    (own, existing): (&Tag, Option<&Descriptor>),
    of: &VersionOf,
) -> Result<(Option<Neighbour>, Option<Neighbour>), PackError> {
    let there = match (existing, own.version()) {
        (Some(existing), Some(version)) => version_of(store, existing).await?.map(|of| Neighbour { version, of }),
        _ => None,
    };
    let newest = newest_neighbour(store, tags.iter().filter(|tag| *tag != own)).await?;
    demand_kind(store, there.as_ref(), of)?;
    demand_kind(store, newest.as_ref(), of)?;
    Ok((there, newest))
}

/// Demands that a version of the repository, if it says what it is, is of the same kind as `of`.
fn demand_kind(store: &dyn ReadStore, found: Option<&Neighbour>, of: &VersionOf) -> Result<(), PackError> {
    match found.filter(|found| is_other_kind(&found.of, of)) {
        None => Ok(()),
        Some(Neighbour { version, of: kept }) => {
            let (kept, version) = (kept.clone(), version.clone());
            Err(PackError::KeptForOther(Box::new(KeptForOther { place: store.place(), kept, version })))
        }
    }
}

/// The tags of a repository before something is written there: none if it does not exist; the note about it if the user may not
/// list them.
///
/// # Errors
/// If the answer is no list, or does not come: then nothing is known about withdrawn versions and the provider there.
pub(crate) async fn tags_before(store: &dyn ReadStore) -> Result<Result<Vec<Tag>, Event>, StoreError> {
    match store.tags().await {
        Ok(tags) => Ok(Ok(tags)),
        Err(error) if error.is_not_found() => Ok(Ok(Vec::new())),
        Err(error) if error.is_transient() || error.is_of_content() => Err(error),
        Err(error) => Ok(Err(tags_unknown(&error))),
    }
}

/// The tags; none, after the note, if there is one.
pub(crate) fn or_note(tags: Result<Vec<Tag>, Event>, reporter: &dyn Reporter) -> Vec<Tag> {
    tags.unwrap_or_else(|note| {
        reporter.event(&note);
        Vec::new()
    })
}

/// The note that the repository's other versions are not known.
pub(crate) fn tags_unknown(error: &StoreError) -> Event {
    Event::note("tags-unknown", format!("cannot list the tags: {error}"))
}

/// The source by which a configuration calls a module at a place; `None` if that is a directory.
///
/// # Errors
/// [`ModuleFault::Repository`] if `OpenTofu` could install no module from a repository of this name.
pub(crate) fn module_source(place: &Place, tag: &Tag) -> Result<Option<OciModuleSource>, PackError> {
    let Some(repository) = place.repository() else { return Ok(None) };
    match format!("oci://{repository}?tag={tag}").parse() {
        Ok(source) => Ok(Some(source)),
        Err(source) => Err(ModuleFault::Repository { repository: repository.clone(), source }.into()),
    }
}

/// Demands that a destination with these tags takes these versions of a source, each a tag and what it points at: a module only
/// into a repository from which `OpenTofu` installs modules, no module beside versions of a provider, and no version of a
/// provider or module beside those of another one. [`Rename`] and the predecessors are exceptions. What says nothing is what it is
/// `asked_as`, if that is known.
///
/// # Errors
/// [`PackError::KeptForOther`] and [`PackError::OtherAddress`], of the destination or, if the versions are not of one kind or
/// provider, of the source; [`PackError::Module`].
pub(crate) async fn demand_takes(
    from: &dyn ReadStore,
    (to, tags): (&dyn ReadStore, &[Tag]),
    versions: impl Iterator<Item = (&Tag, &Descriptor)>,
    (names, asked_as): ((Rename, &Predecessors), Option<&ProviderAddr>),
) -> Result<(), PackError> {
    let place = &to.place();
    let mut first: Option<Neighbour> = None;
    let mut module = None;
    for (tag, manifest) in versions {
        let of = match version_of(from, manifest).await {
            Err(error) if error.is_transient() => return Err(error.into()),
            // Whoever may not read a manifest can copy it nowhere.
            found => found.ok().flatten(),
        };
        let Some(of) = of else { continue };
        if of == VersionOf::Module {
            module_source(place, tag)?;
        }
        let Some(version) = tag.version().or_else(|| tag.withdrawn_version()) else { continue };
        match &first {
            Some(first) => demand_same(from, first, &of, names)?,
            None => first = Some(Neighbour { version: version.clone(), of: of.clone() }),
        }
        if let Some(given) = module_of(from, &Reference::Digest(manifest.digest.clone()), &of, names.0).await? {
            match &module {
                Some(kept) => demand_same_module(from, kept, &given, names.1)?,
                None => module = Some((given, version)),
            }
        }
    }
    let Some(of) = first.map(|first| first.of).or_else(|| asked_as.map(VersionOf::from)) else { return Ok(()) };
    // What lies under the versions' own tags counts, too.
    match newest_neighbour(to, tags.iter()).await {
        // Whoever may not read the destination can still write there.
        Err(error) if !error.is_transient() => Ok(()),
        found => {
            let Some(found) = found? else { return Ok(()) };
            demand_same(to, &found, &of, names)?;
            let (Some((given, _)), Ok(tag)) = (module, Tag::for_version(&found.version)) else { return Ok(()) };
            match module_of(to, &Reference::Tag(tag), &found.of, names.0).await? {
                Some(kept) => demand_same_module(to, &(kept, found.version), &given, names.1),
                None => Ok(()),
            }
        }
    }
}

/// The module that a package says it is. It is not read for providers, and not if any may go to the repository.
async fn module_of(
    store: &dyn ReadStore,
    reference: &Reference,
    of: &VersionOf,
    rename: Rename,
) -> Result<Option<ModuleAddr>, StoreError> {
    if *of != VersionOf::Module || rename == Rename::Allow {
        return Ok(None);
    }
    match store.manifest(reference).await {
        Err(error) if error.is_transient() => Err(error),
        found => Ok(found
            .ok()
            .and_then(|(manifest, bytes)| ModuleManifest::parse(&manifest, &bytes).ok()?.address().ok()?)),
    }
}

/// Demands that the repository's module `kept`, which a version there says, is the module `given`.
fn demand_same_module(
    store: &dyn ReadStore,
    (kept, version): &(ModuleAddr, Version),
    given: &ModuleAddr,
    predecessors: &Predecessors,
) -> Result<(), PackError> {
    if predecessors.same_module(kept, given) {
        return Ok(());
    }
    let (kept, version, given) = (kept.clone(), version.clone(), given.clone());
    Err(ModuleFault::OtherModule(Box::new(OtherModule { place: store.place(), kept, version, given })).into())
}

/// Demands that a version of the repository is of the same kind as `of`, and of the same provider.
fn demand_same(
    store: &dyn ReadStore,
    found: &Neighbour,
    of: &VersionOf,
    (rename, predecessors): (Rename, &Predecessors),
) -> Result<(), PackError> {
    demand_kind(store, Some(found), of)?;
    match (found.of.address(), of.address()) {
        (Some(kept), Some(given)) if rename == Rename::Refuse && !predecessors.same_provider(kept, given) => {
            let (place, version) = (store.place(), found.version.clone());
            let (kept, given) = (kept.clone(), given.clone());
            Err(PackError::OtherAddress(Box::new(OtherAddress { place, kept, version, given })))
        }
        _ => Ok(()),
    }
}
