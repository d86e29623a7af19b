//! What is asked of `resolve`, what is found, and why.

use serde::Serialize;
use tofu_oci_explain::modules::{MappingStep, ModuleChoice};
use tofu_oci_explain::releases::VersionNotice;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_source::{Listing, Locator, ModulePackage, PackageBytes};
use tofu_oci_types::{Constraints, Digest, ModuleName, Place, Tag, Version};

use super::super::mapped::{MappedBy, MappedModule};
use super::super::open::OpenedModule;
use crate::diagnostic::Diagnostic;

pub(super) struct ModuleAsk<'a> {
    pub(super) typed: &'a str,
    pub(super) name: &'a ModuleName,
    pub(super) mirrors: &'a ModuleMirrors,
    pub(super) mapped: Option<&'a MappedModule>,
    /// The file of the mapping; `None` if no file maps it.
    pub(super) file: Option<String>,
}

/// The package that is chosen, and where it is.
#[derive(Default, Serialize)]
pub(super) struct ResolvedModule {
    pub(super) version: Option<Version>,
    pub(super) tag: Option<Tag>,
    /// `None` if there is no package.
    pub(super) place: Option<Place>,
    /// The digest of its manifest, in an OCI repository.
    pub(super) manifest: Option<Digest>,
    /// The address of its archive on the web, without what may be a secret.
    pub(super) archive: Option<String>,
    /// What the archive must be, if its registry says so.
    pub(super) checksum: Option<Digest>,
    /// Its git repository with the reference, without secrets.
    pub(super) git: Option<String>,
    /// The folder in the package; empty for the whole one.
    pub(super) folder: String,
}

impl ResolvedModule {
    pub(super) fn of(opened: OpenedModule) -> Self {
        let OpenedModule { package, version, tag, .. } = opened;
        let (archive, checksum) = archive(&package);
        Self {
            version: version.or_else(|| package.claimed_version().cloned()),
            tag,
            place: Some(package.place().clone()),
            manifest: package.manifest().cloned(),
            archive,
            checksum,
            git: package.git().map(|checkout| checkout.source().to_string()),
            folder: package.subdir().to_string(),
        }
    }
}

fn archive(package: &ModulePackage) -> (Option<String>, Option<Digest>) {
    match package.bytes() {
        PackageBytes::Archive { part, .. } => match &part.at {
            Locator::Url(url) => (Some(tofu_oci_http::shown_url(url)), part.digest.clone()),
            _ => (None, None),
        },
        PackageBytes::Commit => (None, None),
    }
}

/// Why a module comes from where it does.
pub(super) struct ExplainedModule<'a> {
    /// Every rule of the mapping; empty for a source that names its repository.
    pub(super) steps: Vec<MappingStep<'a>>,
    /// The address of the registry that is asked, if no rule maps the module.
    pub(super) registry: Option<String>,
    /// The repository, directory or host that is asked.
    pub(super) place: String,
    pub(super) listing: Result<Listing, Diagnostic>,
    /// What its publishers say of versions later, unverified.
    pub(super) notices: Vec<VersionNotice>,
    pub(super) choice: ModuleChoice,
    /// The package of that version.
    pub(super) found: Result<ResolvedModule, Diagnostic>,
}

impl ExplainedModule<'_> {
    /// What its publisher says of the chosen version.
    pub(super) fn notice(&self) -> Option<&VersionNotice> {
        let version = self.found.as_ref().ok()?.version.as_ref()?;
        self.notices.iter().find(|notice| notice.version == *version)
    }
}

/// What the version must meet.
pub(super) fn wanted(name: &ModuleName) -> Constraints {
    match name {
        ModuleName::Registry { constraints, .. } => constraints.clone(),
        _ => Constraints::any(),
    }
}

/// The rule, if one maps the module.
pub(super) fn mapped_by<'a>(ask: &ModuleAsk<'a>) -> Option<&'a MappedBy> {
    ask.mapped.map(|mapped| &mapped.by)
}
