//! Downloads, uploads and disks that break.

use async_trait::async_trait;
use tofu_oci_store::{Store, StoreError};
use tokio::sync::{Notify, mpsc};

use super::*;
use crate::Transferred;

/// An upstream whose one package has 300 000 bytes and more.
fn large() -> Pulling {
    let pulling = Pulling::new();
    pulling.upstream.withdraw("acme/zap", "1.4.0");
    let package = ProviderZip::new("zap", "1.4.0", "linux_amd64").random_file("data", 300_000);
    pulling.upstream.package("acme/zap", "1.4.0", &package);
    pulling
}

#[tokio::test]
async fn a_download_that_breaks_goes_on_where_it_broke_and_is_uploaded_once() {
    let pulling = large();
    pulling.upstream.fault(Rule::on("GET", ZIPS).times(2).then(Fault::CutBody(100_000)));
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    let ranges: Vec<Option<String>> = pulling.ranges();
    assert_eq!(ranges, [None, Some("bytes=100000-".to_owned()), Some("bytes=200000-".to_owned())]);
    let uploads = pulling.carried.registry.requests_to("PUT", "/v2/zap/blobs/*");
    assert_eq!(uploads.iter().filter(|upload| upload.body_len > 300_000).count(), 1);
}

#[tokio::test]
async fn an_upload_that_breaks_reads_the_download_again() {
    let pulling = large();
    let breaks = Fault::RefuseUploadAfter { bytes: 100_000, answer: None };
    pulling.carried.registry.fault(Rule::on("PUT", "/v2/zap/blobs/*").once().then(breaks));
    pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap();
    assert_eq!(pulling.ranges().len(), 2);
    let zip = Digest::sha256(&pulling.upstream.zip("acme/zap", "1.4.0", "linux_amd64"));
    assert!(pulling.carried.registry.blob("zap", &zip).is_some());
}

#[tokio::test]
async fn a_damaged_package_is_not_stored() {
    for (fault, code) in [
        (Fault::CorruptBody(-1), "blob-digest-mismatch"),
        (Fault::ReplaceBody("<html>".into()), "blob-digest-mismatch"),
        (Fault::ShortenBody(1000), "blob-digest-mismatch"),
    ] {
        let pulling = large();
        pulling.upstream.fault(Rule::on("GET", ZIPS).then(fault));
        let error = pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap_err();
        let zip = Digest::sha256(&pulling.upstream.zip("acme/zap", "1.4.0", "linux_amd64"));
        assert_eq!((error, pulling.tags().len()), (code, 0));
        assert!(pulling.carried.registry.blob("zap", &zip).is_none());
    }
}

/// A destination whose disk cannot be flushed. A flush fails only after the test allows it to end.
struct Unflushed {
    inner: Repositories,
    notices: Arc<Notify>,
}

#[async_trait]
impl Destination for Unflushed {
    fn place(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        self.inner.place(address)
    }

    fn claim(&self, address: &ProviderAddr) -> Result<Place, MirrorError> {
        self.inner.claim(address)
    }

    fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, MirrorError> {
        self.inner.source(address)
    }

    fn store(&self, address: &ProviderAddr) -> Result<Option<Arc<dyn Store>>, MirrorError> {
        self.inner.store(address)
    }

    async fn receive(
        &self,
        request: &TransferRequest<'_>,
        release: Arc<dyn Release>,
        reporter: &dyn Reporter,
    ) -> Result<Transferred, MirrorError> {
        self.inner.receive(request, release, reporter).await
    }

    async fn finish(&self, _: &dyn Reporter) -> Result<(), MirrorError> {
        self.notices.notified().await;
        Err(StoreError::io("write", "/srv/oci", std::io::Error::other("the disk is broken")).into())
    }
}

/// Hands messages on.
struct Told(mpsc::UnboundedSender<String>);

impl Reporter for Told {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            self.0.send(format!("{code}: {text}")).unwrap();
        }
    }
}

#[tokio::test]
async fn a_client_waited_until_the_disk_was_flushed_and_got_an_error_if_that_failed() {
    let pulling = Pulling::new();
    let (notices, (told, mut messages)) = (Arc::new(Notify::new()), mpsc::unbounded_channel());
    let destination = Unflushed { inner: pulling.destination(), notices: Arc::clone(&notices) };
    let mut through = pulling.through();
    let work = Arc::into_inner(through.work).unwrap();
    through.work = Arc::new(PullWork { destination: Arc::new(destination), reporter: Arc::new(Told(told)), ..work });
    let pulled = tokio::time::timeout(Duration::from_secs(20), pulled(&through, "1.4.0", "linux_amd64")).await;
    assert_eq!(pulled.expect("it waits for the disk").unwrap().len(), 2);
    notices.notify_one();
    let message = messages.recv().await.unwrap();
    assert_eq!(message, format!("io: {ZAP} 1.4.0 may not outlast a power cut: cannot write /srv/oci"));
}
