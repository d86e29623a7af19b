//! Who stands for a release: asked once, before anything of it is downloaded.
//!
//! ```text
//! Policy, Pins  --wants_evidence?-->  no: the tag is compared with its pin, nothing is asked
//!                                     yes: Release, Evidence (where it usually is, then everywhere)
//!       --judge-->  Verdict  --refused-->  InstallError::Untrusted
//!                            --signed-->   the checksums that the signature covers, for all platforms
//! at the end: the pins, then the lock file
//! ```

mod court;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use tofu_oci_trust::{KeyId, Pins, Policy, Standing, Verdict};
use tofu_oci_types::PackageHash;

pub(crate) use court::{Court, Judged, real_zips};

/// What is trusted, and what was.
#[derive(Clone, Debug)]
pub struct Trust {
    /// Whose signatures count.
    pub policy: Arc<Policy>,
    /// What was trusted before.
    pub pins: Pins,
    /// The file that the pins are kept in, beside the lock file. It is written when the lock file is.
    pub pins_path: PathBuf,
    /// What expiry is held against.
    pub now: SystemTime,
}

/// Who stands for a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Vouched {
    /// What the package rests on.
    pub standing: Standing,
    /// Whose signatures count; sorted by name.
    pub signers: Vec<SignedBy>,
}

/// Whose signature it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SignedBy {
    /// What the policy calls the key.
    pub name: String,
    /// The key.
    pub key: KeyId,
}

impl Vouched {
    /// Who stands for the package with this archive; nothing for a package that is none.
    pub(crate) fn of(verdict: &Verdict, zip: Option<&PackageHash>) -> Self {
        if !verdict.covers(zip) {
            return Self { standing: Standing::Unsigned, signers: Vec::new() };
        }
        let signed = |signer: &&tofu_oci_trust::Signer| match &signer.covers {
            tofu_oci_trust::Covers::Index => true,
            tofu_oci_trust::Covers::Zips(zips) => zip.is_some_and(|zip| zips.contains(zip)),
        };
        let name = |signer: &tofu_oci_trust::Signer| SignedBy { name: signer.name.clone(), key: signer.key.clone() };
        let mut signers: Vec<SignedBy> = verdict.signers.iter().filter(signed).map(name).collect();
        signers.sort();
        Self { standing: verdict.standing, signers }
    }
}
