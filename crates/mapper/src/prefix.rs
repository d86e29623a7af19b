//! Repository prefixes as `OpenTofu` reads them.

use tofu_oci_types::{InvalidRepositoryRef, RepositoryRef};

/// What a repository prefix names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Prefix {
    /// A registry alone: no `/` in the text. It passes `OpenTofu`'s check and names no repository to install from.
    Registry(String),
    /// A repository.
    Repository(RepositoryRef),
}

/// Reads a prefix with all that `OpenTofu` lets through; see [`RepositoryRef::from_opentofu`].
///
/// # Errors
/// When the text is neither a registry nor a repository, or names a tag or a digest.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, `ParseRepositoryAddressPrefix`; oras-go 2.6, `registry.ParseReference`.
pub fn parse_prefix(text: &str) -> Result<Prefix, InvalidRepositoryRef> {
    if text.contains('/') {
        return RepositoryRef::from_opentofu(text).map(Prefix::Repository);
    }
    // A registry is checked alike with and without a name behind it.
    RepositoryRef::from_opentofu(&format!("{text}/x")).map(|_| Prefix::Registry(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let got = match parse_prefix(text) {
            Ok(Prefix::Registry(registry)) => Some(format!("registry {registry}")),
            Ok(Prefix::Repository(repository)) => Some(repository.to_string()),
            Err(_) => None,
        };
        assert_eq!(got.as_deref(), want, "{text:?}");
    }

    #[test]
    fn without_a_slash_it_is_a_registry() {
        check("example.com", Some("registry example.com"));
        check("mirror", Some("registry mirror"));
        check("true", Some("registry true"));
        check("example.com:5000", Some("registry example.com:5000"));
        check("", None);
        check(" ", None);
        check("user@example.com", None);
        check("example.com:x", None);
    }

    #[test]
    fn with_a_slash_it_is_a_repository() {
        check("example.com/a/b", Some("example.com/a/b"));
        check("example.com/a:", Some("example.com/a"));
        check("example.com/a:1", None);
        check("example.com/", None);
        check("/x", None);
        check("https://example.com/a", None);
    }
}
