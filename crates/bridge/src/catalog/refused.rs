//! What an error of a place is to a client of the bridge.

use std::time::Duration;

use tofu_oci_fetch::{FetchError, ModuleFetchError};
use tofu_oci_mirror::{MirrorError, ModuleMirrorError, UpstreamUse};
use tofu_oci_source::{ModuleError, NotOffered, SourceError};
use tofu_oci_store::StoreError;
use tofu_oci_trust::{Flaw, TrustRefusal};
use tofu_oci_types::{ModuleAddr, Place, ProviderAddr, Version};

use crate::place_fault::{line, upstream};
use crate::{OfferedBy, Refusal, VersionAbsence, WithdrawnVersion};

/// How long a judgement counts for the same release. A withdrawn version is noticed earlier: its tag is gone.
pub(super) const JUDGED: Duration = Duration::from_hours(1);
/// How long a refused release is not listed; a withdrawn one only as long as a list is fresh.
pub(super) const REFUSED: Duration = Duration::from_mins(10);
/// Why a sealed mirror lacks something.
const SEALED: &str = "the mirror is sealed, so its upstream is not asked";

/// What an operator can do about a release or module that names another address.
pub(super) const IF_MEANT: &str = "if the hosts share the repository, name them in `predecessors` of serve.toml, or with --predecessor; \
     if it was renamed on purpose, write `rename = true` for the place";

/// Whether a listed version was judged, and clients must not see it.
pub(super) fn is_judged(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::Untrusted { .. }
            | Refusal::UnknownVersion { absence: VersionAbsence::Withdrawn(_) | VersionAbsence::OtherAddress, .. }
    )
}

/// Whether its publisher has withdrawn the version, and may bring it back.
pub(super) fn is_withdrawal(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::UnknownVersion { absence: VersionAbsence::Withdrawn(_), .. })
}

/// Whether the place's answer names another address. The operator reads which; clients do not.
pub(super) fn says_another(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::UnknownVersion { absence: VersionAbsence::OtherAddress, .. })
}

/// The refusal of a client who asked for the provider.
pub(super) fn refused(address: &ProviderAddr, offered: &OfferedBy, error: &MirrorError) -> Refusal {
    let refusal = of_error(address.clone(), error);
    match offered {
        OfferedBy::PullThrough(through) => if_sealed(refusal, through.upstream_use()),
        OfferedBy::Place(_) => refusal,
    }
}

fn of_error(address: ProviderAddr, error: &MirrorError) -> Refusal {
    match error {
        MirrorError::Source(error) | MirrorError::Fetch(FetchError::Source(error)) => of_source(address, error),
        MirrorError::Fetch(FetchError::OtherAddress { version, .. }) => Refusal::UnknownVersion {
            address: address.into(),
            version: version.clone(),
            absence: VersionAbsence::OtherAddress,
        },
        MirrorError::Fetch(FetchError::Untrusted { version, refusal, .. }) => match &**refusal {
            // A signature says it, and names the other address.
            TrustRefusal::Signature { flaw: Flaw::OtherProvider { .. }, .. } => {
                let (version, absence) = (version.clone(), VersionAbsence::OtherAddress);
                Refusal::UnknownVersion { address: address.into(), version, absence }
            }
            TrustRefusal::Withdrawn { reason, writer, .. } => {
                let absence = VersionAbsence::Withdrawn(WithdrawnVersion::new(Some(reason), Some(*writer)));
                Refusal::UnknownVersion { address: address.into(), version: version.clone(), absence }
            }
            refusal => {
                let reason = line(&refusal.to_string());
                Refusal::Untrusted { address: address.into(), version: version.clone(), reason }
            }
        },
        other => upstream(address, other),
    }
}

/// The refusal of a client who asked for a version that is not there.
pub(super) fn absent_version(address: &ModuleAddr, version: &Version, absence: VersionAbsence) -> Refusal {
    Refusal::UnknownVersion { address: address.into(), version: version.clone(), absence }
}

/// The refusal of a client who asked for the module.
pub(super) fn module_refused(address: &ModuleAddr, version: Option<&Version>, error: &ModuleFetchError) -> Refusal {
    match (error, version) {
        (ModuleFetchError::Untrusted { refusal, .. }, Some(version)) => match &**refusal {
            TrustRefusal::Withdrawn { reason, writer, .. } => {
                let withdrawn = WithdrawnVersion::new(Some(reason), Some(*writer));
                absent_version(address, version, VersionAbsence::Withdrawn(withdrawn))
            }
            refusal => {
                let reason = line(&refusal.to_string());
                Refusal::Untrusted { address: address.into(), version: version.clone(), reason }
            }
        },
        (ModuleFetchError::Module(ModuleError::Store(StoreError::UnknownRepository { .. })), _) => {
            Refusal::UnknownAddress { address: address.into(), reason: None }
        }
        _ => upstream(address, error),
    }
}

/// The refusal of a client whose module cannot be listed or fetched by a pull-through.
pub(super) fn pull_refused(address: &ModuleAddr, version: Option<&Version>, error: &ModuleMirrorError) -> Refusal {
    let absent = |absence| version.map(|version| absent_version(address, version, absence));
    let refusal = match error {
        ModuleMirrorError::Fetch(error) => Some(module_refused(address, version, error)),
        ModuleMirrorError::Store(StoreError::UnknownRepository { .. })
        | ModuleMirrorError::Module(
            ModuleError::UnknownModule { .. } | ModuleError::Store(StoreError::UnknownRepository { .. }),
        ) => Some(Refusal::UnknownAddress { address: address.into(), reason: None }),
        ModuleMirrorError::Unmet { .. }
        | ModuleMirrorError::Module(
            ModuleError::VersionMissing { .. } | ModuleError::Store(StoreError::NotFound { .. }),
        ) => absent(VersionAbsence::NotThere),
        ModuleMirrorError::OtherAddress { .. } => absent(VersionAbsence::OtherAddress),
        _ => None,
    };
    refusal.unwrap_or_else(|| upstream(address, error))
}

/// The same, which says so if the upstream is sealed: it is not asked for what the repository lacks.
pub(super) fn if_sealed(refusal: Refusal, upstream_use: UpstreamUse) -> Refusal {
    match refusal {
        refusal if upstream_use == UpstreamUse::Asked => refusal,
        Refusal::UnknownVersion { address, version, absence: VersionAbsence::NotThere | VersionAbsence::NoTag } => {
            Refusal::UnknownVersion { address, version, absence: VersionAbsence::Sealed }
        }
        Refusal::UnknownAddress { address, .. } => Refusal::UnknownAddress { address, reason: Some(SEALED) },
        refusal => refusal,
    }
}

fn of_source(address: ProviderAddr, error: &SourceError) -> Refusal {
    match error.innermost() {
        SourceError::NotOffered { what, .. } => match what.clone() {
            NotOffered::VersionMissing { version, .. } => {
                Refusal::UnknownVersion { address: address.into(), version, absence: VersionAbsence::NotThere }
            }
            NotOffered::Withdrawn { version, reason, writer, .. } => {
                let absence = VersionAbsence::Withdrawn(WithdrawnVersion::new(reason.as_ref(), writer));
                Refusal::UnknownVersion { address: address.into(), version, absence }
            }
            NotOffered::PlatformMissing { version, platform, .. } => {
                Refusal::UnknownPlatform { address, version, platform }
            }
            _ => Refusal::UnknownAddress { address: address.into(), reason: None },
        },
        // A folder of layouts has one for each of its providers.
        SourceError::Store(StoreError::UnknownRepository { place: Place::Layout(_) }) => {
            Refusal::UnknownAddress { address: address.into(), reason: None }
        }
        _ => upstream(address, error),
    }
}
