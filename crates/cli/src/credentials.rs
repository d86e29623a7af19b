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
    Choice, Credential, CredentialFiles, HelperOutput, auth_file_paths, helper_outcome, valid_helper_name,
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
    files: CredentialFiles,
    /// By the helper's name and what it was asked for.
    answers: Mutex<HashMap<(String, String), Answer>>,
}

impl Ambient {
    /// Reads every credential file that there is. One that cannot be read or understood is reported and passed over:
    /// it never turns the others off.
    pub(crate) fn read(reporter: &Arc<dyn Reporter>) -> Self {
        let mut files = Vec::new();
        for path in auth_file_paths(&|name| std::env::var_os(name), std::env::consts::OS) {
            let name = path.display().to_string();
            match std::fs::metadata(&path) {
                Ok(data) if data.len() > FILE_LIMIT => {
                    warn(reporter, &format!("{name} is passed over: it is larger than {FILE_LIMIT} bytes"));
                }
                Ok(_) => match std::fs::read(&path) {
                    Ok(bytes) => files.push((name, bytes)),
                    Err(error) => warn(reporter, &format!("{name} is passed over: {error}")),
                },
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => warn(reporter, &format!("{name} is passed over: {error}")),
            }
        }
        let (files, warnings) = CredentialFiles::read(files);
        for warning in warnings {
            warn(reporter, &warning.to_string());
        }
        Self { files, answers: Mutex::new(HashMap::new()) }
    }

    /// A helper's answer, asked for once a run.
    async fn ask(&self, name: &str, server: &str) -> Answer {
        let key = (name.to_owned(), server.to_owned());
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
        match self.files.choose(repository) {
            Choice::None => {
                tracing::info!(%repository, "no credentials");
                Ok(None)
            }
            Choice::Found { credential, origin, .. } => {
                tracing::info!(%repository, %origin, "credentials");
                Ok(Some(credential))
            }
            Choice::Helper { name, server, login_server, origin } => {
                tracing::info!(%repository, %origin, helper = name, "credentials");
                let about = |error: String| CredentialFault {
                    code: "helper-failed".to_owned(),
                    problem: format!("{error} (named in {origin})"),
                    hint: None,
                };
                match self.ask(&name, &server).await.map_err(about)? {
                    None if login_server != server => self.ask(&name, &login_server).await.map_err(about),
                    answer => Ok(answer),
                }
            }
        }
    }
}

/// Runs `docker-credential-NAME get` without a shell, found on the PATH alone.
async fn run(name: &str, server: &str) -> Answer {
    if !valid_helper_name(name) {
        return Err(format!("`{name}` is no name of a credential helper"));
    }
    let program = format!("docker-credential-{name}");
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
    let output = HelperOutput { success: status.success(), stdout: answer };
    helper_outcome(name, &output).map_err(|error| error.to_string())
}
