//! What a probe found out.

use serde::Serialize;

use crate::model::Finding;

/// What came of trying something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityState {
    /// It works as the specification says.
    Works,
    /// It is answered otherwise than the specification says.
    Differs,
    /// The registry does not have it.
    Missing,
    /// It could not be tried, because something before it failed.
    NotTried,
}

impl CapabilityState {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Works => "works",
            Self::Differs => "differs",
            Self::Missing => "missing",
            Self::NotTried => "not tried",
        }
    }
}

/// Something that a registry can do, or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Capability {
    /// A stable kebab-case name.
    pub name: &'static str,
    /// What was tried, for people.
    pub what: &'static str,
    /// What came of it.
    pub state: CapabilityState,
    /// How the registry answered.
    pub detail: String,
}

/// What a probe found out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeReport {
    /// The scratch repository.
    pub repository: String,
    /// Everything that was tried, in order.
    pub capabilities: Vec<Capability>,
    /// What that means for publishing and installing providers, a sentence each.
    pub meaning: Vec<String>,
    /// Content that could not be deleted: tags and digests.
    pub left: Vec<String>,
    /// How many requests it took.
    pub requests: usize,
    /// What is worth a finding.
    pub findings: Vec<Finding>,
    /// What was tried in vain, and how the registry answered: it was in trouble, or refused who asked.
    pub not_judged: Vec<(&'static str, String)>,
}

impl ProbeReport {
    /// The state of a capability; [`CapabilityState::NotTried`] for one that is not among them.
    pub fn state(&self, name: &str) -> CapabilityState {
        self.capabilities.iter().find(|one| one.name == name).map_or(CapabilityState::NotTried, |one| one.state)
    }
}
