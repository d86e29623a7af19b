//! The methods that count without any `provider_installation`: folders of plugins, then the registries.
//!
//! Spec: `OpenTofu` 1.12, provider sources and getproviders' filesystem search; measured on 1.10 to 1.13 (files).

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use tofu_oci_types::TofuRelease;

use super::{ConfigFiles, Environment, Method, MethodKind, Os};
use crate::{Pattern, Selector, folder_packages};

/// Every existing folder as a mirror, and `direct` for all providers that no folder has.
pub(super) fn methods(environment: &Environment, files: &dyn ConfigFiles, release: TofuRelease) -> Vec<Method> {
    let mut found = BTreeSet::new();
    let mut methods = Vec::new();
    for path in folders(environment, release).into_iter().filter(|path| files.is_dir(path)) {
        // An unreadable folder has no provider, and stays a method.
        let inside = |folder: &Path, name: &OsStr| environment.join(folder, &[&name.to_string_lossy()]);
        let packages = folder_packages(files, &path, &inside).unwrap_or_default();
        found.extend(packages.into_iter().map(|package| package.address));
        let written = path.to_string_lossy().into_owned();
        methods.push(method(MethodKind::FilesystemMirror { path, written }, Vec::new()));
    }
    let exclude = found.iter().map(Pattern::exactly).collect();
    methods.push(method(MethodKind::Direct { download_retry_count: None }, exclude));
    methods
}

pub(super) fn method(kind: MethodKind, exclude: Vec<Pattern>) -> Method {
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
