//! Which credentials a run may show to which registry, and how a login is stored and removed.
//!
//! ```text
//! blocks of the CLI configuration --settings--> Block, DefaultHelper, where to search
//! credential files                --files-----> FoundFile
//!                all of it --> CredentialPolicy (in `credentials`) --look_up--> a credential, or a helper's name
//! a helper's name --Machine::run_helper--> its answer, once a run for each server
//!
//! login     RegistryName, LoginFile --keeper--> the file or a helper --store--> Change
//! logout    RegistryName, LoginFile --remove--> Removal
//! both      CurrentLogin: which source answers for the registry now
//! tokens    variables, blocks, a helper --HostTokenResolver--> the token of a host that is no OCI registry
//! refused   a repository and an RefusalCause --> where the credentials came from, and what to do about it
//! ```
//!
//! This crate reads credential files. A [`HostMachine`] gives it the environment and runs helpers. It prints nothing: what it
//! returns are values, and `cli` words them.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for the one who explains them")]

mod access;
mod advice;
mod current;
mod files;
mod helper;
mod host_tokens;
mod lasting;
mod login_file;
mod machine;
mod overlooked;
mod path_names;
mod refusal;
mod refused;
mod registry_name;
mod resolver;
mod settings;
mod store;

pub use access::{Access, UsernameError, one_registry};
pub use advice::{Advice, EntryFault, LoginCommand, Remedy, Repetition};
pub use current::{AfterLogin, AfterLogout, CurrentLogin, Obstacle};
pub use helper::{Erased, HelperFault};
pub use host_tokens::{HostTokenOrigin, HostTokenResolver};
pub use lasting::{LastingCredentials, ReadLogins};
pub use login_file::{Keeper, LoginFile, LoginFileError};
pub use machine::{HelperAction, HostMachine, RunError};
pub use overlooked::{OverlookedKind, OverlookedLogin};
pub use path_names::PathNames;
pub use refusal::{CredentialRefusal, ListedFileFault};
pub use refused::{CredentialCause, CredentialReport, FileOutcome, RefusalCause};
pub use registry_name::{RegistryName, RegistryNameError, RegistryNameProblem};
pub use resolver::{CredentialResolver, HelperReply, HelperRun};
pub use store::{Removal, RemovedLogin, StoreLoginError, remove, store};
