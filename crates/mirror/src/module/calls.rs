//! The calls of other modules in a package, and which folder of an archive can be a package of its own.

use std::path::{Path, PathBuf};

use tofu_oci_tfconfig::{OuterCall, PackageModulesError, is_configuration_file, package_modules};
use tofu_oci_types::{Constraints, ProviderAddr, Subdir};

/// What was read of a folder's calls.
pub(super) enum ReadCalls {
    /// The calls that lead to other packages, and the providers that the folder requires as far as that is known.
    Known(Vec<OuterCall>, Vec<(ProviderAddr, Constraints)>),
    /// Why they are not known.
    Unread(String),
}

/// The calls of other packages that a call of `folder` in the unpacked package leads to.
pub(super) fn outer_calls_of(package: &Path, folder: &Subdir) -> ReadCalls {
    if !package.join(folder.as_str()).is_dir() {
        return ReadCalls::Unread(format!("the package has no folder `{folder}`"));
    }
    match package_modules(package, folder.as_str()) {
        Ok(found) => ReadCalls::Known(found.outer, providers_of(&package.join(folder.as_str()))),
        Err(error) => ReadCalls::Unread(error.to_string()),
    }
}

/// The providers that a module and its local modules require; what cannot be read says none.
fn providers_of(folder: &Path) -> Vec<(ProviderAddr, Constraints)> {
    let found = tofu_oci_tfconfig::configuration(&tofu_oci_tfconfig::ConfigFolder::new(folder));
    let requirements = found.map(|found| found.requirements).unwrap_or_default();
    requirements.into_iter().map(|one| (one.address, one.constraints)).collect()
}

/// A call that leads out of a folder, and into the package around it.
pub(super) struct LeavingCall {
    pub(super) at: String,
    pub(super) source_text: String,
}

/// The first call in `folder` of the package that leads to another folder of the same package; `None` if `folder` can be a
/// package of its own. A call that leads out of the whole package is broken as it is, and does not count.
pub(super) fn leaves_folder(package: &Path, folder: &str) -> Option<LeavingCall> {
    let alone = package.join(folder);
    for below in folders_with_modules(&alone) {
        if let Err(PackageModulesError::Escapes { at, source_text }) = package_modules(&alone, &below) {
            let inside = if below.is_empty() { folder.to_owned() } else { format!("{folder}/{below}") };
            if !matches!(package_modules(package, &inside), Err(PackageModulesError::Escapes { .. })) {
                return Some(LeavingCall { at: at.to_string(), source_text });
            }
        }
    }
    None
}

/// The folders below `root` with a file of a configuration, `/` between the segments.
fn folders_with_modules(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Vec<(String, PathBuf)> = vec![(String::new(), root.to_owned())];
    while let Some((name, path)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&path) else { continue };
        let mut has_module = false;
        for entry in entries.flatten() {
            let part = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                let below = if name.is_empty() { part } else { format!("{name}/{part}") };
                open.push((below, entry.path()));
            } else {
                has_module |= is_configuration_file(&part);
            }
        }
        if has_module {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a folder");
        for (name, source) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            let text = if source.is_empty() {
                String::new()
            } else {
                format!("module \"m\" {{\n  source = \"{source}\"\n}}\n")
            };
            std::fs::write(path, text).expect("a file");
        }
        dir
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], want: Option<&str>) {
        let dir = package(files);
        let found = leaves_folder(dir.path(), "x");
        assert_eq!(found.map(|call| format!("{} {}", call.at, call.source_text)).as_deref(), want);
    }

    #[test]
    fn a_folder_that_calls_its_neighbour_cannot_be_a_package() {
        check(&[("x/main.tf", "./y"), ("x/y/main.tf", "")], None);
        check(&[("x/main.tf", "../y"), ("y/main.tf", "")], Some("main.tf:2:12 ../y"));
        check(&[("x/main.tf", ""), ("x/sub/main.tf", "../../y"), ("y/main.tf", "")], Some("sub/main.tf:2:12 ../../y"));
        // It was broken before.
        check(&[("x/main.tf", ""), ("x/examples/main.tf", "../../../y")], None);
        check(&[("x/main.tf", "./gone")], None);
    }
}
