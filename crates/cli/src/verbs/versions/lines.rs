//! One line a version, as deep as the options look.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tofu_oci_explain::releases::{
    LookDepth, NoticesOf, VersionContent, VersionLook, VersionNotice, VersionsQuestion, kinds, look,
};
use tofu_oci_fetch::SignatureStanding;
use tofu_oci_layout::DocumentKind;
use tofu_oci_source::{Listing, ReleaseDate};
use tofu_oci_trust::ReleaseState;
use tofu_oci_types::{Digest, Event, Place, Platform, Tag, Version};

use crate::args::VersionsArgs;
use crate::diagnostic::Diagnostic;
use crate::invocation;
use crate::page::first_of;
use crate::verbs::context::Context;

/// How many tags a note names.
const NAMED: usize = 10;

#[derive(Serialize)]
#[serde(tag = "event", rename = "version")]
pub(super) struct VersionLine<'a> {
    place: &'a Place,
    pub(super) version: Version,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) platforms: Option<Vec<Platform>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) notice: Option<VersionNotice>,
    #[serde(flatten)]
    pub(super) long: Option<LongLine>,
}

/// What `--long` adds.
#[derive(Serialize)]
pub(super) struct LongLine {
    pub(super) index: Option<Digest>,
    pub(super) protocols: Vec<String>,
    pub(super) created: Option<ReleaseDate>,
    pub(super) signatures: Option<SignatureStanding>,
}

/// The versions, newest first. What is no provider is left out with a note; a broken release produces a warning, and its
/// line has the version alone.
pub(super) async fn lines<'a>(
    context: &Context,
    args: &VersionsArgs,
    question: &VersionsQuestion<'a>,
    listing: &Listing,
) -> Result<Vec<VersionLine<'a>>, Diagnostic> {
    let place = question.source.place();
    let most = args.limit.map_or(usize::MAX, usize::from);
    let trust = if args.long { Some(crate::trust::load(&args.trust, Path::new("."))?) } else { None };
    let depth = match &trust {
        Some(trust) => LookDepth::Details(trust),
        None if args.platforms => LookDepth::Platforms,
        None => LookDepth::Kind,
    };
    let all = &listing.versions;
    let looks = match depth {
        LookDepth::Kind => kinds(question, all).await,
        depth => look(question, all, depth, most).await,
    };
    note_others(context, place, &looks);
    let address = looks.iter().find_map(|look| match &look.content {
        VersionContent::Provider(details) => details.address.as_ref(),
        _ => None,
    });
    let of = NoticesOf::Provider(question.source, address.unwrap_or(question.asked_as));
    let notices = noticed(context, place, listing, of).await;
    let mut lines = listed(context, args, place, looks, all)?;
    lines.truncate(most);
    for line in &mut lines {
        line.notice = notices.iter().find(|notice| notice.version == line.version).cloned();
    }
    Ok(lines)
}

/// The lines of the versions that were looked into; without `--long` and `--platforms`, of all that are no others.
fn listed<'a>(
    context: &Context,
    args: &VersionsArgs,
    place: &'a Place,
    looks: Vec<VersionLook>,
    all: &[Version],
) -> Result<Vec<VersionLine<'a>>, Diagnostic> {
    if !args.long && !args.platforms {
        warn_of_failure(context, &looks);
        let is_other = |version: &&Version| looks.iter().any(|look| look.version == **version && is_other(look));
        let versions = all.iter().rev().filter(|version| !is_other(version));
        return Ok(versions.map(|version| line(place, version.clone())).collect());
    }
    let mut lines = Vec::new();
    for VersionLook { version, content } in looks {
        match content {
            VersionContent::NotAProvider { .. } => {}
            VersionContent::Failed(error) => return Err(error.into()),
            VersionContent::Broken { problem } => {
                let what = if args.long { "release" } else { "platforms of" };
                let text = format!("the {what} {version} in {place} cannot be read: {problem}");
                let event =
                    Event::warning("broken-release", text).with_hint("its publisher can push the release again");
                context.reporter.event(&event);
                lines.push(line(place, version));
            }
            VersionContent::Provider(details) => lines.push(VersionLine {
                platforms: Some(details.platforms),
                long: args.long.then_some(LongLine {
                    index: details.index,
                    protocols: details.protocols,
                    created: details.created,
                    signatures: details.signatures,
                }),
                ..line(place, version)
            }),
        }
    }
    Ok(lines)
}

fn line(place: &Place, version: Version) -> VersionLine<'_> {
    VersionLine { place, version, platforms: None, notice: None, long: None }
}

fn is_other(look: &VersionLook) -> bool {
    matches!(look.content, VersionContent::NotAProvider { .. })
}

/// One note for all tags that are versions of something else.
fn note_others(context: &Context, place: &Place, looks: &[VersionLook]) {
    let others = looks.iter().filter_map(|look| match &look.content {
        VersionContent::NotAProvider { found } => Some(format!("{} ({found})", look.version)),
        _ => None,
    });
    let others: Vec<String> = others.collect();
    if others.is_empty() {
        return;
    }
    let are =
        if others.len() == 1 { "one tag is not a provider, and is" } else { "some tags are not providers, and are" };
    let text = format!("{place}: {are} left out: {}", first_of(&others, NAMED, (", and", "more")));
    let event = Event::note("not-a-provider", text);
    let is_module = |look: &VersionLook| matches!(&look.content, VersionContent::NotAProvider { found } if *found == DocumentKind::ModulePackage.to_string());
    // A repository of modules alone was probably meant as one.
    let hint = match place {
        Place::Registry(repository) if looks.iter().all(is_module) => {
            format!("this repository holds a module: tofu-oci module versions oci://{repository}")
        }
        Place::Layout(_) if looks.iter().all(is_module) => {
            let place = invocation::quoted(&place.to_string());
            format!("this directory holds a module: tofu-oci module versions {place}")
        }
        _ => {
            "keep them in another repository: if such a tag is the newest, `install` and `tofu init` choose it and fail"
                .to_owned()
        }
    };
    context.reporter.event(&event.with_hint(hint));
}

/// What is said of the versions later: one note for all deprecated versions, and one for all that were withdrawn, with the
/// reasons, of each who says so. It warns of versions whose withdrawal was interrupted, too.
pub(in crate::verbs) async fn noticed(
    context: &Context,
    place: &Place,
    listing: &Listing,
    of: NoticesOf<'_>,
) -> Vec<VersionNotice> {
    let notices = of.versions(listing).await;
    for (state, code) in [(ReleaseState::Deprecated, "deprecated"), (ReleaseState::Withdrawn, "withdrawn")] {
        let mut said: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for notice in notices.iter().filter(|notice| notice.state == state) {
            said.entry(notice.said()).or_default().push(notice_text(notice));
        }
        for (said, versions) in said {
            context.reporter.event(&Event::note(code, format!("{place}: {said}: {}", versions.join("; "))));
        }
    }
    for version in listing.half_withdrawn.iter().rev().take(NAMED) {
        let Ok(tag) = Tag::for_version(version) else { continue };
        let text = if listing.tags.as_ref().is_some_and(|tags| tags.contains(&tag)) {
            format!("the tag {tag} in {place} still names the withdrawn release, so OpenTofu can choose {version}")
        } else {
            format!(
                "the tag {tag} in {place} names no release: its withdrawal was interrupted, and `tofu init` fails if it chooses {version}"
            )
        };
        let release = invocation::quoted(&format!("{place}:{tag}"));
        let again = invocation::command(&format!("withdraw {release} --reason TEXT"));
        let hint = format!(
            "`{again}` finishes it; --undo instead of --reason TEXT brings the version back; either with --sign-key KEY if its notice is signed"
        );
        context.reporter.event(&Event::warning("half-withdrawn", text).with_hint(hint));
    }
    notices
}

fn notice_text(notice: &VersionNotice) -> String {
    let reason = notice.reason.as_ref().map_or("the reason cannot be read", |reason| reason.as_str());
    format!("{} ({reason})", notice.version)
}

/// A place that lists its tags and fails otherwise: the list is printed as it is.
fn warn_of_failure(context: &Context, looks: &[VersionLook]) {
    let failed = looks.iter().find_map(|look| match &look.content {
        VersionContent::Failed(error) => Some((&look.version, error)),
        _ => None,
    });
    if let Some((version, error)) = failed {
        let text = format!("whether {version} is a provider is not known: {error}");
        context.reporter.event(&Event::warning("not-looked-into", text));
    }
}
