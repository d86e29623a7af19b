//! What has to hold for whatever a network mirror answers.

use std::collections::BTreeSet;

use tofu_oci_types::Version;

use super::documents::{ArchiveList, VersionIndex};

/// Reads the bytes as both documents of the protocol, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn mirror_documents(bytes: &[u8]) {
    if let Ok(VersionIndex { versions, invalid }) = VersionIndex::parse(bytes) {
        assert!(versions.is_sorted_by(|one, next| one.precedence(next).is_le()), "{versions:?}");
        let texts: Vec<String> = versions.iter().map(ToString::to_string).chain(invalid.clone()).collect();
        assert_eq!(texts.iter().collect::<BTreeSet<_>>().len(), texts.len(), "a name is there twice");
        let is_canonical = |text: &String| text.parse::<Version>().is_ok_and(|version| version.to_string() == *text);
        assert!(!invalid.iter().any(is_canonical), "{invalid:?}");
    }
    if let Ok(list) = ArchiveList::parse(bytes) {
        for (platform, archive) in list.of_platforms() {
            assert!(list.get(&platform).is_some_and(|same| std::ptr::eq(same, archive)), "{platform}");
            if let Ok(all) = archive.hashes() {
                assert!(archive.known_hashes().all(|known| all.contains(&known)), "{archive:?}");
            }
        }
    }
}
