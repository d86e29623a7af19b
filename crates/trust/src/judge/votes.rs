//! A signature that counts, and what it says about archives.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use tofu_oci_types::{PackageHash, Platform};

use super::flaw::Missing;
use super::refusal::TrustRefusal;
use crate::{KeyId, SignatureForm};

/// A signature that counts.
pub(super) struct Vote {
    pub(super) key: KeyId,
    pub(super) name: String,
    pub(super) form: SignatureForm,
    pub(super) predicate_type: String,
    pub(super) missing: Option<Missing>,
    pub(super) covers: Covers,
    /// The platforms of the archives that a list names.
    pub(super) listed: BTreeMap<Platform, PackageHash>,
}

/// What a signature covers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Covers {
    /// The index, and so everything in it.
    Index,
    Zips(BTreeSet<PackageHash>),
}

/// An archive that a trusted list names.
#[derive(Clone, Debug)]
pub(super) struct ListedArchive {
    pub(super) platform: Platform,
    pub(super) zip: PackageHash,
    /// Why another archive must not be used for this platform.
    pub(super) otherwise: TrustRefusal,
}
