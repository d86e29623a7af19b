//! The program `cosign`, which gets a certificate for the identity token of a CI job and signs with it.
//!
//! It finds the token itself, in the environment: the token is in no argument and in nothing that is printed.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_packer::KeylessSigner;
use tokio::process::Command;
use zeroize::Zeroizing;

use crate::diagnostic::Diagnostic;
use crate::helper_program;

/// The variable of a token, as cosign and GitLab name it.
const TOKEN: &str = "SIGSTORE_ID_TOKEN";
/// Where GitHub Actions gives tokens, and what asks for one.
const GITHUB: [&str; 2] = ["ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"];
/// How long it may take: it asks an authority, a log and a clock.
const TIME_LIMIT: Duration = Duration::from_mins(5);
/// The largest bundle, in bytes, and the most that is kept of what the program says.
const LIMIT: usize = 1 << 20;
/// How much of that is shown, in characters.
const SHOWN: usize = 500;

/// A `cosign` that was found.
#[derive(Debug)]
pub(crate) struct Cosign {
    program: PathBuf,
}

impl Cosign {
    /// It fails before anything is sent if there is no token, or no program.
    pub(crate) fn find() -> Result<Self, Diagnostic> {
        let is_set = |name: &&str| variable(name).is_some();
        if !is_set(&TOKEN) && !GITHUB.iter().all(is_set) {
            return Err(Diagnostic::usage("there is no identity token to sign with, and no key")
                .code("no-identity-token")
                .hint("GitHub Actions: give the job `permissions: {id-token: write}`")
                .hint("GitLab CI: give the job `id_tokens: {SIGSTORE_ID_TOKEN: {aud: sigstore}}`")
                .hint("elsewhere: put a token for the audience sigstore into SIGSTORE_ID_TOKEN, or sign with a key"));
        }
        let program = helper_program::find("cosign", std::env::var_os("PATH").as_deref()).map_err(|error| {
            Diagnostic::usage(format!("to sign without a key tofu-oci runs cosign: {error}"))
                .code("cosign-missing")
                .hint("install cosign 3, on GitHub Actions with sigstore/cosign-installer")
        })?;
        Ok(Self { program })
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

#[async_trait]
impl KeylessSigner for Cosign {
    async fn sign(&self, statement: &[u8]) -> Result<Vec<u8>, String> {
        let words = |error: std::io::Error| format!("it cannot be run: {error}");
        let folder = Scratch::temporary(&std::env::temp_dir(), Purpose::Push).map_err(words)?;
        let (statement_file, bundle) = (folder.path().join("statement.json"), folder.path().join("bundle.json"));
        std::fs::write(&statement_file, statement).map_err(words)?;
        let mut command = Command::new(&self.program);
        command.arg("attest-blob").arg("--yes").arg("--statement").arg(&statement_file).arg("--bundle").arg(&bundle);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let ran = tokio::time::timeout(TIME_LIMIT, run(&mut command)).await;
        let ran = ran.map_err(|_| format!("it gave no answer in {} s", TIME_LIMIT.as_secs()))?;
        let (status, stderr) = ran.map_err(words)?;
        if !status.success() {
            let status = status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"));
            return Err(format!("{status}: {}", said(&String::from_utf8_lossy(&stderr))));
        }
        tofu_oci_disk::read_file(&bundle, LIMIT as u64).map_err(|error| format!("it wrote no bundle: {error}"))
    }
}

/// How it ended, and the first of what it said: no more is read, and a process that it leaves behind is not waited for.
async fn run(command: &mut Command) -> std::io::Result<(ExitStatus, Zeroizing<Vec<u8>>)> {
    let mut child = command.spawn()?;
    let (stream, mut kept) = (child.stderr.take(), Zeroizing::new(Vec::new()));
    let status = {
        let reading = helper_program::keep(stream, LIMIT, &mut kept);
        tokio::pin!(reading);
        tokio::select! {
            biased;
            () = &mut reading => child.wait().await?,
            status = child.wait() => {
                let _ = tokio::time::timeout(helper_program::GRACE, &mut reading).await;
                status?
            }
        }
    };
    Ok((status, kept))
}

/// The end of what the program says, without the secrets of the environment.
fn said(text: &str) -> String {
    let secrets = [TOKEN, GITHUB[1]].into_iter().filter_map(|name| variable(name)?.into_string().ok());
    // A variable may end with a line break, and what prints the token does not.
    without(text, secrets.map(|secret| secret.trim().to_owned()).filter(|secret| !secret.is_empty()))
}

fn without(text: &str, secrets: impl Iterator<Item = String>) -> String {
    let masked = secrets.fold(text.to_owned(), |text, secret| text.replace(&secret, "***"));
    let masked: Vec<&str> = masked.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let masked = masked.join("; ");
    let skipped = masked.chars().count().saturating_sub(SHOWN);
    if skipped == 0 {
        return masked;
    }
    let start = masked.char_indices().nth(skipped).map_or(masked.len(), |(start, _)| start);
    let end = &masked[start..];
    let is_cut = !masked[..start].ends_with(' ');
    // A word that is cut is omitted.
    let end = end.split_once(' ').filter(|_| is_cut).map_or(end, |(_, rest)| rest);
    format!("… {end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cosign_says_is_shown_without_the_token() {
        let secrets = || ["eyJ.token".to_owned()].into_iter();
        assert_eq!(without("\n error: eyJ.token is wrong \nbye\n", secrets()), "error: *** is wrong; bye");
        assert_eq!(without(&"x".repeat(2000), secrets()), format!("… {}", "x".repeat(SHOWN)));
    }

    #[test]
    fn what_cosign_says_began_in_the_middle_of_a_word() {
        let shown = without(&"some words ".repeat(100), std::iter::empty());
        assert!(shown.starts_with("… words some ") || shown.starts_with("… some words "), "{shown}");
        let count = shown.chars().count();
        assert!((SHOWN - 10..=SHOWN + 2).contains(&count), "{count}");
        let exact = format!("cut {}", "x".repeat(SHOWN));
        assert_eq!(without(&exact, std::iter::empty()), format!("… {}", "x".repeat(SHOWN)));
    }
}
