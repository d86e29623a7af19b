//! The signed checksum file of a folder: what goes with the release, and what must not.

use std::io::Read as _;
use std::path::Path;
use std::time::SystemTime;

use bytes::Bytes;
use tofu_oci_trust::{
    KEYS_LIMIT, OpenPgpContents, OpenPgpFault, OpenPgpKey, SIGNATURES_LIMIT, SUMS_FILES_LIMIT, SUMS_LIMIT,
    openpgp_contents, verify_each,
};
use tofu_oci_types::{Event, ProviderAddr, Version, zip_name};

use super::{Dist, DistSums, PackageSource, files};
use crate::{PackError, SumsFile};

/// A checksum file, and what proves who wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedSums {
    /// The checksum file: its name and its bytes, as they were compared with the packages.
    pub sums: (String, Bytes),
    /// Its detached signatures, one at least; no two are equal.
    pub signatures: Vec<(String, Bytes)>,
    /// Public keys found beside it, in ASCII armor.
    pub keys: Vec<(String, Bytes)>,
}

impl Dist {
    /// Reads the signatures of the checksum file, and the public keys beside it, for what the folder is published as.
    ///
    /// Signatures are `SUMS.sig`, `SUMS.asc`, `SUMS.gpg` and `SUMS.KEYID.sig`; keys are files `*.asc`, `*.gpg` and `*.pgp` that hold
    /// public keys and nothing else. The events say which files do not go with the release as they are.
    ///
    /// # Errors
    /// [`PackError::PrivateKey`] if one of these files holds a private key.
    /// [`PackError::WrongSumsSignature`] for a damaged signature, and for one that a key beside it disproves.
    /// [`PackError::UnverifiableSums`] if the file is signed and does not cover the release.
    /// [`PackError::LargeSumsFile`] and [`PackError::TooManySumsFiles`] for what would be published and never read.
    pub(crate) fn signed_sums(
        &self,
        address: &ProviderAddr,
        version: &Version,
    ) -> Result<(Option<SignedSums>, Vec<Event>), PackError> {
        let Some(sums_path) = self.sums.as_ref().map(|sums| &sums.path).or(self.other_sums.as_ref()) else {
            return Ok((None, Vec::new()));
        };
        let folder = sums_path.parent().unwrap_or(&self.path);
        let sums_name = files::name(sums_path).to_owned();
        let mut signatures: Vec<(String, Bytes)> = Vec::new();
        let mut keys: Vec<(String, Bytes)> = Vec::new();
        let mut events = Vec::new();
        for entry in files::entries(folder)? {
            let is_signature = is_signature_of(&entry.name, &sums_name);
            if entry.is_dir || !(is_signature || is_key_file(&entry.name)) {
                continue;
            }
            let Some(bytes) = read(&entry.path)? else { continue };
            let (found, list, kind, limit): (Bytes, _, _, _) = match openpgp_contents(&bytes) {
                OpenPgpContents::PrivateKey => return Err(PackError::PrivateKey { path: entry.path }),
                OpenPgpContents::Signature if is_signature => {
                    (bytes.into(), &mut signatures, SumsFile::Signature, SIGNATURES_LIMIT)
                }
                // It was cut short here: all that is known is that it is too large to be read.
                _ if is_signature && bytes.len() > KEYS_LIMIT => {
                    (bytes.into(), &mut signatures, SumsFile::Signature, SIGNATURES_LIMIT)
                }
                OpenPgpContents::PublicKeys(armored) if !is_signature => {
                    (armored.into(), &mut keys, SumsFile::Keys, KEYS_LIMIT)
                }
                _ if !is_signature && bytes.len() > KEYS_LIMIT && OpenPgpContents::begins_with_keys(&bytes) => {
                    (bytes.into(), &mut keys, SumsFile::Keys, KEYS_LIMIT)
                }
                _ if is_signature && OpenPgpContents::begins_with_signature(&bytes) => {
                    (bytes.into(), &mut signatures, SumsFile::Signature, SIGNATURES_LIMIT)
                }
                _ => {
                    if is_signature {
                        let text =
                            format!("{} is not an OpenPGP signature, so it does not go with the release", entry.name);
                        events.push(Event::warning("sums-signature-not-openpgp", text).with_hint(format!(
                            "sign {sums_name} with OpenPGP: gpg --detach-sign; or sign the release: --sign-key KEY"
                        )));
                    }
                    continue;
                }
            };
            let path = entry.path;
            if found.len() > limit {
                return Err(PackError::LargeSumsFile { path, kind, limit });
            }
            if list.iter().any(|(_, known)| *known == found) {
                continue;
            }
            if list.len() == SUMS_FILES_LIMIT {
                return Err(PackError::TooManySumsFiles { path, kind, limit: SUMS_FILES_LIMIT });
            }
            list.push((entry.name, found));
        }
        if signatures.is_empty() {
            if events.is_empty() && self.sums.is_some() {
                let text =
                    format!("{sums_name} has no OpenPGP signature beside it, so it does not go with the release");
                events.push(Event::note("sums-unsigned", text));
            }
            return Ok((None, events));
        }
        let sums = self.verifiable(address, version)?;
        if sums.text.len() > SUMS_LIMIT {
            let (path, kind) = (sums.path.clone(), SumsFile::Checksums);
            return Err(PackError::LargeSumsFile { path, kind, limit: SUMS_LIMIT });
        }
        let text = Bytes::copy_from_slice(sums.text.as_bytes());
        let signed = SignedSums { sums: (sums_name, text), signatures, keys };
        events.extend(signed.verify(folder)?);
        Ok((Some(signed), events))
    }

    /// The checksum file, if it has SHA-256 checksums of all packages under the names that readers look for.
    fn verifiable(&self, address: &ProviderAddr, version: &Version) -> Result<&DistSums, PackError> {
        let Some(sums) = &self.sums else {
            let path = self.other_sums.clone().unwrap_or_default();
            return Err(PackError::UnverifiableSums { path, names: None });
        };
        let archives = sums.listed.archives(address.provider_type(), version);
        for package in &self.packages {
            let PackageSource::Zip(path) = &package.source else { continue };
            let line = sums.listed.line(files::name(path)).map(|line| &line.zh);
            let listed = archives.get(&package.platform).copied().flatten().map(|(_, zh)| zh);
            if line.is_none() || line != listed {
                let names = (files::name(path).to_owned(), zip_name(address, version, &package.platform));
                return Err(PackError::UnverifiableSums { path: sums.path.clone(), names: Some(Box::new(names)) });
            }
        }
        Ok(sums)
    }
}

impl SignedSums {
    /// Refuses signatures that are damaged or disproved by a key beside them; a note for each whose key is not there.
    fn verify(&self, folder: &Path) -> Result<Vec<Event>, PackError> {
        let (sums, text) = &self.sums;
        let keys: Vec<OpenPgpKey> =
            self.keys.iter().flat_map(|(_, bytes)| OpenPgpKey::parse(bytes).unwrap_or_default()).collect();
        let mut notes = Vec::new();
        for (name, bytes) in &self.signatures {
            let wrong = |fault| {
                let (path, sums, fault) = (folder.join(name), sums.clone(), Box::new(fault));
                PackError::WrongSumsSignature { path, sums, fault }
            };
            // Whether the keys still count is for those to judge who install: the time does not matter here.
            for verified in verify_each(text, bytes, &keys, SystemTime::UNIX_EPOCH).map_err(wrong)? {
                match verified {
                    Err(fault @ (OpenPgpFault::Malformed { .. } | OpenPgpFault::BadSignature { .. })) => {
                        return Err(wrong(fault));
                    }
                    Err(OpenPgpFault::UnknownKey { issuer }) => {
                        let text =
                            format!("{name} is by the key {issuer}, which is not beside it: it was not verified");
                        let key = issuer.strip_prefix("openpgp:").unwrap_or(&issuer);
                        // Each key has a file of its own.
                        let usual = Some(folder.join("key.asc")).filter(|path| notes.is_empty() && !path.exists());
                        let path = usual.unwrap_or_else(|| folder.join(format!("{key}.asc")));
                        notes.push(Event::note("sums-key-absent", text).with_hint(format!(
                            "put the public key beside it: gpg --armor --export {key} > {}",
                            path.display()
                        )));
                    }
                    _ => {}
                }
            }
        }
        Ok(notes)
    }
}

/// Whether the name is that of a detached signature of this file: `.sig`, `.asc` or `.gpg`, with a key id before it or without.
pub(super) fn is_signature_of(name: &str, signed: &str) -> bool {
    let Some(rest) = name.strip_prefix(signed).and_then(|rest| rest.strip_prefix('.')) else { return false };
    let (key_id, ending) = rest.rsplit_once('.').map_or(("", rest), |(key_id, ending)| (key_id, ending));
    let is_key_id = (8..=64).contains(&key_id.len()) && key_id.bytes().all(|byte| byte.is_ascii_hexdigit());
    matches!(ending, "sig" | "asc" | "gpg") && (rest == ending || is_key_id)
}

fn is_key_file(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["asc", "gpg", "pgp"].iter().any(|known| ending.eq_ignore_ascii_case(known))
}

/// At most one byte more than the limit; `None` if it is not a regular file.
fn read(path: &Path) -> Result<Option<Vec<u8>>, PackError> {
    let failed = |error| PackError::io("read", path, error);
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let limit = KEYS_LIMIT as u64;
    tofu_oci_disk::open_file(path).map_err(failed)?.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    Ok(Some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: bool) {
        assert_eq!(is_signature_of(name, "zap_SHA256SUMS"), want, "{name}");
    }

    #[test]
    fn a_signature_is_named_after_the_file() {
        check("zap_SHA256SUMS.sig", true);
        check("zap_SHA256SUMS.asc", true);
        check("zap_SHA256SUMS.gpg", true);
        check("zap_SHA256SUMS.72D7468F.sig", true);
        check("zap_SHA256SUMS.0123456789abcdef.sig", true);
        check("zap_SHA256SUMS", false);
        check("zap_SHA256SUMS.pem", false);
        check("zap_SHA256SUMS.old.sig", false);
        check("zap_SHA256SUMS.1.sig", false);
        check("SHA256SUMS.sig", false);
        check("zap_SHA256SUMSsig", false);
    }
}
