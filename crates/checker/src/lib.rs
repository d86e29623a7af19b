//! Findings about repositories, lock files and registries, and what `OpenTofu` makes of them.

mod addresses;
mod check;
pub mod cli_config;
pub mod facts;
mod lock_file;
mod model;
mod not_judged;
pub mod opentofu;
mod registry;
mod rules;

pub use check::{CheckReport, CheckRequest, CheckedAs, check};
pub use lock_file::{Coverage, LockText, coverage, lock_file, not_asked, one_platform, version_gone};
pub use model::{Finding, FindingLevel, Group, NotJudged, Rule};
pub use not_judged::of_facts as not_judged;
pub use registry::{Capability, ProbeError, ProbeReport, ProbeRequest, State, probe};
pub use rules::catalogue::{needs_packages, needs_repository, rule, rules};
pub use rules::{Images, Referring, Subject, Trust, drift, repository, signatures};
