//! The repositories that a template names, in registries or in folders.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tofu_oci_types::{ModuleAddr, Place, ProviderAddr, RepositoryRef};

use crate::{MapError, RepositoryTemplate, TemplateAddress, TemplateError};

/// The repositories in which providers or modules are kept, one for each address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplateRepositories<A: TemplateAddress = ProviderAddr> {
    /// Repositories of registries: `ghcr.io/acme/${namespace}/${type}`.
    Registry(RepositoryTemplate<A>),
    /// Image layouts in folders: `oci:DIR`, which means a folder below `DIR` for each part of the address.
    Layouts(RepositoryTemplate<A>),
}

/// The repositories in which modules are kept.
pub type ModuleRepositories = TemplateRepositories<ModuleAddr>;

/// What such a template names for one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TemplatePlace {
    Registry(RepositoryRef),
    /// The image layout in this folder.
    Layout(PathBuf),
}

impl From<TemplatePlace> for Place {
    fn from(place: TemplatePlace) -> Self {
        match place {
            TemplatePlace::Registry(repository) => Self::Registry(repository),
            TemplatePlace::Layout(dir) => Self::Layout(dir),
        }
    }
}

impl<A: TemplateAddress> TemplateRepositories<A> {
    /// The repository or folder for `address`.
    ///
    /// # Errors
    /// When the template gives no repository for this address.
    pub fn place(&self, address: &A) -> Result<TemplatePlace, MapError> {
        match self {
            Self::Registry(template) => template.apply(address).map(TemplatePlace::Registry),
            Self::Layouts(template) => template.render(address).map(|dir| TemplatePlace::Layout(dir.into())),
        }
    }

    pub fn template(&self) -> &RepositoryTemplate<A> {
        match self {
            Self::Registry(template) | Self::Layouts(template) => template,
        }
    }
}

impl<A: TemplateAddress> FromStr for TemplateRepositories<A> {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        // `oci://` is how a module's address names a registry, never a folder.
        let Some(dir) = text.strip_prefix("oci:").filter(|dir| !dir.starts_with("//")) else {
            return text.parse().map(Self::Registry);
        };
        let template = RepositoryTemplate::parse_loose(dir)?;
        if !template.symbols().is_empty() {
            return Ok(Self::Layouts(template));
        }
        let names: Vec<String> = A::OF.symbols().iter().map(|symbol| format!("${{{}}}", symbol.name())).collect();
        let separator = if dir.ends_with('/') { "" } else { "/" };
        RepositoryTemplate::parse_loose(&format!("{dir}{separator}{}", names.join("/"))).map(Self::Layouts)
    }
}

impl<A: TemplateAddress> fmt::Display for TemplateRepositories<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(template) => template.fmt(f),
            Self::Layouts(template) => write!(f, "oci:{template}"),
        }
    }
}
