//! A finding, and how it is shown.

use std::borrow::Cow;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_mapper::config::{ConfigFile, MEASURED};
use tofu_oci_types::TofuRelease;

use crate::FindingLevel;

/// A finding about the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliConfigFinding {
    /// A stable kebab-case name of the rule; see [`super::RULES`].
    pub rule: Cow<'static, str>,
    /// How much it matters.
    pub level: FindingLevel,
    /// The place in a file, if it is about one.
    pub at: Option<FoundAt>,
    /// The releases that it is about, ascending; all of them if it does not depend on the release.
    pub releases: Vec<TofuRelease>,
    /// What is wrong, in one sentence without a full stop. Never a secret.
    pub title: String,
    /// The effect; several lines if the releases differ.
    pub detail: Option<String>,
    /// Whether the lines of `detail` name their releases.
    pub tells_releases: bool,
    /// What to write instead.
    pub instead: Option<String>,
    /// Whether `OpenTofu` then downloads providers from their own registries although the file names another source.
    pub opens_to_origin: bool,
}

/// A place in a file. `Debug` leaves the text out, which may hold secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct FoundAt {
    pub path: PathBuf,
    /// Its text; empty if it could not be read.
    pub text: Arc<str>,
    /// The bytes to underline; `None` if the whole file is meant.
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

impl CliConfigFinding {
    /// A finding about all releases, and about no place yet.
    pub(super) fn new(rule: impl Into<Cow<'static, str>>, level: FindingLevel, title: impl Into<String>) -> Self {
        Self {
            rule: rule.into(),
            level,
            at: None,
            releases: MEASURED.to_vec(),
            title: title.into(),
            detail: None,
            tells_releases: false,
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

    /// `instead` is what to write.
    pub(super) fn instead(self, instead: impl AsRef<str>) -> Self {
        Self { instead: Some(format!("write {}", instead.as_ref())), ..self }
    }

    /// `action` is what to do.
    pub(super) fn action(self, action: &str) -> Self {
        Self { instead: Some(action.to_owned()), ..self }
    }

    /// Whether two releases have the same finding.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let at = |finding: &Self| finding.at.as_ref().map(|at| (at.path.clone(), at.span.clone()));
        self.rule == other.rule
            && self.level == other.level
            && self.title == other.title
            && self.instead == other.instead
            && at(self) == at(other)
    }
}
