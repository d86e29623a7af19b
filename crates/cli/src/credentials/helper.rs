//! Credential helpers asked: what each answers, and why one did not.
//!
//! What an answer means is decided in the `credentials` crate; how a program is found and run, in [`super::program`].

use serde::Serialize;
use tofu_oci_credentials::{HelperAnswer, HelperError, HelperName, HelperOutput, helper_failure, helper_outcome};
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use super::program::{self, RunError, TIME_LIMIT};

/// Why a helper gave nothing. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelperFault {
    /// `helper-not-found`, `helper-not-found-desktop` or `helper-failed`.
    pub(crate) code: &'static str,
    /// A sentence for people: lower case, no full stop.
    pub(crate) problem: String,
    /// What helps: for `helper-failed` the command that shows what it says.
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
    let call = Call { helper, server, action: "get" };
    let output = run(call, server.as_bytes()).await?;
    helper_outcome(helper, &output).map_err(|error| HelperFault::of(&error, call))
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
    let call = Call { helper, server, action: "store" };
    let output = run(call, &input).await?;
    if output.exit == Some(0) {
        return Ok(());
    }
    failure(call, &output)?;
    // It says that it knows no such login, where it was given one.
    Err(HelperFault::of(&HelperError::Failed { name: helper.clone(), said: "it kept nothing".to_owned() }, call))
}

/// Tells a helper to forget the login of a server.
///
/// # Errors
/// When it cannot be run, or fails for another reason than that it knows none.
pub(crate) async fn run_erase(helper: &HelperName, server: &str) -> Result<Erased, HelperFault> {
    let call = Call { helper, server, action: "erase" };
    let output = run(call, server.as_bytes()).await?;
    if output.exit == Some(0) {
        return Ok(Erased::Gone);
    }
    failure(call, &output).map(|_| Erased::NotThere)
}

/// One run of a helper.
#[derive(Clone, Copy)]
struct Call<'a> {
    helper: &'a HelperName,
    server: &'a str,
    /// `get`, `store` or `erase`.
    action: &'static str,
}

impl Call<'_> {
    /// The command that shows what the helper says. `store` needs the password on its input, so `get` stands in.
    fn by_hand(self) -> String {
        let action = if self.action == "erase" { "erase" } else { "get" };
        format!("printf %s {} | {} {action}", self.server, self.helper.program())
    }
}

async fn run(call: Call<'_>, input: &[u8]) -> Result<HelperOutput, HelperFault> {
    let fault = |error: RunError| fault(call, error);
    let path = program::find(&call.helper.program(), std::env::var_os("PATH").as_deref()).map_err(fault)?;
    tracing::info!(program = %path.display(), action = call.action, "credential helper");
    program::run(&path, call.action, input, TIME_LIMIT).await.map_err(fault)
}

fn failure(call: Call<'_>, output: &HelperOutput) -> Result<HelperAnswer, HelperFault> {
    helper_failure(call.helper, output).map_err(|error| HelperFault::of(&error, call))
}

/// A program that did not come so far as to answer.
fn fault(call: Call<'_>, error: RunError) -> HelperFault {
    let name = call.helper.clone();
    match error {
        RunError::NotFound { .. } => HelperFault::of(&HelperError::NotFound { name }, call),
        RunError::NotExecutable { ref path } => HelperFault {
            problem: error.to_string(),
            hint: format!("make it executable: chmod +x {}", path.display()),
            ..HelperFault::of(&HelperError::NotFound { name }, call)
        },
        RunError::Relative { .. } => {
            HelperFault { problem: error.to_string(), ..HelperFault::of(&HelperError::NotFound { name }, call) }
        }
        RunError::Start { source, .. } => {
            HelperFault::of(&HelperError::Unable { name, reason: source.to_string() }, call)
        }
        RunError::TimedOut { limit, .. } => {
            HelperFault::of(&HelperError::TimedOut { name, seconds: limit.as_secs() }, call)
        }
        RunError::TooLong { limit, .. } => HelperFault::of(&HelperError::TooLong { name, limit }, call),
    }
}

impl HelperFault {
    fn of(error: &HelperError, call: Call<'_>) -> Self {
        const DESKTOP: &str = "docker-credential-desktop.exe, the helper of Docker Desktop, is not on the PATH";
        let (problem, hint) = match error {
            HelperError::NotFound { .. } if error.code() == "helper-not-found-desktop" => (
                DESKTOP.to_owned(),
                "start Docker Desktop and switch on its integration with this WSL distribution".to_owned(),
            ),
            HelperError::NotFound { .. } => {
                (error.to_string(), "install the helper in a folder of the PATH".to_owned())
            }
            error => {
                let hint = format!("run the helper by hand to see what is wrong with it: {}", call.by_hand());
                (error.to_string(), hint)
            }
        };
        Self { code: error.code(), problem, hint }
    }
}
