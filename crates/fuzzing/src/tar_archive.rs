//! Tar archives whose headers are right, so that what they say is read.

const BLOCK: usize = 512;

/// Where the checksum of a header is.
const CHECKSUM: std::ops::Range<usize> = 148..156;

/// An archive of plain files.
pub(crate) fn of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0; BLOCK];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        archive.extend(header);
        archive.extend(content.as_bytes());
        archive.resize(archive.len().next_multiple_of(BLOCK), 0);
    }
    archive.resize(archive.len() + 2 * BLOCK, 0);
    set_checksums(&mut archive);
    archive
}

/// Sets the checksum of each header right, as far as the sizes in them lead from one to the next.
pub(crate) fn set_checksums(archive: &mut [u8]) {
    let mut at = 0;
    while let Some(header) = archive.get_mut(at..at + BLOCK) {
        if header.iter().all(|byte| *byte == 0) {
            return;
        }
        header[CHECKSUM].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[CHECKSUM].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits = header[124..136].iter().take_while(|byte| byte.is_ascii_digit());
        let size = digits.fold(0usize, |size, digit| size.saturating_mul(8).saturating_add(usize::from(digit - b'0')));
        let Some(next) = size.checked_next_multiple_of(BLOCK).and_then(|padded| (at + BLOCK).checked_add(padded))
        else {
            return;
        };
        at = next;
        if at.checked_add(BLOCK).is_none() {
            return;
        }
    }
}
