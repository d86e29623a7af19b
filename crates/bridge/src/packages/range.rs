//! Which bytes of a zip a request asks for. Pure.

use std::ops::Range;

use http::HeaderMap;
use http::header::{IF_NONE_MATCH, IF_RANGE, RANGE};

/// What a request asks for, by its headers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum WantedBytes {
    /// All bytes.
    Whole,
    /// These bytes: not empty, and within the zip.
    Part(Range<u64>),
    /// The client has the zip.
    Unchanged,
    /// Bytes that lie beyond the end.
    BeyondTheEnd,
}

/// What a GET asks for of a zip of this size and this entity tag. A client that asks for several ranges, or for something
/// that is not a range, gets all bytes.
///
/// Spec: RFC 9110, sections 13.2.2 and 14.2.
pub(super) fn wanted(headers: &HeaderMap, etag: &str, size: u64) -> WantedBytes {
    if has_it(headers, etag) {
        return WantedBytes::Unchanged;
    }
    // Only this tag proves that the client has the beginning of the same zip: there is no date that could.
    let is_same = headers.get(IF_RANGE).is_none_or(|value| value.as_bytes() == etag.as_bytes());
    let mut ranges = headers.get_all(RANGE).iter();
    match (ranges.next(), ranges.next()) {
        (Some(range), None) if is_same => range.to_str().map_or(WantedBytes::Whole, |range| part(range, size)),
        _ => WantedBytes::Whole,
    }
}

/// Whether the client says that it has the zip of this tag.
pub(super) fn has_it(headers: &HeaderMap, etag: &str) -> bool {
    let values = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    let mut tags = values.flat_map(|value| value.split(',')).map(str::trim);
    tags.any(|tag| tag == "*" || tag.strip_prefix("W/").unwrap_or(tag) == etag)
}

fn part(range: &str, size: u64) -> WantedBytes {
    match parse(range) {
        None | Some((Bound::Open, Bound::Open)) => WantedBytes::Whole,
        Some((Bound::At(first), Bound::At(last))) if last < first => WantedBytes::Whole,
        Some((Bound::At(first), _)) if first >= size => WantedBytes::BeyondTheEnd,
        Some((Bound::At(first), Bound::At(last))) => WantedBytes::Part(first..last.saturating_add(1).min(size)),
        Some((Bound::At(first), Bound::Open)) => WantedBytes::Part(first..size),
        Some((Bound::Open, Bound::At(count))) if count == 0 || size == 0 => WantedBytes::BeyondTheEnd,
        Some((Bound::Open, Bound::At(count))) => WantedBytes::Part(size.saturating_sub(count)..size),
    }
}

/// What stands on one side of the dash.
enum Bound {
    /// Nothing.
    Open,
    /// A number of bytes; one that is out of range lies beyond any end.
    At(u64),
}

/// Both sides of one range of bytes; `None` if it is not one.
fn parse(range: &str) -> Option<(Bound, Bound)> {
    let (unit, range) = range.split_once('=')?;
    let (first, last) = range.trim().split_once('-')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    Some((bound(first)?, bound(last)?))
}

fn bound(text: &str) -> Option<Bound> {
    match text {
        "" => Some(Bound::Open),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => Some(Bound::At(text.parse().unwrap_or(u64::MAX))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use http::header::ETAG;

    use super::*;

    const TAG: &str = "\"sha256:aa\"";

    #[track_caller]
    #[expect(clippy::needless_pass_by_value, reason = "values are written at the call")]
    fn check(headers: &[(http::HeaderName, &str)], want: WantedBytes) {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(name, value.parse().unwrap());
        }
        assert_eq!(wanted(&map, TAG, 10), want, "{headers:?}");
    }

    #[test]
    fn one_range_is_a_part() {
        for (range, part) in [
            ("bytes=0-0", 0..1),
            ("bytes=2-5", 2..6),
            ("bytes=2-", 2..10),
            ("bytes=9-", 9..10),
            ("bytes=-3", 7..10),
            ("bytes=-99", 0..10),
            ("bytes=0-99", 0..10),
            ("bytes=0-99999999999999999999999", 0..10),
            ("bytes=-99999999999999999999999", 0..10),
            ("Bytes=1-2", 1..3),
            ("bytes= 1-2 ", 1..3),
        ] {
            check(&[(RANGE, range)], WantedBytes::Part(part));
        }
    }

    #[test]
    fn nonsense_and_several_ranges_give_the_whole() {
        for range in [
            "bytes=0-1,4-5",
            "bytes=",
            "bytes=-",
            "bytes",
            "lines=0-1",
            "bytes=5-2",
            "bytes=a-b",
            "bytes=1-2-3",
            "bytes=+1-2",
            "bytes=0x1-2",
            "bytes=1 -2",
            "bytes=--1",
            "=0-1",
            "",
        ] {
            check(&[(RANGE, range)], WantedBytes::Whole);
        }
        check(&[], WantedBytes::Whole);
        check(&[(RANGE, "bytes=0-1"), (RANGE, "bytes=2-3")], WantedBytes::Whole);
    }

    #[test]
    fn what_begins_at_the_end_is_beyond_it() {
        for range in ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999999-"] {
            check(&[(RANGE, range)], WantedBytes::BeyondTheEnd);
        }
    }

    #[test]
    fn a_part_of_another_zip_is_not_continued() {
        check(&[(RANGE, "bytes=2-5"), (IF_RANGE, TAG)], WantedBytes::Part(2..6));
        for other in ["\"sha256:bb\"", "W/\"sha256:aa\"", "Wed, 21 Oct 2015 07:28:00 GMT", "*"] {
            check(&[(RANGE, "bytes=2-5"), (IF_RANGE, other)], WantedBytes::Whole);
        }
        check(&[(RANGE, "bytes=99-"), (IF_RANGE, "\"sha256:bb\"")], WantedBytes::Whole);
    }

    #[test]
    fn a_client_that_has_the_zip_gets_nothing() {
        for tag in [TAG, "W/\"sha256:aa\"", "*", "\"sha256:bb\", \"sha256:aa\""] {
            check(&[(IF_NONE_MATCH, tag)], WantedBytes::Unchanged);
        }
        check(&[(IF_NONE_MATCH, "\"sha256:bb\"")], WantedBytes::Whole);
        check(&[(IF_NONE_MATCH, TAG), (RANGE, "bytes=99-")], WantedBytes::Unchanged);
        check(&[(ETAG, TAG)], WantedBytes::Whole);
    }
}
