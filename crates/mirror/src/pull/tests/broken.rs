//! Downloads and uploads that break.

use super::*;

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
        (Fault::ReplaceBody("<html>".into()), "bad-body"),
        (Fault::ShortenBody(1000), "bad-body"),
    ] {
        let pulling = large();
        pulling.upstream.fault(Rule::on("GET", ZIPS).then(fault));
        let error = pulled(&pulling.through(), "1.4.0", "linux_amd64").await.unwrap_err();
        let zip = Digest::sha256(&pulling.upstream.zip("acme/zap", "1.4.0", "linux_amd64"));
        assert_eq!((error, pulling.tags().len()), (code, 0));
        assert!(pulling.carried.registry.blob("zap", &zip).is_none());
    }
}
