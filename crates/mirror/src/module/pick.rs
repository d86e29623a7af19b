//! Which versions of a module are mirrored.

use tofu_oci_types::{Constraints, GitModuleSource, ModuleAddr, OciModuleSource, Subdir, Version};

/// A module that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WantedModule {
    /// The module, which chooses the repository.
    pub address: ModuleAddr,
    /// The folder of its package whose calls of other modules count.
    pub folder: Subdir,
    /// Where its packages are.
    pub origin: ModuleOrigin,
}

/// Where the packages of a module are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleOrigin {
    /// Where the registry of its address says: the versions that meet the constraints, and of these the newest `latest`.
    Registry {
        /// What the versions must meet.
        constraints: Constraints,
        /// How many; `None` for all.
        latest: Option<usize>,
    },
    /// In a bundle: every version that it lists, prereleases too, since each was put there on purpose.
    Listed,
    At {
        location: NamedPackage,
        version: Version,
    },
}

/// A package that does not say which module of a registry it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedPackage {
    /// In an OCI repository.
    Oci(OciModuleSource),
    /// In a git repository.
    Git(GitModuleSource),
}

impl ModuleOrigin {
    /// The versions of a list that are wanted, newest first.
    pub(super) fn choose(&self, offered: &[Version]) -> Vec<Version> {
        match self {
            Self::At { version, .. } => vec![version.clone()],
            Self::Listed => newest_first(offered.to_vec()),
            Self::Registry { constraints, latest } => pick(offered, constraints, *latest),
        }
    }

    /// What a version must meet.
    pub(super) fn wanted(&self) -> Constraints {
        match self {
            Self::Registry { constraints, .. } => constraints.clone(),
            Self::At { version, .. } => Constraints::exactly(version.clone()),
            Self::Listed => Constraints::any(),
        }
    }
}

fn newest_first(mut versions: Vec<Version>) -> Vec<Version> {
    versions.sort_by(|one, other| other.precedence(one));
    versions
}

/// The versions of a list that are wanted, newest first. A prerelease must be named exactly.
pub(super) fn pick(offered: &[Version], constraints: &Constraints, latest: Option<usize>) -> Vec<Version> {
    let mut admitted = newest_first(offered.iter().filter(|version| constraints.admits(version)).cloned().collect());
    admitted.truncate(latest.unwrap_or(usize::MAX));
    admitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(constraints: &str, latest: Option<usize>, want: &str) {
        let offered = ["1.0.0", "1.2.0", "1.10.0", "2.0.0-rc.1"].map(|text| text.parse().expect("a version"));
        let picked = pick(&offered, &constraints.parse().expect("constraints"), latest);
        let texts: Vec<String> = picked.iter().map(ToString::to_string).collect();
        assert_eq!(texts.join(" "), want);
    }

    #[test]
    fn the_newest_that_are_admitted_come_first() {
        check("", None, "1.10.0 1.2.0 1.0.0");
        check("< 1.10", Some(1), "1.2.0");
        check("2.0.0-rc.1", None, "2.0.0-rc.1");
        check(">= 3", None, "");
    }

    #[test]
    fn a_bundle_lists_what_was_put_into_it_so_a_prerelease_is_not_left_behind() {
        let offered = ["0.0.0", "1.0.0", "2.0.0-rc.1"].map(|text| text.parse().expect("a version"));
        let chosen: Vec<String> = ModuleOrigin::Listed.choose(&offered).iter().map(ToString::to_string).collect();
        assert_eq!(chosen.join(" "), "2.0.0-rc.1 1.0.0 0.0.0");
    }
}
