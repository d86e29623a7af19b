//! Module sources that are neither folders, nor registries, nor OCI repositories.

use std::fmt;

use super::subdir::Subdir;
use crate::masked;

/// A source that something else fetches: git, an archive at a URL, a bucket, an absolute folder.
///
/// Kept as written and not interpreted. `Display` and `Debug` show no user information and no argument that could be a
/// secret.
///
/// Spec: `OpenTofu` 1.12, getmodules; hashicorp/go-getter's detectors.
#[derive(Clone, PartialEq, Eq)]
pub struct OtherModuleSource {
    package: String,
    subdir: Subdir,
}

impl OtherModuleSource {
    /// `None` if the package's address does not look like something to fetch.
    pub(super) fn detect(package: &str, subdir: Subdir) -> Option<Self> {
        let address = match package.split_once("::") {
            Some((way, rest)) if !way.is_empty() && way.bytes().all(|byte| byte.is_ascii_alphanumeric()) => rest,
            _ => package,
        };
        is_fetchable(address).then(|| Self { package: package.to_owned(), subdir })
    }

    /// The package's address as written, without the folder. It may contain secrets.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The folder in the package, as written after `//`.
    pub fn subdir(&self) -> &Subdir {
        &self.subdir
    }
}

fn is_fetchable(address: &str) -> bool {
    let segments = address.split('?').next().unwrap_or_default().split('/').count();
    has_scheme(address)
        || (address.starts_with("github.com/") && segments >= 3)
        || is_git_over_ssh(address)
        || address.starts_with("bitbucket.org/")
        || (address.contains(".googleapis.com/") && address.split('/').count() >= 5)
        || is_bucket(address)
        || address.starts_with('/')
}

/// `SCHEME:…`
fn has_scheme(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !address.bytes().any(|byte| byte.is_ascii_control())
}

/// `git@HOST:PATH`
fn is_git_over_ssh(address: &str) -> bool {
    let Some((host, path)) = address.strip_prefix("git@").and_then(|rest| rest.split_once(':')) else { return false };
    !host.is_empty() && !path.strip_prefix('/').unwrap_or(path).is_empty()
}

/// `BUCKET.s3.REGION.amazonaws.com/…` and the older forms.
fn is_bucket(address: &str) -> bool {
    if !address.contains(".amazonaws.com/") {
        return false;
    }
    let labels: Vec<&str> = address.split('/').next().unwrap_or_default().split('.').collect();
    match labels[..] {
        [_, _, _] | [_, _, _, _] => true,
        [_, service, _, _, _] => service == "s3",
        _ => false,
    }
}

impl fmt::Display for OtherModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = masked(&self.package);
        let (place, arguments) = shown.split_at(shown.find('?').unwrap_or(shown.len()));
        write!(f, "{place}{}{arguments}", self.subdir.suffix())
    }
}

impl fmt::Debug for OtherModuleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
