//! What is wrong in the CLI configuration, and what `OpenTofu` makes of it: it tells, and goes on.

use crate::FilePlace;

/// A mistake in an `oci_credentials` or `oci_default_credentials` block, or in the file as a whole.
///
/// The CLI configuration is read elsewhere; the faults are handed in beside a [`crate::CredentialPolicy`] of what is sound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// A name for programs, such as `block-two-styles`.
    pub code: String,
    /// Where the block stands.
    pub place: FilePlace,
    /// What `OpenTofu` does then.
    pub effect: FaultEffect,
}

/// What `OpenTofu` does after a mistake.
///
/// Spec: measured on 1.10.10, 1.12.6 and 1.13 (effects of each mistake).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultEffect {
    /// The `oci_credentials` block counts for nothing: a wrong label, no style or two, half of a pair, a helper's name
    /// that is empty or a path, a helper under a repository's path.
    BlockDropped,
    /// A second block of the same label; the first counts.
    FirstKept,
    /// The `oci_default_credentials` block counts for nothing, so that the ambient files are searched: a label, or an
    /// argument of another type, such as `discover_ambient_credentials = "false"`.
    DefaultsInstead,
    /// Files are named although the search is off; it stays off.
    DiscoveryOff,
    /// The default helper has no proper name, and counts all the same: an empty one as none, a path is run.
    DefaultHelperKept {
        /// The name as written.
        name: String,
    },
    /// A block's helper has a name that is refused here and good enough for `OpenTofu`, such as one with a blank.
    BlockHelperKept {
        label: String,
        /// The name as written.
        name: String,
    },
    /// The name of an argument or of a block is misspelt: this one counts for nothing, without a word, and whatever
    /// stands around it counts.
    PassedOver,
    /// Two `oci_default_credentials` blocks: a crash at the first access to a registry.
    Crash,
    /// A syntax error: the whole configuration counts for nothing, the mirrors neither.
    ConfigDropped,
}
