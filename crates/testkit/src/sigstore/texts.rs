//! What the parts of an instance write alike.

/// Since when everything counts.
pub(super) const SINCE: &str = "2001-01-01T00:00:00Z";

pub(super) fn sha256(bytes: &[u8]) -> Vec<u8> {
    use sha2::Digest as _;

    sha2::Sha256::digest(bytes).to_vec()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
