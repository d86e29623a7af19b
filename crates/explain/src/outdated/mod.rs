//! Which providers of a configuration are behind, what an upgrade moves, and what holds it back.
//!
//! Versions are compared as `install` chooses them, by [`Constraints::select`].

#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use serde::Serialize;
use tofu_oci_tfconfig::{Declared, ModuleNode};
use tofu_oci_types::{Constraints, ProviderAddr, Version};

/// What one module demands of a provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleDemand {
    /// The names of the calls on the way to the module, joined by dots; empty for the root.
    pub module: String,
    /// The same as programs write it: `module.a.module.b`.
    #[serde(skip)]
    pub path: String,
    pub constraints: Constraints,
    /// Where the module demands them.
    #[serde(flatten)]
    pub declared: Declared,
}

/// The versions of a provider that matter.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct VersionComparison {
    /// What `install --upgrade` would choose; `None` if no version is admitted.
    pub admitted: Option<Version>,
    /// The newest that any constraints could choose without naming it: no pre-release, unless it is admitted.
    pub newest: Option<Version>,
    /// `None` if nothing is compared, as the versions are not known.
    pub state: Option<UpgradeState>,
    /// The demands that do not admit `newest`; empty if all do.
    pub held_back_by: Vec<ModuleDemand>,
}

/// What an upgrade would do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UpgradeState {
    /// The newest version is locked.
    UpToDate,
    /// `install --upgrade` moves to a newer version.
    Upgrade,
    /// The locked version is the newest that the constraints admit, and there is a newer one.
    HeldBack,
    /// No version is locked.
    NotLocked,
    /// The locked version is newer than all that are admitted and offered: `install --upgrade` would go back.
    GoesBack,
    /// No version that is offered meets the constraints.
    NoMatch,
}

/// What each module demands of a provider, the root first; modules without constraints are left out.
pub fn demands(root: &ModuleNode, address: &ProviderAddr) -> Vec<ModuleDemand> {
    let own = root.requires.iter().filter(|required| required.address == *address && !required.constraints.is_any());
    let own = own.map(|required| ModuleDemand {
        module: root.key.clone(),
        path: root.path.clone(),
        constraints: required.constraints.clone(),
        declared: required.declared.clone(),
    });
    own.chain(root.children.iter().flat_map(|child| demands(child, address))).collect()
}

/// Compares the locked version of a provider with what is offered, in ascending order.
pub fn compare(
    constraints: &Constraints,
    demands: &[ModuleDemand],
    locked: Option<&Version>,
    offered: &[Version],
) -> VersionComparison {
    let admitted = constraints.select(offered);
    let newest = [Constraints::any().select(offered), admitted].into_iter().flatten().max_by(|a, b| a.precedence(b));
    let is_held = match (admitted, newest) {
        (Some(admitted), Some(newest)) => admitted.precedence(newest).is_lt(),
        (None, Some(_)) => true,
        _ => false,
    };
    let state = match (locked, admitted) {
        (_, None) => UpgradeState::NoMatch,
        (None, Some(_)) => UpgradeState::NotLocked,
        (Some(locked), Some(admitted)) => match locked.precedence(admitted) {
            Ordering::Less => UpgradeState::Upgrade,
            Ordering::Greater => UpgradeState::GoesBack,
            Ordering::Equal if is_held => UpgradeState::HeldBack,
            Ordering::Equal => UpgradeState::UpToDate,
        },
    };
    let holds = |demand: &&ModuleDemand| newest.is_some_and(|newest| !demand.constraints.admits(newest));
    VersionComparison {
        admitted: admitted.cloned(),
        newest: newest.cloned(),
        state: Some(state),
        held_back_by: demands.iter().filter(|_| is_held).filter(holds).cloned().collect(),
    }
}
