//! A release for people.

use tofu_oci_explain::releases::{AttachedReferrer, DescribedPackage};
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_source::{CreatedBy, ReleaseDate, SourceError};
use tofu_oci_trust::{Flaw, SignatureOutcome};
use tofu_oci_types::{Digest, PackageHash, Scheme};
use unicode_width::UnicodeWidthStr as _;

use super::report::{Attached, ShowReport, Signatures};
use super::subject::ReleaseNaming;
use crate::page::{Page, padded};
use crate::report::human_bytes;
use crate::verbs::context::tagged;
use crate::verbs::verify::{built_by, found_text};

pub(super) fn page(report: &ShowReport) -> Page {
    let (id, about) = (&report.facts.id, &report.facts.description);
    let mut page = match report.naming {
        ReleaseNaming::Unnamed => Page::of(format_args!("{} {}", id.place, id.version)),
        ReleaseNaming::Asked | ReleaseNaming::ByItself => Page::of(format_args!("{} {}", id.address, id.version)),
    };
    let mut say = |name: &str, text: &str| page.row("  ", name, text);
    let place = about.tag.as_ref().map_or_else(|| id.place.to_string(), |tag| tagged(&id.place, tag));
    say("place", &place);
    match (report.naming, &about.published_as) {
        (ReleaseNaming::Unnamed, _) => say("provider", "not named by the release"),
        (ReleaseNaming::Asked, Some(other)) if *other != id.address => {
            say("provider", &format!("published as {other}"));
        }
        _ => {}
    }
    if let Some(notice) = &report.facts.notice {
        say("notice", &format!("{} by {}: {}", notice.state, notice.writer, notice.reason));
    }
    say("created", &created(report.facts.created.as_ref()));
    if let Some(layout) = about.layout {
        say("layout", &layout.to_string());
    }
    say("index", id.identity.index().map_or("none", Digest::as_str));
    let protocols = if about.protocols.is_empty() { "not named".to_owned() } else { about.protocols.join(", ") };
    say("protocol", &protocols);
    signatures(&report.signatures, &mut page);
    attached(&report.facts.attached, &mut page);
    page.gap();
    packages(report, &mut page);
    page
}

fn created(created: Option<&ReleaseDate>) -> String {
    let Some(ReleaseDate { at, by }) = created else {
        return "unknown: the release names no time (a reproducible one has none)".to_owned();
    };
    let by = match by {
        CreatedBy::Index => "its index",
        CreatedBy::Manifest => "the manifest of its first platform",
        CreatedBy::ImageConfig => "the image of its first platform",
    };
    format!("{at}, by the word of {by}")
}

pub(super) fn signatures(signatures: &Signatures, page: &mut Page) {
    let (verdict, standing) = match signatures {
        Signatures::Judged { verdict, standing } => (verdict, standing),
        Signatures::Unnamed => {
            return page.row("  ", "signed", "not judged: a signature names a provider, and the release does not");
        }
        Signatures::Failed(error) => return page.row("  ", "signed", format!("unknown: {}", error.text)),
    };
    let text = match standing {
        SignatureStanding::Signed { by } => format!("by {}", by.join(", ")),
        SignatureStanding::SignedBefore => "before: this very index was signed when it was pinned".to_owned(),
        SignatureStanding::Unsigned => "by no key of yours; the policy accepts that".to_owned(),
        SignatureStanding::Refused { code } => {
            let refusal = verdict.refusal.as_ref().map(ToString::to_string).unwrap_or_default();
            format!("refused ({code}): {refusal}")
        }
        SignatureStanding::NotJudged { found: 0 } => "no: there is no signature".to_owned(),
        SignatureStanding::NotJudged { .. } => {
            "not checked: no key is known; name its publisher's with --key FILE, or in trust.toml".to_owned()
        }
    };
    page.row("  ", "signed", text);
    for examined in &verdict.examined {
        let outcome: &dyn std::fmt::Display = match (standing, &examined.outcome) {
            // No key is there that it could be compared with.
            (SignatureStanding::NotJudged { .. }, SignatureOutcome::DoesNotCount(Flaw::UnknownKey { .. })) => {
                &"was not checked"
            }
            (_, outcome) => outcome,
        };
        let built = built_by(verdict, examined);
        page.row("  ", "found", found_text(examined, outcome, built.as_deref()));
        if let Some(built) = built {
            page.row("  ", "built by", built);
        }
    }
}

/// A line for each thing that lies beside it.
pub(super) fn attached(all: &Attached, page: &mut Page) {
    let all = match all {
        Ok(all) => all,
        Err(error) => return page.row("  ", "attached", format!("unknown: {error}")),
    };
    for AttachedReferrer { artifact_type, digest, bytes, files, created } in all {
        let mut text = artifact_type.clone().unwrap_or_else(|| "something without a type".to_owned());
        text.extend(bytes.map(|bytes| format!(", {}", human_bytes(bytes))));
        text.extend(files.iter().map(|file| format!(", {file}")));
        text.extend(created.iter().map(|created| format!(", {created}")));
        page.row("  ", "attached", format!("{text}; {digest}"));
    }
}

/// A line a platform, with one checksum; all of them if one platform was asked for.
fn packages(report: &ShowReport, page: &mut Page) {
    let packages = &report.facts.packages;
    let platform_width = packages.iter().map(|(platform, _)| platform.to_string().width()).max().unwrap_or_default();
    let size_width = packages.iter().map(|(_, facts)| size(facts.as_ref().ok()).width()).max().unwrap_or_default();
    for (platform, facts) in packages {
        let name = padded(&platform.to_string(), platform_width);
        let facts = match facts {
            Ok(facts) => facts,
            Err(error) => {
                page.line(format_args!("  {name}  cannot be installed: {}", reason(error)));
                continue;
            }
        };
        let size = padded(&size(Some(facts)), size_width);
        if report.platform.is_some() {
            page.line(format_args!("  {name}  {size}"));
            facts.hashes.iter().for_each(|hash| page.line(format_args!("    {hash}")));
        } else {
            let hash = checksum(facts).map(ToString::to_string).unwrap_or_default();
            page.line(format_args!("  {name}  {size}  {hash}").to_string().trim_end());
        }
        if let Some(bytes) = facts.small_bytes {
            page.line(format_args!("    or {} by its small layer", human_bytes(bytes)));
        }
        if let Some(place) = &facts.elsewhere {
            page.line(format_args!("    from {place}, since the first place lacks it"));
        }
    }
}

fn size(facts: Option<&DescribedPackage>) -> String {
    facts.and_then(|facts| facts.bytes).map_or_else(|| "-".to_owned(), human_bytes)
}

/// The checksum that says most: of the contents, else of the zip, else of the manifest.
fn checksum(facts: &DescribedPackage) -> Option<&PackageHash> {
    let of = |scheme| facts.hashes.iter().find(|hash| hash.scheme() == scheme);
    of(Scheme::H1).or_else(|| of(Scheme::Zh)).or_else(|| facts.hashes.first())
}

/// What is wrong, without the release and the place that stand above it.
pub(in crate::verbs) fn reason(error: &SourceError) -> String {
    match error.innermost() {
        SourceError::Layout { source, .. } => source.to_string(),
        SourceError::Unusable { problem, .. } => problem.clone(),
        SourceError::NotOffered { what, .. } => what.to_string(),
        other => other.to_string(),
    }
}
