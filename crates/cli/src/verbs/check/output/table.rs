//! For people.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use tofu_oci_checker::opentofu::{Because, OpenTofu, Prediction};
use tofu_oci_checker::{CheckedAs, Finding, Level, ProbeReport, State};
use tofu_oci_types::Platform;

use super::count;
use crate::printer::{row, visible};
use crate::verbs::check::{Checked, Unjudged};

/// Most places that are listed for one text.
const MOST_PLACES: usize = 20;

/// How much is printed at once, in bytes.
const PIECE: usize = 64 * 1024;

/// Findings with their reasons, what `OpenTofu` makes of it, and a last line that sums up.
///
/// It is given away in pieces: a repository may have findings without number.
pub(super) fn render(checked: &Checked, quiet: bool, print: &mut dyn FnMut(&str)) {
    let mut text = String::new();
    if let Some(probe) = &checked.probe {
        text.push_str(&capabilities(probe));
    }
    let mut told: HashSet<&str> = HashSet::new();
    // Of a probe the rows above say what was found; only what is wrong is worth repeating.
    let notes = !quiet && checked.probe.is_none();
    let findings = checked.findings.iter().filter(|finding| notes || finding.level() != Level::Note);
    for alike in fold(findings) {
        let Some(first) = alike.first() else { continue };
        text.push_str(&shown(first, &alike, !told.insert(first.rule.id)));
        if text.len() > PIECE {
            print(&text);
            text.clear();
        }
    }
    text.push_str(&not_judged(&checked.not_judged));
    if let Some((checked_as, predictions)) = &checked.predicted {
        text.push_str(&predicted(checked_as, predictions));
    }
    let _ = writeln!(text, "{}: {}; {}", visible(&checked.target), summary(checked), checked.looked_at);
    print(&text);
}

/// Findings of one rule that say the same of several places, versions or platforms stand together, where the first of
/// them stood.
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

/// A finding with all that say the same; the reason stands with the first of its rule.
fn shown(finding: &Finding, alike: &[&Finding], told: bool) -> String {
    let colour = match finding.level() {
        Level::Error => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Note => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let rule = finding.rule;
    let place = |finding: &Finding| {
        let about = about(finding.version.as_deref(), finding.platform.as_ref());
        format!("{}{}", visible(&finding.place), visible(&about))
    };
    let head = format!("{style}{}[{}]{style:#}", rule.level.word(), rule.id);
    let mut text = match alike {
        [_] => format!("{head} {}\n", place(finding)),
        several => {
            let mut text = format!("{head} {} times\n", several.len());
            for (nth, one) in several.iter().take(MOST_PLACES).enumerate() {
                let _ = writeln!(text, "  {:<8}  {}", if nth == 0 { "where" } else { "" }, place(one));
            }
            if several.len() > MOST_PLACES {
                let _ = writeln!(text, "            and {} more", several.len() - MOST_PLACES);
            }
            text
        }
    };
    text.push_str(&row("  ", "what", &finding.text));
    if let Some(diff) = &finding.diff {
        text.extend(visible(diff).lines().map(|line| format!("    {line}\n")));
    }
    if !told {
        text.push_str(&row("  ", "why", rule.why));
        text.push_str(&row("  ", "mend", rule.mend));
        text.push_str(&row("  ", "spec", rule.spec));
    }
    text.push('\n');
    text
}

/// What could not be asked for; places with one cause stand together.
fn not_judged(list: &[Unjudged]) -> String {
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
    let mut text = String::new();
    for (cause, places) in causes {
        for one in places.iter().take(MOST_PLACES) {
            let about = about(one.version.as_deref(), one.platform.as_ref());
            let _ = writeln!(text, "{style}not judged{style:#} {}{}", visible(&one.place), visible(&about));
        }
        if places.len() > MOST_PLACES {
            let _ = writeln!(text, "  and {} more", places.len() - MOST_PLACES);
        }
        text.push_str(&row("  ", "cause", &cause));
        text.push('\n');
    }
    text
}

/// Who it was checked as, and a line for each platform and outcome.
fn predicted(checked_as: &CheckedAs, predictions: &[Prediction]) -> String {
    let mut text = match checked_as {
        CheckedAs::Named(address) => format!("checked as {address}\n"),
        CheckedAs::Annotation(address) => format!("checked as {address}, as its newest index says\n"),
        CheckedAs::Executables(provider_type) => {
            format!("checked as a provider of type {}, as its executables are named\n", visible(provider_type))
        }
        CheckedAs::Unknown => "checked as any provider: nothing says which it is; name it with --address\n".to_owned(),
    };
    let mut outcomes: BTreeMap<(&Platform, String), Vec<OpenTofu>> = BTreeMap::new();
    for prediction in predictions {
        outcomes.entry((&prediction.platform, outcome(prediction))).or_default().push(prediction.opentofu);
    }
    let width = outcomes.keys().map(|(platform, _)| platform.to_string().len()).max().unwrap_or_default();
    for ((platform, outcome), releases) in outcomes {
        let _ = writeln!(
            text,
            "  {platform:<width$}  OpenTofu {:<11}  {outcome}",
            series(&releases),
            platform = platform.to_string()
        );
    }
    text.push('\n');
    text
}

fn outcome(prediction: &Prediction) -> String {
    let version = prediction.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let unread = if prediction.unread { "; its packages were not looked at" } else { "" };
    match prediction.because {
        None => format!("installs{version}{unread}"),
        Some(Because::RepositoryUnreadable) if prediction.unread => {
            format!("not known{}: not all of it could be read", version.replacen(' ', " for ", 1))
        }
        Some(because) => format!("refuses{version}: {because}{unread}"),
    }
}

/// `1.10 to 1.13`, or each by its name.
fn series(releases: &[OpenTofu]) -> String {
    match releases {
        [first, .., last] if releases.len() == OpenTofu::ALL.len() => format!("{first} to {last}"),
        some => some.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn capabilities(probe: &ProbeReport) -> String {
    let width = probe.capabilities.iter().map(|row| row.what.len()).max().unwrap_or_default();
    let mut text = String::new();
    for row in &probe.capabilities {
        let colour = match row.state {
            State::Works => AnsiColor::Green,
            State::Differs => AnsiColor::Yellow,
            State::Missing | State::NotTried => AnsiColor::Cyan,
        };
        let style = Style::new().fg_color(Some(colour.into()));
        let _ =
            writeln!(text, "  {:<width$}  {style}{:<9}{style:#}  {}", row.what, row.state.word(), visible(&row.detail));
    }
    text.push('\n');
    for line in &probe.meaning {
        let _ = writeln!(text, "{line}");
    }
    text.push('\n');
    if !probe.left.is_empty() {
        let _ = writeln!(text, "left in {}:", visible(&probe.repository));
        text.extend(probe.left.iter().map(|left| format!("  {}\n", visible(left))));
        text.push('\n');
    }
    text
}

fn summary(checked: &Checked) -> String {
    let levels = [(Level::Error, "error"), (Level::Warning, "warning"), (Level::Note, "note")];
    let counts = levels.map(|(level, word)| (count(checked, level), word));
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}{}", if *count == 1 { "" } else { "s" }))
        .collect();
    let unjudged = match checked.not_judged.len() {
        0 => String::new(),
        count => format!("; {count} not judged"),
    };
    let found = if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") };
    found + &unjudged
}
