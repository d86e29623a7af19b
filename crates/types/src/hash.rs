//! Package checksums, and what each binds: `h1:` the files, `zh:` the zip, `ch:` the leaf manifest of one platform.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;

use crate::text_value::text_value;
use crate::{Algorithm, Digest};

/// A checksum of a provider package as a lock file records it: `SCHEME:VALUE`.
///
/// Unknown schemes are kept as they are, because other tools' entries must survive. Control characters are refused:
/// a claim of a registry must not be able to add lines to a file.
///
/// Spec: `OpenTofu` 1.12, getproviders `Hash`; seed RFC "Package checksums and signing" for `ch:`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackageHash {
    text: String,
    colon: usize,
}

/// What a [`PackageHash`] is a checksum of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scheme {
    /// `h1:` the names and contents of the package's files.
    H1,
    /// `zh:` the bytes of the package's zip archive.
    Zh,
    /// `ch:` the bytes of the package's leaf manifest in an OCI repository.
    Ch,
    /// Another tool's scheme.
    Other,
}

/// A text that is not a package checksum.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a package checksum: it must read SCHEME:VALUE")]
pub struct InvalidPackageHash {
    input: String,
}

impl PackageHash {
    /// `h1:` of a package whose summary (see `archive`) hashes to `sha256`.
    pub fn h1(sha256: &[u8]) -> Self {
        Self::join("h1", &base64::engine::general_purpose::STANDARD.encode(sha256))
    }

    /// `zh:` of the zip archive with this digest; `None` unless the digest is SHA-256.
    pub fn zh(archive: &Digest) -> Option<Self> {
        (archive.algorithm() == Algorithm::Sha256).then(|| Self::join("zh", archive.encoded()))
    }

    /// The digest of the zip archive that a `zh:` binds.
    pub fn archive(&self) -> Option<Digest> {
        if self.scheme() == Scheme::Zh { format!("sha256:{}", self.value()).parse().ok() } else { None }
    }

    /// `ch:` of the leaf manifest with this digest.
    pub fn ch(leaf: &Digest) -> Self {
        Self::join("ch", leaf.as_str())
    }

    fn join(scheme: &str, value: &str) -> Self {
        Self { text: format!("{scheme}:{value}"), colon: scheme.len() }
    }

    /// The scheme before the first colon.
    pub fn scheme(&self) -> Scheme {
        match &self.text[..self.colon] {
            "h1" => Scheme::H1,
            "zh" => Scheme::Zh,
            "ch" => Scheme::Ch,
            _ => Scheme::Other,
        }
    }

    /// The text after the first colon.
    pub fn value(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether some package can have this checksum: `h1:` with the padded base64 of 32 bytes, `zh:` with 64 lower-case
    /// hexadecimal digits, `ch:` with a digest. Other schemes are not checked.
    pub fn is_well_formed(&self) -> bool {
        let hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match self.scheme() {
            Scheme::H1 => {
                let decoded = base64::engine::general_purpose::STANDARD.decode(self.value());
                decoded.is_ok_and(|bytes| bytes.len() == 32)
            }
            Scheme::Zh => self.value().len() == 64 && self.value().bytes().all(hex),
            Scheme::Ch => self.value().parse::<Digest>().is_ok(),
            Scheme::Other => true,
        }
    }
}

impl FromStr for PackageHash {
    type Err = InvalidPackageHash;

    fn from_str(input: &str) -> Result<Self, InvalidPackageHash> {
        match input.find(':') {
            Some(colon) if colon > 0 && !input.contains(char::is_control) => Ok(Self { text: input.to_owned(), colon }),
            _ => Err(InvalidPackageHash { input: input.to_owned() }),
        }
    }
}

impl fmt::Display for PackageHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

text_value!(PackageHash);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Option<(Scheme, &str)>) {
        let got = input.parse::<PackageHash>().ok();
        assert_eq!(got.as_ref().map(|hash| (hash.scheme(), hash.value())), want, "{input:?}");
    }

    #[test]
    fn checksums_that_no_package_can_have() {
        let h1 = PackageHash::h1(&[7; 32]);
        let zh = PackageHash::zh(&Digest::sha256(b"zip")).unwrap();
        let ch = PackageHash::ch(&Digest::sha256(b"leaf"));
        assert_eq!((zh.archive(), h1.archive(), ch.archive()), (Some(Digest::sha256(b"zip")), None, None));
        for good in [h1.as_str(), zh.as_str(), ch.as_str(), "h2:anything"] {
            assert!(good.parse::<PackageHash>().unwrap().is_well_formed(), "{good}");
        }
        let upper = zh.as_str().to_uppercase().replace("ZH:", "zh:");
        for bad in ["h1:abc", "h1:", "zh:", "zh:00", "ch:sha256:00", &format!("{h1}A"), &format!("{zh}0"), &upper] {
            assert!(!bad.parse::<PackageHash>().unwrap().is_well_formed(), "{bad}");
        }
    }

    #[test]
    fn reads_a_scheme_and_a_value() {
        check("h1:foo", Some((Scheme::H1, "foo")));
        check("zh:", Some((Scheme::Zh, "")));
        check("ch:sha256:00", Some((Scheme::Ch, "sha256:00")));
        check("H1:foo", Some((Scheme::Other, "foo")));
        check("a b:c", Some((Scheme::Other, "c")));
        check("", None);
        check("foo", None);
        check(":blah", None);
        check("h1:foo\n\"zh:bar", None);
    }

    #[test]
    fn is_made_of_digests() {
        let digest = Digest::sha256(b"");
        assert_eq!(PackageHash::h1(&[0; 3]).as_str(), "h1:AAAA");
        assert_eq!(PackageHash::zh(&digest).map(|hash| hash.value().to_owned()).as_deref(), Some(digest.encoded()));
        assert_eq!(PackageHash::ch(&digest).value(), digest.as_str());
        assert_eq!(PackageHash::zh(&"blake3:af1349b9".parse().expect("a digest")), None);
    }
}
