//! Zip archives that no honest tool makes: an honest one with some of its bytes changed.

/// The signature of an entry of the central directory.
const CENTRAL: [u8; 4] = *b"PK\x01\x02";

/// Every occurrence of a name replaced by another of the same length, in local headers and in the central directory.
#[track_caller]
pub(crate) fn renamed(mut zip: Vec<u8>, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len(), "offsets must stay");
    let mut changed = 0;
    for start in 0..zip.len().saturating_sub(from.len()) {
        if zip[start..].starts_with(from.as_bytes()) {
            zip[start..start + to.len()].copy_from_slice(to.as_bytes());
            changed += 1;
        }
    }
    assert!(changed >= 2, "{from} is in the archive");
    zip
}

/// The Unix mode of an entry replaced, in the central directory, where it is kept.
#[track_caller]
pub(crate) fn with_mode(mut zip: Vec<u8>, name: &str, mode: u32) -> Vec<u8> {
    let is_entry =
        |start: &usize| zip[*start..].starts_with(&CENTRAL) && zip[start + 46..].starts_with(name.as_bytes());
    let start = (0..zip.len() - 46).find(is_entry).expect("the entry is in the central directory");
    zip[start + 5] = 3; // made on Unix
    zip[start + 38..start + 42].copy_from_slice(&(mode << 16).to_le_bytes());
    zip
}
