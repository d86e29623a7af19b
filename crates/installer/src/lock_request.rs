//! What is to be locked, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_archive::Limits;
use tofu_oci_disk::Waiter;
use tofu_oci_fetch::Trust;
use tofu_oci_source::Source;
use tofu_oci_types::{Constraints, Platform, ProviderAddr};

use crate::Upgrade;
use crate::request::pipelines;

/// One provider to lock.
#[derive(Clone)]
pub struct LockRequest {
    pub address: ProviderAddr,
    /// What its version must meet. These constraints are recorded, unless [`LockOptions::configured`] has others.
    pub constraints: Constraints,
    /// Where it comes from.
    pub source: Arc<dyn Source>,
    /// The platforms that the lock file must be complete for.
    pub platforms: PlatformChoice,
    /// Whether a newer version than the locked one may be chosen.
    pub upgrade: Upgrade,
}

/// Which platforms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlatformChoice {
    /// Every one that the release has.
    Offered,
    Named(Vec<Platform>),
    /// Those whose checksums a trusted signature covers: nothing is fetched. An entry stays if there are none.
    Covered,
}

/// How to lock.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LockOptions {
    pub path: PathBuf,
    /// Whether it is written.
    pub write: LockWrite,
    /// An existing folder for packages that are verified and thrown away.
    pub scratch: PathBuf,
    /// What an archive may expand to.
    pub limits: Limits,
    /// How many packages are fetched and unpacked, and so lie on the disk, at once; small ones (up to 4 MiB) do not
    /// count.
    pub parallel: usize,
    /// What is trusted. The pins are written with the lock file.
    pub trust: Trust,
    /// Who waits for other programs, and how long.
    pub waiter: Waiter,
    /// The constraints of the configuration, which the lock file records. For a provider that is missing here it
    /// records the constraints of the request, or keeps the recorded ones if the request has none.
    pub configured: BTreeMap<ProviderAddr, Constraints>,
}

impl LockOptions {
    /// Usual limits, and a pipeline for every two processors.
    pub fn new(path: PathBuf, write: LockWrite, scratch: PathBuf, trust: Trust) -> Self {
        let (limits, waiter) = (Limits::default(), Waiter::default());
        let configured = BTreeMap::new();
        Self { path, write, scratch, limits, parallel: pipelines(), trust, waiter, configured }
    }
}

/// What happens to the lock file and to the pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockWrite {
    /// They are written after everything is known.
    Write,
    /// Nothing is written.
    Compare,
}
