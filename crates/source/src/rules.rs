//! When a method gives way to the next, and when it ends the search: one table, which [`Chain`](crate::Chain) and the
//! explanations of this program and of every `OpenTofu` release obey.

use crate::{InstallMethod, NotOffered, SourceError};

/// What a method answered when it was asked for versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListingAnswer {
    /// A list, which may be empty.
    Lists,
    /// It does not know the provider.
    UnknownProvider,
    Fails,
}

/// What a method has of one version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PackageAnswer {
    /// A package for the platform.
    Has,
    /// The version, for other platforms.
    LacksPlatform,
    /// Neither the version nor the provider.
    LacksVersion,
    Fails,
}

/// What follows a method's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continuation {
    Counts,
    /// The method gives way: the next one is asked.
    Next,
    Ends,
}

impl ListingAnswer {
    /// What an error means.
    pub fn of(error: &SourceError) -> Self {
        match error {
            SourceError::NotOffered { what, .. } if what.is_unknown() => Self::UnknownProvider,
            _ => Self::Fails,
        }
    }

    /// What follows it. The lists of all methods whose answers count are joined.
    pub fn continuation(self) -> Continuation {
        match self {
            Self::Lists => Continuation::Counts,
            Self::UnknownProvider => Continuation::Next,
            Self::Fails => Continuation::Ends,
        }
    }
}

impl PackageAnswer {
    /// What an error means.
    pub fn of(error: &SourceError) -> Self {
        match error {
            SourceError::NotOffered { what: NotOffered::PlatformMissing { .. }, .. } => Self::LacksPlatform,
            SourceError::NotOffered { .. } => Self::LacksVersion,
            _ => Self::Fails,
        }
    }
}

impl InstallMethod {
    /// What follows the answer of a method of this kind about one version.
    pub fn after(self, answer: PackageAnswer) -> Continuation {
        match (answer, self) {
            (PackageAnswer::Has, _) => Continuation::Counts,
            (PackageAnswer::LacksPlatform, _) | (PackageAnswer::LacksVersion, Self::Direct | Self::Filesystem) => {
                Continuation::Next
            }
            // What a mirror lacks is missing on purpose.
            (PackageAnswer::LacksVersion, Self::Oci | Self::NetworkMirror) | (PackageAnswer::Fails, _) => {
                Continuation::Ends
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(answer: PackageAnswer, mirrors: Continuation, others: Continuation) {
        for kind in [InstallMethod::Oci, InstallMethod::NetworkMirror] {
            assert_eq!(kind.after(answer), mirrors, "{kind}, {answer:?}");
        }
        for kind in [InstallMethod::Direct, InstallMethod::Filesystem] {
            assert_eq!(kind.after(answer), others, "{kind}, {answer:?}");
        }
    }

    #[test]
    fn a_mirror_without_the_version_ends_the_search_and_other_methods_give_way() {
        check(PackageAnswer::Has, Continuation::Counts, Continuation::Counts);
        check(PackageAnswer::LacksPlatform, Continuation::Next, Continuation::Next);
        check(PackageAnswer::LacksVersion, Continuation::Ends, Continuation::Next);
        check(PackageAnswer::Fails, Continuation::Ends, Continuation::Ends);
    }
}
