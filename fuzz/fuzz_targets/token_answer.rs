//! The body that a token server answers with.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| tofu_oci_remote::fuzzing::token_answer(bytes));
