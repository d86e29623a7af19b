//! Which packages a folder has, by the names in it, and what is nearly one: a filesystem mirror, or a folder of
//! plugins.
//!
//! ```text
//! HOST/NAMESPACE/TYPE/VERSION/OS_ARCH/                                       a package as a folder, or a link to one
//! HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_OS_ARCH[_MORE].zip     a package as a zip, or a link to one
//! ```
//!
//! A name of another form is not a package. Links are not followed to look for more packages.
//!
//! Spec: `OpenTofu` 1.12, getproviders, `SearchLocalDirectory`; `testdata/vectors/filesystem_layout.json`.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_types::{Platform, ProviderAddr, Version};

use crate::ConfigFiles;

/// A package that a folder has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub path: PathBuf,
    /// What it is kept as.
    pub form: FolderForm,
}

/// What a folder keeps a package as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FolderForm {
    Unpacked,
    Packed,
}

/// Why a folder could not be searched.
#[derive(Debug, thiserror::Error)]
#[error("cannot read {}: {problem}", path.display())]
pub struct FolderUnread {
    pub path: PathBuf,
    pub problem: io::Error,
}

/// How deep a folder is searched. Deeper folders cannot be packages, only unreadable.
const MAX_DEPTH: usize = 5;

/// The most names that are looked at: a thousand providers with 20 versions for 10 platforms.
const MAX_NAMES: usize = 200_000;

/// The packages in a folder, folders before zips, sorted by their paths. `inside` gives the path of a name in a folder.
///
/// # Errors
/// If any folder in it cannot be read, or if it has more than 200 000 names.
pub fn folder_packages(
    files: &dyn ConfigFiles,
    folder: &Path,
    inside: &dyn Fn(&Path, &OsStr) -> PathBuf,
) -> Result<Vec<FolderPackage>, FolderUnread> {
    let mut found = Vec::new();
    walk(files, folder, inside, &mut |parts, form, path| found.extend(package(parts, form, path)))?;
    found.sort_by(|one, other| (one.form, &one.path).cmp(&(other.form, &other.path)));
    Ok(found)
}

/// What lies in a folder under a name that is nearly that of a package of a provider, and the name that it would have to have.
/// Both are below the folder.
///
/// # Errors
/// As [`folder_packages`].
pub fn nearly_packages(
    files: &dyn ConfigFiles,
    folder: &Path,
    address: &ProviderAddr,
) -> Result<Vec<(String, String)>, FolderUnread> {
    let mut found = Vec::new();
    walk(files, folder, &|folder, name| folder.join(name), &mut |parts, form, path| {
        if package(parts, form, path).is_none() {
            found.extend(meant(parts, form, address).map(|meant| (parts.join("/"), meant)));
        }
    })?;
    found.sort();
    Ok(found)
}

/// Every name in a folder, with those of the folders between.
fn walk(
    files: &dyn ConfigFiles,
    folder: &Path,
    inside: &dyn Fn(&Path, &OsStr) -> PathBuf,
    each: &mut dyn FnMut(&[String], FolderForm, &Path),
) -> Result<(), FolderUnread> {
    let mut names = 0;
    let mut open = vec![(folder.to_owned(), Vec::new())];
    while let Some((path, parts)) = open.pop() {
        let listed = match files.list(&path) {
            Ok(listed) => listed,
            // Another program has removed it meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !parts.is_empty() => continue,
            Err(problem) => return Err(FolderUnread { path, problem }),
        };
        names += listed.len();
        if names > MAX_NAMES {
            let problem = io::Error::other(format!("it has more than {MAX_NAMES} names"));
            return Err(FolderUnread { path: folder.to_owned(), problem });
        }
        for name in listed {
            let inner = inside(&path, &name);
            let is_dir = files.is_dir(&inner);
            let parts: Vec<String> = parts.iter().cloned().chain([name.to_string_lossy().into_owned()]).collect();
            let form = if is_dir { FolderForm::Unpacked } else { FolderForm::Packed };
            each(&parts, form, &inner);
            if is_dir && parts.len() < MAX_DEPTH && !files.is_link(&inner) {
                open.push((inner, parts));
            }
        }
    }
    Ok(())
}

/// Where a package of the provider would be that these names were meant for: one whose version begins with `v`, or that is in
/// another folder.
fn meant(parts: &[String], form: FolderForm, address: &ProviderAddr) -> Option<String> {
    let version = |text: &str| text.strip_prefix('v').unwrap_or(text).parse::<Version>().ok();
    let name = match (form, parts) {
        (FolderForm::Packed, [.., file]) => {
            let file = file.to_lowercase();
            let prefix = format!("terraform-provider-{}_", address.provider_type());
            let mut parts = file.strip_prefix(&prefix)?.strip_suffix(".zip")?.splitn(3, '_');
            let (version, os, rest) = (version(parts.next()?)?, parts.next()?, parts.next()?);
            format!("terraform-provider-{}_{version}_{os}_{rest}.zip", address.provider_type())
        }
        (FolderForm::Unpacked, [.., named, of_version, platform]) if named == address.provider_type() => {
            format!("{}/{}", version(of_version)?, platform.parse::<Platform>().ok()?)
        }
        _ => return None,
    };
    Some(format!("{}/{}/{}/{name}", address.hostname(), address.namespace(), address.provider_type()))
}

/// The package that has these names between the folder and itself.
fn package(parts: &[String], form: FolderForm, path: &Path) -> Option<FolderPackage> {
    let [host, namespace, provider_type, rest @ ..] = parts else { return None };
    let address: ProviderAddr = format!("{host}/{namespace}/{provider_type}").parse().ok()?;
    let (version, platform) = match (form, rest) {
        (FolderForm::Unpacked, [version, platform]) => (version.clone(), platform.clone()),
        (FolderForm::Packed, [file]) => {
            let file = file.to_lowercase();
            let prefix = format!("terraform-provider-{}_", address.provider_type());
            let mut parts = file.strip_prefix(&prefix)?.strip_suffix(".zip")?.split('_');
            (parts.next()?.to_owned(), format!("{}_{}", parts.next()?, parts.next()?))
        }
        _ => return None,
    };
    let (version, platform) = (version.parse().ok()?, platform.parse().ok()?);
    Some(FolderPackage { address, version, platform, path: path.to_owned(), form })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, is_dir: bool) -> Option<FolderPackage> {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        package(&parts, if is_dir { FolderForm::Unpacked } else { FolderForm::Packed }, Path::new(path))
    }

    #[track_caller]
    fn check(path: &str, is_dir: bool, want: Option<&str>) {
        let found = found(path, is_dir).map(|found| format!("{} {} {}", found.address, found.version, found.platform));
        assert_eq!(found.as_deref(), want, "{path}");
    }

    #[test]
    fn two_layouts_hold_packages() {
        let widget = Some("example.com/acme/widget 1.0.0 linux_amd64");
        check("example.com/acme/widget/1.0.0/linux_amd64", true, widget);
        check("example.com/acme/widget/1.0.0/linux_amd64", false, None);
        check("Example.com/Acme/widget/1.0.0/linux_amd64", true, widget);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip", false, widget);
        check("example.com/acme/widget/Terraform-Provider-widget_1.0.0_Linux_amd64_more.ZIP", false, widget);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip", true, None);
        check("example.com/acme/widget/terraform-provider-gadget_1.0.0_linux_amd64.zip", false, None);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux.zip", false, None);
        check("example.com/acme/widget/.terraform-provider-widget_1.0.0_linux_amd64.zip", false, None);
        check("example.com/acme/widget/1.0.0.json", false, None);
        check("example.com/acme/widget/latest/linux_amd64", true, None);
        check("example.com/acme/widget/1.0.0/linux", true, None);
        check("acme/widget/1.0.0/linux_amd64", true, None);
        check("linux_amd64/terraform-provider-widget_v1.0.0", false, None);
        let legacy = Some("registry.opentofu.org/-/aws 1.0.0 linux_amd64");
        check("registry.opentofu.org/-/aws/1.0.0/linux_amd64", true, legacy);
    }

    #[test]
    fn names_that_are_nearly_right_were_passed_over_without_a_word() {
        let address: ProviderAddr = "example.com/acme/zap".parse().unwrap();
        let meant = |path: &str, form| meant(&path.split('/').map(str::to_owned).collect::<Vec<_>>(), form, &address);
        let zip = "example.com/acme/zap/terraform-provider-zap_1.2.0_linux_amd64.zip";
        for near in [
            "example.com/acme/zap/terraform-provider-zap_v1.2.0_linux_amd64.zip",
            "terraform-provider-zap_1.2.0_linux_amd64.zip",
            "acme/zap/Terraform-Provider-zap_v1.2.0_linux_amd64.zip",
        ] {
            assert_eq!(meant(near, FolderForm::Packed).as_deref(), Some(zip), "{near}");
        }
        for near in ["example.com/acme/zap/v1.2.0/linux_amd64", "zap/1.2.0/linux_amd64"] {
            let want = Some("example.com/acme/zap/1.2.0/linux_amd64");
            assert_eq!(meant(near, FolderForm::Unpacked).as_deref(), want, "{near}");
        }
        for other in ["terraform-provider-gap_1.2.0_linux_amd64.zip", "terraform-provider-zap_latest_linux_amd64.zip"] {
            assert_eq!(meant(other, FolderForm::Packed), None, "{other}");
        }
        assert_eq!(meant("example.com/acme/zap/latest/linux_amd64", FolderForm::Unpacked), None);
    }

    #[test]
    fn the_measured_names() {
        tofu_oci_vectors::Vectors::open("filesystem_layout.json").each("entries", |entry| {
            let (path, want) = (entry["path"].as_str().unwrap(), &entry["result"]);
            let found = found(path, entry["is_dir"].as_bool().unwrap());
            assert_eq!(found.is_some(), want.is_object(), "{path}");
            let Some(found) = found else { return };
            let form = if found.form == FolderForm::Packed { "packed" } else { "unpacked" };
            let own =
                [found.address.to_string(), found.version.to_string(), found.platform.to_string(), form.to_owned()];
            assert_eq!(own, ["provider", "version", "platform", "form"].map(|name| want[name].as_str().unwrap()));
        });
    }
}
