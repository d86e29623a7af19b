//! What has to hold for whatever a registry of providers answers.

use tofu_oci_types::Platform;

use super::download_document::DownloadDocument;
use super::version_list::VersionList;
use crate::module::fuzzing::{FROM, is_public, web};

/// Reads the bytes as both documents of the protocol, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn registry_documents(bytes: &[u8]) {
    if let Ok(list) = VersionList::parse(bytes) {
        let versions = list.versions();
        assert!(versions.is_sorted_by(|one, next| one.precedence(next).is_le()), "{versions:?}");
        for version in &versions {
            assert_eq!(versions.iter().filter(|other| *other == version).count(), 1, "{version} is there twice");
            assert!(list.get(version).is_some_and(|listed| listed.platforms.is_sorted_by(|one, next| one < next)));
        }
    }
    let platform: Platform = "linux_amd64".parse().expect("a platform");
    match DownloadDocument::parse(&FROM, bytes, &platform, web()) {
        Ok(document) => {
            for url in [&document.zip, &document.sums.sums, &document.sums.signature] {
                assert!(matches!(url.scheme(), "https" | "http") && is_public(url), "{url}");
            }
            assert!(document.packages.is_empty() || document.size(&platform).is_some_and(|size| size > 0));
        }
        Err(fault) => {
            let text = fault.of("the document", None).to_string();
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }
}
