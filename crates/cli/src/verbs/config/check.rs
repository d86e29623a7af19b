//! `config check`.

use std::collections::{BTreeMap, HashMap};
use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde::Serialize;
use tofu_oci_checker::FindingLevel;
use tofu_oci_checker::cli_config::{CliConfigFacts, CliConfigFinding, LockFacts, LockedFact, RequiredFact, findings};
use tofu_oci_lockfile::LOCK_FILE_NAME;
use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{self, ConfigFileState, MEASURED, releases_text};
use tofu_oci_tfconfig::{ConfigFolder, TfConfigError};
use tofu_oci_types::{Event, TextPosition};

use crate::args::ConfigCheckArgs;
use crate::diagnostic::Diagnostic;
use crate::environment::{RealFiles, environment};
use crate::excerpt::excerpt;
use crate::exit::Exit;
use crate::page::{Line, Page, counted};
use crate::report::JsonLines;
use crate::verbs::context::{Context, config_folder};
use crate::verbs::install::working_dir;

/// Prints every finding about the user's files.
/// It fails only if nothing could be checked; findings are an exit code, not an error.
pub(crate) fn check(context: &Context, args: &ConfigCheckArgs) -> Result<Exit, Diagnostic> {
    let dir = working_dir(args.chdir.as_deref())?;
    let environment = environment(args.chdir.as_deref())?;
    let readings = MEASURED.map(|release| config::read(&environment, &RealFiles, release));
    let methods = readings.each_ref().map(|reading| reading.methods(&environment, &RealFiles));
    let suffix = readings[2].config.magic_suffix.as_ref().map(|(suffix, _)| suffix.clone());
    let read: BTreeMap<PathBuf, usize> = readings
        .iter()
        .flat_map(|reading| &reading.files)
        .filter(|file| matches!(file.state, ConfigFileState::Read | ConfigFileState::Dropped))
        .map(|file| (file.path.clone(), file.text.len()))
        .collect();
    let mut not_read = 0;
    let facts = CliConfigFacts {
        readings,
        methods,
        environment: &environment,
        files: &RealFiles,
        magic_suffix: suffix.unwrap_or_else(MagicSuffix::default),
        predecessors: args.predecessors.all(),
        lock: lock(context, &dir, &mut not_read),
        required: required(context, &config_folder(context, &dir, &args.tests), &mut not_read),
    };
    let found = findings(&facts);
    print(context, &found, read.len(), not_read);
    if not_read > 0 {
        return Ok(Exit::Usage);
    }
    Ok(if found.iter().any(|finding| finding.level < FindingLevel::Note) { Exit::Fixable } else { Exit::Done })
}

/// What the lock file says. An unreadable one produces a warning, and the check goes on.
fn lock(context: &Context, dir: &Path, not_read: &mut usize) -> Option<LockFacts> {
    let path = dir.join(LOCK_FILE_NAME);
    let lock = match tofu_oci_lockfile::read(&path) {
        Ok(lock) => lock,
        Err(error) => {
            not_looked_at(context, &error);
            *not_read += 1;
            return None;
        }
    };
    let text = lock.text()?;
    let spans = quoted(text);
    let providers = lock.file().iter().map(|(address, entry)| LockedFact {
        address: address.clone(),
        version: entry.version.clone(),
        schemes: entry.hashes.iter().filter_map(|hash| Some(hash.to_string().split_once(':')?.0.to_owned())).collect(),
        span: spans.get(address.to_string().as_str()).cloned(),
    });
    let providers = providers.collect();
    Some(LockFacts { path, text: text.into(), providers })
}

/// The first span of each quoted text, with its quotation marks. One pass serves any number of providers.
fn quoted(text: &str) -> HashMap<&str, Range<usize>> {
    let mut found = HashMap::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marks: Vec<usize> = line.match_indices('"').map(|(at, _)| at).collect();
        for pair in marks.chunks_exact(2) {
            let span = start + pair[0]..start + pair[1] + 1;
            found.entry(&line[pair[0] + 1..pair[1]]).or_insert(span);
        }
        start += line.len();
    }
    found
}

/// What the configuration requires. An unreadable one produces a warning, and the check goes on.
fn required(context: &Context, folder: &ConfigFolder, not_read: &mut usize) -> Vec<RequiredFact> {
    match tofu_oci_tfconfig::configuration(folder) {
        Err(TfConfigError::NoConfiguration { .. }) => Vec::new(),
        Ok(found) => found
            .requirements
            .into_iter()
            .map(|required| RequiredFact { address: required.address, constraints: required.constraints })
            .collect(),
        Err(error) => {
            not_looked_at(context, &error);
            *not_read += 1;
            Vec::new()
        }
    }
}

fn not_looked_at(context: &Context, error: &dyn Error) {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text.push_str("; the check goes on without it");
    context.reporter.event(&Event::warning("not-looked-at", text));
}

fn print(context: &Context, found: &[CliConfigFinding], files: usize, not_read: usize) {
    let count = |level| found.iter().filter(|finding| finding.level == level).count();
    let summary = Summary {
        files,
        not_read,
        errors: count(FindingLevel::Error),
        warnings: count(FindingLevel::Warning),
        notes: count(FindingLevel::Note),
    };
    let lines = |lines: &JsonLines| {
        lines.add_all(found.iter().map(FindingLine::of));
        lines.add(&summary);
    };
    context.emit_all(lines, || {
        let mut page = Page::default();
        for finding in found {
            page.append(shown(finding));
            page.gap();
        }
        let rest = if not_read == 0 { "" } else { ", and not all that was to be looked at" };
        page.line(format_args!("{}; {} read{rest}", summary.text(), counted(files, "file")));
        page
    });
}

/// A finding for people, its level in colour.
fn shown(finding: &CliConfigFinding) -> Page {
    let colour = match finding.level {
        FindingLevel::Error => AnsiColor::Red,
        FindingLevel::Warning => AnsiColor::Yellow,
        FindingLevel::Note => AnsiColor::Cyan,
    };
    let style = Style::new().bold().fg_color(Some(colour.into()));
    let head = format_args!("{}[{}]", finding.level.word(), finding.rule);
    let mut page = Page::default();
    page.push(Line::default().styled(style, head).plain(format_args!(" {}", finding.title)));
    if let Some(at) = &finding.at {
        let path = at.path.display().to_string();
        match &at.span {
            Some(span) if !at.text.is_empty() => page.block("", &excerpt(&path, &at.text, span)),
            _ => page.line(format_args!(" --> {path}")),
        }
    }
    let detail = finding.detail.as_deref().unwrap_or_default();
    if finding.releases.len() < MEASURED.len() && !finding.tells_releases {
        page.line(format_args!("  = only in OpenTofu {}", releases_text(&finding.releases)));
    }
    lines(&mut page, "= what happens: ", detail);
    let instead = finding.instead.as_deref().unwrap_or_default();
    lines(&mut page, "= instead: ", instead);
    page
}

fn lines(page: &mut Page, lead: &str, text: &str) {
    for (number, line) in text.lines().enumerate() {
        page.line(format_args!("  {:<width$}{line}", if number == 0 { lead } else { "" }, width = lead.len()));
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "finding")]
struct FindingLine<'a> {
    rule: &'a str,
    level: FindingLevel,
    path: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
    releases: Vec<String>,
    title: &'a str,
    detail: Option<&'a str>,
    instead: Option<&'a str>,
    opens_to_origin: bool,
}

impl<'a> FindingLine<'a> {
    fn of(finding: &'a CliConfigFinding) -> Self {
        let at = finding.at.as_ref();
        let place = at.and_then(|at| Some(TextPosition::of(&at.text, at.span.as_ref()?.start)));
        Self {
            rule: &finding.rule,
            level: finding.level,
            path: at.map(|at| at.path.display().to_string()),
            line: place.map(|place| place.line),
            column: place.map(|place| place.column),
            releases: finding.releases.iter().map(ToString::to_string).collect(),
            title: &finding.title,
            detail: finding.detail.as_deref(),
            instead: finding.instead.as_deref(),
            opens_to_origin: finding.opens_to_origin,
        }
    }
}

#[derive(Serialize)]
#[serde(tag = "event", rename = "checked")]
struct Summary {
    files: usize,
    not_read: usize,
    errors: usize,
    warnings: usize,
    notes: usize,
}

impl Summary {
    fn text(&self) -> String {
        let levels = [(self.errors, "error"), (self.warnings, "warning"), (self.notes, "note")];
        let found = levels.iter().filter(|(count, _)| *count > 0).map(|(count, word)| counted(*count, word));
        let found: Vec<String> = found.collect();
        if found.is_empty() { "no findings".to_owned() } else { found.join(", ") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A lock file of 6,000 providers took a minute: each of them was searched for from the first line on.
    #[test]
    fn each_provider_of_a_lock_file_is_found_where_it_is_quoted_first() {
        let text = "# \" one mark\nprovider \"a/b/c\" { # \"d\"\n  x = \"d\"\n}\nprovider \"a/b/c\" \"";
        let found = quoted(text);
        let shown = |name: &str| found.get(name).map(|span| (span.start, &text[span.clone()]));
        assert_eq!(shown("a/b/c"), text.find("\"a/b/c\"").map(|at| (at, "\"a/b/c\"")));
        assert_eq!(shown("d"), text.find("\"d\"").map(|at| (at, "\"d\"")));
        assert_eq!(found.len(), 2);
        let many: String = (0..6000).map(|nth| format!("provider \"example.com/acme/w{nth:04}\" {{\n}}\n")).collect();
        let found = quoted(&many);
        let at = |nth: usize| found[format!("example.com/acme/w{nth:04}").as_str()].start;
        assert_eq!((found.len(), at(0), at(5999)), (6000, 9, 9 + 5999 * (many.len() / 6000)));
    }
}
