//! The real `git`: found on the PATH, run without a shell, without hooks and questions, within limits.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use percent_encoding::percent_decode_str;
use tofu_oci_source::{GitCommand, GitNamer, GitOutput, GitProgram, GitRunError, LocationAccess};
use tofu_oci_types::{GitTransport, masked, printable};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};

use crate::args::Timeout;
use crate::git_anonymous;
use crate::helper_program::find;
use crate::process_group::ProcessGroup;

/// How often the folder is measured.
const LOOK: Duration = Duration::from_millis(200);

/// How many times its patience git may talk without writing: a server tells how far it is before it sends.
const TALK: u32 = 20;

/// How much is kept of what git writes to standard error, in bytes: its end.
const MESSAGES: usize = 8 << 10;

/// The fewest characters of a user name or password that is masked wherever it stands.
const SHORTEST: usize = 4;

/// How many lines a message has at most.
const LINES: usize = 3;

/// Settings that hold whatever the user's own say: nothing of a repository is run, no line ends are changed, nothing goes on in
/// the background.
const SETTINGS: [&str; 15] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.autocrlf=false",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "protocol.ext.allow=never",
    "credential.interactive=false",
    "init.defaultBranch=main",
    "init.defaultObjectFormat=sha1",
    "advice.detachedHead=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "fetch.writeCommitGraph=false",
];

/// Variables that would lead git to another repository, or to a question in a window.
const UNSET: [&str; 13] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
    "GIT_TEMPLATE_DIR",
    "GIT_DEFAULT_HASH",
    "GIT_TRACE",
    "GIT_EXTERNAL_DIFF",
    "SSH_ASKPASS",
];

/// First words of variables that are for tofu-oci, OpenTofu and cosign, and may be secrets.
const OWN: [&str; 4] = ["TOFU", "TF", "TERRAFORM", "COSIGN"];

/// The `git` on the PATH. The run ends it if it makes no progress for this long.
pub(crate) struct RealGit(pub(crate) Timeout);

#[async_trait]
impl GitProgram for RealGit {
    async fn run(&self, command: &GitCommand<'_>) -> Result<GitOutput, GitRunError> {
        let not_run = |reason: String| GitRunError::NotRun { reason };
        let program = find("git", std::env::var_os("PATH").as_deref()).map_err(|error| not_run(error.to_string()))?;
        tracing::info!(verb = command.arguments.first(), dir = %command.dir.display(), "git");
        let mut running = Command::new(&program);
        for setting in SETTINGS {
            running.args(["-c", setting]);
        }
        let follow = match command.named_by {
            GitNamer::User => "initial",
            GitNamer::Other => "false",
        };
        running.args(["-c", &format!("http.followRedirects={follow}")]);
        if let Some(pinned) = command.pinned {
            running.args(["-c", &format!("http.curloptResolve={pinned}")]);
        }
        running.args(command.arguments).current_dir(command.dir);
        environment(&mut running, command.transport);
        if command.access == LocationAccess::Anonymous {
            let kept = git_anonymous::kept(self.user_settings(&program, command).await);
            git_anonymous::environment(&mut running, command, &kept);
        } else if command.transport != GitTransport::File && !ssh_is_chosen(&program, command).await {
            running.env("GIT_SSH_COMMAND", "ssh -oBatchMode=yes");
        }
        running.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        // Dropped after the child: git, and the programs that it has started, end with this run.
        let group = ProcessGroup::new().map_err(|error| GitRunError::Unguarded { reason: error.to_string() })?;
        group.admit(&mut running);
        let mut child = running.spawn().map_err(|error| not_run(error.to_string()))?;
        watch(&mut child, command, self.0.0).await
    }
}

impl RealGit {
    /// What the user's settings say of connections to the address of a command, as git lists them.
    async fn user_settings(&self, program: &Path, command: &GitCommand<'_>) -> Vec<u8> {
        let Some(url) = command.arguments.iter().find(|argument| argument.contains("://")) else { return Vec::new() };
        let mut question = Command::new(program);
        question.args(["config", "-z", "--get-urlmatch", "http", url]).current_dir(command.dir);
        environment(&mut question, command.transport);
        question.stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        let said = tokio::time::timeout(self.0.0, question.output()).await;
        said.ok().and_then(Result::ok).map(|output| output.stdout).unwrap_or_default()
    }
}

/// What git and the programs that it starts see of this process's environment.
fn environment(command: &mut Command, transport: GitTransport) {
    let is_own = |name: &OsString| {
        name.to_str().and_then(|name| name.split_once('_')).is_some_and(|(word, _)| OWN.contains(&word))
    };
    for (name, _) in std::env::vars_os().filter(|(name, _)| is_own(name)) {
        command.env_remove(name);
    }
    for name in UNSET {
        command.env_remove(name);
    }
    // A user may have their addresses rewritten to https or ssh.
    let allowed = match transport {
        GitTransport::Https | GitTransport::Ssh => "https:ssh",
        GitTransport::Http => "http:https:ssh",
        GitTransport::Git => "git",
        GitTransport::File => "file",
    };
    command.env("GIT_ALLOW_PROTOCOL", allowed);
    command.env("GIT_TERMINAL_PROMPT", "0").env("GCM_INTERACTIVE", "never").env("SSH_ASKPASS_REQUIRE", "never");
    command.env("LC_ALL", "C").env("GIT_LFS_SKIP_SMUDGE", "1");
}

/// Whether the user says which program speaks ssh. Then it alone decides what it asks.
async fn ssh_is_chosen(program: &Path, command: &GitCommand<'_>) -> bool {
    if ["GIT_SSH_COMMAND", "GIT_SSH"].iter().any(|name| std::env::var_os(name).is_some()) {
        return true;
    }
    let mut question = Command::new(program);
    question.args(["config", "--get", "core.sshCommand"]).current_dir(command.dir);
    environment(&mut question, command.transport);
    question.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    question.status().await.is_ok_and(|status| status.success())
}

/// Waits for the end of git, or ends it.
async fn watch(child: &mut Child, command: &GitCommand<'_>, patience: Duration) -> Result<GitOutput, GitRunError> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let heard = AtomicU64::new(0);
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let ended = {
        let limit = command.limits.output;
        let streams = async {
            tokio::join!(
                read(out, &heard, |bytes| {
                    stdout.extend_from_slice(bytes);
                    stdout.len() <= limit
                }),
                read(err, &heard, |bytes| {
                    stderr.extend_from_slice(bytes);
                    let surplus = stderr.len().saturating_sub(MESSAGES);
                    stderr.drain(..surplus);
                    true
                })
            )
        };
        tokio::pin!(streams);
        let mut ticks = tokio::time::interval(LOOK);
        let (mut before, mut since) = (None, Instant::now());
        let (mut largest, mut grown) = (0, Instant::now());
        loop {
            tokio::select! {
                whole = &mut streams => break whole.0,
                _ = ticks.tick() => {
                    let written = size(&command.dir.join(".git"));
                    if written > command.limits.folder {
                        return Err(GitRunError::TooLarge { limit: command.limits.folder });
                    }
                    if written > largest {
                        (largest, grown) = (written, Instant::now());
                    } else if grown.elapsed() > patience.saturating_mul(TALK) {
                        return Err(GitRunError::Stuck { seconds: patience.as_secs() });
                    }
                    let now = Some((written, heard.load(Ordering::Relaxed)));
                    if now != before {
                        (before, since) = (now, Instant::now());
                    } else if since.elapsed() > patience {
                        return Err(GitRunError::Stuck { seconds: patience.as_secs() });
                    }
                }
            }
        }
    };
    if !ended {
        return Err(GitRunError::TooLarge { limit: command.limits.output as u64 });
    }
    let status = child.wait().await.map_err(|error| GitRunError::NotRun { reason: error.to_string() })?;
    let message = message(&String::from_utf8_lossy(&stderr), command.arguments);
    Ok(GitOutput { success: status.success(), stdout, message })
}

/// Reads a stream to its end; `false` if `keep` has said that it is enough.
async fn read(stream: Option<impl AsyncRead + Unpin>, heard: &AtomicU64, mut keep: impl FnMut(&[u8]) -> bool) -> bool {
    let Some(mut stream) = stream else { return true };
    let mut part = vec![0; 16 << 10];
    while let Ok(count @ 1..) = stream.read(&mut part).await {
        heard.fetch_add(count as u64, Ordering::Relaxed);
        if !keep(&part[..count]) {
            return false;
        }
    }
    true
}

/// Bytes of the files below a folder. What vanishes meanwhile does not count.
fn size(folder: &Path) -> u64 {
    let Ok(entries) = std::fs::read_dir(folder) else { return 0 };
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(data) if data.is_dir() => size(&entry.path()),
        Ok(data) => data.len(),
        Err(_) => 0,
    };
    entries.flatten().map(of).sum()
}

/// What git says at its end: its errors if it has any, without its progress and without the secrets of its arguments.
fn message(stderr: &str, arguments: &[&str]) -> String {
    let lines: Vec<&str> = stderr
        .lines()
        .map(|line| line.rsplit('\r').find(|part| !part.trim().is_empty()).unwrap_or_default().trim())
        .filter(|line| !line.is_empty() && !line.starts_with("hint:"))
        .collect();
    let is_error = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let mut chosen: Vec<&str> = lines.iter().copied().filter(|line| is_error(line)).take(LINES).collect();
    if chosen.is_empty() {
        chosen.extend(lines.last());
    }
    let mut text = chosen.join("; ");
    for argument in arguments.iter().filter(|argument| argument.contains("://")) {
        text = text.replace(argument, &masked(argument));
        for (secret, shown) in secrets(argument) {
            text = text.replace(&secret, shown);
        }
    }
    printable(&text).into_owned()
}

/// What of the user information of an address must not be shown, as it is written and decoded, and what is shown instead: all of
/// it before its `@`, then its parts. A part of fewer than [`SHORTEST`] characters could be any word, and is masked in the former alone.
fn secrets(address: &str) -> Vec<(String, &'static str)> {
    let rest = address.split_once("://").map_or("", |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let user_info = authority.rsplit_once('@').map_or("", |(user, _)| user);
    if matches!(user_info, "" | "git") {
        return Vec::new();
    }
    // A colon that is written %3A belongs to its part.
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let mut found = Vec::new();
    for part in [user_info, user, password] {
        let decoded = percent_decode_str(part).decode_utf8_lossy();
        for written in [part, &*decoded] {
            if part == user_info {
                found.push((format!("{written}@"), "***@"));
            }
            if written.chars().count() >= SHORTEST {
                found.push((written.to_owned(), "***"));
            }
        }
    }
    // A longer one may contain a shorter one.
    found.sort_by_key(|(secret, _)| std::cmp::Reverse(secret.len()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_says_has_no_progress_and_no_secret() {
        let url = "https://me:hunter2@example.com/a.git";
        let said = format!("Receiving: 10%\rReceiving: 20%\rfatal: unable to access '{url}/': \u{1b}[2Jno\nhint: x\n");
        insta::assert_snapshot!(message(&said, &["fetch", "--", url]), @r#"fatal: unable to access 'https://***@example.com/a.git/': \u{1b}[2Jno"#);
        insta::assert_snapshot!(message("one\ntwo hunter2\n", &[url]), @"two ***");
        assert_eq!(message("", &[]), "");
    }

    #[track_caller]
    fn check_masked(url: &str, said: &str, want: &str) {
        assert_eq!(message(said, &["fetch", "--", url]), want, "{url}");
    }

    #[test]
    fn a_short_user_or_password_garbles_no_other_word() {
        check_masked("https://u:p@example.com/a.git", "fatal: repository not found", "fatal: repository not found");
        check_masked("https://a:b@example.com/a.git", "fatal: bad a:b@x", "fatal: bad ***@x");
        check_masked("https://me:hunter2@example.com/a", "fatal: me hunter2 me:hunter2", "fatal: me *** ***");
        check_masked("https://token@example.com/a", "fatal: no token", "fatal: no ***");
        check_masked("https://me:hunter2%21@example.com/a", "fatal: hunter2! hunter2%21", "fatal: *** ***");
        check_masked("https://us%3Aer:hunter2@example.com/a", "fatal: us:er hunter2", "fatal: *** ***");
        check_masked("https://user%3Amore:hunter2@example.com/a", "fatal: more hunter2", "fatal: more ***");
        check_masked("https://a%3Alonger:b@example.com/a", "fatal: no longer:b", "fatal: no longer:b");
        check_masked("ssh://git@example.com/a", "fatal: git@example.com", "fatal: git@example.com");
        check_masked("https://@example.com/a", "fatal: a@b", "fatal: a@b");
        check_masked("https://me:pass:word@example.com/a", "fatal: pass:word", "fatal: ***");
    }
}
