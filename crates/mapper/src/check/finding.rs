//! A finding, and how it is shown.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;

use crate::TofuRelease;
use crate::config::{ConfigFile, clean, excerpt};

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Something does not do what it says.
    Error,
    /// Something will bite on a day to come, or is ignored.
    Warning,
    /// Worth knowing.
    Note,
}

impl Level {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// Something worth telling about the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable kebab-case name of the rule; see [`super::RULES`].
    pub rule: Cow<'static, str>,
    /// How much it matters.
    pub level: Level,
    /// Where, if it is about a place in a file.
    pub at: Option<FoundAt>,
    /// The releases that it is about, ascending; all of them where it does not depend.
    pub releases: Vec<TofuRelease>,
    /// What is the matter, in one sentence without a full stop. Never a secret.
    pub title: String,
    /// What happens then; several lines where the releases differ.
    pub detail: Option<String>,
    /// What to write instead.
    pub instead: Option<String>,
    /// Whether providers are then downloaded from their own registries although the file names another way.
    pub opens_to_origin: bool,
}

/// A place in a file. `Debug` leaves the text out, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundAt {
    /// The file.
    pub path: PathBuf,
    /// Its text; empty where it could not be read.
    pub text: Arc<str>,
    /// The bytes to underline; nothing where the whole file is meant.
    pub span: Option<Range<usize>>,
}

impl FoundAt {
    /// A place in a file of the CLI configuration.
    pub fn of(file: &ConfigFile, span: Option<Range<usize>>) -> Self {
        Self { path: file.path.clone(), text: file.text.as_str().into(), span }
    }
}

impl std::fmt::Debug for FoundAt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FoundAt").field("path", &self.path).field("span", &self.span).finish_non_exhaustive()
    }
}

impl Finding {
    /// A finding about all releases, and about no place yet.
    pub(super) fn new(rule: impl Into<Cow<'static, str>>, level: Level, title: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            level,
            at: None,
            releases: TofuRelease::ALL.to_vec(),
            title: title.into(),
            detail: None,
            instead: None,
            opens_to_origin: false,
        }
    }

    pub(super) fn at(self, at: Option<FoundAt>) -> Self {
        Self { at, ..self }
    }

    pub(super) fn detail(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    pub(super) fn instead(self, instead: impl Into<String>) -> Self {
        Self { instead: Some(instead.into()), ..self }
    }

    /// Whether two releases found the same.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let at = |finding: &Self| finding.at.as_ref().map(|at| (at.path.clone(), at.span.clone()));
        self.rule == other.rule
            && self.level == other.level
            && self.title == other.title
            && self.instead == other.instead
            && at(self) == at(other)
    }

    /// Plain text for people: level and rule, the sentence, the line with the place underlined, the releases where it
    /// is not about all, what happens, what to write. Characters that would disturb a terminal are replaced.
    pub fn render(&self) -> String {
        let mut text = format!("{}[{}] {}\n", self.level.word(), self.rule, clean(&self.title));
        if let Some(at) = &self.at {
            let path = at.path.display().to_string();
            text.push_str(&match &at.span {
                Some(span) if !at.text.is_empty() => excerpt(&path, &at.text, span),
                _ => format!(" --> {}\n", clean(&path)),
            });
        }
        // A detail that is told for single releases names them.
        if self.releases.len() < TofuRelease::ALL.len() && !self.names_releases() {
            let _ = writeln!(text, "  = only in OpenTofu {}", releases_text(&self.releases));
        }
        let instead = self.instead.as_ref().map(|instead| instead.strip_prefix("write ").unwrap_or(instead));
        lines(&mut text, "= what happens: ", self.detail.as_deref());
        lines(&mut text, "= write: ", instead);
        text
    }

    fn names_releases(&self) -> bool {
        self.detail.as_ref().is_some_and(|detail| detail.starts_with("1."))
    }
}

fn lines(out: &mut String, lead: &str, text: Option<&str>) {
    for (number, line) in text.into_iter().flat_map(str::lines).enumerate() {
        let lead = if number == 0 { lead.to_owned() } else { " ".repeat(lead.len()) };
        let _ = writeln!(out, "  {lead}{}", clean(line));
    }
}

/// The releases for people: `1.10 and later`, `1.12 and later`, `1.10`.
pub fn releases_text(releases: &[TofuRelease]) -> String {
    let last = TofuRelease::ALL.last();
    match releases {
        [] => "no release".to_owned(),
        [first, ..] if releases.len() == TofuRelease::ALL.iter().filter(|release| *release >= first).count() => {
            if Some(first) == last { first.to_string() } else { format!("{first} and later") }
        }
        [only] => only.to_string(),
        [start @ .., end] => {
            let start: Vec<String> = start.iter().map(ToString::to_string).collect();
            format!("{} and {end}", start.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(releases: &[TofuRelease], want: &str) {
        assert_eq!(releases_text(releases), want);
    }

    #[test]
    fn releases_are_told_shortly() {
        use TofuRelease::{V1_10, V1_12, V1_13};
        check(&[V1_10, V1_12, V1_13], "1.10 and later");
        check(&[V1_12, V1_13], "1.12 and later");
        check(&[V1_13], "1.13");
        check(&[V1_10], "1.10");
        check(&[V1_10, V1_12], "1.10 and 1.12");
        check(&[V1_10, V1_13], "1.10 and 1.13");
    }
}
