//! Where a client gets credentials from.

use async_trait::async_trait;
use tofu_oci_credentials::Credential;
use tofu_oci_types::RepositoryRef;

/// Finds the credential of a repository. Asked only when its registry wants one, and seldom: what it gives is remembered
/// for a time.
#[async_trait]
pub trait CredentialProvider: Send + Sync {
    /// The credential; `None` if the user has none for it, and the registry is then asked anonymously.
    ///
    /// # Errors
    /// If a credential is configured and could not be obtained.
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault>;

    /// The credential after this one, or none, was refused. A provider whose answers can change looks it up anew.
    ///
    /// # Errors
    /// As [`CredentialProvider::credential`].
    async fn renewed(
        &self,
        repository: &RepositoryRef,
        _refused: Option<&Credential>,
    ) -> Result<Option<Credential>, CredentialFault> {
        self.credential(repository).await
    }
}

/// Why a credential that is configured could not be obtained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CredentialFault {
    /// A stable kebab-case name, such as `helper-failed`.
    pub code: String,
    /// A sentence for people: lower case, no full stop, no secret.
    pub problem: String,
    /// What helps, if that is known.
    pub hint: Option<String>,
}

/// No credentials: every request is anonymous.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoCredentials;

#[async_trait]
impl CredentialProvider for NoCredentials {
    async fn credential(&self, _repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        Ok(None)
    }
}
