//! The members of a bundle's tar: where each one lies, and which are refused. No content is read.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use tar::{EntryType, Header};

use super::parts::BundleParts;
use crate::error::StoreError;

/// The size of a header, and what contents are filled up to.
pub(super) const BLOCK: usize = 512;

/// The same, as a distance in the archive.
pub(super) const BLOCK_BYTES: u64 = BLOCK as u64;

/// The most members that are read: a bundle of 10 000 releases has fewer.
const MAX_MEMBERS: usize = 1 << 18;

/// Where the content of a member lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Member {
    pub(super) begin: u64,
    pub(super) size: u64,
}

/// Reads every header, and says where the archive ends. Files and folders are the only members of a bundle: whatever could make two readers see two
/// things (links, sparse files, extended headers, two members of one name) is refused.
pub(super) fn read(parts: &BundleParts) -> Result<(BTreeMap<String, Member>, u64), StoreError> {
    let malformed = |problem: String| StoreError::Malformed { place: parts.place(), problem };
    let mut members = BTreeMap::new();
    let mut at: u64 = 0;
    let mut count = 0;
    loop {
        if at.saturating_add(BLOCK_BYTES) > parts.size() {
            return Err(if at == 0 { malformed("it is not a tar archive".to_owned()) } else { parts.ends_early() });
        }
        let mut block = [0; BLOCK];
        parts.read_exact_at(at, &mut block)?;
        at += BLOCK_BYTES;
        if block.iter().all(|byte| *byte == 0) {
            // What follows the end of an archive means nothing.
            return Ok((members, at));
        }
        count += 1;
        if count > MAX_MEMBERS {
            return Err(malformed(format!("it has more than {MAX_MEMBERS} members")));
        }
        let header = Header::from_byte_slice(&block);
        if header.cksum().ok() != Some(checksum(&block)) {
            let problem = match count {
                1 => "it is not a tar archive".to_owned(),
                _ => format!("the header at byte {} is damaged", at - BLOCK_BYTES),
            };
            return Err(malformed(problem));
        }
        let name = String::from_utf8_lossy(&header.path_bytes()).into_owned();
        let size =
            header.entry_size().map_err(|_| malformed(format!("the size of its member {name} is not a number")))?;
        let kind = header.entry_type();
        if kind.is_dir() && size == 0 {
            continue;
        }
        if !matches!(kind, EntryType::Regular) {
            return Err(malformed(format!(
                "its member {name} is not a plain file (tar type {:?})",
                kind.as_byte() as char
            )));
        }
        let key = plain_name(&name).ok_or_else(|| malformed(format!("`{name}` is not the name of a member")))?;
        let padded = size.checked_next_multiple_of(BLOCK_BYTES).and_then(|padded| at.checked_add(padded));
        let Some(next) = padded else {
            return Err(malformed(format!("its member {name} claims {size} bytes")));
        };
        if next > parts.size() {
            return Err(parts.ends_early());
        }
        match members.entry(key.to_owned()) {
            Entry::Vacant(free) => free.insert(Member { begin: at, size }),
            Entry::Occupied(_) => return Err(malformed(format!("it has two members {name}"))),
        };
        at = next;
    }
}

/// The sum of the header's bytes, with blanks in place of the checksum.
fn checksum(block: &[u8; BLOCK]) -> u32 {
    let blank = 148..156;
    block.iter().enumerate().map(|(nth, byte)| u32::from(if blank.contains(&nth) { b' ' } else { *byte })).sum()
}

/// The name without `./`; `None` if it leads anywhere else than below the archive's root.
fn plain_name(name: &str) -> Option<&str> {
    let name = name.strip_prefix("./").unwrap_or(name);
    let is_plain = !name.contains(['\\', '\0'])
        && !name.contains(char::REPLACEMENT_CHARACTER)
        && name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    is_plain.then_some(name)
}
