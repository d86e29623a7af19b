//! Where a module is, as JSON lines.

use serde::Serialize;
use tofu_oci_explain::modules::{HeldBackVersion, MappingStep};
use tofu_oci_explain::releases::VersionNotice;
use tofu_oci_types::Version;

use super::model::{ExplainedModule, ModuleAsk, ResolvedModule, mapped_by, wanted};
use crate::diagnostic::Diagnostic;
use crate::report::JsonLines;
use crate::verbs::module::mapped::MappedBy;

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-resolved")]
pub(super) struct ResolvedModuleLine<'a> {
    source: &'a str,
    mapped_by: Option<&'a MappedBy>,
    registry: Option<&'a str>,
    #[serde(flatten)]
    found: &'a ResolvedModule,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-rule")]
struct ModuleRuleLine<'a> {
    source: &'a str,
    number: usize,
    at: Option<String>,
    selected: bool,
    matches: &'a str,
    template: String,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-offer")]
struct ModuleOfferLine<'a> {
    source: &'a str,
    place: &'a str,
    registry: Option<&'a str>,
    versions: Vec<&'a Version>,
    withdrawn: Vec<&'a Version>,
    code: Option<&'a str>,
    error: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "module-choice")]
struct ModuleChoiceLine<'a> {
    source: &'a str,
    constraints: String,
    outcome: &'static str,
    #[serde(flatten)]
    found: &'a ResolvedModule,
    reason: &'a str,
    held_back: &'a [HeldBackVersion],
    notice: Option<&'a VersionNotice>,
    code: Option<&'a str>,
    error: Option<&'a str>,
}

/// The answer without an explanation.
pub(super) fn resolved<'a>(
    ask: &ModuleAsk<'a>,
    registry: Option<&'a str>,
    found: &'a ResolvedModule,
) -> ResolvedModuleLine<'a> {
    ResolvedModuleLine { source: ask.typed, mapped_by: mapped_by(ask), registry, found }
}

/// One line a rule, one for what the place offers, one for how it ends.
pub(super) fn explained(lines: &JsonLines, ask: &ModuleAsk<'_>, explained: &ExplainedModule<'_>) {
    let source = ask.typed;
    for MappingStep { number, mirror, selected, matches } in &explained.steps {
        lines.add(&ModuleRuleLine {
            source,
            number: *number,
            at: mirror.origin.as_ref().map(ToString::to_string),
            selected: *selected,
            matches,
            template: mirror.repositories.to_string(),
        });
    }
    let failed = explained.listing.as_ref().err();
    let listing = explained.listing.as_ref().ok();
    lines.add(&ModuleOfferLine {
        source,
        place: &explained.place,
        registry: explained.registry.as_deref(),
        versions: listing.into_iter().flat_map(|listing| listing.versions.iter().rev()).collect(),
        withdrawn: listing.into_iter().flat_map(|listing| listing.withdrawn.iter().rev()).collect(),
        code: failed.map(Diagnostic::stable_name),
        error: failed.map(Diagnostic::text),
    });
    let failed = explained.found.as_ref().err();
    let nothing = ResolvedModule::default();
    lines.add(&ModuleChoiceLine {
        source,
        constraints: wanted(ask.name).to_string(),
        outcome: if failed.is_some() { "not-found" } else { "found" },
        found: explained.found.as_ref().unwrap_or(&nothing),
        reason: &explained.choice.why,
        held_back: &explained.choice.held_back,
        notice: explained.notice(),
        code: failed.map(Diagnostic::stable_name),
        error: failed.map(Diagnostic::text),
    });
}
