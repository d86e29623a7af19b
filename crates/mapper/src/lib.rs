//! From an address and the user's rules to the places to look in.
//!
//! ```text
//! Environment, Files --config::read--> Reading --methods--> Methods      which methods count, and the problems
//! ProviderAddr --Methods::candidates--> [Candidate { Selection, Place }]  the answer of each for an address
//!
//! include, exclude                example.com/acme/*                            Pattern, Selector
//! a repository template           ghcr.io/acme/${namespace}/${type}             RepositoryTemplate
//! the magic suffix                example.com.oci.opentofu.org/foo/bar
//!                                 -> example.com/foo/opentofu-provider-bar      MagicSuffix
//! ```
//!
//! The methods of a file are the whole answer: they replace the implicit ones, and the magic suffix counts only inside
//! `direct`. So no request goes to a public registry if the file omits `direct`.
//!
//! This crate opens no connections, and looks at files only through [`ConfigFiles`], which is handed in.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for the one who explains them")]

pub mod config;
mod environment;
mod error;
mod folder;
mod magic;
mod modules;
mod one_to_one;
mod pattern;
mod place;
pub mod region;
mod repositories;
mod symbol;
mod template;
#[cfg(test)]
mod tests;
mod uri_template;

pub use config::{
    CliConfig, CliConfigProblem, CliConfigReading, ConfigFiles, Environment, Method, MethodCandidate, MethodKind,
    Methods, Os,
};
pub use error::{MapError, TemplateError};
pub use folder::{FolderForm, FolderPackage, FolderUnread, folder_packages, nearly_packages};
pub use magic::{InvalidMagicSuffix, MagicSuffix};
pub use modules::{ModuleMirror, ModuleMirrorOrigin, ModuleMirrors, ModuleMirrorsError, ModuleMirrorsProblem};
pub use one_to_one::{AddressRule, NotOneToOne, check_mentioned, check_one_to_one, provider_and_module_in_one_place};
pub use pattern::{PatternList, Selection, Selector};
pub use place::{MappedPlace, OciPlace, PlaceRule};
pub use repositories::{ModuleRepositories, TemplatePlace, TemplateRepositories};
pub use symbol::{Symbol, TemplateAddress, TemplateOf};
pub use template::{ModuleTemplate, RepositoryTemplate};
pub use tofu_oci_types::{InvalidPattern, Pattern};
pub use tofu_oci_types::{RepositoryPrefix as Prefix, parse_prefix};
pub use uri_template::{InvalidUriTemplate, UriTemplate};
