//! The publisher's own `SHA256SUMS`, if it can be served unchanged.

use std::time::SystemTime;

use tofu_oci_trust::{
    Evidence, KEYS_LIMIT, KeyStanding, OpenPgpContents, OpenPgpKey, SUMS_FILES_LIMIT, binary_signature,
    openpgp_contents, verify_detached,
};

use super::lines::SumsLines;
use super::release_sums::{ReleaseSums, SumsKey};

/// The last line of a key.
const END_KEY: &str = "-----END PGP PUBLIC KEY BLOCK-----\n";

/// The first signed file that has all the lines, and whose signature is good by a key beside it.
pub(super) fn original(evidence: Vec<Evidence>, lines: &SumsLines, now: SystemTime) -> Option<ReleaseSums> {
    evidence.into_iter().find_map(|piece| {
        let Evidence::Sums { sums, signatures, keys, .. } = piece else { return None };
        let zips = lines.zips_in(&sums)?;
        let keys: Vec<_> = keys.iter().take(SUMS_FILES_LIMIT).flat_map(|file| certificates(file)).collect();
        signatures.iter().take(SUMS_FILES_LIMIT).find_map(|signature| {
            let (signature, key) = signed(&sums, signature, &keys, now)?;
            let (text, zips) = (sums.clone().into(), zips.clone());
            Some(ReleaseSums { text, signature: signature.into(), keys: vec![key], zips })
        })
    })
}

/// The signature as clients read it, which is binary, and the key that made it.
fn signed(sums: &[u8], file: &[u8], keys: &[(String, OpenPgpKey)], now: SystemTime) -> Option<(Vec<u8>, SumsKey)> {
    let signature = binary_signature(file).ok()?;
    keys.iter().find_map(|(armored, key)| {
        let found = verify_detached(sums, &signature, std::slice::from_ref(key), now).ok()?;
        // Clients read keys of version 4. Their id is the end of their fingerprint.
        let fingerprint = key.id().openpgp_fingerprint().filter(|digits| digits.len() == 40)?;
        let key = SumsKey { key_id: fingerprint[24..].to_owned(), ascii_armor: armored.clone() };
        (found.standing == KeyStanding::Good).then(|| (signature.clone(), key))
    })
}

/// The keys of a file, each with the block of ASCII armor that it is in: clients read one block of a text.
fn certificates(file: &[u8]) -> Vec<(String, OpenPgpKey)> {
    let OpenPgpContents::PublicKeys(armored) = openpgp_contents(file) else { return Vec::new() };
    let armored = String::from_utf8(armored).ok().filter(|text| text.len() <= KEYS_LIMIT).unwrap_or_default();
    let blocks = armored.split_inclusive(END_KEY);
    let keys = |block: &str| OpenPgpKey::parse(block.as_bytes()).unwrap_or_default();
    blocks.flat_map(|block| keys(block).into_iter().map(|key| (block.to_owned(), key))).collect()
}
