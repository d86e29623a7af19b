//! The real environment and helpers: programs `docker-credential-NAME`, found on the PATH, and the program of a
//! `credentials_helper` block, run without a shell, within limits.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_credentials::{HelperName, HelperOutput};
use tofu_oci_logins::{HelperAction, HostMachine, RunError};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

use crate::args::Timeout;

/// How long a helper may take. A helper that takes longer is stuck, for example at a question that it cannot ask.
const TIME_LIMIT: Duration = Duration::from_secs(30);

/// The longest answer, in bytes: a name and a secret are shorter.
const STDOUT_LIMIT: usize = 1 << 20;

/// How long to read on after a helper has ended: its children may hold its streams open for ever.
pub(crate) const GRACE: Duration = Duration::from_secs(1);

/// How long to wait for an interruption to reach this process, after it has ended a helper.
const INTERRUPTION: Duration = Duration::from_millis(500);

/// This process's environment and the helpers on its PATH. A helper that waits longer than this, or than 30 seconds, is
/// ended.
pub(crate) struct RealMachine(pub(crate) Timeout);

#[async_trait]
impl HostMachine for RealMachine {
    fn variable(&self, name: &str) -> Option<OsString> {
        std::env::var_os(name)
    }

    #[cfg(target_os = "linux")]
    fn user(&self) -> Option<String> {
        Some(rustix::process::getuid().as_raw().to_string())
    }

    #[cfg(not(target_os = "linux"))]
    fn user(&self) -> Option<String> {
        None
    }

    fn system(&self) -> &'static str {
        std::env::consts::OS
    }

    async fn run_helper(
        &self,
        helper: &HelperName,
        action: HelperAction,
        input: &[u8],
    ) -> Result<HelperOutput, RunError> {
        let path = find(&helper.program(), std::env::var_os("PATH").as_deref())?;
        tracing::info!(program = %path.display(), action = action.word(), "credential helper");
        run(&path, &[action.word()], input, TIME_LIMIT.min(self.0.0)).await
    }

    async fn run_token_helper(&self, program: &Path, arguments: &[String]) -> Result<HelperOutput, RunError> {
        if !std::fs::metadata(program).is_ok_and(|data| is_executable(&data)) {
            return Err(RunError::NotExecutable { path: program.to_owned() });
        }
        tracing::info!(program = %program.display(), "credentials helper");
        run(program, arguments, b"", TIME_LIMIT.min(self.0.0)).await
    }
}

/// The same environment, in which no helper is run.
pub(crate) struct NoHelpers(pub(crate) RealMachine);

#[async_trait]
impl HostMachine for NoHelpers {
    fn variable(&self, name: &str) -> Option<OsString> {
        self.0.variable(name)
    }

    fn user(&self) -> Option<String> {
        self.0.user()
    }

    fn system(&self) -> &'static str {
        self.0.system()
    }

    async fn run_helper(&self, helper: &HelperName, _: HelperAction, _: &[u8]) -> Result<HelperOutput, RunError> {
        Err(RunError::NotFound { program: helper.program() })
    }

    async fn run_token_helper(&self, program: &Path, _: &[String]) -> Result<HelperOutput, RunError> {
        Err(RunError::NotFound { program: program.display().to_string() })
    }
}

/// Finds a program in the folders of `path`.
///
/// It refuses a program in a relative folder, and does not look in later folders: the one that it would find there may
/// not be the one that was meant. It passes over relative folders without the program.
///
/// Spec: Go's `exec.LookPath`, by which `OpenTofu` finds helpers.
pub(crate) fn find(program: &str, path: Option<&OsStr>) -> Result<PathBuf, RunError> {
    let mut refused = None;
    for folder in path.map(std::env::split_paths).into_iter().flatten() {
        let file = folder.join(file_name(program));
        let Ok(data) = std::fs::metadata(&file) else { continue };
        let program = program.to_owned();
        match (folder.is_absolute(), data.is_file() && is_executable(&data)) {
            (true, true) => return Ok(file),
            (true, false) if data.is_file() => refused = Some(RunError::NotExecutable { path: file }),
            (false, true) => {
                // An empty entry is the working directory, too.
                let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder };
                return Err(RunError::Relative { program, folder });
            }
            _ => {}
        }
    }
    Err(refused.unwrap_or_else(|| RunError::NotFound { program: program.to_owned() }))
}

#[cfg(windows)]
fn file_name(program: &str) -> String {
    // Nothing that a shell would have to run.
    if program.to_ascii_lowercase().ends_with(".exe") { program.to_owned() } else { format!("{program}.exe") }
}

#[cfg(not(windows))]
fn file_name(program: &str) -> &str {
    program
}

#[cfg(unix)]
fn is_executable(data: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    data.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    true
}

/// Runs a program with these arguments and this input, in this process's directory and environment. It drops what the
/// program writes to standard error, which may contain a secret.
async fn run(
    path: &Path,
    arguments: &[impl AsRef<OsStr>],
    input: &[u8],
    limit: Duration,
) -> Result<HelperOutput, RunError> {
    let program = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let start = |source| RunError::Start { path: path.to_owned(), source };
    let mut child = spawn(path, arguments).await.map_err(start)?;
    let Ok(ended) = tokio::time::timeout(limit, talk(&mut child, input)).await else {
        // It has ended already, or this ends it.
        let _ = child.kill().await;
        return Err(RunError::TimedOut { program, limit });
    };
    let ran = ended.map_err(start)?;
    if ran.stdout.len() > STDOUT_LIMIT {
        Err(RunError::TooLong { program, limit: STDOUT_LIMIT as u64 })
    } else {
        Ok(ran)
    }
}

/// Starts a program, and tries again a moment later if another process is replacing it.
async fn spawn(path: &Path, arguments: &[impl AsRef<OsStr>]) -> io::Result<Child> {
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
    for wait in [20, 50, 100, 200] {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => {
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            spawned => return spawned,
        }
    }
    command.spawn()
}

async fn talk(child: &mut Child, input: &[u8]) -> io::Result<HelperOutput> {
    let (stdin, out) = (child.stdin.take(), child.stdout.take());
    let mut stdout = Zeroizing::new(Vec::new());
    let status = {
        let write = async move {
            if let Some(mut stdin) = stdin {
                // A helper that does not read its input may still answer.
                let _ = stdin.write_all(input).await;
            }
        };
        let streams = async { tokio::join!(write, keep(out, STDOUT_LIMIT + 1, &mut stdout)) };
        tokio::pin!(streams);
        tokio::select! {
            biased;
            _ = &mut streams => child.wait().await?,
            status = child.wait() => {
                let _ = tokio::time::timeout(GRACE, &mut streams).await;
                status?
            }
        }
    };
    if was_interrupted(status) {
        // An interruption at the terminal reaches this process too, and then ends this wait.
        tokio::time::sleep(INTERRUPTION).await;
    }
    Ok(HelperOutput { exit: status.code(), stdout: std::mem::take(&mut *stdout) })
}

/// Whether SIGINT or SIGTERM has ended a program, or the program that a shell ran.
#[cfg(unix)]
fn was_interrupted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    matches!((status.signal(), status.code()), (Some(2 | 15), _) | (_, Some(130 | 143)))
}

#[cfg(not(unix))]
fn was_interrupted(_: ExitStatus) -> bool {
    false
}

/// Reads a stream, at most `limit` bytes of it.
pub(crate) async fn keep(stream: Option<impl AsyncRead + Unpin>, limit: usize, kept: &mut Zeroizing<Vec<u8>>) {
    // Allocated once, so that no shorter copy of a secret stays in memory.
    kept.reserve_exact(8 << 10);
    let Some(mut stream) = stream else { return };
    let mut part = Zeroizing::new(vec![0; 8 << 10]);
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        let room = limit - kept.len();
        kept.extend_from_slice(&part[..count.min(room)]);
        if kept.len() == limit {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    /// A folder with an executable `docker-credential-x` in it.
    fn folder(script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().expect("the system has room for a temp folder");
        let path = folder.path().join("docker-credential-x");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("it is ours");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        folder
    }

    fn run_script(script: &str, input: &[u8], limit: Duration) -> Result<HelperOutput, RunError> {
        let folder = folder(script);
        let path = find("docker-credential-x", Some(folder.path().as_os_str()))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(run(&path, &["get"], input, limit))
    }

    /// Exit code and standard output.
    #[track_caller]
    fn check(script: &str, input: &str, want: (Option<i32>, &str)) {
        let ran = run_script(script, input.as_bytes(), LIMIT).expect("it can be run");
        assert_eq!((ran.exit, &*String::from_utf8_lossy(&ran.stdout)), want, "{script}");
    }

    #[test]
    fn a_program_gets_its_argument_and_its_input() {
        check("printf '%s ' \"$*\" \"$(cat; echo .)\"; exit 3", "https://a", (Some(3), "get https://a. "));
        check("exec <&-", &"x".repeat(200_000), (Some(0), ""));
        check("kill -9 $$", "", (None, ""));
    }

    #[test]
    fn what_a_program_leaves_running_is_not_waited_for() {
        check("sleep 60 & echo answer", "", (Some(0), "answer\n"));
    }

    #[test]
    fn a_program_that_never_ends_is_ended() {
        let error = run_script("exec sleep 60", b"", Duration::from_millis(300)).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("docker-credential-x gave no answer in 0.3 s"));
    }

    #[test]
    fn a_program_that_never_stops_talking_is_cut_off() {
        let error = run_script("exec yes", b"", LIMIT).err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("docker-credential-x answered with more than 1048576 bytes"));
        check("head -c 3000000 /dev/zero >&2; echo answer", "", (Some(0), "answer\n"));
    }

    #[test]
    fn a_helper_in_a_relative_folder_is_not_run_nor_a_later_one() {
        let folder = folder("");
        let there = folder.path().display().to_string();
        let look = |path: &str| find("docker-credential-x", Some(OsStr::new(path))).map_err(|error| error.to_string());
        let found = folder.path().join("docker-credential-x");
        assert_eq!(look(&format!("/nonexistent::.:{there}")), Ok(found.clone()));
        assert_eq!(look("/nonexistent::."), Err("docker-credential-x is not on the PATH".to_owned()));
        assert!(find("docker-credential-x", None).is_err());
        // Tests run in the folder of their package, which is below the root by so many folders.
        let depth = std::env::current_dir().expect("there is one").components().count() - 1;
        let relative = format!("{}{}", "../".repeat(depth), there.trim_start_matches('/'));
        let refusal = format!(
            "docker-credential-x was found in `{relative}`, a relative entry of the PATH, and is not run from there"
        );
        assert_eq!(look(&relative), Err(refusal.clone()));
        assert_eq!(look(&format!("{relative}:{there}")), Err(refusal));
        assert_eq!(look(&format!("{there}:{relative}")), Ok(found.clone()));
        std::fs::set_permissions(&found, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert_eq!(look(&there), Err(format!("{there}/docker-credential-x is not executable")));
        std::fs::remove_file(&found).expect("it is ours");
        std::fs::create_dir(&found).expect("a folder");
        assert_eq!(look(&there), Err("docker-credential-x is not on the PATH".to_owned()));
    }
}
