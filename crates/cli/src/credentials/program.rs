//! Programs `docker-credential-NAME`: found on the PATH alone, run without a shell, within limits.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tofu_oci_credentials::HelperOutput;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};
use zeroize::Zeroizing;

/// A helper that says nothing for so long is stuck: it may be waiting for a password that nobody can type.
pub(super) const TIME_LIMIT: Duration = Duration::from_secs(30);

/// Helpers answer with a name and a secret; anything longer is no answer.
const STDOUT_LIMIT: usize = 1 << 20;

/// How long the streams of a helper that has ended are read on: what it started may hold them open for ever.
const GRACE: Duration = Duration::from_secs(1);

/// How long an interruption that has ended a helper is waited for in this process.
const INTERRUPTION: Duration = Duration::from_millis(500);

/// Why a program left nothing behind. Without its output, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// It is nowhere on the PATH.
    #[error("{program} is not on the PATH")]
    NotFound { program: String },
    /// It is there and may not be run.
    #[error("{} is not executable", path.display())]
    NotExecutable { path: PathBuf },
    /// The first one that was found depends on the working directory.
    #[error("{program} was found in `{}`, a relative entry of the PATH, and is not run from there", folder.display())]
    Relative { program: String, folder: PathBuf },
    /// It could not be run.
    #[error("cannot run {}: {source}", path.display())]
    Start { path: PathBuf, source: io::Error },
    /// It did not come to an end.
    #[error("{program} gave no answer in {} s", limit.as_secs_f64())]
    TimedOut { program: String, limit: Duration },
    /// It does not stop talking.
    #[error("{program} answered with more than {limit} bytes")]
    TooLong { program: String, limit: u64 },
}

/// Finds a program in the folders of `path`, and what kept it from being found.
///
/// In a relative folder it is not run, and nothing behind that folder is looked at either: what would be run there may be
/// quite another program than the one that was meant. Relative folders without it are passed over.
///
/// Spec: Go's `exec.LookPath`, by which `OpenTofu` finds helpers.
pub(super) fn find(program: &str, path: Option<&OsStr>) -> Result<PathBuf, RunError> {
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

/// Runs a program with one argument and this input, in this process's directory and environment. What it writes to its
/// standard error goes by: that may be anything, a secret too.
pub(super) async fn run(path: &Path, action: &str, input: &[u8], limit: Duration) -> Result<HelperOutput, RunError> {
    let program = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let start = |source| RunError::Start { path: path.to_owned(), source };
    let mut child = spawn(path, action).await.map_err(start)?;
    let Ok(ended) = tokio::time::timeout(limit, talk(&mut child, input)).await else {
        // It is gone already, or it goes now.
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

/// A program that is just being replaced can be run a moment later.
async fn spawn(path: &Path, action: &str) -> io::Result<Child> {
    let mut command = Command::new(path);
    command.arg(action).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).kill_on_drop(true);
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
                // A helper that does not read its input is judged by its answer.
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
        // Whoever interrupts at the terminal interrupts this process, too: then nothing of this is gone on with.
        tokio::time::sleep(INTERRUPTION).await;
    }
    Ok(HelperOutput { exit: status.code(), stdout: std::mem::take(&mut *stdout) })
}

/// Whether SIGINT or SIGTERM has ended a program, or a shell says so of what it ran.
#[cfg(unix)]
fn was_interrupted(status: ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt as _;
    matches!((status.signal(), status.code()), (Some(2 | 15), _) | (_, Some(130 | 143)))
}

#[cfg(not(unix))]
fn was_interrupted(_: ExitStatus) -> bool {
    false
}

/// Keeps what comes, and hangs up when it is more than `limit`.
async fn keep(stream: Option<impl AsyncRead + Unpin>, limit: usize, kept: &mut Zeroizing<Vec<u8>>) {
    // Taken at once, so that no shorter copy of a secret is left behind in memory.
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
        runtime.block_on(run(&path, "get", input, limit))
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
    fn a_helper_in_a_relative_folder_is_not_run_nor_another_one_behind_it() {
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
