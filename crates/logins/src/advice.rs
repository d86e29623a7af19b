//! What to do if a login is refused, or if there is none. It depends on the source that counts: a login that is kept
//! elsewhere would have no effect.

use tofu_oci_credentials::docker_file::server_key;
use tofu_oci_credentials::{
    CandidateVerdict, Choice, CredentialLookup, CredentialOrigin, CredentialPolicy, FilePlace, FileState, FoundFile,
    HelperName, NearMiss, SearchScope,
};

use crate::overlooked::OverlookedLogin;

/// How many entries that were perhaps meant are named; `auth explain` shows all.
const MOST_NEAR: usize = 3;

/// All that the advice depends on.
pub struct Advice<'a> {
    /// The files and blocks.
    pub policy: &'a CredentialPolicy,
    /// What they say about the repository.
    pub lookup: &'a CredentialLookup,
    /// The line that turns the usual files off.
    pub closed: Option<&'a FilePlace>,
    /// What exists and is not read.
    pub overlooked: &'a [OverlookedLogin],
    /// The user of the login that the chosen source gave, if it is known.
    pub username: Option<&'a str>,
}

/// Something that the user can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Run the command without `--anonymous`.
    OmitAnonymous,
    /// Check `--username` and what `--password-stdin` was given.
    CheckGivenLogin,
    /// Fix an entry that was perhaps meant for the repository.
    FixEntry {
        origin: CredentialOrigin,
        /// Why it does not serve.
        fault: EntryFault,
        /// How many other such entries there are that no remedy names.
        more: usize,
    },
    /// Fix a file that may hold the login.
    FixFile {
        file: String,
        /// The line of the fault, from 1.
        line: Option<usize>,
        problem: String,
    },
    /// Make a file readable that may hold the login.
    UnlockFile {
        file: String,
        /// Why it cannot be read.
        reason: String,
    },
    /// Make a file smaller that may hold the login.
    ShrinkFile {
        file: String,
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// Move a login to where it is read.
    Overlooked(OverlookedLogin),
    /// Write a block, since the search for files is off.
    WriteBlock {
        /// The line that turns the search off.
        place: FilePlace,
        /// The registry that the block is for.
        registry: String,
    },
    /// Use one of the listed files, since others have no effect.
    UseListedFile {
        /// The line that lists them.
        place: FilePlace,
        /// The login that writes to the first of them; `None` if the list is empty.
        login: Option<LoginCommand>,
    },
    LogIn(LoginCommand),
    /// Log in; a helper keeps the login.
    LogInToHelper {
        login: LoginCommand,
        program: String,
    },
    /// Give the helper of a block another login; `login` cannot.
    ChangeBlockHelper {
        program: String,
        /// What it keeps the login for.
        servers: Vec<String>,
        /// Where the block is.
        place: FilePlace,
    },
    /// Change a block, which counts more than what `login` writes.
    ChangeBlock(FilePlace),
    /// Change or remove an entry for a part of the registry.
    ChangeEntry(CredentialOrigin),
    /// Remove an entry that counts more than a new one, and log in.
    ReplaceEntry {
        origin: CredentialOrigin,
        login: LoginCommand,
    },
    /// Change the helper of an entry that is more specific than what `login` writes.
    ChangeEntryHelper {
        origin: CredentialOrigin,
        program: String,
    },
    /// Give the default helper another login, or log in.
    ChangeDefaultHelper {
        program: String,
        /// What it is asked for.
        server: String,
        login: LoginCommand,
    },
}

/// Why an entry does not serve the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryFault {
    /// Its key nearly fits.
    NearMiss(NearMiss),
    /// Its value is invalid.
    Invalid(String),
}

/// A run of `tofu-oci login`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginCommand {
    /// Whether a login is there already.
    pub again: Repetition,
    pub registry: String,
    /// The user, if it is known.
    pub username: Option<String>,
    /// The file for `--auth-file`, if it is not docker's own.
    pub file: Option<String>,
}

/// Whether a login replaces one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repetition {
    /// There is no login yet.
    First,
    Again,
}

impl Advice<'_> {
    /// What to do if the login that was shown is refused.
    pub fn for_refused_login(&self) -> Vec<Remedy> {
        match self.origin() {
            Some(origin) => vec![self.change(origin, Repetition::Again)],
            None => self.for_missing_credentials(),
        }
    }

    /// What to do if there are no credentials: entries that were perhaps meant come first.
    pub fn for_missing_credentials(&self) -> Vec<Remedy> {
        let mut remedies = self.near_misses();
        remedies.extend(self.policy.files().iter().filter_map(fix));
        remedies.extend(self.overlooked.iter().cloned().map(Remedy::Overlooked));
        remedies.push(match (self.origin(), self.policy.search(), self.closed) {
            (Some(origin), ..) => self.change(origin, Repetition::First),
            (None, SearchScope::Off, Some(place)) => {
                Remedy::WriteBlock { place: place.clone(), registry: self.registry() }
            }
            (None, SearchScope::Listed, Some(place)) => {
                let login = |file: &FoundFile| self.login(Repetition::First, Some(&file.name));
                Remedy::UseListedFile { place: place.clone(), login: self.policy.files().first().map(login) }
            }
            (None, ..) => Remedy::LogIn(self.login(Repetition::First, None)),
        });
        remedies
    }

    /// The source that counts.
    fn origin(&self) -> Option<&CredentialOrigin> {
        self.lookup.choice.origin()
    }

    fn registry(&self) -> String {
        self.lookup.repository.registry().to_owned()
    }

    /// How the login of a source is changed.
    fn change(&self, origin: &CredentialOrigin, again: Repetition) -> Remedy {
        let place = origin.place();
        let program = |name: &str| HelperName::parse(name).map_or_else(|_| name.to_owned(), |name| name.program());
        let server = server_key(self.lookup.repository.registry());
        let login = self.login(again, self.other_file(&place.file));
        match (origin, &self.lookup.choice) {
            (CredentialOrigin::Block { .. }, Choice::Ask { call, .. }) => Remedy::ChangeBlockHelper {
                program: call.helper.program(),
                servers: call.servers.clone(),
                place: place.clone(),
            },
            (CredentialOrigin::Block { .. }, _) => Remedy::ChangeBlock(place.clone()),
            (CredentialOrigin::Auth { key, .. }, _) if *key == server => Remedy::LogIn(login),
            (CredentialOrigin::Auth { key, .. }, _) if key.contains('/') && !key.contains("://") => {
                Remedy::ChangeEntry(origin.clone())
            }
            (CredentialOrigin::Auth { .. }, _) => Remedy::ReplaceEntry { origin: origin.clone(), login },
            (CredentialOrigin::CredHelper { key, name, .. }, _) if *key != server => {
                Remedy::ChangeEntryHelper { origin: origin.clone(), program: program(name) }
            }
            (CredentialOrigin::CredHelper { name, .. } | CredentialOrigin::CredsStore { name, .. }, _) => {
                Remedy::LogInToHelper { login, program: program(name) }
            }
            (CredentialOrigin::DefaultHelper { name, .. }, _) => {
                Remedy::ChangeDefaultHelper { program: program(name), server, login }
            }
        }
    }

    /// The file for `--auth-file`, if it is not the one that `tofu-oci login` writes to by itself.
    fn other_file<'b>(&self, name: &'b str) -> Option<&'b str> {
        let docker = |variable: &str| self.policy.files().iter().find(|file| file.because == variable);
        let own = docker("$DOCKER_CONFIG").or_else(|| docker("~/.docker"));
        // A file of the old form counts less than docker's.
        let is_own = own.is_none_or(|own| own.name == name) || name.ends_with(".dockercfg");
        (!is_own || self.policy.search() == SearchScope::Listed).then_some(name)
    }

    fn login(&self, again: Repetition, file: Option<&str>) -> LoginCommand {
        let username = self.username.map(str::to_owned);
        LoginCommand { again, registry: self.registry(), username, file: file.map(str::to_owned) }
    }

    /// Entries that were perhaps meant.
    fn near_misses(&self) -> Vec<Remedy> {
        let fault = |verdict: &CandidateVerdict| match verdict {
            CandidateVerdict::NoMatch(Some(near)) => Some(EntryFault::NearMiss(near.clone())),
            CandidateVerdict::LeftOut(problem) => Some(EntryFault::Invalid(problem.clone())),
            _ => None,
        };
        let candidates = &self.lookup.candidates;
        let near: Vec<(&CredentialOrigin, EntryFault)> =
            candidates.iter().filter_map(|one| Some((&one.origin, fault(&one.verdict)?))).collect();
        let hidden = near.len().saturating_sub(MOST_NEAR);
        let last = near.len().min(MOST_NEAR);
        let remedy = |(nth, (origin, fault)): (usize, (&CredentialOrigin, EntryFault))| Remedy::FixEntry {
            origin: origin.clone(),
            fault,
            more: if nth + 1 == last { hidden } else { 0 },
        };
        near.into_iter().take(MOST_NEAR).enumerate().map(remedy).collect()
    }
}

/// How to fix a file that may hold the login.
fn fix(found: &FoundFile) -> Option<Remedy> {
    let file = found.name.clone();
    match &found.state {
        FileState::Malformed(error) => Some(Remedy::FixFile { file, line: error.line(), problem: error.problem() }),
        FileState::Unreadable { reason } => Some(Remedy::UnlockFile { file, reason: reason.clone() }),
        FileState::TooLarge { limit } => Some(Remedy::ShrinkFile { file, limit: *limit }),
        FileState::Missing | FileState::Read(_) => None,
    }
}
