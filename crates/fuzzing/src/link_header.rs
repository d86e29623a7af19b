//! `Link` headers of lists: the first line is the address of a page, each further one a header.

use crate::input::text_of;
use crate::seeds;

/// Reads the headers.
pub fn run(bytes: &[u8]) {
    tofu_oci_remote::fuzzing::link_header(text_of(bytes));
}

/// Pages with and without a next one.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "https://registry.test/v2/a/tags/list\n</v2/a/tags/list?last=b&n=100>; rel=\"next\"",
        "https://registry.test:5000/v2/a/tags/list?n=1\n<https://other.test/>; rel=next, <?last=c>; title=x; rel=\"prev next\"",
        "http://registry.test/\n<http:>; rel=next\n<//evil.test/>; rel=next",
    ])
}
