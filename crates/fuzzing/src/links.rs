//! Links of the bridge that expire: each opens the path that it was made for, and no other.

use crate::input::text_of;
use crate::seeds;

/// Makes a link for the path in the first line; the second is another link, in which `QUERY` is the query of the first.
pub fn run(bytes: &[u8]) {
    tofu_oci_bridge::fuzzing::links(text_of(bytes));
}

/// Paths, and other spellings of them.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "/mirror/a.example/b/c/d_1.0.0+x_linux_amd64.zip\n/mirror/a.example/b/c/d_1.0.0%2Bx_linux_amd64.zipQUERY",
        "/mirror/a\n/mirror/bQUERY",
        "/a%2fb\n/a/bQUERY",
        "/a\n/aQUERY&client=other",
        "/a\n/a?expires=9&QUERY",
        "/%41\n/A?expires=1767268800&client=ci&signature=AAAA",
    ])
}
