//! Repository prefixes as `OpenTofu` reads them.

use crate::{InvalidRepositoryRef, RepositoryRef};

/// What a repository prefix names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryPrefix {
    /// A registry alone, without `/`. `OpenTofu` accepts it, but it names no repository to install from.
    Registry(String),
    Repository(RepositoryRef),
}

/// Reads a prefix with all that `OpenTofu` accepts; see [`RepositoryRef::from_opentofu`].
///
/// # Errors
/// If the text is neither a registry nor a repository, or names a tag or a digest.
///
/// Spec: `OpenTofu` 1.12, ociauthconfig, `ParseRepositoryAddressPrefix`; oras-go 2.6, `registry.ParseReference`.
pub fn parse_prefix(text: &str) -> Result<RepositoryPrefix, InvalidRepositoryRef> {
    if text.contains('/') {
        return RepositoryRef::from_opentofu(text).map(RepositoryPrefix::Repository);
    }
    // The check of a registry is the same with and without a name after it.
    match RepositoryRef::from_opentofu(&format!("{text}/x")) {
        Ok(_) => Ok(RepositoryPrefix::Registry(text.to_owned())),
        // The error quotes what was written.
        Err(error) => Err(RepositoryRef::from_opentofu(text).err().unwrap_or(error)),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        let got = match parse_prefix(text) {
            Ok(RepositoryPrefix::Registry(registry)) => Some(format!("registry {registry}")),
            Ok(RepositoryPrefix::Repository(repository)) => Some(repository.to_string()),
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
    fn errors_quote_what_was_written_and_name_the_scheme() {
        let said = |text: &str| parse_prefix(text).expect_err("no prefix").to_string();
        assert_snapshot!(said(" "), @"` ` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget");
        assert_snapshot!(said("http://ghcr.io/x"), @"`http://ghcr.io/x` is not a repository address: it is written without a scheme such as https://");
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
