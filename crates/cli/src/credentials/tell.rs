//! Where the credentials came from, for whoever is refused.

use tofu_oci_credentials::{Choice, CredentialLookup, FileState, FoundFile, HelperCall, Origin, Place, Search};
use tofu_oci_types::RepositoryRef;

use super::advice::Advice;
use super::unread::Unread;
use super::{CredentialResolver, Heard, HelperRun, Instead};

/// What an error about access says beside the registry's answer.
#[derive(Default)]
pub(crate) struct Told {
    /// Where the credentials were looked for or came from; nothing where the error itself says so.
    pub(crate) cause: Option<String>,
    /// What to do about it.
    pub(crate) hints: Vec<String>,
}

/// What a refusal is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The login, or that there is none.
    Login,
    /// The login is good, and lacks a right.
    Right,
    /// Something else: no other login would help.
    Other,
    /// Credentials do not come into it.
    Unasked,
}

impl CredentialResolver {
    /// Where the credentials for a repository came from; where there are none, where they were looked for. No helper is
    /// asked that has not been asked before.
    pub(crate) fn tell(&self, repository: &RepositoryRef, trouble: Trouble) -> Told {
        let told = |cause: String, hint: &str| {
            let advice = matches!(trouble, Trouble::Login).then(|| hint.to_owned());
            Told { cause: Some(cause), hints: advice.into_iter().collect() }
        };
        if trouble == Trouble::Unasked {
            return Told::default();
        }
        match &self.instead {
            Instead::Nothing => {}
            Instead::Anonymous => {
                let cause = "no credentials were shown, as --anonymous says";
                let hint = "leave --anonymous out, to have the credentials shown that there are";
                return Told { cause: Some(cause.to_owned()), hints: vec![hint.to_owned()] };
            }
            Instead::Login { registry, username, .. } if registry == repository.registry() => {
                let cause = format!("the credentials were those of --username {username}");
                return told(cause, "check the name, and what --password-stdin was given");
            }
            Instead::Login { registry, .. } => {
                let cause = format!("no credentials were shown: those of --username are for {registry} alone");
                return Told { cause: Some(cause), hints: Vec::new() };
            }
        }
        let account = self.policy.look_up(repository);
        let run = self.run(&account);
        let cause = match &account.choice {
            Choice::Anonymous => Some(self.looked_in()),
            Choice::Credential { origin, .. } => Some(format!("the credentials are those of {origin}")),
            Choice::Ask { call, origin } => heard(run.as_ref(), call, origin),
            Choice::Refused(_) => None,
        };
        let shown = match &account.choice {
            Choice::Anonymous => false,
            Choice::Credential { .. } => true,
            Choice::Ask { .. } => {
                run.as_ref().is_some_and(|run| matches!(run.heard, Heard::Login { .. } | Heard::IdentityToken))
            }
            Choice::Refused(_) => return Told { cause, hints: Vec::new() },
        };
        let failed = run.as_ref().is_some_and(|run| matches!(run.heard, Heard::Failed(_)));
        let mut advice = self.advice(&account);
        if let Some(Heard::Login { username }) = run.as_ref().map(|run| &run.heard) {
            advice.username = Some(username);
        }
        let hints = match (trouble, shown) {
            _ if failed => Vec::new(),
            (Trouble::Login, true) => advice.for_refused_login(),
            (Trouble::Login | Trouble::Right, false) => advice.for_want_of_credentials(),
            (Trouble::Right | Trouble::Other | Trouble::Unasked, _) => Vec::new(),
        };
        Told { cause, hints }
    }

    /// What helps where access to this is refused.
    fn advice<'a>(&'a self, account: &'a CredentialLookup) -> Advice<'a> {
        Advice {
            policy: &self.policy,
            account,
            closed: self.closed.as_ref(),
            unread: &self.unread,
            username: match &account.choice {
                Choice::Credential { credential: tofu_oci_credentials::Credential::Basic { username, .. }, .. } => {
                    Some(username)
                }
                _ => None,
            },
        }
    }

    /// What says that the usual files are not read.
    pub(crate) fn closed(&self) -> Option<&Place> {
        self.closed.as_ref()
    }

    /// What is there, and is not read.
    pub(crate) fn unread(&self) -> &[Unread] {
        &self.unread
    }

    fn looked_in(&self) -> String {
        let said = |file: &FoundFile| {
            let what = match &file.state {
                FileState::Missing => "not there",
                FileState::Unreadable { .. } | FileState::TooLarge { .. } => "cannot be read",
                FileState::Malformed(_) => "cannot be understood",
                FileState::Read(_) => "nothing for it",
            };
            format!("{} ({what})", file.name)
        };
        let files: Vec<String> = self.policy.files().iter().map(said).collect();
        match (self.policy.search(), files.is_empty()) {
            (Search::Off, _) => {
                "there are no credentials for it: the CLI configuration has the files left out".to_owned()
            }
            (_, true) => "there are no credentials for it, and no file to look in".to_owned(),
            _ => format!("there are no credentials for it: looked in {}", files.join(", ")),
        }
    }

    /// The last run of the helper that was chosen.
    fn run(&self, account: &CredentialLookup) -> Option<HelperRun> {
        let Choice::Ask { call, .. } = &account.choice else { return None };
        self.calls().into_iter().rfind(|run| run.helper == call.helper && call.servers.contains(&run.server))
    }
}

/// What the helper that is named there said.
fn heard(run: Option<&HelperRun>, call: &HelperCall, origin: &Origin) -> Option<String> {
    let Some(run) = run else {
        return Some(format!("{origin} names a helper, which was not asked"));
    };
    let program = run.helper.program();
    Some(match &run.heard {
        Heard::Login { username } => {
            format!("the credentials, of {username}, came from {program}, named by {origin}")
        }
        Heard::IdentityToken => {
            format!("the credentials, an identity token, came from {program}, named by {origin}")
        }
        Heard::NotFound | Heard::Empty => {
            format!("{program}, named by {origin}, knows no credentials for {}", call.servers.join(" and "))
        }
        Heard::Failed(_) => return None,
    })
}
