#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tofu_oci_fuzzing::keyless_bundle::run(bytes));
