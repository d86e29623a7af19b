//! What this run may show to registries: a lookup for each repository, and helpers asked once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use tofu_oci_credentials::{
    Choice, ChoiceError, Credential, CredentialLookup, CredentialOrigin, CredentialPolicy, FilePlace, HelperAnswer,
    HelperCall, HelperName, SearchScope,
};
use tofu_oci_mapper::config::{CliConfigReading, Environment};
use tofu_oci_remote::{CredentialFault, CredentialProvider};
use tofu_oci_types::{Event, Reporter, RepositoryRef, Secret};
use tokio::sync::OnceCell;

use crate::access::Access;
use crate::files;
use crate::helper::{self, HelperFault};
use crate::machine::HostMachine;
use crate::overlooked::{self, OverlookedLogin};
use crate::path_names::PathNames;
use crate::refusal::CredentialRefusal;
use crate::settings::{self, SearchSetting};

/// Everything that this run may show to registries.
pub struct CredentialResolver {
    machine: Arc<dyn HostMachine>,
    policy: CredentialPolicy,
    /// What the arguments say in place of the policy.
    given: GivenAccess,
    refusal: Option<CredentialRefusal>,
    /// The line that turns the usual files off.
    closed: Option<FilePlace>,
    overlooked: Vec<OverlookedLogin>,
    /// What is wrong with the CLI configuration and does not stop verbs that need only credentials.
    warnings: Vec<Event>,
    answers: Mutex<HashMap<(HelperName, String), PendingAnswer>>,
    runs: Mutex<Vec<HelperRun>>,
}

/// What the arguments say.
pub(crate) enum GivenAccess {
    /// Nothing: the policy counts.
    Nothing,
    /// `--anonymous`: no registry is shown anything.
    Anonymous,
    /// One registry is shown this, and every other one nothing.
    Login { registry: String, username: String, password: Secret },
}

/// What a helper answers about a server; a second asker waits for the first.
type PendingAnswer = Arc<OnceCell<Result<HelperAnswer, HelperFault>>>;

/// A helper that was asked, and its reply. Without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperRun {
    pub helper: HelperName,
    /// What it was asked for, such as `https://ghcr.io`.
    pub server: String,
    /// Where it is named.
    pub origin: CredentialOrigin,
    pub reply: HelperReply,
}

/// What a helper replied, without its secrets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelperReply {
    /// A name and a secret.
    Login {
        /// The name.
        username: String,
    },
    /// A token that buys other tokens.
    IdentityToken,
    /// It knows no login.
    NotFound,
    /// Neither name nor secret.
    Empty,
    Failed(HelperFault),
}

impl CredentialResolver {
    /// Takes the blocks of the CLI configuration and reads every credential file that counts, with whatever `OpenTofu`
    /// would go on with. It reports nothing: see [`CredentialResolver::strict`].
    pub fn read(machine: &Arc<dyn HostMachine>, environment: &Environment, reading: &Arc<CliConfigReading>) -> Self {
        let names = PathNames::new(environment);
        let settings = settings::read(reading, &names);
        let mut refusal = settings.refusal;
        let (search, files, closed) = match settings.search {
            SearchSetting::Ambient => {
                (SearchScope::Ambient, files::ambient(machine.as_ref(), environment, &names), None)
            }
            SearchSetting::Off { place } => (SearchScope::Off, Vec::new(), Some(place)),
            SearchSetting::Listed { files: listed, place } => {
                let found = files::listed(&listed, &place, &names);
                refusal = refusal.or_else(|| files::refuse(&listed, &found, &place, &names));
                (SearchScope::Listed, found, Some(place))
            }
        };
        let policy = CredentialPolicy::new(settings.blocks, settings.default, search, files);
        let overlooked = if search == SearchScope::Ambient { overlooked::find(machine.as_ref()) } else { Vec::new() };
        let resolver = Self::of(machine, policy, GivenAccess::Nothing);
        Self { refusal, closed, overlooked, warnings: settings.warnings, ..resolver }
    }

    /// The same, if nothing in the user's files ends the verb; reports what is wrong besides. An unreadable credential
    /// file is a warning; the other files still count.
    ///
    /// # Errors
    /// What is wrong with the blocks, with the files that they list, or with a file that could hold blocks.
    pub fn strict(mut self, reporter: &dyn Reporter) -> Result<Self, CredentialRefusal> {
        if let Some(refusal) = self.refusal.take() {
            return Err(refusal);
        }
        for warning in std::mem::take(&mut self.warnings) {
            reporter.event(&warning);
        }
        for warning in self.policy.warnings() {
            reporter.event(&Event::warning("credential-file", warning.to_string()));
        }
        Ok(self)
    }

    /// What the arguments say; `ambient` reads the user's files if they count.
    ///
    /// # Errors
    /// Those of `ambient`.
    pub fn by<E>(
        machine: &Arc<dyn HostMachine>,
        access: &Access,
        ambient: impl FnOnce(Option<&Path>) -> Result<Self, E>,
    ) -> Result<Self, E> {
        match access {
            Access::Ambient { chdir } => ambient(chdir.as_deref()),
            Access::Anonymous => Ok(Self::anonymous(machine)),
            Access::As { registry, username, password } => {
                let (registry, username, password) = (registry.clone(), username.clone(), password.clone());
                Ok(Self::of(
                    machine,
                    CredentialPolicy::anonymous(),
                    GivenAccess::Login { registry, username, password },
                ))
            }
        }
    }

    /// Shows nothing to any registry.
    pub fn anonymous(machine: &Arc<dyn HostMachine>) -> Self {
        Self::of(machine, CredentialPolicy::anonymous(), GivenAccess::Anonymous)
    }

    fn of(machine: &Arc<dyn HostMachine>, policy: CredentialPolicy, given: GivenAccess) -> Self {
        Self {
            machine: Arc::clone(machine),
            policy,
            given,
            refusal: None,
            closed: None,
            overlooked: Vec::new(),
            warnings: Vec::new(),
            answers: Mutex::default(),
            runs: Mutex::default(),
        }
    }

    /// The files and blocks.
    pub fn policy(&self) -> &CredentialPolicy {
        &self.policy
    }

    /// Why no verb that needs credentials begins.
    pub fn refusal(&self) -> Option<&CredentialRefusal> {
        self.refusal.as_ref()
    }

    /// What is wrong with the CLI configuration and does not stop verbs that need only credentials.
    pub fn warnings(&self) -> &[Event] {
        &self.warnings
    }

    /// What the arguments say in place of the policy.
    pub(crate) fn given(&self) -> &GivenAccess {
        &self.given
    }

    /// The line of the CLI configuration that turns the usual files off.
    pub fn closed(&self) -> Option<&FilePlace> {
        self.closed.as_ref()
    }

    /// What exists on this machine and is not read.
    pub fn overlooked(&self) -> &[OverlookedLogin] {
        &self.overlooked
    }

    /// The helpers that were asked, in the order of their answers.
    pub fn calls(&self) -> Vec<HelperRun> {
        lock(&self.runs).clone()
    }

    /// The credential for a repository, if there is one. It asks a helper once a run for each server.
    ///
    /// # Errors
    /// If a credential is configured and cannot be had.
    pub async fn answer(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        let policy = match &self.given {
            GivenAccess::Nothing => &self.policy,
            GivenAccess::Login { registry, username, password } if registry == repository.registry() => {
                return Ok(Some(Credential::basic(username, password.expose())));
            }
            GivenAccess::Anonymous | GivenAccess::Login { .. } => return Ok(None),
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
            Choice::Refused(error) => Err(choice_fault(&error)),
        }
    }

    /// Asks a helper for each server in turn, until it knows one.
    async fn ask(&self, call: &HelperCall, origin: &CredentialOrigin) -> Result<Option<Credential>, CredentialFault> {
        for server in &call.servers {
            let answer = self.ask_once(&call.helper, server, origin).await;
            match answer {
                Ok(HelperAnswer::Credential(credential)) => return Ok(Some(credential)),
                // Some helpers reply with an empty answer instead of "not found".
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

    async fn ask_once(
        &self,
        helper: &HelperName,
        server: &str,
        origin: &CredentialOrigin,
    ) -> Result<HelperAnswer, HelperFault> {
        let key = (helper.clone(), server.to_owned());
        let cell = Arc::clone(lock(&self.answers).entry(key).or_default());
        let ask = || async {
            let answer = helper::run_get(self.machine.as_ref(), helper, server).await;
            let reply = HelperReply::from(&answer);
            let run = HelperRun { helper: helper.clone(), server: server.to_owned(), origin: origin.clone(), reply };
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

impl From<&Result<HelperAnswer, HelperFault>> for HelperReply {
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
fn choice_fault(error: &ChoiceError) -> CredentialFault {
    let hint = match error {
        ChoiceError::AuthWithoutColon { key, place } => {
            format!("log in to {key} again, or take the entry out of {place}: `auth` is NAME:PASSWORD in base64")
        }
        ChoiceError::StyleUndecided { place, argument, .. } => {
            format!("fill in {argument} in {place}, or take the block out")
        }
        ChoiceError::InvalidHelperName { origin, .. } => {
            format!("write the part after docker-credential-, such as \"pass\", in {}", origin.place())
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
