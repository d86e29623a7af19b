//! Repository addresses: `ghcr.io/acme/opentofu-provider-widget`.

use std::fmt;
use std::str::FromStr;

use crate::serde_text::serde_as_text;

/// A repository of a registry: `HOST[:PORT]/NAME`.
///
/// Spec: OCI distribution-spec 1.1.1, "Pulling manifests" for the name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RepositoryRef {
    registry: String,
    name: String,
}

/// A text that is no repository address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a repository address: {reason}")]
pub struct InvalidRepositoryRef {
    input: String,
    reason: &'static str,
}

impl RepositoryRef {
    /// The registry's host, with its port where one is named.
    pub fn registry(&self) -> &str {
        &self.registry
    }

    /// The registry's host without the port.
    pub fn registry_host(&self) -> &str {
        match self.registry.rsplit_once(':') {
            Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
            _ => &self.registry,
        }
    }

    /// The repository's name inside the registry, such as `acme/opentofu-provider-widget`.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl FromStr for RepositoryRef {
    type Err = InvalidRepositoryRef;

    fn from_str(input: &str) -> Result<Self, InvalidRepositoryRef> {
        let invalid = |reason| InvalidRepositoryRef { input: input.to_owned(), reason };
        if input.contains("://") {
            return Err(invalid("it is written without a scheme such as https://"));
        }
        let (registry, name) =
            input.split_once('/').ok_or_else(|| invalid("it must read HOST/NAME, such as ghcr.io/acme/widget"))?;
        if !valid_registry(registry) {
            return Err(invalid("the part before the first `/` is not a host with an optional port"));
        }
        if name.contains(['@', ':']) {
            return Err(invalid("it must name no tag and no digest"));
        }
        if !name.split('/').all(valid_component) {
            return Err(invalid(
                "a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`",
            ));
        }
        if registry.len() + 1 + name.len() > 255 {
            return Err(invalid("it is longer than 255 characters"));
        }
        Ok(Self { registry: registry.to_owned(), name: name.to_owned() })
    }
}

fn valid_registry(registry: &str) -> bool {
    let (host, port) = if let Some(rest) = registry.strip_prefix('[') {
        let Some((address, after)) = rest.split_once(']') else { return false };
        if address.parse::<std::net::Ipv6Addr>().is_err() {
            return false;
        }
        ("ipv6", after.strip_prefix(':'))
    } else {
        match registry.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (registry, None),
        }
    };
    let label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
    };
    let port_ok = port.is_none_or(|port| {
        !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok()
    });
    host.split('.').all(label) && port_ok
}

/// `[a-z0-9]+((\.|_|__|-+)[a-z0-9]+)*`
fn valid_component(component: &str) -> bool {
    let alphanumeric = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    let bytes = component.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if !alphanumeric(*first) || !alphanumeric(*last) {
        return false;
    }
    component
        .split(|character: char| character.is_ascii_lowercase() || character.is_ascii_digit())
        .filter(|separator| !separator.is_empty())
        .all(|separator| matches!(separator, "." | "_" | "__") || separator.bytes().all(|byte| byte == b'-'))
}

impl fmt::Display for RepositoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.registry, self.name)
    }
}

impl fmt::Debug for RepositoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

serde_as_text!(RepositoryRef);
