//! Why a client does not get what it asks for.

use thiserror::Error;
use tofu_oci_types::{Platform, ProviderAddr, Version};

/// Why a question has no answer. Cheap to clone: equal questions share it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Refusal {
    /// The configuration names no place for the provider. Nothing was asked.
    #[error("{address} is not served here")]
    NotServed {
        /// The provider.
        address: ProviderAddr,
    },
    /// Its place has answered that it does not have the provider.
    #[error("no place has {address}")]
    UnknownProvider {
        /// The provider.
        address: ProviderAddr,
        /// What the configuration has to do with it: a sealed mirror asks no upstream.
        reason: Option<&'static str>,
    },
    /// The provider is there, and this version is not: unknown, held back, denied or withdrawn.
    #[error("{address} {version} is not offered")]
    UnknownVersion {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// Why, if a person has said so: the reason of a withdrawal.
        reason: Option<String>,
    },
    /// The release has no package for the platform.
    #[error("{address} {version} has no package for {platform}")]
    UnknownPlatform {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// The platform.
        platform: Platform,
    },
    /// The trust policy refuses the release.
    #[error("{address} {version} is not trusted: {reason}")]
    Untrusted {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
        /// What the policy found, in one line.
        reason: String,
    },
    /// Nothing signs the checksums of the release.
    #[error(
        "{address} {version} has no signature of its publisher, and this bridge has no key to sign with: make one by \
         `tofu-oci serve --new-key FILE`, and name the file as `signing_key`"
    )]
    NoSigningKey {
        /// The provider.
        address: ProviderAddr,
        /// The version.
        version: Version,
    },
    /// The place did not answer, although it was asked for as long as a client waits.
    #[error("{address} cannot be read: {reason}")]
    Upstream {
        /// The provider.
        address: ProviderAddr,
        /// The code of the last error.
        code: &'static str,
        /// The last error, in one line, without secrets.
        reason: String,
    },
}

/// The code of a refusal, which goes with the response: the log and the metrics name it.
#[derive(Clone, Copy, Debug)]
pub struct RefusalCode(pub &'static str);

impl Refusal {
    /// The stable name of the refusal; that of the place's error if the place failed.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotServed { .. } => "not-served",
            Self::UnknownProvider { .. } => "provider-not-found",
            Self::UnknownVersion { .. } => "version-not-found",
            Self::UnknownPlatform { .. } => "platform-not-found",
            Self::Untrusted { .. } => "untrusted",
            Self::NoSigningKey { .. } => "signing-key-missing",
            Self::Upstream { code, .. } => code,
        }
    }
}
