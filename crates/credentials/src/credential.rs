//! Secrets, and what is made of them.

use std::fmt;

use zeroize::Zeroize as _;

/// A text that must not be printed. `Debug` and `Display` are masked; the memory is wiped when it is dropped.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

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

impl Secret {
    /// Takes the text in.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself: for a request's header or body and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(***)")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl Credential {
    /// A name and a password.
    pub fn basic(username: impl Into<String>, password: impl Into<String>) -> Self {
        Self::Basic { username: username.into(), password: Secret::new(password) }
    }
}
