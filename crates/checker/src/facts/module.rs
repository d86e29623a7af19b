//! The content of module packages, as stored.
//!
//! ```text
//! tags or one reference ──> manifest ──> its only zip ──> directory, entries ──> the folder, its calls
//!                           raw bytes    there? size?     as Go reads them      (opentofu, tfconfig)
//! ```

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::{StreamExt as _, stream};
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_types::{Counter, Reference, Reporter, Subdir};

use super::blobs::{DownloadedLayer, LayerProgress, download_layer};
use super::budget::ReadBudget;
use super::read::{AT_ONCE, ManifestReading, is_there};
use super::zip_end::repository_in_zip;
use super::{Depth, FaultKind, FoundManifest, ReadFault};
use crate::go::json::GoManifest;
use crate::go::{GoDescriptor, ModuleFolder, ModuleRefusal, ZipFault, ZipListing, list_zip, module_folder};

/// Most bytes of the end of a zip that is not read as a whole, 1 MiB.
const GLANCE: u64 = 1 << 20;

/// What a reference of a repository leads to.
#[derive(Clone, Debug)]
pub struct FoundModule {
    /// The tag or digest.
    pub reference: Reference,
    pub manifest: FoundManifest,
    /// The only zip among its layers, if it is the only one.
    pub package: Option<FoundModulePackage>,
}

/// The zip of a module.
#[derive(Clone, Debug)]
pub struct FoundModulePackage {
    /// As Go reads its descriptor.
    pub descriptor: GoDescriptor,
    /// The blob at its digest.
    pub content: Arc<Result<ModuleContent, ReadFault>>,
}

/// What was read of the zip of a module.
#[derive(Clone, Debug)]
pub enum ModuleContent {
    /// It exists; of its bytes the names in its directory were read, if they could be. The first of them that is of a
    /// repository of version control.
    There(Option<String>),
    /// It was read to its end.
    Read(Box<ModulePackageFacts>),
}

/// The contents of a module's zip.
#[derive(Clone, Debug)]
pub struct ModulePackageFacts {
    /// Bytes.
    pub size: u64,
    /// Whether they have the digest that names them.
    pub intact: bool,
    /// The archive as Go reads it; an error if it cannot be opened.
    pub zip: Result<ZipListing, ZipFault>,
    /// The folder that was asked for, once it is unpacked; `None` if not all of it was read.
    pub folder: Option<Result<ModuleFolder, ModuleRefusal>>,
}

/// What to read of a repository of modules.
#[derive(Clone, Copy, Debug)]
pub struct WhatModules<'a> {
    /// The folder in the packages.
    pub subdir: &'a Subdir,
    /// How deep to read.
    pub depth: Depth,
    /// An existing folder for packages while they are read and unpacked.
    pub work_dir: &'a Path,
}

/// Reads what these references lead to, in their order, within the limits of [`super::read()`].
pub async fn read_modules(
    store: &dyn ReadStore,
    references: &[Reference],
    what: WhatModules<'_>,
    reporter: &dyn Reporter,
) -> Vec<FoundModule> {
    let budget = ReadBudget::new();
    let manifests = ManifestReading { store, budget: &budget };
    let count = Counter::new(reporter, "tags read", references.len());
    let mut found: Vec<FoundModule> = stream::iter(references)
        .map(async |reference| {
            let manifest = manifests.manifest(reference.to_string(), reference.clone()).await;
            count.done();
            FoundModule { reference: reference.clone(), manifest, package: None }
        })
        .buffered(AT_ONCE)
        .collect()
        .await;

    // Several tags may lead to one package.
    let wanted: Vec<Option<GoDescriptor>> = found.iter().map(only_zip).collect();
    let once: BTreeMap<(String, i64), GoDescriptor> =
        wanted.iter().flatten().map(|zip| ((zip.digest.clone(), zip.size), zip.clone())).collect();
    let moved = LayerProgress::new(reporter);
    if what.depth == Depth::Packages {
        moved.begin(once.values().map(|zip| zip.size));
    }
    let (budget, moved) = (&budget, &moved);
    let contents: BTreeMap<(String, i64), Arc<Result<ModuleContent, ReadFault>>> = stream::iter(once)
        .map(async |(key, zip)| (key, Arc::new(content(store, &zip, what, budget, moved).await)))
        .buffer_unordered(AT_ONCE)
        .collect()
        .await;
    for (one, zip) in found.iter_mut().zip(wanted) {
        one.package = zip.and_then(|descriptor| {
            let content = contents.get(&(descriptor.digest.clone(), descriptor.size))?;
            Some(FoundModulePackage { content: Arc::clone(content), descriptor })
        });
    }
    found
}

fn only_zip(found: &FoundModule) -> Option<GoDescriptor> {
    let document = found.manifest.found.as_ref().ok()?;
    let (mut manifest, _) = GoManifest::read(&document.bytes);
    match manifest.zips().as_slice() {
        [only] => Some(manifest.layers.swap_remove(*only)),
        _ => None,
    }
}

async fn content(
    store: &dyn ReadStore,
    zip: &GoDescriptor,
    what: WhatModules<'_>,
    budget: &ReadBudget,
    moved: &LayerProgress<'_>,
) -> Result<ModuleContent, ReadFault> {
    let digest = &zip.digest;
    let Some(asked) = zip.to_descriptor() else {
        return Err(ReadFault::new(FaultKind::Unaddressable, format!("`{digest}` is not a digest")));
    };
    if what.depth == Depth::Manifests {
        return match is_there(store, &asked).await {
            Ok(true) => {
                // What this does not find, the whole package shows.
                let found = repository_in_zip(store, &asked, GLANCE).await;
                Ok(ModuleContent::There(found.unwrap_or_default()))
            }
            Ok(false) => Err(ReadFault::new(FaultKind::Missing, format!("{} has no blob {digest}", store.place()))),
            Err(error) => Err(ReadFault::from(&error)),
        };
    }
    let layer = download_layer(store, &asked, what.work_dir, moved).await?;
    let (subdir, unpacked) = (what.subdir.clone(), Arc::clone(&budget.unpacked));
    let work_dir = what.work_dir.to_owned();
    let read = tokio::task::spawn_blocking(move || examine(layer, &subdir, &unpacked, &work_dir)).await;
    let failed = |error| StoreError::io("read", what.work_dir, std::io::Error::other(error));
    let facts = read.unwrap_or_else(|error| Err(failed(error))).map_err(|error| ReadFault::from(&error))?;
    Ok(ModuleContent::Read(Box::new(facts)))
}

fn examine(
    mut layer: DownloadedLayer,
    subdir: &Subdir,
    unpacked: &std::sync::atomic::AtomicU64,
    work_dir: &Path,
) -> Result<ModulePackageFacts, StoreError> {
    let (size, intact) = (layer.size, layer.intact);
    let path = layer.file.path().to_owned();
    let failed = |error| StoreError::io("read", &path, error);
    layer.rewind().map_err(failed)?;
    let zip = list_zip(layer.file.as_file_mut(), size, unpacked).map_err(failed)?;
    let folder = match &zip {
        Ok(listing) => {
            let scratch = Scratch::temporary(work_dir, Purpose::Check)
                .map_err(|error| StoreError::io("create a folder in", work_dir, error))?;
            module_folder(listing, layer.file.as_file_mut(), size, subdir, scratch.path())
                .map_err(|error| StoreError::io("unpack into", scratch.path(), error))?
        }
        Err(_) => None,
    };
    Ok(ModulePackageFacts { size, intact, zip, folder })
}
