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

/// An archive of these files, uncompressed, built in memory.
pub(crate) fn stored(files: &[(String, &[u8])]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    let short = |number: usize| u16::try_from(number).expect("a short archive").to_le_bytes();
    let long = |number: usize| u32::try_from(number).expect("a small archive").to_le_bytes();
    for (name, content) in files {
        let size = long(content.len());
        // Version 2.0, no flags, stored, the first day of 1980.
        let common = [&[20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0][..], &crc32(content).to_le_bytes(), &size, &size].concat();
        directory.extend([&CENTRAL[..], &[20, 0], &common, &short(name.len()), &[0; 12]].concat());
        directory.extend([&long(zip.len())[..], name.as_bytes()].concat());
        zip.extend([b"PK\x03\x04", &common[..], &short(name.len()), &[0; 2], name.as_bytes(), content].concat());
    }
    let count = short(files.len());
    let end = [b"PK\x05\x06", &[0; 4][..], &count, &count, &long(directory.len()), &long(zip.len()), &[0; 2]].concat();
    [zip, directory, end].concat()
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    !bytes.iter().fold(!0, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), |sum, _| step(sum)))
}
