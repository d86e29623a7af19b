//! Writers of one image layout, one after the other.

use std::sync::{Arc, Mutex};

use tofu_oci_disk::Waiter;

use super::dir_writing::new_store;
use super::{push_release, tag};
use crate::{ReadStore as _, Store as _};

#[tokio::test(start_paused = true)]
async fn a_writer_that_waits_for_another_says_for_whom_and_gives_up() {
    let (_folder, store) = new_store();
    let release = push_release(&store).await;
    let heard = Arc::new(Heard::default());
    let waiter = Waiter { program: "tofu-oci push".to_owned(), ..Waiter::default() };
    let store = store.waiting(waiter.clone(), heard.clone());
    let on = tofu_oci_disk::Lockable::File(store.path().join(".tofu-oci-lock"));
    let held = tofu_oci_disk::lock(&on, &waiter, &|_| ()).await.unwrap();
    let error = store.tag(&release.index, &tag("1.0.0")).await.expect_err("the lock is never released");
    let (text, heard) = (error.to_string(), heard.0.lock().unwrap().join("\n"));
    let who = format!("{on} is locked by tofu-oci push (process {} on ", std::process::id());
    assert!(text.starts_with(&who) && text.ends_with(", and was not released within 120 s"), "{text}");
    assert!(heard.starts_with(&format!("waiting up to 120 s: {who}")), "{heard}");
    drop(held);
    store.tag(&release.index, &tag("1.0.0")).await.unwrap();
}

/// A wide tree of referrers filled the terminal with notes that the copy waits for itself, and its parts, which slept between
/// their tries, took each other's turns for minutes.
#[tokio::test(start_paused = true)]
async fn a_process_does_not_wait_for_itself() {
    let (_folder, store) = new_store();
    let heard = Arc::new(Heard::default());
    let store = store.waiting(Waiter::default(), heard.clone());
    let release = push_release(&store).await;
    let begin = tokio::time::Instant::now();
    let parts = (0..60).map(|number| {
        let (store, index) = (&store, &release.index);
        async move { store.tag(index, &tag(&format!("1.0.{number}"))).await }
    });
    for told in futures_util::future::join_all(parts).await {
        told.unwrap();
    }
    assert_eq!(store.tags().await.unwrap().len(), 60);
    assert_eq!(*heard.0.lock().unwrap(), [] as [String; 0]);
    assert_eq!(begin.elapsed(), std::time::Duration::ZERO, "nothing slept");
}

#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl tofu_oci_types::Reporter for Heard {
    fn event(&self, event: &tofu_oci_types::Event) {
        let tofu_oci_types::Event::Message { text, .. } = event else { return };
        self.0.lock().unwrap().push(text.clone());
    }
}
