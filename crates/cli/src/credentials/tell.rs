//! Where the credentials came from, for whoever is refused.

use tofu_oci_credentials::{Choice, FileState, FoundFile, HelperCall, Origin, Search, Verdict};
use tofu_oci_types::RepositoryRef;

use super::{Heard, HelperRun, Instead, Wallet};

/// What an error about access says beside the registry's answer.
pub(crate) struct Told {
    /// Where the credentials were looked for or came from; nothing where the error itself says so.
    pub(crate) cause: Option<String>,
    /// What was perhaps meant, and what to write instead.
    pub(crate) hints: Vec<String>,
}

impl Wallet {
    /// Where the credentials for a repository came from; where there are none, where they were looked for. No helper is
    /// asked that has not been asked before.
    pub(crate) fn tell(&self, repository: &RepositoryRef) -> Told {
        let told = |cause: String, hint: &str| Told { cause: Some(cause), hints: vec![hint.to_owned()] };
        match &self.instead {
            Instead::Nothing => {}
            Instead::Anonymous => {
                let cause = "no credentials were shown, as --anonymous says";
                return told(cause.to_owned(), "leave --anonymous out, to have the credentials shown that there are");
            }
            Instead::Login { registry, username, .. } if registry == repository.registry() => {
                let cause = format!("the credentials were those of --username {username}");
                return told(cause, "check the name, and what --password-stdin was given");
            }
            Instead::Login { rest, .. } => return rest.tell(repository),
        }
        let account = self.policy.look_up(repository);
        let cause = match &account.choice {
            Choice::Anonymous => Some(self.looked_in()),
            Choice::Credential { origin, .. } => Some(format!("the credentials are those of {origin}")),
            Choice::Ask { call, origin } => self.heard(call, origin),
            Choice::Refused(_) => None,
        };
        let hint = |origin: &Origin, verdict: &Verdict| match verdict {
            Verdict::NoMatch(Some(near)) => Some(format!("{origin} does not serve: {near}")),
            Verdict::LeftOut(problem) => Some(format!("{origin} is left out: {problem}")),
            _ => None,
        };
        let hints = account.candidates.iter().filter_map(|one| hint(&one.origin, &one.verdict)).collect();
        Told { cause, hints }
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

    /// What the helper that is named there said.
    fn heard(&self, call: &HelperCall, origin: &Origin) -> Option<String> {
        let calls = self.calls();
        let asked = |run: &&HelperRun| run.helper == call.helper && call.servers.contains(&run.server);
        let Some(run) = calls.iter().rfind(asked) else {
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
}
