//! Which places are looked in for an address: the methods that count, and the answer of each.

use std::path::PathBuf;

use tofu_oci_types::{Predecessors, ProviderAddr};

use super::{CliConfigReading, ConfigFiles, Environment, Method, MethodKind, implicit};
use crate::{
    AddressRule, MagicSuffix, MapError, MappedPlace, NotOneToOne, Selection, TemplateRepositories, check_one_to_one,
};

/// The methods that `OpenTofu` installs by, in their order.
#[derive(Clone, Debug)]
pub struct Methods {
    /// Whether they are from a file; otherwise they are the implicit ones.
    pub explicit: bool,
    /// The methods, without those that were dropped.
    pub list: Vec<Method>,
}

/// A method and its answer for an address.
#[derive(Clone, Debug)]
pub struct MethodCandidate<'a> {
    pub method: &'a Method,
    /// Whether its patterns match.
    pub selection: Selection,
    /// Its place for the address; `None` if it is not selected.
    pub place: Option<Result<MappedPlace, MapError>>,
}

impl Methods {
    /// The folders of the option `-plugin-dir` in their order, in place of all other methods. They are relative to the
    /// working directory.
    ///
    /// Spec: `OpenTofu` 1.12, `init -plugin-dir`; measured: it beats the CLI configuration.
    pub fn of_plugin_dirs(dirs: &[PathBuf], environment: &Environment) -> Self {
        let method = |dir: &PathBuf| {
            let (path, written) = (environment.absolute(&environment.working_dir, dir), dir.display().to_string());
            Method::of_option(MethodKind::FilesystemMirror { path, written }, "--plugin-dir")
        };
        Self { explicit: true, list: dirs.iter().map(method).collect() }
    }

    /// The answer of every method for `address`, in order; empty for a provider that is part of `OpenTofu`.
    ///
    /// A host under the magic suffix is a repository only for `direct`, so a file that omits `direct`, or excludes the
    /// address from it, is not bypassed.
    pub fn candidates(&self, address: &ProviderAddr, suffix: &MagicSuffix) -> Vec<MethodCandidate<'_>> {
        if address.is_builtin() {
            return Vec::new();
        }
        self.list
            .iter()
            .map(|method| {
                let selection = method.selector.select(address);
                let place = if selection.is_in() { method.place_of(address, suffix) } else { None };
                MethodCandidate { method, selection, place }
            })
            .collect()
    }
}

/// Whether the `oci_mirror` methods among these send two providers to one repository. A provider counts for each method that
/// selects it: `OpenTofu` asks all of them.
///
/// # Errors
/// Two such providers; the rule is the number of the method.
pub fn check_oci_mirrors(methods: &[Method], predecessors: &Predecessors) -> Result<(), NotOneToOne> {
    let rules = methods.iter().map(|Method { selector, kind, .. }| {
        let repositories = match kind {
            MethodKind::OciMirror { template } => Some(TemplateRepositories::Registry(template.clone())),
            _ => None,
        };
        AddressRule::new(&selector.include, &selector.exclude, repositories)
    });
    let rules: Vec<AddressRule<'_, ProviderAddr>> = rules.collect();
    let selects = |method: usize, address: &ProviderAddr| methods[method].selector.select(address).is_in();
    check_one_to_one(&rules, &selects, predecessors)
}

impl Method {
    /// A method that an option of the command line names, for every provider.
    pub fn of_option(kind: MethodKind, option: &str) -> Self {
        Self { place: Some(option.to_owned()), ..implicit::method(kind, Vec::new()) }
    }

    /// The method's place for an address; `None` for an unreadable method.
    fn place_of(&self, address: &ProviderAddr, suffix: &MagicSuffix) -> Option<Result<MappedPlace, MapError>> {
        match &self.kind {
            MethodKind::Direct { .. } => Some(suffix.place(address).map(|place| match place {
                Some(place) => MappedPlace::Oci(place),
                None => MappedPlace::Direct { host: address.hostname().clone() },
            })),
            MethodKind::FilesystemMirror { path, .. } => Some(Ok(MappedPlace::Filesystem { path: path.clone() })),
            MethodKind::NetworkMirror { url, .. } => Some(Ok(MappedPlace::NetworkMirror { url: url.clone() })),
            MethodKind::OciMirror { template } => Some(template.place(address).map(MappedPlace::Oci)),
            MethodKind::Unreadable { .. } => None,
        }
    }
}

impl CliConfigReading {
    /// The methods that `OpenTofu` installs by: those of the file, or the implicit ones.
    pub fn methods(&self, environment: &Environment, files: &dyn ConfigFiles) -> Methods {
        match &self.config.installation {
            Some(installation) => {
                let list = installation.methods.iter().filter(|method| method.dropped.is_none()).cloned().collect();
                Methods { explicit: true, list }
            }
            None => Methods { explicit: false, list: implicit::methods(environment, files, self.release) },
        }
    }
}
