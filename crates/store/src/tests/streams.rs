//! What stands between bytes and anybody who believes them.

use std::path::Path;

use bytes::Bytes;
use futures_util::{StreamExt as _, TryStreamExt as _};
use tofu_oci_types::{Descriptor, Digest};

use super::text_of;
use crate::{
    Body, ByteStream, FileBody, MemoryStore, ReadStore as _, Store as _, StoreError, StoredBody, fetch_bytes, verified,
};

fn stream(pieces: &'static [&'static str]) -> ByteStream {
    futures_util::stream::iter(pieces.iter().map(|piece| Ok(Bytes::from_static(piece.as_bytes())))).boxed()
}

async fn check(pieces: &'static [&'static str], descriptor: &Descriptor) -> String {
    let read = async { verified("memory".parse().unwrap(), stream(pieces), descriptor)?.try_collect::<Vec<_>>().await };
    match read.await {
        Ok(read) => format!("ok: {}", String::from_utf8(read.concat()).unwrap()),
        Err(error) => text_of::<()>(Err(error), Path::new("-")),
    }
}

#[tokio::test]
async fn verified_passes_the_right_bytes_and_names_what_is_wrong_with_others() {
    let descriptor = Descriptor::of("archive/zip", b"hello");
    insta::assert_snapshot!(check(&["hel", "", "lo"], &descriptor).await, @"ok: hello");
    insta::assert_snapshot!(check(&["hel"], &descriptor).await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of memory has the wrong size: expected 5 bytes, got 3");
    insta::assert_snapshot!(check(&["hello", "!"], &descriptor).await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of memory has the wrong size: expected 5 bytes, got 6");
    insta::assert_snapshot!(check(&["hellO"], &descriptor).await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of memory is damaged: expected sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824, got sha256:04a6f55face2f46be8c23f627d539827615851e10751b63ec59db6d2c706b770");
    insta::assert_snapshot!(check(&[], &descriptor).await, @"blob sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824 of memory has the wrong size: expected 5 bytes, got 0");
    insta::assert_snapshot!(check(&[], &Descriptor::of("text/plain", b"")).await, @"ok:");
    let other = Descriptor::new("archive/zip", "blake3:af13".parse().unwrap(), 5);
    insta::assert_snapshot!(check(&["hello"], &other).await, @"cannot verify blake3:af13: its algorithm is not supported");
    let sha512 = "sha512:9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043";
    assert_eq!(check(&["hello"], &Descriptor::new("x", sha512.parse().unwrap(), 5)).await, "ok: hello");
}

#[tokio::test]
async fn a_manifest_is_not_read_beyond_the_limit() {
    let store = MemoryStore::new("memory".parse().unwrap());
    let descriptor = super::push(&store, "application/json", b"0123456789").await;
    assert_eq!(fetch_bytes(&store, &descriptor, 10).await.unwrap(), "0123456789");
    let refused = fetch_bytes(&store, &descriptor, 9).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { limit: 9, .. })), "{refused:?}");
    store.insert_unchecked(&descriptor, Bytes::from_static(b"01234567890"));
    let refused = fetch_bytes(&store, &descriptor, 10).await;
    assert!(matches!(refused, Err(StoreError::SizeMismatch { actual: 11, .. })), "{refused:?}");
}

#[tokio::test]
async fn a_file_is_read_whole_and_again_from_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    for size in [0, 1, 256 * 1024, 3 * 256 * 1024 + 17] {
        let bytes: Vec<u8> = (0..size).map(|at: u32| u8::try_from(at % 251).unwrap()).collect();
        std::fs::write(&path, &bytes).unwrap();
        let body = FileBody(&path);
        // A reader that stops early leaves nothing behind that would disturb the next.
        drop(body.open().await.unwrap());
        for _ in 0..2 {
            let read: Vec<Bytes> = body.open().await.unwrap().try_collect().await.unwrap();
            assert_eq!(Digest::sha256(&read.concat()), Digest::sha256(&bytes));
        }
    }
    let missing = FileBody(&folder.path().join("missing")).open().await.map(drop);
    insta::assert_snapshot!(text_of(missing, folder.path()), @"cannot read DIR/missing: No such file or directory (os error 2)");
}

#[tokio::test]
async fn memory_answers_like_a_registry() {
    let store = MemoryStore::new("memory".parse().unwrap());
    let release = super::push_release(&store).await;
    let nowhere = Path::new("-");
    insta::assert_snapshot!(text_of(store.resolve(&super::by_tag("1.0.0")).await, nowhere), @"memory has no tag 1.0.0");
    crate::Store::tag(&store, &release.index, &super::tag("1.0.0")).await.unwrap();
    assert_eq!(store.resolve(&super::by_tag("1.0.0")).await.unwrap(), release.index);
    assert_eq!(store.tags().await.unwrap(), [super::tag("1.0.0")]);
    let blob = tofu_oci_types::Reference::Digest(release.blobs[0].digest.clone());
    assert!(store.resolve(&blob).await.unwrap_err().is_not_found());
    let sig = super::push_referrer(&store, &release.index, "first").await;
    let referrers = store.referrers(&release.index.digest).await.unwrap();
    assert_eq!(referrers.len(), 1);
    assert_eq!(referrers[0].digest, sig.digest);
    assert_eq!(referrers[0].artifact_type.as_deref(), Some("application/vnd.example.sig"));
    assert_eq!(referrers[0].annotations["what"], "first");
    let unknown = Descriptor::of("application/vnd.oci.image.index.v1+json", b"never pushed");
    assert!(crate::Store::tag(&store, &unknown, &super::tag("2.0.0")).await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn content_that_has_ended_may_be_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let (path, bytes) = (folder.path().join("file"), Bytes::from_static(b"hello"));
    std::fs::write(&path, &bytes).unwrap();
    let store = MemoryStore::new("memory".parse().unwrap());
    let descriptor = Descriptor::of("archive/zip", &bytes);
    store.push(&descriptor, &bytes).await.unwrap();
    let bodies: [&dyn Body; 3] = [&bytes, &FileBody(&path), &StoredBody(&store, &descriptor)];
    for body in bodies {
        let mut stream = body.open().await.unwrap();
        while stream.try_next().await.unwrap().is_some() {}
        for _ in 0..3 {
            assert_eq!(stream.try_next().await.unwrap(), None, "an upload in chunks asks again after the last one");
        }
    }
}

#[tokio::test]
async fn a_part_of_a_blob_is_its_bytes_from_there_to_there() {
    let bytes = Bytes::from(b"0123456789".repeat(40_000));
    let (_folder, directory) = super::dir_writing::new_store();
    let memory = MemoryStore::new("memory".parse().unwrap());
    let blob = super::push(&memory, "archive/zip", &bytes).await;
    super::push(&directory, "archive/zip", &bytes).await;
    let stores: [&dyn crate::ReadStore; 2] = [&memory, &directory];
    for store in stores {
        for part in [0..0, 0..1, 7..300_000, 131_072..262_144, 399_999..400_000, 0..400_000] {
            let stream = store.fetch_range_unverified(&blob, part.start as u64..part.end as u64).await.unwrap();
            let pieces: Vec<Bytes> = stream.try_collect().await.unwrap();
            assert_eq!(pieces.concat(), bytes[part.clone()], "{part:?}");
        }
    }
    std::fs::write(directory.blob_path(&blob.digest), "0123").unwrap();
    let cut: Result<Vec<Bytes>, _> = directory.fetch_range_unverified(&blob, 2..10).await.unwrap().try_collect().await;
    assert!(matches!(cut, Err(StoreError::Io(_))), "{cut:?}");
}
