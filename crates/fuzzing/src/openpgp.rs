//! A file of OpenPGP keys and a file of signatures, over a SHA256SUMS file that is read, too.

use std::time::{Duration, UNIX_EPOCH};

use tofu_oci_trust::{OpenPgpKey, Sums, verify_detached, verify_each};

use crate::seeds;

/// Noon of 2026-01-01, as in the tests.
const NOW: u64 = 1_767_268_800;

const SUMS: &[u8] = include_bytes!("../../../testdata/trust/gpg/SHA256SUMS");

/// Two bytes say how many bytes of keys follow; the rest are signatures.
pub fn run(bytes: &[u8]) {
    let Some((length, rest)) = bytes.split_first_chunk() else { return };
    let (keys, signatures) = rest.split_at(usize::from(u16::from_be_bytes(*length)).min(rest.len()));
    let now = UNIX_EPOCH + Duration::from_secs(NOW);
    if let Ok(keys) = OpenPgpKey::parse(keys) {
        for key in &keys {
            assert_eq!(key.id().to_string().parse(), Ok(key.id()));
        }
        let each = verify_each(SUMS, signatures, &keys, now);
        let best = verify_detached(SUMS, signatures, &keys, now);
        if let Ok(found) = &best {
            assert!(keys.iter().any(|key| key.id() == found.key));
            assert!(each.is_ok_and(|each| each.contains(&best)));
        }
    }
    if let Ok(sums) = Sums::parse(rest) {
        for (name, checksum) in sums.iter() {
            assert_eq!(sums.zh(name), Some(checksum));
            if name.starts_with([' ', '*', '.']) {
                continue;
            }
            let again = format!("{}  {name}\n", checksum.value());
            assert!(Sums::parse(again.as_bytes()).is_ok_and(|again| again.zh(name) == Some(checksum)), "{again:?}");
        }
    }
}

/// Each key with each signature of the fixtures.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    let signatures = seeds::contents("trust/gpg", ".sig");
    for (number, key) in
        ["trust/gpg", "trust/openpgp-v6"].iter().flat_map(|folder| seeds::contents(folder, ".pgp")).enumerate()
    {
        let Ok(length) = u16::try_from(key.len()) else { continue };
        let signature = signatures.get(number % signatures.len().max(1)).cloned().unwrap_or_default();
        found.push([&length.to_be_bytes()[..], &key, &signature].concat());
    }
    found.push([&[0, 0][..], SUMS].concat());
    found
}
