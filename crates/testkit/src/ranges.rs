//! Bytes that are given whole or in part.
//!
//! Spec: RFC 9110 section 14.

use axum::http::header::{IF_RANGE, RANGE};
use bytes::Bytes;

use crate::fault::{Answer, RequestHead};

/// The bytes that a request asks for, with the headers that `answer` adds to a status.
pub(crate) fn give(head: &RequestHead, etag: &str, bytes: Bytes, answer: impl Fn(u16) -> Answer) -> Answer {
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    let range = text(RANGE).filter(|_| text(IF_RANGE).is_none_or(|tag| tag == etag));
    match range.map(|range| wanted(range, bytes.len())) {
        None | Some(WantedRange::Everything) => answer(200).body(bytes),
        Some(WantedRange::Nothing) => Answer::text(416, "invalid range: failed to overlap\n")
            .header("Content-Range", format!("bytes */{}", bytes.len())),
        Some(WantedRange::Part(first, last)) => answer(206)
            .header("Content-Range", format!("bytes {first}-{last}/{}", bytes.len()))
            .body(bytes.slice(first..=last)),
    }
}

enum WantedRange {
    Everything,
    Nothing,
    Part(usize, usize),
}

/// One range of bytes; several ranges, or an unreadable one, mean everything.
fn wanted(range: &str, length: usize) -> WantedRange {
    let Some((first, last)) = range.strip_prefix("bytes=").and_then(|range| range.split_once('-')) else {
        return WantedRange::Everything;
    };
    let end = length.saturating_sub(1);
    let (first, last) = match (first.trim().parse::<usize>(), last.trim().parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(end)),
        (Ok(first), Err(_)) if last.is_empty() => (first, end),
        (Err(_), Ok(suffix)) if first.is_empty() => (length.saturating_sub(suffix), end),
        _ => return WantedRange::Everything,
    };
    if first > last || first >= length { WantedRange::Nothing } else { WantedRange::Part(first, last) }
}
