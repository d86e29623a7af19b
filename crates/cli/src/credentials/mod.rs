//! The credentials of this machine's user: read from files and blocks, asked of helpers.
//!
//! ```text
//! args ----access----> Access: ambient, anonymous, or one user of one registry
//! the CLI configuration --settings--> blocks, default helper, where to look
//! the usual places, or those that are listed --files--> FoundFile
//!                            all of it --> Policy (in `credentials`) --look_up--> a credential, or a helper's name
//! a helper's name --helper, program--> its answer, once a run for each server
//! ```
//!
//! Which source counts is decided in the `credentials` crate.

pub(crate) mod access;
pub(crate) mod advice;
pub(crate) mod files;
pub(crate) mod helper;
mod program;
mod settings;
mod tell;
pub(crate) mod unread;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tofu_oci_credentials::{
    Choice, ChoiceError, Credential, CredentialLookup, HelperAnswer, HelperCall, HelperName, Origin, Place, Policy,
    Search,
};
use tofu_oci_remote::{CredentialFault, CredentialProvider};
use tofu_oci_types::{Event, Reporter, RepositoryRef, Secret};
use tokio::sync::OnceCell;

pub(crate) use access::Access;
pub(crate) use advice::Advice;
pub(crate) use tell::Trouble;
pub(crate) use unread::Unread;

use crate::diagnostic::Diagnostic;
use crate::environment::ReadConfig;
use files::Shown;
use helper::HelperFault;
use settings::Plan;

/// Everything that this run may show to registries.
pub(crate) struct CredentialResolver {
    policy: Policy,
    /// What takes the place of the policy.
    instead: Instead,
    refusal: Option<Diagnostic>,
    /// What says that the usual files are not read.
    closed: Option<Place>,
    /// What is there, and is not read.
    unread: Vec<Unread>,
    /// What is wrong with the CLI configuration and does not stop verbs that need only credentials.
    warnings: Vec<Event>,
    answers: Mutex<HashMap<(HelperName, String), Answer>>,
    runs: Mutex<Vec<HelperRun>>,
}

/// What the arguments say.
enum Instead {
    /// Nothing: the policy counts.
    Nothing,
    /// That nobody is shown anything.
    Anonymous,
    /// That one registry is shown this, and no other anything.
    Login { registry: String, username: String, password: Secret },
}

/// What a helper says of a server; whoever wants the same waits for it.
type Answer = Arc<OnceCell<Result<HelperAnswer, HelperFault>>>;

/// A helper that was asked, and what came of it. Without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelperRun {
    /// The helper.
    pub(crate) helper: HelperName,
    /// What it was asked for, such as `https://ghcr.io`.
    pub(crate) server: String,
    /// Where it is named.
    pub(crate) origin: Origin,
    /// What it said.
    pub(crate) heard: Heard,
}

/// What a helper said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A name and a secret.
    Login {
        /// The name.
        username: String,
    },
    /// A token that buys other tokens.
    IdentityToken,
    /// That it knows none.
    NotFound,
    /// Neither name nor secret.
    Empty,
    /// Nothing that could be used.
    Failed(HelperFault),
}

impl CredentialResolver {
    /// Takes the blocks of the CLI configuration, reads every credential file that counts, and reports what is wrong with
    /// these. A file that cannot be read or understood never turns the others off.
    ///
    /// # Errors
    /// What is wrong with the blocks, with the files that they list, or with a file that could hold blocks; exit code 2.
    pub(crate) fn read(config: &ReadConfig, reporter: &Arc<dyn Reporter>) -> Result<Self, Diagnostic> {
        let mut resolver = Self::read_lenient(config);
        if let Some(diagnostic) = resolver.refusal.take() {
            return Err(diagnostic);
        }
        for warning in std::mem::take(&mut resolver.warnings) {
            reporter.event(&warning);
        }
        for warning in resolver.policy.warnings() {
            reporter.event(&Event::warning("credential-file", warning.to_string()));
        }
        Ok(resolver)
    }

    /// The same with what `OpenTofu` goes on with, whatever is wrong; nothing is reported. See [`CredentialResolver::refusal`].
    pub(crate) fn read_lenient(config: &ReadConfig) -> Self {
        let environment = &config.environment;
        let shown = Shown::new(environment);
        let settings = settings::read(&config.reading, &shown);
        let mut refusal = settings.refusal;
        let mut closed = None;
        let (search, files) = match settings.search {
            Plan::Ambient => (Search::Ambient, files::ambient(environment, &shown)),
            Plan::Off { place } => {
                closed = Some(place);
                (Search::Off, Vec::new())
            }
            Plan::Listed { files: listed, place } => {
                let found = files::listed(&listed, &place, &shown);
                refusal = refusal.or_else(|| files::refuse(&listed, &found, &place, &shown));
                closed = Some(place);
                (Search::Listed, found)
            }
        };
        let policy = Policy::new(settings.blocks, settings.default, search, files);
        let unread = if search == Search::Ambient { unread::find() } else { Vec::new() };
        Self { refusal, closed, unread, warnings: settings.warnings, ..Self::of(policy, Instead::Nothing) }
    }

    /// What the arguments say; `ambient` reads the user's files where they count.
    ///
    /// # Errors
    /// Those of `ambient`.
    pub(crate) fn by(
        access: &Access,
        ambient: impl FnOnce(Option<&Path>) -> Result<Self, Diagnostic>,
    ) -> Result<Self, Diagnostic> {
        match access {
            Access::Ambient { chdir } => ambient(chdir.as_deref()),
            Access::Anonymous => Ok(Self::anonymous()),
            Access::As { registry, username, password } => {
                let (registry, username, password) = (registry.clone(), username.clone(), password.clone());
                Ok(Self::of(Policy::anonymous(), Instead::Login { registry, username, password }))
            }
        }
    }

    /// Shows nobody anything.
    pub(crate) fn anonymous() -> Self {
        Self::of(Policy::anonymous(), Instead::Anonymous)
    }

    fn of(policy: Policy, instead: Instead) -> Self {
        Self {
            policy,
            instead,
            refusal: None,
            closed: None,
            unread: Vec::new(),
            warnings: Vec::new(),
            answers: Mutex::default(),
            runs: Mutex::default(),
        }
    }

    /// The files and blocks.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Why every other verb goes no further.
    pub(crate) fn refusal(&self) -> Option<&Diagnostic> {
        self.refusal.as_ref()
    }

    /// What is wrong with the CLI configuration and stops no verb that needs credentials alone.
    pub(crate) fn warnings(&self) -> &[Event] {
        &self.warnings
    }

    /// The helpers that were asked, in the order of their answers.
    pub(crate) fn calls(&self) -> Vec<HelperRun> {
        lock(&self.runs).clone()
    }

    /// The credential for a repository, or none. A helper is asked once a run for each server.
    ///
    /// # Errors
    /// When a credential is configured and cannot be had.
    pub(crate) async fn answer(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        let policy = match &self.instead {
            Instead::Nothing => &self.policy,
            Instead::Login { registry, username, password } if registry == repository.registry() => {
                return Ok(Some(Credential::basic(username, password.expose())));
            }
            Instead::Anonymous | Instead::Login { .. } => return Ok(None),
        };
        let CredentialLookup { choice, .. } = policy.look_up(repository);
        match choice {
            Choice::Anonymous => {
                tracing::info!(%repository, "no credentials");
                Ok(None)
            }
            Choice::Credential { credential, origin } => {
                tracing::info!(%repository, %origin, "credentials");
                Ok(Some(credential))
            }
            Choice::Ask { call, origin } => {
                tracing::info!(%repository, %origin, "credentials");
                self.ask(&call, &origin).await
            }
            Choice::Refused(error) => Err(refused(&error)),
        }
    }

    /// Asks a helper for each server in turn, until it knows one.
    async fn ask(&self, call: &HelperCall, origin: &Origin) -> Result<Option<Credential>, CredentialFault> {
        for server in &call.servers {
            let answer = self.ask_once(&call.helper, server, origin).await;
            match answer {
                Ok(HelperAnswer::Credential(credential)) => return Ok(Some(credential)),
                // There are helpers that say so with an empty answer.
                Ok(HelperAnswer::NotFound | HelperAnswer::Empty) => {}
                Err(HelperFault { code, problem, hint }) => {
                    let problem = format!("{problem}; it is named by {origin}");
                    let hint = match code {
                        "helper-failed" => hint,
                        _ => format!("{hint}, or take its name out of {} and log in again", origin.place()),
                    };
                    return Err(CredentialFault { code: code.to_owned(), problem, hint: Some(hint) });
                }
            }
        }
        Ok(None)
    }

    async fn ask_once(&self, helper: &HelperName, server: &str, origin: &Origin) -> Result<HelperAnswer, HelperFault> {
        let key = (helper.clone(), server.to_owned());
        let cell = Arc::clone(lock(&self.answers).entry(key).or_default());
        let ask = || async {
            let answer = helper::run_get(helper, server).await;
            let heard = Heard::from(&answer);
            let run = HelperRun { helper: helper.clone(), server: server.to_owned(), origin: origin.clone(), heard };
            lock(&self.runs).push(run);
            answer
        };
        cell.get_or_init(ask).await.clone()
    }
}

#[async_trait]
impl CredentialProvider for CredentialResolver {
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        self.answer(repository).await
    }
}

impl From<&Result<HelperAnswer, HelperFault>> for Heard {
    fn from(answer: &Result<HelperAnswer, HelperFault>) -> Self {
        match answer {
            Ok(HelperAnswer::Credential(Credential::Basic { username, .. })) => {
                Self::Login { username: username.clone() }
            }
            Ok(HelperAnswer::Credential(_)) => Self::IdentityToken,
            Ok(HelperAnswer::NotFound) => Self::NotFound,
            Ok(HelperAnswer::Empty) => Self::Empty,
            Err(fault) => Self::Failed(fault.clone()),
        }
    }
}

/// A choice that cannot be made, and what to do about it.
fn refused(error: &ChoiceError) -> CredentialFault {
    let hint = match error {
        ChoiceError::AuthWithoutColon { key, place } => {
            format!("log in to {key} again, or take the entry out of {place}: `auth` is NAME:PASSWORD in base64")
        }
        ChoiceError::StyleUndecided { place, argument, .. } => {
            format!("fill in {argument} in {place}, or take the block out")
        }
        ChoiceError::InvalidHelperName { origin, .. } => {
            format!("write the part behind docker-credential-, such as \"pass\", in {}", origin.place())
        }
        _ => String::new(),
    };
    CredentialFault {
        code: error.code().to_owned(),
        problem: error.to_string(),
        hint: Some(hint).filter(|hint| !hint.is_empty()),
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
