//! A client of `serve`, as the configuration names it, and its token.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom as _, SystemRandom};
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tofu_oci_types::{ModulePattern, Pattern, Secret};
use zeroize::Zeroizing;

/// The most characters of a name.
const NAME_LIMIT: usize = 64;

/// The prefix of tokens that are made here, so that a search for secrets recognises them.
const TOKEN_PREFIX: &str = "tofuoci_";

/// A client of the configuration.
#[derive(Clone, Debug)]
pub struct ClientRule {
    /// What the log calls it.
    pub name: ClientName,
    /// The checksum of its token.
    pub token: TokenDigest,
    /// The providers that it may see; it sees none if this is empty.
    pub providers: Vec<Pattern>,
    /// The modules that it may see; it sees none if this is empty.
    pub modules: Vec<ModulePattern>,
}

/// The name of a client: at most 64 ASCII letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientName(String);

/// A text that is not the name of a client.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "`{input}` is not the name of a client: it must be 1 to {NAME_LIMIT} letters, digits, dots, dashes and underscores"
)]
pub struct InvalidClientName {
    input: String,
}

impl ClientName {
    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ClientName {
    type Err = InvalidClientName;

    fn from_str(input: &str) -> Result<Self, InvalidClientName> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if (1..=NAME_LIMIT).contains(&input.len()) && input.bytes().all(fits) {
            return Ok(Self(input.to_owned()));
        }
        Err(InvalidClientName { input: input.to_owned() })
    }
}

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The SHA-256 of a token. A comparison always takes the same time, and `Debug` is masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenDigest(Secret);

/// A text that is not the SHA-256 of a token. It does not repeat the text, which may be the token itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("it must be the SHA-256 of a token, as 64 hexadecimal digits")]
pub struct InvalidTokenDigest;

impl TokenDigest {
    pub fn of(token: &Secret) -> Self {
        let digest = Sha256::digest(token.expose().as_bytes());
        Self(Secret::new(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    /// The 64 digits, in lower case, for the configuration file.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl FromStr for TokenDigest {
    type Err = InvalidTokenDigest;

    fn from_str(input: &str) -> Result<Self, InvalidTokenDigest> {
        if input.len() == 64 && input.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(Self(Secret::new(input.to_ascii_lowercase())));
        }
        Err(InvalidTokenDigest)
    }
}

/// A token that was just made, for `serve --new-token`.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The token, for the client. It is stored nowhere.
    pub token: Secret,
    /// Its checksum, for `token_sha256` in the configuration.
    pub digest: TokenDigest,
}

impl NewToken {
    /// A token of 256 random bits: letters, digits, `_` and `-`, so that it fits into a URL and a variable unchanged.
    pub fn generate() -> Self {
        let mut bytes = Zeroizing::new([0; 32]);
        SystemRandom::new().fill(bytes.as_mut()).expect("the system has random numbers");
        let token = Secret::new(format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes.as_ref())));
        let digest = TokenDigest::of(&token);
        Self { token, digest }
    }
}
