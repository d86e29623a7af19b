//! Checksums and uploads at the same time: each goes on while the other is held.

use std::pin::pin;

use futures_util::FutureExt as _;
use tofu_oci_types::{Event, Reporter};
use tokio::sync::watch;

use super::*;

const PLATFORMS: usize = 5;

fn many_zips() -> Folder {
    let folder = Folder::new();
    for platform in ["linux_amd64", "linux_arm64", "linux_arm", "darwin_arm64", "darwin_amd64"] {
        folder.package("1.4.0", platform);
    }
    folder
}

/// Hears how many things of one work are done.
struct Hearing {
    work: &'static str,
    done: watch::Sender<u64>,
}

impl Hearing {
    fn of(work: &'static str) -> Self {
        Self { work, done: watch::Sender::new(0) }
    }

    async fn all(&self) {
        self.done.subscribe().wait_for(|done| *done == PLATFORMS as u64).await.unwrap();
    }
}

impl Reporter for Hearing {
    fn event(&self, event: &Event) {
        if let Event::Working { subject, done, .. } = event
            && subject == self.work
        {
            self.done.send_replace(*done);
        }
    }
}

#[tokio::test]
async fn every_checksum_is_found_while_the_store_holds_all_uploads() {
    let folder = many_zips();
    for jobs in [1, 4] {
        let (store, heard) = (Watching::new(), Hearing::of("checksums"));
        store.open.send_replace(false);
        let push = Push { jobs, ..Push::new(&folder, "1.4.0") };
        let request = push.request();
        let held = async {
            heard.all().await;
            assert!(store.inner.digests().is_empty(), "nothing has arrived");
            store.open.send_replace(true);
        };
        let (report, ()) = tokio::join!(crate::push(&request, &store, &heard), held);
        assert!(report.unwrap().what.platforms.iter().all(|platform| platform.h1.is_some()));
        assert_eq!(tags(&store).await, ["1.4.0".to_owned()].into());
    }
}

#[tokio::test]
async fn a_damaged_zip_ends_the_push_while_the_store_holds_all_uploads() {
    let folder = many_zips();
    folder.damage("terraform-provider-zap_1.4.0_linux_arm.zip");
    let store = Watching::new();
    store.open.send_replace(false);
    let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("damaged");
    assert!(matches!(error, PackError::Archive { .. }), "{error}");
    assert!(store.inner.digests().is_empty() && tags(&store).await.is_empty());
}

#[tokio::test]
async fn every_platform_is_sent_while_no_core_is_free_for_checksums() {
    let folder = many_zips();
    let (store, heard) = (Watching::new(), Hearing::of("packages sent"));
    let push = Push::new(&folder, "1.4.0");
    let request = push.request();
    let sender = Sender {
        store: &store,
        reporter: &heard,
        publication: &request.publication,
        protocols: &request.dist.protocols,
        sums: None,
        files: &[],
        docs: None,
    };
    let (tag, found) = look(&sender, None).await.unwrap();
    let mut preparation = Preparation::start(&request).unwrap();
    let cores = preparation.cores();
    let count = u32::try_from(cores.available_permits()).unwrap();
    let before = cores.try_acquire_many(count).unwrap();
    // Each platform asks for a core to be prepared; then comes the test, and what asks later waits for it.
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    let mut all_cores = pin!(cores.acquire_many(count));
    assert!(all_cores.as_mut().now_or_never().is_none());
    drop(before);
    let held = async {
        let all_cores = all_cores.await.unwrap();
        heard.all().await;
        assert!(!store.take().iter().any(|what| what.contains("index")), "the index waits for the checksums");
        drop(all_cores);
    };
    let (report, ()) = tokio::join!(push_files(&sender, &request, &mut preparation, tag, &found), held);
    preparation.stop().await;
    assert!(report.unwrap().what.platforms.iter().all(|platform| platform.h1.is_some()));
    assert_eq!(tags(&store).await, ["1.4.0".to_owned()].into());
}
