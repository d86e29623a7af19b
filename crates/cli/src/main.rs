//! The tofu-oci program.
fn main() {}
