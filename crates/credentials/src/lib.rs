//! Which credential belongs to a repository, as `OpenTofu` chooses it, without its traps.
//!
//! ```text
//! environment --auth_file_paths--> [SearchPath] ..read by the caller..> bytes --AuthFile::parse--> FoundFile
//! Block, DefaultHelper, SearchScope, FoundFile --> CredentialPolicy --look_up(RepositoryRef)--> CredentialLookup { candidates, choice }
//! Choice::Ask ..the caller runs the helper..> HelperOutput --helper_outcome--> HelperAnswer
//! ```
//!
//! Nothing here reads a file, an environment variable or a helper's output itself. A secret lives in [`Secret`](tofu_oci_types::Secret) alone;
//! no error and no `Debug` output of this crate contains one.

mod choose;
mod credential;
mod decoded;
pub mod docker_file;
mod entry;
mod file;
mod helper;
mod json;
mod key;
mod lookup;
mod near_miss;
pub mod opentofu;
mod opentofu_file;
mod paths;
mod place;
mod policy;
#[cfg(test)]
mod tests;

pub use credential::Credential;
pub use file::{AuthFile, AuthFileError, FileState, FileWarning, FoundFile, OpenTofuEffect};
pub use helper::{
    HelperAnswer, HelperError, HelperName, HelperOutput, InvalidHelperName, helper_failure, helper_outcome,
};
pub use key::Specificity;
pub use lookup::{Candidate, CandidateVerdict, Choice, ChoiceError, CredentialLookup, CredentialOrigin, HelperCall};
pub use near_miss::NearMiss;
pub use paths::{FileKind, SearchPath, auth_file_paths};
pub use place::FilePlace;
pub use policy::{Block, BlockStyle, CredentialPolicy, DefaultHelper, SearchScope};
