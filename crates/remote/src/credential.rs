//! Where a client gets credentials from.

use async_trait::async_trait;
use tofu_oci_credentials::Credential;
use tofu_oci_types::RepositoryRef;

/// Finds the credential of a repository. Asked once for each repository, and only when its registry wants one.
#[async_trait]
pub trait CredentialProvider: Send + Sync {
    /// The credential; `None` if the user has none for it, and the registry is then asked anonymously.
    ///
    /// # Errors
    /// If a credential is configured and could not be obtained.
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault>;
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
