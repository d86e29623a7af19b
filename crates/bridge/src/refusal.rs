//! Why a client does not get what it asks for.

use http::Extensions;
use thiserror::Error;
use tofu_oci_types::{Platform, ProviderAddr, Version, printable};

/// The most characters of a reason.
const LONGEST: usize = 500;

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

/// Why the server fails, which goes with a response of status 5xx: the log names it.
#[derive(Clone, Debug)]
pub struct FailureReason(pub String);

impl Refusal {
    /// The refusal of a place that failed.
    pub(crate) fn upstream(address: &ProviderAddr, code: &'static str, error: &dyn std::error::Error) -> Self {
        Self::Upstream { address: address.clone(), code, reason: one_line(error) }
    }

    /// What goes with the response.
    pub(crate) fn note_in(&self, extensions: &mut Extensions) {
        extensions.insert(RefusalCode(self.code()));
        extensions.insert(FailureReason(self.to_string()));
    }

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

/// The error with its causes. The texts of places hold no secrets: `http` and `remote` cut them out.
pub(crate) fn one_line(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    shortened(&text)
}

/// Foreign text, as it is safe in a reason.
pub(crate) fn shortened(text: &str) -> String {
    printable(text).chars().take(LONGEST).collect()
}
