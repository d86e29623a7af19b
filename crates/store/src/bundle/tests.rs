//! Bundles as files: written, read in place, cut, damaged.

mod parts;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use serde_json::json;
use tar::{EntryType, Header};
use tofu_oci_types::{Descriptor, Digest, NoReporter, Place, Reference, Tag};

use crate::traits::{ReadStore, Store, fetch_bytes};
use crate::{BundleArchive, BundleContents, CopyOptions, CopyReferrers, MemoryStore, StoreError, copy};

const INDEX: &str = "application/vnd.oci.image.index.v1+json";
const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const NAME: &str = "example.com/acme/widget";

async fn push(store: &MemoryStore, media_type: &str, bytes: impl Into<Bytes>) -> Descriptor {
    let bytes = bytes.into();
    let descriptor = Descriptor::of(media_type, &bytes);
    store.push(&descriptor, &bytes).await.expect("memory takes what fits its digest");
    descriptor
}

/// A repository with a release of two leaves that share a config, and a signature of it.
async fn repository(blob: &[u8]) -> Arc<MemoryStore> {
    let store = MemoryStore::new(Place::Host("test".to_owned()));
    let config = push(&store, "application/vnd.oci.empty.v1+json", "{}").await;
    let mut leaves = Vec::new();
    for platform in ["linux", "darwin"] {
        let layer = push(&store, "archive/zip", [blob, platform.as_bytes()].concat()).await;
        let leaf = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [layer] });
        leaves.push(push(&store, MANIFEST, leaf.to_string()).await);
    }
    let index = json!({ "schemaVersion": 2, "mediaType": INDEX, "manifests": leaves });
    let index = push(&store, INDEX, index.to_string()).await;
    let signature = json!({
        "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": [], "subject": index,
        "artifactType": "example/signature"
    });
    push(&store, MANIFEST, signature.to_string()).await;
    store.tag(&index, &tag("1.0.0")).await.expect("the index was pushed");
    Arc::new(store)
}

fn tag(text: &str) -> Tag {
    text.parse().expect("a tag")
}

fn contents(repositories: &[(&str, &Arc<MemoryStore>)]) -> BundleContents {
    let tags = |store: &Arc<MemoryStore>| BTreeMap::from([(tag("1.0.0"), Arc::clone(store) as Arc<dyn ReadStore>)]);
    BundleContents {
        repositories: repositories.iter().map(|(name, store)| ((*name).to_owned(), tags(store))).collect(),
        notes: BTreeMap::from([("summary.json".to_owned(), Bytes::from_static(b"{}"))]),
    }
}

fn names_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("the folder of the test").flatten();
    let mut names: Vec<_> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

async fn written(folder: &Path, max_part: u64) -> PathBuf {
    let file = folder.join("a.tar");
    let contents =
        contents(&[(NAME, &repository(b"one").await), ("example.com/acme/gadget", &repository(b"one").await)]);
    contents.write(&file, max_part, &NoReporter, ()).await.expect("the folder can be written");
    file
}

#[track_caller]
fn problem(opened: Result<BundleArchive, StoreError>) -> String {
    let text = opened.expect_err("must be refused").to_string();
    match text.find("a.tar") {
        Some(begin) => text[begin..].to_owned(),
        None => text,
    }
}

#[tokio::test]
async fn a_bundle_is_read_in_place_and_copied_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let bundle = BundleArchive::open(written(folder.path(), u64::MAX).await).await.expect("a bundle");
    assert_eq!(bundle.repositories().collect::<Vec<_>>(), ["example.com/acme/gadget", NAME]);
    assert_eq!(bundle.notes().collect::<Vec<_>>(), ["summary.json"]);
    assert_eq!(bundle.note("summary.json").await.expect("a note"), "{}");
    let (from, to) = (bundle.repository(NAME), MemoryStore::new(Place::Host("to".to_owned())));
    assert_eq!(from.tags().await.expect("tags"), [tag("1.0.0")]);
    let root = from.resolve(&Reference::Tag(tag("1.0.0"))).await.expect("a release");
    assert_eq!(from.referrers(&root.digest).await.expect("referrers").len(), 1);
    let options = CopyOptions {
        jobs: 2,
        reporter: &NoReporter,
        tag: None,
        referrers: CopyReferrers::Copy,
        budget: Arc::default(),
    };
    copy(&from, &to, &root, options).await.expect("everything is there");
    assert_eq!(to.digests(), repository(b"one").await.digests());
    let stranger = bundle.repository("example.com/acme/other");
    assert!(matches!(stranger.tags().await, Err(StoreError::UnknownRepository { .. })));
}

#[tokio::test]
async fn a_blob_that_two_providers_share_is_there_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (one, two) = (repository(b"one").await, repository(b"one").await);
    let alone =
        contents(&[(NAME, &one)]).write(&folder.path().join("1"), u64::MAX, &NoReporter, ()).await.expect("written");
    let both = contents(&[(NAME, &one), ("example.com/acme/x", &two)]);
    let both = both.write(&folder.path().join("2"), u64::MAX, &NoReporter, ()).await.expect("written");
    assert!(both.bytes - alone.bytes <= 512, "{} {}", alone.bytes, both.bytes);
}

#[tokio::test]
async fn the_same_releases_are_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = written(folder.path(), u64::MAX).await;
    let first = std::fs::read(&file).expect("the bundle");
    assert_eq!(first, std::fs::read(written(folder.path(), u64::MAX).await).expect("the bundle"));
    let size = first.len() as u64;
    written(folder.path(), size.div_ceil(3)).await;
    assert_eq!(names_in(folder.path()), ["a.tar.001", "a.tar.002", "a.tar.003"]);
    let parts =
        ["a.tar.001", "a.tar.002", "a.tar.003"].map(|name| std::fs::read(folder.path().join(name)).expect("a part"));
    assert_eq!(parts.concat(), first);
}

#[tokio::test]
async fn parts_are_read_as_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    // So small that every member and header lies across parts.
    let bundle = BundleArchive::open(written(folder.path(), 300).await).await.expect("a bundle in parts");
    let store = bundle.repository(NAME);
    let root = store.resolve(&Reference::Tag(tag("1.0.0"))).await.expect("a release");
    let index = fetch_bytes(&store, &root, root.size).await.expect("the index");
    let part = store.fetch_range_unverified(&root, 3..root.size - 1).await.expect("it is there");
    let pieces: Vec<Bytes> = futures_util::TryStreamExt::try_collect(part).await.expect("a part of it");
    assert_eq!(pieces.concat(), index[3..index.len() - 1]);
    let beyond = store.fetch_range_unverified(&root, 0..root.size + 1).await;
    assert!(matches!(beyond.map(drop), Err(StoreError::SizeMismatch { .. })));
}

#[tokio::test]
async fn a_missing_part_is_named() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = written(folder.path(), 2000).await;
    let names = names_in(folder.path());
    let last = names.last().expect("several parts");
    std::fs::rename(folder.path().join(last), folder.path().join("away")).expect("renamed");
    assert_eq!(
        problem(BundleArchive::open(&file).await),
        format!("a.tar is not whole: {}", folder.path().join(last).display()) + " is missing"
    );
    std::fs::rename(folder.path().join("away"), folder.path().join(last)).expect("renamed");
    for part in ["a.tar.002", "a.tar.001"] {
        std::fs::rename(folder.path().join(part), folder.path().join("away")).expect("renamed");
        let error = BundleArchive::open(&file).await.expect_err("a part is missing");
        let StoreError::MissingPart { part: missing, .. } = error else { panic!("{error:?}") };
        assert_eq!(missing, folder.path().join(part));
        std::fs::rename(folder.path().join("away"), folder.path().join(part)).expect("renamed");
    }
}

#[tokio::test]
async fn one_file_takes_the_place_of_parts_and_the_reverse() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    written(folder.path(), 2000).await;
    written(folder.path(), u64::MAX).await;
    assert_eq!(names_in(folder.path()), ["a.tar"]);
    written(folder.path(), 4096).await;
    assert!(names_in(folder.path()).iter().all(|name| name.starts_with("a.tar.0")), "{:?}", names_in(folder.path()));
}

#[tokio::test]
async fn a_bundle_that_is_cut_off_is_not_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = written(folder.path(), u64::MAX).await;
    let bytes = std::fs::read(&file).expect("the bundle");
    // At every block, and within some: all of the archive but its end is needed.
    for cut in (1..bytes.len() - 1024).step_by(256) {
        std::fs::write(&file, &bytes[..cut]).expect("written");
        let error = BundleArchive::open(&file).await.expect_err("some of it is missing");
        assert!(matches!(error, StoreError::CutOff { .. } | StoreError::Malformed { .. }), "{cut}: {error:?}");
    }
}

#[tokio::test]
async fn a_damaged_blob_is_refused_when_it_is_read() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = written(folder.path(), u64::MAX).await;
    let mut bytes = std::fs::read(&file).expect("the bundle");
    let at = bytes.windows(8).position(|text| text == b"onelinux").expect("the layer");
    bytes[at] = b'X';
    std::fs::write(&file, bytes).expect("written");
    let store = BundleArchive::open(&file).await.expect("its structure is right").repository(NAME);
    let layer = Descriptor::of("archive/zip", b"onelinux");
    assert!(matches!(fetch_bytes(&store, &layer, 100).await, Err(StoreError::DigestMismatch { .. })));
}

#[tokio::test]
async fn a_release_that_cannot_be_read_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = repository(b"one").await;
    store.insert_unchecked(&Descriptor::of("archive/zip", b"onelinux"), Bytes::from_static(b"two!inux"));
    let file = folder.path().join("a.tar");
    contents(&[(NAME, &store)]).write(&file, u64::MAX, &NoReporter, ()).await.expect_err("a blob is damaged");
    assert_eq!(names_in(folder.path()), Vec::<String>::new());
}

/// A tar archive of these members, whatever they are, as a bundle.
async fn archive(
    members: &[(&str, EntryType, &[u8])],
    change: impl Fn(&mut Header),
) -> Result<BundleArchive, StoreError> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.tar");
    let mut bytes = Vec::new();
    for (name, kind, content) in members {
        let mut header = Header::new_ustar();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_size(content.len() as u64);
        header.set_entry_type(*kind);
        change(&mut header);
        header.set_cksum();
        bytes.extend_from_slice(header.as_bytes());
        bytes.extend_from_slice(content);
        bytes.resize(bytes.len().next_multiple_of(512), 0);
    }
    bytes.extend_from_slice(&[0; 1024]);
    std::fs::write(&file, bytes).expect("written");
    BundleArchive::open(file).await
}

#[track_caller]
fn same(got: &str, want: &str) {
    assert_eq!(got, format!("a.tar is not usable: {want}"));
}

#[tokio::test]
async fn only_plain_files_are_members() {
    let file = EntryType::Regular;
    for (kind, letter) in [
        (EntryType::Symlink, '2'),
        (EntryType::Link, '1'),
        (EntryType::Char, '3'),
        (EntryType::Fifo, '6'),
        (EntryType::GNUSparse, 'S'),
        (EntryType::XHeader, 'x'),
        (EntryType::XGlobalHeader, 'g'),
        (EntryType::GNULongName, 'L'),
    ] {
        let got = problem(archive(&[("oci-layout", kind, b"")], |_| {}).await);
        same(&got, &format!("its member oci-layout is not a plain file (tar type {letter:?})"));
    }
    for name in ["../x", "a/../b", "/etc/passwd", "a//b", ".", "a\\b"] {
        same(&problem(archive(&[(name, file, b"")], |_| {}).await), &format!("`{name}` is not the name of a member"));
    }
    same(&problem(archive(&[("x", file, b""), ("./x", file, b"")], |_| {}).await), "it has two members ./x");
    same(&problem(archive(&[], |_| {}).await), "it has no oci-layout");
}

#[tokio::test]
async fn a_size_that_lies_is_refused() {
    let file = EntryType::Regular;
    let error = archive(&[("x", file, b"")], |header| header.set_size(1 << 40)).await.expect_err("no such bytes");
    assert!(matches!(error, StoreError::CutOff { .. }), "{error:?}");
    let got = problem(archive(&[("x", file, b"")], |header| header.set_size(u64::MAX)).await);
    assert!(got.starts_with("a.tar is not usable: "), "{got}");
    let got = problem(archive(&[("x", file, b"")], |header| header.as_mut_bytes()[124..136].fill(b'z')).await);
    same(&got, "the size of its member x is not a number");
}

#[tokio::test]
async fn what_is_not_an_archive_is_called_so() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.tar");
    for bytes in [&b""[..], b"{}", &[7; 4096]] {
        std::fs::write(&file, bytes).expect("written");
        same(&problem(BundleArchive::open(&file).await), "it is not a tar archive");
    }
    std::fs::remove_file(&file).expect("removed");
    assert!(matches!(BundleArchive::open(&file).await, Err(StoreError::UnknownRepository { .. })));
}

#[tokio::test]
async fn a_name_that_leads_to_two_releases_is_refused() {
    let layout: &[u8] = br#"{"imageLayoutVersion":"1.0.0"}"#;
    let entry = |text: &str| {
        let digest = Digest::sha256(text.as_bytes());
        json!({ "mediaType": INDEX, "digest": digest, "size": 1, "annotations": { "org.opencontainers.image.ref.name": "a/b/c:1.0.0" } })
    };
    let index = json!({ "manifests": [entry("a"), entry("b")] }).to_string();
    let file = EntryType::Regular;
    let got = problem(archive(&[("oci-layout", file, layout), ("index.json", file, index.as_bytes())], |_| {}).await);
    same(&got, "index.json has a/b/c:1.0.0 twice, for different manifests");
}

#[tokio::test]
async fn no_damage_makes_the_reader_fail_otherwise_than_with_an_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = written(folder.path(), u64::MAX).await;
    let bytes = std::fs::read(&file).expect("the bundle");
    for at in (0..bytes.len()).step_by(13) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        std::fs::write(&file, damaged).expect("written");
        let Ok(bundle) = BundleArchive::open(&file).await else { continue };
        let store = bundle.repository(NAME);
        for tag in store.tags().await.unwrap_or_default() {
            if let Ok(root) = store.resolve(&Reference::Tag(tag)).await {
                let read = fetch_bytes(&store, &root, 1 << 20).await;
                assert!(read.is_err() || root.digest.matches(&read.expect("it was read")), "byte {at}");
                let _ = store.referrers(&root.digest).await;
            }
        }
    }
}
