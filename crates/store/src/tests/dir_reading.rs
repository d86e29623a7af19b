//! Reading image layouts that other tools made, and broken ones.

use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use tofu_oci_types::{Descriptor, Digest, Reference};

use super::dir_writing::new_store;
use super::{by_tag, push, push_release, tag, text_of};
use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{DirStore, ReadStore as _, Store as _, fetch_bytes};

/// A layout with these files and nothing else.
fn layout(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

const MARKER: (&str, &str) = ("oci-layout", r#"{"imageLayoutVersion": "1.0.0"}"#);

fn index(entries: &Value) -> String {
    json!({ "schemaVersion": 2, "manifests": entries }).to_string()
}

fn named(digest: &Digest, name: &str) -> Value {
    json!({ "mediaType": OCI_MANIFEST, "digest": digest, "size": 2, "annotations": { "org.opencontainers.image.ref.name": name } })
}

#[test]
fn what_is_no_layout_says_why() {
    let check = |files: &[(&str, &str)]| {
        let folder = layout(files);
        text_of(DirStore::open(folder.path()), folder.path())
    };
    insta::assert_snapshot!(check(&[]), @"oci:DIR is not usable: it is not an OCI image layout (it has no file oci-layout)");
    insta::assert_snapshot!(check(&[("oci-layout", "no json")]), @"oci:DIR is not usable: its file oci-layout has no imageLayoutVersion");
    insta::assert_snapshot!(check(&[("oci-layout", r#"{"imageLayoutVersion":"2.0.0"}"#)]), @"oci:DIR is not usable: its imageLayoutVersion is not 1.0.0");
    insta::assert_snapshot!(text_of(DirStore::open("/no/such/folder"), Path::new("-")), @"there is no repository oci:/no/such/folder");
}

#[tokio::test]
async fn a_broken_index_json_says_why() {
    let check = async |files: &[(&str, &str)]| {
        let folder = layout(files);
        let store = DirStore::open(folder.path()).unwrap();
        text_of(store.tags().await, folder.path())
    };
    insta::assert_snapshot!(check(&[MARKER]).await, @"oci:DIR is not usable: it has no index.json");
    insta::assert_snapshot!(check(&[MARKER, ("index.json", "{")]).await, @"oci:DIR is not usable: index.json is not valid JSON: EOF while parsing an object at line 1 column 1");
    insta::assert_snapshot!(check(&[MARKER, ("index.json", r#"{"manifests":{}}"#)]).await, @"oci:DIR is not usable: index.json is not an index");
}

#[tokio::test]
async fn extra_files_unnamed_and_strangely_named_entries_are_passed_over() {
    let digest = Digest::sha256(b"{}");
    let entries = json!([
        named(&digest, "1.0.0"),
        named(&digest, "docker.io/acme/widget:1.0.0"),
        named(&digest, "../../up"),
        { "mediaType": OCI_MANIFEST, "digest": digest, "size": 2 },
        { "mediaType": OCI_MANIFEST, "digest": "sha256:../../../etc/passwd", "size": 2, "annotations": { "org.opencontainers.image.ref.name": "evil" } },
        "no descriptor",
    ]);
    let blob = format!("blobs/sha256/{}", digest.encoded());
    let folder = layout(&[
        MARKER,
        ("index.json", &index(&entries)),
        (&blob, "{}"),
        ("manifest.json", "[]"),
        ("repositories", "{}"),
    ]);
    let store = DirStore::open(folder.path()).unwrap();
    assert_eq!(store.tags().await.unwrap(), [tag("1.0.0")]);
    assert_eq!(store.resolve(&by_tag("1.0.0")).await.unwrap(), Descriptor::new(OCI_MANIFEST, digest.clone(), 2));
    let by_digest = Reference::Digest(digest.clone());
    assert_eq!(store.resolve(&by_digest).await.unwrap(), Descriptor::new(OCI_MANIFEST, digest, 2));
    insta::assert_snapshot!(text_of(store.resolve(&by_tag("evil")).await, folder.path()), @"oci:DIR has no tag evil");
}

#[tokio::test]
async fn a_tag_that_is_there_twice_is_refused_unless_both_mean_the_same() {
    let (one, other) = (Digest::sha256(b"1"), Digest::sha256(b"2"));
    let blob = format!("blobs/sha256/{}", one.encoded());
    let check = async |entries: Value| {
        let folder = layout(&[MARKER, ("index.json", &index(&entries)), (&blob, "1")]);
        let store = DirStore::open(folder.path()).unwrap();
        store.resolve(&by_tag("1")).await.map_err(|error| text_of::<()>(Err(error), folder.path()))
    };
    assert_eq!(
        check(json!([named(&one, "1"), named(&one, "1")])).await,
        Ok(Descriptor::new(OCI_MANIFEST, one.clone(), 1))
    );
    let refused = check(json!([named(&one, "1"), named(&other, "1")])).await.unwrap_err();
    insta::assert_snapshot!(refused, @"oci:DIR is not usable: index.json has the tag 1 twice, for different manifests");
}

#[tokio::test]
async fn a_manifest_without_a_tag_is_found_by_its_digest() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    for manifest in release.leaves.iter().chain([&release.index]) {
        assert_eq!(store.resolve(&Reference::Digest(manifest.digest.clone())).await.unwrap(), *manifest);
    }
    for blob in &release.blobs {
        assert!(store.resolve(&Reference::Digest(blob.digest.clone())).await.unwrap_err().is_not_found());
    }
}

#[tokio::test]
async fn a_damaged_or_missing_manifest_shows_when_it_is_read() {
    let (folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let path = store.blob_path(&release.index.digest);
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[20] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let descriptor = store.resolve(&by_tag("1.0.0")).await.unwrap();
    let read = fetch_bytes(&store, &descriptor, 1 << 20).await;
    assert!(text_of(read, folder.path()).contains("is damaged: expected sha256:"));
    bytes.truncate(100);
    std::fs::write(&path, &bytes).unwrap();
    let descriptor = store.resolve(&by_tag("1.0.0")).await.unwrap();
    assert_eq!(descriptor.size, 100);
    std::fs::remove_file(&path).unwrap();
    assert!(store.resolve(&by_tag("1.0.0")).await.unwrap_err().is_not_found());
    assert!(store.fetch_unverified(&release.index).await.map(drop).unwrap_err().is_not_found());
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_inside_the_layout_only() {
    use std::os::unix::fs::symlink;
    let (folder, store) = new_store();
    let secret = folder.path().join("secret");
    std::fs::write(&secret, b"secret").unwrap();
    let outside = Descriptor::of("archive/zip", b"secret");
    symlink(&secret, store.blob_path(&outside.digest)).unwrap();
    let text = text_of(store.fetch_unverified(&outside).await.map(drop), folder.path());
    assert_eq!(text, format!("oci:DIR/layout is not usable: blob {} is a link out of the layout", outside.digest));
    let inside = push(&store, "archive/zip", b"inside").await;
    let path = store.blob_path(&inside.digest);
    std::fs::rename(&path, store.path().join("pool")).unwrap();
    symlink(store.path().join("pool"), &path).unwrap();
    assert_eq!(fetch_bytes(&store, &inside, 10).await.unwrap(), "inside");
    let folder_blob = Descriptor::of("archive/zip", b"a folder");
    std::fs::create_dir(store.blob_path(&folder_blob.digest)).unwrap();
    let text = text_of(store.exists(&folder_blob).await, folder.path());
    assert!(text.ends_with("is not a file"), "{text}");
}

#[tokio::test]
async fn attestations_inside_an_index_are_referrers() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let attestation = json!({ "schemaVersion": 2, "mediaType": OCI_MANIFEST, "config": release.blobs[0],
        "layers": [], "subject": release.leaves[0] });
    let bytes = attestation.to_string();
    let entry = Descriptor::of(OCI_MANIFEST, bytes.as_bytes());
    std::fs::write(store.blob_path(&entry.digest), bytes).unwrap();
    let index = json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [release.leaves[0], entry] });
    let index = super::push_json(&store, OCI_INDEX, &index).await;
    store.tag(&index, &tag("1.0.0")).await.unwrap();
    let referrers = store.referrers(&release.leaves[0].digest).await.unwrap();
    assert_eq!(referrers.len(), 1);
    assert_eq!(referrers[0].artifact_type.as_deref(), Some("application/vnd.oci.image.config.v1+json"));
}

/// Makes the layout look as if it had lain there for a while.
fn age(folder: &Path) {
    let file = std::fs::File::options().write(true).open(folder.join("index.json")).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_mins(1)).unwrap();
}

fn reads(store: &DirStore) -> usize {
    store.cache.reads.load(std::sync::atomic::Ordering::Relaxed)
}

#[tokio::test]
async fn index_json_is_read_once_however_many_questions_are_asked() {
    let (_folder, store) = new_store();
    let folder = store.path().to_owned();
    let release = push_release(&store).await;
    for number in 0..20 {
        store.tag(&release.index, &tag(&format!("1.0.{number}"))).await.unwrap();
    }
    age(&folder);
    let store = DirStore::open(&folder).unwrap();
    for tag in store.tag_texts().await.unwrap() {
        let (found, _) = store.manifest(&by_tag(&tag)).await.unwrap();
        store.manifest_unverified(&by_tag(&tag), 1024 * 1024).await.unwrap();
        assert!(store.referrers(&found.digest).await.unwrap().is_empty());
    }
    assert_eq!(reads(&store), 1);
    // What this process or another one changes is seen.
    store.tag(&release.index, &tag("2.0.0")).await.unwrap();
    assert_eq!(store.tags().await.unwrap().len(), 21);
    DirStore::open(&folder).unwrap().tag(&release.index, &tag("3.0.0")).await.unwrap();
    assert_eq!(store.tags().await.unwrap().len(), 22);
    age(&folder);
    let referrer = super::push_referrer(&DirStore::open(&folder).unwrap(), &release.index, "x").await;
    assert_eq!(store.referrers(&release.index.digest).await.unwrap()[0].digest, referrer.digest);
}

#[tokio::test]
async fn a_change_right_after_a_change_is_seen() {
    let (_folder, store) = new_store();
    let one = push(&store, OCI_INDEX, b"{}").await;
    let two = push(&store, OCI_INDEX, b"{ }").await;
    let other = DirStore::open(store.path()).unwrap();
    for (descriptor, _) in std::iter::repeat_n([&one, &two], 20).flatten().zip(0..) {
        other.tag(descriptor, &tag("1.0.0")).await.unwrap();
        assert_eq!(store.resolve(&by_tag("1.0.0")).await.unwrap().digest, descriptor.digest);
    }
}

#[tokio::test]
async fn a_writer_read_every_manifest_again_after_each_of_its_changes() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    for number in 0..20 {
        store.tag(&release.index, &tag(&format!("1.0.{number}"))).await.unwrap();
        super::push_referrer(&store, &release.index, &number.to_string()).await;
        assert_eq!(store.referrers(&release.index.digest).await.unwrap().len(), number + 1);
        assert_eq!(store.tags().await.unwrap().len(), number + 1);
    }
    assert_eq!(reads(&store), 0, "it has written the file itself");
    assert_eq!(store.cache.manifests_read.load(std::sync::atomic::Ordering::Relaxed), 21 + release.leaves.len());
    // What another program changes in place counts all the same.
    std::fs::write(store.path().join("index.json"), br#"{"schemaVersion":2,"manifests":[]}"#).unwrap();
    assert!(store.tags().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_referrer_that_came_after_a_list_of_it_is_found() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let text = format!(
        r#"{{"mediaType":"{OCI_INDEX}","manifests":[],"subject":{}}}"#,
        serde_json::to_string(&release.index).unwrap()
    );
    let referrer = Descriptor::of(OCI_INDEX, text.as_bytes());
    let list = format!(r#"{{"mediaType":"{OCI_INDEX}","manifests":[{}]}}"#, serde_json::to_string(&referrer).unwrap());
    let list = push(&store, OCI_INDEX, list.as_bytes()).await;
    store.tag(&list, &tag("list")).await.unwrap();
    assert!(store.referrers(&release.index.digest).await.unwrap().is_empty());
    let path = store.path().join("blobs/sha256").join(referrer.digest.encoded());
    std::fs::write(path, &text).unwrap();
    store.tag(&list, &tag("again")).await.unwrap();
    assert_eq!(store.referrers(&release.index.digest).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_waits_for_its_turn_was_written_one_after_the_other() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let writes = || store.cache.writes.load(std::sync::atomic::Ordering::Relaxed);
    let before = writes();
    let tags: Vec<_> = (0..50).map(|number| tag(&format!("1.0.{number}"))).collect();
    let tagged = tags.iter().map(|tag| store.tag(&release.index, tag));
    for done in futures_util::future::join_all(tagged).await {
        done.unwrap();
    }
    assert!(writes() - before < 50, "{}", writes() - before);
    let other = DirStore::open(store.path()).unwrap();
    assert_eq!(other.tags().await.unwrap().len(), 50);
    store.untag(&tags[7], &release.index.digest).await.unwrap();
    store.tag(&release.index, &tag("2.0.0")).await.unwrap();
    assert_eq!(store.tags().await.unwrap(), other.tags().await.unwrap());
    assert_eq!(store.tags().await.unwrap().len(), 50);
}
