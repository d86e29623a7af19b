//! Credential helpers: their names and their answers. Running one is the caller's part.

use std::fmt;

use serde_json::Value;
use zeroize::Zeroize as _;

use crate::credential::wipe;
use crate::entry::member;
use crate::{Credential, Secret};

/// What a helper program left behind.
#[derive(Clone)]
pub struct HelperOutput {
    /// Whether it ended with exit code 0.
    pub success: bool,
    /// Its standard output.
    pub stdout: Vec<u8>,
}

impl fmt::Debug for HelperOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The output may be a secret.
        f.debug_struct("HelperOutput").field("success", &self.success).finish_non_exhaustive()
    }
}

impl Drop for HelperOutput {
    fn drop(&mut self) {
        self.stdout.zeroize();
    }
}

/// A helper that gave no usable answer. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// The answer is not what helpers write.
    #[error("the credential helper's answer is not an object with Username and Secret")]
    Malformed,
    /// The helper ended with a failure.
    #[error("credential helper {name} failed: {said}")]
    Failed {
        /// The helper's name.
        name: String,
        /// The first line that it wrote, at most 200 characters.
        said: String,
    },
}

/// Whether the name can be the end of `docker-credential-NAME`: `[A-Za-z0-9._-]+`, so no path.
///
/// Spec: OCI security checklist of this project; GHSA advisories on helper names.
pub fn valid_helper_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
}

/// Reads the answer of `docker-credential-NAME get`. Nothing when the helper knows no credential.
///
/// The username `<token>` marks an identity token.
///
/// # Errors
/// When the text is neither an answer nor the message that nothing was found.
pub fn parse_helper_answer(stdout: &[u8]) -> Result<Option<Credential>, HelperError> {
    if says_not_found(stdout) {
        return Ok(None);
    }
    let mut answer: Value = serde_json::from_slice(stdout).map_err(|_| HelperError::Malformed)?;
    let credential = read(&answer);
    wipe(&mut answer);
    credential
}

/// Reads what a helper left behind. Nothing when it knows no credential.
///
/// # Errors
/// When it failed for another reason than that nothing was found, or its answer cannot be read.
pub fn helper_outcome(name: &str, output: &HelperOutput) -> Result<Option<Credential>, HelperError> {
    if output.success || says_not_found(&output.stdout) {
        return parse_helper_answer(&output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.trim().lines().next().unwrap_or_default();
    // Something that looks like an answer after all is not repeated.
    let said = if line.is_empty() || text.contains('{') {
        "it gave no reason".to_owned()
    } else {
        line.chars().filter(|character| !character.is_control()).take(200).collect()
    };
    Err(HelperError::Failed { name: name.to_owned(), said })
}

fn says_not_found(stdout: &[u8]) -> bool {
    stdout.trim_ascii() == b"credentials not found in native keychain"
}

fn read(answer: &Value) -> Result<Option<Credential>, HelperError> {
    let answer = match answer {
        Value::Null => return Ok(None),
        Value::Object(answer) => answer,
        _ => return Err(HelperError::Malformed),
    };
    let text = |name| match member(answer, name) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text.as_str()),
        Some(_) => Err(HelperError::Malformed),
    };
    Ok(match (text("Username")?, text("Secret")?) {
        ("" | "<token>", "") => None,
        ("<token>", token) => Some(Credential::IdentityToken(Secret::new(token))),
        (username, password) => Some(Credential::basic(username, password)),
    })
}
