//! What the rules look at.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{CliConfigReading, ConfigFiles, Environment, Methods};
use tofu_oci_types::{Constraints, Predecessors, ProviderAddr, Version};

/// Everything that the rules look at.
pub struct CliConfigFacts<'a> {
    /// The user's files as each of [`MEASURED`](tofu_oci_mapper::config::MEASURED) reads them, in that order.
    pub readings: [CliConfigReading; 3],
    /// The methods of each reading, in the same order.
    pub methods: [Methods; 3],
    /// The environment in which the programs run.
    pub environment: &'a Environment,
    /// The file system, to look at the folders that the files name.
    pub files: &'a dyn ConfigFiles,
    /// The suffix of hosts that name a registry.
    pub magic_suffix: MagicSuffix,
    /// Which addresses count as one.
    pub predecessors: Predecessors,
    /// The lock file of the working directory; `None` if there is none.
    pub lock: Option<LockFacts>,
    /// The providers that the configuration of the working directory requires.
    pub required: Vec<RequiredFact>,
}

/// A lock file.
#[derive(Clone, Debug)]
pub struct LockFacts {
    pub path: PathBuf,
    pub text: Arc<str>,
    pub providers: Vec<LockedFact>,
}

/// An entry of a lock file.
#[derive(Clone, Debug)]
pub struct LockedFact {
    pub address: ProviderAddr,
    pub version: Version,
    /// The schemes of its checksums, such as `h1` and `zh`.
    pub schemes: BTreeSet<String>,
    /// The bytes of the lock file's text to underline: the address in the entry's first line.
    pub span: Option<Range<usize>>,
}

/// A provider that a configuration requires.
#[derive(Clone, Debug)]
pub struct RequiredFact {
    pub address: ProviderAddr,
    /// The constraints of all modules.
    pub constraints: Constraints,
}
