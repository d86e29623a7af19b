//! The CLI configuration as it decides where providers are.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tofu_oci_logins::Access;
use tofu_oci_mapper::MagicSuffix;
use tofu_oci_mapper::config::{
    CliConfigProblem, CliConfigReading, ConfigFiles, Environment, MethodCandidate, MethodKind, Methods, Topic,
};
use tofu_oci_types::ProviderAddr;

use super::suffix;
use crate::again;
use crate::args::LookupArgs;
use crate::diagnostic::Diagnostic;
use crate::environment::{ReadConfig, RealFiles};
use crate::exit::Exit;

/// The user's files, read.
pub(crate) struct Configured {
    pub(crate) reading: Arc<CliConfigReading>,
    pub(crate) methods: Methods,
    pub(crate) suffix: MagicSuffix,
    /// Hosts that any host may name, wherever they are.
    pub(crate) private_hosts: Vec<String>,
}

impl Configured {
    /// What the user's files say, errors and all. `not_asked` are folders that are not looked into.
    pub(crate) fn new(read: &ReadConfig, lookup: &LookupArgs, not_asked: &[PathBuf]) -> Result<Self, Diagnostic> {
        let ReadConfig { environment, reading } = read;
        let hidden: Vec<PathBuf> = not_asked.iter().map(|dir| environment.launch_dir.join(dir)).collect();
        let methods = methods(reading, environment, hidden);
        let suffix = suffix(lookup, reading.config.magic_suffix.as_ref().map(|(suffix, _)| suffix))?;
        Ok(Self { reading: Arc::clone(reading), methods, suffix, private_hosts: lookup.private_host.clone() })
    }

    /// What is wrong with the files; `OpenTofu` would go on. Blocks of credentials are in nobody's way where `access`
    /// needs none of them.
    ///
    /// # Errors
    /// The first error, with its line; exit code 2.
    pub(crate) fn refuse(&self, access: &Access) -> Result<(), Diagnostic> {
        let ambient = matches!(access, Access::Ambient { .. });
        let counts = |problem: &&CliConfigProblem| ambient || problem.topic != Topic::RegistryCredentials;
        let errors: Vec<&CliConfigProblem> = self.reading.errors().filter(counts).collect();
        let Some(problem) = errors.first().copied() else { return Ok(()) };
        let more = errors.len() - 1;
        let diagnostic = Diagnostic::configuration(&self.reading, problem, more);
        if ambient && self.reading.credential_errors().any(|other| other == problem) {
            // That is in the way with --from, too.
            return Err(diagnostic);
        }
        if problem.code == "plugin-cache-dir" {
            // The variable counts with --from, too.
            return Err(diagnostic);
        }
        Err(diagnostic.hint("with --from REPOSITORY provider_installation is not looked at"))
    }

    /// Whether the only fault is that a variable names a file that is not there: then no pattern names a host.
    pub(crate) fn is_missing(&self) -> bool {
        let missing: Vec<&CliConfigProblem> = self.reading.warnings().collect();
        let mut errors = self.reading.errors().peekable();
        errors.peek().is_some() && errors.all(|error| missing.contains(&error))
    }

    /// What every method says of the address.
    pub(crate) fn candidates(&self, address: &ProviderAddr) -> Vec<MethodCandidate<'_>> {
        self.methods.candidates(address, &self.suffix)
    }

    /// No method is for the address.
    pub(crate) fn no_method(&self, address: &ProviderAddr) -> Diagnostic {
        if address.is_builtin() {
            return Diagnostic::new(Exit::Fixable, format!("{address} is part of OpenTofu and Terraform themselves"))
                .hint("there is nothing to install; omit it");
        }
        let diagnostic = Diagnostic::new(Exit::Fixable, format!("no installation method is for {address}"));
        match &self.reading.config.installation {
            Some(installation) => {
                let path = self.reading.files.get(installation.file).map(|file| file.path.display().to_string());
                diagnostic
                    .cause(format!("the provider_installation in {} names other providers", path.unwrap_or_default()))
                    .hint(format!(
                        "`{}` says of each method why",
                        again::command(&format!("resolve {address} --explain"))
                    ))
            }
            None => diagnostic,
        }
        .hint("say where it is with --from REPOSITORY, or --from 'REGISTRY/${namespace}/${type}'")
    }

    /// Whether the host of the address ends in the magic suffix.
    pub(crate) fn is_magic(&self, address: &ProviderAddr) -> bool {
        let host = address.hostname().as_str().split(':').next().unwrap_or_default();
        host.ends_with(&format!(".{}", self.suffix.as_str()))
    }

    /// Whether a pattern names the host of the address as one of providers.
    pub(crate) fn names_host(&self, address: &ProviderAddr) -> bool {
        self.methods.explicit
            && self
                .methods
                .list
                .iter()
                .flat_map(|method| &method.selector.include)
                .any(|pattern| pattern.hostname() == Some(address.hostname()) && pattern.matches(address))
    }
}

/// The methods that count, without the folders that are written to.
fn methods(reading: &CliConfigReading, environment: &Environment, hidden: Vec<PathBuf>) -> Methods {
    let files = Without { hidden };
    let mut methods = reading.methods(environment, &files);
    methods.list.retain(|method| match &method.kind {
        MethodKind::FilesystemMirror { path, .. } => !files.hides(path),
        _ => true,
    });
    methods
}

/// The files of this machine, without some folders. A provider in a folder of the implicit methods is cut off from
/// its registry; in the folder that is installed into, that would be so after the first installation.
struct Without {
    hidden: Vec<PathBuf>,
}

impl Without {
    fn hides(&self, path: &Path) -> bool {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.components().collect());
        self.hidden.iter().any(|hidden| real(path).starts_with(real(hidden)))
    }
}

impl ConfigFiles for Without {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.hides(path) { Err(io::ErrorKind::NotFound.into()) } else { RealFiles.read(path) }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        if self.hides(path) { Err(io::ErrorKind::NotFound.into()) } else { RealFiles.list(path) }
    }

    fn is_dir(&self, path: &Path) -> bool {
        !self.hides(path) && RealFiles.is_dir(path)
    }

    fn exists(&self, path: &Path) -> bool {
        !self.hides(path) && RealFiles.exists(path)
    }
}
