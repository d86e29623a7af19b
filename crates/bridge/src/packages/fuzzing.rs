//! Properties of the bytes that a request asks for.

use http::HeaderMap;
use http::header::{IF_NONE_MATCH, IF_RANGE, RANGE};

use super::range::{WantedBytes, wanted};

/// Reads a size, and headers in the lines below it, and checks that the part lies within the size.
///
/// # Panics
/// If it does not hold.
pub fn ranges(text: &str) {
    let mut lines = text.split('\n');
    let size = lines.next().and_then(|line| line.parse().ok()).unwrap_or(10);
    let mut headers = HeaderMap::new();
    for (name, line) in [RANGE, IF_RANGE, IF_NONE_MATCH].into_iter().zip(lines) {
        if let Ok(value) = line.parse()
            && !line.is_empty()
        {
            headers.append(name, value);
        }
    }
    match wanted(&headers, "\"tag\"", size) {
        WantedBytes::Part(part) => assert!(part.start < part.end && part.end <= size, "{part:?} of {size}: {text:?}"),
        WantedBytes::BeyondTheEnd => assert!(headers.contains_key(RANGE), "{text:?}"),
        WantedBytes::Unchanged => assert!(headers.contains_key(IF_NONE_MATCH), "{text:?}"),
        WantedBytes::Whole => {}
    }
}
