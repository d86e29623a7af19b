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
mod facts;
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

pub use catalogue::{RULES, RuleInfo};
pub use facts::{CliConfigFacts, LockFacts, LockedFact, RequiredFact};
pub use finding::{CliConfigFinding, FoundAt};

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
