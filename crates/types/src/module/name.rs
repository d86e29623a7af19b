//! What an argument names as a module: `oci://REPOSITORY?tag=1.4.0`, `HOST/NS/NAME/SYSTEM@CONSTRAINT`, `oci:DIR:1.4.0`,
//! `git::https://…`.

use std::path::PathBuf;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use super::address::ModuleAddr;
use super::git::{GitModuleSource, InvalidGitModuleSource};
use super::oci::{Arguments, OciModuleSource};
use super::oci_fault::InvalidOciModuleSource;
use super::source::{InvalidModuleSource, ModuleSource};
use super::subdir::{self, InvalidSubdir, Subdir};
use crate::masked;
use crate::{Constraints, InvalidConstraints, Reference, Tag, Version};

/// A text that names a module, or all versions of one.
///
/// ```text
/// oci://ghcr.io/acme/network//sub?tag=1.4.0                  Oci
/// registry.example.com/acme/network/aws//sub@'~> 1.4'        Registry
/// oci:DIR//sub?tag=1.4.0   oci:DIR?digest=sha256:…   oci:DIR:1.4.0   Layout
/// git::https://example.com/network.git//sub?ref=v1.4.0   github.com/acme/network   git@HOST:PATH   git::USER@HOST:PATH   Git
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModuleName {
    /// A package in an OCI repository.
    Oci(OciModuleSource),
    /// A package in a git repository.
    Git(GitModuleSource),
    /// A module of a registry.
    Registry {
        address: ModuleAddr,
        /// The folder in its package.
        subdir: Subdir,
        /// What its version must meet; empty if nothing stands after an `@`.
        constraints: Constraints,
    },
    /// A package in an OCI image layout directory.
    Layout {
        dir: PathBuf,
        /// The folder in the package.
        subdir: Subdir,
        /// The package's manifest: the tag `latest` if the text names no tag.
        reference: Reference,
    },
}

/// A text that names no module. It quotes no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum InvalidModuleName {
    #[error(transparent)]
    #[fault(of = _0)]
    Source(InvalidModuleSource),
    /// A git repository that must not be fetched.
    #[error(transparent)]
    #[fault(of = _0)]
    Git(InvalidGitModuleSource),
    /// The text after the `@` is not a constraint.
    #[error(transparent)]
    #[fault(of = _0)]
    Constraints(InvalidConstraints),
    /// The arguments of a directory are invalid.
    #[error(transparent)]
    #[fault(of = _0)]
    Layout(InvalidOciModuleSource),
    /// The folder after `//` leads out of the package.
    #[error("`{input}` names no module: {cause}")]
    #[fault(code = "subdir-escapes")]
    Subdir { input: String, cause: InvalidSubdir },
    /// Nothing stands after `oci:`.
    #[error("`{input}` names no directory")]
    #[fault(code = "unknown-source")]
    NoDirectory { input: String },
    #[error("`{input}` is neither a module in a repository nor one of a registry")]
    #[fault(code = "unknown-source")]
    OtherKind { input: String },
}

impl ModuleName {
    /// The folder in the package.
    pub fn subdir(&self) -> &Subdir {
        match self {
            Self::Oci(source) => source.subdir(),
            Self::Git(source) => source.subdir(),
            Self::Registry { subdir, .. } | Self::Layout { subdir, .. } => subdir,
        }
    }
}

impl FromStr for ModuleName {
    type Err = InvalidModuleName;

    fn from_str(text: &str) -> Result<Self, InvalidModuleName> {
        if let Some(rest) = text.strip_prefix("oci:").filter(|rest| is_path(rest)) {
            return layout(text, rest);
        }
        if let Some((name, constraint)) = text.rsplit_once('@')
            && let Ok(ModuleSource::Registry(address, subdir)) = name.parse()
        {
            let constraints = constraint.parse().map_err(InvalidModuleName::Constraints)?;
            return Ok(Self::Registry { address, subdir, constraints });
        }
        if let Some(git) = GitModuleSource::of_person(text) {
            return git.map(Self::Git).map_err(InvalidModuleName::Git);
        }
        match text.parse() {
            Ok(ModuleSource::Oci(source)) => Ok(Self::Oci(source)),
            Ok(ModuleSource::Registry(address, subdir)) => {
                Ok(Self::Registry { address, subdir, constraints: Constraints::any() })
            }
            Ok(ModuleSource::Other(source)) => match GitModuleSource::of(&source) {
                Some(git) => git.map(Self::Git).map_err(InvalidModuleName::Git),
                None => Err(InvalidModuleName::OtherKind { input: masked(text) }),
            },
            Ok(ModuleSource::Local(_)) => Err(InvalidModuleName::OtherKind { input: masked(text) }),
            Err(error) => Err(InvalidModuleName::Source(error)),
        }
    }
}

/// Whether what follows `oci:` is a path: `oci://HOST` is an address, `oci:///srv` is not, and `oci::` begins one.
fn is_path(rest: &str) -> bool {
    !rest.starts_with(':') && (!rest.starts_with("//") || rest.starts_with("///"))
}

fn layout(text: &str, rest: &str) -> Result<ModuleName, InvalidModuleName> {
    let (path, arguments) = rest.split_once('?').unwrap_or((rest, ""));
    // The slashes at its beginning belong to the path.
    let start = path.len() - path.trim_start_matches('/').len();
    let (head, tail) = path.split_at(start);
    let (inner, folder) = subdir::split(tail);
    let folder = Subdir::new(folder).map_err(|cause| InvalidModuleName::Subdir { input: masked(text), cause })?;
    let dir = format!("{head}{inner}");
    let reference = Arguments::parse(arguments)
        .and_then(|arguments| arguments.refuse_archive("").and_then(|()| arguments.reference()))
        .map_err(|fault| InvalidModuleName::Layout(InvalidOciModuleSource::new(text, fault)))?;
    let (dir, reference) = match dir.rsplit_once(':') {
        Some((dir, version)) if arguments.is_empty() && !dir.is_empty() => match tag_in_full(version) {
            Some(tag) => (dir.to_owned(), Reference::Tag(tag)),
            None => (format!("{dir}:{version}"), reference),
        },
        _ => (dir, reference),
    };
    if dir.is_empty() {
        return Err(InvalidModuleName::NoDirectory { input: masked(text) });
    }
    Ok(ModuleName::Layout { dir: dir.into(), subdir: folder, reference })
}

/// The tag of a version that is written in full. A directory may have any other name.
fn tag_in_full(text: &str) -> Option<Tag> {
    let plain = text.replace('_', "+");
    let version: Version = plain.parse().ok()?;
    if version.to_string() == plain { Tag::for_version(&version).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<&str, &str>) {
        let got = text.parse::<ModuleName>().map(|name| match name {
            ModuleName::Oci(source) => source.to_string(),
            ModuleName::Git(source) => source.to_string(),
            ModuleName::Registry { address, subdir, constraints } => format!("{address} //{subdir} @{constraints}"),
            ModuleName::Layout { dir, subdir, reference } => format!("{} //{subdir} {reference}", dir.display()),
        });
        assert_eq!(got.as_deref().map_err(InvalidModuleName::code), want, "{text}");
    }

    #[test]
    fn modules_of_a_registry_may_have_a_constraint() {
        check("example.com/acme/network/aws", Ok("example.com/acme/network/aws // @"));
        check("example.com/acme/network/aws@~> 1.4", Ok("example.com/acme/network/aws // @~> 1.4"));
        check("example.com/acme/network/aws@", Ok("example.com/acme/network/aws // @"));
        check("acme/network/aws//sub@1.4.0", Ok("registry.opentofu.org/acme/network/aws //sub @1.4.0"));
        check("example.com/acme/network/aws@v1", Err("v-prefix"));
        check("example.com/acme/network", Err("part-missing"));
    }

    #[test]
    fn repositories_are_written_as_in_a_configuration() {
        check("oci://ghcr.io/acme/network//sub?tag=1.4.0", Ok("oci://ghcr.io/acme/network//sub?tag=1.4.0"));
        check("oci://ghcr.io/acme/network", Ok("oci://ghcr.io/acme/network"));
        check("oci://ghcr.io/acme/network:1.4.0", Err("invalid-repository"));
        check("oci://ghcr.io/acme/network@sha256:00", Err("invalid-repository"));
        check("git::https://example.com/a.git", Ok("git::https://example.com/a.git"));
        check("git::https://example.com/a.git?sshkey=AAAA", Err("git-ssh-key"));
        check("./network", Err("unknown-source"));
        check("hg::https://example.com/a", Err("unknown-source"));
        check("git@github.com:acme/network.git", Ok("git::ssh://git@github.com/acme/network.git"));
        check("network", Err("unknown-source"));
    }

    #[test]
    fn an_address_of_ssh_may_have_any_user() {
        check(
            "git::acme-1@ghe.example.com:acme/net.git//sub?ref=v1",
            Ok("git::ssh://***@ghe.example.com/acme/net.git//sub?ref=v1"),
        );
        check("git::git@example.com:/a.git", Ok("git::ssh://git@example.com/a.git"));
        check("git::-x@example.com:a.git", Err("git-address"));
        check("git::u;id@example.com:a.git", Err("git-address"));
        check("git::u@-oProxyCommand=x:a.git", Err("git-address"));
        check("git::u@example.com:a.git//../x", Err("git-address"));
        // Without `git::` it is no source for OpenTofu either.
        check("acme@example.com:a.git", Err("unknown-source"));
    }

    #[test]
    fn a_directory_may_have_a_tag_a_digest_and_a_folder() {
        check("oci:lay", Ok("lay // latest"));
        check("oci:lay:1.4.0", Ok("lay // 1.4.0"));
        check("oci:lay:1.4.0_b1", Ok("lay // 1.4.0_b1"));
        check("oci:lay:main", Ok("lay:main // latest"));
        check("oci:lay?tag=main", Ok("lay // main"));
        check("oci:lay//sub?tag=main", Ok("lay //sub main"));
        check("oci:../a/lay//sub/x", Ok("../a/lay //sub/x latest"));
        check("oci:///srv/lay//sub", Ok("///srv/lay //sub latest"));
        check("oci:/srv/lay", Ok("/srv/lay // latest"));
        check("oci:lay?tag=a&digest=b", Err("invalid-digest"));
        check("oci:lay?tag=", Err("empty-tag"));
        check("oci:lay?ref=x", Err("unsupported-argument"));
        check("oci:lay.zip?tag=x", Ok("lay.zip // x"));
        check("oci:lay?checksum=x", Err("checksum-argument"));
        check("oci:lay//../x", Err("subdir-escapes"));
        check("oci:", Err("unknown-source"));
        check("oci:?tag=x", Err("unknown-source"));
    }
}
