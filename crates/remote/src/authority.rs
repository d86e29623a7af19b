//! What a request shows to a registry that asks for authentication, and what follows the refusal of a credential.
//!
//! The first request to a repository goes out bare. Its challenge names the scheme; from then on every request to that
//! repository carries what the scheme gives, so that a run costs one 401 per repository, and nothing is shown to a repository
//! that did not ask. Tokens live in memory, keyed by repository, realm, service and scopes, and several requests that
//! need the same one wait for one answer. If a credential is refused, its provider is asked whether there is another one now.

use std::sync::Arc;

use reqwest::header::HeaderValue;
use tofu_oci_credentials::Credential;
use tofu_oci_http::{HeldUrl, bearer, clean, shown_url};
use tofu_oci_store::{AccessFault, StoreError};
use url::Url;

use crate::access_memory::AccessMemory;
use crate::answer::RegistryAnswer;
use crate::auth_scheme::{AuthScheme, ChallengeStage, choose};
use crate::challenge::parse;
use crate::credential::{CredentialFault, CredentialProvider};
use crate::exchange::{Exchange, ShownCredential};
use crate::fault::realm_refused;
use crate::known_credential::FoundCredential;
use crate::network::RegistryNetwork;
use crate::refresh::RefreshTokens;
use crate::scope::{AccessSubject, RequestedAccess};
use crate::token_request::{AccessToken, Asker, TokenRequest, basic};

/// Credentials, tokens, and what registries have asked for.
pub(crate) struct Authorizer {
    source: CredentialSource,
    memory: AccessMemory,
    refresh: RefreshTokens,
}

/// Where credentials come from.
pub(crate) enum CredentialSource {
    /// Looked up for each repository.
    Provider(Arc<dyn CredentialProvider>),
    /// This one, or none, whatever the repository.
    Given(Option<Credential>),
}

/// What a request shows.
#[derive(Clone)]
pub(crate) struct ShownProof {
    pub(crate) value: HeaderValue,
    pub(crate) shown: ShownCredential,
    /// Whether it comes from a credential.
    pub(crate) named: bool,
    /// Whether it says itself that it grants less than was asked for.
    pub(crate) short: bool,
    /// Whether it was obtained for this very request: there is no newer one.
    pub(crate) fresh: bool,
    /// The lookup that brought the credential.
    lookup: u64,
}

impl ShownProof {
    /// In answer to a challenge: only a token server's token can be renewed, so that a second refusal of anything else is final.
    fn for_a_challenge(mut self) -> Self {
        self.fresh |= self.shown != ShownCredential::Token;
        self
    }
}

/// The answer to a challenge.
pub(crate) enum Reply {
    /// The request is made again with this.
    Show(ShownProof),
    /// Nothing (else) can be shown, perhaps for this reason: the answer is final.
    Nothing(Option<AccessFault>),
}

impl Authorizer {
    pub(crate) fn new(source: CredentialSource) -> Self {
        Self { source, memory: AccessMemory::default(), refresh: RefreshTokens::default() }
    }

    /// What a request shows, as far as the scheme is known.
    pub(crate) async fn proof(
        &self,
        network: &RegistryNetwork,
        root: &Url,
        access: &RequestedAccess,
    ) -> Result<Option<ShownProof>, StoreError> {
        let scheme = self.memory.scheme(&access.subject);
        match scheme {
            Some((scheme, nearest)) => {
                let registry = HeldUrl { url: root.clone(), nearest };
                self.show(network, &registry, access, &scheme, None).await
            }
            None => Ok(None),
        }
    }

    /// What the request shows when it is made again after a 401.
    pub(crate) async fn challenged(
        &self,
        network: &RegistryNetwork,
        root: &Url,
        access: &RequestedAccess,
        answer: &RegistryAnswer,
        sent: Option<&ShownProof>,
    ) -> Result<Reply, StoreError> {
        let lines = answer.challenges();
        let challenges = parse(lines.iter().map(String::as_str));
        let asked = if sent.is_some() { ChallengeStage::Again } else { ChallengeStage::First };
        let chosen = choose(&challenges, root, asked, &network.hosts.named);
        let chosen = chosen.map_err(|refusal| realm_refused(network, access.subject.place(), refusal))?;
        let Some(chosen) = chosen else { return Ok(Reply::Nothing(None)) };
        if let Some(scope) = chosen.scope {
            self.memory.ask_for(access, scope);
        }
        let scheme = chosen.scheme;
        network.saw(|| saw_scheme(&scheme));
        let registry = HeldUrl { url: root.clone(), ..answer.held_url() };
        self.memory.keep_scheme(&access.subject, scheme.clone(), registry.nearest);
        let proof = self.show(network, &registry, access, &scheme, sent).await?.map(ShownProof::for_a_challenge);
        Ok(match proof {
            Some(proof) if sent.is_none_or(|sent| sent.value != proof.value) => Reply::Show(proof),
            // It was shown before it was asked for, and there is nothing newer: the registry may contradict itself.
            Some(proof) if proof.shown != ShownCredential::Token && sent.is_some_and(|sent| !sent.fresh) => {
                Reply::Show(proof)
            }
            Some(_) => Reply::Nothing(None),
            None => {
                let fault = AccessFault::NoCredentialsForBasic;
                let problem = || "the registry asks for a name and a password, and there are none".to_owned();
                network.saw(|| Exchange::Refused { code: fault.with_status(), problem: problem() });
                Reply::Nothing(Some(fault))
            }
        })
    }

    /// Whether there is another credential than what was shown and refused. Its provider is asked.
    pub(crate) async fn renew(
        &self,
        network: &RegistryNetwork,
        access: &RequestedAccess,
        refused: &ShownProof,
    ) -> Result<bool, StoreError> {
        self.is_renewed(network, &access.subject, refused.lookup).await
    }

    /// What the scheme gives, with another credential if the token server refuses the one that is known; `None` for Basic
    /// without a login.
    async fn show(
        &self,
        network: &RegistryNetwork,
        registry: &HeldUrl,
        access: &RequestedAccess,
        scheme: &AuthScheme,
        refused: Option<&ShownProof>,
    ) -> Result<Option<ShownProof>, StoreError> {
        let found = self.credential(network, &access.subject).await?;
        let lookup = found.lookup;
        let shown = self.show_found(network, registry, access, scheme, found, refused).await;
        let is_refused = matches!(shown, Ok(None) | Err(StoreError::Unauthorized { .. } | StoreError::Denied { .. }));
        if is_refused && self.is_renewed(network, &access.subject, lookup).await? {
            let found = self.credential(network, &access.subject).await?;
            return self.show_found(network, registry, access, scheme, found, refused).await;
        }
        shown
    }

    /// What the scheme gives with this credential.
    async fn show_found(
        &self,
        network: &RegistryNetwork,
        registry: &HeldUrl,
        access: &RequestedAccess,
        scheme: &AuthScheme,
        FoundCredential { credential, lookup }: FoundCredential,
        refused: Option<&ShownProof>,
    ) -> Result<Option<ShownProof>, StoreError> {
        let credential = credential.filter(|credential| !is_blank(credential));
        let named = credential.is_some();
        let fault = |code: &str, problem: &str| {
            network.saw(|| Exchange::Refused { code: code.to_owned(), problem: problem.to_owned() });
            let (code, problem) = (code.to_owned(), problem.to_owned());
            StoreError::Credentials { place: access.subject.place(), code, problem, hint: None }
        };
        let AuthScheme::Bearer { realm, service } = scheme else {
            return with_password(credential.as_ref(), lookup).map_err(|only| {
                let problem = format!("the registry asks for a name and a password, and there is only {only}");
                fault("incomplete-basic", &problem)
            });
        };
        let asker = match &credential {
            None => Asker::Nobody,
            Some(Credential::Basic { username, password }) => Asker::Login { username, password },
            Some(Credential::IdentityToken(token)) => Asker::Refresh(token),
            Some(Credential::RegistryToken(token)) => {
                let unusable =
                    || fault("token-unusable", "the access token holds characters that no request can carry");
                let value = bearer(token).ok_or_else(unusable)?;
                return Ok(Some(ShownProof {
                    value,
                    shown: ShownCredential::RegistryToken,
                    named,
                    short: false,
                    fresh: false,
                    lookup,
                }));
            }
        };
        let scopes = self.memory.scopes(access);
        let place = access.subject.place();
        let tokens = &self.refresh;
        let service = service.as_deref();
        let request = TokenRequest { realm, service, scopes: &scopes, asker, registry, place: &place, tokens };
        let (token, fresh) = self.token(network, &access.subject, &request, refused).await?;
        Ok(Some(ShownProof {
            value: token.header,
            shown: ShownCredential::Token,
            named,
            short: token.short,
            fresh,
            lookup,
        }))
    }

    /// A token that is not the refused one, and whether it was asked for now.
    async fn token(
        &self,
        network: &RegistryNetwork,
        subject: &AccessSubject,
        request: &TokenRequest<'_>,
        refused: Option<&ShownProof>,
    ) -> Result<(AccessToken, bool), StoreError> {
        let slot = self.memory.token(subject, request);
        let before = slot.try_lock().map(|slot| slot.attempts).ok();
        let mut slot = slot.lock().await;
        let is_refused = |token: &AccessToken| refused.is_some_and(|refused| refused.value == token.header);
        let usable = slot.token.as_ref().filter(|token| token.is_usable() && !is_refused(token));
        if let Some(token) = usable {
            return Ok((token.clone(), false));
        }
        // Another request asked meanwhile, and was refused: asking once more would lock accounts.
        if before != Some(slot.attempts)
            && let Some(failure) = &slot.failure
        {
            return Err(failure.clone());
        }
        slot.attempts += 1;
        // If this attempt is dropped halfway, no other request may take an older failure for its own.
        slot.failure = None;
        let outcome = request.fetch(network).await;
        slot.token = outcome.as_ref().ok().cloned();
        slot.failure = outcome.as_ref().err().cloned();
        outcome.map(|token| (token, true))
    }

    async fn credential(
        &self,
        network: &RegistryNetwork,
        subject: &AccessSubject,
    ) -> Result<FoundCredential, StoreError> {
        let without = |credential| FoundCredential { credential, lookup: 0 };
        let provider = match &self.source {
            CredentialSource::Given(credential) => return Ok(without(credential.clone())),
            CredentialSource::Provider(provider) => provider,
        };
        let AccessSubject::Repository(repository) = subject else { return Ok(without(None)) };
        let known = self.memory.credential(subject);
        let (found, has_changed) = known.lock().await.current(provider.as_ref(), repository).await;
        if has_changed {
            self.memory.forget_tokens(subject);
        }
        found.map_err(|fault| no_credential(network, subject, fault))
    }

    /// Whether there is another credential than that of this lookup.
    async fn is_renewed(
        &self,
        network: &RegistryNetwork,
        subject: &AccessSubject,
        refused: u64,
    ) -> Result<bool, StoreError> {
        let (CredentialSource::Provider(provider), AccessSubject::Repository(repository)) = (&self.source, subject)
        else {
            return Ok(false);
        };
        let known = self.memory.credential(subject);
        let (renewed, has_changed) = known.lock().await.renew(provider.as_ref(), repository, refused).await;
        if has_changed {
            self.memory.forget_tokens(subject);
        }
        renewed.map_err(|fault| no_credential(network, subject, fault))
    }
}

fn no_credential(network: &RegistryNetwork, subject: &AccessSubject, fault: CredentialFault) -> StoreError {
    let CredentialFault { code, problem, hint } = fault;
    network.saw(|| Exchange::Refused { code: code.clone(), problem: problem.clone() });
    StoreError::Credentials { place: subject.place(), code, problem, hint }
}

/// Whether the credential is empty, which is the same as no credential.
fn is_blank(credential: &Credential) -> bool {
    match credential {
        Credential::Basic { username, password } => username.is_empty() && password.is_empty(),
        Credential::IdentityToken(token) | Credential::RegistryToken(token) => token.is_empty(),
    }
}

/// What a Basic challenge is answered with; `None` without a credential.
///
/// # Errors
/// What the user has instead of a name and a password.
fn with_password(credential: Option<&Credential>, lookup: u64) -> Result<Option<ShownProof>, &'static str> {
    match credential {
        None => Ok(None),
        Some(Credential::Basic { password, .. }) if password.is_empty() => Err("a name"),
        Some(Credential::Basic { username, .. }) if username.is_empty() => Err("a password"),
        Some(Credential::Basic { username, password }) => {
            let shown = ShownCredential::Basic { username: username.clone() };
            Ok(basic(username, password).map(|value| ShownProof {
                value,
                shown,
                named: true,
                short: false,
                fresh: false,
                lookup,
            }))
        }
        Some(Credential::IdentityToken(_)) => Err("an identity token"),
        Some(Credential::RegistryToken(_)) => Err("an access token"),
    }
}

fn saw_scheme(scheme: &AuthScheme) -> Exchange {
    match scheme {
        AuthScheme::Basic => Exchange::AuthScheme { scheme: "basic", realm: None, service: None },
        AuthScheme::Bearer { realm, service } => {
            let service = service.as_deref().map(clean);
            Exchange::AuthScheme { scheme: "bearer", realm: Some(shown_url(realm)), service }
        }
    }
}
