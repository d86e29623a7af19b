//! `check` of a repository.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_checker::facts::Depth;
use tofu_oci_checker::{CheckRequest, Group, NotJudged, SignatureTrust, TagCounts, needs_packages, signatures};
use tofu_oci_types::{Platform, Version};

use super::against::{against, compare};
use super::checked::{Checked, Predicted, Unjudged, idle};
use super::module;
use super::target::refuse_other_options;
use crate::args::CheckArgs;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::page::counted;
use crate::subject;
use crate::verbs::context::Context;
use crate::verbs::module::open::holds_modules;
use crate::verbs::typed::refuse_given;

/// Checks the repository, and compares it with the one of `--against` if given.
pub(super) async fn check(
    context: &Context,
    args: &CheckArgs,
    end: &End,
    version: Option<Version>,
) -> Result<Checked, Diagnostic> {
    refuse_other_options(args)?;
    let version = subject::one_version(&end.to_string(), version, args.version.as_ref())?;
    let other = args.against.as_deref().map(|text| against(text, version.as_ref())).transpose()?;
    let ends: Vec<&End> = std::iter::once(end).chain(&other).collect();
    let connector = context.reach(&args.access, &ends, args.chdir.as_deref()).await?;
    let store = connector.source(end)?;
    let depth = match end {
        End::Layout(_) => Depth::Packages,
        End::Registry(_) if args.deep => Depth::Packages,
        End::Registry(_) => Depth::Manifests,
    };
    let own = Platform::current();
    let request = CheckRequest {
        address: args.address.as_ref(),
        predecessors: &args.trust.predecessors.all(),
        version: version.as_ref(),
        platforms: &args.platforms,
        own: &own,
        depth,
        work_dir: &std::env::temp_dir(),
    };
    let trust = crate::trust::load(&args.trust, args.chdir.as_deref().unwrap_or(Path::new(".")))?;
    let mut report = tofu_oci_checker::check(store.as_ref(), &request, context.reporter.as_ref()).await?;
    let counts = TagCounts::of(&report.facts);
    let is_absent = version.is_some() && report.facts.releases.iter().all(|release| release.read_from.is_empty());
    if (is_absent || counts.versions == 0 && counts.other > 0) && holds_modules(store.as_ref()).await {
        refuse_provider_options(args, end)?;
        let mut checked = module::of_store(context, end, store.as_ref(), version.as_ref(), depth).await?;
        if let Some(other) = &other {
            let found = compare(context, &report.facts, &connector, other, version.as_ref()).await?;
            found.into_checked(&mut checked);
        }
        return Ok(checked);
    }
    let place = tofu_oci_fetch::pin_file::place(&trust.pins_path, &report.facts.place);
    let judging = SignatureTrust { policy: &trust.policy, pins: &trust.pins, place: &place, now: trust.now };
    let signed = signatures(store.as_ref(), &report.facts, report.provider.address(), &judging).await;
    report.findings.extend(signed.findings);
    // The same list may have failed twice.
    let known = |one: &NotJudged, other: &NotJudged| one.place == other.place && one.version == other.version;
    for one in signed.not_judged {
        if !report.not_judged.iter().any(|other| known(&one, other)) {
            report.not_judged.push(one);
        }
    }
    let against = match &other {
        Some(other) => {
            let found = compare(context, &report.facts, &connector, other, version.as_ref()).await?;
            let compared = found.compared(report.not_judged.is_empty());
            report.findings.extend(found.findings);
            report.not_judged.extend(found.unasked);
            Some(compared)
        }
        None => None,
    };
    Ok(Checked {
        target: end.to_string(),
        looked_at: looked_at(counts),
        counts: Some(counts),
        built: signed.built,
        groups: Group::ALL.into_iter().filter(|group| is_looked_at(*group, other.is_some())).collect(),
        left_out: match depth {
            Depth::Packages => BTreeMap::new(),
            Depth::Manifests => idle(needs_packages, "the packages were not read; --deep reads them"),
        },
        findings: report.findings,
        not_judged: report.not_judged.into_iter().map(Unjudged::from).collect(),
        predicted: Some(Predicted::Providers(report.provider, report.predictions)),
        against,
        ..Checked::default()
    })
}

/// What was looked at; strays and other content are no versions of a provider.
fn looked_at(counts: TagCounts) -> String {
    let mut text = format!("{} looked at", counted(counts.versions, "version"));
    for (count, what, of) in [(counts.stray, "stray tag", ""), (counts.other, "tag", " of something else")] {
        if count > 0 {
            text.push_str(&format!(", {}{of}", counted(count, what)));
        }
    }
    text
}

/// Options that say nothing about modules.
fn refuse_provider_options(args: &CheckArgs, end: &End) -> Result<(), Diagnostic> {
    let given = [("--address", args.address.is_some()), ("--platform", !args.platforms.is_empty())];
    refuse_given(&given, |option| format!("{option} is for providers, and {end} holds modules"), "omit it")
}

fn is_looked_at(group: Group, compared: bool) -> bool {
    match group {
        Group::LockFile | Group::Registry => false,
        Group::Drift => compared,
        _ => true,
    }
}
