//! Bundles in parts: a writer that is killed, parts of two bundles, names that are too long.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tofu_oci_types::NoReporter;

use super::{NAME, contents, names_in, problem, repository, written};
use crate::{BundleArchive, StoreError, check_bundle_name};

const PART: u64 = 2000;

/// Writes the old or the new bundle in parts; both have several, and the old one more.
async fn write(folder: &Path, which: &str) {
    let blob = if which == "old" { vec![b'o'; 9000] } else { b"new".to_vec() };
    let contents = contents(&[(which, &repository(&blob).await), (NAME, &repository(b"both").await)]);
    contents.write(&folder.join("a.tar"), PART, &NoReporter, ()).await.expect("the folder can be written");
}

async fn which(folder: &Path) -> String {
    let bundle = BundleArchive::open(folder.join("a.tar")).await.expect("a bundle");
    bundle.repositories().find(|name| *name != NAME).expect("one of the two").to_owned()
}

fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let read = |name: String| (name.clone(), std::fs::read(folder.join(name)).expect("a file"));
    names_in(folder).into_iter().map(read).collect()
}

#[tokio::test]
async fn a_bundle_in_parts_is_the_old_or_the_new_one_wherever_its_writer_was_killed() {
    let [old, new] = [tempfile::tempdir(), tempfile::tempdir()].map(|made| made.expect("a temporary folder"));
    write(old.path(), "old").await;
    write(new.path(), "new").await;
    let (old, new) = (tree(old.path()), tree(new.path()));
    assert!(old.len() > new.len() && new.len() > 1, "{} {}", old.len(), new.len());
    let stale = old.len() - new.len();
    // After the switch: stale parts are removed, the last one first, and then the new ones get their names.
    for done in 0..=stale + new.len() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (removed, moved) = (done.min(stale), done.saturating_sub(stale));
        for (name, bytes) in &old[..old.len() - removed] {
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        std::fs::create_dir(folder.path().join("a.tar.new")).expect("a new folder");
        for (nth, (name, bytes)) in new.iter().enumerate() {
            let place = if nth < moved { name.clone() } else { name.replace("a.tar.", "a.tar.new/") };
            std::fs::write(folder.path().join(place), bytes).expect("written");
        }
        assert_eq!(which(folder.path()).await, "new", "{done}");
        // Whatever is written next, nothing is left of it.
        write(folder.path(), "old").await;
        assert!(tree(folder.path()) == old, "{done}: {:?}", names_in(folder.path()));
        write(folder.path(), "new").await;
        assert!(tree(folder.path()) == new, "{done}: {:?}", names_in(folder.path()));
    }
}

#[tokio::test]
async fn one_file_takes_the_place_of_parts_that_a_killed_writer_left() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "new").await;
    std::fs::create_dir(folder.path().join("a.tar.new")).expect("a new folder");
    std::fs::rename(folder.path().join("a.tar.002"), folder.path().join("a.tar.new/002")).expect("renamed");
    written(folder.path(), u64::MAX).await;
    assert_eq!(names_in(folder.path()), ["a.tar"]);
}

/// A reader took the first parts of the old bundle for all, because the writer was removing the others.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_found_parts_of_the_old_bundle_while_one_file_took_their_place() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("a.tar");
    let bundles =
        [("old", vec![b'o'; 9000], 600), ("new", b"new".to_vec(), u64::MAX)].map(async |(name, blob, part)| {
            (contents(&[(name, &repository(&blob).await), (NAME, &repository(b"both").await)]), part)
        });
    let bundles = futures_util::future::join_all(bundles).await;
    write(folder.path(), "old").await;
    let (place, stop) = (file.clone(), Arc::new(AtomicBool::new(false)));
    let stopped = Arc::clone(&stop);
    let reader = tokio::spawn(async move {
        let mut opened = 0;
        while !stopped.load(Ordering::Relaxed) {
            let bundle = BundleArchive::open(&place).await.expect("the old or the new one");
            assert_eq!(bundle.repositories().count(), 2);
            opened += 1;
        }
        opened
    });
    for (contents, part) in bundles.iter().cycle().take(16) {
        contents.write(&file, *part, &NoReporter, ()).await.expect("the folder can be written");
    }
    stop.store(true, Ordering::Relaxed);
    assert!(reader.await.expect("every bundle was whole") > 0);
}

#[tokio::test]
async fn a_damaged_byte_in_a_part_was_said_to_be_parts_of_two_bundles() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "new").await;
    let first = folder.path().join("a.tar.001");
    let mut bytes = std::fs::read(&first).expect("a part");
    bytes[3] ^= 1;
    std::fs::write(&first, bytes).expect("written");
    let said = problem(BundleArchive::open(folder.path().join("a.tar")).await);
    assert!(said.contains("not usable: it is damaged, or its parts are of several bundles: "), "{said}");
}

#[tokio::test]
async fn parts_of_two_bundles_are_said_not_to_belong_together() {
    let [old, new] = [tempfile::tempdir(), tempfile::tempdir()].map(|made| made.expect("a temporary folder"));
    write(old.path(), "old").await;
    write(new.path(), "new").await;
    for first in 1..names_in(new.path()).len() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (nth, (name, bytes)) in tree(old.path()).into_iter().enumerate() {
            let bytes = if nth < first { std::fs::read(new.path().join(&name)).expect("a part") } else { bytes };
            std::fs::write(folder.path().join(name), bytes).expect("written");
        }
        let said = problem(BundleArchive::open(folder.path().join("a.tar")).await);
        assert!(
            said.starts_with("a.tar is not usable: it is damaged, or its parts are of several bundles: "),
            "{first}: {said}"
        );
    }
    // The sizes alone show it.
    let second = new.path().join("a.tar.002");
    let cut = &std::fs::read(&second).expect("a part")[..1024];
    std::fs::write(&second, cut).expect("written");
    let said = problem(BundleArchive::open(new.path().join("a.tar")).await);
    assert!(said.contains("a.tar.002 has another size than the first one"), "{said}");
}

#[tokio::test]
async fn parts_after_the_end_of_a_bundle_are_not_counted() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    write(folder.path(), "new").await;
    let size = BundleArchive::open(folder.path().join("a.tar")).await.expect("a bundle").size();
    let next = format!("a.tar.{:03}", names_in(folder.path()).len() + 1);
    std::fs::write(folder.path().join(next), [7; 5000]).expect("written");
    assert_eq!(BundleArchive::open(folder.path().join("a.tar")).await.expect("a bundle").size(), size);
}

#[cfg(unix)]
#[tokio::test]
async fn a_name_that_is_too_long_for_parts_is_refused_first_and_good_for_one_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("n".repeat(252));
    assert!(matches!(check_bundle_name(&file, PART), Err(StoreError::Io(_))));
    check_bundle_name(&file, u64::MAX).expect("a good name");
    let contents = contents(&[(NAME, &repository(b"one").await)]);
    contents.write(&file, u64::MAX, &NoReporter, ()).await.expect("a name of 252 letters is a good one");
    BundleArchive::open(&file).await.expect("a bundle");
}
