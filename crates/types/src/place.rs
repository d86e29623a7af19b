//! Where releases lie, and when two spellings are one place.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf, is_separator};
use std::str::FromStr;

use crate::text_value::text_value;
use crate::{Hostname, InvalidRepositoryRef, RepositoryRef, masked, registry_host};

/// A place where releases may lie. `Display` gives the form for people, without secrets.
///
/// Two spellings of one place are equal: `localhost/x`, `127.0.0.1/x` and `localhost:443/x`, the names of the Docker
/// Hub, `oci:lay` and `oci:./lay/`. `Place` asks no file system, so a path through a link is another place.
///
/// Serde writes the `Display` form. `FromStr` reads the forms that a person or a pin file writes: `oci:DIR`,
/// `bundle:FILE`, `HOST/NAME` and `HOST`.
#[derive(Clone)]
pub enum Place {
    Registry(RepositoryRef),
    /// An OCI image layout directory.
    Layout(PathBuf),
    /// A host, with its port if one is named: a registry, or the host of a provider's address, whatever it publishes.
    Host(String),
    /// A server of the network mirror protocol: its address as the user wrote it, secrets included.
    NetworkMirror(String),
    /// A folder of packages.
    Folder(PathBuf),
    PluginCache(PathBuf),
    /// A bundle: one file with an image layout of several providers.
    Bundle(PathBuf),
    /// An installation method that leads to no place, by its name in errors.
    Method(String),
    /// The places of several installation methods, in order.
    Methods(Vec<Self>),
}

impl Place {
    /// The repository, if the place is one of a registry.
    pub fn repository(&self) -> Option<&RepositoryRef> {
        match self {
            Self::Registry(repository) => Some(repository),
            _ => None,
        }
    }

    /// The place in the one spelling that all its spellings share.
    #[must_use]
    pub fn canonical(&self) -> Self {
        match self {
            Self::Registry(repository) => Self::Registry(repository.canonical()),
            Self::Layout(path) => Self::Layout(lexical(path)),
            Self::Host(host) => Self::Host(registry_host::canonical(host)),
            Self::Folder(path) => Self::Folder(lexical(path)),
            Self::PluginCache(path) => Self::PluginCache(lexical(path)),
            Self::Bundle(path) => Self::Bundle(lexical(path)),
            Self::Methods(places) => Self::Methods(places.iter().map(Self::canonical).collect()),
            Self::NetworkMirror(_) | Self::Method(_) => self.clone(),
        }
    }

    /// Equal for all values of one place.
    fn key(&self) -> (u8, String) {
        let kind = match self {
            Self::Registry(_) => 0,
            Self::Layout(_) => 1,
            Self::Host(_) => 2,
            // The address with its secrets: two accounts may see two mirrors.
            Self::NetworkMirror(url) => return (3, url.clone()),
            Self::Folder(_) => 4,
            Self::PluginCache(_) => 5,
            Self::Method(_) => 6,
            Self::Methods(_) => 7,
            Self::Bundle(_) => 8,
        };
        (kind, self.canonical().to_string())
    }
}

/// The path without `.`, empty parts and `PART/..`, with `/` between its parts. The case of letters counts everywhere.
fn lexical(path: &Path) -> PathBuf {
    // A path that is not UTF-8 is compared as it is.
    let Some(text) = path.to_str() else { return path.to_owned() };
    let mut parts: Vec<&str> = Vec::new();
    let rooted = text.starts_with(is_separator);
    for part in text.split(is_separator) {
        match (part, parts.last()) {
            ("" | ".", _) => {}
            ("..", Some(last)) if *last != ".." => {
                parts.pop();
            }
            ("..", None) if rooted => {}
            (part, _) => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}").into(),
        (false, true) => ".".into(),
        (false, false) => joined.into(),
    }
}

impl From<&Hostname> for Place {
    fn from(host: &Hostname) -> Self {
        Self::Host(host.display())
    }
}

impl FromStr for Place {
    type Err = InvalidRepositoryRef;

    fn from_str(text: &str) -> Result<Self, InvalidRepositoryRef> {
        if let Some(path) = text.strip_prefix("oci:") {
            return Ok(Self::Layout(path.into()));
        }
        if let Some(path) = text.strip_prefix("bundle:") {
            return Ok(Self::Bundle(path.into()));
        }
        if text.contains('/') {
            RepositoryRef::from_opentofu(text).map(Self::Registry)
        } else {
            Ok(Self::Host(text.into()))
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registry(repository) => repository.fmt(f),
            Self::Layout(path) => write!(f, "oci:{}", path.display()),
            Self::Bundle(path) => write!(f, "bundle:{}", path.display()),
            Self::Host(text) | Self::Method(text) => f.write_str(text),
            Self::NetworkMirror(url) => write!(f, "the network mirror {}", masked(url)),
            Self::Folder(path) => write!(f, "the folder {}", path.display()),
            Self::PluginCache(path) => write!(f, "the plugin cache {}", path.display()),
            Self::Methods(places) if places.is_empty() => f.write_str("the installation methods"),
            Self::Methods(places) => {
                for (nth, place) in places.iter().enumerate() {
                    write!(f, "{}{place}", if nth == 0 { "" } else { ", " })?;
                }
                Ok(())
            }
        }
    }
}

impl PartialEq for Place {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Place {}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        self.key().cmp(&other.key())
    }
}

impl Hash for Place {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

text_value!(Place);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(places: &[&str], want: &str) {
        for text in places {
            let place: Place = text.parse().unwrap();
            assert_eq!(place.to_string(), *text, "shown as it was written");
            assert_eq!(place.canonical().to_string(), want, "{text}");
            assert_eq!(place.canonical().canonical().to_string(), want, "{text}");
            assert_eq!(place, want.parse().unwrap(), "{text}");
        }
    }

    #[test]
    fn each_place_has_one_spelling() {
        check(&["ghcr.io/acme/widget", "GHCR.io/acme/widget", "ghcr.io:443/acme/widget"], "ghcr.io/acme/widget");
        check(&["LOCALHOST:5000/a/b", "127.1:5000/a/b", "[::1]:5000/a/b"], "localhost:5000/a/b");
        check(&["index.docker.io/a/b", "registry-1.docker.io/a/b"], "docker.io/a/b");
        check(&["A*b.Test/x"], "a*b.test/x");
        check(&["GHCR.io", "ghcr.io:443"], "ghcr.io");
        check(&["oci:layout", "oci:./layout", "oci:layout/", "oci:a/../layout", "oci:.//layout/."], "oci:layout");
        check(&["oci:/a/b", "oci:/a//b/", "oci:/../a/./b", "oci:/a/c/../b"], "oci:/a/b");
        check(&["oci:../layout", "oci:a/../../layout"], "oci:../layout");
        check(&["oci:../../layout"], "oci:../../layout");
        check(&["oci:.", "oci:", "oci:a/.."], "oci:.");
        check(&["oci:/", "oci:/.."], "oci:/");
        check(&["bundle:a.tar", "bundle:./a.tar", "bundle:b/../a.tar"], "bundle:a.tar");
        check(&["oci:Layout"], "oci:Layout");
    }

    #[test]
    fn places_of_different_kinds_are_different() {
        let layout = Place::Layout("m".into());
        assert_ne!(layout, Place::Folder("m".into()));
        assert_ne!(layout, Place::Layout("n".into()));
        assert_ne!("localhost:5000/x".parse::<Place>(), "localhost:5001/x".parse());
    }

    #[test]
    fn the_password_of_a_network_mirror_is_not_shown() {
        let mirror = Place::NetworkMirror("https://ada:hunter2@mirror.example.test/p/?sig=hunter2".to_owned());
        assert_eq!(mirror.to_string(), "the network mirror https://***@mirror.example.test/p/?sig=***");
        assert_eq!(format!("{mirror:?}"), mirror.to_string());
        assert_eq!(serde_json::to_value(&mirror).unwrap(), mirror.to_string());
    }

    #[test]
    fn methods_are_named_in_order() {
        let methods = Place::Methods(vec!["ghcr.io/a/b".parse().unwrap(), Place::Folder("/m".into())]);
        assert_eq!(methods.to_string(), "ghcr.io/a/b, the folder /m");
        assert_eq!(Place::Methods(Vec::new()).to_string(), "the installation methods");
    }
}
