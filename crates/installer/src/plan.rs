//! Whether a package is kept, linked or fetched, decided from what was seen and without another look.
//!
//! ```text
//! the place was not asked yet, and a plugin cache is set
//!   the package in its place has a locked `h1:`              -> keep
//!   the cached one has                                        -> link
//!   if signatures are required, only with an `h1:` that a pin knows
//!   if the lock file stays as it is, or what the place could add is not worth a request, the package in its place needs no
//!   plugin cache
//! the place offers the release
//!   the package in its place has a locked `h1:`, and the lock file names the offer -> keep
//!   the cached one has, and the lock file or a signature names it                  -> link
//!   nothing is locked, and the cache may break the lock file                       -> link
//!   if the package is signed, only with an `h1:` that is known to be the signed one's
//!   otherwise: fetch it (into the cache, and link)
//! the place cannot be reached
//!   the package in its place has a locked `h1:` (one that a pin knows)             -> keep
//! ```
//!
//! If a package is signed, its bytes must be covered: a package that is not fetched must have an `h1:` that the signed
//! index names, or that was computed from a fetched package ([`Judgement::admits_unfetched`]).
//!
//! [`Judgement::admits_unfetched`]: tofu_oci_fetch::Judgement::admits_unfetched
//!
//! Spec: `OpenTofu` 1.12, providercache installer, "globalCacheDir"; measured with 1.12.6 and 1.13.

use crate::LockWrite;

/// What is known of one package when a step is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepFacts {
    /// What lies in the package's place.
    pub(crate) installed: SeenContents,
    /// What lies in the plugin cache; `None` without a cache.
    pub(crate) cached: Option<SeenContents>,
    /// Whether an unlocked cached package will do.
    pub(crate) unlocked: CachePolicy,
    /// What the place of the release says.
    pub(crate) answer: PlaceAnswer,
}

/// What lies where a package belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SeenContents {
    /// Nothing, or something that cannot be used and was not looked at.
    Nothing,
    /// Something that is not a package.
    Other,
    Package(SeenPackage),
}

/// What is known of a package's contents by their `h1:`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not modes")]
pub(crate) struct SeenPackage {
    /// The lock file has it.
    pub(crate) locked: bool,
    /// No signature is required, or the pins know it.
    pub(crate) unasked: bool,
    /// The offered package is unsigned, or this `h1:` is known to be that of the signed one.
    pub(crate) admitted: bool,
    /// The lock file names the offered package, or a signature names this `h1:`.
    pub(crate) of_the_offer: bool,
    /// The archive is byte for byte the offered one; always true of a folder.
    pub(crate) same_archive: bool,
    /// It has the provider's program.
    pub(crate) has_executable: bool,
}

/// Whether to use a cached package that the lock file does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CachePolicy {
    /// Never, or something is locked.
    Refused,
    /// Nothing is locked, and the cache may break the lock file.
    Used,
}

/// What the place says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceAnswer {
    /// It was not asked yet. What it says is of use for a lock file that is written and lacks something.
    NotAsked(LockWrite),
    /// It could not be reached.
    Unreachable,
    /// It offers the package. `named`: the lock file names this very package. `vouched`: a signature or a person
    /// vouches for it, so that what it says is recorded.
    Offer { named: bool, vouched: bool },
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InstallStep {
    /// The package in its place is the right one.
    Keep(KnownHashes),
    /// The cached package is the right one.
    Link(KnownHashes),
    /// What lies there does not suffice: ask the place, and fetch the package that it offers.
    Fetch,
}

/// What is recorded of a package that was not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownHashes {
    /// Its `h1:`.
    Contents,
    /// The offer's checksums, too.
    Offer,
}

/// What to do about a package.
pub(crate) fn plan(seen: &StepFacts) -> InstallStep {
    let StepFacts { installed, cached, unlocked, answer } = *seen;
    let locked = |contents: SeenContents| match contents {
        SeenContents::Package(bytes) if bytes.locked => Some(bytes),
        _ => None,
    };
    let unasked = |contents| locked(contents).is_some_and(|bytes| bytes.unasked);
    let (named, vouched) = match answer {
        PlaceAnswer::NotAsked(LockWrite::Compare) if unasked(installed) => {
            return InstallStep::Keep(KnownHashes::Contents);
        }
        PlaceAnswer::NotAsked(_) => {
            return match cached {
                None | Some(SeenContents::Nothing) => InstallStep::Fetch,
                Some(_) if unasked(installed) => InstallStep::Keep(KnownHashes::Contents),
                Some(cached) if unasked(cached) => InstallStep::Link(KnownHashes::Contents),
                Some(_) => InstallStep::Fetch,
            };
        }
        PlaceAnswer::Unreachable if unasked(installed) => return InstallStep::Keep(KnownHashes::Contents),
        PlaceAnswer::Unreachable => return InstallStep::Fetch,
        PlaceAnswer::Offer { named, vouched } => (named, vouched),
    };
    if locked(installed).is_some_and(|bytes| named && bytes.admitted && bytes.same_archive) {
        return InstallStep::Keep(KnownHashes::Offer);
    }
    let Some(cached) = cached else { return InstallStep::Fetch };
    if locked(cached).is_some_and(|bytes| bytes.of_the_offer && bytes.admitted) {
        return InstallStep::Link(KnownHashes::Offer);
    }
    match cached {
        SeenContents::Package(bytes) if unlocked == CachePolicy::Used && bytes.has_executable && bytes.admitted => {
            InstallStep::Link(if vouched { KnownHashes::Offer } else { KnownHashes::Contents })
        }
        _ => InstallStep::Fetch,
    }
}

#[cfg(test)]
mod tests;
