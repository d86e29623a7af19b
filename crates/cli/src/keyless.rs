//! The program `cosign`, which gets a certificate for the identity token of a CI job and signs with it.
//!
//! It finds the token itself, in the environment: the token is in no argument and in nothing that is printed.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use tofu_oci_disk::{Purpose, Scratch};
use tofu_oci_packer::KeylessSigner;
use tofu_oci_trust::prove_fresh;
use tofu_oci_types::without_logins;
use tokio::process::Command;
use zeroize::Zeroizing;

use crate::diagnostic::Diagnostic;
use crate::helper_program;

/// The variable of a token, as cosign and GitLab name it.
const TOKEN: &str = "SIGSTORE_ID_TOKEN";
/// Where GitHub Actions gives tokens, and what asks for one.
const GITHUB: [&str; 2] = ["ACTIONS_ID_TOKEN_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_TOKEN"];
/// What `cosign` needs to work: where it finds programs, its files and other machines, and which instance of Sigstore it uses.
const PASSED: [&str; 32] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "TMP",
    "TEMP",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "TUF_ROOT",
    "TUF_ROOT_JSON",
    "TUF_MIRROR",
    "SIGSTORE_NO_CACHE",
    "SIGSTORE_ROOT_FILE",
    "SIGSTORE_CT_LOG_PUBLIC_KEY_FILE",
    "SIGSTORE_REKOR_PUBLIC_KEY",
    "SIGSTORE_TSA_CERTIFICATE_FILE",
    "LANG",
    "LC_ALL",
    "SYSTEMROOT",
    "SYSTEMDRIVE",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "USERNAME",
];
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
        if let Some(problem) =
            variable(TOKEN).and_then(|token| token_problem(&token.to_string_lossy(), SystemTime::now()))
        {
            return Err(Diagnostic::usage(format!("{TOKEN} is not a token to sign with: it {problem}"))
                .code("no-identity-token")
                .hint("put a token into it that the CI platform has just issued for the audience sigstore"));
        }
        let program = helper_program::find("cosign", std::env::var_os("PATH").as_deref()).map_err(|error| {
            Diagnostic::usage(format!("to sign without a key tofu-oci runs cosign: {error}"))
                .code("cosign-missing")
                .hint("install cosign 3, on GitHub Actions with sigstore/cosign-installer")
        })?;
        Ok(Self { program })
    }
}

/// Whether `cosign` gets this variable. Others, such as `COSIGN_KEY`, would change what is signed, by whom, or where it is logged.
fn is_passed(name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    // Windows does not distinguish upper and lower case, and proxies are written in both.
    let name = name.to_ascii_uppercase();
    PASSED.contains(&name.as_str()) || GITHUB.contains(&name.as_str()) || name == TOKEN
}

/// What is wrong with an identity token, as far as can be seen without its issuer.
///
/// Spec: RFC 7519, sections 3 and 4.1.4.
fn token_problem(token: &str, now: SystemTime) -> Option<&'static str> {
    let parts: Vec<&str> = token.trim().split('.').collect();
    let claims = match parts[..] {
        [_, claims, _] => URL_SAFE_NO_PAD.decode(claims).ok(),
        _ => None,
    };
    let Some(claims) = claims.and_then(|claims| serde_json::from_slice::<Value>(&claims).ok()).filter(Value::is_object)
    else {
        return Some("is not a JWT");
    };
    let expires = Duration::try_from_secs_f64(claims.get("exp")?.as_f64()?).ok()?;
    (now.duration_since(UNIX_EPOCH).ok()? >= expires).then_some("has expired")
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
        command.env_clear().envs(std::env::vars_os().filter(|(name, _)| is_passed(name)));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
        let ran = tokio::time::timeout(TIME_LIMIT, run(&mut command)).await;
        let ran = ran.map_err(|_| format!("it gave no answer in {} s", TIME_LIMIT.as_secs()))?;
        let (status, stderr) = ran.map_err(words)?;
        if !status.success() {
            let status = status.code().map_or_else(|| status.to_string(), |code| format!("exit status {code}"));
            return Err(format!("{status}: {}", said(&String::from_utf8_lossy(&stderr))));
        }
        let bundle = tofu_oci_disk::read_file(&bundle, LIMIT as u64);
        let bundle = bundle.map_err(|error| format!("it wrote no bundle: {error}"))?;
        // One that no verifier accepts would only look like a signature.
        match prove_fresh(&bundle, SystemTime::now()) {
            Ok(()) => Ok(bundle),
            Err(problem) => Err(format!("it wrote a bundle that is not proven: {problem}")),
        }
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
    // A proxy may have a password, and cosign prints its address.
    let masked = without_logins(&secrets.fold(text.to_owned(), |text, secret| text.replace(&secret, "***")));
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
    fn the_password_of_a_proxy_was_printed() {
        let said = without("dial http://u:pw@proxy.test/: refused", std::iter::empty());
        assert!(!said.contains("pw") && said.contains("proxy.test"), "{said}");
    }

    #[test]
    fn variables_of_cosign_changed_what_was_signed() {
        let is_passed = |name: &str| is_passed(OsStr::new(name));
        for dropped in ["COSIGN_KEY", "COSIGN_EXPERIMENTAL", "COSIGN_PASSWORD", "SPIFFE_ENDPOINT_SOCKET", "AWS_PROFILE"]
        {
            assert!(!is_passed(dropped), "{dropped}");
        }
        for kept in ["HOME", "https_proxy", "SIGSTORE_ID_TOKEN", "Path", "XDG_CACHE_HOME"] {
            assert!(is_passed(kept), "{kept}");
        }
        // What the handbook says that it gets.
        let handbook = include_str!("../../../docs/how-to/keyless.md");
        let (_, said) = handbook.split_once("Of the environment `cosign` gets").expect("the paragraph");
        let (said, _) = said.split_once("It gets no variable").expect("the other half");
        let is_name =
            |word: &&str| word.contains('_') && word.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
        let named: Vec<&str> = said.split('`').filter(is_name).collect();
        assert!(named.len() > 8, "{named:?}");
        for kept in named {
            assert!(is_passed(kept), "{kept}");
        }
    }

    #[test]
    fn what_is_no_token_was_said_to_sign() {
        let problem = |token: &str| token_problem(token, UNIX_EPOCH + Duration::from_hours(500_000));
        let of = |claims: &str| format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        for token in ["abc", "a.b", "e30.abc.c2ln", &of("[]"), &of("no")] {
            assert_eq!(problem(token), Some("is not a JWT"), "{token}");
        }
        assert_eq!(problem(&of("{\"exp\":1800000000}")), Some("has expired"));
        for token in [of("{\"exp\":1800000001}"), of("{}"), format!("{}\n", of("{\"exp\":1.9e9}"))] {
            assert_eq!(problem(&token), None, "{token}");
        }
    }

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
