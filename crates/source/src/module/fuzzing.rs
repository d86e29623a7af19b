//! What has to hold for whatever a registry of modules answers.

use std::sync::{Arc, LazyLock};

use tofu_oci_http::{HttpClient, HttpOptions, WebClient};
use tofu_oci_types::{GitTransport, NoReporter};
use url::{Host, Url};

use super::location::{LONGEST, ModuleLocation};
use super::version_list::ModuleVersions;

/// The document that names addresses, on a host of the internet.
pub(crate) static FROM: LazyLock<Url> = LazyLock::new(|| {
    let text = "https://registry.example.com/v1/modules/acme/network/aws/1.0.0/download";
    text.parse().expect("a fixed address")
});

/// Connections that are never made.
pub(crate) fn web() -> &'static WebClient {
    static WEB: LazyLock<WebClient> = LazyLock::new(|| {
        let http = HttpClient::new(HttpOptions::default(), Arc::new(NoReporter));
        WebClient::new(http.expect("a client without certificates of its own"))
    });
    &WEB
}

/// Whether an address leads neither to this machine nor into a private network, as far as its text tells.
pub(crate) fn is_public(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(ip)) => {
            !(ip.is_private() || ip.is_loopback() || ip.is_link_local() || ip.is_unspecified() || ip.is_multicast())
        }
        Some(Host::Ipv6(ip)) => {
            let local = ip.is_loopback() || ip.is_unspecified() || ip.is_unique_local() || ip.is_unicast_link_local();
            !local && ip.to_ipv4_mapped().is_none_or(|ip| !(ip.is_private() || ip.is_loopback() || ip.is_link_local()))
        }
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name != "localhost" && !name.ends_with(".localhost")
        }
        None => false,
    }
}

/// Reads the bytes as a list of versions, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn module_versions(bytes: &[u8]) {
    let Ok(ModuleVersions { listing, .. }) = ModuleVersions::parse(bytes) else { return };
    let versions = &listing.versions;
    assert!(versions.is_sorted_by(|one, next| one.precedence(next).is_le()), "{versions:?}");
    for version in versions {
        assert_eq!(versions.iter().filter(|other| *other == version).count(), 1, "{version} is there twice");
    }
}

/// Reads a location that a registry of the internet names, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn module_location(text: &str) {
    let location = match ModuleLocation::parse(text, (&FROM, &FROM), web()) {
        Ok(location) => location,
        Err(fault) => return assert!(!fault.code().is_empty() && !fault.to_string().is_empty()),
    };
    assert!(text.len() <= LONGEST);
    let inside = location.subdir().as_str();
    assert!(!inside.starts_with('/') && inside.split('/').all(|segment| segment != ".."), "{text:?} {inside:?}");
    match &location {
        ModuleLocation::Oci(source) => {
            let registry = format!("https://{}/", source.repository().registry());
            assert!(registry.parse().is_ok_and(|url| is_public(&url)), "{text:?} {registry}");
        }
        ModuleLocation::Archive(archive) => {
            assert!(archive.url.scheme() == "https" || archive.checksum.is_some(), "{text:?}");
            assert!(is_public(&archive.url) && archive.url.fragment().is_none(), "{text:?} {}", archive.url);
        }
        ModuleLocation::Git(source, from) => {
            assert_eq!(*from, *FROM);
            assert!(matches!(source.transport(), GitTransport::Https | GitTransport::Ssh), "{text:?}");
            assert!(is_public(source.url()), "{text:?} {source}");
            assert!(source.reference().is_none_or(|name| !name.as_str().starts_with('-')), "{text:?}");
        }
    }
}
