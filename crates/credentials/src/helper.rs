//! Credential helpers: their names and their answers. Running one is the caller's part.

use std::fmt;

use zeroize::Zeroize as _;

use crate::Credential;

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

/// What a helper program left behind.
#[derive(Clone)]
pub struct HelperOutput {
    /// Its exit code; nothing where a signal ended it.
    pub exit: Option<i32>,
    /// Its standard output.
    pub stdout: Vec<u8>,
}

/// What a helper said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HelperAnswer {
    /// A credential.
    Credential(Credential),
    /// That it knows none.
    NotFound,
    /// Neither name nor secret: anonymous, and final.
    Empty,
}

/// A helper that gave no usable answer. Never contains its answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HelperError {
    /// There is no such program.
    #[error("docker-credential-{name} is not on the PATH")]
    NotFound {
        /// The helper's name.
        name: HelperName,
    },
    /// The program cannot be run.
    #[error("docker-credential-{name} cannot be run: {reason}")]
    Unable {
        /// The helper's name.
        name: HelperName,
        /// Why not, in the system's words.
        reason: String,
    },
    /// The helper ended with a failure.
    #[error("credential helper {name} failed: {said}")]
    Failed {
        /// The helper's name.
        name: HelperName,
        /// The first line that it wrote, at most 200 characters, or how it ended.
        said: String,
    },
    /// The answer is not what helpers write.
    #[error("the answer of credential helper {name} is not an object with Username and Secret")]
    Malformed {
        /// The helper's name.
        name: HelperName,
    },
    /// The answer is longer than an answer can be.
    #[error("the answer of credential helper {name} is longer than {limit} bytes")]
    TooLong {
        /// The helper's name.
        name: HelperName,
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// The helper gave no answer in time.
    #[error("credential helper {name} gave no answer in {seconds} s")]
    TimedOut {
        /// The helper's name.
        name: HelperName,
        /// How long it was waited for.
        seconds: u64,
    },
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

impl HelperError {
    /// A name for programs: `helper-not-found`, `helper-not-found-desktop` or `helper-failed`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotFound { name } if name.as_str() == "desktop.exe" => "helper-not-found-desktop",
            Self::NotFound { .. } => "helper-not-found",
            _ => "helper-failed",
        }
    }
}

/// Reads what `docker-credential-NAME get` left behind.
///
/// The username `<token>` marks an identity token.
///
/// # Errors
/// When it failed for another reason than that nothing was found, or its answer cannot be read.
///
/// Spec: docker-credential-helpers, client; measured on `OpenTofu` 1.10 to 1.13.
pub fn helper_outcome(name: &HelperName, output: &HelperOutput) -> Result<HelperAnswer, HelperError> {
    let _ = output;
    Err(HelperError::Malformed { name: name.clone() })
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
