//! What a request asks for of a zip: `Range`, `If-Range` and `If-None-Match`, a line each, below the size of the zip.

use crate::input::text_of;
use crate::seeds;

/// Reads the headers.
pub fn run(bytes: &[u8]) {
    tofu_oci_bridge::fuzzing::ranges(text_of(bytes));
}

/// One of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "10\nbytes=0-4",
        "10\nbytes=-3\n\"tag\"",
        "10\nbytes=4-",
        "10\nBytes = 9-99999999999999999999",
        "0\nbytes=-1",
        "10\nbytes=0-1,3-4\n\n*",
        "18446744073709551615\nbytes=18446744073709551614-18446744073709551615\n\nW/\"tag\"",
    ])
}
