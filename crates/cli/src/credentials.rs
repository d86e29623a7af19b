//! The ambient credentials: files where docker and podman keep them, and the helpers that they name.
//!
//! Which source counts is decided in the `credentials` crate; here the files are read and the helpers run.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_credentials::{
    AuthFile, Choice, Credential, FileState, FoundFile, HelperAnswer, HelperName, HelperOutput, Policy, Search,
    auth_file_paths, helper_outcome,
};
use tofu_oci_remote::{CredentialFault, CredentialProvider};
use tofu_oci_types::{Event, Reporter, RepositoryRef};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Mutex;

/// A helper that says nothing for so long is stuck (it may be waiting for a password that nobody can type).
const HELPER_TIMEOUT: Duration = Duration::from_secs(30);

/// Helpers answer with a name and a secret; anything longer is no answer.
const HELPER_ANSWER: u64 = 1 << 20;

/// A credential file larger than this is not one.
const FILE_LIMIT: u64 = 4 << 20;

/// What a helper said.
type Answer = Result<Option<Credential>, String>;

/// Credentials of this machine's user.
pub(crate) struct Ambient {
    policy: Policy,
    /// By the helper's name and what it was asked for.
    answers: Mutex<HashMap<(String, String), Answer>>,
}

impl Ambient {
    /// Reads every credential file that there is. One that cannot be read or understood is reported and passed over:
    /// it never turns the others off.
    pub(crate) fn read(reporter: &Arc<dyn Reporter>) -> Self {
        let mut files = Vec::new();
        let home = std::env::home_dir();
        for found in auth_file_paths(&|name| std::env::var_os(name), home.as_deref(), std::env::consts::OS) {
            let name = found.path.display().to_string();
            let state = match std::fs::metadata(&found.path) {
                Ok(data) if data.len() > FILE_LIMIT => {
                    FileState::Unreadable { reason: format!("it is larger than {FILE_LIMIT} bytes") }
                }
                Ok(_) => match std::fs::read(&found.path) {
                    Ok(bytes) => AuthFile::parse(&name, &bytes).map_or_else(FileState::Malformed, FileState::Read),
                    Err(error) => FileState::Unreadable { reason: error.to_string() },
                },
                Err(error) if error.kind() == ErrorKind::NotFound => FileState::Missing,
                Err(error) => FileState::Unreadable { reason: error.to_string() },
            };
            files.push(FoundFile { name, because: found.because, known_to_opentofu: found.known_to_opentofu, state });
        }
        let policy = Policy::new(Vec::new(), None, Search::Ambient, files);
        for warning in policy.warnings() {
            warn(reporter, &warning.to_string());
        }
        Self { policy, answers: Mutex::new(HashMap::new()) }
    }

    /// A helper's answer, asked for once a run.
    async fn ask(&self, name: &HelperName, server: &str) -> Answer {
        let key = (name.as_str().to_owned(), server.to_owned());
        // Held while the helper runs: a second request for the same answer waits for the first.
        let mut answers = self.answers.lock().await;
        if let Some(answer) = answers.get(&key) {
            return answer.clone();
        }
        let answer = match tokio::time::timeout(HELPER_TIMEOUT, run(name, server)).await {
            Ok(answer) => answer,
            Err(_) => Err(format!("docker-credential-{name} gave no answer in {} s", HELPER_TIMEOUT.as_secs())),
        };
        answers.insert(key, answer.clone());
        answer
    }
}

fn warn(reporter: &Arc<dyn Reporter>, text: &str) {
    reporter.event(&Event::warning("credential-file", text));
}

#[async_trait]
impl CredentialProvider for Ambient {
    async fn credential(&self, repository: &RepositoryRef) -> Result<Option<Credential>, CredentialFault> {
        match self.policy.look_up(repository).choice {
            Choice::Anonymous => {
                tracing::info!(%repository, "no credentials");
                Ok(None)
            }
            Choice::Credential { credential, origin } => {
                tracing::info!(%repository, %origin, "credentials");
                Ok(Some(credential))
            }
            Choice::Ask { call, origin } => {
                tracing::info!(%repository, %origin, helper = %call.helper, "credentials");
                for server in &call.servers {
                    let answer = self.ask(&call.helper, server).await;
                    if let Some(credential) =
                        answer.map_err(|error| CredentialFault { code: "helper-failed".to_owned(), problem: format!("{error} (named in {})", origin.place()), hint: None })?
                    {
                        return Ok(Some(credential));
                    }
                }
                Ok(None)
            }
            Choice::Refused(error) => Err(CredentialFault { code: error.code().to_owned(), problem: error.to_string(), hint: None }),
        }
    }
}

/// Runs `docker-credential-NAME get` without a shell, found on the PATH alone.
async fn run(name: &HelperName, server: &str) -> Answer {
    let program = name.program();
    let unable = |error: std::io::Error| match error.kind() {
        ErrorKind::NotFound => format!("{program} is not on the PATH"),
        _ => format!("cannot run {program}: {error}"),
    };
    let mut child = tokio::process::Command::new(&program)
        .arg("get")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(unable)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A helper that does not read its input is judged by its answer.
        let _ = stdin.write_all(server.as_bytes()).await;
    }
    let mut answer = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout.take(HELPER_ANSWER).read_to_end(&mut answer).await.map_err(unable)?;
    }
    let status = child.wait().await.map_err(unable)?;
    let output = HelperOutput { exit: status.code(), stdout: answer };
    match helper_outcome(name, &output).map_err(|error| error.to_string())? {
        HelperAnswer::Credential(credential) => Ok(Some(credential)),
        HelperAnswer::NotFound | HelperAnswer::Empty => Ok(None),
    }
}
