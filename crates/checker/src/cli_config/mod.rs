//! What the user's own files will do in the releases of `OpenTofu`, before it bites.
//!
//! ```text
//! CliConfigFacts --findings--> [CliConfigFinding]
//!
//! problems.rs       what the reading itself found wrong, and what is left then
//! names.rs          names and texts that are ignored, files that are passed over, Terraform beside OpenTofu
//! overlap.rs        methods that take the same providers
//! origin.rs         `direct` and hosts that have no registry; patterns without a host
//! folders.rs        folders that are named
//! templates.rs      repositories that come out of a template
//! installation.rs   nothing installable, and folders that count without being named
//! required.rs       the providers that a configuration requires, and its lock file
//! ```
//!
//! A finding names the releases that it is about: the same file is read otherwise by 1.10 than by 1.12 and later.
//! Every rule stands in [`RULES`], and in the table of `docs/configuration.md`.

mod catalogue;
mod finding;
mod folders;
mod installation;
mod names;
mod origin;
mod overlap;
mod problems;
mod required;
mod templates;
#[cfg(test)]
mod tests;
mod view;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_types::{Constraints, ProviderAddr, Version};

pub use catalogue::{RULES, RuleInfo};
pub use finding::{CliConfigFinding, FoundAt};

use crate::FindingLevel;

use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{Environment, Files, Methods, Reading};

/// Everything that the rules look at.
pub struct CliConfigFacts<'a> {
    /// The user's files as each of [`MEASURED`](tofu_oci_mapper::config::MEASURED) reads them, in that order.
    pub readings: [Reading; 3],
    /// The methods that come out of each reading, in the same order.
    pub methods: [Methods; 3],
    /// Where the programs run.
    pub environment: &'a Environment,
    /// For a look at folders that are named.
    pub files: &'a dyn Files,
    /// The suffix of hosts that name a registry.
    pub magic_suffix: MagicSuffix,
    /// The lock file of the working directory; nothing where there is none.
    pub lock: Option<LockFacts>,
    /// The providers that the configuration of the working directory requires.
    pub required: Vec<RequiredFact>,
}

/// What a lock file says.
#[derive(Clone, Debug)]
pub struct LockFacts {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// Its entries.
    pub providers: Vec<LockedFact>,
}

/// An entry of a lock file.
#[derive(Clone, Debug)]
pub struct LockedFact {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The schemes of its checksums, such as `h1` and `zh`.
    pub schemes: BTreeSet<String>,
    /// The bytes of the lock file's text to underline: the address in the entry's first line.
    pub span: Option<Range<usize>>,
}

/// A provider that a configuration requires.
#[derive(Clone, Debug)]
pub struct RequiredFact {
    /// The provider.
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
}

/// Everything worth telling, in the order of the files and of the places in them; what is about no place comes last.
pub fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    let mut found = problems::findings(facts);
    found.extend(names::findings(facts, &found));
    for rule in [
        overlap::findings,
        origin::findings,
        folders::findings,
        templates::findings,
        installation::findings,
        required::findings,
    ] {
        found.extend(rule(facts));
    }
    let files = &facts.readings[2].files;
    let order = |finding: &CliConfigFinding| {
        let at = finding.at.as_ref();
        let file = at.and_then(|at| files.iter().position(|file| file.path == at.path)).unwrap_or(usize::MAX);
        (at.is_none(), file, at.and_then(|at| at.span.as_ref().map(|span| span.start)), finding.level)
    };
    found.sort_by_key(order);
    found
}
