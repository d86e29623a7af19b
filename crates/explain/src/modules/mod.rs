//! Why a module comes from where it does, why in this version, and what holds newer ones back.
//!
//! ```text
//! modules.toml, address          --mapping_steps--> every [[module_mirror]]: why it is for the module, or is not
//! constraints, listing, notices  --choose_module--> the version, why, and what holds newer ones back
//! ```
//!
//! The rules are those of [`ModuleMirrors::of`] and [`Constraints::select`], by which `module pull` goes.

use serde::Serialize;
use tofu_oci_mapper::{ModuleMirror, ModuleMirrors, Selection};
use tofu_oci_source::Listing;
use tofu_oci_trust::{NoticeReason, NoticeWriter, ReleaseState};
use tofu_oci_types::{Constraints, ModuleAddr, Version};

use crate::releases::VersionNotice;

#[cfg(test)]
mod tests;

/// One rule of a mapping, for one module.
#[derive(Clone, Debug)]
pub struct MappingStep<'a> {
    /// Its place among the rules, from 1.
    pub number: usize,
    pub mirror: &'a ModuleMirror,
    /// Whether it says where the module is.
    pub selected: bool,
    /// Why, or why not, in words.
    pub matches: String,
}

/// Every rule of a mapping, in order. The first one that is for the module is selected.
pub fn mapping_steps<'a>(mirrors: &'a ModuleMirrors, address: &ModuleAddr) -> Vec<MappingStep<'a>> {
    let counts = mirrors.of(address);
    let step = |(index, mirror): (usize, &'a ModuleMirror)| {
        let selected = counts.is_some_and(|counts| std::ptr::eq(counts, mirror));
        let matches = match mirror.select(address) {
            Selection::Included(at) if selected => format!("yes, by include \"{}\"", mirror.include[at]),
            Selection::Included(at) => {
                format!("by include \"{}\", but an earlier rule counts", mirror.include[at])
            }
            Selection::Excluded(at) => format!("no, by exclude \"{}\"", mirror.exclude[at]),
            Selection::NotIncluded | Selection::All => "no, its include names other modules".to_owned(),
        };
        MappingStep { number: index + 1, mirror, selected, matches }
    };
    mirrors.mirrors().iter().enumerate().map(step).collect()
}

/// Which version is chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleChoice {
    /// The version; `None` if no version that is offered may be chosen.
    pub version: Option<Version>,
    pub why: String,
    /// The newer ones, the newest first: why they are not chosen. All of them, if no version is chosen.
    pub held_back: Vec<HeldBackVersion>,
}

/// A version that is not chosen although it is newer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldBackVersion {
    /// The version.
    pub version: Version,
    /// What holds it back.
    pub cause: HoldingCause,
    /// What its publisher says of it, if it was withdrawn; unverified.
    pub reason: Option<NoticeReason>,
    /// Who withdrew it, if that could be read; unverified.
    pub writer: Option<NoticeWriter>,
}

/// What holds a version back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoldingCause {
    /// Its publisher took it back, or the mirror that brought it.
    Withdrawn,
    /// It is a prerelease, and the constraints do not name it exactly.
    Prerelease,
    /// It does not meet the constraints.
    Constraint,
    /// It is plain 0.0.0, which means "no version".
    Unspecified,
}

/// The version that `module pull` takes of a listing, and what holds newer ones back.
pub fn choose_module(wanted: &Constraints, listing: &Listing, notices: &[VersionNotice]) -> ModuleChoice {
    let version = wanted.select(&listing.versions).cloned();
    let is_newer = |other: &&Version| version.as_ref().is_none_or(|chosen| chosen.precedence(other).is_lt());
    let offered = listing.versions.iter().filter(is_newer).map(|version| HeldBackVersion {
        version: version.clone(),
        cause: cause(wanted, version),
        reason: None,
        writer: None,
    });
    let withdrawn = listing.withdrawn.iter().filter(is_newer).map(|version| {
        let is_about = |notice: &&VersionNotice| notice.version == *version && notice.state == ReleaseState::Withdrawn;
        let notice = notices.iter().find(is_about);
        let (reason, writer) =
            (notice.and_then(|notice| notice.reason.clone()), notice.and_then(|notice| notice.writer));
        HeldBackVersion { version: version.clone(), cause: HoldingCause::Withdrawn, reason, writer }
    });
    let mut held_back: Vec<HeldBackVersion> = offered.chain(withdrawn).collect();
    held_back.sort_by(|one, other| other.version.precedence(&one.version));
    ModuleChoice { why: why(wanted, version.as_ref(), listing), version, held_back }
}

/// What keeps an offered version from being chosen.
fn cause(wanted: &Constraints, version: &Version) -> HoldingCause {
    if !wanted.admits(version) && version.is_prerelease() {
        HoldingCause::Prerelease
    } else if wanted.is_any() {
        HoldingCause::Unspecified
    } else {
        HoldingCause::Constraint
    }
}

fn why(wanted: &Constraints, chosen: Option<&Version>, listing: &Listing) -> String {
    match chosen {
        Some(version) if wanted.exact() == Some(version) => "the version that is named".to_owned(),
        Some(_) if wanted.is_any() => "the newest release".to_owned(),
        Some(_) => format!("the newest release that meets {wanted}"),
        None if listing.versions.is_empty() => "it offers no version".to_owned(),
        None if wanted.is_any() => "no version that it offers is a release".to_owned(),
        None => format!("no version that it offers meets {wanted}"),
    }
}
