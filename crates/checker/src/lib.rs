//! Findings about repositories, lock files and registries, and what `OpenTofu` makes of them.

mod addresses;
mod check;
pub mod cli_config;
pub mod facts;
pub mod go;
mod lock_file;
mod model;
mod modules;
pub mod opentofu;
mod registry;
mod rejection;
mod rules;

pub use check::{CheckReport, CheckRequest, CheckedAs, check};
pub use lock_file::{
    Coverage, LockText, coverage, lock_file, not_asked, one_platform, version_deprecated, version_gone,
};
pub use model::{CheckRule, Finding, FindingLevel, Group, NotJudged};
pub use modules::{AskedModules, ModuleCheckReport, ModuleCheckRequest, check_modules, refused_module};
pub use registry::{Capability, CapabilityState, ProbeError, ProbeReport, ProbeRequest, probe};
pub use rejection::Rejection;
pub use rules::catalogue::{needs_packages, needs_repository, rule, rules};
pub use rules::not_judged::of_facts as not_judged;
pub use rules::{
    BuiltVersion, CheckSubject, CheckedSignatures, Images, Referring, SignatureTrust, TagCounts, drift, repository,
    signatures,
};
