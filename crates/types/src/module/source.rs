//! The `source` argument of a `module` block, by its kind.

use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use super::address::{InvalidModuleAddr, ModuleAddr};
use super::oci::OciModuleSource;
use super::oci_fault::InvalidOciModuleSource;
use super::other::OtherModuleSource;
use super::subdir::{self, InvalidSubdir, Subdir};
use crate::masked;

/// Where a module comes from.
///
/// `FromStr` tries the kinds in `OpenTofu`'s order: a local folder, a module of a registry, the rest. `Display` gives
/// the full form without secrets.
///
/// Spec: `OpenTofu` 1.12, addrs `ParseModuleSource`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleSource {
    /// A folder of the package that contains the module block.
    Local(LocalModulePath),
    /// A module of a registry, and the folder in its package.
    Registry(ModuleAddr, Subdir),
    /// A package in an OCI repository.
    Oci(OciModuleSource),
    /// Anything else that can be fetched.
    Other(OtherModuleSource),
}

/// A folder relative to the module that names it, cleaned: begins with `./` or `../`, with `/` between its segments on
/// every system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalModulePath(String);

/// A text that is not a module source. It quotes no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum InvalidModuleSource {
    /// Three or four parts, as of a module of a registry, and one of them is wrong.
    #[error(transparent)]
    #[fault(of = _0)]
    Registry(InvalidModuleAddr),
    /// An invalid OCI repository.
    #[error(transparent)]
    #[fault(of = _0)]
    Oci(InvalidOciModuleSource),
    #[error("`{input}` is not a module source: {cause}")]
    #[fault(code = "subdir-escapes")]
    Subdir { input: String, cause: InvalidSubdir },
    #[error("`{input}` is not a module source; a folder begins with ./ or ../")]
    #[fault(code = "unknown-source")]
    Unknown { input: String },
}

impl ModuleSource {
    /// The form for people: a module of the default registry without its host.
    pub fn for_display(&self) -> String {
        match self {
            Self::Registry(address, subdir) => format!("{}{}", address.for_display(), subdir.suffix()),
            other => other.to_string(),
        }
    }
}

impl LocalModulePath {
    fn new(text: &str) -> Self {
        let clean = subdir::clean(&text.replace('\\', "/"));
        // So `./` is `./.` and `../` is `./..`, as the original writes them.
        Self(if clean.starts_with("../") { clean } else { format!("./{clean}") })
    }

    /// The whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for ModuleSource {
    type Err = InvalidModuleSource;

    fn from_str(input: &str) -> Result<Self, InvalidModuleSource> {
        if ["./", "../", ".\\", "..\\"].iter().any(|prefix| input.starts_with(prefix)) {
            return Ok(Self::Local(LocalModulePath::new(input)));
        }
        if OciModuleSource::is_meant_by(input) {
            return input.parse().map(Self::Oci).map_err(InvalidModuleSource::Oci);
        }
        let (package, folder) = subdir::split(input);
        let subdir =
            Subdir::new(folder).map_err(|cause| InvalidModuleSource::Subdir { input: masked(input), cause })?;
        let not_registry = match package.parse() {
            Ok(address) => return Ok(Self::Registry(address, subdir)),
            Err(error) => error,
        };
        if let Some(other) = OtherModuleSource::detect(&package, subdir) {
            return Ok(Self::Other(other));
        }
        // Three or four parts were meant for a registry.
        Err(match package.split('/').count() {
            3 | 4 => InvalidModuleSource::Registry(not_registry),
            _ => InvalidModuleSource::Unknown { input: masked(input) },
        })
    }
}

impl fmt::Display for LocalModulePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for ModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(path) => path.fmt(f),
            Self::Registry(address, subdir) => write!(f, "{address}{}", subdir.suffix()),
            Self::Oci(source) => source.fmt(f),
            Self::Other(source) => source.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<(&str, &str), &str>) {
        let got = input.parse::<ModuleSource>();
        let got = got.as_ref().map(|source| {
            let kind = match source {
                ModuleSource::Local(_) => "local",
                ModuleSource::Registry(..) => "registry",
                ModuleSource::Oci(_) => "oci",
                ModuleSource::Other(_) => "other",
            };
            (kind, source.to_string())
        });
        let got = got.as_ref().map(|(kind, text)| (*kind, text.as_str())).map_err(|error| error.code());
        assert_eq!(got, want, "{input:?}");
    }

    #[test]
    fn folders_begin_with_dots_and_are_cleaned() {
        check("./a//b/../c", Ok(("local", "./a/c")));
        check("../a/../..", Ok(("local", "../..")));
        check(".\\a\\b", Ok(("local", "./a/b")));
        check("..\\a", Ok(("local", "../a")));
        check("./", Ok(("local", "./.")));
        check("../", Ok(("local", "./..")));
        check("./a?b//c", Ok(("local", "./a?b/c")));
        check(".", Err("unknown-source"));
        check("..", Err("unknown-source"));
        check("a", Err("unknown-source"));
        check("", Err("unknown-source"));
    }

    #[test]
    fn what_reads_as_a_module_of_a_registry_is_one() {
        check("acme/network/aws", Ok(("registry", "registry.opentofu.org/acme/network/aws")));
        check("acme/network/aws//a//b", Ok(("registry", "registry.opentofu.org/acme/network/aws//a/b")));
        check("example.com/acme/network/aws//..", Err("subdir-escapes"));
        check("acme/network/AWS", Err("invalid-target"));
        check("acme/network", Err("unknown-source"));
    }

    #[test]
    fn the_rest_is_what_something_could_fetch() {
        for source in [
            "git::https://example.com/network.git?ref=v1",
            "https://example.com/network.zip",
            "github.com/acme/network",
            "github.com/acme/network//sub?ref=v1",
            "bitbucket.org/acme/network",
            "git@github.com:acme/network.git//sub",
            "s3::https://s3-eu-west-1.amazonaws.com/bucket/network.zip",
            "bucket.s3.eu-west-1.amazonaws.com/network.zip",
            "www.googleapis.com/storage/v1/bucket/network.zip",
            "/usr/share/network",
            "git::oci://example.com/a",
            // No way to fetch is called `localhost`, which shows when it is fetched.
            "localhost:8080/a/b/c",
        ] {
            check(source, Ok(("other", source)));
        }
        check("github.com/acme", Err("unknown-source"));
        check("git::github.com/acme/network//../x", Err("subdir-escapes"));
        check("me@example.com:network", Err("unknown-source"));
        check("example.amazonaws.com.evil/x", Err("unknown-source"));
    }

    #[test]
    fn errors_say_what_to_write_and_no_secret() {
        let error = |input: &str| input.parse::<ModuleSource>().expect_err("no source").to_string();
        insta::assert_snapshot!(error("network"), @"`network` is not a module source; a folder begins with ./ or ../");
        insta::assert_snapshot!(error("localhost/a/b/c"), @"`localhost/a/b/c` is not a module of a registry: the host must contain a dot");
        insta::assert_snapshot!(error("1u:hunter2@x/a/b/c"), @"`***@x/a/b/c` is not a module of a registry: the host is not valid: after the colon there must be a port number");
        let source: ModuleSource = "https://u:hunter2@x/a?token=hunter2".parse().expect("a source");
        assert!(!format!("{source} {source:?}").contains("hunter2"));
    }
}
