//! Which two addresses count as one: hosts under which the same providers and modules were published before.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::{Hostname, InvalidHostname, ModuleAddr, ProviderAddr};

/// A host, and one under which its providers and modules were published before: `HOST=PREDECESSOR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predecessor {
    host: Hostname,
    predecessor: Hostname,
}

/// A text that is not `HOST=PREDECESSOR`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPredecessor {
    /// It has no `=`.
    #[error("`{0}` is not HOST=PREDECESSOR, such as registry.opentofu.org=registry.terraform.io")]
    NotAPair(String),
    /// One side is not a hostname.
    #[error(transparent)]
    Hostname(#[from] InvalidHostname),
    #[error("`{0}` is its own predecessor")]
    Itself(Hostname),
}

impl FromStr for Predecessor {
    type Err = InvalidPredecessor;

    fn from_str(text: &str) -> Result<Self, InvalidPredecessor> {
        let Some((host, predecessor)) = text.split_once('=') else {
            return Err(InvalidPredecessor::NotAPair(text.to_owned()));
        };
        let (host, predecessor): (Hostname, Hostname) = (host.trim().parse()?, predecessor.trim().parse()?);
        if host == predecessor { Err(InvalidPredecessor::Itself(host)) } else { Ok(Self { host, predecessor }) }
    }
}

impl fmt::Display for Predecessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.host.display(), self.predecessor.display())
    }
}

/// Which addresses count as one: those that differ only by a host and its predecessor. It holds in both directions, and for
/// the predecessor of a predecessor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Predecessors(Vec<BTreeSet<Hostname>>);

impl Predecessors {
    /// No address counts as another one.
    pub const NONE: &'static Self = &Self(Vec::new());

    /// Whether two hosts count as one.
    pub fn same(&self, one: &Hostname, other: &Hostname) -> bool {
        one == other || self.0.iter().any(|hosts| hosts.contains(one) && hosts.contains(other))
    }

    /// What a provider is called under each of the hosts that count as one with its own, first as it is. What forbids it under
    /// one of these names forbids it under all.
    pub fn names(&self, address: &ProviderAddr) -> Vec<ProviderAddr> {
        self.hosts(address.hostname()).map(|host| address.under(host.clone())).collect()
    }

    /// The same of a module.
    pub fn module_names(&self, address: &ModuleAddr) -> Vec<ModuleAddr> {
        self.hosts(address.hostname()).map(|host| address.under(host.clone())).collect()
    }

    fn hosts<'h>(&'h self, own: &'h Hostname) -> impl Iterator<Item = &'h Hostname> {
        let group = self.0.iter().find(|hosts| hosts.contains(own));
        std::iter::once(own).chain(group.into_iter().flatten().filter(move |host| *host != own))
    }

    /// Whether a release that says it is `said` answers for `asked`.
    pub fn same_provider(&self, said: &ProviderAddr, asked: &ProviderAddr) -> bool {
        let names = |address: &ProviderAddr| (address.namespace().to_owned(), address.provider_type().to_owned());
        said == asked || (names(said) == names(asked) && self.same(said.hostname(), asked.hostname()))
    }

    /// Whether a package that says it is the module `said` answers for `asked`.
    pub fn same_module(&self, said: &ModuleAddr, asked: &ModuleAddr) -> bool {
        said == asked || (said.path() == asked.path() && self.same(said.hostname(), asked.hostname()))
    }
}

impl FromIterator<Predecessor> for Predecessors {
    fn from_iter<I: IntoIterator<Item = Predecessor>>(pairs: I) -> Self {
        let mut groups: Vec<BTreeSet<Hostname>> = Vec::new();
        for Predecessor { host, predecessor } in pairs {
            let mut group = BTreeSet::from([host, predecessor]);
            groups.retain(|other| {
                let is_apart = group.is_disjoint(other);
                if !is_apart {
                    group.extend(other.iter().cloned());
                }
                is_apart
            });
            groups.push(group);
        }
        Self(groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pairs: &[&str]) -> Predecessors {
        pairs.iter().map(|pair| pair.parse::<Predecessor>().unwrap()).collect()
    }

    #[track_caller]
    fn check(pairs: &[&str], said: &str, asked: &str, want: bool) {
        let (known, said, asked) = (of(pairs), said.parse().unwrap(), asked.parse().unwrap());
        assert_eq!(
            (known.same_provider(&said, &asked), known.same_provider(&asked, &said)),
            (want, want),
            "{said} {asked}"
        );
    }

    #[test]
    fn a_predecessor_differs_by_its_host_alone() {
        const MOVED: &[&str] = &["registry.opentofu.org=registry.terraform.io"];
        check(MOVED, "registry.terraform.io/acme/zap", "registry.opentofu.org/acme/zap", true);
        check(&[], "registry.terraform.io/acme/zap", "registry.opentofu.org/acme/zap", false);
        check(&[], "acme/zap", "registry.opentofu.org/acme/zap", true);
        check(MOVED, "registry.terraform.io/acme-corp/secret", "registry.opentofu.org/acme/corp-secret", false);
        check(MOVED, "registry.terraform.io/acme-corp/secret", "registry.terraform.io/acme/corp-secret", false);
        check(MOVED, "example.com/acme/zap", "registry.opentofu.org/acme/zap", false);
    }

    #[test]
    fn the_predecessor_of_a_predecessor_counts_too() {
        for pairs in [&["a.example=b.example", "b.example=c.example"], &["b.example=c.example", "a.example=b.example"]]
        {
            check(pairs, "a.example/acme/zap", "c.example/acme/zap", true);
        }
        let two = &["a.example=b.example", "c.example=d.example"];
        check(two, "a.example/acme/zap", "c.example/acme/zap", false);
        check(two, "c.example/acme/zap", "d.example/acme/zap", true);
    }

    #[test]
    fn a_module_is_the_same_by_namespace_name_and_system() {
        let known = of(&["registry.opentofu.org=registry.terraform.io"]);
        let same = |one: &str, other: &str| known.same_module(&one.parse().unwrap(), &other.parse().unwrap());
        assert!(same("registry.terraform.io/acme/net/aws", "acme/net/aws"));
        assert!(!same("registry.terraform.io/acme/net-x/aws", "acme/net/aws"));
        assert!(!same("example.com/acme/net/aws", "acme/net/aws"));
    }

    #[test]
    fn the_names_of_an_address_are_those_under_hosts_that_count_as_one() {
        let known = of(&["registry.opentofu.org=registry.terraform.io", "c.example=d.example"]);
        let names = |text: &str| -> Vec<String> {
            known.names(&text.parse().unwrap()).iter().map(ToString::to_string).collect()
        };
        assert_eq!(
            names("registry.terraform.io/acme/zap"),
            ["registry.terraform.io/acme/zap", "registry.opentofu.org/acme/zap"]
        );
        assert_eq!(names("e.example/acme/zap"), ["e.example/acme/zap"]);
        let module = known.module_names(&"d.example/acme/net/aws".parse().unwrap());
        assert_eq!(module, ["d.example/acme/net/aws", "c.example/acme/net/aws"].map(|text| text.parse().unwrap()));
    }

    #[test]
    fn what_is_not_a_pair_is_refused() {
        let said =
            |text: &str| text.parse::<Predecessor>().map_or_else(|error| error.to_string(), |read| read.to_string());
        assert_eq!(
            said("Registry.OpenTofu.org:443 = registry.terraform.io"),
            "registry.opentofu.org=registry.terraform.io"
        );
        assert_eq!(
            said("registry.terraform.io"),
            "`registry.terraform.io` is not HOST=PREDECESSOR, such as registry.opentofu.org=registry.terraform.io"
        );
        assert_eq!(said("a.example=A.example"), "`a.example` is its own predecessor");
        assert_eq!(
            said("a.example=b/c"),
            "`b/c` is not a hostname: it may contain only letters, digits, dots, and dashes between them"
        );
    }
}
