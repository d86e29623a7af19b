//! Where this program decides otherwise than `OpenTofu`: the one list, for people in `docs/configuration.md`.

use super::case::Case;
use super::verdict::Install;

/// A rule by which we decide otherwise.
pub(super) struct Difference {
    /// A word for it.
    pub(super) name: &'static str,
    /// The cases that it is about: whether this one is among them.
    pub(super) applies: fn(&Case, &Install) -> bool,
    /// What comes out here.
    pub(super) ours: Ours,
}

/// What comes out here instead of what was measured.
pub(super) enum Ours {
    /// The same, or one of the things that may happen, always.
    Always(&'static str),
    /// This method and version, or this class of refusal.
    Comes(&'static str),
    /// The same, but the lock file has more checksums of these schemes.
    LocksMore(&'static [&'static str]),
    /// The same, but the lock file lacks checksums.
    LocksLess,
}

/// All of them.
pub(super) const DIFFERENCES: &[Difference] = &[];
