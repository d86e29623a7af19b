//! The path of a request, decoded once; what is refused before a place is asked.

use percent_encoding::percent_decode_str;
use tofu_oci_types::printable;

/// The longest path, in bytes as it was sent.
const MAX_PATH: usize = 2 << 10;

/// The longest segment, in bytes after decoding.
pub(crate) const MAX_SEGMENT: usize = 255;

/// The segments of a path. None contains a separator or a control character, is `.` or `..`, or is empty, except the last
/// one of a path that ends with a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestPath(Vec<String>);

/// Why a path is refused before anything else is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PathFault {
    #[error("the path of a request has at most 2048 bytes")]
    TooLong,
    #[error("a segment of the path has at most 255 bytes")]
    SegmentTooLong,
    #[error("the path must begin with a slash")]
    NoSlash,
    #[error("the path has two slashes in a row; write one")]
    EmptySegment,
    #[error("the path must not contain . or .. as a segment")]
    DotSegment,
    #[error("the path must not contain an encoded slash or a backslash")]
    Separator,
    #[error("each % of the path must be followed by two hexadecimal digits")]
    Escape,
    #[error("the path must be UTF-8")]
    NotUtf8,
    #[error("the path must not contain control characters or invisible ones")]
    Control,
}

impl RequestPath {
    /// Reads a path as it was sent.
    pub(crate) fn parse(raw: &str) -> Result<Self, PathFault> {
        if raw.len() > MAX_PATH {
            return Err(PathFault::TooLong);
        }
        let rest = raw.strip_prefix('/').ok_or(PathFault::NoSlash)?;
        let segments: Vec<String> = rest.split('/').map(segment).collect::<Result<_, _>>()?;
        let inner = segments.split_last().map_or(&[][..], |(_, inner)| inner);
        if inner.iter().any(String::is_empty) {
            return Err(PathFault::EmptySegment);
        }
        Ok(Self(segments))
    }

    /// The segments; the last one is empty if the path ends with a slash.
    pub(crate) fn segments(&self) -> Vec<&str> {
        self.0.iter().map(String::as_str).collect()
    }
}

fn segment(raw: &str) -> Result<String, PathFault> {
    let escapes = raw.split('%').skip(1);
    let is_escape =
        |text: &str| matches!(text.as_bytes(), [one, two, ..] if one.is_ascii_hexdigit() && two.is_ascii_hexdigit());
    if !escapes.into_iter().all(is_escape) {
        return Err(PathFault::Escape);
    }
    let text = percent_decode_str(raw).decode_utf8().map_err(|_| PathFault::NotUtf8)?.into_owned();
    if text.len() > MAX_SEGMENT {
        return Err(PathFault::SegmentTooLong);
    }
    if text.contains(['/', '\\']) {
        return Err(PathFault::Separator);
    }
    if matches!(text.as_str(), "." | "..") {
        return Err(PathFault::DotSegment);
    }
    if printable(&text) != text {
        return Err(PathFault::Control);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, want: Result<&[&str], PathFault>) {
        let got = RequestPath::parse(raw);
        assert_eq!(got.as_ref().map(RequestPath::segments).map_err(|fault| *fault), want.map(<[_]>::to_vec), "{raw:?}");
    }

    #[test]
    fn a_path_is_decoded_once() {
        check("/", Ok(&[""]));
        check("/mirror/", Ok(&["mirror", ""]));
        check("/a%3A8443/b+c/%C3%BC", Ok(&["a:8443", "b+c", "ü"]));
        check("/%252f", Ok(&["%2f"]));
        check("/%25%32%65", Ok(&["%2e"]));
    }

    #[test]
    fn what_could_reach_another_place_is_refused() {
        check("", Err(PathFault::NoSlash));
        check("*", Err(PathFault::NoSlash));
        check("//evil.example/x", Err(PathFault::EmptySegment));
        check("/a//b", Err(PathFault::EmptySegment));
        check("/a//", Err(PathFault::EmptySegment));
        for path in ["/a/../b", "/a/%2e%2E/b", "/.%2e", "/a/.", "/%2e/"] {
            check(path, Err(PathFault::DotSegment));
        }
        for path in ["/a%2fb", "/a%2Fb", "/a%5cb", "/a\\b", "/%2e%2e%2f"] {
            check(path, Err(PathFault::Separator));
        }
        for path in ["/%", "/%2", "/%zz", "/a%2", "/%%32%65", "/%u002f"] {
            check(path, Err(PathFault::Escape));
        }
        for path in ["/%00", "/%0d%0aX", "/%7f", "/%1b[2J", "/%C2%85", "/%E2%80%AE", "/%E2%80%8B"] {
            check(path, Err(PathFault::Control));
        }
        for path in ["/%ff", "/%C0%AF", "/%ED%A0%80"] {
            check(path, Err(PathFault::NotUtf8));
        }
        check(&format!("/{}", "a".repeat(256)), Err(PathFault::SegmentTooLong));
        check(&format!("/{}", "%61".repeat(256)), Err(PathFault::SegmentTooLong));
        check(&"/a".repeat(1025), Err(PathFault::TooLong));
        assert!(RequestPath::parse(&format!("/{}", "a".repeat(255))).is_ok());
    }

    proptest::proptest! {
        #[test]
        fn no_segment_can_leave_its_folder(raw in "/(%[0-9a-fA-F]{2}|[./%\\\\a]|\\PC){0,12}") {
            if let Ok(path) = RequestPath::parse(&raw) {
                let segments = path.segments();
                for (at, segment) in segments.iter().enumerate() {
                    assert!(!segment.contains(['/', '\\', '\0', '\n']), "{raw:?}");
                    assert!(!matches!(*segment, "." | ".."), "{raw:?}");
                    assert!(!segment.is_empty() || at + 1 == segments.len(), "{raw:?}");
                }
            }
        }
    }
}
