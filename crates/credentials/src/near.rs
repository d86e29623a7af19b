//! Keys that miss a repository by little, and what to write instead.

use std::fmt;

/// Why a key that was perhaps meant for a repository does not match it. `Display` tells what to write instead; the
/// text in each is the key to write.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NearMiss {
    /// It has a scheme such as `https://`, or what else belongs to a URL.
    Scheme(String),
    /// Its letters are of another case.
    Case(String),
    /// It names another port, or none.
    Port(String),
    /// It names the Docker Hub in a form that is not served, or one that comes after an exact one.
    HubName(String),
    /// The registry is right and the path is not.
    Path(String),
    /// It has a slash, dot or blank too many at an end.
    Ends(String),
    /// It names a tag or a digest.
    Tag(String),
    /// It holds `*`.
    Wildcard(String),
}

impl NearMiss {
    /// The key to write instead.
    pub fn instead(&self) -> &str {
        match self {
            Self::Scheme(key)
            | Self::Case(key)
            | Self::Port(key)
            | Self::HubName(key)
            | Self::Path(key)
            | Self::Ends(key)
            | Self::Tag(key)
            | Self::Wildcard(key) => key,
        }
    }
}

impl fmt::Display for NearMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            Self::Scheme(_) => "keys are written without a scheme",
            Self::Case(_) => "upper and lower case count",
            Self::Port(_) => "the port counts",
            Self::HubName(_) => "this name of the Docker Hub does not serve here",
            Self::Path(_) => "paths are compared by whole segments",
            Self::Ends(_) => "a key ends with a letter or digit, and begins with one",
            Self::Tag(_) => "keys name no tag and no digest",
            Self::Wildcard(_) => "keys know no wildcards",
        };
        write!(f, "{why}: write {}", self.instead())
    }
}
