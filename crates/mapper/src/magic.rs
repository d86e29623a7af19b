//! The reserved hostname suffix that turns an address into a repository without any configuration.

use std::fmt;
use std::str::FromStr;

use tofu_oci_types::{Hostname, InvalidHostname, ProviderAddr};

use crate::place::{OciPlace, Rule};
use crate::{MapError, error};

/// A hostname suffix such as `oci.opentofu.org`, kept without a leading dot.
///
/// What stands before it is the registry; the port, where there is one, goes along.
///
/// Spec: seed 002 (RFC), "Magic inference of an OCI repository address".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MagicSuffix(Hostname);

/// A text that cannot be a magic suffix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` cannot be a hostname suffix")]
pub struct InvalidMagicSuffix {
    input: String,
    #[source]
    source: Option<InvalidHostname>,
}

impl MagicSuffix {
    /// The suffix in comparison form, without a leading dot.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// The rule for messages.
    pub fn rule(&self) -> Rule {
        Rule::MagicSuffix { suffix: self.as_str().to_owned() }
    }

    /// The place of an address below this suffix; nothing for every other address.
    ///
    /// # Errors
    /// When the address is below the suffix and yet has no repository.
    pub fn place(&self, address: &ProviderAddr) -> Result<Option<OciPlace>, MapError> {
        let hostname = address.hostname().as_str();
        let (host, port) = hostname.split_once(':').unwrap_or((hostname, ""));
        if host == self.as_str() {
            return Err(MapError::NothingBeforeSuffix {
                address: Box::new(address.clone()),
                suffix: self.as_str().to_owned(),
            });
        }
        let Some(registry) = host.strip_suffix(self.as_str()).and_then(|rest| rest.strip_suffix('.')) else {
            return Ok(None);
        };
        let colon = if port.is_empty() { "" } else { ":" };
        let (namespace, provider_type) = (address.namespace(), address.provider_type());
        let repository = format!("{registry}{colon}{port}/{namespace}/opentofu-provider-{provider_type}");
        let used = [namespace, provider_type];
        error::repository(address, &repository, &used, self.rule())
            .map(|repository| Some(OciPlace { repository, rule: self.rule() }))
    }
}

impl Default for MagicSuffix {
    fn default() -> Self {
        "oci.opentofu.org".parse().expect("the placeholder of the RFC is a hostname")
    }
}

impl FromStr for MagicSuffix {
    type Err = InvalidMagicSuffix;

    fn from_str(input: &str) -> Result<Self, InvalidMagicSuffix> {
        let hostname: Hostname = input
            .strip_prefix('.')
            .unwrap_or(input)
            .parse()
            .map_err(|source| InvalidMagicSuffix { input: input.to_owned(), source: Some(source) })?;
        if hostname.as_str().contains(':') {
            return Err(InvalidMagicSuffix { input: input.to_owned(), source: None });
        }
        Ok(Self(hostname))
    }
}

impl fmt::Display for MagicSuffix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
