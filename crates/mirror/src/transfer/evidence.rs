//! Which signed `SHA256SUMS` goes along with mirrored packages.

use bytes::Bytes;
use tofu_oci_packer::SignedSums;
use tofu_oci_source::ReleaseId;
use tofu_oci_trust::{
    Evidence, KEYS_LIMIT, OpenPgpContents, SIGNATURES_LIMIT, SUMS_FILES_LIMIT, Sums, openpgp_contents,
};
use tofu_oci_types::{PackageHash, sums_name};

/// The first signed checksum file that lists one of these `zh:`, under the names that its origin gives to such files.
/// `None` if no evidence speaks for the packages.
pub(crate) fn signed_sums(id: &ReleaseId, evidence: Vec<Evidence>, zips: &[PackageHash]) -> Option<SignedSums> {
    evidence.into_iter().find_map(|piece| {
        let Evidence::Sums { sums, signatures, keys, .. } = piece else { return None };
        let listed = Sums::parse(&sums).ok()?;
        if !listed.iter().any(|(_, zh)| zips.contains(zh)) {
            return None;
        }
        let name = sums_name(&id.address, &id.version);
        let signatures = signatures.into_iter().filter(|bytes| bytes.len() <= SIGNATURES_LIMIT);
        let signatures = named(signatures, &name, "sig");
        let keys = keys.iter().filter_map(|bytes| match openpgp_contents(bytes) {
            OpenPgpContents::PublicKeys(armored) if armored.len() <= KEYS_LIMIT => Some(armored),
            _ => None,
        });
        let keys = named(keys, "signing-key", "asc");
        (!signatures.is_empty()).then(|| SignedSums { sums: (name, sums.into()), signatures, keys })
    })
}

/// Each file once, as `STEM.ENDING`, `STEM.2.ENDING`, ….
fn named(files: impl Iterator<Item = Vec<u8>>, stem: &str, ending: &str) -> Vec<(String, Bytes)> {
    let mut all: Vec<(String, Bytes)> = Vec::new();
    for bytes in files.map(Bytes::from) {
        if all.len() < SUMS_FILES_LIMIT && all.iter().all(|(_, known)| *known != bytes) {
            let name = match all.len() {
                0 => format!("{stem}.{ending}"),
                before => format!("{stem}.{}.{ending}", before + 1),
            };
            all.push((name, bytes));
        }
    }
    all
}
