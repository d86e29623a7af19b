//! What has to hold for whatever a host publishes as its services.

use std::sync::LazyLock;

use tofu_oci_types::{Hostname, ProviderAddr};

use super::http::parse;
use super::services::Services;

/// Reads the bytes as a document, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn discovery(bytes: &[u8]) {
    static HOST: LazyLock<Hostname> = LazyLock::new(|| "registry.example.com".parse().expect("a host"));
    let values = match parse(bytes) {
        Ok(values) => values,
        Err(problem) => return assert!(!problem.contains(char::is_control), "{problem:?}"),
    };
    let services = Services::new(HOST.clone(), "the document", values);
    for (name, value) in services.known() {
        assert!(services.values().contains_key(name) && !value.contains(char::is_control), "{name} {value:?}");
    }
    for address in [services.registry(), services.modules()] {
        match address {
            Ok(Some(url)) => {
                assert!(
                    matches!(url.scheme(), "https" | "http") && url.has_host() && url.fragment().is_none(),
                    "{url}"
                );
                assert!(url.username().is_empty() && url.password().is_none(), "{url}");
            }
            Ok(None) => {}
            Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
        }
    }
    if let Ok(Some(url)) = services.modules() {
        assert!(url.path().ends_with('/'), "{url}");
    }
    match services.oci_providers() {
        Ok(Some(template)) => {
            let address: ProviderAddr = "registry.example.com/acme/widget".parse().expect("an address");
            if let Ok(place) = template.repository(&address) {
                assert_eq!(place.repository.to_string().parse().as_ref(), Ok(&place.repository), "{template}");
            }
        }
        Ok(None) => {}
        Err(error) => assert!(!error.to_string().contains(char::is_control), "{error:?}"),
    }
}
