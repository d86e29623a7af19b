//! Which files stay out of a module's package, and why.

use tofu_oci_fault::Fault;

use std::fmt;

/// A file or a folder that does not go into a module's package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    /// Its name, relative to the module's folder, with a slash at the end of a folder: then it stands for all that is in it.
    pub name: String,
    pub reason: LeftOutReason,
}

/// Why a file does not go into a module's package.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Fault)]
#[non_exhaustive]
#[fault(named)]
pub enum LeftOutReason {
    /// The repository of a version control system.
    VersionControl,
    /// What `tofu init` has put there.
    WorkingData,
    /// A state or a plan: it holds secrets in clear text.
    State,
    /// A CLI configuration, which may hold tokens.
    CliConfig,
    /// A log of a crash, which may hold secrets.
    CrashLog,
    /// Values of variables, except those of examples and tests.
    Variables,
    /// Passwords, tokens or private keys, by the usual name of such a file, or by what is in a file for keys.
    Credentials,
    /// A line of the ignore file.
    Ignored {
        /// The number of the line, from 1.
        line: usize,
    },
}

impl fmt::Display for LeftOutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::VersionControl => "version control",
            Self::WorkingData => "working data of `tofu init`",
            Self::State => "a state or plan, which holds secrets",
            Self::CliConfig => "a CLI configuration, which may hold tokens",
            Self::CrashLog => "a crash log, which may hold secrets",
            Self::Variables => "values of variables, which may be secret",
            Self::Credentials => "passwords, tokens or private keys",
            Self::Ignored { line } => return write!(f, "line {line} of the ignore file"),
        })
    }
}
