//! The numbers that hosts give repositories and their owners: a number stays, and a name can go to somebody else.

use std::collections::BTreeMap;
use std::fmt;

use super::ProvenIdentity;
use crate::paths::folded;

/// What has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberOf {
    Repository,
    Owner,
}

impl fmt::Display for NumberOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Repository => "repository",
            Self::Owner => "owner",
        })
    }
}

/// Numbers by names, as names are compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostNumbers {
    pub(crate) repositories: BTreeMap<String, String>,
    pub(crate) owners: BTreeMap<String, String>,
}

impl HostNumbers {
    /// The number that a name had.
    pub(crate) fn get(&self, of: NumberOf, name: &str) -> Option<&str> {
        let numbers = match of {
            NumberOf::Repository => &self.repositories,
            NumberOf::Owner => &self.owners,
        };
        numbers.get(name).map(String::as_str)
    }

    /// Adds those of other names: a name keeps the number that it was first seen with.
    pub(crate) fn learn(&mut self, other: &Self) {
        for (known, more) in [(&mut self.repositories, &other.repositories), (&mut self.owners, &other.owners)] {
            for (name, number) in more {
                known.entry(name.clone()).or_insert_with(|| number.clone());
            }
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.repositories.is_empty() && self.owners.is_empty()
    }
}

impl ProvenIdentity {
    /// Its repository and that one's owner, as they are compared, each with its number if the certificate says one.
    pub(crate) fn numbered(&self) -> impl Iterator<Item = (NumberOf, String, Option<&str>)> {
        let repository = self.repository.as_deref().map(folded);
        // What is left of it: an owner of GitHub, a group of GitLab with the groups around it.
        let owner = repository.as_deref().and_then(|name| name.rsplit_once('/')).map(|(owner, _)| owner);
        let owner = owner.filter(|owner| owner.contains('/')).map(str::to_owned);
        let owner = owner.map(|name| (NumberOf::Owner, name, self.owner_id.as_deref()));
        let repository = repository.map(|name| (NumberOf::Repository, name, self.repository_id.as_deref()));
        repository.into_iter().chain(owner)
    }

    /// The numbers that the certificate says.
    pub(crate) fn numbers(&self) -> HostNumbers {
        let mut numbers = HostNumbers::default();
        for (of, name, number) in self.numbered() {
            let known = match of {
                NumberOf::Repository => &mut numbers.repositories,
                NumberOf::Owner => &mut numbers.owners,
            };
            known.extend(number.map(|number| (name, number.to_owned())));
        }
        numbers
    }
}
