//! Discovery documents.

use crate::seeds;

/// Reads the services of a host.
pub fn run(bytes: &[u8]) {
    tofu_oci_source::fuzzing::discovery(bytes);
}

/// Documents with each service, relative and absolute.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        r#"{"providers.v1":"/v1/providers/","modules.v1":"https://modules.example.com/v1?x#y","oci-providers.v1":"ghcr.io/acme/{namespace}/{type}"}"#,
        r#"{"modules.v1":"../m","login.v1":{"client":"x","ports":[1,2]},"providers.v1":"https://u:p@example.com/"}"#,
        r#"{"oci-providers.v1":"{registry}/{namespace}"}"#,
        "null",
    ])
}
