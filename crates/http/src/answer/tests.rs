//! Bodies that come too slowly, or late.

use std::sync::Arc;

use tofu_oci_types::NoReporter;

use super::*;

/// An answer that a host gave just now.
fn answer(body: reqwest::Body, limits: HttpLimits) -> HttpAnswer {
    let waiting = Waiting {
        pacing: Arc::default(),
        notice: limits.notice,
        reporter: Arc::new(NoReporter),
        host: "a.test".to_owned(),
        request: "GET /x".to_owned(),
        announced: Arc::default(),
    };
    HttpAnswer::new(
        http::Response::new(body).into(),
        AddressScope::Machine,
        waiting,
        limits,
        limits.total,
        SystemTime::UNIX_EPOCH,
    )
}

/// A body that brings so many bytes each time that this time has passed, without an end.
fn dripping(bytes: usize, every: Duration) -> reqwest::Body {
    let body = futures_util::stream::unfold(Bytes::from(vec![b'x'; bytes]), move |piece| async move {
        tokio::time::sleep(every).await;
        Some((Ok::<_, std::io::Error>(piece.clone()), piece))
    });
    reqwest::Body::wrap_stream(body)
}

/// What becomes of a body of 4 MiB at most, and after how many seconds.
async fn read(bytes: usize, every_ms: u64, total_s: u64) -> (String, u64) {
    let body = dripping(bytes, Duration::from_millis(every_ms));
    let mut answer = answer(body, HttpLimits::within(Duration::from_secs(total_s)));
    let start = Instant::now();
    let outcome = match answer.read(4 << 20).await {
        Ok(bytes) => format!("{} bytes", bytes.len()),
        Err(UnreadBody::TooLarge) => "all of it".to_owned(),
        Err(UnreadBody::Broken(problem)) => problem.text,
    };
    (outcome, start.elapsed().as_secs())
}

#[tokio::test(start_paused = true)]
async fn a_body_that_drips_ends() {
    let all = "all of it".to_owned();
    let slow = |text: &str, seconds| (format!("timed out: only {text} for {seconds} s"), seconds);
    assert_eq!(read(1, 1000, 120).await, slow("30 bytes came", 30));
    // 100 bytes a second: 4 MiB would take half a day.
    assert_eq!(read(100, 1000, 120).await, slow("6000 of at least 61440 bytes came", 60));
    assert_eq!(read(1023, 1000, 120).await, slow("61380 of at least 61440 bytes came", 60));
    assert_eq!(read(1042, 1000, 120).await, (all.clone(), 4026));
    // Bursts count as what they are together.
    assert_eq!(read(2048, 29_000, 120).await, slow("4096 of at least 61440 bytes came", 60));
    assert_eq!(read(32 << 10, 29_000, 120).await.0, all);
}

#[tokio::test(start_paused = true)]
async fn the_timeout_scales_the_floor_and_never_asks_for_more() {
    let slow = |text: &str, seconds| (format!("timed out: only {text} for {seconds} s"), seconds);
    assert_eq!(read(600, 1000, 240).await.0, "all of it");
    assert_eq!(read(500, 1000, 240).await, slow("60000 of at least 61440 bytes came", 120));
    assert_eq!(read(1100, 1000, 12).await.0, "all of it");
    assert_eq!(read(1000, 1000, 12).await, slow("6000 of at least 6144 bytes came", 6));
}

/// What is read of a body whose parts come a second apart, on a connection that stays open.
async fn read_open(parts: &'static [&'static str], is_all: &(dyn Fn(&[u8]) -> bool + Sync)) -> Option<Bytes> {
    let body = futures_util::stream::unfold(0, async |nth: usize| match parts.get(nth) {
        Some(part) => {
            tokio::time::sleep(Duration::from_secs(nth as u64)).await;
            Some((Ok::<_, std::io::Error>(Bytes::from_static(part.as_bytes())), nth + 1))
        }
        None => std::future::pending().await,
    });
    answer(reqwest::Body::wrap_stream(body), HttpLimits::default()).read_until(1024, is_all).await.ok()
}

#[tokio::test(start_paused = true)]
async fn white_space_that_comes_late_belongs_to_a_document_that_is_not_all_there() {
    let with_end = |bytes: &[u8]| bytes == b"{}\n";
    assert_eq!(read_open(&["{}", "\n"], &with_end).await, Some(Bytes::from("{}\n")));
    assert_eq!(read_open(&["{}", "\n"], &|_| false).await, Some(Bytes::from("{}\n")), "and whoever asked compares it");
    assert_eq!(read_open(&["{", "}"], &is_document).await, Some(Bytes::from("{}")));
    assert_eq!(read_open(&["{}", "\n"], &is_document).await, Some(Bytes::from("{}")), "nothing says that more comes");
    assert_eq!(read_open(&["{"], &|_| false).await, None);
}

#[test]
fn content_ranges() {
    let range = |start, end, total| Some(ContentRange { start, end, total });
    assert_eq!(content_range("bytes 5-9/10"), range(5, 9, Some(10)));
    assert_eq!(content_range("bytes 5-9/*"), range(5, 9, None));
    assert_eq!(content_range("bytes */10"), None);
    assert_eq!(content_range("lines 5-9/10"), None);
    assert_eq!(content_range("bytes 5-9"), None);
}
