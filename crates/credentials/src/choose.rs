//! Which credential a repository gets: the choice among all sources.
//!
//! ```text
//! every source in the order looked at --> Considered { origin, claim } --> the refusals, or the best claim --> Choice
//! ```

use std::cmp::Reverse;

use tofu_oci_types::RepositoryRef;

use crate::entry::EntryValue;
use crate::file::{AuthEntry, AuthFile, FileState, NamedHelper};
use crate::key::{self, HUB, HUB_V1, Match, Specificity};
use crate::lookup::{Candidate, CandidateVerdict, Choice, ChoiceError, CredentialLookup, CredentialOrigin, HelperCall};
use crate::near_miss::{KeyOf, NearMiss, near_miss};
use crate::paths::FileKind;
use crate::place::FilePlace;
use crate::policy::{Block, BlockStyle, CredentialPolicy, DefaultHelper};
use crate::{Credential, HelperName};

/// A source, and what it would give.
struct Considered {
    origin: CredentialOrigin,
    /// What became of it if it claims nothing.
    aside: (Option<Specificity>, CandidateVerdict),
    claim: Option<Claim>,
}

/// A source that fits.
struct Claim {
    fits: Match,
    /// Blocks are one group, the default helper another, then each file; the earlier wins.
    group: usize,
    kind: SourceKind,
    /// Whether the key is written exactly as it is read.
    exact: bool,
    gives: Gives,
}

/// In one file, `auths` wins over `credHelpers`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SourceKind {
    Entry,
    Helper,
}

enum Gives {
    Nothing,
    Credential(Credential),
    Helper(HelperCall),
    /// An error only if this claim would win.
    BadHelper(ChoiceError),
    /// An error whenever the key fits.
    Refusal(ChoiceError),
}

impl CredentialPolicy {
    /// What is chosen for a repository, and everything that was considered.
    ///
    /// The longest prefix of whole path segments wins, then a block before the default helper before the files in
    /// their order, then inside one file `auths` before `credHelpers`; helpers for every registry come last.
    ///
    /// Spec: `OpenTofu` 1.12, ociauthconfig (specificity); measured on 1.10 to 1.13.
    pub fn look_up(&self, repository: &RepositoryRef) -> CredentialLookup {
        let mut considered: Vec<Considered> =
            self.blocks().iter().map(|block| Considered::block(block, repository)).collect();
        considered.extend(self.default_helper().map(|helper| Considered::default(helper, repository)));
        for (position, found) in self.files().iter().enumerate() {
            if let FileState::Read(file) = &found.state {
                considered.extend(of_file(file, found.kind, 2 + position, repository));
            }
        }
        drop_other_hub_names(&mut considered, repository);
        choose(considered, repository)
    }
}

/// A source that `OpenTofu` finds too wins over other names of the Hub. `OpenTofu` asks nothing for `docker.io`, so there
/// all names are equal.
fn drop_other_hub_names(considered: &mut [Considered], repository: &RepositoryRef) {
    let under_its_own = |source: &Considered| source.claim.as_ref().is_some_and(|claim| claim.fits.alias == 0);
    if repository.registry() == HUB || !considered.iter().any(under_its_own) {
        return;
    }
    for source in considered {
        if source.claim.as_ref().is_some_and(|claim| claim.fits.alias > 0) {
            source.claim = None;
            source.aside = (None, CandidateVerdict::NoMatch(Some(NearMiss::HubName(repository.registry().to_owned()))));
        }
    }
}

fn choose(considered: Vec<Considered>, repository: &RepositoryRef) -> CredentialLookup {
    let refusal = considered.iter().find_map(|source| match &source.claim.as_ref()?.gives {
        Gives::Refusal(error) => Some(error.clone()),
        _ => None,
    });
    let claims = considered.iter().enumerate().filter_map(|(at, source)| Some((at, source.claim.as_ref()?)));
    let winner = claims.max_by_key(|(at, claim)| claim.rank(*at)).map(|(at, _)| at).filter(|_| refusal.is_none());
    let mut choice = refusal.map_or(Choice::Anonymous, Choice::Refused);
    let mut candidates = Vec::new();
    for (at, Considered { origin, aside, claim }) in considered.into_iter().enumerate() {
        let (fit, verdict) = match claim {
            None => aside,
            Some(Claim { fits, gives, .. }) => {
                let verdict = match gives {
                    Gives::Refusal(error) => CandidateVerdict::Broken(error),
                    Gives::BadHelper(error) if winner == Some(at) => {
                        choice = Choice::Refused(error.clone());
                        CandidateVerdict::Broken(error)
                    }
                    gives if winner == Some(at) => {
                        choice = chosen(gives, &origin);
                        CandidateVerdict::Chosen
                    }
                    _ => CandidateVerdict::Outranked,
                };
                (Some(fits.fit), verdict)
            }
        };
        candidates.push(Candidate { origin, fit, verdict });
    }
    CredentialLookup { repository: repository.clone(), candidates, choice }
}

fn chosen(gives: Gives, origin: &CredentialOrigin) -> Choice {
    match gives {
        Gives::Nothing => Choice::Anonymous,
        Gives::Credential(credential) => Choice::Credential { credential, origin: origin.clone() },
        Gives::Helper(call) => Choice::Ask { call, origin: origin.clone() },
        Gives::BadHelper(error) | Gives::Refusal(error) => Choice::Refused(error),
    }
}

impl Claim {
    /// The greatest wins.
    fn rank(&self, at: usize) -> impl Ord + use<> {
        (self.fits.fit, Reverse((self.group, self.kind, self.fits.alias)), self.exact, Reverse(at))
    }
}

impl Considered {
    fn block(block: &Block, repository: &RepositoryRef) -> Self {
        let (label, place) = (key::shown(&block.label), block.place.clone());
        let origin = CredentialOrigin::Block { label: label.clone(), place: place.clone() };
        let gives = || match &block.style {
            BlockStyle::Basic { username, password } => {
                Gives::Credential(Credential::Basic { username: username.clone(), password: password.clone() })
            }
            BlockStyle::Token { access } => Gives::Credential(Credential::RegistryToken(access.clone())),
            BlockStyle::Helper(helper) => Gives::Helper(call(helper.clone(), repository, None)),
            BlockStyle::Undecided { argument } => {
                Gives::Refusal(ChoiceError::StyleUndecided { label, place, argument })
            }
        };
        let claim = key::matches(&block.label, repository).map(|fits| Claim {
            fits,
            group: 0,
            kind: SourceKind::Entry,
            // Of two labels that are read alike, the first block counts.
            exact: true,
            gives: gives(),
        });
        Self { origin, aside: missed(&block.label, KeyOf::Prefix, repository), claim }
    }

    fn default(default: &DefaultHelper, repository: &RepositoryRef) -> Self {
        let gives = Gives::Helper(call(default.helper.clone(), repository, None));
        let origin = CredentialOrigin::DefaultHelper { name: default.helper.to_string(), place: default.place.clone() };
        Self { origin, aside: (None, CandidateVerdict::NoMatch(None)), claim: Some(Claim::store(1, gives)) }
    }
}

impl Claim {
    /// Of a helper that serves every registry.
    fn store(group: usize, gives: Gives) -> Self {
        Self { fits: Match { fit: Specificity::Store, alias: 0 }, group, kind: SourceKind::Helper, exact: true, gives }
    }
}

fn of_file(file: &AuthFile, kind: FileKind, group: usize, repository: &RepositoryRef) -> Vec<Considered> {
    let place = |line| FilePlace { file: file.name.clone(), line: Some(line) };
    let mut considered: Vec<Considered> =
        file.auths.iter().map(|entry| of_entry(entry, place(entry.line), group, repository)).collect();
    let gives = |named: &NamedHelper, origin: &CredentialOrigin| {
        let Some(helper) = named.helper() else {
            let name = key::shown(&named.name);
            return Gives::BadHelper(ChoiceError::InvalidHelperName { name, origin: origin.clone() });
        };
        Gives::Helper(call(helper, repository, Some((file, kind, named))))
    };
    for named in file.helpers.iter().filter(|named| !named.name.is_empty()) {
        let (key, name) = (key::shown(&named.key), key::shown(&named.name));
        let origin = CredentialOrigin::CredHelper { key, name, place: place(named.line) };
        let claim = key::matches_helper(&named.key, repository).map(|fits| Claim {
            fits,
            group,
            kind: SourceKind::Helper,
            exact: true,
            gives: gives(named, &origin),
        });
        considered.push(Considered { origin, aside: missed(&named.key, KeyOf::Helper, repository), claim });
    }
    if let Some(store) = file.store.as_ref().filter(|store| !store.name.is_empty()) {
        let origin = CredentialOrigin::CredsStore { name: key::shown(&store.name), place: place(store.line) };
        let claim = Some(Claim::store(group, gives(store, &origin)));
        considered.push(Considered { origin, aside: (None, CandidateVerdict::NoMatch(None)), claim });
    }
    considered
}

/// Secrets of Kubernetes may have such entries.
const UNENCODED: &str = "its `username` and `password` count only as `auth`, the base64 of username:password";

fn of_entry(entry: &AuthEntry, place: FilePlace, group: usize, repository: &RepositoryRef) -> Considered {
    let key = key::shown(&entry.key);
    let origin = CredentialOrigin::Auth { key: key.clone(), place: place.clone() };
    let Some(fits) = key::matches(&entry.key, repository) else {
        return Considered { origin, aside: missed(&entry.key, KeyOf::Prefix, repository), claim: None };
    };
    let gives = match entry.held() {
        EntryValue::Mark if entry.has_password => {
            let verdict = CandidateVerdict::LeftOut(UNENCODED.to_owned());
            return Considered { origin, aside: (Some(fits.fit), verdict), claim: None };
        }
        EntryValue::Mark => {
            return Considered { origin, aside: (Some(fits.fit), CandidateVerdict::Empty), claim: None };
        }
        EntryValue::LeftOut(problem) => {
            let verdict = CandidateVerdict::LeftOut(problem.to_owned());
            return Considered { origin, aside: (Some(fits.fit), verdict), claim: None };
        }
        EntryValue::WithoutColon => Gives::Refusal(ChoiceError::AuthWithoutColon { key, place }),
        EntryValue::Nothing => Gives::Nothing,
        EntryValue::Credential(credential) => Gives::Credential(credential),
    };
    let claim = Claim { fits, group, kind: SourceKind::Entry, exact: key::is_exact(&entry.key), gives };
    Considered { origin, aside: (None, CandidateVerdict::NoMatch(None)), claim: Some(claim) }
}

fn missed(key: &str, of: KeyOf, repository: &RepositoryRef) -> (Option<Specificity>, CandidateVerdict) {
    (None, CandidateVerdict::NoMatch(near_miss(key, of, repository)))
}

/// What to ask a helper: the registry as a URL, then the keys under which other programs store logins. The file that
/// names the helper shows these keys: the address that `docker login` marked, and in podman's file the key of
/// `credHelpers`.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, for the URL; measured on `docker login`, `skopeo login` for the others.
fn call(
    helper: HelperName,
    repository: &RepositoryRef,
    named: Option<(&AuthFile, FileKind, &NamedHelper)>,
) -> HelperCall {
    let registry = repository.registry();
    let mut servers = vec![if registry == HUB { HUB_V1.to_owned() } else { format!("https://{registry}") }];
    if let Some((file, kind, named)) = named {
        let marks = file.auths.iter().filter(|entry| entry.held() == EntryValue::Mark);
        let ranked = marks.filter_map(|entry| Some((key::marks(&entry.key, registry)?, &entry.key)));
        let marked = ranked.min_by_key(|(rank, _)| *rank).map(|(_, key)| key);
        let key = (kind == FileKind::Containers && !named.key.is_empty()).then_some(&named.key);
        for server in marked.into_iter().chain(key) {
            if !servers.contains(server) {
                servers.push(server.clone());
            }
        }
    }
    HelperCall { helper, servers }
}

#[cfg(test)]
pub(crate) mod tests;
