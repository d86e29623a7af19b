//! Modules that arguments name, opened.

use std::path::Path;
use std::sync::Arc;

use tofu_oci_fetch::{module_says_another, other_address_note};
use tofu_oci_logins::Access;
use tofu_oci_source::{
    CredentialErrors, Listing, LocationAccess, MethodOpener, ModuleError, ModuleLocation, ModulePackage,
    ModuleRegistry, version_of, withdrawal,
};
use tofu_oci_store::{ReadStore, StoreError};
use tofu_oci_trust::VersionOf;
use tofu_oci_types::{
    Constraints, ModuleAddr, ModuleName, Predecessors, Reference, Subdir, Tag, Version, versions_in_words,
};

use super::mapped::{self, MappedModule};
use crate::args::{LookupArgs, RegistryAccess};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::lookup;
use crate::verbs::context::Context;
use crate::verbs::typed::{refuse_given, typed};

/// What reaches the place that a name means; a password is read for the registry that it names. `chdir` is the directory whose CLI
/// configuration says who asks.
pub(in crate::verbs) async fn connector(
    context: &Context,
    name: &ModuleName,
    mapped: Option<&MappedModule>,
    access: &RegistryAccess,
    chdir: Option<&Path>,
) -> Result<Connector, Diagnostic> {
    let end = end(name).or_else(|| mapped.map(|mapped| mapped.end.clone()));
    context.reach(access, &end.iter().collect::<Vec<_>>(), chdir).await
}

/// The place of a repository or directory.
pub(in crate::verbs) fn end(name: &ModuleName) -> Option<End> {
    match name {
        ModuleName::Oci(source) => Some(End::Registry(source.repository().clone())),
        ModuleName::Layout { dir, .. } => Some(End::Layout(dir.clone())),
        ModuleName::Registry { .. } | ModuleName::Git(_) => None,
    }
}

/// The tag or digest of a package in a repository or directory.
pub(super) fn reference(name: &ModuleName) -> Option<&Reference> {
    match name {
        ModuleName::Oci(source) => Some(source.reference()),
        ModuleName::Layout { reference, .. } => Some(reference),
        ModuleName::Registry { .. } | ModuleName::Git(_) => None,
    }
}

/// A package, and what it was found by.
pub(in crate::verbs) struct OpenedModule {
    pub(in crate::verbs) package: ModulePackage,
    /// The version that a registry was asked for, or that the tag is.
    pub(in crate::verbs) version: Option<Version>,
    /// The tag, if it was found by one.
    pub(in crate::verbs) tag: Option<Tag>,
    /// What events call it.
    pub(in crate::verbs) subject: String,
}

/// Finds the package of a name: that of a mapped module in its repository alone.
pub(in crate::verbs) async fn find(
    name: &ModuleName,
    mapped: Option<&MappedModule>,
    connector: &Connector,
) -> Result<OpenedModule, Diagnostic> {
    let (end, reference) = match name {
        ModuleName::Registry { address, subdir, constraints } => {
            let wanted = (address, subdir, constraints);
            return match mapped {
                Some(mapped) => list_mapped(wanted, mapped, connector).await,
                None => list_registry(wanted, connector).await,
            };
        }
        ModuleName::Git(source) => {
            let package = opener(connector)?.git_package(source, connector.git(), LocationAccess::User);
            return Ok(OpenedModule { package, version: None, tag: None, subject: source.to_string() });
        }
        ModuleName::Oci(source) => (End::Registry(source.repository().clone()), source.reference()),
        ModuleName::Layout { dir, reference, .. } => (End::Layout(dir.clone()), reference),
    };
    in_store(connector.source(&end)?, &end, reference, name.subdir()).await
}

/// The note for a package that says another module than the one that was asked for.
pub(in crate::verbs) fn note_other_address(
    context: &Context,
    name: &ModuleName,
    found: &OpenedModule,
    predecessors: &Predecessors,
) {
    let (ModuleName::Registry { address, .. }, Some(version)) = (name, &found.version) else { return };
    if let Some((said, text)) = module_says_another(&found.package, (address, version), predecessors) {
        context.reporter.event(&other_address_note(text, address, &said));
    }
}

/// The package under a tag or digest of a repository or directory.
pub(in crate::verbs) async fn in_store(
    store: Arc<dyn ReadStore>,
    end: &End,
    reference: &Reference,
    subdir: &Subdir,
) -> Result<OpenedModule, Diagnostic> {
    let package = match ModulePackage::of_store(Arc::clone(&store), reference, subdir.clone()).await {
        Ok(package) => package,
        Err(ModuleError::Store(error)) => return Err(missing(error, store.as_ref(), reference).await),
        Err(error) => return Err(error.into()),
    };
    let tag = match reference {
        Reference::Tag(tag) => Some(tag.clone()),
        Reference::Digest(_) => None,
    };
    let version = tag.as_ref().and_then(Tag::version);
    let subject = match reference {
        Reference::Tag(tag) => format!("{end}:{tag}"),
        Reference::Digest(digest) => format!("{end}@{digest}"),
    };
    Ok(OpenedModule { package, version, tag, subject })
}

/// Whether the newest version in a repository is a module. False if it cannot be asked.
pub(in crate::verbs) async fn holds_modules(store: &dyn ReadStore) -> bool {
    let Ok(tags) = store.tags().await else { return false };
    let Ok(listing) = Listing::in_store(store, &tags).await else { return false };
    let Some(Ok(tag)) = listing.versions.last().map(Tag::for_version) else { return false };
    let Ok(manifest) = store.resolve(&Reference::Tag(tag)).await else { return false };
    matches!(version_of(store, &manifest).await, Ok(Some(VersionOf::Module)))
}

/// The error, with the versions that the repository has.
pub(in crate::verbs) async fn naming_versions(error: StoreError, store: &dyn ReadStore) -> Diagnostic {
    let tags = match store.tags().await {
        Err(unknown @ StoreError::UnknownRepository { .. }) => return unknown.into(),
        tags => tags.unwrap_or_default(),
    };
    let offered = Listing::in_store(store, &tags).await.unwrap_or_default().versions;
    let diagnostic = Diagnostic::from(error);
    if offered.is_empty() { diagnostic } else { diagnostic.hint(versions_in_words("it has", &offered)) }
}

/// Why a repository has no such tag or digest: that the version was withdrawn and why, or the versions that it has, if it says
/// so.
async fn missing(error: StoreError, store: &dyn ReadStore, reference: &Reference) -> Diagnostic {
    let place = store.place();
    let listing = match &error {
        StoreError::NotFound { .. } => match store.tags().await {
            Ok(tags) => Listing::in_store(store, &tags).await.unwrap_or_default(),
            // Many registries answer equally for a tag of a repository that they do not have.
            Err(unknown @ StoreError::UnknownRepository { .. }) => {
                return match reference {
                    // As measured of OpenTofu: a repository that is unknown lacks the tag.
                    Reference::Tag(_) => Diagnostic::from(unknown).code("tag-not-found"),
                    Reference::Digest(_) => mapped::unlisted(unknown),
                };
            }
            Err(_) => Listing::default(),
        },
        _ => Listing::default(),
    };
    let version = match reference {
        Reference::Tag(tag) => tag.version(),
        Reference::Digest(_) => None,
    };
    match version.filter(|version| listing.withdrawn.contains(version)) {
        Some(version) => {
            let notice = withdrawal(store, &VersionOf::Module, &version).await;
            Diagnostic::withdrawn(&place, &version, notice.map(|notice| notice.reason), &listing.versions)
        }
        None => Diagnostic::missing_module(error, &place, reference, &listing.versions),
    }
}

async fn list_mapped(
    wanted: WantedOfRegistry<'_>,
    mapped: &MappedModule,
    connector: &Connector,
) -> Result<OpenedModule, Diagnostic> {
    let listed = async {
        let store = connector.source(&mapped.end).map_err(mapped::unlisted)?;
        let tags = store.tags().await.map_err(mapped::unlisted)?;
        let listing = Listing::in_store(&*store, &tags).await.map_err(mapped::unlisted)?;
        Ok((store, listing))
    };
    let (store, listing) = listed.await.map_err(|diagnostic| mapped.blamed(diagnostic, wanted.0))?;
    of_mapped(wanted, mapped, store, &listing).await
}

async fn list_registry(wanted: WantedOfRegistry<'_>, connector: &Connector) -> Result<OpenedModule, Diagnostic> {
    let opener = opener(connector)?;
    let registry = opener.module_registry(wanted.0.hostname()).await.map_err(|error| unmapped(wanted.0, error))?;
    let listing = registry.versions(wanted.0).await.map_err(|error| unmapped(wanted.0, error))?;
    AskedRegistry { registry, opener }.find(wanted, &listing, connector).await
}

/// A module, the folder in it, and what its version must meet.
pub(super) type WantedOfRegistry<'a> = (&'a ModuleAddr, &'a Subdir, &'a Constraints);

/// The package of a mapped module: of the versions that its repository lists.
pub(super) async fn of_mapped(
    (address, subdir, constraints): WantedOfRegistry<'_>,
    mapped: &MappedModule,
    store: Arc<dyn ReadStore>,
    listing: &Listing,
) -> Result<OpenedModule, Diagnostic> {
    let found = async {
        let version = mapped::choose(listing, store.place(), address, constraints)?;
        let tag = Tag::for_version(&version).expect("the version is that of a tag");
        let package = ModulePackage::of_store(store, &Reference::Tag(tag.clone()), subdir.clone()).await?;
        let subject = format!("{address} {version}");
        Ok(OpenedModule { package, version: Some(version), tag: Some(tag), subject })
    };
    found.await.map_err(|diagnostic| mapped.blamed(diagnostic, address))
}

/// The registry of modules of a host, and what opens the packages that it names.
pub(super) struct AskedRegistry {
    pub(super) registry: ModuleRegistry,
    pub(super) opener: MethodOpener,
}

impl AskedRegistry {
    /// The package of a module: of the versions that the registry lists.
    pub(super) async fn find(
        &self,
        (address, subdir, constraints): WantedOfRegistry<'_>,
        listing: &Listing,
        connector: &Connector,
    ) -> Result<OpenedModule, Diagnostic> {
        let Some(version) = constraints.select(&listing.versions).cloned() else {
            let (address, place, offered) = (address.clone(), self.registry.place().clone(), listing.versions.clone());
            let wanted = constraints.clone();
            return Err(unmapped(&address.clone(), ModuleError::NoMatchingVersion { address, place, wanted, offered }));
        };
        let location: ModuleLocation = self.registry.locate(address, &version).await?;
        let package = self.opener.module_package(&location, LocationAccess::User, connector.git()).await?;
        let package = package.inside(subdir);
        let subject = format!("{address} {version}");
        Ok(OpenedModule { package, version: Some(version), tag: None, subject })
    }
}

pub(super) fn unmapped(address: &ModuleAddr, error: ModuleError) -> Diagnostic {
    let host = address.hostname().display();
    Diagnostic::from(error).cause(format!("no rule of modules.toml maps it, so the registry of {host} was asked"))
}

/// Refuses the options that are for providers alone: those of a lookup, and others with whether they are given.
pub(in crate::verbs) fn refuse_for_module(
    subject: &str,
    lookup: &LookupArgs,
    others: &[(&str, bool)],
) -> Result<(), Diagnostic> {
    let mut given = vec![
        ("--from", typed(lookup.from.as_deref(), "TOFU_OCI_FROM")),
        ("--plugin-dir", !lookup.plugin_dir.is_empty()),
        ("--magic-suffix", typed(lookup.magic_suffix.as_deref(), "TOFU_OCI_MAGIC_SUFFIX")),
    ];
    given.extend_from_slice(others);
    let hint = "omit it; modules.toml, or the file of --modules, says in which repository a module is";
    refuse_given(&given, |option| format!("{option} is for providers, and `{subject}` is a module"), hint)
}

/// What asks hosts for their services. Of the CLI configuration its `host` blocks and tokens count; one with an error ends
/// the verb.
pub(in crate::verbs) fn opener(connector: &Connector) -> Result<MethodOpener, Diagnostic> {
    let configured = lookup::configured(connector.config(None)?, &LookupArgs::default(), &[])?;
    let credentials = match connector.access() {
        Access::Ambient { .. } => CredentialErrors::Count,
        _ => CredentialErrors::AreIgnored,
    };
    let errors = configured.errors(credentials);
    if let Some(problem) = errors.first() {
        return Err(Diagnostic::configuration(&configured.reading, problem, errors.len() - 1));
    }
    Ok(MethodOpener::new(&configured, connector.client()?, connector.host_tokens()?))
}
