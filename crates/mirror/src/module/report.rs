//! What became of modules, and of the calls in them.

use std::collections::BTreeSet;

use serde::Serialize;
use tofu_oci_trust::NoticeReason;
use tofu_oci_types::{Constraints, Digest, Hostname, ModuleAddr, Moment, Place, ProviderAddr, Version};

use super::error::ModuleMirrorError;
use crate::plan::Withdrawer;

/// One version of a module, or a module none of whose versions is known.
#[derive(Debug)]
pub struct ModuleMirrorLine {
    pub address: ModuleAddr,
    /// The version; `None` if the line is about the module.
    pub version: Option<Version>,
    /// The modules and configurations that call it, sorted; empty if it was asked for by name.
    pub called_by: Vec<String>,
    /// What was done, or would be.
    pub outcome: Result<ModuleOutcome, ModuleMirrorError>,
}

/// What was done with a version, or would be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleOutcome {
    /// The kind of deed.
    #[serde(flatten)]
    pub action: ModuleAction,
    /// The destination.
    pub to: Place,
    /// The digest of the manifest there; `None` if a plan cannot know it.
    pub manifest: Option<Digest>,
    /// Bytes that were sent, or would be.
    pub bytes: u64,
}

/// What becomes of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ModuleAction {
    /// The package of a repository is copied byte for byte, with its signatures.
    Copy {
        /// Where it comes from.
        from: Place,
    },
    /// The files of an archive, or of a folder in a package, are packed anew.
    Pack {
        /// Where they come from, without secrets.
        from: String,
        /// The folder of the package that was packed, empty for all of it.
        folder: String,
    },
    /// The destination has it already.
    Present,
    /// People withdrew it at the destination, and it does not come back.
    WithdrawnThere,
    /// It would be withdrawn, and people have moved its tag: what is there is theirs, and stays.
    ReplacedThere,
    /// A run withdrew it, and it is wanted again: it comes back.
    Reinstate,
    /// Its registry no longer lists it. It stays.
    Gone {
        #[serde(flatten)]
        decided: Withdrawer,
    },
    /// It is taken away from clients.
    Withdraw {
        /// Why, as its notice says it.
        reason: NoticeReason,
        #[serde(flatten)]
        decided: Withdrawer,
    },
    /// It has not been seen for long enough.
    Held {
        /// From when on it is mirrored.
        until: Moment,
    },
    /// The lists of the rules keep it out.
    Denied {
        /// The entry of `deny`; `None` if `allow` has no entry for it.
        by: Option<String>,
    },
}

/// A provider that modules require.
#[derive(Clone, Debug)]
pub struct NeededProvider {
    pub address: ProviderAddr,
    pub constraints: Constraints,
    /// The hosts of these modules.
    pub required_by: BTreeSet<Hostname>,
}

/// A call of a module that this run does not bring to the destination.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct UnfollowedCall {
    /// The caller: a module and its version, or a configuration.
    pub caller: String,
    /// The file and the position in it.
    pub at: String,
    /// The source as written, without secrets.
    pub source: String,
    /// What `version` demands, as written; absent if it demands nothing or is computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<String>,
    /// What becomes of it.
    #[serde(flatten)]
    pub fate: CallOutcome,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CallOutcome {
    /// It leads elsewhere than to the destination: `tofu init` fetches from there.
    Leaves,
    /// No mirror of the mapping is for it, so that it leads to its own registry.
    NoMirror,
    /// The bundle that modules come from lacks it.
    NotInBundle,
    /// It is a module of a registry, and nested calls are not followed.
    NotFollowed,
    /// The source or its version is computed, or not a valid one.
    Unknown,
    /// It leads into the destination.
    Stays,
    /// It leads back to a module that makes it.
    Loop,
}

/// What a run did.
#[derive(Debug, Default)]
pub struct ModuleMirrorReport {
    /// The versions, sorted by address and version.
    pub lines: Vec<ModuleMirrorLine>,
    /// The calls that are not mirrored, sorted.
    pub calls: Vec<UnfollowedCall>,
    /// The providers that the modules require which the run has read, sorted.
    pub providers: Vec<NeededProvider>,
}

impl ModuleOutcome {
    /// One that moves nothing.
    pub(super) fn still(action: ModuleAction, to: Place, manifest: Option<Digest>) -> Self {
        Self { action, to, manifest, bytes: 0 }
    }
}

impl ModuleMirrorReport {
    /// Whether something failed or is missing.
    pub fn has_problem(&self) -> bool {
        self.lines.iter().any(|line| line.outcome.is_err())
    }
}
