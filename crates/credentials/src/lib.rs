//! Which credential belongs to a repository, chosen from docker and containers files.
//!
//! ```text
//! environment --auth_file_paths--> paths ..read by the caller..> bytes --AuthFile::parse--> CredentialFiles
//! CredentialFiles + RepositoryRef --choices--> [Choice]: a credential, or a helper that the caller runs
//! a helper's output --helper_outcome--> a credential or none
//! ```
//!
//! Nothing here reads a file, an environment variable or a helper's output itself. A secret lives in [`Secret`] alone;
//! no error and no `Debug` output of this crate contains one.

mod choose;
mod credential;
pub mod docker_file;
mod entry;
mod file;
mod helper;
mod json;
mod key;
#[cfg(test)]
mod oracle;
mod paths;
#[cfg(test)]
mod secrecy;

pub use choose::{Choice, CredentialFiles};
pub use credential::{Credential, Secret};
pub use file::{AuthFile, AuthFileError, FileWarning};
pub use helper::{HelperError, HelperOutput, helper_outcome, parse_helper_answer, valid_helper_name};
pub use paths::auth_file_paths;
