//! What a registry is given to know who asks.

use tofu_oci_types::Secret;

/// What a registry is given to know who asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A user's name and password.
    Basic {
        /// The name.
        username: String,
        /// The password, or a token in its place.
        password: Secret,
    },
    /// A token that buys access tokens from the registry's token server (a refresh token).
    IdentityToken(Secret),
    /// A token that is sent to the registry as it is.
    RegistryToken(Secret),
}

impl Credential {
    /// A name and a password.
    pub fn basic(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self::Basic { username: username.into(), password: Secret::new(password) }
    }
}
