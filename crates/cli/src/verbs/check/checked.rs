//! What was checked, and what came of it.

use std::collections::BTreeMap;

use serde::Serialize;
use tofu_oci_checker::opentofu::{ModulePrediction, RepositoryPrediction};
use tofu_oci_checker::{
    BuiltVersion, CheckRule, CheckedAs, Finding, FindingLevel, Group, NotJudged, ProbeReport, TagCounts, rules,
};
use tofu_oci_types::Platform;

use crate::diagnostic::Diagnostic;

/// The outcome of one target.
#[derive(Default)]
pub(super) struct Checked {
    /// The target as people write it.
    pub(super) target: String,
    /// What was done, such as `3 versions looked at`.
    pub(super) looked_at: String,
    /// Of a repository: what its version tags are.
    pub(super) counts: Option<TagCounts>,
    /// The groups of rules that were applied.
    pub(super) groups: Vec<Group>,
    /// The rules of these groups that were not applied, and why.
    pub(super) left_out: BTreeMap<&'static str, &'static str>,
    /// The lowest level whose findings fail the command.
    pub(super) lowest: FindingLevel,
    pub(super) findings: Vec<Finding>,
    /// What could not be judged.
    pub(super) not_judged: Vec<Unjudged>,
    /// Of a repository: what each `OpenTofu` does with it.
    pub(super) predicted: Option<Predicted>,
    /// Of a repository: who built its versions, by signatures that count.
    pub(super) built: Vec<BuiltVersion>,
    /// Of a repository with `--against`: how it compares with the other.
    pub(super) against: Option<Compared>,
    /// Of a registry: every capability.
    pub(super) probe: Option<ProbeReport>,
}

/// What each `OpenTofu` does with a repository.
pub(super) enum Predicted {
    /// One of a provider: the provider it was checked as, and the platforms.
    Providers(CheckedAs, Vec<RepositoryPrediction>),
    /// One of modules: each module that was asked for.
    Modules(Vec<ModulePrediction>),
}

/// The second repository, and what the comparison came to.
#[derive(Serialize)]
pub(super) struct Compared {
    /// As people write it.
    #[serde(rename = "target")]
    pub(super) with: String,
    pub(super) outcome: Comparison,
}

/// Whether two repositories hold the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Comparison {
    Equal,
    Different,
    /// No difference was found, and a part of one of them could not be asked for.
    NotKnown,
}

impl Checked {
    /// The rules of the applied groups, and those of other groups with a finding.
    pub(super) fn rules(&self) -> Vec<&'static CheckRule> {
        let found = |rule: &CheckRule| self.findings.iter().any(|finding| finding.rule == rule);
        rules().filter(|rule| self.groups.contains(&rule.group) || found(rule)).collect()
    }

    /// The number of findings of a level.
    pub(super) fn count(&self, level: FindingLevel) -> usize {
        self.findings.iter().filter(|finding| finding.level() == level).count()
    }
}

/// A part that could not be judged, and why.
pub(super) struct Unjudged {
    /// What it is, as the place of a finding names it.
    pub(super) place: String,
    pub(super) version: Option<String>,
    pub(super) platform: Option<Platform>,
    pub(super) why: Diagnostic,
}

impl From<NotJudged> for Unjudged {
    fn from(one: NotJudged) -> Self {
        let NotJudged { place, version, platform, error } = one;
        Self { place, version, platform, why: Diagnostic::from(&error) }
    }
}

impl Unjudged {
    /// The error and its causes, on one line.
    pub(super) fn cause(&self) -> String {
        std::iter::once(self.why.text())
            .chain(self.why.causes().iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(": ")
    }
}

/// The rules that need something that this run did not read, each with the reason.
pub(super) fn idle(needs: fn(&CheckRule) -> bool, why: &'static str) -> BTreeMap<&'static str, &'static str> {
    rules().filter(|rule| needs(rule)).map(|rule| (rule.id, why)).collect()
}
