//! For people.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use tofu_oci_checker::opentofu::{OpenTofu, Prediction};
use tofu_oci_checker::{CheckedAs, Finding, Level, ProbeReport, Rule, State};
use tofu_oci_types::Platform;

use super::count;
use crate::printer::{row, visible};
use crate::verbs::check::Checked;

/// Findings with their reasons, what `OpenTofu` makes of it, and a last line that sums up.
pub(super) fn render(checked: &Checked, quiet: bool) -> String {
    let mut text = String::new();
    if let Some(probe) = &checked.probe {
        text.push_str(&capabilities(probe));
    }
    let mut told: Vec<&Rule> = Vec::new();
    for finding in &checked.findings {
        // Of a probe the rows above say what was found; only what is wrong is worth repeating.
        if checked.probe.is_some() && finding.level() == Level::Note || quiet && finding.level() == Level::Note {
            continue;
        }
        text.push_str(&shown(finding, told.contains(&finding.rule)));
        told.push(finding.rule);
    }
    if let Some((checked_as, predictions)) = &checked.predicted {
        text.push_str(&predicted(checked_as, predictions));
    }
    let _ = writeln!(text, "{}: {}; {}", visible(&checked.target), summary(checked), checked.looked_at);
    text
}

/// A finding; why it matters is told with the first of its rule.
fn shown(finding: &Finding, told: bool) -> String {
    let colour = match finding.level() {
        Level::Error => AnsiColor::Red,
        Level::Warning => AnsiColor::Yellow,
        Level::Note => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let rule = finding.rule;
    let about = match (&finding.version, &finding.platform) {
        (Some(version), Some(platform)) => format!(" ({version}, {platform})"),
        (Some(version), None) => format!(" ({version})"),
        (None, Some(platform)) => format!(" ({platform})"),
        (None, None) => String::new(),
    };
    let mut text =
        format!("{style}{}[{}]{style:#} {}{}\n", rule.level.word(), rule.id, visible(&finding.place), visible(&about));
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
    if parts.is_empty() { "no findings".to_owned() } else { parts.join(", ") }
}
