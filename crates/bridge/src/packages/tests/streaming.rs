//! Zip layers on their way through.

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::Method;
use tofu_oci_packer::PackageLayout;
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_testkit::{Fault, Rule};

use super::super::held_back::{BodyLength, held_back};
use super::{BLOBS, Bench, digest, head, linux};

#[tokio::test]
async fn a_zip_comes_whole_with_its_header() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, zip) = (bench.serve().await, linux().build());
    let answer = served.get(&[]).await;
    let (size, tag) = (zip.len(), digest(&zip));
    let want = format!("{size} | ? | \"{tag}\" | bytes | application/zip | public, max-age=3600, immutable");
    assert_eq!(head(&answer), format!("200 {want}"));
    assert_eq!(answer.bytes().await.unwrap(), zip);
    assert_eq!(bench.ranges(), ["-"]);
    assert_eq!(head(&served.ask(Method::HEAD, &[("range", "bytes=0-0")]).await), format!("200 {want}"));
    assert!(bench.registry.requests().is_empty(), "a HEAD asks the registry for nothing");
}

#[tokio::test]
async fn a_part_is_one_of_the_whole_layer_which_is_fetched_once() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, zip) = (bench.serve().await, linux().build());
    let size = zip.len();
    let mut before = vec!["-"];
    for (asked, first, last) in [
        ("bytes=5-9".to_owned(), 5, 9),
        ("bytes=0-0".to_owned(), 0, 0),
        (format!("bytes={}-", size - 7), size - 7, size - 1),
        ("bytes=-100".to_owned(), size - 100, size - 1),
        (format!("bytes=200000-{}", size * 2), 200_000, size - 1),
    ] {
        let answer = served.get(&[("range", &asked)]).await;
        let about = head(&answer);
        assert!(about.starts_with(&format!("206 {} | bytes {first}-{last}/{size} | ", last - first + 1)), "{about}");
        assert_eq!(answer.bytes().await.unwrap(), zip[first..=last], "{asked}");
        assert_eq!(bench.ranges(), std::mem::take(&mut before));
    }
    let whole = served.get(&[("range", "bytes=0-1,4-5")]).await;
    assert_eq!((whole.status().as_u16(), whole.bytes().await.unwrap()), (200, Bytes::from(zip)));
}

#[tokio::test]
async fn a_part_comes_after_a_break() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, zip) = (bench.serve().await, linux().build());
    bench.registry.fault(Rule::on("GET", BLOBS).once().then(Fault::CutBody(70_000)));
    let answer = served.get(&[("range", "bytes=100-250000")]).await;
    assert_eq!(answer.bytes().await.unwrap(), zip[100..=250_000]);
    assert_eq!(bench.ranges(), ["-", "bytes=70000-"]);
}

#[tokio::test]
async fn a_part_of_what_is_not_the_package_is_never_given() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, zip) = (bench.serve().await, linux().build());
    // The first bytes are right, as they may be of what a registry redirects to; nothing of it is known until its end.
    for fault in [Fault::CorruptBody(200_000), Fault::CorruptBody(0), Fault::CorruptBody(-1)] {
        bench.registry.fault(Rule::on("GET", BLOBS).then(fault.clone()));
        for range in ["bytes=0-40", "bytes=-40", "bytes=100000-"] {
            let answer = served.get(&[("range", range)]).await;
            assert_eq!(answer.status(), 502, "{fault:?} {range}");
            let text = answer.text().await.unwrap();
            assert!(text.starts_with("example.com/acme/zap cannot be read: ") && text.lines().count() == 1, "{text}");
        }
        bench.registry.clear_faults();
    }
    let answer = served.get(&[("range", "bytes=0-40")]).await;
    assert_eq!((answer.status().as_u16(), answer.bytes().await.unwrap()), (206, Bytes::copy_from_slice(&zip[..=40])));
}

/// What comes of a body of these pieces, of which all but the length is wrong.
async fn passed(pieces: &[usize]) -> usize {
    let place = tofu_oci_types::Place::Host("example.com".to_owned());
    let what = StoreItem::Other("the body");
    let bytes = pieces.iter().sum::<usize>() as u64;
    let wrong = StoreError::Malformed { place: place.clone(), problem: "it is another body".to_owned() };
    let pieces = pieces.iter().map(|length| Ok(Bytes::from(vec![0; *length]))).chain([Err(wrong)]);
    let stream = futures_util::stream::iter(pieces.collect::<Vec<_>>()).boxed();
    let mut passed = std::pin::pin!(held_back(stream, BodyLength { place, what, bytes }));
    let mut count = 0;
    while let Some(Ok(piece)) = passed.next().await {
        count += piece.len();
    }
    count
}

#[tokio::test]
async fn the_pieces_of_a_small_body_come_after_its_digest() {
    assert_eq!(passed(&[40]).await, 0);
    assert_eq!(passed(&[10; 100]).await, 0);
    assert_eq!(passed(&[64 << 10, 60 << 10]).await, 0);
    assert_eq!(passed(&[64 << 10, 64 << 10, 64 << 10]).await, 64 << 10);
    assert_eq!(passed(&[1 << 20, 1]).await, 0);
    assert_eq!(passed(&[1 << 20, 128 << 10]).await, 1 << 20);
}

#[tokio::test]
async fn what_the_client_has_and_what_is_beyond_the_end_cost_no_request() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, zip) = (bench.serve().await, linux().build());
    let (size, tag) = (zip.len(), format!("\"{}\"", digest(&zip)));
    let cache = "public, max-age=3600, immutable";
    for (method, length) in [(Method::GET, "?".to_owned()), (Method::HEAD, size.to_string())] {
        let answer = served.ask(method, &[("if-none-match", &tag)]).await;
        assert_eq!(head(&answer), format!("304 {length} | ? | {tag} | bytes | ? | {cache}"));
    }
    let answer = served.get(&[("range", &format!("bytes={size}-"))]).await;
    assert_eq!(head(&answer), format!("416 0 | bytes */{size} | {tag} | bytes | ? | {cache}"));
    assert_eq!(answer.bytes().await.unwrap(), "");
    assert!(bench.registry.requests().is_empty());
    let answer = served.get(&[("range", "bytes=0-9"), ("if-range", "\"other\"")]).await;
    assert_eq!((answer.status().as_u16(), answer.bytes().await.unwrap().len()), (200, size));
}

#[tokio::test]
async fn a_damaged_zip_never_comes_whole() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let (served, size) = (bench.serve().await, linux().build().len());
    for at in [0, 150_000, -1] {
        bench.registry.clear_faults();
        bench.registry.fault(Rule::on("GET", BLOBS).then(Fault::CorruptBody(at)));
        let came = served.what_came().await;
        assert!(came.len() < size, "{} of {size} bytes came", came.len());
        // An answer that is refused before its header is a sentence.
        let sound = linux().build().starts_with(&came) || came.starts_with(b"example.com/acme/zap cannot be read: ");
        assert!(at >= 0 || sound, "the damaged last byte came: {} {:?}", came.len(), &came[..came.len().min(60)]);
        assert!(served.try_zip().await.is_err());
    }
    bench.registry.clear_faults();
    assert_eq!(served.zip().await, linux().build());
}

#[tokio::test]
async fn a_break_goes_on_where_it_was() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let served = bench.serve().await;
    bench.registry.fault(Rule::on("GET", BLOBS).times(2).then(Fault::CutBody(80_000)));
    assert_eq!(served.zip().await, linux().build());
    assert_eq!(bench.ranges(), ["-", "bytes=80000-", "bytes=160000-"]);
}

#[tokio::test]
async fn a_registry_that_fails_is_a_502_before_the_header() {
    let bench = Bench::new(PackageLayout::Artifact).await;
    let served = bench.serve().await;
    let unavailable = || Fault::status(503, "UNAVAILABLE");
    bench.registry.fault(Rule::on("GET", BLOBS).times(2).then(unavailable()));
    assert_eq!(served.zip().await, linux().build());
    assert_eq!(bench.ranges().len(), 3);
    for fault in [unavailable(), Fault::ShortenBody(1000), Fault::Disconnect, Fault::status(404, "BLOB_UNKNOWN")] {
        bench.registry.clear_faults();
        bench.registry.fault(Rule::on("GET", BLOBS).then(fault.clone()));
        for range in [None, Some(("range", "bytes=10-20"))] {
            let answer = served.get(range.as_slice()).await;
            assert_eq!(answer.status(), 502, "{fault:?} {range:?}");
            assert_eq!(answer.headers()["cache-control"], "no-store");
            let text = answer.text().await.unwrap();
            assert!(text.starts_with("example.com/acme/zap cannot be read: ") && text.lines().count() == 1, "{text}");
        }
    }
}
