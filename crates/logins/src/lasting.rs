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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tofu_oci_types::Secret;

    use super::*;
    use crate::access::Access;
    use crate::machine::HostMachine;
    use crate::machine::doubles::Doubles;

    /// Writes events down.
    #[derive(Default)]
    struct Warnings(Mutex<usize>);

    impl Reporter for Warnings {
        fn event(&self, _event: &Event) {
            *self.0.lock().unwrap() += 1;
        }
    }

    fn of_password(password: &str) -> CredentialResolver {
        let machine: Arc<dyn HostMachine> = Arc::new(Doubles::default());
        let (registry, username) = ("a.test".to_owned(), "ada".to_owned());
        let access = Access::As { registry, username, password: Secret::new(password) };
        CredentialResolver::by(&machine, &access, |_| Err(())).unwrap()
    }

    /// Logins of which the nth reading has the password `nth`; those of `broken` cannot be read.
    fn lasting(broken: &'static [usize]) -> (LastingCredentials, Arc<AtomicUsize>, Arc<Warnings>) {
        let (reads, warnings) = (Arc::new(AtomicUsize::new(0)), Arc::new(Warnings::default()));
        let count = Arc::clone(&reads);
        let read = move || match count.fetch_add(1, Ordering::SeqCst) + 1 {
            nth if broken.contains(&nth) => Err("it is being written".to_owned()),
            nth => Ok(of_password(&nth.to_string())),
        };
        let lasting = LastingCredentials::new(Arc::new(of_password("0")), Box::new(read), Arc::clone(&warnings) as _);
        (lasting, reads, warnings)
    }

    fn password(answer: Result<Option<Credential>, CredentialFault>) -> String {
        match answer {
            Ok(Some(Credential::Basic { password, .. })) => password.expose().to_owned(),
            other => format!("{other:?}"),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_secret_that_expired_stayed_until_the_restart() {
        let (lasting, reads, _) = lasting(&[]);
        let repository: RepositoryRef = "a.test/x".parse().unwrap();
        let refused = |password: &str| Credential::basic("ada", password);
        assert_eq!(password(lasting.credential(&repository).await), "0");
        // Two repositories are refused the same secret: one reading is enough.
        for _ in 0..2 {
            assert_eq!(password(lasting.renewed(&repository, Some(&refused("0"))).await), "1");
        }
        assert_eq!(password(lasting.renewed(&repository, Some(&refused("1"))).await), "2");
        tokio::time::advance(AGE).await;
        assert_eq!(password(lasting.credential(&repository).await), "3");
        assert_eq!(password(lasting.credential(&repository).await), "3");
        assert_eq!(reads.load(Ordering::SeqCst), 3);
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_being_written_takes_no_login_away() {
        let (lasting, _, warnings) = lasting(&[1]);
        let repository: RepositoryRef = "a.test/x".parse().unwrap();
        tokio::time::advance(AGE).await;
        for _ in 0..2 {
            assert_eq!(password(lasting.credential(&repository).await), "0");
        }
        assert_eq!(*warnings.0.lock().unwrap(), 1);
        tokio::time::advance(AGE).await;
        assert_eq!(password(lasting.credential(&repository).await), "2");
    }
}
