//! What is wrong in a file, and what `OpenTofu` does about it.

use std::ops::Range;

/// Something that is wrong with the CLI configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CliConfigProblem {
    /// A stable kebab-case name of the fault, such as `missing-hostname`, `unknown-symbol:X` or `hcl:invalid-index`.
    pub code: String,
    /// Its severity in `OpenTofu`.
    pub severity: Severity,
    /// The stage in which `OpenTofu` sees it.
    pub stage: ProblemStage,
    /// The file, as its place in [`super::CliConfigReading::files`].
    pub file: Option<usize>,
    /// The bytes of that file to underline.
    pub span: Option<Range<usize>>,
    /// The line that `OpenTofu` names, which is often that of a whole block; `None` if it names none.
    pub reported: Option<usize>,
    /// What is wrong, in one sentence without a full stop. Never a secret.
    pub message: String,
    /// What to write instead.
    pub instead: Option<String>,
    /// What `OpenTofu` does then.
    pub effect: Effect,
    /// The codes of what `OpenTofu` reports together with it.
    pub also: Vec<String>,
    /// Whether only this program reports it.
    pub ours: bool,
    /// What it is about.
    pub topic: Topic,
}

impl CliConfigProblem {
    /// What `OpenTofu` says and does about it, as the end of a sentence.
    pub fn consequence(&self) -> String {
        if self.ours && self.effect == Effect::SilentlyIgnored {
            return "says nothing, and ignores it".to_owned();
        }
        let does = match self.effect {
            Effect::FileDropped => "goes on without this file",
            Effect::BlockIgnored => "goes on without this block",
            Effect::MethodDropped => "goes on without this method",
            Effect::EntryIgnored => "goes on without this entry",
            Effect::KeptAnyway => "uses it all the same",
            Effect::FirstUsed => "uses the first one",
            Effect::Crash => "crashes",
            Effect::SilentlyIgnored => "ignores it",
            Effect::NotPredicted => "evaluates it, with a result that is not predicted here",
        };
        match (self.severity, self.reported) {
            _ if self.ours => does.to_owned(),
            (Severity::Warning, _) => format!("warns, and {does}"),
            (Severity::Error, Some(line)) => format!("prints an error that names line {line}, and {does}"),
            (Severity::Error, None) => format!("prints an error that names no line, and {does}"),
        }
    }
}

/// What a problem is about. A command stops only for the topics that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topic {
    /// `oci_credentials` and `oci_default_credentials`.
    RegistryCredentials,
    /// `provider_installation`, which then does not count at all.
    ProviderInstallation,
    Other,
}

/// The severity of a problem in `OpenTofu`, which goes on in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    Error,
    Warning,
}

/// The stage in which a problem is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemStage {
    /// While the files are read.
    Load,
    /// While `OpenTofu` makes the sources of the methods.
    Sources,
}

/// What `OpenTofu` does about a problem. It never stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Effect {
    /// Nothing of the file counts, except plain settings that were decoded before a value of the wrong kind.
    FileDropped,
    /// What the file says in its plain settings counts, and so do the blocks that could be read.
    BlockIgnored,
    /// The method is dropped; the others stay.
    MethodDropped,
    /// One entry of a block is dropped; the others stay.
    EntryIgnored,
    /// The value is still used.
    KeptAnyway,
    /// Of several blocks the first one is used.
    FirstUsed,
    Crash,
    /// It is not reported, and what was written has no effect.
    SilentlyIgnored,
    /// It may be used or refused.
    NotPredicted,
}
