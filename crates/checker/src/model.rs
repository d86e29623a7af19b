//! Findings, and the rules that they are findings of.

use serde::Serialize;
use tofu_oci_store::StoreError;
use tofu_oci_types::Platform;

/// How much a finding matters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FindingLevel {
    /// A user cannot install, or gets something other than they believe.
    #[default]
    Error,
    /// It will fail later, or with some clients only.
    Warning,
    /// Worth knowing.
    Note,
}

impl FindingLevel {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

/// What a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    /// The tags of a repository.
    Tags,
    /// The index of a release.
    Index,
    /// A leaf: its entry in the index, its manifest, its config.
    Leaf,
    /// The bytes of a package.
    Package,
    /// The annotations.
    Annotations,
    /// Signatures and other referrers.
    Signatures,
    /// Two repositories that should be equal.
    Drift,
    /// A dependency lock file.
    LockFile,
    /// What a registry can do.
    Registry,
    /// A repository of modules.
    Modules,
}

impl Group {
    /// Every group, in the order of the documentation.
    pub const ALL: [Self; 10] = [
        Self::Tags,
        Self::Index,
        Self::Leaf,
        Self::Package,
        Self::Annotations,
        Self::Signatures,
        Self::Drift,
        Self::LockFile,
        Self::Registry,
        Self::Modules,
    ];

    /// The heading for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::Tags => "Tags",
            Self::Index => "The index of a release",
            Self::Leaf => "Leaves",
            Self::Package => "Packages",
            Self::Annotations => "Annotations",
            Self::Signatures => "Signatures and referrers",
            Self::Drift => "Two repositories",
            Self::LockFile => "Lock files",
            Self::Registry => "Registries",
            Self::Modules => "Modules",
        }
    }
}

/// A rule: what all its findings have in common.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct CheckRule {
    /// A stable kebab-case name.
    #[serde(rename = "rule")]
    pub id: &'static str,
    /// What it is about.
    #[serde(skip)]
    pub group: Group,
    /// How much its findings matter.
    pub level: FindingLevel,
    /// What it finds, in one line without a full stop.
    #[serde(skip)]
    pub finds: &'static str,
    /// Why it matters: one or two sentences.
    pub why: &'static str,
    /// The document and section that it follows from.
    pub spec: &'static str,
    /// What to do about it.
    pub fix: &'static str,
}

impl CheckRule {
    /// A finding of this rule.
    #[expect(clippy::needless_pass_by_value, reason = "callers have a place, a text or a reference to one")]
    pub(crate) fn at(&'static self, place: impl ToString, text: impl Into<String>) -> Finding {
        Finding { rule: self, place: place.to_string(), text: text.into(), version: None, platform: None, diff: None }
    }
}

/// Something that a rule found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "finding")]
pub struct Finding {
    /// The rule; level, reason and section are its.
    #[serde(flatten)]
    pub rule: &'static CheckRule,
    /// The place: a tag, a manifest or blob by digest, an entry of a zip, a line of a file.
    pub place: String,
    /// What is wrong, in one sentence without a full stop. Quoted foreign text may hold any character.
    pub text: String,
    /// The version that it is about, if it is about one.
    pub version: Option<String>,
    /// The platform that it is about, if it is about one.
    pub platform: Option<Platform>,
    /// The fix of a file, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

impl Finding {
    /// How much it matters.
    pub fn level(&self) -> FindingLevel {
        self.rule.level
    }

    /// The finding, about this version.
    pub(crate) fn of_version(self, version: &(impl ToString + ?Sized)) -> Self {
        Self { version: Some(version.to_string()), ..self }
    }

    /// The finding, about this platform.
    pub(crate) fn of_platform(self, platform: Option<&Platform>) -> Self {
        Self { platform: platform.cloned().or(self.platform), ..self }
    }

    /// The finding, with a diff.
    pub(crate) fn with_diff(self, diff: String) -> Self {
        Self { diff: Some(diff), ..self }
    }
}

/// Something that no rule judged, because the store did not answer.
#[derive(Clone, Debug)]
pub struct NotJudged {
    /// Its place, as in a finding.
    pub place: String,
    /// The version that it belongs to, if any.
    pub version: Option<String>,
    /// The platform that it is for, if any.
    pub platform: Option<Platform>,
    /// What kept the store from answering.
    pub error: StoreError,
}
