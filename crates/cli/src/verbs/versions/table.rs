//! The versions for people.

use tofu_oci_fetch::SignatureStanding;
use tofu_oci_source::ReleaseDate;

use super::lines::VersionLine;
use crate::page::{Line, Page};

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
    let head = ["version", "created", "protocols", "signed", "platforms"];
    page.table(head, lines.iter().map(row));
    page
}

fn row(line: &VersionLine<'_>) -> [String; 5] {
    let created = |created: &Option<ReleaseDate>| {
        created.as_ref().map_or_else(|| "unknown".to_owned(), |created| created.at.day().to_owned())
    };
    let (created, protocols, signed) = match &line.long {
        Some(long) => (created(&long.created), protocols(&long.protocols), signed(long.signatures.as_ref())),
        None => ("-".to_owned(), "-".to_owned(), "-".to_owned()),
    };
    let version = match &line.notice {
        Some(notice) => format!("{} ({})", line.version, notice.state),
        None => line.version.to_string(),
    };
    [version, created, protocols, signed, platforms(line)]
}

fn protocols(protocols: &[String]) -> String {
    if protocols.is_empty() { "-".to_owned() } else { protocols.join(" ") }
}

/// What the signatures of a release come to, in a few words.
pub(in crate::verbs) fn signed(standing: Option<&SignatureStanding>) -> String {
    match standing {
        Some(SignatureStanding::Signed { by }) => format!("by {}", by.join(", ")),
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
