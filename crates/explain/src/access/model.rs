//! The explanation of an access: plain values in the order of reading. Its JSON form is the object `auth` of docs/reference/json.md.

use serde::Serialize;
use tofu_oci_credentials::opentofu::Severity;
use tofu_oci_remote::AccessKind;

/// Everything about the access to one repository. No member ever holds a secret.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "event", rename = "auth")]
pub struct AccessExplanation {
    /// The repository.
    pub repository: String,
    /// What the user wants to do.
    pub action: AccessKind,
    /// Where credentials are taken from.
    pub credentials: CredentialScope,
    /// In the order in which they are looked at.
    pub files: Vec<ExplainedFile>,
    /// What the registry is shown.
    pub chosen: ChosenSource,
    /// The helpers that were asked, in order.
    pub helpers: Vec<ExplainedRun>,
    /// The conversation with the registry and the token server.
    pub exchanges: Vec<ExchangeLine>,
    /// What releases of `OpenTofu` do.
    pub opentofu: Vec<ReleaseNote>,
    /// How it ended.
    pub outcome: AccessOutcome,
    /// The stable name of the fault.
    pub code: Option<String>,
    /// Why.
    pub reason: String,
}

/// Where credentials are taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CredentialScope {
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
pub struct ExplainedFile {
    /// Its name, for people.
    #[serde(rename = "file")]
    pub name: String,
    /// The variable that names it, if one does.
    pub named_by: Option<String>,
    /// Whether `OpenTofu` reads it too.
    pub known_to_opentofu: bool,
    /// What became of it.
    pub state: FileCondition,
    /// What is wrong with its lines, or why it is left out.
    pub problems: Vec<FileProblem>,
    /// Its sources, in its order.
    pub sources: Vec<ExplainedSource>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileCondition {
    /// It was read.
    Read,
    /// It does not exist.
    Missing,
    /// It cannot be read.
    Unreadable,
    /// It is not what it should be.
    Malformed,
    /// It exists, and no program reads it.
    NotRead,
}

/// Something wrong in a file.
#[derive(Clone, Debug, Serialize)]
pub struct FileProblem {
    /// The line, from 1.
    pub line: Option<usize>,
    /// One sentence.
    #[serde(rename = "problem")]
    pub text: String,
    /// What `OpenTofu` does about it.
    pub opentofu: Option<String>,
}

/// An entry, a block, or a helper that a file names.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedSource {
    /// What it is.
    pub kind: &'static str,
    /// Its key or label.
    pub key: Option<String>,
    /// The helper that it names.
    pub helper: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// How closely it fits: 1 for every registry, 2 for the registry, and 1 more for each part of the path.
    pub specificity: Option<usize>,
    /// What became of it.
    pub verdict: SourceVerdict,
    /// Why.
    pub why: String,
    /// What to write instead, if it nearly fits.
    pub instead: Option<String>,
}

impl ExplainedSource {
    /// The source by its name: `auths "ghcr.io"`, `credsStore pass`.
    pub fn name(&self) -> String {
        source_name(self.kind, self.key.as_deref(), self.helper.as_deref())
    }
}

/// `auths "ghcr.io"`, `credHelpers "ghcr.io": "pass"`, `credsStore "pass"`.
pub(crate) fn source_name(kind: &str, key: Option<&str>, helper: Option<&str>) -> String {
    match (key, helper) {
        (Some(key), Some(helper)) => format!("{kind} \"{key}\": \"{helper}\""),
        (Some(name), None) | (None, Some(name)) => format!("{kind} \"{name}\""),
        (None, None) => kind.to_owned(),
    }
}

/// What became of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SourceVerdict {
    /// It serves.
    Chosen,
    /// It fits, and another one counts.
    Outranked,
    /// It fits and is invalid.
    Broken,
    /// It holds no login.
    Empty,
    /// It is invalid, and counts as absent.
    LeftOut,
    /// It was perhaps meant.
    NearMiss,
    /// It is for other repositories.
    Other,
}

/// What is shown to the registry.
#[derive(Clone, Debug, Serialize)]
pub struct ChosenSource {
    /// The kind of credential.
    pub shows: CredentialKind,
    /// The user.
    pub username: Option<String>,
    /// The source by its name; null if no source fits.
    pub source: Option<String>,
    /// The file.
    pub file: Option<String>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// Why.
    pub why: String,
}

/// The kind of a credential.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CredentialKind {
    /// Nothing.
    Nothing,
    /// A name and a password.
    Password,
    /// An identity token.
    IdentityToken,
    /// An access token.
    AccessToken,
    /// What a helper gives. It is asked only if the registry wants credentials.
    Helper,
    /// What was chosen cannot be used.
    Refused,
}

/// A run of a helper.
#[derive(Clone, Debug, Serialize)]
pub struct ExplainedRun {
    /// The program.
    pub program: String,
    /// What it was asked for.
    pub server: String,
    /// How it ended.
    pub outcome: RunOutcome,
    /// The user.
    pub username: Option<String>,
    /// Why.
    pub reason: Option<String>,
}

/// What came of a helper's run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunOutcome {
    /// It gave a login.
    Credential,
    /// It has no login.
    NotFound,
    /// An answer without a login.
    Empty,
    /// It failed.
    Failed,
}

/// One line of the conversation with the registry and the token server.
#[derive(Clone, Debug, Serialize)]
pub struct ExchangeLine {
    /// What it is.
    pub kind: ExchangeKind,
    /// The HTTP method.
    pub method: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// `nothing`, `password`, `token`, `access-token` or `identity-token`.
    pub shown: Option<&'static str>,
    /// The user.
    pub username: Option<String>,
    /// What a token was asked for.
    pub scopes: Vec<String>,
    /// The status of the answer.
    pub status: Option<u16>,
    /// The challenges of the answer.
    pub challenges: Vec<String>,
    /// What a token allows, if the token server says so.
    pub granted: Option<Vec<String>>,
    /// For how many seconds a token is valid, if the token server says so.
    pub seconds: Option<u64>,
    /// The stable name of the fault.
    pub code: Option<String>,
    /// What is wrong.
    pub problem: Option<String>,
    /// The token server's own words, if it refused.
    #[serde(skip)]
    pub refusal: Option<String>,
}

/// What a line of the conversation is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangeKind {
    /// A request to the registry; no status if it gave no answer.
    Registry,
    /// A request to the token server.
    Token,
    /// Either sends on to another address.
    Redirect,
    /// This program refuses, by a rule of its own.
    Refused,
}

/// What releases of `OpenTofu` do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReleaseNote {
    /// Such as `1.10 to 1.12`.
    pub releases: &'static str,
    /// Whether they do something else than this program.
    pub differs: bool,
    /// One sentence.
    pub text: String,
    /// Whether it is worth a line for people.
    #[serde(skip)]
    pub weight: Severity,
}

/// How it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessOutcome {
    /// Access works.
    Works,
    /// Access fails.
    Fails,
    /// An error in the CLI configuration or a listed file: every verb stops at it.
    Refuses,
    /// The registry could not be asked.
    NotKnown,
}

impl FileProblem {
    pub(crate) fn new(line: Option<usize>, problem: String) -> Self {
        Self { line, text: problem, opentofu: None }
    }
}
