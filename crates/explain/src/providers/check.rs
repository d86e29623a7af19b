//! What proves that a package is the one that was published, before anything is known of it from a lock file.

use std::collections::BTreeSet;
use std::fmt;

use tofu_oci_source::Offer;
use tofu_oci_types::Scheme;

/// What a package is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackageCheck {
    /// A list of checksums, signed by a key that the host of the provider names.
    SignedSums { host: String },
    /// The manifest that names it by its digest.
    Manifest,
    /// Checksums of these schemes, which the place lists; one must match.
    Hashes(BTreeSet<&'static str>),
    /// Nothing: the place has no checksum.
    Nothing,
}

impl PackageCheck {
    pub(super) fn of(offer: &Offer) -> Self {
        if !offer.signed.is_empty() {
            return Self::SignedSums { host: offer.address().hostname().display() };
        }
        if offer.manifest.is_some() {
            return Self::Manifest;
        }
        let mut schemes: BTreeSet<&'static str> = offer.allowed.iter().filter_map(|hash| word(hash.scheme())).collect();
        if offer.zh().is_some() {
            schemes.insert("zh");
        }
        if schemes.is_empty() { Self::Nothing } else { Self::Hashes(schemes) }
    }

    /// `signature`, `manifest`, `hashes` or `nothing`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::SignedSums { .. } => "signature",
            Self::Manifest => "manifest",
            Self::Hashes(_) => "hashes",
            Self::Nothing => "nothing",
        }
    }
}

fn word(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::H1 => Some("h1"),
        Scheme::Zh => Some("zh"),
        _ => None,
    }
}

impl fmt::Display for PackageCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignedSums { host } => write!(f, "SHA256SUMS, signed by a key that {host} names"),
            Self::Manifest => f.write_str("the digest in its manifest"),
            Self::Hashes(schemes) => {
                let schemes: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}:")).collect();
                write!(f, "the {} that the place lists", schemes.join(" or "))
            }
            Self::Nothing => f.write_str("nothing: the place lists no checksum"),
        }
    }
}
