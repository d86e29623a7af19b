//! The methods that count without any `provider_installation`: folders of plugins, then the registries.
//!
//! Spec: `OpenTofu` 1.12, provider sources and getproviders' filesystem search; measured on 1.10 to 1.13 (files).

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_types::{Platform, ProviderAddr, Version};

use super::{ConfigFiles, Environment, Method, MethodKind, Os};
use tofu_oci_types::TofuRelease;

use crate::{Pattern, Selector};

/// Every existing folder as a mirror, and `direct` for all providers that no folder has.
pub(super) fn methods(environment: &Environment, files: &dyn ConfigFiles, release: TofuRelease) -> Vec<Method> {
    let mut found = BTreeSet::new();
    let mut methods = Vec::new();
    for path in folders(environment, release).into_iter().filter(|path| files.is_dir(path)) {
        // An unreadable folder has no provider, and stays a method.
        found.extend(providers(environment, files, &path).unwrap_or_default());
        let written = path.to_string_lossy().into_owned();
        methods.push(method(MethodKind::FilesystemMirror { path, written }, Vec::new()));
    }
    let exclude = found.iter().map(Pattern::exactly).collect();
    methods.push(method(MethodKind::Direct { download_retry_count: None }, exclude));
    methods
}

fn method(kind: MethodKind, exclude: Vec<Pattern>) -> Method {
    Method {
        kind,
        include: Vec::new(),
        exclude: exclude.iter().map(ToString::to_string).collect(),
        selector: Selector { include: Vec::new(), exclude },
        file: None,
        place: None,
        span: 0..0,
        dropped: None,
    }
}

/// The folders in their order, whether or not they exist.
fn folders(environment: &Environment, release: TofuRelease) -> Vec<PathBuf> {
    const PLUGINS: &str = "plugins";
    let at = |folder: &Path, parts: &[&str]| environment.join(folder, parts);
    // 1.10 uses the folder in which it was started.
    let own = if release == TofuRelease::V1_10 { &environment.launch_dir } else { &environment.working_dir };
    let mut folders = vec![at(own, &["terraform.d", PLUGINS])];
    if environment.os == Os::Windows {
        if let Some(app_data) = &environment.app_data {
            folders.push(at(app_data, &["terraform.d", PLUGINS]));
            folders.push(at(app_data, &["HashiCorp", "Terraform", PLUGINS]));
        }
        return folders;
    }
    let Some(home) = &environment.home else { return folders };
    folders.push(at(home, &[".terraform.d", PLUGINS]));
    let data_home = environment.var("XDG_DATA_HOME").map(Path::new);
    if let Some(data_home) = data_home {
        let data_home = environment.absolute(&environment.working_dir, data_home);
        folders.push(at(&data_home, &["opentofu", PLUGINS]));
    }
    if environment.os == Os::Mac {
        for library in [home.as_path(), Path::new("/")] {
            folders.push(at(library, &["Library", "Application Support", "io.terraform", PLUGINS]));
        }
        return folders;
    }
    // Relative paths do not count here.
    match data_home.filter(|path| environment.is_absolute(path)) {
        Some(data_home) => folders.push(at(data_home, &["terraform", PLUGINS])),
        None => folders.push(at(home, &[".local", "share", "terraform", PLUGINS])),
    }
    let shared = environment.var("XDG_DATA_DIRS").unwrap_or("/usr/local/share:/usr/share");
    for dir in shared.split(':').map(Path::new).filter(|path| environment.is_absolute(path)) {
        folders.push(at(dir, &["terraform", PLUGINS]));
    }
    folders
}

/// The providers in a folder, in whatever version and for whatever platform:
/// `HOST/NAMESPACE/TYPE/VERSION/PLATFORM/` or `HOST/NAMESPACE/TYPE/terraform-provider-TYPE_VERSION_PLATFORM.zip`.
///
/// # Errors
/// If any folder in it cannot be read.
fn providers(environment: &Environment, files: &dyn ConfigFiles, folder: &Path) -> io::Result<BTreeSet<ProviderAddr>> {
    let mut found = BTreeSet::new();
    let mut open = vec![(folder.to_owned(), Vec::new())];
    while let Some((path, parts)) = open.pop() {
        for name in files.list(&path)? {
            let name = name.to_string_lossy().into_owned();
            let inner = environment.join(&path, &[&name]);
            let is_dir = files.is_dir(&inner);
            let parts: Vec<String> = parts.iter().cloned().chain([name]).collect();
            found.extend(package(&parts, is_dir));
            // A link may be a package, and is not followed to look for more.
            if is_dir && parts.len() < MAX_DEPTH && !files.is_link(&inner) {
                open.push((inner, parts));
            }
        }
    }
    Ok(found)
}

/// How deep a folder is searched. Deeper folders cannot be packages, only unreadable.
const MAX_DEPTH: usize = 5;

/// The provider whose package has this path.
fn package(parts: &[String], is_dir: bool) -> Option<ProviderAddr> {
    let [host, namespace, provider_type, rest @ ..] = parts else { return None };
    let address: ProviderAddr = format!("{host}/{namespace}/{provider_type}").parse().ok()?;
    let (version, platform) = match rest {
        [version, platform] if is_dir => (version.clone(), platform.clone()),
        [file] if !is_dir => {
            let file = file.to_lowercase();
            let prefix = format!("terraform-provider-{}_", address.provider_type());
            let mut parts = file.strip_prefix(&prefix)?.strip_suffix(".zip")?.split('_');
            (parts.next()?.to_owned(), format!("{}_{}", parts.next()?, parts.next()?))
        }
        _ => return None,
    };
    (version.parse::<Version>().is_ok() && platform.parse::<Platform>().is_ok()).then_some(address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, is_dir: bool, want: Option<&str>) {
        let parts: Vec<String> = path.split('/').map(str::to_owned).collect();
        assert_eq!(package(&parts, is_dir).map(|address| address.to_string()).as_deref(), want, "{path}");
    }

    #[test]
    fn two_layouts_hold_packages() {
        let widget = Some("example.com/acme/widget");
        check("example.com/acme/widget/1.0.0/linux_amd64", true, widget);
        check("example.com/acme/widget/1.0.0/linux_amd64", false, None);
        check("Example.com/Acme/widget/1.0.0/linux_amd64", true, widget);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip", false, widget);
        check("example.com/acme/widget/Terraform-Provider-widget_1.0.0_Linux_amd64_more.ZIP", false, widget);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux_amd64.zip", true, None);
        check("example.com/acme/widget/terraform-provider-gadget_1.0.0_linux_amd64.zip", false, None);
        check("example.com/acme/widget/terraform-provider-widget_1.0.0_linux.zip", false, None);
        check("example.com/acme/widget/latest/linux_amd64", true, None);
        check("example.com/acme/widget/1.0.0/linux", true, None);
        check("acme/widget/1.0.0/linux_amd64", true, None);
        check("linux_amd64/terraform-provider-widget_v1.0.0", false, None);
        check("registry.opentofu.org/-/aws/1.0.0/linux_amd64", true, Some("registry.opentofu.org/-/aws"));
    }
}
