//! Releases from any place into the user's own.
//!
//! ```text
//! rules, sources --select--> wanted releases --plan--> what is missing --transfer--> Store, a tree of files, a bundle
//! ```
//!
//! [`transfer()`] carries one release into a store; [`PullThrough`] does so when the release is asked for, and
//! [`ModulePullThrough`] with modules.

#![expect(clippy::result_large_err, reason = "errors are rare, and carry values for explanations")]

mod attestations;
mod blocking;
mod bundle_notes;
mod destination;
mod error;
mod found_keys;
mod load;
mod module;
mod names;
mod plan;
mod provider_state;
mod pull;
mod rules;
mod run;
mod select;
mod singleflight;
mod state;
mod transfer;

pub use attestations::{
    AttestationRule, AttestationTemplate, Attestations, InvalidAttestationTemplate, LateAttestation,
};
pub use bundle_notes::{
    BundledModule, BundledPackage, BundledProvider, BundledVersion, bundled_modules, bundled_providers, tofurc,
};
pub use destination::{
    BundleFile, Destination, DestinationName, ExistingReleases, InvalidDestination, OpenStore, PlatformFill,
    Repositories, Sightings, StaticTree, VersionMark, contents_of,
};
pub use error::MirrorError;
pub use found_keys::{FoundKey, FoundSigners, OtherSigner, found_keys};
pub use load::{JudgedBundle, judge_bundle};
pub use module::{
    BundledModules, CallOutcome, GitModules, GitTemplate, HostedModules, InvalidGitTemplate, MappedModuleRepositories,
    MappedModules, MirrorMode, ModuleAction, ModuleChain, ModuleDestination, ModuleEnds, ModuleMirrorError,
    ModuleMirrorJob, ModuleMirrorLine, ModuleMirrorReport, ModuleOrigin, ModuleOutcome, ModulePullThrough,
    ModuleUpstream, NamedPackage, NeededProvider, NestedModules, OpenModuleEnds, StoredModules, UnfollowedCall,
    WantedModule,
};
pub use names::providers_in_tree;
pub use plan::{MirrorAction, MirrorOutcome, Prune, Withdrawer};
pub use pull::outcome::{OnPull, PullOutcome};
pub use pull::{OpenUpstream, PullOptions, PullThrough, UpstreamUse};
pub use rules::{
    DelistedPolicy, DenyRule, InvalidMinAge, MinAge, MirrorRules, MirroredAddress, ProviderRule, Providers, RulesError,
    RulesFile, RulesProblem, VersionRule, below_table, in_words, rule_pattern, version_rule,
};
pub use run::{Carrying, MirrorJob, MirrorLine};
pub use select::{Candidates, MirrorChoice, SelectedVersion, VersionSelection, select};
pub use singleflight::{SharedWork, Singleflight};
pub use transfer::{TransferRequest, Transferred, transfer};
