//! The credentials of a process that outlives logins.
//!
//! A run reads files once and asks each helper once. A server does so again: once a minute, after a failure, and after a
//! credential was refused. Helpers that give short-lived secrets depend on it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_credentials::Credential;
use tofu_oci_remote::{CredentialFault, CredentialProvider};
use tofu_oci_types::{Event, Reporter, RepositoryRef};
use tokio::time::Instant;

use crate::resolver::CredentialResolver;

/// How long what was read counts.
const AGE: Duration = Duration::from_mins(1);

/// Reads the user's files once more; an error is a sentence for people.
pub type ReadLogins = Box<dyn Fn() -> Result<CredentialResolver, String> + Send + Sync>;

/// Credentials that follow the user's files and helpers.
pub struct LastingCredentials {
    read: ReadLogins,
    reporter: Arc<dyn Reporter>,
    last: Mutex<LastReading>,
    /// Whoever asks again does so alone; the others share the answer.
    renewing: tokio::sync::Mutex<()>,
}

struct LastReading {
    resolver: Arc<CredentialResolver>,
    at: Instant,
    /// Whether it is read again before it is used.
    is_spent: bool,
}

impl LastingCredentials {
    /// Begins with what was read just now.
    pub fn new(first: Arc<CredentialResolver>, read: ReadLogins, reporter: Arc<dyn Reporter>) -> Self {
        let last = LastReading { resolver: first, at: Instant::now(), is_spent: false };
        Self { read, reporter, last: Mutex::new(last), renewing: tokio::sync::Mutex::default() }
    }

    fn current(&self) -> Arc<CredentialResolver> {
        let mut last = self.last();
        if last.is_spent || last.at.elapsed() >= AGE {
            self.read_again(&mut last);
        }
        Arc::clone(&last.resolver)
    }

    /// Files that cannot be used change nothing: somebody may be writing them.
    fn read_again(&self, last: &mut LastReading) {
        match (self.read)() {
            Ok(resolver) => last.resolver = Arc::new(resolver),
            Err(problem) => {
                let text = format!("logins stay as they were read before: {problem}");
                self.reporter.event(&Event::warning("credential-file", text));
            }
        }
        (last.at, last.is_spent) = (Instant::now(), false);
    }

    fn last(&self) -> MutexGuard<'_, LastReading> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl CredentialProvider for LastingCredentials {
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        let resolver = self.current();
        let answer = resolver.answer(repository).await;
        if answer.is_err() {
            let mut last = self.last();
            last.is_spent |= Arc::ptr_eq(&last.resolver, &resolver);
        }
        answer
    }

    async fn renewed(
        &self,
        repository: &RepositoryRef,
        refused: Option<&Credential>,
    ) -> Result<Option<Credential>, CredentialFault> {
        let began = Instant::now();
        let _alone = self.renewing.lock().await;
        // Another repository's request may have read the files meanwhile.
        if self.last().at <= began {
            let answer = self.credential(repository).await;
            if answer.as_ref().ok().is_none_or(|answer| answer.as_ref() != refused) {
                return answer;
            }
            self.last().is_spent = true;
        }
        self.credential(repository).await
    }
}
