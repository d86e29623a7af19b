//! Writing an image layout.

use std::path::Path;

use bytes::Bytes;
use futures_util::StreamExt as _;
use tempfile::TempDir;
use tofu_oci_types::{Descriptor, Digest, Place};

use super::{by_tag, leftovers, push, push_json, push_referrer, push_release, tag, text_of};
use crate::manifest::{OCI_INDEX, OCI_MANIFEST};
use crate::{ByteStream, DirStore, MemoryStore, Pushed, ReadStore, Store, StoreError, StoredBody, fetch_bytes};

pub(super) fn new_store() -> (TempDir, DirStore) {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::create(folder.path().join("layout")).unwrap();
    (folder, store)
}

fn index_json(store: &DirStore) -> String {
    std::fs::read_to_string(store.path().join("index.json")).unwrap()
}

#[tokio::test]
async fn a_layout_that_was_never_written_to_leaves_no_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirStore::create_on_write(folder.path().join("layout")).unwrap();
    assert_eq!(store.tags().await.unwrap(), []);
    assert!(store.resolve(&by_tag("1.0.0")).await.unwrap_err().is_not_found());
    assert!(!store.path().exists());
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let again = DirStore::create_on_write(store.path()).unwrap();
    assert_eq!(again.resolve(&by_tag("1.0.0")).await.unwrap(), release.index);
    std::fs::write(folder.path().join("thesis.txt"), "text").unwrap();
    assert!(DirStore::create_on_write(folder.path()).is_err());
}

/// Of ten signers of one release in a directory two or three failed: each had read the tag before the others wrote it.
#[tokio::test]
async fn a_tag_that_somebody_else_has_moved_is_not_written_over() {
    let (_folder, dir) = new_store();
    let memory = MemoryStore::new("memory".parse().unwrap());
    for store in [&dir as &dyn Store, &memory] {
        let release = push_release(store).await;
        let [first, second] = [&release.leaves[0], &release.leaves[1]];
        let (tag, now) = (tag("sha256-x.sig"), async || store.resolve(&by_tag("sha256-x.sig")).await.unwrap().digest);
        assert!(!store.retag(first, &tag, Some(&second.digest)).await.unwrap(), "there is no such tag");
        assert!(store.retag(first, &tag, None).await.unwrap());
        assert!(!store.retag(second, &tag, None).await.unwrap(), "there is one by now");
        assert_eq!(now().await, first.digest);
        assert!(store.retag(second, &tag, Some(&first.digest)).await.unwrap());
        assert!(!store.retag(&release.index, &tag, Some(&first.digest)).await.unwrap());
        assert_eq!(now().await, second.digest);
    }
    // Of many at once one gets it.
    let release = push_release(&dir).await;
    let tries = (0..20).map(|nth| {
        let (dir, leaf) = (dir.clone(), release.leaves[nth % 2].clone());
        tokio::spawn(async move { dir.retag(&leaf, &tag("1.0.0"), None).await.unwrap() })
    });
    let got = futures_util::future::join_all(tries).await.into_iter().filter(|got| *got.as_ref().unwrap()).count();
    assert_eq!(got, 1);
}

#[tokio::test]
async fn a_new_layout_is_what_other_tools_expect() {
    let (_folder, store) = new_store();
    let read = |name: &str| std::fs::read_to_string(store.path().join(name)).unwrap();
    insta::assert_snapshot!(read("oci-layout"), @r#"{"imageLayoutVersion":"1.0.0"}"#);
    insta::assert_snapshot!(read("index.json"), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[]}"#);
    assert_eq!(store.tags().await.unwrap(), []);
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    insta::assert_snapshot!(read("index.json"), @r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[{"mediaType":"application/vnd.oci.image.index.v1+json","digest":"sha256:c79ace86e48ad989f47f4a7e418072766609dfd19b118ee6872f4d85d74df1ef","size":393,"annotations":{"org.opencontainers.image.ref.name":"1.0.0"}}]}"#);
    assert_eq!(store.resolve(&by_tag("1.0.0")).await.unwrap(), release.index);
    for blob in &release.blobs {
        assert!(store.exists(blob).await.unwrap());
        assert!(Digest::sha256(&fetch_bytes(&store, blob, 1 << 20).await.unwrap()) == blob.digest);
    }
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
    let again = DirStore::create(store.path()).unwrap();
    assert_eq!(again.tags().await.unwrap(), [tag("1.0.0")]);
}

#[cfg(unix)]
#[tokio::test]
async fn files_have_the_mode_of_any_other_new_file() {
    use std::os::unix::fs::PermissionsExt as _;
    let (folder, store) = new_store();
    let blob = push(&store, "archive/zip", b"zip").await;
    let plain = folder.path().join("plain");
    std::fs::write(&plain, b"").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&store.blob_path(&blob.digest)), mode(&plain));
    assert_eq!(mode(&store.path().join("index.json")), mode(&plain));
}

#[tokio::test]
async fn content_is_checked_on_its_way_in() {
    let (folder, store) = new_store();
    let check = async |claimed: Descriptor, bytes: &'static [u8]| {
        let pushed = store.push(&claimed, &Bytes::from_static(bytes)).await;
        assert!(!store.exists(&claimed).await.unwrap());
        assert_eq!(leftovers(store.path()), [] as [&str; 0]);
        text_of(pushed, folder.path())
    };
    let claimed = || Descriptor::of("archive/zip", b"hello");
    insta::assert_snapshot!(check(claimed(), b"hellO").await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of oci:DIR/layout is damaged: expected sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, got sha256:04a6f55face2f46be8c23f627d539827615851e10751b63ec59db6d2c706b770");
    insta::assert_snapshot!(check(claimed(), b"hell").await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of oci:DIR/layout has the wrong size: expected 5 bytes, got 4");
    insta::assert_snapshot!(check(claimed(), b"hello!").await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of oci:DIR/layout has the wrong size: expected 5 bytes, got 6");
    let unknown = Descriptor::new("archive/zip", "blake3:af13".parse().unwrap(), 5);
    insta::assert_snapshot!(check(unknown, b"hello").await, @"cannot verify blake3:af13: its algorithm is not supported");
}

/// A store whose content breaks off in the middle, with an error or by never going on.
enum Breaking {
    Error,
    Silence,
}

#[async_trait::async_trait]
impl ReadStore for Breaking {
    fn place(&self) -> Place {
        "registry.example.test/acme/widget".parse().unwrap()
    }
    async fn resolve(&self, _: &tofu_oci_types::Reference) -> Result<Descriptor, StoreError> {
        Err(StoreError::UnknownRepository { place: self.place() })
    }
    async fn tags(&self) -> Result<Vec<tofu_oci_types::Tag>, StoreError> {
        Ok(Vec::new())
    }
    async fn exists(&self, _: &Descriptor) -> Result<bool, StoreError> {
        Ok(true)
    }
    async fn fetch_unverified(&self, _: &Descriptor) -> Result<ByteStream, StoreError> {
        let broken = StoreError::Unreachable {
            place: self.place(),
            fault: tofu_oci_types::NetworkFault::Lost,
            problem: "connection reset".to_owned(),
        };
        let piece = futures_util::stream::iter([Ok(Bytes::from_static(b"hel"))]);
        Ok(match self {
            Self::Error => piece.chain(futures_util::stream::iter([Err(broken)])).boxed(),
            Self::Silence => piece.chain(futures_util::stream::pending()).boxed(),
        })
    }
    async fn referrers(&self, _: &Digest) -> Result<Vec<Descriptor>, StoreError> {
        Ok(Vec::new())
    }
}

#[tokio::test]
async fn a_source_that_breaks_off_leaves_nothing() {
    let (folder, store) = new_store();
    let claimed = Descriptor::of("archive/zip", b"hello");
    let pushed = store.push(&claimed, &StoredBody(&Breaking::Error, &claimed)).await;
    insta::assert_snapshot!(text_of(pushed, folder.path()), @"cannot reach registry.example.test/acme/widget: connection reset");
    assert!(!store.exists(&claimed).await.unwrap());
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
}

#[test]
fn a_push_that_is_given_up_leaves_nothing() {
    let (_folder, store) = new_store();
    let claimed = Descriptor::of("archive/zip", b"hello");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let content = StoredBody(&Breaking::Silence, &claimed);
        let mut push = store.push(&claimed, &content);
        // Until the file is there; then the push is dropped in the middle.
        while leftovers(store.path()).is_empty() {
            tokio::select! {
                biased;
                _ = &mut push => panic!("it cannot end"),
                () = tokio::task::yield_now() => {}
            }
        }
    });
    // Waits for the threads that write.
    drop(runtime);
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
    assert!(!store.blob_path(&claimed.digest).exists());
}

#[tokio::test]
async fn what_is_there_is_not_written_again() {
    let (_folder, store) = new_store();
    let bytes = Bytes::from_static(b"hello");
    let descriptor = Descriptor::of("archive/zip", &bytes);
    assert_eq!(store.push(&descriptor, &bytes).await.unwrap(), Pushed::Uploaded);
    assert_eq!(store.push(&descriptor, &bytes).await.unwrap(), Pushed::Present);
    // One that was cut short by something else is fixed.
    std::fs::write(store.blob_path(&descriptor.digest), b"he").unwrap();
    assert_eq!(store.push(&descriptor, &bytes).await.unwrap(), Pushed::Uploaded);
    assert_eq!(fetch_bytes(&store, &descriptor, 10).await.unwrap(), "hello");
}

#[tokio::test]
async fn a_tag_moves_and_other_tools_members_stay() {
    let (folder, store) = new_store();
    let release = push_release(&store).await;
    let foreign = serde_json::json!({ "schemaVersion": 2, "x-ours": [1], "manifests": [
        { "mediaType": OCI_MANIFEST, "digest": release.leaves[0].digest, "size": release.leaves[0].size, "x-keep": true,
          "annotations": { "org.opencontainers.image.ref.name": "other" } },
    ]});
    std::fs::write(store.path().join("index.json"), foreign.to_string()).unwrap();
    store.tag(&release.leaves[0], &tag("1.0.0")).await.unwrap();
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let before = index_json(&store);
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    assert_eq!(index_json(&store), before);
    assert_eq!(store.tags().await.unwrap(), [tag("1.0.0"), tag("other")]);
    assert_eq!(store.resolve(&by_tag("1.0.0")).await.unwrap(), release.index);
    let document: serde_json::Value = serde_json::from_str(&before).unwrap();
    assert_eq!(document["x-ours"], serde_json::json!([1]));
    assert_eq!(document["manifests"][0]["x-keep"], true);
    assert_eq!(document["manifests"].as_array().unwrap().len(), 2);
    let never = Descriptor::of(OCI_INDEX, b"never pushed");
    insta::assert_snapshot!(text_of(store.tag(&never, &tag("2.0.0")).await, folder.path()), @"oci:DIR/layout has no manifest sha256:318de017a845687221ece7813c25d086e19496d5860d2b1c3cb910bb386b3a6d");
}

#[tokio::test]
async fn two_writers_do_not_lose_each_others_tags() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let writers = (0..4).map(|writer| {
        let (store, index) = (DirStore::open(store.path()).unwrap(), release.index.clone());
        tokio::spawn(async move {
            for number in 0..25 {
                store.tag(&index, &tag(&format!("1.{writer}.{number}"))).await.unwrap();
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(store.tags().await.unwrap().len(), 100);
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn what_killed_writers_left_goes_with_the_next_write_and_not_before() {
    let (_folder, store) = new_store();
    let left = |name: &str| std::fs::write(store.path().join(name), vec![0; 1000]).unwrap();
    left(".tofu-oci-Ab12Cd");
    left(".tofu-oci-Ef34Gh");
    let living = std::fs::File::open(store.path().join(".tofu-oci-Ef34Gh")).unwrap();
    living.lock().unwrap();
    let store = DirStore::create_on_write(store.path()).unwrap();
    assert_eq!(store.tags().await.unwrap(), []);
    assert_eq!(leftovers(store.path()).len(), 2, "readers touch nothing");
    push_release(&store).await;
    assert_eq!(leftovers(store.path()), [".tofu-oci-Ef34Gh"]);
    drop(living);
    push_release(&DirStore::create_on_write(store.path()).unwrap()).await;
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
}

#[cfg(unix)]
#[tokio::test]
async fn a_layout_whose_first_writer_was_killed_is_made_by_the_next_one() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(".tofu-oci-Ab12Cd"), b"half").unwrap();
    let store = DirStore::create_on_write(folder.path()).unwrap();
    assert_eq!(store.tags().await.unwrap(), []);
    assert!(!folder.path().join("oci-layout").exists(), "nothing was written yet");
    push_release(&store).await;
    assert_eq!(leftovers(folder.path()), [] as [&str; 0]);
    assert!(DirStore::open(folder.path()).is_ok());
}

#[tokio::test]
async fn two_writers_may_create_the_same_layout() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b");
    let writers = (0..8).map(|_| {
        let path = path.clone();
        tokio::task::spawn_blocking(move || DirStore::create(path).map(drop))
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap().unwrap();
    }
    assert_eq!(DirStore::open(path).unwrap().tags().await.unwrap(), []);
}

#[tokio::test]
async fn referrers_are_listed_without_a_tag() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let first = push_referrer(&store, &release.index, "first").await;
    push_referrer(&store, &release.index, "first").await;
    let nested = push_referrer(&store, &first, "about the first").await;
    assert_eq!(store.tags().await.unwrap(), []);
    let digests = async |subject: &Descriptor| {
        let referrers = store.referrers(&subject.digest).await.unwrap();
        referrers.into_iter().map(|referrer| referrer.digest).collect::<Vec<_>>()
    };
    assert_eq!(digests(&release.index).await, std::slice::from_ref(&first.digest));
    assert_eq!(digests(&first).await, [nested.digest]);
    assert_eq!(digests(&release.leaves[0]).await, []);
    let memory = MemoryStore::new("memory".parse().unwrap());
    let release = push_release(&memory).await;
    push_referrer(&memory, &release.index, "first").await;
    assert_eq!(
        store.referrers(&release.index.digest).await.unwrap(),
        memory.referrers(&release.index.digest).await.unwrap()
    );
}

#[tokio::test]
async fn an_index_under_the_fallback_tag_leads_to_referrers() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let signature = push_referrer(&store, &release.index, "first").await;
    let fallback = serde_json::json!({ "schemaVersion": 2, "mediaType": OCI_INDEX, "manifests": [signature] });
    let fallback = push_json(&store, OCI_INDEX, &fallback).await;
    // As another tool would leave it: only the fallback tag leads to the signature.
    std::fs::write(store.path().join("index.json"), br#"{"schemaVersion":2,"manifests":[]}"#).unwrap();
    assert_eq!(store.referrers(&release.index.digest).await.unwrap(), []);
    store.tag(&fallback, &tag(&release.index.digest.as_str().replace(':', "-"))).await.unwrap();
    let referrers = store.referrers(&release.index.digest).await.unwrap();
    assert_eq!(referrers.len(), 1);
    assert_eq!(referrers[0].digest, signature.digest);
}

#[test]
fn a_folder_that_holds_something_else_is_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("thesis.txt"), b"chapter one").unwrap();
    insta::assert_snapshot!(text_of(DirStore::create(folder.path()), folder.path()), @"oci:DIR is not usable: the folder is not empty and not an OCI image layout");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    let site = tempfile::tempdir().unwrap();
    std::fs::write(site.path().join("index.json"), b"[]").unwrap();
    insta::assert_snapshot!(text_of(DirStore::create(site.path()), site.path()), @"oci:DIR is not usable: index.json is not an index");
    assert!(!site.path().join("oci-layout").exists());
    let file = folder.path().join("thesis.txt");
    insta::assert_snapshot!(text_of(DirStore::create(&file), folder.path()), @"cannot create DIR/thesis.txt: File exists (os error 17)");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_says_so() {
    let (folder, store) = new_store();
    // A file where a folder is needed stops everybody, also those whom no permission stops.
    std::fs::remove_dir(store.path().join("blobs/sha256")).unwrap();
    std::fs::remove_dir(store.path().join("blobs")).unwrap();
    std::fs::write(store.path().join("blobs"), b"").unwrap();
    let descriptor = Descriptor::of("archive/zip", b"hello");
    let pushed = store.push(&descriptor, &Bytes::from_static(b"hello")).await;
    let text = text_of(pushed, folder.path());
    assert!(text.starts_with("cannot create DIR/layout/blobs/sha256: "), "{text}");
    assert_eq!(leftovers(store.path()), [] as [&str; 0]);
    for kind in [std::io::ErrorKind::PermissionDenied, std::io::ErrorKind::ReadOnlyFilesystem] {
        let error = store.write_error("write", store.path(), std::io::Error::from(kind));
        assert_eq!(text_of::<()>(Err(error), folder.path()), "oci:DIR/layout is read-only");
    }
}
