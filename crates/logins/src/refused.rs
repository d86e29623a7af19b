//! What an error about access says beside the registry's answer: where the credentials came from.

use tofu_oci_credentials::{
    CandidateVerdict, Choice, Credential, CredentialLookup, CredentialOrigin, FileState, FoundFile, HelperCall,
    SearchScope,
};
use tofu_oci_types::RepositoryRef;

use crate::advice::{Advice, Remedy};
use crate::resolver::{CredentialResolver, GivenAccess, HelperReply, HelperRun};

/// What a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusalCause {
    /// The login, or its absence.
    Login,
    /// The login is valid and lacks a right.
    Right,
    /// Something else: another login would not help.
    Other,
    /// Something that credentials have nothing to do with.
    Unrelated,
}

/// Where the credentials came from, and what to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CredentialReport {
    /// Where they came from, or where this run looked; `None` if the error itself says so.
    pub cause: Option<CredentialCause>,
    /// What to do about it.
    pub remedies: Vec<Remedy>,
}

/// Where the credentials came from, or where this run looked for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialCause {
    /// `--anonymous`.
    Anonymous,
    /// `--username`.
    Given {
        /// The user.
        username: String,
    },
    /// `--username` is for another registry.
    GivenElsewhere {
        registry: String,
    },
    /// The CLI configuration turns the files off.
    SearchOff,
    /// There is no file to look in.
    NoFiles,
    /// These files have none.
    LookedIn(Vec<(String, FileOutcome)>),
    Source(CredentialOrigin),
    /// A source names a helper that was not asked.
    HelperNotAsked(CredentialOrigin),
    /// A helper gave them.
    Helper {
        /// The user; `None` for an identity token.
        username: Option<String>,
        program: String,
        origin: CredentialOrigin,
    },
    HelperHasNone {
        program: String,
        origin: CredentialOrigin,
        /// What it was asked for.
        servers: Vec<String>,
    },
}

/// What became of a file that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileOutcome {
    /// It does not exist.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It is not a credential file.
    Malformed,
    /// Its entry for the repository does not count.
    LeftOut,
    /// It has no credentials for the repository.
    NoEntry,
}

impl CredentialResolver {
    /// Where the credentials for a repository came from, or where this run looked for them. It asks no helper.
    pub fn report(&self, repository: &RepositoryRef, refusal: RefusalCause) -> CredentialReport {
        if refusal == RefusalCause::Unrelated {
            return CredentialReport::default();
        }
        match self.given() {
            GivenAccess::Nothing => self.report_of_files(repository, refusal),
            GivenAccess::Anonymous => {
                let cause = Some(CredentialCause::Anonymous);
                CredentialReport { cause, remedies: vec![Remedy::OmitAnonymous] }
            }
            GivenAccess::Login { registry, username, .. } if registry == repository.registry() => CredentialReport {
                cause: Some(CredentialCause::Given { username: username.clone() }),
                remedies: (refusal == RefusalCause::Login).then_some(Remedy::CheckGivenLogin).into_iter().collect(),
            },
            GivenAccess::Login { registry, .. } => {
                let cause = Some(CredentialCause::GivenElsewhere { registry: registry.clone() });
                CredentialReport { cause, remedies: Vec::new() }
            }
        }
    }

    fn report_of_files(&self, repository: &RepositoryRef, refusal: RefusalCause) -> CredentialReport {
        let lookup = self.policy().look_up(repository);
        let run = self.run(&lookup);
        let reply = run.as_ref().map(|run| &run.reply);
        let (cause, shown) = match &lookup.choice {
            Choice::Anonymous => (Some(self.looked_in(&lookup)), false),
            Choice::Credential { origin, .. } => (Some(CredentialCause::Source(origin.clone())), true),
            Choice::Ask { call, origin } => {
                let gave = matches!(reply, Some(HelperReply::Login { .. } | HelperReply::IdentityToken));
                (helper_cause(run.as_ref(), call, origin), gave)
            }
            Choice::Refused(_) => return CredentialReport::default(),
        };
        let mut advice = self.advice(&lookup);
        if let Some(HelperReply::Login { username }) = reply {
            advice.username = Some(username);
        }
        let remedies = match (refusal, shown) {
            _ if matches!(reply, Some(HelperReply::Failed(_))) => Vec::new(),
            (RefusalCause::Login, true) => advice.for_refused_login(),
            (RefusalCause::Login | RefusalCause::Right, false) => advice.for_missing_credentials(),
            (RefusalCause::Right | RefusalCause::Other | RefusalCause::Unrelated, _) => Vec::new(),
        };
        CredentialReport { cause, remedies }
    }

    /// What helps if access to this is refused.
    fn advice<'a>(&'a self, lookup: &'a CredentialLookup) -> Advice<'a> {
        Advice {
            policy: self.policy(),
            lookup,
            closed: self.closed(),
            overlooked: self.overlooked(),
            username: match &lookup.choice {
                Choice::Credential { credential: Credential::Basic { username, .. }, .. } => Some(username),
                _ => None,
            },
        }
    }

    fn looked_in(&self, lookup: &CredentialLookup) -> CredentialCause {
        let is_left_out = |file: &FoundFile| {
            lookup
                .candidates
                .iter()
                .any(|one| one.origin.place().file == file.name && matches!(one.verdict, CandidateVerdict::LeftOut(_)))
        };
        let outcome = |file: &FoundFile| {
            let outcome = match &file.state {
                FileState::Missing => FileOutcome::Missing,
                FileState::Unreadable { .. } | FileState::TooLarge { .. } => FileOutcome::Unreadable,
                FileState::Malformed(_) => FileOutcome::Malformed,
                FileState::Read(_) if is_left_out(file) => FileOutcome::LeftOut,
                FileState::Read(_) => FileOutcome::NoEntry,
            };
            (file.name.clone(), outcome)
        };
        let files: Vec<_> = self.policy().files().iter().map(outcome).collect();
        match (self.policy().search(), files.is_empty()) {
            (SearchScope::Off, _) => CredentialCause::SearchOff,
            (_, true) => CredentialCause::NoFiles,
            _ => CredentialCause::LookedIn(files),
        }
    }

    /// The last run of the helper that was chosen.
    fn run(&self, lookup: &CredentialLookup) -> Option<HelperRun> {
        let Choice::Ask { call, .. } = &lookup.choice else { return None };
        self.calls().into_iter().rfind(|run| run.helper == call.helper && call.servers.contains(&run.server))
    }
}

/// What a helper replied; `None` if it failed, which the error itself says.
fn helper_cause(run: Option<&HelperRun>, call: &HelperCall, origin: &CredentialOrigin) -> Option<CredentialCause> {
    let origin = origin.clone();
    let Some(run) = run else { return Some(CredentialCause::HelperNotAsked(origin)) };
    let program = run.helper.program();
    match &run.reply {
        HelperReply::Login { username } => {
            Some(CredentialCause::Helper { username: Some(username.clone()), program, origin })
        }
        HelperReply::IdentityToken => Some(CredentialCause::Helper { username: None, program, origin }),
        HelperReply::NotFound | HelperReply::Empty => {
            Some(CredentialCause::HelperHasNone { program, origin, servers: call.servers.clone() })
        }
        HelperReply::Failed(_) => None,
    }
}
