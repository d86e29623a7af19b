//! What this crate asks of the machine that it runs on.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use tofu_oci_credentials::{HelperName, HelperOutput};

/// The environment and the helper programs. `cli` gives the real ones, tests give their own.
#[async_trait]
pub trait HostMachine: Send + Sync {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<OsString>;

    /// The number of this user, if podman's paths contain it on this system.
    fn user(&self) -> Option<String>;

    /// The system's name as in [`std::env::consts::OS`].
    fn system(&self) -> &'static str;

    /// Runs `docker-credential-NAME ACTION` with this input.
    ///
    /// # Errors
    /// If there is no such program, and if it does not come to an end.
    async fn run_helper(
        &self,
        helper: &HelperName,
        action: HelperAction,
        input: &[u8],
    ) -> Result<HelperOutput, RunError>;

    /// Runs the program of a `credentials_helper` block with these arguments and no input.
    ///
    /// # Errors
    /// If it cannot be run, and if it does not come to an end.
    async fn run_token_helper(&self, program: &Path, arguments: &[String]) -> Result<HelperOutput, RunError>;
}

/// What a helper is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HelperAction {
    /// Give the login of a server.
    Get,
    Store,
    /// Forget the login of a server.
    Erase,
}

impl HelperAction {
    /// The program's argument.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Store => "store",
            Self::Erase => "erase",
        }
    }
}

/// Why a program gave no output. Never contains its output, which may be a secret.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It is in no folder of the PATH.
    #[error("{program} is not on the PATH")]
    NotFound { program: String },
    /// It is there, and its mode forbids to run it.
    #[error("{} is not executable", path.display())]
    NotExecutable { path: PathBuf },
    /// The folder that it was found in depends on the working directory.
    #[error("{program} was found in `{}`, a relative entry of the PATH, and is not run from there", folder.display())]
    Relative { program: String, folder: PathBuf },
    /// The system could not run it.
    #[error("cannot run {}: {source}", path.display())]
    Start { path: PathBuf, source: io::Error },
    /// It did not end in time.
    #[error("{program} gave no answer in {} s", limit.as_secs_f64())]
    TimedOut { program: String, limit: Duration },
    /// Its output is longer than an answer can be.
    #[error("{program} answered with more than {limit} bytes")]
    TooLong {
        program: String,
        /// The most that is read, in bytes.
        limit: u64,
    },
}

#[cfg(test)]
pub(crate) mod doubles {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// A Linux machine of user 1000 with these variables, whose helpers answer by a table.
    #[derive(Default)]
    pub(crate) struct Doubles {
        variables: BTreeMap<String, String>,
        answers: BTreeMap<(String, String), (i32, String)>,
        asked: Mutex<Vec<String>>,
    }

    impl Doubles {
        pub(crate) fn of_variables(variables: &[(&str, &str)]) -> Self {
            let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            Self { variables: variables.iter().map(own).collect(), ..Self::default() }
        }

        /// What a helper writes, with its exit code, for an action and the bytes on its input.
        pub(crate) fn answering(mut self, action: HelperAction, input: &str, exit: i32, output: &str) -> Self {
            self.answers.insert((action.word().to_owned(), input.to_owned()), (exit, output.to_owned()));
            self
        }

        /// What a token helper writes, with its exit code, for arguments that are joined by blanks.
        pub(crate) fn with_token_helper(mut self, program: &str, arguments: &str, exit: i32, output: &str) -> Self {
            self.answers.insert((program.to_owned(), arguments.to_owned()), (exit, output.to_owned()));
            self
        }

        /// The arguments of every token helper that was run.
        pub(crate) fn asked(&self) -> Vec<String> {
            lock(&self.asked).clone()
        }
    }

    fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
        mutex.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[async_trait]
    impl HostMachine for Doubles {
        fn variable(&self, name: &str) -> Option<OsString> {
            self.variables.get(name).map(OsString::from)
        }

        fn user(&self) -> Option<String> {
            Some("1000".to_owned())
        }

        fn system(&self) -> &'static str {
            "linux"
        }

        async fn run_helper(
            &self,
            helper: &HelperName,
            action: HelperAction,
            input: &[u8],
        ) -> Result<HelperOutput, RunError> {
            let key = (action.word().to_owned(), String::from_utf8_lossy(input).into_owned());
            match self.answers.get(&key) {
                Some((exit, output)) => Ok(HelperOutput { exit: Some(*exit), stdout: output.clone().into_bytes() }),
                None => Err(RunError::NotFound { program: helper.program() }),
            }
        }

        /// Answers by the arguments, joined by blanks.
        async fn run_token_helper(&self, program: &Path, arguments: &[String]) -> Result<HelperOutput, RunError> {
            let key = (program.display().to_string(), arguments.join(" "));
            lock(&self.asked).push(key.1.clone());
            match self.answers.get(&key) {
                Some((exit, output)) => Ok(HelperOutput { exit: Some(*exit), stdout: output.clone().into_bytes() }),
                None => Err(RunError::NotExecutable { path: program.to_owned() }),
            }
        }
    }
}
