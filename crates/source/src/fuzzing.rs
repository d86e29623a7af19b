//! The pure readers of what hosts answer, for the fuzz targets.

pub use crate::discovery::fuzzing::discovery;
pub use crate::module::fuzzing::{module_location, module_versions};
pub use crate::network_mirror::fuzzing::mirror_documents;
pub use crate::registry::fuzzing::registry_documents;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_targets_check_holds() {
        discovery(br#"{"modules.v1":"/m","providers.v1":"https://other.example/p#x","oci-providers.v1":"ghcr.io/{namespace}/{type}"}"#);
        mirror_documents(
            br#"{"versions":{"1.0.0":{},"x":{}},"archives":{"linux_amd64":{"url":"a.zip","hashes":["h1:x","zh:y"]}}}"#,
        );
        registry_documents(br#"{"versions":[{"version":"1.0.0","platforms":[{"os":"linux","arch":"amd64"}]}]}"#);
        module_versions(br#"{"modules":[{"versions":[{"version":"v1.0.0"},{"version":"x"}]}]}"#);
        module_location("git::https://git.example/acme/network.git?ref=v1");
        module_location("../a.zip//sub?checksum=sha256:00");
    }
}
