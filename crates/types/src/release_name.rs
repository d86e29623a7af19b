//! What an argument names: `ADDR@VERSION` or `REPOSITORY:VERSION`, a provider or place and the version in it.

use std::path::PathBuf;
use std::str::FromStr;

use crate::{
    Constraints, InvalidConstraints, InvalidProviderAddr, InvalidRepositoryRef, ProviderAddr, RepositoryRef, Version,
};

/// A text that names a release, or all releases of a provider or a place.
///
/// The mark before the version decides what the text names, because an address and a repository look alike: `@` follows
/// a provider's address, `:` a repository or directory.
///
/// ```text
/// registry.example.com/acme/widget@1.4.0         Provider   also with constraints: @'~> 1.4'
/// ghcr.io/acme/opentofu-provider-widget:1.4.0    Repository the version in full, its + also as _, as tags have it
/// oci:DIR:1.4.0                                  Layout
/// any other text                                 Whole      not read
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReleaseName {
    /// A provider's address and what its version must meet.
    Provider {
        address: ProviderAddr,
        /// What was written after the `@`; never empty.
        constraints: Constraints,
    },
    /// A version in a repository of a registry.
    Repository { repository: RepositoryRef, version: Version },
    /// A version in an OCI image layout directory.
    Layout { dir: PathBuf, version: Version },
    /// A text without a version. Whether it names anything is for its reader to find out.
    Whole(String),
}

/// A text that names no version, although something stands where a version would.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidReleaseName {
    /// A digest stands after the `@`.
    #[error("`{name}@{digest}` names a digest, and a version is wanted")]
    Digest {
        name: String,
        /// What stands after the `@`.
        digest: String,
    },
    #[error("`{name}{mark}` names no version after the {mark}")]
    Empty {
        name: String,
        /// `@` or `:`.
        mark: char,
    },
    /// The text after the `:` is not a version in full.
    #[error("`{name}:{tag}` names no version: {}", reason(tag, meant.as_ref()))]
    NotAVersion {
        name: String,
        /// What stands after the `:`.
        tag: String,
        meant: Option<Version>,
    },
    /// The text after the `@` is not a constraint.
    #[error(transparent)]
    Constraints(#[from] InvalidConstraints),
    /// An `@` stands after a repository or a directory.
    #[error("`{name}@{version}` has an @ after a {kind}, and a : belongs there")]
    AtAfterPlace {
        name: String,
        /// What stands after the `@`.
        version: String,
        /// `repository` or `directory`.
        kind: &'static str,
    },
    /// The text before the `@` is not an address.
    #[error(transparent)]
    NotAnAddress(#[from] InvalidProviderAddr),
    /// The text before the `:` is not a repository.
    #[error(transparent)]
    NotARepository(#[from] InvalidRepositoryRef),
}

fn reason(tag: &str, meant: Option<&Version>) -> String {
    match meant {
        Some(version) if tag.starts_with('v') => format!("write it without the v, {version}"),
        Some(version) => format!("write it in full, {version}"),
        None => format!("`{tag}` is not a version such as 1.4.0"),
    }
}

/// The version of a tag that is written in full; `_` and `+` mean the same.
fn in_full(tag: &str) -> Option<Version> {
    let version: Version = tag.replace('_', "+").parse().ok()?;
    (version.to_string() == tag.replace('_', "+")).then_some(version)
}

/// The version that a text was probably meant as. `127.0.0.1:5000` ends in a port, so one number alone means none.
fn meant(tag: &str) -> Option<Version> {
    let tag = tag.strip_prefix('v').unwrap_or(tag);
    tag.contains('.').then(|| tag.replace('_', "+").parse().ok()).flatten()
}

impl FromStr for ReleaseName {
    type Err = InvalidReleaseName;

    fn from_str(text: &str) -> Result<Self, InvalidReleaseName> {
        if let Some(dir) = text.strip_prefix("oci:")
            && !dir.starts_with(':')
            && !is_url(text)
        {
            return layout(text, dir);
        }
        if is_url(text) {
            return Ok(Self::Whole(text.to_owned()));
        }
        // A user name stands before an `@` with a host after it.
        match text.split_once('@') {
            Some((name, version)) if !version.contains('/') => provider(name, version),
            Some(_) => Ok(Self::Whole(text.to_owned())),
            None => repository(text),
        }
    }
}

/// Whether the text has a scheme. `oci:///srv/x` is `oci:` and a path.
fn is_url(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, rest)| {
        !rest.starts_with('/') && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.:".contains(one))
    })
}

fn is_digest(text: &str) -> bool {
    text.starts_with("sha256:") || text.starts_with("sha512:")
}

/// A directory may have any name, so that only what is a version in full ends it.
fn layout(text: &str, dir: &str) -> Result<ReleaseName, InvalidReleaseName> {
    let named = |dir: &str| format!("oci:{dir}");
    if let Some((dir, version)) = dir.rsplit_once('@') {
        if is_digest(version) {
            return Err(InvalidReleaseName::Digest { name: named(dir), digest: version.to_owned() });
        }
        if in_full(version).is_some() {
            let (name, version) = (named(dir), version.to_owned());
            return Err(InvalidReleaseName::AtAfterPlace { name, version, kind: "directory" });
        }
    }
    let Some((dir, tag)) = dir.rsplit_once(':').filter(|(dir, _)| !dir.is_empty()) else {
        return Ok(ReleaseName::Whole(text.to_owned()));
    };
    match (in_full(tag), meant(tag)) {
        (Some(version), _) => Ok(ReleaseName::Layout { dir: dir.into(), version }),
        (None, Some(meant)) => {
            Err(InvalidReleaseName::NotAVersion { name: named(dir), tag: tag.to_owned(), meant: Some(meant) })
        }
        (None, None) if tag.is_empty() => Err(InvalidReleaseName::Empty { name: named(dir), mark: ':' }),
        (None, None) => Ok(ReleaseName::Whole(text.to_owned())),
    }
}

fn provider(name: &str, version: &str) -> Result<ReleaseName, InvalidReleaseName> {
    if is_digest(version) {
        return Err(InvalidReleaseName::Digest { name: name.to_owned(), digest: version.to_owned() });
    }
    if version.trim().is_empty() {
        return Err(InvalidReleaseName::Empty { name: name.to_owned(), mark: '@' });
    }
    match name.parse::<ProviderAddr>() {
        Ok(address) => Ok(ReleaseName::Provider { address, constraints: version.parse()? }),
        Err(_) if name.parse::<RepositoryRef>().is_ok() => {
            let (name, version) = (name.to_owned(), version.to_owned());
            Err(InvalidReleaseName::AtAfterPlace { name, version, kind: "repository" })
        }
        Err(error) => Err(error.into()),
    }
}

fn repository(text: &str) -> Result<ReleaseName, InvalidReleaseName> {
    let whole = || Ok(ReleaseName::Whole(text.to_owned()));
    // A `:` before a `/` begins a port, or is the drive of a path.
    let Some((name, tag)) = text.rsplit_once(':').filter(|(_, tag)| !tag.contains(['/', '\\'])) else { return whole() };
    let version = in_full(tag);
    if !name.contains('/') && version.is_none() {
        return whole();
    }
    let repository: RepositoryRef = name.parse()?;
    match version {
        Some(version) => Ok(ReleaseName::Repository { repository, version }),
        None if tag.is_empty() => Err(InvalidReleaseName::Empty { name: name.to_owned(), mark: ':' }),
        None => {
            let (name, meant) = (name.to_owned(), meant(tag));
            Err(InvalidReleaseName::NotAVersion { name, tag: tag.to_owned(), meant })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `what|version`, `=whole`, or the text of the error.
    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = match text.parse() {
            Ok(ReleaseName::Provider { address, constraints }) => format!("{address}|{constraints}"),
            Ok(ReleaseName::Repository { repository, version }) => format!("{repository}|{version}"),
            Ok(ReleaseName::Layout { dir, version }) => format!("oci:{}|{version}", dir.display()),
            Ok(ReleaseName::Whole(text)) => format!("={text}"),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn an_at_sign_follows_a_provider() {
        check("example.com/acme/widget@1.4.0", "example.com/acme/widget|1.4.0");
        check("acme/widget@1.4.0", "registry.opentofu.org/acme/widget|1.4.0");
        check("example.com:5000/acme/widget@~> 1.4", "example.com:5000/acme/widget|~> 1.4");
        check("example.com/acme/widget@>= 1.2, < 2.0", "example.com/acme/widget|>= 1.2.0, < 2.0.0");
        check("example.com/acme/widget@1.4", "example.com/acme/widget|1.4.0");
        check("example.com/acme/widget@1.4.0-rc.1+b.2", "example.com/acme/widget|1.4.0-rc.1+b.2");
    }

    #[test]
    fn a_colon_follows_a_repository_or_directory() {
        check("ghcr.io/acme/widget:1.4.0", "ghcr.io/acme/widget|1.4.0");
        check("127.0.0.1:5000/acme/widget:1.4.0-rc.1", "127.0.0.1:5000/acme/widget|1.4.0-rc.1");
        check("[::1]:5000/acme/widget:1.4.0", "[::1]:5000/acme/widget|1.4.0");
        check("ghcr.io/acme/widget:1.4.0_b", "ghcr.io/acme/widget|1.4.0+b");
        check("ghcr.io/acme/widget:1.4.0+b", "ghcr.io/acme/widget|1.4.0+b");
        check("oci:dir:1.4.0", "oci:dir|1.4.0");
        check("oci:C:/dir:1.4.0", "oci:C:/dir|1.4.0");
        check("oci:///srv/x:1.4.0", "oci:///srv/x|1.4.0");
        check("oci:a@b:1.4.0", "oci:a@b|1.4.0");
    }

    #[test]
    fn a_text_without_a_version_is_for_its_reader() {
        for text in [
            "",
            "widget",
            "ghcr.io/acme/widget",
            "127.0.0.1:5000/acme/widget",
            "127.0.0.1:5000",
            "localhost:5000/x",
            "[::1]:5000/x",
            "[::1]/x",
            "oci:",
            "oci:dir",
            "oci:dir:latest",
            "oci:dir:5",
            "oci:C:/dir",
            "oci:C:\\dir",
            "C:\\dist",
            "C:/dist",
            "./dist",
            "https://ghcr.io/acme/widget:1.4.0",
            "oci://ghcr.io/acme/widget:1.4.0",
            "oci::oci://ghcr.io/acme/widget",
            "ada:secret@ghcr.io/acme/widget",
            "ghcr.io/acme/${type}",
        ] {
            check(text, &format!("={text}"));
        }
    }

    #[test]
    fn what_is_no_version_is_named() {
        check("ghcr.io/a/b:latest", "`ghcr.io/a/b:latest` names no version: `latest` is not a version such as 1.4.0");
        check("ghcr.io/a/b:v1.4.0", "`ghcr.io/a/b:v1.4.0` names no version: write it without the v, 1.4.0");
        check("ghcr.io/a/b:1.4", "`ghcr.io/a/b:1.4` names no version: write it in full, 1.4.0");
        check("ghcr.io/a/b:5", "`ghcr.io/a/b:5` names no version: `5` is not a version such as 1.4.0");
        check("oci:dir:v1.4.0", "`oci:dir:v1.4.0` names no version: write it without the v, 1.4.0");
        check("oci:dir:1.4", "`oci:dir:1.4` names no version: write it in full, 1.4.0");
        check("ghcr.io/a/b:", "`ghcr.io/a/b:` names no version after the :");
        check("oci:dir:", "`oci:dir:` names no version after the :");
        check("a/b@", "`a/b@` names no version after the @");
        check("a/b@ ", "`a/b@` names no version after the @");
        let parts = "its parts are versions, with or without an operator, separated by commas";
        check("a/b@latest", &format!("`latest` is not a version constraint: {parts}"));
    }

    #[test]
    fn a_digest_is_not_a_version() {
        let digest = format!("sha256:{}", "0".repeat(64));
        for name in ["ghcr.io/a/b", "ghcr.io/a/b:1.4.0", "oci:dir", "acme/widget"] {
            let text = format!("{name}@{digest}");
            check(&text, &format!("`{text}` names a digest, and a version is wanted"));
        }
    }

    #[test]
    fn a_repository_with_an_at_sign_is_recognised() {
        for name in ["ghcr.io/acme/opentofu-provider-widget", "ghcr.io/widget", "ghcr.io/a/b/c"] {
            let want = format!("`{name}@1.4.0` has an @ after a repository, and a : belongs there");
            check(&format!("{name}@1.4.0"), &want);
        }
        check("oci:dir@1.4.0", "`oci:dir@1.4.0` has an @ after a directory, and a : belongs there");
        for text in ["./dist@1.4.0", "a b@1.4.0"] {
            let got = text.parse::<ReleaseName>();
            assert!(matches!(got, Err(InvalidReleaseName::NotAnAddress(_))), "{text}: {got:?}");
        }
    }

    #[test]
    fn what_stands_before_a_version_must_be_a_repository() {
        for text in ["widget:1.4.0", "ghcr.io/Acme/widget:1.4.0", "./x:1.4.0", "ghcr.io//x:1.4.0", "ghcr.io/A:latest"] {
            let got = text.parse::<ReleaseName>();
            assert!(matches!(got, Err(InvalidReleaseName::NotARepository(_))), "{text}: {got:?}");
        }
    }
}
