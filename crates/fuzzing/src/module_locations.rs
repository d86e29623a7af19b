//! Locations that a registry of modules names.

use crate::input::text_of;
use crate::seeds;

/// Reads the text as a location.
pub fn run(bytes: &[u8]) {
    tofu_oci_source::fuzzing::module_location(text_of(bytes));
}

/// Sources that were measured, and locations of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = seeds::bytes(seeds::texts("module_sources.json", &["source", "input"]));
    found.extend(seeds::of([
        "https://x.example/a.zip//m/*?archive=zip&checksum=sha256:00",
        "../a.tar.gz?X-Sig=1%2B2",
        "git::https://git.example/acme/network.git//dns?ref=v1.4.0&depth=1",
        "git@github.com:acme/network.git//sub?ref=main",
        "git::ssh://git@example.com:22/network.git",
        "github.com/acme/network//dns?ref=v1",
        "http://127.0.0.1/a.zip",
        "s3::https://s3.amazonaws.com/bucket/a.zip",
    ]));
    found
}
