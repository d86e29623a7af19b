//! Credential helpers asked: what each answers, and why one did not.
//!
//! What an answer means is decided in the `credentials` crate; how a program is found and run, in [`super::program`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::time::Duration;

use serde::Serialize;
use tofu_oci_credentials::{HelperAnswer, HelperError, HelperName, HelperOutput, Secret, helper_outcome};
use zeroize::{Zeroize as _, Zeroizing};

use super::program::{self, Ran, RunError, TIME_LIMIT};

/// What helpers say, on any exit code but 0, of a server that they do not know.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// Of what a helper complains about, so much is quoted, in characters.
const QUOTED: usize = 200;

/// Why a helper gave nothing. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelperFault {
    /// `helper-not-found`, `helper-not-found-desktop` or `helper-failed`.
    pub(crate) code: &'static str,
    /// A sentence for people: lower case, no full stop.
    pub(crate) problem: String,
    /// What helps.
    pub(crate) hint: String,
}

/// What became of a login that a helper was told to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Erased {
    /// It is gone.
    Gone,
    /// The helper knew of none.
    NotThere,
}

/// Asks a helper for the login of a server, such as `https://ghcr.io`.
///
/// # Errors
/// When it cannot be run, fails, or answers what is no answer.
///
/// Spec: docker-credential-helpers, client; real-tofu-credentials, section 4.
pub(crate) async fn run_get(helper: &HelperName, server: &str) -> Result<HelperAnswer, HelperFault> {
    get(helper, server, std::env::var_os("PATH"), TIME_LIMIT).await
}

async fn get(
    helper: &HelperName,
    server: &str,
    path: Option<OsString>,
    limit: Duration,
) -> Result<HelperAnswer, HelperFault> {
    let mut ran = run(helper, "get", server.as_bytes(), path, limit).await?;
    let output = HelperOutput { exit: ran.status.code(), stdout: std::mem::take(&mut *ran.stdout) };
    let silent = output.stdout.iter().all(u8::is_ascii_whitespace);
    helper_outcome(helper, &output).map_err(|error| match (error, reason(&ran.stderr)) {
        (HelperError::Failed { name, .. }, Some(said)) if silent => {
            HelperFault::of(&HelperError::Failed { name, said })
        }
        (error, _) => HelperFault::of(&error),
    })
}

/// Gives a helper a login to keep.
///
/// # Errors
/// When it cannot be run or fails.
pub(crate) async fn run_store(
    helper: &HelperName,
    server: &str,
    username: &str,
    secret: &Secret,
) -> Result<(), HelperFault> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct Login<'a> {
        #[serde(rename = "ServerURL")]
        server: &'a str,
        username: &'a str,
        secret: &'a str,
    }
    let login = Login { server, username, secret: secret.expose() };
    let input = Zeroizing::new(serde_json::to_vec(&login).expect("texts are always JSON"));
    let ran = run(helper, "store", &input, std::env::var_os("PATH"), TIME_LIMIT).await?;
    if ran.status.success() { Ok(()) } else { Err(failed(helper, &ran)) }
}

/// Tells a helper to forget the login of a server.
///
/// # Errors
/// When it cannot be run, or fails for another reason than that it knows none.
pub(crate) async fn run_erase(helper: &HelperName, server: &str) -> Result<Erased, HelperFault> {
    let ran = run(helper, "erase", server.as_bytes(), std::env::var_os("PATH"), TIME_LIMIT).await?;
    match ran.status.success() {
        true => Ok(Erased::Gone),
        false if ran.stdout.trim_ascii() == NOT_FOUND.as_bytes() => Ok(Erased::NotThere),
        false => Err(failed(helper, &ran)),
    }
}

/// Asks a helper which servers it has logins for, and the user of each.
///
/// # Errors
/// When it cannot be run, fails, or answers what is no answer.
pub(crate) async fn run_list(helper: &HelperName) -> Result<BTreeMap<String, String>, HelperFault> {
    let ran = run(helper, "list", b"", std::env::var_os("PATH"), TIME_LIMIT).await?;
    if !ran.status.success() {
        return Err(failed(helper, &ran));
    }
    serde_json::from_slice(&ran.stdout)
        .map_err(|_| HelperFault::new(helper, format!("the answer of {} to list is no list", helper.program())))
}

async fn run(
    helper: &HelperName,
    action: &str,
    input: &[u8],
    path: Option<OsString>,
    limit: Duration,
) -> Result<Ran, HelperFault> {
    let program = program::find(&helper.program(), path.as_deref()).map_err(|error| fault(helper, error))?;
    tracing::info!(program = %program.display(), action, "credential helper");
    program::run(&program, action, input, limit).await.map_err(|error| fault(helper, error))
}

/// A program that did not come so far as to answer.
fn fault(helper: &HelperName, error: RunError) -> HelperFault {
    let name = helper.clone();
    match error {
        RunError::NotFound { .. } => HelperFault::of(&HelperError::NotFound { name }),
        RunError::NotExecutable { ref path } => HelperFault {
            problem: error.to_string(),
            hint: format!("make it executable: chmod +x {}", path.display()),
            ..HelperFault::of(&HelperError::NotFound { name })
        },
        RunError::Relative { .. } => {
            HelperFault { problem: error.to_string(), ..HelperFault::of(&HelperError::NotFound { name }) }
        }
        RunError::Start { source, .. } => HelperFault::of(&HelperError::Unable { name, reason: source.to_string() }),
        RunError::TimedOut { limit, .. } => HelperFault::of(&HelperError::TimedOut { name, seconds: limit.as_secs() }),
        RunError::TooLong { limit, .. } => HelperFault::of(&HelperError::TooLong { name, limit }),
    }
}

/// A helper that ended with a failure: what it says on standard output, else on standard error, else how it ended.
fn failed(helper: &HelperName, ran: &Ran) -> HelperFault {
    let said = reason(&ran.stdout).or_else(|| reason(&ran.stderr)).unwrap_or_else(|| ran.status.to_string());
    HelperFault::of(&HelperError::Failed { name: helper.clone(), said })
}

/// The first line of an output that may be shown; nothing where it looks like an answer, which may hold a secret.
fn reason(output: &[u8]) -> Option<String> {
    let mut text = String::from_utf8_lossy(output).into_owned();
    let line =
        text.lines().map(str::trim).find(|line| !line.is_empty()).map(|line| line.chars().take(QUOTED).collect());
    let is_answer = text.contains('{');
    text.zeroize();
    line.filter(|_| !is_answer)
}

impl HelperFault {
    fn of(error: &HelperError) -> Self {
        const DESKTOP: &str = "docker-credential-desktop.exe, the helper of Docker Desktop, is not on the PATH";
        let (problem, hint) = match error {
            HelperError::NotFound { .. } if error.code() == "helper-not-found-desktop" => {
                (DESKTOP.to_owned(), "start Docker Desktop and switch on its integration with this WSL distribution")
            }
            HelperError::NotFound { .. } => (error.to_string(), "install the helper in a folder of the PATH"),
            error => (error.to_string(), "run the helper by hand to see what is wrong with it"),
        };
        Self { code: error.code(), problem, hint: hint.to_owned() }
    }

    fn new(helper: &HelperName, problem: String) -> Self {
        Self { problem, ..Self::of(&HelperError::Malformed { name: helper.clone() }) }
    }
}
