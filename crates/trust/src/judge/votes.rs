//! What an examination collects: signatures that count, and notices.

use std::collections::BTreeMap;

use tofu_oci_types::{Digest, PackageHash, Platform};

use crate::{Build, Covers, HostNumbers, KeyId, Missing, SignatureForm, StatedNotice};

/// A signature that counts.
pub(super) struct Vote {
    pub(super) key: KeyId,
    pub(super) name: String,
    pub(super) form: SignatureForm,
    pub(super) predicate_type: String,
    /// How the release was built, if the statement counts as provenance.
    pub(super) build: Option<Build>,
    pub(super) missing: Option<Missing>,
    pub(super) covers: Covers,
    /// The numbers of the repository of the one who signed, and of its owner.
    pub(super) numbers: HostNumbers,
    /// The platforms of the archives that a list names.
    pub(super) listed: BTreeMap<Platform, PackageHash>,
}

/// A notice about the release that is judged.
pub(super) struct ExaminedNotice {
    /// The manifest that it was found in.
    pub(super) origin: Digest,
    pub(super) stated: StatedNotice,
    /// What the key that signed it is called, if that key counts.
    pub(super) by: Option<String>,
}
