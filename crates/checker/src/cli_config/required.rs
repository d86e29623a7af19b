//! The providers that a configuration requires, and its lock file.

use super::templates::first;
use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding, FoundAt, LockedFact};
use crate::FindingLevel;

pub(super) fn findings(facts: &CliConfigFacts<'_>) -> Vec<CliConfigFinding> {
    let mut found = each(facts, locked);
    found.extend(each(facts, not_covered));
    found
}

/// Entries of the lock file that an `oci_mirror` cannot satisfy.
///
/// Spec: measured on 1.10 to 1.13 (lock file with `oci_mirror`).
fn locked(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let Some(lock) = &view.facts.lock else { return Vec::new() };
    let finding = |entry: &LockedFact| {
        let LockedFact { address, version, schemes, span } = entry;
        if !schemes.contains("h1") || schemes.contains("zh") {
            return None;
        }
        let method = first(view, address)?;
        let title = format!("{address} {version} is locked with h1: alone, and comes from an oci_mirror");
        let at = FoundAt { path: lock.path.clone(), text: lock.text.clone(), span: span.clone() };
        Some(
            CliConfigFinding::new("lock-h1-only", FindingLevel::Error, title)
                .at(Some(at))
                .detail(format!(
                    "init refuses the package of {}, identical or not, unless the plugin cache holds it: an oci_mirror is \
                     compared by zh: only",
                    method.label()
                ))
                .instead(format!(
                    "the missing zh: into the entry: run `tofu-oci install` here, which verifies h1: and adds it, or remove \
                     the entry of {address} and run init again"
                )),
        )
    };
    lock.providers.iter().filter_map(finding).collect()
}

/// Providers that no method selects.
fn not_covered(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    if view.methods.list.is_empty() {
        return Vec::new();
    }
    let explicit = view.reading.config.installation.as_ref();
    let at = explicit.and_then(|block| {
        let file = view.reading.files.get(block.file)?;
        Some(FoundAt::of(file, Some(block.name_span.clone())))
    });
    let required = view.facts.required.iter().map(|required| &required.address).filter(|address| !address.is_builtin());
    let missing =
        required.filter(|address| !view.methods.list.iter().any(|method| method.selector.select(address).is_in()));
    missing
        .map(|address| {
            CliConfigFinding::new(
                "provider-not-covered",
                FindingLevel::Error,
                format!("no method is for {address}, which the configuration requires"),
            )
            .at(at.clone())
            .detail("init says that it was not found in any of the search locations; no registry is asked")
            .instead(format!("\"{address}\" into the include of a method that has it, or out of its exclude"))
        })
        .collect()
}
