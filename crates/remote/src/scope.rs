//! What a request needs to be allowed to do, in the words of token servers. Pure.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use tofu_oci_types::{Place, RepositoryRef};

/// Most bytes of scopes, with those that challenges add.
const LONGEST: usize = 1024;

/// The access that a request needs: it decides the credential and the scopes.
#[derive(Clone, Debug)]
pub(crate) struct RequestedAccess {
    pub(crate) subject: AccessSubject,
    pub(crate) scopes: Scopes,
}

/// What access is asked to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum AccessSubject {
    Repository(RepositoryRef),
    /// A registry as a whole, `HOST[:PORT]`.
    Registry(String),
}

impl AccessSubject {
    /// `HOST[:PORT]`.
    pub(crate) fn registry(&self) -> &str {
        match self {
            Self::Repository(repository) => repository.registry(),
            Self::Registry(registry) => registry,
        }
    }

    /// The place as errors name it.
    pub(crate) fn place(&self) -> Place {
        match self {
            Self::Repository(repository) => Place::Registry(repository.clone()),
            Self::Registry(registry) => Place::Host(registry.clone()),
        }
    }
}

impl RequestedAccess {
    /// Access to the registry, without any repository.
    pub(crate) fn registry(registry: &str) -> Self {
        Self { subject: AccessSubject::Registry(registry.to_owned()), scopes: Scopes::default() }
    }

    /// Reading the repository.
    pub(crate) fn pull(repository: &RepositoryRef) -> Self {
        Self {
            subject: AccessSubject::Repository(repository.clone()),
            scopes: Scopes::default().with(repository.name(), &["pull"]),
        }
    }

    /// Writing to the repository.
    pub(crate) fn push(repository: &RepositoryRef) -> Self {
        Self {
            subject: AccessSubject::Repository(repository.clone()),
            scopes: Scopes::default().with(repository.name(), &["pull", "push"]),
        }
    }

    pub(crate) fn delete(repository: &RepositoryRef) -> Self {
        Self {
            subject: AccessSubject::Repository(repository.clone()),
            scopes: Scopes::default().with(repository.name(), &["pull", "push", "delete"]),
        }
    }

    /// Writing to the repository what another one of the same registry has.
    pub(crate) fn mount(repository: &RepositoryRef, from: &str) -> Self {
        let mut access = Self::push(repository);
        access.scopes = access.scopes.with(from, &["pull"]);
        access
    }
}

/// A set of scopes: resource (`repository:NAME`) to actions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Scopes(BTreeMap<String, BTreeSet<String>>);

impl Scopes {
    fn with(mut self, repository: &str, actions: &[&str]) -> Self {
        let entry = self.0.entry(format!("repository:{repository}")).or_default();
        entry.extend(actions.iter().map(|&action| action.to_owned()));
        self
    }

    /// These and those that a challenge names.
    pub(crate) fn and_challenged(mut self, scope: &str) -> Self {
        if scope.len() + self.to_string().len() > LONGEST {
            return self;
        }
        for one in scope.split_ascii_whitespace() {
            let Some((resource, actions)) = one.rsplit_once(':') else { continue };
            let entry = self.0.entry(resource.to_owned()).or_default();
            entry.extend(actions.split(',').filter(|action| !action.is_empty()).map(str::to_owned));
        }
        self
    }

    /// Whether all of them are among those that a token says it grants.
    pub(crate) fn are_in(&self, granted: &[String]) -> bool {
        let granted = granted.iter().fold(Self::default(), |all, one| all.and_challenged(one));
        let covers =
            |actions: &BTreeSet<String>, have: &BTreeSet<String>| have.contains("*") || actions.is_subset(have);
        self.0.iter().all(|(resource, actions)| granted.0.get(resource).is_some_and(|have| covers(actions, have)))
    }

    /// Each scope as a token request writes it.
    pub(crate) fn each(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|(resource, actions)| {
            let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
            format!("{resource}:{}", actions.join(","))
        })
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.each().collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(access: &RequestedAccess, challenged: &str, want: &str) {
        assert_eq!(access.scopes.clone().and_challenged(challenged).to_string(), want);
    }

    #[test]
    fn scopes_name_what_is_needed_and_what_the_registry_asks_for() {
        let repository: RepositoryRef = "a.test/x/y".parse().unwrap();
        check(&RequestedAccess::pull(&repository), "", "repository:x/y:pull");
        check(&RequestedAccess::push(&repository), "", "repository:x/y:pull,push");
        check(&RequestedAccess::delete(&repository), "", "repository:x/y:delete,pull,push");
        check(&RequestedAccess::mount(&repository, "z"), "", "repository:x/y:pull,push repository:z:pull");
        check(&RequestedAccess::mount(&repository, "x/y"), "", "repository:x/y:pull,push");
        check(&RequestedAccess::pull(&repository), "repository:x/y:pull", "repository:x/y:pull");
        check(
            &RequestedAccess::pull(&repository),
            "repository:x/y:metadata_read,pull",
            "repository:x/y:metadata_read,pull",
        );
        check(&RequestedAccess::pull(&repository), "registry:catalog:* junk", "registry:catalog:* repository:x/y:pull");
        check(&RequestedAccess::pull(&repository), &"x:y ".repeat(1000), "repository:x/y:pull");
    }
}
