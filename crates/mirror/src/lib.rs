//! Releases from any place into the user's own.
//!
//! ```text
//! rules, sources --select--> wanted releases --plan--> what is missing --transfer--> Store, a tree of files, a bundle
//! ```
//!
//! [`transfer()`] carries one release into a store; [`PullThrough`] does so when the release is asked for.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod blocking;
mod bundle_notes;
mod destination;
mod error;
mod found_keys;
mod joined;
mod load;
mod look;
mod module;
mod names;
mod plan;
mod pull;
mod rules;
mod run;
mod select;
mod state;
mod transfer;

pub use bundle_notes::{
    BundledModule, BundledPackage, BundledProvider, BundledVersion, bundled_modules, bundled_providers, tofurc,
};
pub use destination::{
    BundleFile, Destination, DestinationName, ExistingReleases, InvalidDestination, Mark, OpenStore, Repositories,
    Sightings, StaticTree, Widening, contents_of,
};
pub use error::MirrorError;
pub use found_keys::FoundKey;
pub use joined::{Joined, JoinedWork};
pub use load::{JudgedBundle, judge_bundle};
pub use module::{
    BundledModules, CallFate, HostedModules, MappedModuleRepositories, MappedModules, MirrorMode, ModuleAction,
    ModuleDeed, ModuleDestination, ModuleMirrorError, ModuleMirrorJob, ModuleMirrorLine, ModuleMirrorReport,
    ModuleOrigin, ModuleUpstream, NamedPackage, NeededProvider, NestedModules, UnfollowedCall, WantedModule,
};
pub use names::providers_in_tree;
pub use plan::{Deed, MirrorAction, Prune};
pub use pull::{OpenUpstream, PullOptions, PullThrough, UpstreamUse};
pub use rules::{
    DenyRule, Gone, InvalidMinAge, MinAge, MirrorRules, ProviderRule, Providers, RulesError, RulesFile, RulesProblem,
    VersionRule, below_table, hosted_pattern, in_words, version_rule,
};
pub use run::{Carrying, MirrorJob, MirrorLine};
pub use select::{Candidates, MirrorChoice, SelectedVersion, VersionSelection, select};
pub use transfer::{TransferRequest, Transferred, transfer};
