//! Clients that go away, and clients that are slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _};
use http::{HeaderMap, Method};
use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::Fetcher;
use tofu_oci_packer::PackageLayout;
use tofu_oci_source::{FolderSource, Package};
use tofu_oci_store::{ByteStream, MemoryStore, Store, StoreError};
use tofu_oci_testkit::{Fault, Gate, HookedStore, ReleaseFolder, Rule, StoreHook};
use tofu_oci_types::{Descriptor, Digest, Event, Place, Reporter as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::super::progress::ZipProgress;
use super::super::work::LayerContents;
use super::super::zip_folder::ZipFolder;
use super::super::{Packages, ZipBytes, ZipDelivery};
use super::{BLOBS, Bench, answered, layer_zip, linux, options, package};

const PIECE: usize = 64 << 10;
const SIZE: u64 = 1 << 40;

/// A repository whose blobs have no end.
struct Endless {
    inner: MemoryStore,
    pieces: Arc<AtomicUsize>,
    gone: Arc<Notify>,
    /// Whether pieces come at all; otherwise it counts its streams instead.
    comes: bool,
}

/// Reports that the last reader has gone.
struct Reader(Arc<Notify>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

#[async_trait]
impl StoreHook for Endless {
    fn inner(&self) -> &dyn Store {
        &self.inner
    }

    async fn fetch_unverified(&self, _: &Descriptor) -> Result<ByteStream, StoreError> {
        let (reader, pieces) = (Reader(Arc::clone(&self.gone)), Arc::clone(&self.pieces));
        if !self.comes {
            pieces.fetch_add(1, Ordering::Relaxed);
            let never = async move {
                let _reader = reader;
                std::future::pending().await
            };
            return Ok(futures_util::stream::once(never).boxed());
        }
        let stream = futures_util::stream::repeat_with(move || {
            let _ = &reader;
            pieces.fetch_add(1, Ordering::Relaxed);
            Ok(Bytes::from(vec![0; PIECE]))
        });
        Ok(stream.boxed())
    }
}

#[tokio::test]
async fn the_place_is_read_no_faster_than_the_client_reads_and_not_after_it_left() {
    let (pieces, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let place = Place::Host("example.com".to_owned());
    let inner = MemoryStore::new(place);
    let store = HookedStore(Endless { inner, pieces: Arc::clone(&pieces), gone: Arc::clone(&gone), comes: true });
    let blob = Descriptor::new("archive/zip", Digest::sha256(b""), SIZE);
    let zip = layer_zip(store, blob, LayerContents::Provider);
    let cache = tempfile::tempdir().unwrap();
    let packages = Arc::new(Packages::new(options(cache.path())));
    let answer = move |method: Method, headers: HeaderMap| {
        let (packages, zip) = (Arc::clone(&packages), zip.clone());
        async move { packages.answer(&method, &headers, &zip).await }
    };
    let (client, server) = tokio::io::duplex(16 << 10);
    let service = hyper_util::service::TowerToHyperService::new(axum::Router::new().fallback(answer));
    let connection = hyper::server::conn::http1::Builder::new();
    let serving = tokio::spawn(connection.serve_connection(hyper_util::rt::TokioIo::new(server), service));
    let mut client = client;
    client.write_all(b"GET /zip HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    let mut head = [0; 1000];
    client.read_exact(&mut head).await.unwrap();
    for _ in 0..1000 {
        tokio::task::yield_now().await;
    }
    let ahead = pieces.load(Ordering::Relaxed) * PIECE;
    assert!(ahead <= 768 << 10, "{ahead} bytes were read ahead of the client");
    drop(client);
    gone.notified().await;
    assert!(serving.await.unwrap().is_err());
}

/// A repository whose blobs never come.
fn slow(place: &str) -> (HookedStore<Endless>, Arc<AtomicUsize>, Arc<Notify>) {
    let (pieces, gone) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notify::new()));
    let inner = MemoryStore::new(Place::Registry(place.parse().unwrap()));
    let store = Endless { inner, pieces: Arc::clone(&pieces), gone: Arc::clone(&gone), comes: false };
    (HookedStore(store), pieces, gone)
}

#[tokio::test]
async fn slow_archives_of_one_registry_kept_those_of_every_other_from_clients() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    let asked = (0..40_u8).map(|number| {
        let blob = Descriptor::new("archive/zip", Digest::sha256(&[number]), 1 << 20);
        let (store, ..) = slow(&format!("slow.example/acme/{number}"));
        layer_zip(store, blob, LayerContents::Provider)
    });
    let asked: Vec<_> = asked.collect();
    let asked = futures_util::future::join_all(asked.iter().map(|zip| answered(&packages, zip, Some("bytes=0-0"))));
    assert!(tokio::time::timeout(Duration::from_secs(1), asked).await.is_err(), "nothing comes");
    let blob = Descriptor::of("archive/zip", b"right");
    let store = MemoryStore::new(Place::Registry("ghcr.io/acme/zap".parse().unwrap()));
    store.insert_unchecked(&blob, Bytes::from_static(b"right"));
    let other = layer_zip(store, blob, LayerContents::Provider);
    let got = tokio::time::timeout(Duration::from_secs(10), answered(&packages, &other, Some("bytes=0-0"))).await;
    assert_eq!(got.expect("it waits for the slow ones"), (206, Bytes::from_static(b"r")));
}

#[tokio::test(start_paused = true)]
async fn an_archive_that_no_client_waited_for_any_more_was_fetched_for_ever() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    let (store, fetches, gone) = slow("slow.example/acme/zap");
    let zip = layer_zip(store, Descriptor::new("archive/zip", Digest::sha256(b""), SIZE), LayerContents::Provider);
    let ask = async |seconds| {
        let asked = answered(&packages, &zip, Some("bytes=0-0"));
        assert!(tokio::time::timeout(Duration::from_secs(seconds), asked).await.is_err(), "nothing comes");
    };
    // A client that comes again finds the same fetch.
    ask(2).await;
    tokio::time::sleep(Duration::from_mins(1)).await;
    assert_eq!(answered(&packages, &zip, Some("bytes=0-0")).await.0, 502);
    assert!(gone.notified().now_or_never().is_none() && fetches.load(Ordering::Relaxed) == 1);
    let begin = tokio::time::Instant::now();
    gone.notified().await;
    // Two minutes after the first client left; the second one did not stay.
    assert!((59..=61).contains(&begin.elapsed().as_secs()), "{:?}", begin.elapsed());
    ask(2).await;
    assert_eq!(fetches.load(Ordering::Relaxed), 2, "it is begun anew");
}

#[tokio::test(start_paused = true)]
async fn a_client_waited_for_minutes_for_an_archive_of_which_nothing_came() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    for range in [None, Some("bytes=0-0")] {
        let (store, ..) = slow("slow.example/acme/zap");
        let zip = layer_zip(store, Descriptor::new("archive/zip", Digest::sha256(b""), SIZE), LayerContents::Provider);
        let begin = tokio::time::Instant::now();
        let (status, text) = answered(&packages, &zip, range).await;
        assert_eq!((status, begin.elapsed().as_secs()), (502, 45), "{range:?}");
        assert_eq!(text, "example.com/acme/zap cannot be read: its place sends nothing\n");
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_that_waited_for_another_process_which_makes_the_zip_was_told_that_the_place_sends_nothing() {
    let cache = tempfile::tempdir().unwrap();
    let packages = Packages::new(options(cache.path()));
    let blob = Descriptor::of("archive/zip", b"right");
    let store = MemoryStore::new(Place::Registry("ghcr.io/acme/zap".parse().unwrap()));
    store.insert_unchecked(&blob, Bytes::from_static(b"right"));
    let zip = layer_zip(store, blob, LayerContents::Provider);
    let ZipBytes::Layer(layer) = &zip.bytes else { unreachable!("it is a layer") };
    let other = ZipFolder::new(cache.path().to_owned(), 1 << 30);
    let turn = other.turn(&layer.key(), &Waiter::default()).await.unwrap();
    let made = async {
        tokio::time::sleep(Duration::from_mins(3)).await;
        drop(turn);
    };
    let (answered, ()) = tokio::join!(answered(&packages, &zip, Some("bytes=0-0")), made);
    assert_eq!(answered, (206, Bytes::from_static(b"r")));
}

/// Whether a client still waits after a long time in which nothing more came.
async fn waits(progress: &ZipProgress) -> bool {
    tokio::time::timeout(Duration::from_mins(5), progress.stalls()).await.is_err()
}

#[tokio::test(start_paused = true)]
async fn a_zip_that_was_fetched_anew_counted_as_complete_for_ever() {
    let (progress, subject) = (ZipProgress::new(), || "zap".to_owned());
    assert!(waits(&progress).await, "the place is not asked yet");
    progress.event(&Event::Started { subject: subject(), bytes: Some(5) });
    progress.event(&Event::Progress { subject: subject(), done: 5 });
    assert!(waits(&progress).await, "all has come");
    progress.event(&Event::Started { subject: subject(), bytes: Some(5) });
    assert!(!waits(&progress).await, "it begins again, and nothing comes");
}

#[tokio::test]
async fn packing_a_package_of_a_size_that_its_place_does_not_say_counted_as_a_place_that_sends_nothing() {
    let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    ReleaseFolder::new("zap", "1.0.0", &[]).package(linux()).write_zips(&folder.path().join("example.com/acme/zap"));
    let mut offer = package(&FolderSource::new(folder.path()), "linux_amd64").await.offer;
    let Package::Zip(part) = &mut offer.package else { unreachable!("it is a zip") };
    part.size = None;
    let (progress, limits) = (ZipProgress::new(), Limits::default());
    Fetcher::new(1, &limits, &progress).zip(&offer, work.path()).await.unwrap();
    tokio::time::pause();
    assert!(waits(&progress).await);
}

#[tokio::test]
async fn a_client_that_asked_for_one_byte_of_many_zips_and_left_had_them_all_fetched() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let packages = bench.packages(ZipDelivery::PassedOn);
    let gate = Gate::closed();
    bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::Hold(gate.clone())));
    let zips = (0..40_u8).map(|number| {
        let blob = Descriptor::new("archive/zip", Digest::sha256(&[number]), 1 << 20);
        layer_zip(bench.store(), blob, LayerContents::Provider)
    });
    let zips: Vec<_> = zips.collect();
    let asked = futures_util::future::join_all(zips.iter().map(|zip| answered(&packages, zip, Some("bytes=0-0"))));
    tokio::select! {
        _ = asked => panic!("the gate is closed"),
        () = gate.arrived(16) => {}
    }
    assert_eq!(bench.ranges().len(), 16);
    gate.open();
    assert_eq!(answered(&packages, &zips[0], Some("bytes=0-0")).await.0, 502, "no registry has it");
    let left = bench.ranges().len();
    assert!(left <= 1, "{left} were fetched for a client that had gone");
}
