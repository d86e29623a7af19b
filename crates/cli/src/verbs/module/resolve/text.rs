//! Where a module is, for people.

use std::collections::BTreeSet;

use anstyle::Style;
use tofu_oci_explain::modules::{HeldBackVersion, HoldingCause, MappingStep};
use tofu_oci_types::{ModuleName, Version};

use super::model::{ExplainedModule, ModuleAsk, ResolvedModule, mapped_by, wanted};
use crate::diagnostic::Diagnostic;
use crate::page::{Line, Page, first_of};
use crate::verbs::context::tagged;

/// How many versions are shown.
const SHOWN: usize = 6;
/// How the others are counted.
const OLDER: (&str, &str) = (" and", "older");

/// The answer without an explanation.
pub(super) fn resolved(ask: &ModuleAsk<'_>, registry: Option<&str>, found: &ResolvedModule) -> Page {
    let mut page = Page::of(match (ask.name, &found.version) {
        (ModuleName::Registry { address, .. }, Some(version)) => format!("{address} {version}"),
        _ => ask.typed.to_owned(),
    });
    if let (ModuleName::Oci(_), Some(version)) = (ask.name, &found.version) {
        page.row("  ", "version", version);
    }
    place(found, "  ", &mut page);
    page.row_if("  ", "rule", mapped_by(ask));
    page.row_if("  ", "registry", registry);
    page
}

/// Where the package is, and by what it is known.
fn place(found: &ResolvedModule, indent: &str, page: &mut Page) {
    let at_place = found.place.as_ref().map(|place| match &found.tag {
        Some(tag) => tagged(place, tag),
        None => place.to_string(),
    });
    page.row_if(indent, "place", found.git.as_ref().or(found.archive.as_ref()).or(at_place.as_ref()));
    page.row_if(indent, "manifest", found.manifest.as_ref());
    page.row_if(indent, "checksum", found.checksum.as_ref());
    page.row_if(indent, "folder", Some(&found.folder).filter(|folder| !folder.is_empty()));
}

/// Every rule, what the place offers, and how it ends.
pub(super) fn explained(ask: &ModuleAsk<'_>, explained: &ExplainedModule<'_>) -> Page {
    let mut page = Page::default();
    page.push(head(ask));
    page.line(match (ask.name, &ask.file) {
        (ModuleName::Registry { .. }, Some(file)) => {
            format!("rules of {file}, in order: the first one that is for the module counts")
        }
        (ModuleName::Registry { .. }, None) => {
            "there is no modules.toml, so the registry of the host is asked".to_owned()
        }
        _ => "the source names its repository itself: modules.toml is for modules of registries".to_owned(),
    });
    explained.steps.iter().for_each(|step| rule(step, explained, &mut page));
    if ask.mapped.is_none() {
        let name = if explained.steps.is_empty() && !matches!(ask.name, ModuleName::Registry { .. }) {
            "source"
        } else {
            "registry"
        };
        page.gap();
        page.push(Line::of(" -  ").styled(Style::new().bold(), name));
        if name == "registry" && ask.file.is_some() {
            page.row("    ", "matches", "yes, since no rule is for the module");
        }
        match &explained.registry {
            Some(registry) => page.row("    ", "place", format_args!("{registry}, modules.v1 of the host")),
            None => page.row("    ", "place", &explained.place),
        }
        offers(explained, &mut page);
    }
    page.gap();
    page.row("", "tofu-oci", ending(explained));
    if let Ok(found) = &explained.found {
        place(found, "          ", &mut page);
        if let Some(notice) = explained.notice() {
            let reason = notice.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            page.row("          ", "beware", format_args!("{}{reason}", notice.said()));
        }
    }
    page.row("", "OpenTofu", of_opentofu(ask, explained));
    page
}

fn head(ask: &ModuleAsk<'_>) -> Line {
    let bold = Style::new().bold();
    let ModuleName::Registry { address, subdir, .. } = ask.name else { return Line::default().styled(bold, ask.typed) };
    let wanted = wanted(ask.name);
    let which = if wanted.is_any() { String::new() } else { format!(" that meets {wanted}") };
    let folder = if subdir.is_root() { String::new() } else { format!("//{subdir}") };
    let line = Line::default().styled(bold, address).plain(folder);
    match wanted.exact() {
        Some(version) => line.plain(format_args!(", version {version}")),
        None => line.plain(format_args!(", the newest release{which}")),
    }
}

fn rule(step: &MappingStep<'_>, explained: &ExplainedModule<'_>, page: &mut Page) {
    let at = step.mirror.origin.as_ref().map(|origin| format!("  {origin}")).unwrap_or_default();
    page.gap();
    page.push(Line::of(format_args!("{:>2}  ", step.number)).styled(Style::new().bold(), "module_mirror").plain(at));
    page.row("    ", "matches", &step.matches);
    if step.selected {
        page.row("    ", "template", &step.mirror.repositories);
        page.row("    ", "place", &explained.place);
        offers(explained, page);
    }
}

/// What the place answered, and what holds versions back.
fn offers(explained: &ExplainedModule<'_>, page: &mut Page) {
    match &explained.listing {
        Err(diagnostic) => page.row("    ", "offers", failure(diagnostic)),
        Ok(listing) if listing.versions.is_empty() => page.row("    ", "offers", "no versions"),
        Ok(listing) => page.row("    ", "offers", newest(listing.versions.iter().rev())),
    }
    for cause in
        [HoldingCause::Withdrawn, HoldingCause::Prerelease, HoldingCause::Constraint, HoldingCause::Unspecified]
    {
        let held: Vec<&HeldBackVersion> =
            explained.choice.held_back.iter().filter(|held| held.cause == cause).collect();
        if held.is_empty() {
            continue;
        }
        let text = match cause {
            HoldingCause::Withdrawn => {
                let one = |held: &&HeldBackVersion| match &held.reason {
                    Some(reason) => format!("{} ({reason})", held.version),
                    None => held.version.to_string(),
                };
                let by: BTreeSet<String> = held.iter().filter_map(|held| Some(held.writer?.to_string())).collect();
                let by = by.into_iter().collect::<Vec<_>>().join(" and ");
                let held: Vec<String> = held.iter().map(one).collect();
                let by = if by.is_empty() { by } else { format!(" by {by}") };
                format!("{}: withdrawn{by}", first_of(&held, SHOWN, OLDER))
            }
            HoldingCause::Prerelease => {
                format!("{}: a prerelease is chosen by its exact version alone", versions(&held))
            }
            HoldingCause::Constraint => format!("{}: outside of the constraint", versions(&held)),
            HoldingCause::Unspecified => format!("{}: means that there is no version", versions(&held)),
        };
        page.row("    ", "held", text);
    }
}

fn versions(held: &[&HeldBackVersion]) -> String {
    newest(held.iter().map(|held| &held.version))
}

fn newest<'a>(versions: impl Iterator<Item = &'a Version>) -> String {
    first_of(&versions.collect::<Vec<_>>(), SHOWN, OLDER)
}

fn failure(diagnostic: &Diagnostic) -> String {
    let causes: String = diagnostic.causes().iter().map(|cause| format!("; {cause}")).collect();
    format!("error ({}): {}{causes}", diagnostic.stable_name(), diagnostic.text())
}

fn ending(explained: &ExplainedModule<'_>) -> String {
    let why = &explained.choice.why;
    match &explained.found {
        Ok(ResolvedModule { version: Some(version), .. }) => format!("takes {version}: {why}"),
        Ok(_) => format!("takes this package: {why}"),
        Err(diagnostic) => {
            let why = if explained.listing.is_ok() { format!("{why}; ") } else { String::new() };
            format!("finds nothing, {}: {why}{}", diagnostic.stable_name(), diagnostic.text())
        }
    }
}

/// What `OpenTofu` and Terraform make of it.
fn of_opentofu(ask: &ModuleAsk<'_>, explained: &ExplainedModule<'_>) -> String {
    match (ask.name, ask.mapped) {
        (ModuleName::Registry { address, .. }, Some(_)) => format!(
            "and Terraform read no modules.toml: they ask the registry of {}, unless `tofu-oci run` starts them, or a \
             `host` block names a bridge (`tofu-oci serve`)",
            address.hostname().display()
        ),
        (ModuleName::Registry { .. }, None) => "and Terraform ask the same registry".to_owned(),
        _ if explained.found.is_err() => {
            "1.10 and later asks the same repository; Terraform reads no oci:// source".to_owned()
        }
        _ => "1.10 and later takes the same package; Terraform reads no oci:// source".to_owned(),
    }
}
