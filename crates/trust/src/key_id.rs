//! The identity of a key: the same for the same key, whatever file it came from.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The identity of a key: `sha256:` and 64 hexadecimal digits of the SHA-256 of its `SubjectPublicKeyInfo` in DER, `openpgp:`
/// and the fingerprint of a primary key in upper-case hexadecimal digits, or, for an identity, `identity:` and the SHA-256
/// of what the policy says of it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(KeyIdForm);

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum KeyIdForm {
    Spki([u8; 32]),
    OpenPgp(Vec<u8>),
    Identity([u8; 32]),
}

/// A text that is not a key id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a key id: {reason}")]
pub struct InvalidKeyId {
    input: String,
    reason: &'static str,
}

impl KeyId {
    /// The id of the key whose `SubjectPublicKeyInfo` in DER is `der`.
    pub fn of_spki(der: &[u8]) -> Self {
        Self(KeyIdForm::Spki(sha256(der)))
    }

    /// The id of the identity of which this is the canonical text.
    pub(crate) fn of_identity(text: &[u8]) -> Self {
        Self(KeyIdForm::Identity(sha256(text)))
    }

    /// The id of the `OpenPGP` certificate whose primary key has this fingerprint (20 bytes in version 4, 32 in version
    /// 5 and 6).
    pub fn of_openpgp(fingerprint: &[u8]) -> Self {
        Self(KeyIdForm::OpenPgp(fingerprint.to_vec()))
    }

    /// What a Sigstore bundle says about the key that signed it: the hash in base64; `None` for
    /// another form.
    ///
    /// Spec: Sigstore protobuf-specs, `sigstore_common.proto`, `PublicKeyIdentifier.hint`.
    pub fn hint(&self) -> Option<String> {
        match &self.0 {
            KeyIdForm::Spki(hash) => Some(STANDARD.encode(hash)),
            KeyIdForm::OpenPgp(_) | KeyIdForm::Identity(_) => None,
        }
    }

    /// Whether it is that of an identity, and not of a key.
    pub(crate) fn is_identity(&self) -> bool {
        matches!(self.0, KeyIdForm::Identity(_))
    }

    /// The fingerprint, upper-case hexadecimal digits; `None` for another kind of key.
    pub fn openpgp_fingerprint(&self) -> Option<String> {
        match &self.0 {
            KeyIdForm::Spki(_) | KeyIdForm::Identity(_) => None,
            KeyIdForm::OpenPgp(fingerprint) => Some(upper_hex(fingerprint)),
        }
    }
}

impl FromStr for KeyId {
    type Err = InvalidKeyId;

    fn from_str(input: &str) -> Result<Self, InvalidKeyId> {
        let invalid = |reason| InvalidKeyId { input: input.to_owned(), reason };
        let hash = |digits: &str| {
            let lower = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            unhex(digits).filter(|_| lower).and_then(|bytes| <[u8; 32]>::try_from(bytes).ok())
        };
        if let Some(digits) = input.strip_prefix("sha256:") {
            let bytes = hash(digits).ok_or_else(|| invalid("sha256 needs 64 lower-case hexadecimal digits"))?;
            return Ok(Self(KeyIdForm::Spki(bytes)));
        }
        if let Some(digits) = input.strip_prefix("identity:") {
            let bytes = hash(digits).ok_or_else(|| invalid("identity needs 64 lower-case hexadecimal digits"))?;
            return Ok(Self(KeyIdForm::Identity(bytes)));
        }
        if let Some(digits) = input.strip_prefix("openpgp:") {
            let upper = digits.bytes().all(|byte| byte.is_ascii_digit() || (b'A'..=b'F').contains(&byte));
            let bytes = unhex(digits).filter(|bytes| upper && matches!(bytes.len(), 20 | 32));
            return bytes
                .map(|bytes| Self(KeyIdForm::OpenPgp(bytes)))
                .ok_or_else(|| invalid("openpgp needs 40 or 64 upper-case hexadecimal digits"));
        }
        Err(invalid("it does not begin with `sha256:`, `openpgp:` or `identity:`"))
    }
}

fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(ring::digest::digest(&ring::digest::SHA256, bytes).as_ref());
    hash
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Option<Vec<u8>> =
        digits.chars().map(|digit| digit.to_digit(16).and_then(|value| u8::try_from(value).ok())).collect();
    let nibbles = nibbles.filter(|nibbles| nibbles.len() % 2 == 0)?;
    Some(nibbles.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn upper_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02X}").expect("a String takes everything");
        text
    })
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            KeyIdForm::Spki(hash) | KeyIdForm::Identity(hash) => {
                f.write_str(if matches!(self.0, KeyIdForm::Spki(_)) { "sha256:" } else { "identity:" })?;
                hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            KeyIdForm::OpenPgp(fingerprint) => write!(f, "openpgp:{}", upper_hex(fingerprint)),
        }
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for KeyId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for KeyId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<(), &str>) {
        match (input.parse::<KeyId>(), want) {
            (Ok(id), Ok(())) => assert_eq!(id.to_string(), input),
            (Err(error), Err(reason)) => assert_eq!(error.to_string(), format!("`{input}` is not a key id: {reason}")),
            (got, want) => panic!("{input}: {got:?}, not {want:?}"),
        }
    }

    #[test]
    fn texts() {
        check(&format!("sha256:{}", "0a".repeat(32)), Ok(()));
        check(&format!("openpgp:{}", "0A".repeat(20)), Ok(()));
        check(&format!("identity:{}", "0a".repeat(32)), Ok(()));
        check("identity:0A", Err("identity needs 64 lower-case hexadecimal digits"));
        check(&format!("openpgp:{}", "0A".repeat(32)), Ok(()));
        let sha256 = Err("sha256 needs 64 lower-case hexadecimal digits");
        check(&format!("sha256:{}", "0A".repeat(32)), sha256);
        check(&format!("sha256:{}", "0a".repeat(31)), sha256);
        check("sha256:", sha256);
        check(&format!("sha256:{}é", "0a".repeat(31)), sha256);
        let openpgp = Err("openpgp needs 40 or 64 upper-case hexadecimal digits");
        check(&format!("openpgp:{}", "0a".repeat(20)), openpgp);
        check("openpgp:AABBCCDD", openpgp);
        check("deadbeef", Err("it does not begin with `sha256:`, `openpgp:` or `identity:`"));
    }

    #[test]
    fn hints() {
        let id = KeyId::of_spki(b"");
        assert_eq!(id.hint().as_deref(), Some("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="));
        assert_eq!(id.openpgp_fingerprint(), None);
        let id = KeyId::of_openpgp(&[0xab; 20]);
        assert_eq!((id.hint(), id.openpgp_fingerprint()), (None, Some("AB".repeat(20))));
    }
}
