//! Whether access would be given, found out with as few requests as it takes.

use std::sync::Arc;

use reqwest::Method;
use serde::Serialize;
use tofu_oci_credentials::Credential;
use tofu_oci_store::{StoreError, StoreItem};
use tofu_oci_types::RepositoryRef;

use crate::call::RegistryCall;
use crate::client::RegistryClient;
use crate::exchange::shown_challenge;
use crate::repository::RemoteStore;
use crate::scope::RequestedAccess;

/// The access to a repository that somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    /// To read it.
    Pull,
    /// To write to it.
    Push,
}

impl AccessKind {
    /// `pull` or `push`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "push",
        }
    }
}

/// What a registry answered to a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Probe {
    Granted,
    /// Access is given, and the repository does not exist.
    NoSuchRepository,
}

/// What a registry answered at its root, without a credential.
#[derive(Clone, Debug)]
pub struct RegistryPing {
    pub status: u16,
    /// The values of its `WWW-Authenticate`, at most 1 KiB each.
    pub challenges: Vec<String>,
}

/// What a registry answered to a login.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoginCheck {
    /// It asked for credentials and took these.
    Accepted,
    /// It asks for no credentials, and these were not shown.
    NotAsked,
}

impl RegistryClient {
    /// Asks whether a repository may be read or written, without changing anything: reading asks for one tag, writing
    /// opens an upload and gives it up.
    ///
    /// # Errors
    /// Why access is not given.
    pub async fn probe(self: &Arc<Self>, repository: &RepositoryRef, want: AccessKind) -> Result<Probe, StoreError> {
        let store = self.store(repository.clone());
        let probe = match want {
            AccessKind::Pull => store.probe_pull().await,
            AccessKind::Push => store.probe_push().await,
        };
        probe.map_err(|error| store.scrub(error))
    }

    /// `GET /v2/`, bare and once. Nothing else here makes this request; some releases of `OpenTofu` begin with it. A
    /// challenge is not answered: how it would be shows in what the pull came to.
    ///
    /// # Errors
    /// When the registry cannot be reached.
    pub async fn ping(self: &Arc<Self>, registry: &str) -> Result<RegistryPing, StoreError> {
        let access = RequestedAccess::registry(registry);
        let call = RegistryCall::new(Method::GET, "/v2/", &access).bare().once();
        let answer = self.send(&call).await.map_err(|error| self.network.scrub(error))?;
        let challenges =
            answer.challenges().iter().map(|line| shown_challenge(line, self.network.scrubber())).collect();
        Ok(RegistryPing { status: answer.status(), challenges })
    }

    /// Shows a login to a registry.
    ///
    /// # Errors
    /// [`StoreError::Unauthorized`] or [`StoreError::Denied`] when it is refused.
    pub async fn check_login(
        self: &Arc<Self>,
        registry: &str,
        credential: &Credential,
    ) -> Result<LoginCheck, StoreError> {
        let other = self.with_credential(Some(credential.clone()));
        let access = RequestedAccess::registry(registry);
        let hidden = |error| self.network.scrub(error);
        let answer = other.send(&RegistryCall::new(Method::GET, "/v2/", &access)).await.map_err(hidden)?;
        match answer.status() {
            200..=299 if answer.named => Ok(LoginCheck::Accepted),
            200..=299 => Ok(LoginCheck::NotAsked),
            _ => Err(self.network.scrub(answer.into_error(StoreItem::Other("API root")).await)),
        }
    }
}

impl RemoteStore {
    async fn probe_pull(&self) -> Result<Probe, StoreError> {
        let answer =
            self.client.send(&RegistryCall::new(Method::GET, self.path("tags", "list?n=1"), &self.pull)).await?;
        match answer.status() {
            200..=299 => Ok(Probe::Granted),
            404 if !answer.crossed => Ok(Probe::NoSuchRepository),
            _ => Err(answer.into_error(StoreItem::Other("list of tags")).await),
        }
    }

    async fn probe_push(&self) -> Result<Probe, StoreError> {
        let answer =
            self.client.send(&RegistryCall::new(Method::POST, self.path("blobs", "uploads/"), &self.push)).await?;
        match answer.status() {
            200..=299 => {
                self.cancel(self.location(&answer)?).await;
                Ok(Probe::Granted)
            }
            _ => Err(self.write_error(answer).await),
        }
    }
}
