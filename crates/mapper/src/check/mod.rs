//! What the user's own files will do in the releases of `OpenTofu`, before it bites.
//!
//! ```text
//! Facts --findings--> [Finding]      problems.rs: what the reading itself found wrong
//! ```
//!
//! A finding names the releases that it is about: the same file is read otherwise by 1.10 than by 1.12 and later.

mod problems;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use tofu_oci_types::{Constraints, ProviderAddr, Version};

use crate::config::{ConfigFile, Environment, Files, Methods, Reading, Severity};
use crate::{MagicSuffix, TofuRelease};

/// Everything that the rules look at.
pub struct Facts<'a> {
    /// The user's files as each of [`TofuRelease::ALL`] reads them, in that order.
    pub readings: [Reading; 3],
    /// The methods that come out of each reading, in the same order.
    pub methods: [Methods; 3],
    /// Where the programs run.
    pub environment: &'a Environment,
    /// For a look at folders that are named.
    pub files: &'a dyn Files,
    /// The suffix of hosts that name a registry.
    pub magic_suffix: MagicSuffix,
    /// The lock file of the working directory; nothing where there is none.
    pub lock: Option<LockFacts>,
    /// The providers that the configuration of the working directory requires.
    pub required: Vec<RequiredFact>,
}

/// What a lock file says.
#[derive(Clone, Debug)]
pub struct LockFacts {
    /// Where it is.
    pub path: PathBuf,
    /// Its text.
    pub text: Arc<str>,
    /// Its entries.
    pub providers: Vec<LockedFact>,
}

/// An entry of a lock file.
#[derive(Clone, Debug)]
pub struct LockedFact {
    /// The provider.
    pub address: ProviderAddr,
    /// The version.
    pub version: Version,
    /// The schemes of its checksums, such as `h1` and `zh`.
    pub schemes: BTreeSet<String>,
    /// The bytes of the lock file's text to underline: the address in the entry's first line.
    pub span: Option<Range<usize>>,
}

/// A provider that a configuration requires.
#[derive(Clone, Debug)]
pub struct RequiredFact {
    /// The provider.
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
}

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

/// Something worth telling about the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// A stable kebab-case name of the rule.
    pub rule: Cow<'static, str>,
    /// How much it matters.
    pub level: Level,
    /// Where, if it is about a place in a file.
    pub at: Option<FoundAt>,
    /// The releases that it is about, ascending; all of them where it does not depend.
    pub releases: Vec<TofuRelease>,
    /// What is the matter, in one sentence without a full stop. Never a secret.
    pub title: String,
    /// What happens in `OpenTofu`; several lines where the releases differ.
    pub detail: Option<String>,
    /// What to write instead.
    pub instead: Option<String>,
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

/// Everything worth telling, in the order of the files and of the places in them; what is about no place comes last.
pub fn findings(facts: &Facts<'_>) -> Vec<Finding> {
    let mut found = problems::findings(facts);
    let files = &facts.readings[2].files;
    let order = |finding: &Finding| {
        let at = finding.at.as_ref();
        let file = at.and_then(|at| files.iter().position(|file| file.path == at.path)).unwrap_or(usize::MAX);
        (at.is_none(), file, at.and_then(|at| at.span.as_ref().map(|span| span.start)), finding.level)
    };
    found.sort_by_key(order);
    found
}

/// The releases for people: `every OpenTofu from 1.10`, `1.12 and later`, `1.10`.
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

/// The level of a problem by this program's measure.
fn level(severity: Severity, is_error: bool) -> Level {
    if is_error || severity == Severity::Error { Level::Error } else { Level::Warning }
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
