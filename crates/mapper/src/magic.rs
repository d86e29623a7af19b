//! The magic suffix: a reserved end of a hostname turns an address into an OCI repository without any configuration.

use std::fmt;
use std::str::FromStr;

use tofu_oci_types::{Hostname, InvalidHostname, ProviderAddr};

use crate::place::{OciPlace, PlaceRule};
use crate::{MapError, error};

/// A hostname suffix such as `oci.opentofu.org`, kept without a leading dot.
///
/// The part before it is the registry, with the port if there is one.
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
    pub fn rule(&self) -> PlaceRule {
        PlaceRule::MagicSuffix { suffix: self.as_str().to_owned() }
    }

    /// The place of an address below this suffix; `None` for any other address.
    ///
    /// # Errors
    /// If the address is below the suffix and has no repository.
    pub fn place(&self, address: &ProviderAddr) -> Result<Option<OciPlace>, MapError> {
        let hostname = address.hostname().as_str();
        let (host, port) = hostname.split_once(':').unwrap_or((hostname, ""));
        if host == self.as_str() {
            return Err(MapError::NothingBeforeSuffix {
                address: address.to_string(),
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn place(suffix: &str, address: &str) -> Result<Option<String>, String> {
        let suffix: MagicSuffix = suffix.parse().map_err(|error: InvalidMagicSuffix| error.to_string())?;
        let address: ProviderAddr = address.parse().expect("an address");
        suffix
            .place(&address)
            .map(|place| place.map(|place| place.repository.to_string()))
            .map_err(|error| error.to_string())
    }

    #[track_caller]
    fn check(suffix: &str, address: &str, want: Option<&str>) {
        assert_eq!(place(suffix, address), Ok(want.map(str::to_owned)), "{address}");
    }

    const RFC: &str = "oci.opentofu.org";

    #[test]
    fn what_stands_before_the_suffix_is_the_registry() {
        check(RFC, "example.com.oci.opentofu.org/foo/bar", Some("example.com/foo/opentofu-provider-bar"));
        check(RFC, "EXAMPLE.com.OCI.opentofu.org/Foo/Bar", Some("example.com/foo/opentofu-provider-bar"));
        check(RFC, "localhost.oci.opentofu.org:5000/foo/bar", Some("localhost:5000/foo/opentofu-provider-bar"));
        check(RFC, "example.com.oci.opentofu.org:443/foo/bar", Some("example.com/foo/opentofu-provider-bar"));
        check(RFC, "испытание.com.oci.opentofu.org/foo/bar", Some("xn--80akhbyknj4f.com/foo/opentofu-provider-bar"));
        check(RFC, "oci.opentofu.org.oci.opentofu.org/a/b", Some("oci.opentofu.org/a/opentofu-provider-b"));
    }

    #[test]
    fn other_hostnames_are_not_touched() {
        for address in ["foo/bar", "example.com/foo/bar", "example.comoci.opentofu.org/foo/bar", "opentofu.org/foo/bar"]
        {
            check(RFC, address, None);
        }
        check(RFC, "oci.opentofu.org.example.com/foo/bar", None);
    }

    #[test]
    fn any_suffix_will_do() {
        check(".tofu.example", "ghcr.io.tofu.example/foo/bar", Some("ghcr.io/foo/opentofu-provider-bar"));
        check("Tofu.Example", "ghcr.io.tofu.example/foo/bar", Some("ghcr.io/foo/opentofu-provider-bar"));
        check("tofu.example", "example.com.oci.opentofu.org/foo/bar", None);
        for suffix in ["", ".", "..a", "a.", ".a.", "a b", "a:5000", "a/b"] {
            assert!(suffix.parse::<MagicSuffix>().is_err(), "{suffix:?}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        assert_snapshot!(place(RFC, "oci.opentofu.org/foo/bar").unwrap_err(), @"oci.opentofu.org/foo/bar names no registry before .oci.opentofu.org");
        assert_snapshot!(place(RFC, "oci.opentofu.org:5000/foo/bar").unwrap_err(), @"oci.opentofu.org:5000/foo/bar names no registry before .oci.opentofu.org");
        assert_snapshot!(place(RFC, "example.com.oci.opentofu.org/foo/ほげ").unwrap_err(), @"requested provider address example.com.oci.opentofu.org/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as example.com/foo/opentofu-provider-ほげ");
        assert_snapshot!(place("a:5000", "foo/bar").unwrap_err(), @"`a:5000` cannot be a hostname suffix");
    }
}
