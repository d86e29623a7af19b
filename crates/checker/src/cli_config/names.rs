//! Ignored names and texts, skipped files, and files that Terraform reads too.

use std::path::Path;

use tofu_oci_hcl::Duplicates;

use super::view::{ReleaseView, each};
use super::{CliConfigFacts, CliConfigFinding, FoundAt};
use crate::FindingLevel;
use tofu_oci_mapper::config::{ConfigFileState, MainFileOrigin, MethodKind, Unknown, known_names};

/// What `OpenTofu` ignores silently, except at places that `reported` names.
pub(super) fn findings(facts: &CliConfigFacts<'_>, reported: &[CliConfigFinding]) -> Vec<CliConfigFinding> {
    let mut found = each(facts, unknown);
    found.retain(|finding| !is_reported(reported, finding));
    found.extend(each(facts, overlooked));
    found.extend(each(facts, passed_over));
    found.extend(each(facts, terraform));
    found
}

/// Whether a problem has this very place.
fn is_reported(reported: &[CliConfigFinding], finding: &CliConfigFinding) -> bool {
    let start = |at: &FoundAt| at.span.as_ref().map(|span| span.start);
    reported
        .iter()
        .filter_map(|known| known.at.as_ref())
        .any(|known| finding.at.as_ref().is_some_and(|at| at.path == known.path && start(at) == start(known)))
}

fn unknown(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let finding = |unknown: &Unknown| {
        let Unknown { name, inside, near, .. } = unknown;
        let file = view.reading.files.get(unknown.file)?;
        let is_block = file.text.get(unknown.span.end..).is_some_and(|rest| {
            let line = rest.lines().next().unwrap_or_default();
            line.contains('{') && !line.split('{').next().unwrap_or_default().contains('=')
        });
        let (rule, what) = if is_block { ("ignored-block", "block") } else { ("ignored-argument", "argument") };
        let place =
            inside.as_ref().map_or_else(|| "at the top of the file".to_owned(), |inside| format!("in {inside}"));
        let level = if LATER.contains(&name.as_str()) { FindingLevel::Note } else { FindingLevel::Warning };
        let finding = CliConfigFinding::new(rule, level, format!("no {what} {place} is called `{name}`"))
            .at(Some(FoundAt::of(file, Some(unknown.span.clone()))))
            .detail("OpenTofu silently ignores it, and everything in it");
        let known = known_names(inside.as_deref());
        let instead = near.map(str::to_owned).or_else(|| {
            let alike = known
                .iter()
                .filter(|known| *known != name)
                .find(|known| name.starts_with(**known) || known.starts_with(name.as_str()));
            alike.map(|known| (*known).to_owned())
        });
        // The methods alone are known elsewhere.
        let is_method = inside.is_none() && level == FindingLevel::Warning && !known_names(Some(name)).is_empty();
        let instead = instead.filter(|_| !is_method).unwrap_or_else(|| match (level, inside) {
            _ if is_method => "it into provider_installation { }".to_owned(),
            (FindingLevel::Note, _) => "it all the same if a newer OpenTofu reads the file".to_owned(),
            (_, Some(_)) => format!("one of {}, or leave it out", known.join(", ")),
            (_, None) => "a name that OpenTofu knows, or leave it out".to_owned(),
        });
        Some(finding.instead(instead))
    };
    view.reading.unknown.iter().filter_map(finding).collect()
}

/// A note for older releases about names that only newer ones know.
const LATER: [&str; 3] = ["registry_protocols", "download_retry_count", "trust_all_hashes"];

fn overlooked(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let read = view.reading.files.iter().filter(|file| file.state == ConfigFileState::Read);
    read.flat_map(|file| {
        let document = tofu_oci_hcl::parse(&file.text, Duplicates::Allowed).ok();
        document.into_iter().flat_map(|document| document.overlooked).map(move |over| {
            CliConfigFinding::new("ignored-text", FindingLevel::Warning, over.message)
                .at(Some(FoundAt::of(file, Some(over.span))))
                .detail("OpenTofu silently passes over it")
                .instead("it whole, or leave it out")
        })
    })
    .collect()
}

fn passed_over(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let passed = view.reading.located.passed_over.iter();
    passed
        .map(|passed| {
            // Whoever names another file means it.
            let named =
                view.reading.located.main.as_ref().is_some_and(|main| main.origin.named_by().is_some() && main.exists);
            let level = if named { FindingLevel::Note } else { FindingLevel::Warning };
            CliConfigFinding::new("file-passed-over", level, "this file is not read")
                .at(Some(FoundAt { path: passed.path.clone(), text: "".into(), span: None }))
                .detail(format!("nothing in it counts: {}", passed.why))
                .instead(if view.reading.files.is_empty() {
                    "what is needed into a file that is read, such as ~/.tofurc, or remove this one"
                } else {
                    "what is needed into the file that is read, or remove this one"
                })
        })
        .collect()
}

/// Methods that Terraform does not know, in files that it reads too.
///
/// Spec: measured with Terraform 1.11.
fn terraform(view: &ReleaseView<'_>) -> Vec<CliConfigFinding> {
    let legacy = view.reading.located.main.as_ref().filter(|main| main.origin == MainFileOrigin::Legacy);
    let shared = |path: &Path| {
        let folder = path.parent().and_then(Path::file_name);
        legacy.is_some_and(|main| main.path == path) || folder.is_some_and(|folder| folder == ".terraform.d")
    };
    let explicit = view.explicit().iter().filter(|method| matches!(method.kind, MethodKind::OciMirror { .. }));
    explicit
        .filter(|method| {
            let file = method.file.and_then(|file| view.reading.files.get(file));
            file.is_some_and(|file| shared(&file.path))
        })
        .map(|method| {
            CliConfigFinding::new(
                "terraform-reads-it-too",
                FindingLevel::Warning,
                "Terraform reads this file too, and knows no oci_mirror",
            )
            .at(view.head(method))
            .detail(
                "every Terraform command prints `Unknown provider installation method`, and goes on with the other \
                     methods; OpenTofu reads it well",
            )
            .instead("it to ~/.tofurc, which OpenTofu reads first and Terraform does not read")
        })
        .collect()
}
