//! What has to hold for whatever a file is read as.

use std::path::Path;

use super::members;
use super::parts::BundleParts;
use super::read::OpenedBundle;

/// Opens the file as a bundle, and checks what has to hold for whatever comes out.
///
/// # Panics
/// If it does not hold.
pub fn bundle(path: &Path) {
    let Ok(parts) = BundleParts::open(path) else { return };
    let Ok((members, _)) = members::read(&parts) else {
        assert!(OpenedBundle::read(path).is_err(), "the members of a bundle are always read");
        return;
    };
    let mut at = 0;
    let mut places: Vec<_> = members.values().collect();
    places.sort_by_key(|member| member.begin);
    for member in places {
        assert!(member.begin >= at, "two members lie in one place: {members:?}");
        at = member.begin + member.size;
    }
    assert!(at <= parts.size(), "a member lies outside of the file: {members:?}");
    for name in members.keys() {
        assert!(!name.starts_with('/') && name.split('/').all(|part| !matches!(part, "" | "." | "..")), "{name:?}");
        assert!(!name.contains(['\\', '\0']), "{name:?}");
    }
    let Ok(bundle) = OpenedBundle::read(path) else { return };
    for (subject, referrers) in bundle.find_referrers() {
        for referrer in referrers {
            let bytes = bundle.manifest(&referrer.digest).expect("a referrer was read");
            assert!(referrer.digest.matches(&bytes) && referrer.size == bytes.len() as u64, "{subject}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_target_checks_holds() {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        bundle(file.path());
        std::fs::write(file.path(), [0; 1024]).expect("a file is written");
        bundle(file.path());
    }
}
