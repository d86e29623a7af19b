//! What a power cut leaves of an image layout: empty files, files that break off, files of NUL.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tofu_oci_disk::{KEPT_INDEX_NAME, Waiter};
use tofu_oci_types::{Event, Reporter};

use super::dir_writing::new_store;
use super::{by_tag, push, push_release, tag};
use crate::{ComparedBy, DirStore, ReadStore, Store, is_cut, is_whole, remove_damaged};

#[derive(Default)]
struct Codes(Mutex<Vec<&'static str>>);

impl Reporter for Codes {
    fn event(&self, event: &Event) {
        if let Event::Message { code, .. } = event {
            self.0.lock().unwrap().push(*code);
        }
    }
}

#[test]
fn a_document_that_is_empty_breaks_off_or_ends_in_nul_is_cut() {
    let cut: [&[u8]; 5] = [b"", b"  ", b"{\"a\": [", b"\0\0\0", b"{}\0\0"];
    assert!(cut.into_iter().all(is_cut));
    assert!([&b"{}"[..], b"[]", b"x", b"{} x"].iter().all(|whole| !is_cut(whole)));
}

#[tokio::test]
async fn an_index_json_that_is_empty_or_cut_off_is_the_one_that_the_last_run_kept() {
    for damage in [&b""[..], b"\0\0\0\0", b"{\"schemaVersion\":2,\"mani"] {
        let (_folder, store) = new_store();
        let release = push_release(&store).await;
        store.tag(&release.index, &tag("1.0.0")).await.unwrap();
        store.persist().await.unwrap();
        let (path, before) = (store.path().join("index.json"), std::fs::read(store.path().join("index.json")).unwrap());
        std::fs::write(&path, damage).unwrap();
        assert!(DirStore::open(store.path()).unwrap().tags().await.is_err(), "who only reads restores nothing");
        let codes = Arc::new(Codes::default());
        let again = DirStore::create_on_write(store.path()).unwrap().waiting(Waiter::default(), codes.clone());
        assert_eq!(again.resolve(&by_tag("1.0.0")).await.unwrap(), release.index);
        assert_eq!(*codes.0.lock().unwrap(), ["index-restored"]);
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}

#[tokio::test]
async fn an_index_json_that_a_first_run_left_empty_lists_nothing_and_one_that_says_something_stays() {
    let (_folder, store) = new_store();
    let path = store.path().join("index.json");
    std::fs::write(&path, b"").unwrap();
    assert_eq!(DirStore::create_on_write(store.path()).unwrap().tags().await.unwrap(), []);
    std::fs::write(&path, b"{\"manifests\":[{\"digest\":").unwrap();
    assert!(DirStore::create_on_write(store.path()).unwrap().tags().await.is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"{\"manifests\":[{\"digest\":");
}

#[tokio::test]
async fn an_index_json_that_was_emptied_with_oci_layout_was_restored_without_a_word() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    store.persist().await.unwrap();
    std::fs::remove_file(store.path().join("oci-layout")).unwrap();
    std::fs::write(store.path().join("index.json"), b"").unwrap();
    let codes = Arc::new(Codes::default());
    let again = DirStore::create_on_write(store.path()).unwrap().waiting(Waiter::default(), codes.clone());
    assert_eq!(*codes.0.lock().unwrap(), ["index-restored"]);
    again.tag(&release.index, &tag("1.1.0")).await.unwrap();
    assert_eq!(again.tags().await.unwrap(), [tag("1.0.0"), tag("1.1.0")]);
}

#[tokio::test]
async fn an_older_list_was_said_to_count_where_none_was_kept() {
    let (_folder, store) = new_store();
    std::fs::write(store.path().join("index.json"), b"").unwrap();
    let codes = Arc::new(Codes::default());
    let again = DirStore::create_on_write(store.path()).unwrap().waiting(Waiter::default(), codes.clone());
    assert_eq!((again.tags().await.unwrap(), codes.0.lock().unwrap().len()), (vec![], 0));
    // What was listed is lost without a word if something was.
    push_release(&store).await;
    std::fs::write(store.path().join("index.json"), b"").unwrap();
    drop(DirStore::create_on_write(store.path()).unwrap().waiting(Waiter::default(), codes.clone()));
    assert_eq!(*codes.0.lock().unwrap(), ["index-lost"]);
}

#[tokio::test]
async fn what_could_not_be_flushed_was_never_flushed_again() {
    let (folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let away = folder.path().join("away");
    std::fs::rename(store.path(), &away).unwrap();
    store.persist().await.unwrap_err();
    std::fs::rename(&away, store.path()).unwrap();
    store.persist().await.unwrap();
    assert!(store.path().join(KEPT_INDEX_NAME).exists());
}

#[tokio::test]
async fn half_an_index_json_of_another_tool_took_the_place_of_the_kept_one() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    store.persist().await.unwrap();
    store.tag(&release.index, &tag("1.1.0")).await.unwrap();
    for half in [&b"{\"schemaVersion\":2,\"mani"[..], b"[]", b""] {
        std::fs::write(store.path().join("index.json"), half).unwrap();
        push(&store, "archive/zip", half).await;
        store.persist().await.unwrap();
        std::fs::write(store.path().join("index.json"), b"").unwrap();
        let again = DirStore::create_on_write(store.path()).unwrap();
        assert_eq!(again.tags().await.unwrap(), [tag("1.0.0")]);
    }
}

#[tokio::test]
async fn a_layout_of_an_earlier_program_is_kept_before_it_is_changed() {
    let (_folder, first) = new_store();
    let release = push_release(&first).await;
    first.tag(&release.index, &tag("1.0.0")).await.unwrap();
    let store = DirStore::create_on_write(first.path()).unwrap();
    store.tag(&release.index, &tag("1.1.0")).await.unwrap();
    std::fs::write(store.path().join("index.json"), b"").unwrap();
    let again = DirStore::create_on_write(store.path()).unwrap();
    assert_eq!(again.tags().await.unwrap(), [tag("1.0.0")]);
}

#[tokio::test]
async fn a_blob_that_is_cut_off_is_not_whole_and_is_written_again() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let file = |digest: &tofu_oci_types::Digest| -> PathBuf { store.blob_path(digest) };
    let whole = async |by| is_whole(&store, &release.index, by).await.unwrap();
    assert!(whole(ComparedBy::Digests).await);
    for damaged in release.blobs.iter().chain(&release.leaves).chain([&release.index]) {
        let bytes = std::fs::read(file(&damaged.digest)).unwrap();
        for left in [0, bytes.len() / 2] {
            std::fs::write(file(&damaged.digest), &bytes[..left]).unwrap();
            assert!(!whole(ComparedBy::Sizes).await, "{}", damaged.media_type);
            push_release(&store).await;
            assert!(whole(ComparedBy::Digests).await, "{}", damaged.media_type);
        }
    }
    // Other bytes in the same size are seen if digests are compared.
    let zip = release.blobs.last().unwrap();
    std::fs::write(file(&zip.digest), vec![b'x'; usize::try_from(zip.size).unwrap()]).unwrap();
    assert!(whole(ComparedBy::Sizes).await && !whole(ComparedBy::Digests).await);
    remove_damaged(&store, &release.index).await.unwrap();
    push_release(&store).await;
    assert!(whole(ComparedBy::Digests).await);
}

#[tokio::test]
async fn a_layout_that_had_lost_its_marker_was_whole_for_its_writer_alone() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
    std::fs::remove_file(store.path().join("oci-layout")).unwrap();
    let again = DirStore::create_on_write(store.path()).unwrap();
    assert_eq!(again.tags().await.unwrap(), [tag("1.0.0")]);
    again.persist().await.unwrap();
    assert!(DirStore::open(store.path()).unwrap().tags().await.is_ok());
}
