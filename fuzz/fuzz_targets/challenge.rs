//! Challenges: the first line is a secret that was sent, each further one a line of `WWW-Authenticate`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.split('\n');
    let secret = lines.next().unwrap_or_default();
    tofu_oci_remote::fuzzing::challenge(&lines.collect::<Vec<_>>(), secret);
});
