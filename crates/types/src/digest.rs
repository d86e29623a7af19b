//! Content digests: `sha256:<64 hex>`.

use std::fmt;
use std::str::FromStr;

use sha2::Digest as _;

use crate::text_value::text_value;

/// The digest of some bytes, as OCI writes it: `ALGORITHM:ENCODED`.
///
/// A `sha256` or `sha512` digest has the right length and lower-case hexadecimal digits. Other algorithms that follow
/// the grammar parse, so that a manifest may mention them, but cannot verify anything. A digest contains no path
/// separator.
///
/// Spec: OCI image-spec 1.1.1, descriptor.md, "Digests".
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest {
    text: String,
    colon: usize,
}

/// How a [`Digest`] was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// SHA-256, which every registry supports.
    Sha256,
    /// SHA-512.
    Sha512,
    /// Well-formed, and not supported here.
    Other,
}

/// A text that is not a digest.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a digest: {reason}")]
pub struct InvalidDigest {
    input: String,
    reason: &'static str,
}

impl Digest {
    /// The SHA-256 digest of `bytes`.
    pub fn sha256(bytes: &[u8]) -> Self {
        let mut hasher = DigestHasher::sha256();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The SHA-256 digest with these 32 bytes.
    pub fn from_sha256(bytes: [u8; 32]) -> Self {
        Self::from_hash("sha256", &bytes)
    }

    fn from_hash(name: &str, bytes: &[u8]) -> Self {
        let mut text = String::with_capacity(name.len() + 1 + bytes.len() * 2);
        text.push_str(name);
        text.push(':');
        for byte in bytes {
            text.push(char::from_digit(u32::from(byte >> 4), 16).expect("a nibble is below 16"));
            text.push(char::from_digit(u32::from(byte & 15), 16).expect("a nibble is below 16"));
        }
        Self { text, colon: name.len() }
    }

    /// The algorithm before the colon.
    pub fn algorithm(&self) -> Algorithm {
        match self.algorithm_name() {
            "sha256" => Algorithm::Sha256,
            "sha512" => Algorithm::Sha512,
            _ => Algorithm::Other,
        }
    }

    /// The text before the colon.
    pub fn algorithm_name(&self) -> &str {
        &self.text[..self.colon]
    }

    /// The text after the colon.
    pub fn encoded(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first 12 digits after the colon, for people.
    pub fn short(&self) -> &str {
        let encoded = self.encoded();
        &encoded[..encoded.len().min(12)]
    }

    /// A hasher of this digest's algorithm; `None` if the algorithm is [`Algorithm::Other`].
    pub fn hasher(&self) -> Option<DigestHasher> {
        match self.algorithm() {
            Algorithm::Sha256 => Some(DigestHasher::sha256()),
            Algorithm::Sha512 => Some(DigestHasher::sha512()),
            Algorithm::Other => None,
        }
    }

    /// Whether `bytes` have this digest; false for an unsupported algorithm.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        self.hasher().is_some_and(|mut hasher| {
            hasher.update(bytes);
            hasher.finish() == *self
        })
    }
}

impl FromStr for Digest {
    type Err = InvalidDigest;

    fn from_str(input: &str) -> Result<Self, InvalidDigest> {
        let invalid = |reason| InvalidDigest { input: input.to_owned(), reason };
        let colon = input.find(':').ok_or_else(|| invalid("it has no `:`"))?;
        let (algorithm, encoded) = (&input[..colon], &input[colon + 1..]);
        let component = |part: &str| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
        };
        if !algorithm.split(['+', '.', '_', '-']).all(component) {
            return Err(invalid("the algorithm is malformed"));
        }
        if encoded.is_empty() || !encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"=_-".contains(&byte)) {
            return Err(invalid("the part after `:` is malformed"));
        }
        let hex = |length: usize| {
            encoded.len() == length
                && encoded.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
        };
        match algorithm {
            "sha256" if !hex(64) => Err(invalid("sha256 needs 64 lower-case hexadecimal digits")),
            "sha512" if !hex(128) => Err(invalid("sha512 needs 128 lower-case hexadecimal digits")),
            _ => Ok(Self { text: input.to_owned(), colon }),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

text_value!(Digest);

/// Computes a [`Digest`] piece by piece.
#[derive(Clone)]
pub struct DigestHasher(Hasher);

#[derive(Clone)]
enum Hasher {
    Sha256(sha2::Sha256),
    Sha512(sha2::Sha512),
}

impl DigestHasher {
    /// A hasher for `sha256:` digests.
    pub fn sha256() -> Self {
        Self(Hasher::Sha256(sha2::Sha256::new()))
    }

    /// A hasher for `sha512:` digests.
    pub fn sha512() -> Self {
        Self(Hasher::Sha512(sha2::Sha512::new()))
    }

    /// Adds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// The digest of all added bytes.
    pub fn finish(self) -> Digest {
        match self.0 {
            Hasher::Sha256(hasher) => Digest::from_hash("sha256", &hasher.finalize()),
            Hasher::Sha512(hasher) => Digest::from_hash("sha512", &hasher.finalize()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EMPTY: &str = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn computes_and_parses_the_same_text() {
        assert_eq!(Digest::sha256(b"").to_string(), EMPTY);
        assert_eq!(EMPTY.parse::<Digest>(), Ok(Digest::sha256(b"")));
        assert!(Digest::sha256(b"").matches(b""));
        assert!(!Digest::sha256(b"").matches(b"x"));
    }

    #[track_caller]
    fn check_refused(input: &str) {
        let error = input.parse::<Digest>().expect_err("must be refused");
        assert!(error.to_string().contains(input), "{error}");
    }

    #[test]
    fn refuses_what_could_reach_a_path_or_pass_for_another_digest() {
        check_refused("");
        check_refused("sha256");
        check_refused("sha256:");
        check_refused("sha256:../../etc/passwd");
        check_refused(&EMPTY.to_uppercase());
        check_refused(&EMPTY[..70]);
        check_refused(&format!("{EMPTY}0"));
        check_refused(&EMPTY.replace("e3b0", "E3B0"));
        check_refused("../sha256:e3b0");
        check_refused("sha512:e3b0");
    }

    #[test]
    fn another_algorithm_parses_and_matches_nothing() {
        let digest: Digest = "blake3:af1349b9".parse().expect("the grammar allows it");
        assert_eq!(digest.algorithm(), Algorithm::Other);
        assert!(!digest.matches(b""));
    }
}
