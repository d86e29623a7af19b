//! Certificates.

use super::fault::OpenPgpError;
use crate::KeyId;

/// An `OpenPGP` certificate: a primary key, its subkeys and what it says about them.
#[derive(Clone, Debug)]
pub struct OpenPgpKey {
    id: KeyId,
    user_ids: Vec<String>,
}

impl OpenPgpKey {
    /// The certificates in a file, armored or binary.
    pub fn parse(_bytes: &[u8]) -> Result<Vec<Self>, OpenPgpError> {
        Err(OpenPgpError::Malformed { problem: "not yet".to_owned() })
    }

    /// The fingerprint of its primary key.
    pub fn id(&self) -> KeyId {
        self.id.clone()
    }

    /// The names that the primary key signed.
    pub fn user_ids(&self) -> Vec<String> {
        self.user_ids.clone()
    }
}
