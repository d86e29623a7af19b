//! How long a credential counts: the one of a repository, as it was looked up last.
//!
//! A process that lives long must notice that a credential changes: a lookup counts for a minute, a failed one for seconds,
//! and neither after the credential was refused. Requests that need a lookup at the same time share one. For a command a
//! further lookup costs nothing, because its provider remembers what helpers have answered.

use std::time::Duration;

use tofu_oci_credentials::Credential;
use tofu_oci_types::RepositoryRef;
use tokio::time::Instant;

use crate::credential::{CredentialFault, CredentialProvider};

/// How long a lookup counts.
const LOOKUP_AGE: Duration = Duration::from_mins(1);

/// How long a failed lookup counts: a helper is not run for each of many requests.
const FAILURE_AGE: Duration = Duration::from_secs(5);

/// The last lookup.
#[derive(Default)]
pub(crate) struct KnownCredential {
    last: Option<(Result<Option<Credential>, CredentialFault>, Instant)>,
    /// How often it was looked up.
    lookups: u64,
    /// The lookup that brought another credential than the one before it.
    changed: u64,
}

/// A credential, and the lookup that brought it.
#[derive(Clone)]
pub(crate) struct FoundCredential {
    pub(crate) credential: Option<Credential>,
    pub(crate) lookup: u64,
}

impl KnownCredential {
    /// The credential, looked up if the last lookup is too old. Whether it has changed by that is the second value.
    pub(crate) async fn current(
        &mut self,
        provider: &dyn CredentialProvider,
        repository: &RepositoryRef,
    ) -> (Result<FoundCredential, CredentialFault>, bool) {
        let age = |found: &Result<_, _>| if found.is_ok() { LOOKUP_AGE } else { FAILURE_AGE };
        let is_due = self.last.as_ref().is_none_or(|(found, at)| at.elapsed() >= age(found));
        let has_changed = is_due && self.note(provider.credential(repository).await);
        (self.found(), has_changed)
    }

    /// Whether there is another credential than that of this lookup, which was refused: it is looked up anew, unless another
    /// request has done that.
    pub(crate) async fn renew(
        &mut self,
        provider: &dyn CredentialProvider,
        repository: &RepositoryRef,
        refused: u64,
    ) -> (Result<bool, CredentialFault>, bool) {
        let mut has_changed = false;
        if self.lookups == refused {
            let last = self.last.as_ref().and_then(|(found, _)| found.as_ref().ok()?.as_ref());
            let found = provider.renewed(repository, last).await;
            has_changed = self.note(found);
        }
        (self.found().map(|_| self.changed > refused), has_changed)
    }

    fn found(&self) -> Result<FoundCredential, CredentialFault> {
        match &self.last {
            Some((Ok(credential), _)) => Ok(FoundCredential { credential: credential.clone(), lookup: self.lookups }),
            Some((Err(fault), _)) => Err(fault.clone()),
            None => Ok(FoundCredential { credential: None, lookup: self.lookups }),
        }
    }

    fn note(&mut self, found: Result<Option<Credential>, CredentialFault>) -> bool {
        self.lookups += 1;
        let has_changed = self.last.as_ref().is_some_and(|(last, _)| *last != found);
        if has_changed {
            self.changed = self.lookups;
        }
        self.last = Some((found, Instant::now()));
        has_changed
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use async_trait::async_trait;

    use super::*;

    type Lookup = Result<Option<Credential>, CredentialFault>;

    /// Answers in this order, the last answer for good; counts lookups.
    struct ScriptedLookups(Mutex<(Vec<Lookup>, usize)>);

    #[async_trait]
    impl CredentialProvider for ScriptedLookups {
        async fn credential(&self, _repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
            let mut answers = self.0.lock().unwrap();
            answers.1 += 1;
            if answers.0.len() > 1 { answers.0.remove(0) } else { answers.0[0].clone() }
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is a lookup that goes well")]
    fn login(password: &str) -> Lookup {
        Ok(Some(Credential::basic("user", password)))
    }

    fn failure() -> Lookup {
        Err(CredentialFault { code: "helper-failed".to_owned(), problem: "it failed".to_owned(), hint: None })
    }

    /// The credentials that are current at these seconds, and the number of lookups.
    async fn check(answers: &[Lookup], seconds: &[u64], want: &[&str], lookups: usize) {
        let provider = ScriptedLookups(Mutex::new((answers.to_vec(), 0)));
        let repository = "a.test/x".parse().unwrap();
        let (mut known, mut got, mut now) = (KnownCredential::default(), Vec::new(), 0);
        for at in seconds {
            tokio::time::advance(Duration::from_secs(at - now)).await;
            now = *at;
            got.push(match known.current(&provider, &repository).await.0.map(|found| found.credential) {
                Ok(Some(Credential::Basic { password, .. })) => password.expose().to_owned(),
                Ok(other) => format!("{other:?}"),
                Err(fault) => fault.code,
            });
        }
        assert_eq!((got, provider.0.lock().unwrap().1), (want.iter().map(ToString::to_string).collect(), lookups));
    }

    #[tokio::test(start_paused = true)]
    async fn a_login_that_was_changed_or_added_was_not_noticed() {
        check(&[login("old"), login("new")], &[0, 59, 60, 61], &["old", "old", "new", "new"], 2).await;
        check(&[Ok(None), login("new")], &[0, 59, 60], &["None", "None", "new"], 2).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_lookup_stayed_for_good() {
        check(&[failure(), login("new")], &[0, 4, 5], &["helper-failed", "helper-failed", "new"], 2).await;
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_were_refused_together_share_a_lookup() {
        let provider = ScriptedLookups(Mutex::new((vec![login("old"), login("new")], 0)));
        let repository = "a.test/x".parse().unwrap();
        let mut known = KnownCredential::default();
        let refused = known.current(&provider, &repository).await.0.unwrap().lookup;
        for _ in 0..3 {
            assert_eq!(known.renew(&provider, &repository, refused).await.0, Ok(true));
        }
        assert_eq!(provider.0.lock().unwrap().1, 2);
        // The new one is refused too, and there is no other.
        let refused = known.current(&provider, &repository).await.0.unwrap().lookup;
        assert_eq!(known.renew(&provider, &repository, refused).await.0, Ok(false));
        assert_eq!(provider.0.lock().unwrap().1, 3);
    }
}
