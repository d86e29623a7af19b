//! What is told: plain values in the order of reading. The JSON form is the object `auth` of docs/json.md.

use serde::Serialize;

/// Everything about the access to one repository. No member ever holds a secret.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Explanation {
    pub(super) event: &'static str,
    pub(super) repository: String,
    pub(super) action: Action,
    pub(super) credentials: Credentials,
    /// In the order in which they are looked at.
    pub(super) files: Vec<File>,
    pub(super) chosen: Chosen,
    pub(super) helpers: Vec<Helper>,
    pub(super) exchanges: Vec<Step>,
    pub(super) opentofu: Vec<Note>,
    pub(super) outcome: Outcome,
    pub(super) code: Option<String>,
    pub(super) reason: String,
}

/// What is to be done with the repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Action {
    Pull,
    Push,
}

impl Action {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Pull => "pull",
            Self::Push => "push",
        }
    }
}

/// Where credentials are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Credentials {
    /// Blocks, and the files where docker and podman keep them.
    Ambient,
    /// Blocks, and the files that the CLI configuration lists.
    Listed,
    /// Blocks alone: the CLI configuration turns the rest off.
    Blocks,
    /// `--username`.
    Given,
    /// `--anonymous`.
    None,
}

/// A file that was looked at.
#[derive(Clone, Debug, Serialize)]
pub(super) struct File {
    #[serde(rename = "file")]
    pub(super) name: String,
    /// The variable that names it, where one does.
    pub(super) named_by: Option<String>,
    pub(super) known_to_opentofu: bool,
    pub(super) state: State,
    /// Lines that something is wrong with, or why the file is left out.
    pub(super) problems: Vec<Problem>,
    pub(super) sources: Vec<Source>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Read,
    Missing,
    Unreadable,
    Malformed,
    /// It is there, and nobody looks into it.
    NotRead,
}

/// Something wrong in a file.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Problem {
    pub(super) line: Option<usize>,
    #[serde(rename = "problem")]
    pub(super) text: String,
    /// What `OpenTofu` does about it.
    pub(super) opentofu: Option<String>,
}

/// An entry, a block, or a helper that a file names.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Source {
    pub(super) kind: &'static str,
    pub(super) key: Option<String>,
    pub(super) helper: Option<String>,
    pub(super) line: Option<usize>,
    /// How closely it fits: 1 for every registry, 2 for the registry, and 1 more for each part of the path.
    pub(super) specificity: Option<usize>,
    pub(super) verdict: Verdict,
    pub(super) why: String,
    /// What to write instead, where it nearly fits.
    pub(super) instead: Option<String>,
}

impl Source {
    /// The source by its name: `auths "ghcr.io"`, `credsStore pass`.
    pub(super) fn name(&self) -> String {
        source_name(self.kind, self.key.as_deref(), self.helper.as_deref())
    }
}

/// `auths "ghcr.io"`, `credHelpers "ghcr.io": "pass"`, `credsStore "pass"`.
pub(super) fn source_name(kind: &str, key: Option<&str>, helper: Option<&str>) -> String {
    match (key, helper) {
        (Some(key), Some(helper)) => format!("{kind} \"{key}\": \"{helper}\""),
        (Some(name), None) | (None, Some(name)) => format!("{kind} \"{name}\""),
        (None, None) => kind.to_owned(),
    }
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Verdict {
    Chosen,
    Outranked,
    Broken,
    Empty,
    LeftOut,
    NearMiss,
    Other,
}

/// What is shown to the registry.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Chosen {
    pub(super) shows: Shows,
    pub(super) username: Option<String>,
    /// The source by its name; null where nothing fits.
    pub(super) source: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<usize>,
    pub(super) why: String,
}

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Shows {
    Nothing,
    Password,
    IdentityToken,
    AccessToken,
    /// What a helper gives, which is asked only when a registry wants credentials.
    Helper,
    /// What was chosen cannot be used.
    Refused,
}

/// A run of a helper.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Helper {
    pub(super) program: String,
    pub(super) server: String,
    pub(super) outcome: HelperOutcome,
    pub(super) username: Option<String>,
    pub(super) reason: Option<String>,
}

/// What came of a helper's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum HelperOutcome {
    Credential,
    NotFound,
    /// An answer without a login.
    Empty,
    Failed,
}

/// One line of the conversation with the registry and the token server.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    pub(super) method: Option<String>,
    pub(super) url: Option<String>,
    /// `nothing`, `password`, `token`, `access-token` or `identity-token`.
    pub(super) shown: Option<&'static str>,
    pub(super) username: Option<String>,
    pub(super) scopes: Vec<String>,
    pub(super) status: Option<u16>,
    pub(super) challenges: Vec<String>,
    /// What a token allows, where it says so.
    pub(super) granted: Option<Vec<String>>,
    /// For how many seconds a token is good, where that is said.
    pub(super) seconds: Option<u64>,
    pub(super) code: Option<String>,
    pub(super) problem: Option<String>,
    /// What the token server said itself, where it refused.
    #[serde(skip)]
    pub(super) said: Option<String>,
}

/// What a line of the conversation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StepKind {
    /// A request to the registry; no status where it gave no answer.
    Registry,
    /// A request to the token server.
    Token,
    /// Either sends on to another address.
    Redirect,
    /// What was asked for is not given, by a rule of ours.
    Refused,
}

/// What releases of `OpenTofu` do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Note {
    /// Such as `1.10 to 1.12`.
    pub(super) releases: &'static str,
    pub(super) differs: bool,
    pub(super) text: String,
    #[serde(skip)]
    pub(super) weight: Weight,
}

/// Whether a note is worth a line for people.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weight {
    Tells,
    /// Beside others only.
    Aside,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Outcome {
    Works,
    Fails,
    /// An error in the CLI configuration or a listed file: every verb stops at it.
    Refuses,
    /// The registry could not be asked.
    NotKnown,
}
