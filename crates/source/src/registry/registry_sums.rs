//! Whose signature counts for the `SHA256SUMS` of an origin registry.

use std::collections::BTreeSet;
use std::time::SystemTime;

use tofu_oci_http::shown_url;
use tofu_oci_trust::{
    Evidence, Expired, ExpiredKeys, KeyPart, KeyStanding, OpenPgpFault, OpenPgpKey, OpenPgpSignature, SIGNATURES_LIMIT,
    SUMS_LIMIT, verify_detached,
};
use tofu_oci_types::{Digest, PackageHash, Platform, ProviderAddr, Version, printable};

use super::download_document::{DownloadDocument, SumsLocation};
use super::origin::Origin;
use crate::{Failure, SourceError};

/// A `SHA256SUMS` that a key of its registry has signed, or that needs no signature.
#[derive(Debug)]
pub(super) struct RegistrySums {
    /// Its SHA-256.
    pub(super) digest: Digest,
    /// Where it is, for people.
    place: String,
    sums: Vec<u8>,
    signature: Vec<u8>,
    keys: Vec<Vec<u8>>,
}

/// What a signature by the keys of a registry comes to.
enum SumsProof {
    Signed,
    /// It counts, although something has expired.
    Expired(String),
    /// The registry names no key, and need not.
    Keyless,
}

impl RegistrySums {
    /// Fetches the file and its signature, and verifies the one by the other.
    pub(super) async fn fetch(origin: &Origin, location: &SumsLocation, about: &str) -> Result<Self, SourceError> {
        let SumsLocation { sums, signature, keys } = location;
        let place = shown_url(sums);
        let (sums, signature) =
            futures_util::future::try_join(origin.file(sums, SUMS_LIMIT), origin.file(signature, SIGNATURES_LIMIT))
                .await?;
        let keys = keys.iter().map(|key| key.clone().into_bytes()).collect();
        let signed = Self { digest: Digest::sha256(&sums), place, sums, signature, keys };
        match signed.proof(origin).map_err(|failure| origin.failed(failure))? {
            SumsProof::Signed => {}
            SumsProof::Expired(what) => origin
                .warn("expired-key", format!("{about}: the signature of {} counts, although {what}", signed.place)),
            SumsProof::Keyless => origin.warn(
                "signature-not-checked",
                format!("{about}: {} names no key, so the signature of {} was not checked", origin.place, signed.place),
            ),
        }
        Ok(signed)
    }

    /// Spec: `opentofu-behaviour.md` §8.5: key by key; the first that has signed it decides.
    fn proof(&self, origin: &Origin) -> Result<SumsProof, Failure> {
        let demands = origin.access.demands;
        let fault = |problem: String| Failure::BadSignature(format!("the signature of {}: {problem}", self.place));
        if self.keys.is_empty() {
            return if demands.admit_keyless(&origin.host) {
                Ok(SumsProof::Keyless)
            } else {
                Err(fault(format!("{} names no key that it could be by", origin.place)))
            };
        }
        let (mut expired, mut unknown) = (None, None);
        for (number, key) in (1..).zip(&self.keys) {
            let key = OpenPgpKey::parse(key)
                .map_err(|error| fault(format!("key {number} that {} names cannot be read: {error}", origin.place)))?;
            match self.verified(&key, origin.access.now) {
                Ok(OpenPgpSignature { standing: KeyStanding::Good, .. }) => return Ok(SumsProof::Signed),
                Ok(OpenPgpSignature { standing: KeyStanding::Expired { what, .. }, key, .. }) => {
                    expired = Some(expiry(&key.to_string(), &what));
                }
                Ok(OpenPgpSignature { standing: KeyStanding::Retired { part, reason, .. }, key, .. }) => {
                    return Err(fault(format!("the {part} of {key} was revoked: {reason}")));
                }
                Ok(_) => return Err(fault("it is of a kind that is not supported".to_owned())),
                Err(error @ OpenPgpFault::UnknownKey { .. }) => unknown = Some(error),
                Err(error) => return Err(fault(error.to_string())),
            }
        }
        match (expired, demands.expired, unknown) {
            (Some(what), ExpiredKeys::Warn, _) => Ok(SumsProof::Expired(what)),
            (Some(what), ExpiredKeys::Refuse, _) => Err(fault(what)),
            (None, _, unknown) => {
                let problem = unknown.map(|fault| fault.to_string()).unwrap_or_default();
                Err(fault(format!("{problem} that {} names", origin.place)))
            }
        }
    }

    fn verified(&self, keys: &[OpenPgpKey], now: SystemTime) -> Result<OpenPgpSignature, OpenPgpFault> {
        verify_detached(&self.sums, &self.signature, keys, now)
    }

    /// Checks that the file names the package of a document, with the same checksum.
    ///
    /// Spec: `OpenTofu` 1.12, getproviders `matchingChecksumAuthentication`: the first line with this name counts.
    pub(super) fn check(&self, document: &DownloadDocument) -> Result<(), Failure> {
        let DownloadDocument { file_name, shasum, .. } = document;
        let wrong = |problem: String| Failure::ChecksumList(format!("{}: {problem}", self.place));
        let shown = printable(file_name);
        let Some((listed, _)) = self.lines().find(|(_, name)| *name == Some(file_name)) else {
            return Err(wrong(format!("it does not name {shown}")));
        };
        if listed.eq_ignore_ascii_case(shasum.encoded()) {
            return Ok(());
        }
        let listed = printable(listed);
        Err(wrong(format!("it gives {shown} the checksum {listed}, and the registry {}", shasum.encoded())))
    }

    /// The `zh:` of every line; nothing if one line is odd.
    ///
    /// Spec: `opentofu-behaviour.md` §8.4.
    pub(super) fn recorded(&self) -> BTreeSet<PackageHash> {
        let zip = |(sum, name): (&str, Option<&str>)| name.and_then(|_| zh(sum));
        self.lines().map(zip).collect::<Option<_>>().unwrap_or_default()
    }

    /// The archives that it lists under the release's file names.
    pub(super) fn zips(&self, address: &ProviderAddr, version: &Version) -> Vec<(Platform, PackageHash)> {
        let start = format!("terraform-provider-{}_{version}_", address.provider_type());
        let zip = |(sum, name): (&str, Option<&str>)| {
            let platform = name?.strip_prefix(&start)?.strip_suffix(".zip")?.parse().ok()?;
            Some((platform, zh(sum)?))
        };
        self.lines().filter_map(zip).collect()
    }

    /// Each line: its first word, and its second one.
    fn lines(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let text = std::str::from_utf8(&self.sums).unwrap_or_default();
        text.lines().filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            Some((words.next()?, words.next()))
        })
    }

    /// What a trust policy judges.
    pub(super) fn evidence(&self) -> Evidence {
        Evidence::Sums {
            origin: self.digest.clone(),
            sums: self.sums.clone(),
            signatures: vec![self.signature.clone()],
            keys: self.keys.clone(),
        }
    }
}

fn zh(sum: &str) -> Option<PackageHash> {
    PackageHash::zh(&format!("sha256:{}", sum.to_ascii_lowercase()).parse().ok()?)
}

fn expiry(key: &str, what: &Expired) -> String {
    match what {
        Expired::Key(KeyPart::Primary) => format!("{key} has expired"),
        Expired::Key(part) => format!("the {part} of {key} has expired"),
        Expired::Signature => format!("the signature by {key} has expired"),
        Expired::Binding(part) => format!("what binds the {part} of {key} has expired"),
        _ => format!("something of {key} has expired"),
    }
}
