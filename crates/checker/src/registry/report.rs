//! The result of a probe.

use serde::Serialize;

use crate::model::Finding;

/// The result of one attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CapabilityState {
    /// It works as the specification says.
    Works,
    /// The registry answers otherwise than the specification says.
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

/// A capability that a registry has or lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "capability")]
pub struct Capability {
    /// A stable kebab-case name.
    pub name: &'static str,
    /// What was tried, for people.
    pub what: &'static str,
    /// The result.
    pub state: CapabilityState,
    /// The answer of the registry.
    pub detail: String,
}

/// The result of a probe.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "probed")]
pub struct ProbeReport {
    pub repository: String,
    /// Every attempt, in order.
    #[serde(skip)]
    pub capabilities: Vec<Capability>,
    /// What that means for publishing and installing providers, a sentence each.
    pub meaning: Vec<String>,
    /// Content that could not be deleted: tags and digests.
    pub left: Vec<String>,
    /// The number of requests.
    pub requests: usize,
    #[serde(skip)]
    pub findings: Vec<Finding>,
    /// The attempts without a result, and the answers: the registry had a fault, or refused the credentials.
    #[serde(skip)]
    pub not_judged: Vec<(&'static str, String)>,
}

impl ProbeReport {
    /// The state of a capability; [`CapabilityState::NotTried`] for one that is not among them.
    pub fn state(&self, name: &str) -> CapabilityState {
        self.capabilities.iter().find(|one| one.name == name).map_or(CapabilityState::NotTried, |one| one.state)
    }
}
