//! What is shown to registries that want to know who asks.
//!
//! The first request to a registry goes out bare. Its challenge tells the way; from then on every request carries
//! what that way gives, so that a run costs one 401 per registry. Tokens live in memory, keyed by registry,
//! repository, realm, service and scopes, and several requests that need the same one wait for one answer.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use reqwest::header::HeaderValue;
use tofu_oci_credentials::Credential;
use tofu_oci_store::StoreError;
use tofu_oci_types::RepositoryRef;
use tokio::sync::OnceCell;
use url::Url;

use crate::answer::Answer;
use crate::challenge::{Challenge, parse};
use crate::client::RegistryClient;
use crate::options::{CredentialFault, CredentialProvider};
use crate::origin::check_realm;
use crate::scope::{Access, Scopes, Subject};
use crate::token::{Token, TokenRequest, basic, bearer};

/// Credentials, tokens, and what registries have asked for.
pub(crate) struct Authority {
    source: Source,
    memory: Mutex<Memory>,
}

/// Where credentials come from.
pub(crate) enum Source {
    /// Asked for each repository.
    Provider(Arc<dyn CredentialProvider>),
    /// This one, or none, whatever the repository.
    Given(Option<Credential>),
}

#[derive(Default)]
struct Memory {
    ways: HashMap<String, Way>,
    credentials: HashMap<RepositoryRef, Arc<OnceCell<Option<Credential>>>>,
    /// Scopes that a registry asked for beyond those that we thought of.
    asked: HashMap<(Subject, Scopes), Scopes>,
    tokens: HashMap<TokenKey, Arc<tokio::sync::Mutex<Slot>>>,
}

/// How a registry wants to be told who asks.
#[derive(Clone, PartialEq, Eq)]
enum Way {
    Basic,
    Bearer { realm: Url, service: Option<String> },
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct TokenKey {
    subject: Subject,
    realm: Url,
    service: Option<String>,
    scopes: Scopes,
}

/// One token and the last attempt to get it. Those who waited for an attempt share its outcome.
#[derive(Default)]
struct Slot {
    token: Option<Token>,
    attempts: u64,
    failure: Option<StoreError>,
}

impl Authority {
    pub(crate) fn new(source: Source) -> Self {
        Self { source, memory: Mutex::default() }
    }

    /// What a request shows, as far as the registry's way is known.
    pub(crate) async fn header(
        &self,
        client: &RegistryClient,
        root: &Url,
        access: &Access,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let way = self.memory().ways.get(access.subject.registry()).cloned();
        match way {
            Some(way) => self.show(client, root, access, &way, None).await,
            None => Ok(None),
        }
    }

    /// What the request shows when it is made again after a 401; nothing when there is nothing else to show.
    pub(crate) async fn challenged(
        &self,
        client: &RegistryClient,
        root: &Url,
        access: &Access,
        answer: &Answer,
        sent: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let challenges = parse(answer.headers("www-authenticate"));
        let Some((way, challenge)) = choose(&challenges, root).map_err(|problem| forbidden(access, problem))? else {
            return Ok(None);
        };
        if let Some(scope) = challenge.parameter("scope") {
            let asked = access.scopes.clone().and_challenged(scope);
            if asked != access.scopes {
                let key = (access.subject.clone(), access.scopes.clone());
                self.memory().asked.insert(key, asked);
            }
        }
        self.memory().ways.insert(access.subject.registry().to_owned(), way.clone());
        let header = self.show(client, root, access, &way, sent).await?;
        Ok(header.filter(|header| Some(header) != sent))
    }

    async fn show(
        &self,
        client: &RegistryClient,
        root: &Url,
        access: &Access,
        way: &Way,
        refused: Option<&HeaderValue>,
    ) -> Result<Option<HeaderValue>, StoreError> {
        let credential = self.credential(&access.subject).await?;
        match (way, &credential) {
            (Way::Basic, Some(Credential::Basic { username, password })) => Ok(basic(username, password)),
            (Way::Basic, _) => Ok(None),
            (Way::Bearer { .. }, Some(Credential::RegistryToken(token))) => Ok(bearer(token.expose())),
            (Way::Bearer { realm, service }, credential) => {
                let scopes = self.scopes(access);
                let request = TokenRequest {
                    realm,
                    service: service.as_deref(),
                    scopes: &scopes,
                    credential: credential.as_ref(),
                    registry: root,
                    place: &access.subject.to_string(),
                };
                self.token(client, &access.subject, &request, refused).await.map(|token| Some(token.header))
            }
        }
    }

    /// The scopes of a token: what the request needs and what the registry once asked for in addition.
    fn scopes(&self, access: &Access) -> Scopes {
        let key = (access.subject.clone(), access.scopes.clone());
        self.memory().asked.get(&key).unwrap_or(&access.scopes).clone()
    }

    async fn token(
        &self,
        client: &RegistryClient,
        subject: &Subject,
        request: &TokenRequest<'_>,
        refused: Option<&HeaderValue>,
    ) -> Result<Token, StoreError> {
        let key = TokenKey {
            subject: subject.clone(),
            realm: request.realm.clone(),
            service: request.service.map(str::to_owned),
            scopes: request.scopes.clone(),
        };
        let slot = Arc::clone(self.memory().tokens.entry(key).or_default());
        let before = slot.try_lock().map(|slot| slot.attempts).ok();
        let mut slot = slot.lock().await;
        let usable = slot.token.as_ref().filter(|token| token.is_usable() && Some(&token.header) != refused);
        if let Some(token) = usable {
            return Ok(token.clone());
        }
        // Somebody else asked while we waited, and was refused: asking once more would lock accounts.
        if before != Some(slot.attempts)
            && let Some(failure) = &slot.failure
        {
            return Err(failure.clone());
        }
        slot.attempts += 1;
        let outcome = request.fetch(client).await;
        slot.token = outcome.as_ref().ok().cloned();
        slot.failure = outcome.as_ref().err().cloned();
        outcome
    }

    async fn credential(&self, subject: &Subject) -> Result<Option<Credential>, StoreError> {
        let provider = match &self.source {
            Source::Given(credential) => return Ok(credential.clone()),
            Source::Provider(provider) => provider,
        };
        let Subject::Repository(repository) = subject else { return Ok(None) };
        let cell = Arc::clone(self.memory().credentials.entry(repository.clone()).or_default());
        let found = cell.get_or_try_init(|| provider.credential(repository)).await;
        found.cloned().map_err(|fault| {
            let CredentialFault { code, problem, hint } = fault;
            StoreError::Credentials { place: repository.to_string(), code, problem, hint }
        })
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The way to go: the first bearer challenge whose realm may be asked, else Basic.
///
/// # Errors
/// Why the realm may not be asked, when there is no other way.
fn choose<'a>(challenges: &'a [Challenge], root: &Url) -> Result<Option<(Way, &'a Challenge)>, String> {
    let mut refusal = None;
    for challenge in challenges.iter().filter(|challenge| challenge.scheme == "bearer") {
        let Some(realm) = challenge.parameter("realm") else { continue };
        let checked = Url::parse(realm)
            .map_err(|_| "the registry names a token server whose address is none".to_owned())
            .and_then(|realm| check_realm(&realm, root).map(|()| realm));
        match checked {
            Ok(realm) => {
                let service = challenge.parameter("service").map(str::to_owned);
                return Ok(Some((Way::Bearer { realm, service }, challenge)));
            }
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    let basic = challenges.iter().find(|challenge| challenge.scheme == "basic");
    match (basic, refusal) {
        (Some(challenge), _) => Ok(Some((Way::Basic, challenge))),
        (None, Some(reason)) => Err(reason),
        (None, None) => Ok(None),
    }
}

fn forbidden(access: &Access, problem: String) -> StoreError {
    StoreError::Forbidden { place: access.subject.to_string(), fault: None, problem }
}
