//! The versions for people.

use tofu_oci_explain::releases::SignatureStanding;
use tofu_oci_source::Created;

use super::lines::VersionLine;
use crate::page::{Line, Page, padded};

/// One version a line, and its platforms beside it; they begin at the same column in every line.
pub(super) fn list(lines: &[VersionLine<'_>]) -> Page {
    let width = lines.iter().map(|line| line.version.to_string().len()).max().unwrap_or_default();
    let mut page = Page::default();
    for line in lines {
        let platforms = platforms(line);
        page.push(Line::of(format_args!("{:<width$}  {platforms}", line.version.to_string())).trimmed());
    }
    page
}

/// What `--long` says of each version, in columns below their names.
pub(super) fn table(lines: &[VersionLine<'_>]) -> Page {
    let mut page = Page::default();
    if lines.is_empty() {
        return page;
    }
    let head = ["version", "created", "protocols", "signed", "platforms"].map(str::to_owned);
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(lines.iter().map(row)).collect();
    let width = |nth: usize| {
        let widths = rows.iter().map(|row| unicode_width::UnicodeWidthStr::width(row[nth].as_str()));
        widths.max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2), width(3), 0];
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| padded(cell, width));
        page.push(Line::of(cells.collect::<Vec<_>>().join("  ")).trimmed());
    }
    page
}

fn row(line: &VersionLine<'_>) -> [String; 5] {
    let created = |created: &Option<Created>| {
        created.as_ref().map_or_else(|| "unknown".to_owned(), |created| created.at.day().to_owned())
    };
    let (created, protocols, signed) = match &line.long {
        Some(long) => (created(&long.created), shown(&long.protocols.join(" ")), signed(long.signatures.as_ref())),
        None => ("-".to_owned(), "-".to_owned(), "-".to_owned()),
    };
    let version = match &line.notice {
        Some(notice) => format!("{} ({})", line.version, notice.state),
        None => line.version.to_string(),
    };
    [version, created, protocols, signed, platforms(line)]
}

/// Escaped here, so that the columns after it are where they belong.
fn shown(text: &str) -> String {
    if text.is_empty() { "-".to_owned() } else { tofu_oci_types::printable(text).into_owned() }
}

/// What the signatures of a release come to, in a few words.
fn signed(standing: Option<&SignatureStanding>) -> String {
    match standing {
        Some(SignatureStanding::Signed { by }) => shown(&format!("by {}", by.join(", "))),
        Some(SignatureStanding::SignedBefore) => "before".to_owned(),
        Some(SignatureStanding::Refused { code }) => format!("refused ({code})"),
        Some(SignatureStanding::NotJudged { found: 1.. }) => "not judged".to_owned(),
        Some(SignatureStanding::NotJudged { .. } | SignatureStanding::Unsigned) => "no".to_owned(),
        None => "-".to_owned(),
    }
}

fn platforms(line: &VersionLine<'_>) -> String {
    line.platforms.iter().flatten().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
