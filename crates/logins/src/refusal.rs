//! Why a run that needs the user's credentials does not begin.

use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_credentials::{AuthFileError, FilePlace, FileWarning};
use tofu_oci_mapper::config::{CliConfigProblem, CliConfigReading};

/// An error in the user's files that ends every verb which needs credentials. `OpenTofu` would go on.
#[derive(Clone, Debug)]
pub enum CredentialRefusal {
    /// The CLI configuration has errors about credentials.
    Configuration {
        /// The files, as they were read.
        reading: Arc<CliConfigReading>,
        /// The error to report.
        problem: CliConfigProblem,
        /// How many other errors there are.
        more: usize,
    },
    /// `docker_style_config_files` lists a file that cannot be used.
    ListedFile {
        /// The file's name, for people.
        name: String,
        /// What is wrong with it.
        fault: ListedFileFault,
        /// Where it is listed.
        place: FilePlace,
        /// What the user probably meant by `~`, which is not expanded there.
        expanded: Option<PathBuf>,
    },
}

/// What is wrong with a listed file.
#[derive(Clone, Debug)]
pub enum ListedFileFault {
    /// Its name is empty.
    Unnamed,
    /// It does not exist.
    Missing,
    /// It cannot be read.
    Unreadable {
        reason: String,
    },
    TooLarge {
        /// The most that is read, in bytes.
        limit: u64,
    },
    /// It is not a credential file.
    Malformed(AuthFileError),
    InvalidEntry(FileWarning),
}

impl CredentialRefusal {
    /// A stable name of the fault.
    pub fn code(&self) -> &str {
        match self {
            Self::Configuration { problem, .. } => &problem.code,
            Self::ListedFile { .. } => "config-file-error",
        }
    }
}
