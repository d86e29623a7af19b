//! Patterns of modules: `registry.example.com/acme/*/*`.

use std::fmt;
use std::str::FromStr;

use super::address::ModuleAddr;
use crate::{Hostname, InvalidHostname};

/// A pattern of the addresses of modules in registries, as `include` and `exclude` hold them.
///
/// Always four parts. `*` replaces a whole part, from the right: the target system, then the name, then the namespace, then the
/// host. So `example.com/acme/*/*` is every module of a namespace. A host is written out, since a pattern without one would
/// mean another host for Terraform than for `OpenTofu`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModulePattern {
    written: String,
    hostname: Option<Hostname>,
    namespace: Option<String>,
    name: Option<String>,
    target: Option<String>,
}

/// A text that is not a pattern of modules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{input}` is not a pattern of modules: {fault}")]
pub struct InvalidModulePattern {
    input: String,
    fault: ModulePatternFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum ModulePatternFault {
    #[error("it must read HOST/NAMESPACE/NAME/SYSTEM")]
    PartCount,
    #[error("the host is not valid: {}", .0.reason())]
    Hostname(InvalidHostname),
    #[error("the {0} is not one of a module")]
    Part(&'static str),
    #[error("after a * only * may follow")]
    WildcardBefore,
}

impl InvalidModulePattern {
    /// What to write instead.
    pub fn instead(&self) -> &'static str {
        "write HOST/NAMESPACE/NAME/SYSTEM, such as \"registry.example.com/acme/*/*\", or */*/*/* for every module"
    }
}

const WILDCARD: &str = "*";

impl ModulePattern {
    /// Whether the pattern matches `address`.
    pub fn matches(&self, address: &ModuleAddr) -> bool {
        self.covers(&Self::exactly(address))
    }

    /// The host; `None` for any host.
    pub fn hostname(&self) -> Option<&Hostname> {
        self.hostname.as_ref()
    }

    /// The namespace; `None` for any namespace.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The name; `None` for any name.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The target system; `None` for any system.
    pub fn target(&self) -> Option<&str> {
        self.target.as_deref()
    }

    /// Whether every address that matches `other` matches this pattern too.
    pub fn covers(&self, other: &Self) -> bool {
        fn within<T: PartialEq>(outer: Option<&T>, inner: Option<&T>) -> bool {
            outer.is_none() || outer == inner
        }
        within(self.hostname.as_ref(), other.hostname.as_ref())
            && within(self.namespace.as_ref(), other.namespace.as_ref())
            && within(self.name.as_ref(), other.name.as_ref())
            && within(self.target.as_ref(), other.target.as_ref())
    }

    /// The pattern of exactly one module.
    pub fn exactly(address: &ModuleAddr) -> Self {
        Self {
            written: address.to_string(),
            hostname: Some(address.hostname().clone()),
            namespace: Some(address.namespace().to_owned()),
            name: Some(address.name().to_owned()),
            target: Some(address.target().to_owned()),
        }
    }

    /// The one address that it matches; `None` if it has a wildcard.
    pub fn address(&self) -> Option<ModuleAddr> {
        self.target.as_ref().and_then(|_| self.written.parse().ok())
    }
}

impl FromStr for ModulePattern {
    type Err = InvalidModulePattern;

    fn from_str(input: &str) -> Result<Self, InvalidModulePattern> {
        parse(input).map_err(|fault| InvalidModulePattern { input: crate::masked(input), fault })
    }
}

fn parse(input: &str) -> Result<ModulePattern, ModulePatternFault> {
    let parts: Vec<&str> = input.split('/').collect();
    let [host, namespace, name, target] = parts[..] else { return Err(ModulePatternFault::PartCount) };
    let parts = [host, namespace, name, target];
    let first = parts.iter().position(|part| *part == WILDCARD).unwrap_or(parts.len());
    if parts.iter().skip(first).any(|part| *part != WILDCARD) {
        return Err(ModulePatternFault::WildcardBefore);
    }
    let hostname = match host {
        WILDCARD => None,
        host => {
            let hostname = host.parse().map_err(ModulePatternFault::Hostname)?;
            format!("{host}/a/a/a").parse::<ModuleAddr>().map_err(|_| ModulePatternFault::Part("host"))?;
            Some(hostname)
        }
    };
    // The rule is that of addresses: each part is tried in one whose other parts are right.
    let part = |text: &str, what: &'static str, address: String| match text {
        WILDCARD => Ok(None),
        text if address.parse::<ModuleAddr>().is_ok() => Ok(Some(text.to_owned())),
        _ => Err(ModulePatternFault::Part(what)),
    };
    Ok(ModulePattern {
        written: input.to_owned(),
        hostname,
        namespace: part(namespace, "namespace", format!("{namespace}/a/a"))?,
        name: part(name, "name", format!("a/{name}/a"))?,
        target: part(target, "target system", format!("a/a/{target}"))?,
    })
}

impl fmt::Display for ModulePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, address: &str, want: bool) {
        let pattern: ModulePattern = pattern.parse().expect("a pattern");
        assert_eq!(pattern.matches(&address.parse().expect("an address")), want, "{pattern} {address}");
    }

    #[test]
    fn wildcards_replace_parts_from_the_right() {
        check("example.com/acme/network/aws", "example.com/acme/network/aws", true);
        check("example.com/acme/network/aws", "example.com/acme/network/gcp", false);
        check("example.com/acme/network/*", "EXAMPLE.com:443/acme/network/gcp", true);
        check("example.com/acme/*/*", "example.com/acme/x/gcp", true);
        check("example.com/acme/*/*", "example.com/Acme/x/gcp", false);
        check("*/*/*/*", "a/b/c", true);
        check("registry.opentofu.org/*/*/*", "a/b/c", true);
        check("registry.terraform.io/*/*/*", "a/b/c", false);
    }

    #[test]
    fn what_is_no_pattern_says_why() {
        let refused = |text: &str| text.parse::<ModulePattern>().expect_err("no pattern").to_string();
        insta::assert_snapshot!(refused("acme/network/aws"), @"`acme/network/aws` is not a pattern of modules: it must read HOST/NAMESPACE/NAME/SYSTEM");
        insta::assert_snapshot!(refused("example.com/*/network/aws"), @"`example.com/*/network/aws` is not a pattern of modules: after a * only * may follow");
        insta::assert_snapshot!(refused("example.com/acme/net*/*"), @"`example.com/acme/net*/*` is not a pattern of modules: the name is not one of a module");
        insta::assert_snapshot!(refused("example.com/acme/network/AWS"), @"`example.com/acme/network/AWS` is not a pattern of modules: the target system is not one of a module");
        assert!(refused("localhost/a/b/c").contains("the host is not one of a module"));
        assert!(refused("-/a/b/c").contains("the host is not valid"));
        assert!("a.b/x.y/c/d".parse::<ModulePattern>().is_err() && "".parse::<ModulePattern>().is_err());
    }

    #[test]
    fn one_module_is_a_pattern_with_an_address() {
        let address: ModuleAddr = "example.com/acme/network/aws".parse().expect("an address");
        let exactly = ModulePattern::exactly(&address);
        assert_eq!(exactly.address().as_ref(), Some(&address));
        assert!("example.com/*/*/*".parse::<ModulePattern>().expect("a pattern").covers(&exactly));
        assert_eq!("example.com/acme/network/*".parse::<ModulePattern>().expect("a pattern").address(), None);
    }
}
