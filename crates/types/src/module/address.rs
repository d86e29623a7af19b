//! Addresses of modules in a registry: `registry.example.test/acme/network/aws`.

use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::hostname::{Hostname, InvalidHostname};
use crate::text_value::text_value;

/// Hosts whose repositories `OpenTofu` fetches directly, so that they cannot be registries.
const RESERVED_HOSTS: [&str; 2] = ["github.com", "bitbucket.org"];

/// The longest name, in bytes.
const LONGEST: usize = 64;

/// A module's address in a registry: hostname, namespace, name and target system.
///
/// `Display` gives all four parts, the hostname in Unicode. Case is kept in namespace and name. Each part is safe as
/// the name of a folder.
///
/// Spec: `OpenTofu` 1.12, opentofu/registry-address; seed 004 (module registry protocol).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleAddr {
    hostname: Hostname,
    namespace: String,
    name: String,
    target: String,
}

/// A text that is not a module's address in a registry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a module of a registry: {fault}")]
#[fault(of = fault)]
pub struct InvalidModuleAddr {
    input: String,
    fault: ModuleAddrFault,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[fault(named)]
enum ModuleAddrFault {
    #[error("it must read [HOST/]NAMESPACE/NAME/TARGET")]
    MalformedSource,
    #[error("the host is not valid: {}", .0.reason())]
    InvalidHostname(InvalidHostname),
    #[error("the host must contain a dot")]
    HostWithoutDot,
    #[error("modules of {host} are fetched from its repositories and not from a registry")]
    ReservedHost { host: &'static str },
    #[error("after the host it needs all three of namespace, name and target system")]
    PartMissing,
    #[error("the namespace {NAME_RULE}")]
    InvalidNamespace,
    #[error("the name {NAME_RULE}")]
    InvalidName,
    #[error("the target system consists of up to 64 lower-case ASCII letters and digits")]
    InvalidTarget,
    #[error("a module of a registry takes no arguments after `?`")]
    Arguments,
}

const NAME_RULE: &str =
    "consists of up to 64 ASCII letters, digits, `-` and `_`, the first and the last a letter or digit";

impl ModuleAddr {
    /// The registry host that the module belongs to.
    pub fn hostname(&self) -> &Hostname {
        &self.hostname
    }

    /// The namespace, such as `acme`.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The module's name, such as `network`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The target system, such as `aws`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// What the module is called under another host.
    #[must_use]
    pub fn under(&self, hostname: Hostname) -> Self {
        Self { hostname, ..self.clone() }
    }

    /// The form for people: without the default host.
    pub fn for_display(&self) -> String {
        if self.hostname == Hostname::default_registry() { self.path() } else { self.to_string() }
    }

    /// The form for requests to the host: `NAMESPACE/NAME/TARGET`.
    pub fn path(&self) -> String {
        format!("{}/{}/{}", self.namespace, self.name, self.target)
    }
}

impl FromStr for ModuleAddr {
    type Err = InvalidModuleAddr;

    fn from_str(input: &str) -> Result<Self, InvalidModuleAddr> {
        parse(input).map_err(|fault| InvalidModuleAddr { input: crate::masked(input), fault })
    }
}

fn parse(input: &str) -> Result<ModuleAddr, ModuleAddrFault> {
    let parts: Vec<&str> = input.split('/').collect();
    let (host, [namespace, name, target]) = match parts[..] {
        [namespace, name, target] => (None, [namespace, name, target]),
        [host, namespace, name, target] => (Some(host), [namespace, name, target]),
        _ => return Err(ModuleAddrFault::MalformedSource),
    };
    let hostname: Hostname = match host {
        Some(host) => host.parse().map_err(ModuleAddrFault::InvalidHostname)?,
        None => Hostname::default_registry(),
    };
    if !hostname.as_str().contains('.') {
        return Err(ModuleAddrFault::HostWithoutDot);
    }
    if let Some(host) = RESERVED_HOSTS.into_iter().find(|reserved| *reserved == hostname.as_str()) {
        return Err(ModuleAddrFault::ReservedHost { host });
    }
    if !is_name(namespace) {
        return Err(if namespace.contains('.') {
            ModuleAddrFault::PartMissing
        } else {
            ModuleAddrFault::InvalidNamespace
        });
    }
    if !is_name(name) {
        return Err(ModuleAddrFault::InvalidName);
    }
    if !is_target(target) {
        return Err(if target.contains('?') { ModuleAddrFault::Arguments } else { ModuleAddrFault::InvalidTarget });
    }
    Ok(ModuleAddr { hostname, namespace: namespace.into(), name: name.into(), target: target.into() })
}

fn is_name(text: &str) -> bool {
    let outer = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = text.as_bytes();
    bytes.len() <= LONGEST
        && outer(bytes.first())
        && outer(bytes.last())
        && bytes.iter().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

fn is_target(text: &str) -> bool {
    (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

impl fmt::Display for ModuleAddr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.hostname.display(), self.path())
    }
}

text_value!(ModuleAddr);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<&str, &str>) {
        let got = input.parse::<ModuleAddr>();
        let got = got.map(|address| address.to_string()).map_err(|error| error.code());
        assert_eq!(got.as_deref().map_err(|code| *code), want, "{input:?}");
    }

    #[test]
    fn the_host_is_one_of_a_registry() {
        check("a/b/c", Ok("registry.opentofu.org/a/b/c"));
        check("EXAMPLE.com:443/A_b/c-D/e1", Ok("example.com/A_b/c-D/e1"));
        check("example.com:8080/a/b/c", Ok("example.com:8080/a/b/c"));
        check("localhost/a/b/c", Err("host-without-dot"));
        check("localhost:8080/a/b/c", Err("host-without-dot"));
        check("github.com/a/b/c", Err("reserved-host"));
        check("GitHub.com/a/b/c", Err("reserved-host"));
        check("bitbucket.org/a/b/c", Err("reserved-host"));
        check("xn--80akhbyknj4f.com/a/b/c", Err("invalid-hostname"));
    }

    #[test]
    fn holes_of_hostnames_are_closed_for_modules_too() {
        check("example.com:-5/a/b/c", Err("invalid-hostname"));
        check("example\u{3002}\u{3002}com/a/b/c", Err("invalid-hostname"));
        check("\u{ff0e}/a/b/c", Err("invalid-hostname"));
    }

    #[test]
    fn names_are_plain() {
        let (longest, longer) = ("a".repeat(64), "a".repeat(65));
        check(
            &format!("{longest}/{longest}/{longest}"),
            Ok(&format!("registry.opentofu.org/{longest}/{longest}/{longest}")),
        );
        check(&format!("{longer}/b/c"), Err("invalid-namespace"));
        check(&format!("a/{longer}/c"), Err("invalid-name"));
        check(&format!("a/b/{longer}"), Err("invalid-target"));
        check("_a/b/c", Err("invalid-namespace"));
        check("a/b_/c", Err("invalid-name"));
        check("a/b/C", Err("invalid-target"));
        check("a/b/c_d", Err("invalid-target"));
        check("a/b/c?ref=1", Err("arguments"));
        check("a/b/c\n", Err("invalid-target"));
        check("a/\u{e4}/c", Err("invalid-name"));
        check("example.com/a/b", Err("part-missing"));
        check("a/b", Err("malformed-source"));
        check("a//b/c", Err("host-without-dot"));
        check("a.b//c/d", Err("invalid-namespace"));
        check("", Err("malformed-source"));
    }
}
