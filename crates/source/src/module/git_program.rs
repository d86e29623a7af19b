//! What is asked of the program `git`.

use std::path::Path;

use async_trait::async_trait;
use tofu_oci_types::GitTransport;

/// The program `git`. `cli` gives the real one, tests give their own.
#[async_trait]
pub trait GitProgram: Send + Sync {
    /// Runs `git` with these arguments. It asks the user no question, runs no hook, and ends if the future is dropped.
    ///
    /// # Errors
    /// If it cannot be run, and if it was ended because it went beyond a limit. An exit code other than 0 is an output.
    async fn run(&self, command: &GitCommand<'_>) -> Result<GitOutput, GitRunError>;
}

/// One run of `git`.
#[derive(Debug)]
pub struct GitCommand<'a> {
    /// Its arguments. Whatever a user or registry wrote comes after a `--`, or in a value that cannot begin with `-`.
    pub arguments: &'a [&'a str],
    pub dir: &'a Path,
    /// How the repository is reached: no other way is open to it.
    pub transport: GitTransport,
    /// Who named the repository.
    pub named_by: GitNamer,
    /// Where to connect to for a host instead of looking it up: a value of `http.curloptResolve`, which git knows since 2.37.
    pub pinned: Option<&'a str>,
    /// Most bytes that the working directory may hold, and most bytes of its output.
    pub limits: GitLimits,
}

/// How much `git` may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GitLimits {
    /// Most bytes below the working directory.
    pub folder: u64,
    /// Most bytes of its standard output.
    pub output: usize,
}

/// Who named a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitNamer {
    User,
    /// A registry, or the `.gitmodules` of another repository: its host must not redirect.
    Other,
}

/// What `git` has said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitOutput {
    /// Whether its exit code is 0.
    pub success: bool,
    pub stdout: Vec<u8>,
    /// The last lines of its standard error, fit to be printed and without the secrets of addresses.
    pub message: String,
}

/// Why `git` gave no output.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GitRunError {
    /// It is in no folder of the PATH, or cannot be run.
    #[error("the program git cannot be run: {reason}")]
    NotRun { reason: String },
    /// The process that ends git together with tofu-oci cannot be started, so git was not run.
    #[error("git was not run, since the process that ends it with tofu-oci cannot be started: {reason}")]
    Unguarded { reason: String },
    /// It made no progress.
    #[error("git made no progress for {seconds} s")]
    Stuck { seconds: u64 },
    /// It wrote too much.
    #[error("git fetched more than {limit} bytes")]
    TooLarge { limit: u64 },
}
