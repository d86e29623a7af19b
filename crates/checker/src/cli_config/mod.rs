//! The effects of the user's CLI configuration in each release of `OpenTofu`.
//!
//! ```text
//! CliConfigFacts --findings--> [CliConfigFinding]
//!
//! problems.rs       the errors of the reading, and what is left of the file
//! names.rs          ignored names and texts, skipped files, Terraform beside OpenTofu
//! overlap.rs        methods that take the same providers
//! origin.rs         `direct` and hosts without a registry; patterns without a host
//! network_mirror.rs what a network mirror cannot serve, and arguments without effect
//! folders.rs        folders that the files name
//! templates.rs      repositories that a template makes
//! installation.rs   nothing to install from, and folders that count without being named
//! required.rs       the providers that a configuration requires, and its lock file
//! ```
//!
//! A finding names the releases that it is about: 1.10 reads a file differently from 1.12 and later.
//! [`RULES`] lists every rule, and so does the table of `docs/reference/config-findings.md`.

mod catalogue;
mod facts;
mod finding;
mod folders;
mod installation;
mod names;
mod network_mirror;
mod origin;
mod overlap;
mod problems;
mod required;
mod templates;
#[cfg(test)]
mod tests;
mod view;

pub use catalogue::{RULES, RuleInfo};
pub use facts::{CliConfigFacts, LockFacts, LockedFact, RequiredFact};
pub use finding::{CliConfigFinding, FoundAt};
pub use templates::template_findings;

/// The findings, in the order of the files and of the places in them; findings without a place come last.
pub fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    let mut found = problems::findings(facts);
    found.extend(names::findings(facts, &found));
    for rule in [
        overlap::findings,
        origin::findings,
        network_mirror::findings,
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
