//! Credential helpers asked: what each answers, and why one did not.
//!
//! The `credentials` crate decides what an answer means; the [`HostMachine`] finds and runs the program.

use serde::Serialize;
use tofu_oci_credentials::{HelperAnswer, HelperError, HelperName, HelperOutput, helper_failure, helper_outcome};
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use crate::machine::{HelperAction, HostMachine, RunError};

/// Why a helper gave nothing. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperFault {
    /// `helper-not-found`, `helper-not-found-desktop` or `helper-failed`.
    pub code: &'static str,
    /// A sentence for people: lower case, no full stop.
    pub problem: String,
    /// What helps: for `helper-failed` the command that shows what it says.
    pub hint: String,
}

/// What became of a login that a helper was asked to forget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Erased {
    Gone,
    /// The helper knew of none.
    NotThere,
}

/// Asks a helper for the login of a server, such as `https://ghcr.io`.
///
/// # Errors
/// If it cannot be run, fails, or gives an invalid answer.
///
/// Spec: docker-credential-helpers, client; real-tofu-credentials, section 4.
pub(crate) async fn run_get(
    machine: &dyn HostMachine,
    helper: &HelperName,
    server: &str,
) -> Result<HelperAnswer, HelperFault> {
    let call = HelperCommand { helper, server, action: HelperAction::Get };
    let output = run(machine, call, server.as_bytes()).await?;
    helper_outcome(helper, &output).map_err(|error| HelperFault::of(&error, call))
}

/// Gives a helper a login to keep.
///
/// # Errors
/// If it cannot be run or fails.
pub(crate) async fn run_store(
    machine: &dyn HostMachine,
    helper: &HelperName,
    server: &str,
    username: &str,
    secret: &Secret,
) -> Result<(), HelperFault> {
    #[derive(Serialize)]
    #[serde(rename_all = "PascalCase")]
    struct HelperLogin<'a> {
        #[serde(rename = "ServerURL")]
        server: &'a str,
        username: &'a str,
        secret: &'a str,
    }
    let login = HelperLogin { server, username, secret: secret.expose() };
    let input = Zeroizing::new(serde_json::to_vec(&login).expect("texts are always JSON"));
    let call = HelperCommand { helper, server, action: HelperAction::Store };
    let output = run(machine, call, &input).await?;
    if output.exit == Some(0) {
        return Ok(());
    }
    failure(call, &output)?;
    // It says that it knows no such login, although it was given one.
    Err(HelperFault::of(&HelperError::Failed { name: helper.clone(), said: "it kept nothing".to_owned() }, call))
}

/// Asks a helper to forget the login of a server.
///
/// # Errors
/// If it cannot be run, or fails for another reason than that it knows none.
pub(crate) async fn run_erase(
    machine: &dyn HostMachine,
    helper: &HelperName,
    server: &str,
) -> Result<Erased, HelperFault> {
    let call = HelperCommand { helper, server, action: HelperAction::Erase };
    let output = run(machine, call, server.as_bytes()).await?;
    if output.exit == Some(0) {
        return Ok(Erased::Gone);
    }
    failure(call, &output).map(|_| Erased::NotThere)
}

/// One run of a helper.
#[derive(Clone, Copy)]
struct HelperCommand<'a> {
    helper: &'a HelperName,
    server: &'a str,
    action: HelperAction,
}

impl HelperCommand<'_> {
    /// The command that shows what the helper says. `store` needs the password on its input, so it names `get`.
    fn by_hand(self) -> String {
        let action = if self.action == HelperAction::Erase { self.action } else { HelperAction::Get };
        format!("printf %s {} | {} {}", self.server, self.helper.program(), action.word())
    }
}

async fn run(machine: &dyn HostMachine, call: HelperCommand<'_>, input: &[u8]) -> Result<HelperOutput, HelperFault> {
    machine.run_helper(call.helper, call.action, input).await.map_err(|error| fault(call, error))
}

fn failure(call: HelperCommand<'_>, output: &HelperOutput) -> Result<HelperAnswer, HelperFault> {
    helper_failure(call.helper, output).map_err(|error| HelperFault::of(&error, call))
}

/// A program that did not answer.
fn fault(call: HelperCommand<'_>, error: RunError) -> HelperFault {
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
        RunError::TimedOut { limit, .. } => HelperFault::of(&HelperError::TimedOut { name, limit }, call),
        RunError::TooLong { limit, .. } => HelperFault::of(&HelperError::TooLong { name, limit }, call),
    }
}

impl HelperFault {
    fn of(error: &HelperError, call: HelperCommand<'_>) -> Self {
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
