//! What is done about one package: decided from what was seen, without looking again.
//!
//! ```text
//! before the place is asked, where a plugin cache is set
//!   the package in its place has a locked `h1:`              -> keep
//!   the cached one has                                        -> link
//!   where signatures are asked for, only with an `h1:` that a pin knows
//! when it offers the release
//!   the package in its place has a locked `h1:`, and the lock file names the offer -> keep
//!   the cached one has, and the lock file or a signature names it                  -> link
//!   nothing is locked, and the cache may break the lock file                       -> link
//!   where signatures stand for the package, only with an `h1:` that is known
//!   otherwise: fetch it (into the cache, and link)
//! when it cannot be reached
//!   the package in its place has a locked `h1:` (one that a pin knows)             -> keep
//! ```
//!
//! Where a signature stands for the package, its bytes must be covered: what is used without being fetched has an `h1:`
//! that the signed index names, or that was computed from a fetched package ([`Judgement::admits_unfetched`]).
//!
//! [`Judgement::admits_unfetched`]: tofu_oci_fetch::Judgement::admits_unfetched
//!
//! Spec: `OpenTofu` 1.12, providercache installer, "globalCacheDir"; measured with 1.12.6 and 1.13.

/// What is known of one package when a step is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    /// What lies in the package's place.
    pub(crate) installed: Contents,
    /// What lies in the plugin cache; `None` without a cache.
    pub(crate) cached: Option<Contents>,
    /// Whether a cached package will do that nothing locks.
    pub(crate) unlocked: Unlocked,
    /// What the place of the release says.
    pub(crate) answer: Answer,
}

/// What lies where a package belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Contents {
    /// Nothing, or it was not looked at because it cannot be used.
    Nothing,
    /// No package.
    Other,
    /// A package.
    Package(Bytes),
}

/// What is known of a package's contents by their `h1:`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bytes {
    /// The lock file has it.
    pub(crate) locked: bool,
    /// Neither a rule nor a pin asks for signatures, or the pins know it.
    pub(crate) unasked: bool,
    /// No signature stands for the offered package, or this `h1:` is known to be that of the signed one.
    pub(crate) admitted: bool,
    /// The lock file names the offered package, or a signature names this `h1:`.
    pub(crate) of_the_offer: bool,
    /// The archive is byte for byte the offered one; always true of a folder.
    pub(crate) same_archive: bool,
    /// It has the provider's program.
    pub(crate) has_executable: bool,
}

/// Whether a cached package is used that the lock file does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unlocked {
    /// Never, or something is locked.
    Refused,
    /// Nothing is locked, and the cache may break the lock file.
    Used,
}

/// What the place says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It was not asked yet.
    NotAsked,
    /// It could not be reached.
    Unreachable,
    /// It offers the package. `named`: the lock file names this very package. `vouched`: a signature or a person stands for
    /// it, so that what it says is recorded.
    Offer { named: bool, vouched: bool },
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The package in its place is the right one.
    Keep(KnownBy),
    /// The cached package is the right one.
    Link(KnownBy),
    /// What lies there does not do: the place is asked, and if it offers the package, that is fetched.
    Fetch,
}

/// What is recorded of a package that was not fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KnownBy {
    /// Its `h1:`.
    Contents,
    /// The offer's checksums, too.
    Offer,
}

/// What to do about a package.
pub(crate) fn plan(seen: &Seen) -> Step {
    let Seen { installed, cached, unlocked, answer } = *seen;
    let locked = |contents: Contents| match contents {
        Contents::Package(bytes) if bytes.locked => Some(bytes),
        _ => None,
    };
    let unasked = |contents| locked(contents).is_some_and(|bytes| bytes.unasked);
    let (named, vouched) = match answer {
        Answer::NotAsked => {
            return match cached {
                None | Some(Contents::Nothing) => Step::Fetch,
                Some(_) if unasked(installed) => Step::Keep(KnownBy::Contents),
                Some(cached) if unasked(cached) => Step::Link(KnownBy::Contents),
                Some(_) => Step::Fetch,
            };
        }
        Answer::Unreachable if unasked(installed) => return Step::Keep(KnownBy::Contents),
        Answer::Unreachable => return Step::Fetch,
        Answer::Offer { named, vouched } => (named, vouched),
    };
    if locked(installed).is_some_and(|bytes| named && bytes.admitted && bytes.same_archive) {
        return Step::Keep(KnownBy::Offer);
    }
    let Some(cached) = cached else { return Step::Fetch };
    if locked(cached).is_some_and(|bytes| bytes.of_the_offer && bytes.admitted) {
        return Step::Link(KnownBy::Offer);
    }
    match cached {
        Contents::Package(bytes) if unlocked == Unlocked::Used && bytes.has_executable && bytes.admitted => {
            Step::Link(if vouched { KnownBy::Offer } else { KnownBy::Contents })
        }
        _ => Step::Fetch,
    }
}

#[cfg(test)]
mod tests;
