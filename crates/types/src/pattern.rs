//! Patterns of providers: `example.com/acme/*`.

use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::address::{OF_OPENTOFU, UNDERSCORE};
use crate::idn::{self, PartFault};
use crate::{Hostname, InvalidHostname, ProviderAddr};

/// A pattern of provider addresses, as `include` and `exclude` hold them.
///
/// Two parts mean the default host only: `*/*` matches no provider of any other host. A wildcard replaces a whole part,
/// from the right: the type, then the namespace, then the host.
///
/// Spec: `OpenTofu` 1.12, getproviders, multi source matching patterns; measured on 1.10 to 1.13.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    written: String,
    hostname: Option<Hostname>,
    namespace: Option<String>,
    provider_type: Option<String>,
}

/// A text that is not a pattern of providers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a pattern of providers{}: {fault}", if *fault == PatternFault::OfTerraform { OF_OPENTOFU } else { "" })]
#[fault(of = fault)]
pub struct InvalidPattern {
    input: String,
    fault: PatternFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(named)]
enum PatternFault {
    #[error("it must read [HOST/]NAMESPACE/TYPE")]
    SegmentCount,
    #[error("{0}")]
    #[fault(code = "invalid-hostname")]
    Hostname(InvalidHostname),
    #[error("the type {0}")]
    #[fault(code = "invalid-type")]
    Type(&'static str),
    #[error("the namespace {0}")]
    #[fault(code = "invalid-namespace")]
    Namespace(&'static str),
    #[error("{UNDERSCORE}")]
    #[fault(code = "invalid-namespace")]
    OfTerraform,
    #[error("with a host it reads {}", with_namespace(.host, .rest))]
    #[fault(code = "invalid-namespace")]
    HostAlone { host: String, rest: String },
    #[error("a namespace can be * only if the type is * too")]
    #[fault(code = "namespace-wildcard-not-allowed")]
    NamespaceWildcard,
    #[error("the host can be * only if the namespace and the type are * too")]
    #[fault(code = "hostname-wildcard-not-allowed")]
    HostnameWildcard,
}

impl InvalidPattern {
    /// Whether `OpenTofu` accepts the text as a pattern, but of another host.
    pub fn passes_opentofu(&self) -> bool {
        matches!(&self.fault, PatternFault::Hostname(error) if error.passes_opentofu())
    }

    /// What to write instead.
    pub fn instead(&self) -> String {
        match &self.fault {
            PatternFault::NamespaceWildcard => "write the namespace, or * for the type too".to_owned(),
            PatternFault::HostAlone { host, rest } => {
                let all = if rest == WILDCARD { String::new() } else { format!("\"{host}/{rest}/*\" or ") };
                format!("write {all}\"{}\"", with_namespace(host, rest))
            }
            PatternFault::HostnameWildcard => "write the host, or */*/* for every provider".to_owned(),
            _ => "write HOST/NAMESPACE/TYPE, such as \"registry.opentofu.org/acme/*\"".to_owned(),
        }
    }
}

impl Pattern {
    /// Whether the pattern matches `address`.
    pub fn matches(&self, address: &ProviderAddr) -> bool {
        self.hostname.as_ref().is_none_or(|hostname| hostname == address.hostname())
            && self.namespace.as_ref().is_none_or(|namespace| namespace == address.namespace())
            && self.provider_type.as_ref().is_none_or(|provider_type| provider_type == address.provider_type())
    }

    /// The host; `None` for any host.
    pub fn hostname(&self) -> Option<&Hostname> {
        self.hostname.as_ref()
    }

    /// The same for a program with another default host: of that host, if the pattern was written without one.
    #[must_use]
    pub fn by_default_of(&self, host: &Hostname) -> Self {
        let is_without_host = self.written.matches('/').count() == 1;
        let hostname = if is_without_host { Some(host.clone()) } else { self.hostname.clone() };
        Self { hostname, ..self.clone() }
    }

    /// The pattern, if `OpenTofu` accepts it, too, as [`ProviderAddr::for_opentofu`] says of an address.
    ///
    /// # Errors
    /// The namespace has an underscore.
    pub fn for_opentofu(self) -> Result<Self, InvalidPattern> {
        match &self.namespace {
            Some(namespace) if namespace.contains('_') => {
                Err(InvalidPattern { input: self.written, fault: PatternFault::OfTerraform })
            }
            _ => Ok(self),
        }
    }

    /// The namespace; `None` for any namespace.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The type; `None` for any type.
    pub fn provider_type(&self) -> Option<&str> {
        self.provider_type.as_deref()
    }

    /// Whether some address matches this pattern and `other`.
    pub fn overlaps(&self, other: &Self) -> bool {
        fn meet<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        meet(self.hostname.as_ref(), other.hostname.as_ref())
            && meet(self.namespace.as_ref(), other.namespace.as_ref())
            && meet(self.provider_type.as_ref(), other.provider_type.as_ref())
    }

    /// Whether every address that matches `other` matches this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        fn within<T: PartialEq>(outer: Option<&T>, inner: Option<&T>) -> bool {
            outer.is_none() || outer == inner
        }
        within(self.hostname.as_ref(), other.hostname.as_ref())
            && within(self.namespace.as_ref(), other.namespace.as_ref())
            && within(self.provider_type.as_ref(), other.provider_type.as_ref())
    }

    /// The pattern of exactly one provider.
    pub fn exactly(address: &ProviderAddr) -> Self {
        Self {
            written: address.to_string(),
            hostname: Some(address.hostname().clone()),
            namespace: Some(address.namespace().to_owned()),
            provider_type: Some(address.provider_type().to_owned()),
        }
    }
}

impl FromStr for Pattern {
    type Err = InvalidPattern;

    fn from_str(input: &str) -> Result<Self, InvalidPattern> {
        parse(input).map_err(|fault| InvalidPattern { input: input.to_owned(), fault })
    }
}

/// Checks in the order in which `OpenTofu` complains: host, type, namespace, then the positions of the wildcards.
fn parse(input: &str) -> Result<Pattern, PatternFault> {
    let parts: Vec<&str> = input.split('/').collect();
    let (host, namespace, provider_type) = match parts[..] {
        [namespace, provider_type] => (None, namespace, provider_type),
        [host, namespace, provider_type] => (Some(host), namespace, provider_type),
        _ => return Err(PatternFault::SegmentCount),
    };
    let hostname = match host {
        Some(WILDCARD) => None,
        Some(host) => Some(host.parse().map_err(PatternFault::Hostname)?),
        None => Some(Hostname::default_registry()),
    };
    let provider_type = part(provider_type, idn::part).map_err(PatternFault::Type)?;
    let namespace = part(namespace, idn::namespace).map_err(|fault| {
        let is_host = host.is_none() && namespace.contains('.') && namespace.parse::<Hostname>().is_ok();
        if is_host {
            let rest = provider_type.clone().unwrap_or_else(|| WILDCARD.to_owned());
            PatternFault::HostAlone { host: namespace.to_owned(), rest }
        } else {
            PatternFault::Namespace(fault)
        }
    })?;
    if hostname.is_none() && (namespace.is_some() || provider_type.is_some()) {
        return Err(PatternFault::HostnameWildcard);
    }
    if namespace.is_none() && provider_type.is_some() {
        return Err(PatternFault::NamespaceWildcard);
    }
    Ok(Pattern { written: input.to_owned(), hostname, namespace, provider_type })
}

/// A namespace or type in normal form, by the rule of addresses; `None` for the wildcard.
fn part(text: &str, normal: fn(&str) -> Result<String, PartFault>) -> Result<Option<String>, &'static str> {
    match text {
        WILDCARD => Ok(None),
        "" => Err("is empty"),
        _ if text.contains('*') => Err("has a * that is not alone: a wildcard stands for the whole part"),
        _ => normal(text).map(Some).map_err(|_| "may contain only letters, digits, and single dashes between them"),
    }
}

/// A host and one part, with what lacks between them if the part is the type.
fn with_namespace(host: &str, rest: &str) -> String {
    format!("{host}/{}/{rest}", if rest == WILDCARD { WILDCARD } else { "NAMESPACE" })
}

const WILDCARD: &str = "*";

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}
