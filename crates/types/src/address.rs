//! Provider source addresses: `registry.example.test/acme/widget`.

use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::hostname::{Hostname, InvalidHostname};
use crate::idn::{self, PartFault};
use crate::text_value::text_value;

/// The namespace of providers that are older than namespaces.
const LEGACY: &str = "-";

/// Why `OpenTofu` takes no such address or pattern.
pub(crate) const UNDERSCORE: &str = "its namespace has an underscore, which Terraform 1.16 and later accept";
pub(crate) const OF_OPENTOFU: &str = " of OpenTofu";

/// A provider's source address: hostname, namespace and type, each in normal form.
///
/// `Display` gives the three-part form with the Unicode hostname, as lock files and folders write it. The order is
/// that of lock file blocks: comparison-form hostname, namespace, type.
///
/// No part is empty, contains a dot (except the hostname), a separator of paths or two dashes in a row: each is safe as
/// the name of a folder. `OpenTofu` accepts full-width dots and dashes, which become plain ones; this type does not.
/// The namespace may have underscores, which Terraform alone takes ([`ProviderAddr::for_opentofu`]).
///
/// Spec: `OpenTofu` 1.12, opentofu/registry-address; Terraform 1.16; seed 003 (provider references).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProviderAddr {
    hostname: Hostname,
    namespace: String,
    provider_type: String,
}

/// A text that is not a provider address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a provider address{}: {fault}", if *fault == AddressFault::Underscore { OF_OPENTOFU } else { "" })]
#[fault(of = fault)]
pub struct InvalidProviderAddr {
    input: String,
    fault: AddressFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(named)]
enum AddressFault {
    #[error("it must read [HOST/]NAMESPACE/TYPE")]
    MalformedSource,
    #[error("the type {}", .0.reason())]
    InvalidType(PartFault),
    #[error("the namespace {}", .0.reason())]
    InvalidNamespace(PartFault),
    #[error("{UNDERSCORE}")]
    #[fault(code = "invalid-namespace")]
    Underscore,
    #[error("{0}")]
    InvalidHostname(InvalidHostname),
    #[error("the namespace - exists on registry.opentofu.org only")]
    LegacyNamespaceHost,
    #[error("the type is written without its prefix; did you mean {suggestion}?")]
    RedundantProviderPrefix { suggestion: String },
    #[error("the type must not begin with terraform- or opentofu-")]
    RedundantPrefix,
}

impl InvalidProviderAddr {
    /// Whether `OpenTofu` accepts the text as an address, but of another host.
    pub fn passes_opentofu(&self) -> bool {
        matches!(&self.fault, AddressFault::InvalidHostname(error) if error.passes_opentofu())
    }

    /// The address that was probably meant.
    pub fn suggestion(&self) -> Option<&str> {
        match &self.fault {
            AddressFault::RedundantProviderPrefix { suggestion } => Some(suggestion),
            _ => None,
        }
    }
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

    /// What the provider is called under another host.
    #[must_use]
    pub fn under(&self, hostname: Hostname) -> Self {
        Self { hostname, ..self.clone() }
    }

    /// Whether the provider is part of `OpenTofu` itself and comes from no registry.
    pub fn is_builtin(&self) -> bool {
        matches!(self.hostname.as_str(), "terraform.io" | "opentofu.org") && self.namespace == "builtin"
    }

    /// The address, if `OpenTofu` accepts it, too.
    ///
    /// # Errors
    /// The namespace has an underscore, as it may in Terraform 1.16 and later.
    pub fn for_opentofu(self) -> Result<Self, InvalidProviderAddr> {
        if self.namespace.contains('_') {
            return Err(InvalidProviderAddr { input: self.to_string(), fault: AddressFault::Underscore });
        }
        Ok(self)
    }

    /// Whether the address is older than namespaces.
    pub fn is_legacy(&self) -> bool {
        self.namespace == LEGACY
    }

    /// The form for people: without the default host.
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
        parse(input).map_err(|fault| InvalidProviderAddr { input: input.to_owned(), fault })
    }
}

/// Checks the type first, then the namespace, then the hostname: the order in which `OpenTofu` complains.
fn parse(input: &str) -> Result<ProviderAddr, AddressFault> {
    let parts: Vec<&str> = input.split('/').collect();
    let (host, namespace, provider_type) = match parts[..] {
        [provider_type] => (None, None, provider_type),
        [namespace, provider_type] => (None, Some(namespace), provider_type),
        [host, namespace, provider_type] => (Some(host), Some(namespace), provider_type),
        _ => return Err(AddressFault::MalformedSource),
    };
    if parts.contains(&"") {
        return Err(AddressFault::MalformedSource);
    }
    let provider_type = idn::part(provider_type).map_err(AddressFault::InvalidType)?;
    let Some(namespace) = namespace else {
        // A bare name belongs to `hashicorp`, and may have any prefix.
        let (hostname, namespace) = (Hostname::default_registry(), "hashicorp".to_owned());
        return Ok(ProviderAddr { hostname, namespace, provider_type });
    };
    let namespace = match namespace {
        LEGACY => LEGACY.to_owned(),
        namespace => idn::namespace(namespace).map_err(AddressFault::InvalidNamespace)?,
    };
    let hostname = match host {
        Some(host) => host.parse().map_err(AddressFault::InvalidHostname)?,
        None => Hostname::default_registry(),
    };
    let address = ProviderAddr { hostname, namespace, provider_type };
    if address.namespace == LEGACY && address.hostname != Hostname::default_registry() {
        return Err(AddressFault::LegacyNamespaceHost);
    }
    refuse_redundant_prefix(&address)?;
    Ok(address)
}

fn refuse_redundant_prefix(address: &ProviderAddr) -> Result<(), AddressFault> {
    for product in ["terraform-", "opentofu-"] {
        let Some(rest) = address.provider_type.strip_prefix(product) else { continue };
        if let Some(name) = rest.strip_prefix("provider-")
            && let Ok(provider_type) = idn::part(name)
        {
            let suggestion = ProviderAddr { provider_type, ..address.clone() }.for_display();
            return Err(AddressFault::RedundantProviderPrefix { suggestion });
        }
        return Err(AddressFault::RedundantPrefix);
    }
    Ok(())
}

impl fmt::Display for ProviderAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.hostname.display(), self.namespace, self.provider_type)
    }
}

text_value!(ProviderAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<&str, &str>) {
        let got = input.parse::<ProviderAddr>();
        let got = got.map(|address| address.to_string()).map_err(|error| {
            assert!(error.to_string().contains(input), "{error}");
            error.code()
        });
        assert_eq!(got.as_deref().map_err(|code| *code), want, "{input:?}");
    }

    #[test]
    fn a_namespace_with_underscores_is_for_terraform_alone() {
        check("app.terraform.io/Openai_Inc/kube", Ok("app.terraform.io/openai_inc/kube"));
        check("a__b/x", Ok("registry.opentofu.org/a__b/x"));
        check("a\u{ff3f}b/x", Ok("registry.opentofu.org/a_b/x"));
        check("a/x_y", Err("invalid-type"));
        check("a_b.example.com/a/x", Err("invalid-hostname"));
        check("a_-/x", Err("invalid-namespace"));
        let opentofu = |text: &str| text.parse().and_then(ProviderAddr::for_opentofu);
        let error = opentofu("app.terraform.io/a_b/x").unwrap_err();
        assert_eq!(error.code(), "invalid-namespace");
        insta::assert_snapshot!(error, @"`app.terraform.io/a_b/x` is not a provider address of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept");
        assert!(opentofu("app.terraform.io/a-b/x").is_ok());
    }

    #[test]
    fn full_width_dots_do_not_become_the_parent_folder() {
        check("example.com/\u{ff0e}\u{ff0e}/x", Err("invalid-namespace"));
        check("example.com/\u{3002}/x", Err("invalid-namespace"));
        check("example.com/x/\u{ff0e}\u{ff0e}", Err("invalid-type"));
        check("a\u{3002}b/x", Err("invalid-namespace"));
        check("x/a\u{ff61}b", Err("invalid-type"));
        check("example.com/../x", Err("invalid-namespace"));
        check("example.com/./x", Err("invalid-namespace"));
        check("../..", Err("invalid-type"));
    }

    #[test]
    fn full_width_dashes_do_not_become_double_dashes_or_punycode() {
        check("foo\u{ff0d}\u{ff0d}bar/x", Err("invalid-namespace"));
        check("foo\u{fe63}-bar/x", Err("invalid-namespace"));
        check("xn\u{ff0d}\u{ff0d}80akhbyknj4f/x", Err("invalid-namespace"));
        check("xn-\u{ad}-80akhbyknj4f/x", Err("invalid-namespace"));
        check("foo-\u{ad}-bar/x", Err("invalid-namespace"));
        check("foo\u{ff0d}bar/x", Ok("registry.opentofu.org/foo-bar/x"));
    }

    #[test]
    fn nothing_is_empty_after_normalisation() {
        check("\u{ad}/x", Err("invalid-namespace"));
        check("foo/\u{ad}", Err("invalid-type"));
        check("\u{ff0e}/foo/bar", Err("invalid-hostname"));
        check("example\u{3002}\u{3002}com/foo/bar", Err("invalid-hostname"));
        check("\u{ad}.com/foo/bar", Err("invalid-hostname"));
    }

    #[test]
    fn separators_of_paths_are_refused_in_every_width() {
        for separator in ["\\", "\u{ff0f}", "\u{ff3c}", "%2f", "\0", "\n", ":", "\u{ff1a}"] {
            check(&format!("foo/a{separator}b"), Err("invalid-type"));
            check(&format!("a{separator}b/foo"), Err("invalid-namespace"));
        }
        check("example.com\\x/foo/bar", Err("invalid-hostname"));
        check("example.com\u{ff0f}x/foo/bar", Err("invalid-hostname"));
    }

    #[test]
    fn the_legacy_namespace_belongs_to_the_default_host() {
        check("-/aws", Ok("registry.opentofu.org/-/aws"));
        check("example.com/-/aws", Err("legacy-namespace-host"));
    }

    #[test]
    fn a_redundant_prefix_comes_with_the_address_that_was_meant() {
        let error = "example.com/acme/terraform-provider-zap".parse::<ProviderAddr>().unwrap_err();
        assert_eq!(error.suggestion(), Some("example.com/acme/zap"));
        assert_eq!(
            error.to_string(),
            "`example.com/acme/terraform-provider-zap` is not a provider address: the type is written without its \
             prefix; did you mean example.com/acme/zap?"
        );
        check("example.com/acme/terraform", Ok("example.com/acme/terraform"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_parses_is_safe_as_three_folders(input in "(\\PC{0,6}/){0,2}\\PC{0,8}") {
            if let Ok(address) = input.parse::<ProviderAddr>() {
                let host = address.hostname().display();
                for part in [host.as_str(), address.hostname().as_str(), address.namespace(), address.provider_type()] {
                    assert!(!part.is_empty() && part != "." && part != "..", "{input:?}");
                    assert!(!part.contains(['/', '\\', '\0']), "{input:?}");
                    assert!(!part.contains(".."), "{input:?}");
                }
                assert!(!address.namespace().contains('.') && !address.provider_type().contains('.'));
            }
        }
    }
}
