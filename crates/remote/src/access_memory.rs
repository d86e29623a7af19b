//! What is remembered about access: the scheme, the credential and the tokens of each repository.
//!
//! A server asks for whatever repositories its clients name. So everything here has a bound, and what was used longest ago
//! is forgotten: it costs one more challenge.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tofu_oci_http::{AddressScope, RecentMap};
use tofu_oci_store::StoreError;
use url::Url;

use crate::auth_scheme::AuthScheme;
use crate::known_credential::KnownCredential;
use crate::scope::{AccessSubject, RequestedAccess, Scopes};
use crate::token_request::{AccessToken, TokenRequest};

/// How many repositories are remembered at most.
const MOST_SUBJECTS: usize = 1024;

/// How many tokens of one repository are remembered at most: one for each set of scopes.
const MOST_TOKENS: usize = 64;

/// What is known of the access to repositories.
pub(crate) struct AccessMemory(Mutex<RecentMap<AccessSubject, KnownAccess>>);

struct KnownAccess {
    /// The authentication that the registry asks for, and how near its token server may be.
    scheme: Option<(AuthScheme, AddressScope)>,
    credential: Arc<tokio::sync::Mutex<KnownCredential>>,
    /// Scopes that a registry asked for beyond those of the request.
    asked: RecentMap<Scopes, Scopes>,
    tokens: RecentMap<TokenKey, Arc<tokio::sync::Mutex<TokenSlot>>>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct TokenKey {
    realm: Url,
    service: Option<String>,
    scopes: Scopes,
}

/// One token and the last attempt to get it. Requests that waited for an attempt share its outcome.
#[derive(Default)]
pub(crate) struct TokenSlot {
    pub(crate) token: Option<AccessToken>,
    pub(crate) attempts: u64,
    pub(crate) failure: Option<StoreError>,
}

impl Default for AccessMemory {
    fn default() -> Self {
        Self(Mutex::new(RecentMap::new(MOST_SUBJECTS)))
    }
}

impl Default for KnownAccess {
    fn default() -> Self {
        Self {
            scheme: None,
            credential: Arc::default(),
            asked: RecentMap::new(MOST_TOKENS),
            tokens: RecentMap::new(MOST_TOKENS),
        }
    }
}

impl AccessMemory {
    /// How the registry wants to be asked, if it has said that.
    pub(crate) fn scheme(&self, subject: &AccessSubject) -> Option<(AuthScheme, AddressScope)> {
        self.all().get(subject)?.scheme.clone()
    }

    pub(crate) fn keep_scheme(&self, subject: &AccessSubject, scheme: AuthScheme, nearest: AddressScope) {
        self.all().get_or_insert(subject, KnownAccess::default).scheme = Some((scheme, nearest));
    }

    /// The credential as it was looked up last.
    pub(crate) fn credential(&self, subject: &AccessSubject) -> Arc<tokio::sync::Mutex<KnownCredential>> {
        Arc::clone(&self.all().get_or_insert(subject, KnownAccess::default).credential)
    }

    /// Forgets the tokens that another credential has got.
    pub(crate) fn forget_tokens(&self, subject: &AccessSubject) {
        if let Some(known) = self.all().get(subject) {
            known.tokens.clear();
        }
    }

    /// The scopes of a token: what the request needs and what the registry has asked for in addition.
    pub(crate) fn scopes(&self, access: &RequestedAccess) -> Scopes {
        let mut all = self.all();
        let asked = all.get(&access.subject).and_then(|known| known.asked.get(&access.scopes));
        asked.map_or_else(|| access.scopes.clone(), |asked| asked.clone())
    }

    /// Remembers the scopes of a challenge, beside what was asked for earlier.
    pub(crate) fn ask_for(&self, access: &RequestedAccess, scope: &str) {
        let known = self.scopes(access);
        let asked = known.clone().and_challenged(scope);
        if asked != known {
            let mut all = self.all();
            let known = all.get_or_insert(&access.subject, KnownAccess::default);
            *known.asked.get_or_insert(&access.scopes, Scopes::default) = asked;
        }
    }

    /// The place of the token that is asked for.
    pub(crate) fn token(
        &self,
        subject: &AccessSubject,
        request: &TokenRequest<'_>,
    ) -> Arc<tokio::sync::Mutex<TokenSlot>> {
        let key = TokenKey {
            realm: request.realm.clone(),
            service: request.service.map(str::to_owned),
            scopes: request.scopes.clone(),
        };
        let mut all = self.all();
        let known = all.get_or_insert(subject, KnownAccess::default);
        Arc::clone(known.tokens.get_or_insert(&key, Arc::default))
    }

    fn all(&self) -> MutexGuard<'_, RecentMap<AccessSubject, KnownAccess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_that_clients_made_up_were_remembered_for_good() {
        let memory = AccessMemory::default();
        for nth in 0..2 * MOST_SUBJECTS {
            let access = RequestedAccess::pull(&format!("a.test/made-up/{nth}").parse().unwrap());
            memory.keep_scheme(&access.subject, AuthScheme::Basic, AddressScope::Machine);
            for scope in 0..2 * MOST_TOKENS {
                memory.ask_for(&access, &format!("repository:x/{scope}:pull"));
            }
        }
        assert_eq!(memory.all().iter().count(), MOST_SUBJECTS);
        assert!(memory.all().iter().all(|(_, known)| known.asked.iter().count() <= MOST_TOKENS));
    }
}
