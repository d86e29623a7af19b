//! The address that the magic suffix gives to a repository.

use tofu_oci_mapper::MagicSuffix;
use tofu_oci_types::{ProviderAddr, RepositoryRef};

/// `REGISTRY.oci.opentofu.org/NAMESPACE/TYPE` of `REGISTRY/NAMESPACE/opentofu-provider-TYPE`.
pub(super) fn magic_address(repository: &RepositoryRef) -> Option<ProviderAddr> {
    let (namespace, name) = repository.name().split_once('/')?;
    let provider_type = name.strip_prefix("opentofu-provider-")?;
    let (host, port) = match repository.registry().split_once(':') {
        Some((host, port)) => (host, format!(":{port}")),
        None => (repository.registry(), String::new()),
    };
    let suffix = MagicSuffix::default();
    format!("{host}.{}{port}/{namespace}/{provider_type}", suffix.as_str()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(repository: &str, want: Option<&str>) {
        let repository = repository.parse().expect("the repositories of this test are well-formed");
        assert_eq!(magic_address(&repository).map(|address| address.to_string()).as_deref(), want);
    }

    #[test]
    fn a_repository_of_the_magic_form_names_its_address() {
        check("ghcr.io/acme/opentofu-provider-widget", Some("ghcr.io.oci.opentofu.org/acme/widget"));
        check("example.com:5000/acme/opentofu-provider-widget", Some("example.com.oci.opentofu.org:5000/acme/widget"));
        check("ghcr.io/acme/widget", None);
        check("ghcr.io/a/b/opentofu-provider-widget", None);
    }
}
