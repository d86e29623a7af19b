//! Provider source addresses: `registry.example.test/acme/widget`.

use std::fmt;
use std::str::FromStr;

use crate::Hostname;
use crate::serde_text::serde_as_text;

/// A provider's source address: hostname, namespace and type, each in normal form.
///
/// `Display` gives the three-part form with the Unicode hostname, as lock files and folders write it. The order is
/// that of lock file blocks: comparison-form hostname, namespace, type.
///
/// Spec: `OpenTofu` 1.12, opentofu/registry-address; seed 003 (provider references).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr {
    hostname: Hostname,
    namespace: String,
    provider_type: String,
}

/// A text that is no provider address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a provider address: {reason}")]
pub struct InvalidProviderAddr {
    input: String,
    reason: String,
}

impl ProviderAddr {
    /// The registry host that the address belongs to.
    pub fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The namespace, such as `acme`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The type, such as `widget`.
    pub fn provider_type(&self) -> &str {
        &self.provider_type
    }

    /// The form for people: without the host when that is the default one.
    pub fn for_display(&self) -> String {
        if self.hostname == Hostname::default_registry() {
            format!("{}/{}", self.namespace, self.provider_type)
        } else {
            self.to_string()
        }
    }
}

impl FromStr for ProviderAddr {
    type Err = InvalidProviderAddr;

    fn from_str(input: &str) -> Result<Self, InvalidProviderAddr> {
        let invalid = |reason: String| InvalidProviderAddr { input: input.to_owned(), reason };
        let parts: Vec<&str> = input.split('/').collect();
        let (hostname, namespace, provider_type) = match parts[..] {
            [provider_type] => (Hostname::default_registry(), "hashicorp", provider_type),
            [namespace, provider_type] => (Hostname::default_registry(), namespace, provider_type),
            [host, namespace, provider_type] => {
                (host.parse().map_err(|error| invalid(format!("{error}")))?, namespace, provider_type)
            }
            _ => return Err(invalid("it must read [HOST/]NAMESPACE/TYPE".to_owned())),
        };
        Ok(Self { hostname, namespace: namespace.to_owned(), provider_type: provider_type.to_owned() })
    }
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.hostname.display(), self.namespace, self.provider_type)
    }
}

impl fmt::Debug for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serde_as_text!(ProviderAddr);
