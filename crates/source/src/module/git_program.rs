//! What is asked of the program `git`.

use std::path::Path;

use async_trait::async_trait;
use tofu_oci_fault::Fault;
use tofu_oci_types::GitTransport;

use super::access::LocationAccess;

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
    /// Which logins the repository may be shown.
    pub access: LocationAccess,
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
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum GitRunError {
    /// the program git cannot be run, and the module is in a git repository
    #[error("the program git cannot be run: {reason}")]
    #[fault("git-missing", todo = "install git")]
    #[hint("install git; modules in git repositories need it")]
    NotRun { reason: String },
    /// git was not run, since tofu-oci could not start the process that ends git together with it
    #[error("git was not run, since the process that ends it with tofu-oci cannot be started: {reason}")]
    #[fault("git-unguarded", todo = "check that the program file of tofu-oci is in place, and the limit of processes")]
    #[hint("tofu-oci starts itself for that: check that its program file is in place, and the limit of processes")]
    Unguarded { reason: String },
    /// git made no progress for the time of `--timeout`
    #[error("git made no progress for {seconds} s")]
    #[fault("git-stuck", end = Unexpected, todo = "run it again, or with a longer `--timeout`")]
    #[hint("run it again, or wait longer: --timeout 5m")]
    Stuck { seconds: u64 },
    /// the git repository has more bytes than a package may have
    #[error("git fetched more than {limit} bytes")]
    #[fault("git-too-large", todo = "name another package")]
    #[hint("name a smaller repository, or publish the module with `tofu-oci module push`")]
    TooLarge { limit: u64 },
}
