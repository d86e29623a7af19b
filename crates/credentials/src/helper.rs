//! Credential helpers: their names and their answers. Running one is the caller's part.

mod said;

use std::fmt;
use std::time::Duration;

use zeroize::{Zeroize as _, Zeroizing};

use crate::Credential;
use tofu_oci_fault::Fault;
use tofu_oci_types::{JsonKind, JsonValue, Secret};

/// The NAME of `docker-credential-NAME`: `[A-Za-z0-9._-]+`, so no path.
///
/// Spec: OCI security checklist of this project; GHSA advisories on helper names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HelperName(String);

/// A text that cannot be a helper's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` cannot be the name of a credential helper: letters, digits, `.`, `_` and `-` make one", input.escape_debug())]
pub struct InvalidHelperName {
    input: String,
}

/// How a helper program ended.
#[derive(Clone)]
pub struct HelperOutput {
    /// Its exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    pub stdout: Vec<u8>,
}

/// What a helper said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelperAnswer {
    Credential(Credential),
    /// That it knows none.
    NotFound,
    /// Neither name nor secret: anonymous. Some helpers say so instead of "not found".
    Empty,
}

/// A helper that gave no usable answer. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
#[fault(code = "helper-failed")]
pub enum HelperError {
    /// the program `docker-credential-NAME` is not on the PATH, or `terraform-credentials-NAME` in no folder of
    /// plugins
    #[error("docker-credential-{name} is not on the PATH")]
    #[fault("helper-not-found", code = not_found(name), todo = "install it, or remove the helper from the file that \
            names it")]
    NotFound { name: HelperName },
    #[error("docker-credential-{name} cannot be run: {reason}")]
    Unable { name: HelperName, reason: String },
    /// The helper ended with a failure.
    #[error("credential helper {name} failed: {said}")]
    Failed {
        name: HelperName,
        /// How it ended, and the known phrase that it wrote, if it wrote one.
        said: String,
    },
    #[error("the answer of credential helper {name} is not an object with Username and Secret")]
    Malformed { name: HelperName },
    #[error("the answer of credential helper {name} is longer than {limit} bytes")]
    TooLong {
        name: HelperName,
        /// The most that is read, in bytes.
        limit: u64,
    },
    #[error("credential helper {name} gave no answer in {} s", limit.as_secs_f64())]
    TimedOut { name: HelperName, limit: Duration },
}

fn not_found(name: &HelperName) -> &'static str {
    if name.as_str() == "desktop.exe" { "helper-not-found-desktop" } else { "helper-not-found" }
}

impl HelperName {
    /// Reads a name.
    ///
    /// # Errors
    /// When the text is empty or holds anything but `[A-Za-z0-9._-]`.
    pub fn parse(text: &str) -> Result<Self, InvalidHelperName> {
        let fine = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if text.is_empty() || !text.bytes().all(fine) {
            return Err(InvalidHelperName { input: text.to_owned() });
        }
        Ok(Self(text.to_owned()))
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The program, `docker-credential-NAME`.
    pub fn program(&self) -> String {
        format!("docker-credential-{}", self.0)
    }
}

/// Reads the output of `docker-credential-NAME get`.
///
/// The username `<token>` marks an identity token.
///
/// # Errors
/// When it failed for another reason than that nothing was found, or its answer cannot be read.
///
/// Spec: docker-credential-helpers, client; measured on `OpenTofu` 1.10 to 1.13.
pub fn helper_outcome(name: &HelperName, output: &HelperOutput) -> Result<HelperAnswer, HelperError> {
    let text = text_of(output);
    match output.exit {
        Some(0) => answer(&text).ok_or_else(|| HelperError::Malformed { name: name.clone() }),
        _ => failure(name, &text, output.exit),
    }
}

/// Reads what `docker-credential-NAME store` or `erase` wrote, if it did not succeed.
///
/// # Errors
/// When it failed for another reason than that nothing was found.
///
/// Spec: docker-credential-helpers, client.
pub fn helper_failure(name: &HelperName, output: &HelperOutput) -> Result<HelperAnswer, HelperError> {
    failure(name, &text_of(output), output.exit)
}

fn text_of(output: &HelperOutput) -> Zeroizing<String> {
    Zeroizing::new(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn failure(name: &HelperName, text: &str, exit: Option<i32>) -> Result<HelperAnswer, HelperError> {
    if text.trim() == NOT_FOUND {
        return Ok(HelperAnswer::NotFound);
    }
    Err(HelperError::Failed { name: name.clone(), said: said::said(text, exit) })
}

/// What a helper writes to its standard output, and not to the other, when it knows no credential.
const NOT_FOUND: &str = "credentials not found in native keychain";

/// Reads an answer as Go fills its structure: members in any case, others passed over, `null` is nothing.
fn answer(text: &str) -> Option<HelperAnswer> {
    let whole = JsonValue::parse_as_go(text).ok()?;
    let (mut username, mut secret) = (Zeroizing::default(), Zeroizing::default());
    match whole.kind {
        JsonKind::Null => return Some(HelperAnswer::Empty),
        JsonKind::Object(_) => {}
        _ => return None,
    }
    for member in whole.members() {
        let mut ignored = Zeroizing::default();
        let field: &mut Zeroizing<String> = match () {
            () if member.is_named("Username") => &mut username,
            () if member.is_named("Secret") => &mut secret,
            () if member.is_named("ServerURL") => &mut ignored,
            () => continue,
        };
        match member.value.kind {
            JsonKind::Null => {}
            _ => *field = member.value.text()?,
        }
    }
    Some(match (username.as_str(), secret.as_str()) {
        ("" | "<token>", "") => HelperAnswer::Empty,
        ("<token>", token) => HelperAnswer::Credential(Credential::IdentityToken(Secret::new(token))),
        (username, password) => HelperAnswer::Credential(Credential::basic(username, password)),
    })
}

impl fmt::Display for HelperName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for HelperOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output may be a secret.
        f.debug_struct("HelperOutput").field("exit", &self.exit).finish_non_exhaustive()
    }
}

impl Drop for HelperOutput {
    fn drop(&mut self) {
        self.stdout.zeroize();
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn outcome(exit: Option<i32>, stdout: &str) -> Result<HelperAnswer, HelperError> {
        let name = HelperName::parse("h1").expect("a name");
        helper_outcome(&name, &HelperOutput { exit, stdout: stdout.as_bytes().to_vec() })
    }

    /// The answer to exit code and standard output: a credential, what else was said, or the error's code.
    #[track_caller]
    fn check(exit: i32, stdout: &str, want: &str) {
        let got = match outcome(Some(exit), stdout) {
            Ok(HelperAnswer::Credential(Credential::Basic { username, password })) => {
                format!("{username}:{}", password.expose())
            }
            Ok(HelperAnswer::Credential(Credential::IdentityToken(token))) => format!("identity {}", token.expose()),
            Ok(other) => format!("{other:?}"),
            Err(error) => error.code().to_owned(),
        };
        assert_eq!(got, want, "exit {exit}: {stdout}");
    }

    #[test]
    fn not_found_is_one_text_with_any_failure() {
        check(1, "credentials not found in native keychain", "NotFound");
        check(1, "\n credentials not found in native keychain\r\n", "NotFound");
        check(3, "credentials not found in native keychain", "NotFound");
        assert_eq!(outcome(None, "credentials not found in native keychain"), Ok(HelperAnswer::NotFound));
        check(0, "credentials not found in native keychain", "helper-failed");
        check(1, "Credentials not found in native keychain", "helper-failed");
        check(1, "error getting credentials - credentials not found in native keychain", "helper-failed");
        check(1, "", "helper-failed");
    }

    #[test]
    fn a_failure_is_reported_by_its_exit_status_and_known_phrases() {
        let said = |exit, stdout: &str| outcome(exit, stdout).expect_err("a failure").to_string();
        assert_snapshot!(said(Some(1), "the keyring is locked\nsecond line"), @"credential helper h1 failed: exit status 1; what it wrote may hold a secret and is not repeated");
        assert_snapshot!(said(Some(7), ""), @"credential helper h1 failed: exit status 7");
        assert_snapshot!(said(None, " \n"), @"credential helper h1 failed: a signal ended it");
        assert_snapshot!(said(Some(1), r#"{"Secret": "hunter2"}"#), @"credential helper h1 failed: exit status 1; what it wrote may hold a secret and is not repeated");
        assert_snapshot!(said(Some(0), "hunter2"), @"the answer of credential helper h1 is not an object with Username and Secret");
    }

    #[test]
    fn answers() {
        check(0, r#"{"ServerURL": "https://ghcr.io", "Username": "user", "Secret": "pass"}"#, "user:pass");
        check(
            0,
            "{\"ServerURL\":\"https://elsewhere.example\",\"Username\":\"hu\",\"Secret\":\"hp\",\"Expiry\":5}\n",
            "hu:hp",
        );
        check(0, r#"{"username":"hu","SECRET":"hp"}"#, "hu:hp");
        check(0, r#"{"Username":"hu","Secret":"one","secret":"two", "Secret": null}"#, "hu:two");
        check(0, "{}", "Empty");
        check(0, "null", "Empty");
        check(0, r#"{"ServerURL": "https://ghcr.io"}"#, "Empty");
        check(0, r#"{"Username": "<token>", "Secret": "idt"}"#, "identity idt");
        check(0, r#"{"Username": "<token>", "Secret": ""}"#, "Empty");
        check(0, r#"{"Username": "", "Secret": "sec"}"#, ":sec");
        check(0, r#"{"Username": "hu", "Secret": ""}"#, "hu:");
        for rubbish in [
            "rubbish",
            "",
            "{} x",
            r#"{"Username": "u", "Secret": "p"} and more"#,
            "[]",
            "5",
            r#""text""#,
            r#"{"Username": 5, "Secret": "p"}"#,
            r#"{"Username": "u", "Secret": ["p"]}"#,
            r#"{"ServerURL": {}, "Username": "u", "Secret": "p"}"#,
        ] {
            check(0, rubbish, "helper-failed");
        }
    }

    #[test]
    fn a_name_is_no_path() {
        for text in ["", "a/b", "a\\b", "a b", "a;b", "ä", "a\0", "/evil", "x/../../evil", "a\n"] {
            assert!(HelperName::parse(text).is_err(), "{text:?}");
        }
        for text in ["osxkeychain", "ecr-login", "desktop.exe", "a_b", "..", "0"] {
            let name = HelperName::parse(text).expect("a name");
            assert_eq!((name.as_str(), name.program()), (text, format!("docker-credential-{text}")));
        }
        assert_snapshot!(HelperName::parse("a/\nb").unwrap_err(), @r"`a/\nb` cannot be the name of a credential helper: letters, digits, `.`, `_` and `-` make one");
    }

    #[test]
    fn errors_have_a_code() {
        let not_found = |name| HelperError::NotFound { name: HelperName::parse(name).expect("a name") };
        assert_eq!(not_found("h1").code(), "helper-not-found");
        assert_eq!(not_found("desktop.exe").code(), "helper-not-found-desktop");
        let name = HelperName::parse("h1").expect("a name");
        assert_eq!(HelperError::TimedOut { name, limit: Duration::from_secs(30) }.code(), "helper-failed");
    }
}
