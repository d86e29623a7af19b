//! What `--to` names.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use tofu_oci_fault::Fault;
use tofu_oci_mapper::{NotOneToOne, TemplateError, TemplateRepositories, check_mentioned};

/// A destination, as a user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DestinationName {
    /// Repositories of registries, or image layouts in folders.
    Repositories(TemplateRepositories),
    /// A network mirror as plain files: `static:DIR`.
    Static(PathBuf),
    /// One file: `bundle:FILE`.
    Bundle(PathBuf),
}

/// A text that names no destination.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
pub enum InvalidDestination {
    /// `oci:`, `static:` or `bundle:` names no file or folder
    #[error("`{0}` names no file or folder")]
    #[fault("destination-without-path", todo = "write the path after the colon")]
    NoPath(String),
    /// the template of a destination cannot be used
    #[error(transparent)]
    #[fault(
        "destination-template",
        todo = "write it as `REGISTRY/REPOSITORY`, with ${hostname}, ${namespace} and \
            ${type} where providers differ"
    )]
    Template(#[from] TemplateError),
}

impl FromStr for DestinationName {
    type Err = InvalidDestination;

    fn from_str(text: &str) -> Result<Self, InvalidDestination> {
        let after = |kind: &str| match text.strip_prefix(kind) {
            Some("") => Some(Err(InvalidDestination::NoPath(text.to_owned()))),
            rest => rest.map(Ok),
        };
        if let Some(dir) = after("static:") {
            return dir.map(|dir| Self::Static(dir.into()));
        }
        if let Some(file) = after("bundle:") {
            return file.map(|file| Self::Bundle(file.into()));
        }
        after("oci:").transpose()?;
        Ok(Self::Repositories(text.parse()?))
    }
}

impl DestinationName {
    /// Whether releases lie in a folder there, each package in a file.
    pub fn is_folder(&self) -> bool {
        matches!(self, Self::Static(_) | Self::Repositories(TemplateRepositories::Layouts(_)))
    }

    /// Refuses a template by which two providers get one repository, whichever of what it mentions they differ in.
    ///
    /// # Errors
    /// Two such providers.
    pub fn check_one_to_one(&self) -> Result<(), NotOneToOne> {
        match self {
            Self::Repositories(repositories) => check_mentioned(repositories),
            Self::Static(_) | Self::Bundle(_) => Ok(()),
        }
    }
}

impl fmt::Display for DestinationName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repositories(repositories) => repositories.fmt(f),
            Self::Static(dir) => write!(f, "static:{}", dir.display()),
            Self::Bundle(file) => write!(f, "bundle:{}", file.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = text.parse::<DestinationName>().map_or_else(|error| error.to_string(), |name| name.to_string());
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn a_destination_is_named_by_its_kind() {
        check("ghcr.io/acme/${namespace}/${type}", "ghcr.io/acme/${namespace}/${type}");
        check("oci:mirror", "oci:mirror/${hostname}/${namespace}/${type}");
        check("oci:/srv/m/", "oci:/srv/m/${hostname}/${namespace}/${type}");
        check("oci:m/${type}", "oci:m/${type}");
        check("static:www", "static:www");
        check("bundle:a.tar", "bundle:a.tar");
    }

    #[test]
    fn a_kind_alone_is_refused() {
        check("static:", "`static:` names no file or folder");
        check("oci:", "`oci:` names no file or folder");
        check("bundle:", "`bundle:` names no file or folder");
    }
}
