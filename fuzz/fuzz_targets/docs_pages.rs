#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tofu_oci_fuzzing::docs_pages::run(bytes));
