//! The keys that a policy names.

use std::collections::BTreeSet;

use crate::keyless::TrustedRoot;
use crate::{Identity, KeyError, KeyId, Material, OpenPgpError, OpenPgpKey, PublicKey, TrustedIdentity};

/// A key file or an identity under a name of the user's.
#[derive(Clone, Debug)]
pub struct NamedKey {
    /// What the user calls it.
    pub name: String,
    /// What is in the file, or whose certificates count.
    pub material: KeyMaterial,
}

/// Who signs: what is in a key file, whose bytes decide which kind it is, or an identity.
#[derive(Clone, Debug)]
pub enum KeyMaterial {
    /// A public key in PEM.
    Public(PublicKey),
    /// `OpenPGP` certificates.
    OpenPgp(Vec<OpenPgpKey>),
    /// Whoever an authority issues certificates to.
    Identity(Box<TrustedIdentity>),
}

/// A file that holds no key to verify with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyMaterialError {
    #[error("the key file is empty")]
    Empty,
    /// An invalid public key.
    #[error(transparent)]
    Public(#[from] KeyError),
    /// An invalid `OpenPGP` key.
    #[error(transparent)]
    OpenPgp(#[from] OpenPgpError),
}

impl KeyMaterial {
    /// Reads a public key in PEM, or `OpenPGP` keys, armored or binary.
    pub fn parse(bytes: &[u8]) -> Result<Self, KeyMaterialError> {
        if bytes.trim_ascii().is_empty() {
            return Err(KeyMaterialError::Empty);
        }
        if !is_openpgp(bytes) {
            return Ok(Self::Public(PublicKey::from_pem(bytes)?));
        }
        let keys = OpenPgpKey::parse(bytes)?;
        if keys.is_empty() { Err(KeyMaterialError::Empty) } else { Ok(Self::OpenPgp(keys)) }
    }

    pub fn ids(&self) -> Vec<KeyId> {
        match self {
            Self::Public(key) => vec![key.id()],
            Self::OpenPgp(keys) => keys.iter().map(OpenPgpKey::id).collect(),
            Self::Identity(trusted) => vec![trusted.identity.id()],
        }
    }

    pub(crate) fn identity(&self) -> Option<&Identity> {
        if let Self::Identity(trusted) = self { Some(&trusted.identity) } else { None }
    }

    /// The root of an identity, if it names one.
    pub(crate) fn root(&self) -> Option<&TrustedRoot> {
        if let Self::Identity(trusted) = self { trusted.root.as_deref() } else { None }
    }

    pub(crate) fn materials(&self) -> Vec<(KeyId, BTreeSet<Material>)> {
        match self {
            Self::Public(key) => vec![(key.id(), BTreeSet::from([key.numbers()]))],
            Self::OpenPgp(keys) => keys.iter().map(|key| (key.id(), key.materials())).collect(),
            Self::Identity(trusted) => vec![(trusted.identity.id(), trusted.identity.party())],
        }
    }
}

/// Packets begin with a set high bit, which text in ASCII never does.
///
/// Spec: RFC 9580, sections 4.2 and 6.2.
fn is_openpgp(bytes: &[u8]) -> bool {
    const ARMOR: &[u8] = b"-----BEGIN PGP ";
    let marked = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if marked.len() == bytes.len() && bytes.first().is_some_and(|first| first & 0x80 != 0) {
        return true;
    }
    marked.split(|byte| *byte == b'\n').any(|line| line.starts_with(ARMOR))
}
