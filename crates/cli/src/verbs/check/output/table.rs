//! The outcome of `check`, for people.

use std::collections::{HashMap, HashSet};

use anstyle::{AnsiColor, Style};
use tofu_oci_checker::Rejection;
use tofu_oci_checker::opentofu::{ModulePrediction, RepositoryPrediction};
use tofu_oci_checker::{BuiltVersion, CapabilityState, CheckedAs, Finding, FindingLevel, ProbeReport};
use tofu_oci_types::Platform;

use crate::page::{Line, Page, counted};
use crate::verbs::check::checked::{Checked, Compared, Comparison, Predicted, Unjudged};
use crate::verbs::printed::built;

/// Most places that are listed for one text.
const MOST_PLACES: usize = 20;

/// The longest name of a module that others are aligned with.
const WIDEST: usize = 80;

/// How much is printed at once, in bytes.
const PIECE: usize = 64 * 1024;

/// Findings with their reasons, what each `OpenTofu` does, and a summary.
///
/// `print` gets it in pieces, because a repository may have very many findings.
pub(super) fn render(checked: &Checked, quiet: bool, print: &mut dyn FnMut(&Page)) {
    let mut page = Page::default();
    if let Some(probe) = &checked.probe {
        page.append(capabilities(probe));
    }
    let mut explained: HashSet<&str> = HashSet::new();
    // The rows above show what a probe found; only faults are worth repeating.
    let notes = !quiet && checked.probe.is_none();
    let findings = checked.findings.iter().filter(|finding| notes || finding.level() != FindingLevel::Note);
    for alike in fold(findings) {
        let Some(first) = alike.first() else { continue };
        page.append(shown(first, &alike, !explained.insert(first.rule.id)));
        if page.len() > PIECE {
            print(&std::mem::take(&mut page));
        }
    }
    page.append(not_judged(&checked.not_judged));
    match &checked.predicted {
        Some(Predicted::Providers(checked_as, predictions)) => page.append(predicted(checked_as, predictions)),
        Some(Predicted::Modules(predictions)) => page.append(modules(predictions)),
        None => {}
    }
    for BuiltVersion { version, identity } in checked.built.iter().filter(|_| !quiet) {
        if let Some(built) = built(identity) {
            page.row("  ", &version.to_string(), format_args!("built by {built}"));
        }
    }
    let against = checked.against.as_ref().map(compared).unwrap_or_default();
    page.line(format_args!("{}: {}; {}{against}", checked.target, summary(checked), checked.looked_at));
    print(&page);
}

/// Groups the findings of one rule that say the same of several places, versions or platforms, at the first of them.
fn fold<'a>(findings: impl Iterator<Item = &'a Finding>) -> Vec<Vec<&'a Finding>> {
    let mut folded: Vec<Vec<&Finding>> = Vec::new();
    let mut known: HashMap<(&str, &str, Option<&str>), usize> = HashMap::new();
    for finding in findings {
        let says = (finding.rule.id, finding.text.as_str(), finding.diff.as_deref());
        let at = *known.entry(says).or_insert(folded.len());
        match folded.get_mut(at) {
            Some(alike) => alike.push(finding),
            None => folded.push(vec![finding]),
        }
    }
    folded
}

fn about(version: Option<&str>, platform: Option<&Platform>) -> String {
    match (version, platform) {
        (Some(version), Some(platform)) => format!(" ({version}, {platform})"),
        (Some(version), None) => format!(" ({version})"),
        (None, Some(platform)) => format!(" ({platform})"),
        (None, None) => String::new(),
    }
}

/// A finding and all that say the same. The first finding of a rule carries the reason.
fn shown(finding: &Finding, alike: &[&Finding], explained: bool) -> Page {
    let colour = match finding.level() {
        FindingLevel::Error => AnsiColor::Red,
        FindingLevel::Warning => AnsiColor::Yellow,
        FindingLevel::Note => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let rule = finding.rule;
    let place = |finding: &Finding| {
        let about = about(finding.version.as_deref(), finding.platform.as_ref());
        format!("{}{about}", finding.place)
    };
    let head = Line::default().styled(style, format_args!("{}[{}]", rule.level.word(), rule.id));
    let mut page = Page::default();
    match alike {
        [_] => page.push(head.plain(format_args!(" {}", place(finding)))),
        several => {
            page.push(head.plain(format_args!(" {} times", several.len())));
            for (nth, one) in several.iter().take(MOST_PLACES).enumerate() {
                page.line(format_args!("  {:<8}  {}", if nth == 0 { "where" } else { "" }, place(one)));
            }
            if several.len() > MOST_PLACES {
                page.line(format_args!("            and {} more", several.len() - MOST_PLACES));
            }
        }
    }
    page.row("  ", "what", &finding.text);
    page.block("    ", finding.diff.as_deref().unwrap_or_default());
    if !explained {
        page.row("  ", "why", rule.why);
        page.row("  ", "fix", rule.fix);
        page.row("  ", "spec", rule.spec);
    }
    page.gap();
    page
}

/// What could not be judged, grouped by cause.
fn not_judged(list: &[Unjudged]) -> Page {
    let mut causes: Vec<(String, Vec<&Unjudged>)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for one in list {
        let cause = one.cause();
        let at = *known.entry(cause.clone()).or_insert(causes.len());
        match causes.get_mut(at) {
            Some((_, places)) => places.push(one),
            None => causes.push((cause, vec![one])),
        }
    }
    let style = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
    let mut page = Page::default();
    for (cause, places) in causes {
        for one in places.iter().take(MOST_PLACES) {
            let about = about(one.version.as_deref(), one.platform.as_ref());
            page.push(Line::default().styled(style, "not judged").plain(format_args!(" {}{about}", one.place)));
        }
        if places.len() > MOST_PLACES {
            page.line(format_args!("  and {} more", places.len() - MOST_PLACES));
        }
        page.row("  ", "cause", &cause);
        page.gap();
    }
    page
}

/// The provider it was checked as, and a line for each platform and outcome.
fn predicted(checked_as: &CheckedAs, predictions: &[RepositoryPrediction]) -> Page {
    let mut page = Page::of(match checked_as {
        CheckedAs::Named(address) => format!("checked as {address}"),
        CheckedAs::Annotation(address) => format!("checked as {address}, as its newest index says"),
        CheckedAs::Executables(provider_type) => {
            format!("checked as a provider of type {provider_type}, as its executables are named")
        }
        CheckedAs::Unknown => "checked as any provider: nothing says which it is; name it with --address".to_owned(),
    });
    let width = predictions.iter().map(|prediction| prediction.platform.to_string().len()).max().unwrap_or_default();
    for prediction in predictions {
        let (platform, releases) = (prediction.platform.to_string(), prediction.releases.to_string());
        page.line(format_args!("  {platform:<width$}  OpenTofu {releases:<11}  {}", outcome(prediction)));
    }
    page.gap();
    page
}

/// A line for each module.
fn modules(predictions: &[ModulePrediction]) -> Page {
    let name = |one: &ModulePrediction| {
        let tag = one.reference.as_ref().map(|reference| format!("tag {reference}"));
        one.source.clone().or(tag).unwrap_or_default()
    };
    let width = predictions.iter().map(|one| name(one).chars().count()).max().unwrap_or_default().min(WIDEST);
    let mut page = Page::default();
    for one in predictions {
        let unread = if one.unread { "; its package was not looked into" } else { "" };
        let outcome = match one.because {
            None => format!("installs{unread}"),
            Some(Rejection::RepositoryUnreadable | Rejection::Malformed) if one.unread => {
                format!("not known: {}", one.detail)
            }
            Some(because) => format!("refuses: {because}"),
        };
        let releases = one.releases.to_string();
        page.line(format_args!("  {:<width$}  OpenTofu {releases:<11}  {outcome}", name(one)));
    }
    page.line("Terraform reads no oci:// source: this is about OpenTofu alone");
    page.gap();
    page
}

fn outcome(prediction: &RepositoryPrediction) -> String {
    let version = prediction.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let unread = if prediction.unread { "; its packages were not looked at" } else { "" };
    match prediction.because {
        None => format!("installs{version}{unread}"),
        Some(Rejection::RepositoryUnreadable) if prediction.unread => {
            format!("not known{}: not all of it could be read", version.replacen(' ', " for ", 1))
        }
        Some(Rejection::Malformed) => format!("not known{}: it is malformed", version.replacen(' ', " for ", 1)),
        Some(because) => format!("refuses{version}: {because}{unread}"),
    }
}

fn capabilities(probe: &ProbeReport) -> Page {
    let width = probe.capabilities.iter().map(|row| row.what.len()).max().unwrap_or_default();
    let mut page = Page::default();
    for row in &probe.capabilities {
        let colour = match row.state {
            CapabilityState::Works => AnsiColor::Green,
            CapabilityState::Differs => AnsiColor::Yellow,
            CapabilityState::Missing | CapabilityState::NotTried => AnsiColor::Cyan,
        };
        let style = Style::new().fg_color(Some(colour.into()));
        let line = Line::of(format_args!("  {:<width$}  ", row.what));
        let line = line.styled(style, format_args!("{:<9}", row.state.word()));
        page.push(line.plain(format_args!("  {}", row.detail)));
    }
    page.gap();
    probe.meaning.iter().for_each(|line| page.line(line));
    page.gap();
    if !probe.left.is_empty() {
        page.line(format_args!("left in {}:", probe.repository));
        probe.left.iter().for_each(|left| page.line(format_args!("  {left}")));
        page.gap();
    }
    page
}

fn compared(against: &Compared) -> String {
    match against.outcome {
        Comparison::Equal => format!("; equal to {}", against.with),
        Comparison::Different => format!("; not equal to {}", against.with),
        Comparison::NotKnown => String::new(),
    }
}

fn summary(checked: &Checked) -> String {
    let levels = [(FindingLevel::Error, "error"), (FindingLevel::Warning, "warning"), (FindingLevel::Note, "note")];
    let counts = levels.map(|(level, word)| (checked.count(level), word));
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = counts.map(|(count, word)| counted(count, word)).collect();
    let unjudged = match checked.not_judged.len() {
        0 => String::new(),
        count => format!("; {count} not judged"),
    };
    let found = if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") };
    found + &unjudged
}
