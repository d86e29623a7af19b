//! The CLI configuration as it decides where providers are.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{
    CliConfigProblem, CliConfigReading, ConfigFiles, Environment, MethodCandidate, MethodKind, Methods, Topic,
};
use tofu_oci_types::ProviderAddr;

use crate::SignatureDemands;

/// The methods of the user's files, and what else decides about places.
pub struct ConfiguredMethods {
    pub reading: Arc<CliConfigReading>,
    /// The methods in their order.
    pub methods: Methods,
    /// The suffix that makes a host name say where its providers are.
    pub suffix: MagicSuffix,
    /// What the signatures of origin registries must be.
    pub demands: SignatureDemands,
}

impl ConfiguredMethods {
    /// What the user's files say, errors included. Folders in `hidden` are not read. `suffix` is that of the arguments;
    /// without it, the files' suffix counts.
    pub fn new(
        reading: &Arc<CliConfigReading>,
        environment: &Environment,
        files: &dyn ConfigFiles,
        hidden: Vec<PathBuf>,
        suffix: Option<MagicSuffix>,
    ) -> Self {
        let methods = methods(reading, environment, &VisibleFiles { files, hidden });
        let written = || reading.config.magic_suffix.as_ref().map(|(suffix, _)| suffix.clone());
        let suffix = suffix.or_else(written).unwrap_or_default();
        let demands = SignatureDemands::of_variables(|name| environment.var(name));
        Self { reading: Arc::clone(reading), methods, suffix, demands }
    }

    /// The errors that end a run; `OpenTofu` would go on. Errors about credentials count only if the run reads
    /// credentials from the files.
    pub fn errors(&self, credentials: CredentialErrors) -> Vec<&CliConfigProblem> {
        let counts = |problem: &&CliConfigProblem| {
            credentials == CredentialErrors::Count || problem.topic != Topic::RegistryCredentials
        };
        self.reading.errors().filter(counts).collect()
    }

    /// Whether the only error is that a variable names a missing file: then no pattern names a host.
    pub fn is_missing(&self) -> bool {
        let missing: Vec<&CliConfigProblem> = self.reading.warnings().collect();
        let mut errors = self.reading.errors().peekable();
        errors.peek().is_some() && errors.all(|error| missing.contains(&error))
    }

    /// What every method says about the address.
    pub fn candidates(&self, address: &ProviderAddr) -> Vec<MethodCandidate<'_>> {
        self.methods.candidates(address, &self.suffix)
    }

    /// Whether the host of the address ends in the magic suffix.
    pub fn is_magic(&self, address: &ProviderAddr) -> bool {
        let host = address.hostname().as_str().split(':').next().unwrap_or_default();
        host.ends_with(&format!(".{}", self.suffix.as_str()))
    }

    /// Whether a pattern matches the address and names its host.
    pub fn names_host(&self, address: &ProviderAddr) -> bool {
        let mut patterns = self.methods.list.iter().flat_map(|method| &method.selector.include);
        self.methods.explicit
            && patterns.any(|pattern| pattern.hostname() == Some(address.hostname()) && pattern.matches(address))
    }
}

/// Whether errors about credentials end a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CredentialErrors {
    /// They do: the run reads credentials from the files.
    Count,
    /// They do not: the arguments say who asks.
    AreIgnored,
}

/// The methods, without the hidden folders.
fn methods(reading: &CliConfigReading, environment: &Environment, files: &VisibleFiles<'_>) -> Methods {
    let mut methods = reading.methods(environment, files);
    methods.list.retain(|method| match &method.kind {
        MethodKind::FilesystemMirror { path, .. } => !files.hides(path),
        _ => true,
    });
    methods
}

/// Files without some folders. `OpenTofu` no longer asks the registry for a provider that lies in a folder of the
/// implicit methods. The first installation into such a folder would have that effect.
struct VisibleFiles<'a> {
    files: &'a dyn ConfigFiles,
    hidden: Vec<PathBuf>,
}

impl VisibleFiles<'_> {
    fn hides(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.components().collect());
        self.hidden.iter().any(|hidden| real(path).starts_with(real(hidden)))
    }
}

impl ConfigFiles for VisibleFiles<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.hides(path) { Err(io::ErrorKind::NotFound.into()) } else { self.files.read(path) }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        if self.hides(path) { Err(io::ErrorKind::NotFound.into()) } else { self.files.list(path) }
    }

    fn is_dir(&self, path: &Path) -> bool {
        !self.hides(path) && self.files.is_dir(path)
    }

    fn exists(&self, path: &Path) -> bool {
        !self.hides(path) && self.files.exists(path)
    }

    fn is_link(&self, path: &Path) -> bool {
        self.files.is_link(path)
    }
}
