//! The shared sample repositories, read as folders: what the store and the layout together make of each, beside what
//! released `OpenTofu` does. What lies inside the zips, and which tag is a version, is decided elsewhere.

use std::path::{Path, PathBuf};

use futures_util::TryStreamExt as _;
use serde::Deserialize;
use tofu_oci_layout::{
    DocumentKind, ImageConfig, LayoutError, Leaf, LeafKind, MAX_DOCUMENT, ReleaseIndex, check_release, select,
};
use tofu_oci_store::{DirStore, ReadStore as _, StoreError, StoreItem, fetch_bytes};
use tofu_oci_types::{Descriptor, Platform, Reference};

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "case")]
    name: String,
    opentofu: String,
    because: Option<String>,
}

#[derive(Debug)]
enum Refused {
    Store(StoreError),
    Layout(LayoutError),
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<LayoutError> for Refused {
    fn from(error: LayoutError) -> Self {
        Self::Layout(error)
    }
}

/// Decisions of ours that differ from released `OpenTofu` on purpose.
fn our_decision(case: &str) -> Option<&'static str> {
    match case {
        // The image layout of the RFC is read as well.
        "image-only" => Some("installs image"),
        // A tag that is not a version in canonical form does not spoil the others: decided where versions are listed.
        "floating-tag-2" => Some("installs artifact"),
        _ => None,
    }
}

/// What is decided once the zip is open.
fn is_about_the_zip(because: &str) -> bool {
    matches!(because, "not-a-zip" | "executable-not-found" | "unsafe-entry" | "empty-archive")
}

fn testrepos() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let shared = root.join("../shared/testrepos");
    if shared.is_dir() { shared } else { root.join("testdata/testrepos") }
}

#[tokio::test]
async fn each_sample_repository_is_read_or_refused_for_the_right_reason() {
    let folder = testrepos();
    let expected = std::fs::read(folder.join("expected.json")).unwrap();
    let cases: Vec<Case> = serde_json::from_slice(&expected).unwrap();
    assert!(cases.len() >= 39);
    for case in cases {
        let ours = match read(&folder.join(&case.name)).await {
            Ok(kind) => format!("installs {kind}"),
            Err(refused) => format!("refuses: {}", reason(&refused)),
        };
        let theirs = match case.because.as_deref() {
            None => "installs artifact".to_owned(),
            Some(because) if is_about_the_zip(because) => "installs artifact".to_owned(),
            Some(because) => format!("{}: {}", case.opentofu, same_reason(because)),
        };
        let wanted = our_decision(&case.name).map_or(theirs, ToOwned::to_owned);
        assert_eq!(ours, wanted, "{}", case.name);
    }
}

/// What a client reads of release 1.0.0 for `linux_amd64`, to the last byte.
async fn read(folder: &Path) -> Result<LeafKind, Refused> {
    let platform: Platform = "linux_amd64".parse().expect("this is a platform");
    let store = DirStore::open(folder)?;
    let root = store.resolve(&Reference::Tag("1.0.0".parse().expect("this is a tag"))).await?;
    let bytes = fetch_bytes(&store, &root, MAX_DOCUMENT).await?;
    let mut index = ReleaseIndex::parse(&root, &bytes)?;
    check_release(&root)?;
    while let Some(nested) = index.unread(&platform).into_iter().next() {
        let bytes = fetch_bytes(&store, &nested, MAX_DOCUMENT).await?;
        index.absorb(&nested.digest, ReleaseIndex::parse(&nested, &bytes)?)?;
    }
    let selected = select(&index, &platform)?;
    let bytes = fetch_bytes(&store, &selected.descriptor, MAX_DOCUMENT).await?;
    let leaf = Leaf::parse(&selected.descriptor, &bytes)?;
    if leaf.kind() == LeafKind::Image {
        ImageConfig::parse(&fetch_bytes(&store, leaf.config(), MAX_DOCUMENT).await?)?.require_provider_label()?;
    }
    for part in leaf.parts() {
        read_whole(&store, &part).await?;
    }
    Ok(leaf.kind())
}

async fn read_whole(store: &DirStore, part: &Descriptor) -> Result<(), StoreError> {
    store.fetch(part).await?.try_for_each(|_| async { Ok(()) }).await
}

/// The samples' name for why something was refused.
fn reason(refused: &Refused) -> &'static str {
    match refused {
        Refused::Store(StoreError::NotFound { what: StoreItem::Tag(_), .. }) => "no tag 1.0.0",
        Refused::Store(StoreError::NotFound { what: StoreItem::Manifest(_), .. }) => "manifest-not-found",
        Refused::Store(StoreError::NotFound { .. }) => "blob-not-found",
        Refused::Store(StoreError::DigestMismatch { .. }) => "digest-mismatch",
        Refused::Store(StoreError::SizeMismatch { .. }) => "size-mismatch",
        Refused::Layout(error) => match error {
            LayoutError::NotAProviderIndex { found: DocumentKind::ProviderTarget } => "not-an-index",
            LayoutError::NotAProviderIndex { .. }
            | LayoutError::UnmarkedIndex
            | LayoutError::NoProviderLabel
            | LayoutError::ArtifactTypeMismatch { .. } => "no artifact type or label where one is needed",
            LayoutError::NoPlatform { .. } => "leaf-without-platform",
            LayoutError::PlatformNotOffered { .. } => "platform-not-offered",
            LayoutError::AmbiguousPlatform { .. } => "duplicate-platform",
            LayoutError::LeafMediaType { .. } => "leaf-media-type",
            LayoutError::BodyMediaType { .. } => "body-media-type-missing",
            LayoutError::SeveralPackageLayers { .. } => "several-packages",
            LayoutError::NoPackageLayer { found, .. } if found.is_empty() => "no-zip-layer",
            LayoutError::NoPackageLayer { .. } => "no-zip-layer-other-format",
            LayoutError::Malformed { .. } => "manifest-not-json",
            _ => "another reason",
        },
        Refused::Store(_) => "another reason",
    }
}

/// Where we see one reason and the samples name several, because `OpenTofu` looks at one thing and we at two.
fn same_reason(because: &str) -> &str {
    match because {
        // A leaf marked in only one of the two places; a Docker list (which we read) of leaves that are marked.
        "index-or-leaf-artifact-type" | "no-provider-leaf" | "index-media-type" => {
            "no artifact type or label where one is needed"
        }
        "tag-not-found" | "no-versions" => "no tag 1.0.0",
        other => other,
    }
}
