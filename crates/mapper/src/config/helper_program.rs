//! The program of a `credentials_helper` block: `terraform-credentials-NAME` in the folders of plugins.
//!
//! Spec: `OpenTofu` 1.12, cliconfig `DataDirs` and plugin discovery.

use std::path::{Path, PathBuf};

use tofu_oci_types::{Platform, Version};

use super::{ConfigFiles, Environment, Os};

/// Why a `credentials_helper` block has no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoHelperProgram {
    /// No folder of plugins has it.
    #[error("{program} is in no folder of plugins")]
    NotFound { program: String, folders: Vec<PathBuf> },
    /// The folder that has it depends on the working directory.
    #[error("{program} was found in `{}`, a relative folder, and is not run from there", folder.display())]
    Relative {
        program: String,
        /// The folder as `XDG_DATA_HOME` names it.
        folder: PathBuf,
    },
}

/// Finds the program of the helper with this name: the newest version, of equal ones that in the earlier folder.
///
/// # Errors
/// [`NoHelperProgram`]. A program in a relative folder ends the search: a later one may not be the one that was meant.
pub fn helper_program(
    name: &str,
    environment: &Environment,
    files: &dyn ConfigFiles,
    platform: &Platform,
) -> Result<PathBuf, NoHelperProgram> {
    let folders = folders(environment, platform);
    let program = format!("terraform-credentials-{name}");
    let mut newest: Option<(Version, PathBuf)> = None;
    for folder in &folders {
        // Sorted, so that the same program is found in every run.
        let mut entries = files.list(folder).unwrap_or_default();
        entries.sort();
        for entry in entries {
            let path = environment.join(folder, &[&entry.to_string_lossy()]);
            let Some(version) = version(&entry.to_string_lossy(), name).filter(|_| !files.is_dir(&path)) else {
                continue;
            };
            if !environment.is_absolute(folder) {
                return Err(NoHelperProgram::Relative { program, folder: folder.clone() });
            }
            if newest.as_ref().is_none_or(|(known, _)| version.precedence(known).is_gt()) {
                newest = Some((version, path));
            }
        }
    }
    newest.map(|(_, path)| path).ok_or(NoHelperProgram::NotFound { program, folders })
}

/// The version in the name of a file, if it is this helper's: `terraform-credentials-NAME[_vVERSION[_x…]]`. Without
/// a version it is 0.0.0, as in `OpenTofu`.
fn version(file: &str, name: &str) -> Option<Version> {
    let lower = file.strip_prefix("terraform-credentials-")?.to_lowercase();
    let rest = lower.strip_suffix(".exe").unwrap_or(&lower);
    let (found, version) = rest.split_once("_v").unwrap_or((rest, "0.0.0"));
    let version = version.split("_x").next()?;
    if found == name { version.parse().ok() } else { None }
}

/// The folders of plugins in their order, whether or not they exist.
fn folders(environment: &Environment, platform: &Platform) -> Vec<PathBuf> {
    let mut data: Vec<PathBuf> = Vec::new();
    if environment.os == Os::Windows {
        data.extend(environment.app_data.iter().map(|folder| environment.join(folder, &["terraform.d"])));
    } else {
        data.extend(environment.home.iter().map(|home| environment.join(home, &[".terraform.d"])));
        let data_home = environment.var("XDG_DATA_HOME").map(Path::new);
        data.extend(data_home.map(|folder| environment.join(folder, &["opentofu"])));
    }
    let machine = platform.to_string();
    let plugins = |folder: PathBuf| {
        [environment.join(&folder, &["plugins"]), environment.join(&folder, &["plugins", machine.as_str()])]
    };
    data.into_iter().flat_map(plugins).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{MemoryFiles, environment};
    use super::*;

    /// Where the helper `vault` is found, if these files exist.
    #[track_caller]
    fn check(variables: &[(&str, &str)], paths: &[&str], want: &str) {
        let vars = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let environment = Environment { home: Some("/h".into()), vars, ..environment() };
        let mut files = MemoryFiles::default();
        for path in paths {
            files.add(path, "");
        }
        let platform = "linux_amd64".parse().expect("a platform");
        let found = helper_program("vault", &environment, &files, &platform);
        let got = match found {
            Ok(path) => path.display().to_string(),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want, "{paths:?}");
    }

    #[test]
    fn a_helper_is_found_in_the_folders_of_plugins_alone() {
        let data = [("XDG_DATA_HOME", "/d")];
        let missing = "terraform-credentials-vault is in no folder of plugins";
        let plain = "terraform-credentials-vault";
        let home = format!("/h/.terraform.d/plugins/{plain}");
        let machine = format!("/h/.terraform.d/plugins/linux_amd64/{plain}");
        let opentofu = format!("/d/opentofu/plugins/{plain}");
        check(&data, &[&opentofu, &machine, &home], &home);
        check(&data, &[&opentofu, &machine], &machine);
        check(&data, &[&opentofu], &opentofu);
        check(&[], &[&opentofu, "/w/terraform.d/plugins/terraform-credentials-vault"], missing);
        check(&data, &["/h/.terraform.d/plugins/terraform-credentials-other"], missing);
        check(&data, &["/h/.terraform.d/plugins/terraform-credentials-vault/file"], missing);
    }

    #[test]
    fn the_newest_version_of_a_helper_is_run() {
        let plugins = "/h/.terraform.d/plugins";
        let all = ["", "_v1.9.0", "_v1.10.0_x4", "_v2.0.0-rc1", "_vnext"]
            .map(|version| format!("{plugins}/terraform-credentials-vault{version}"));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        check(&[], &all, &format!("{plugins}/terraform-credentials-vault_v2.0.0-rc1"));
        check(&[], &all[..3], &format!("{plugins}/terraform-credentials-vault_v1.10.0_x4"));
        check(&[], &all[..1], &format!("{plugins}/terraform-credentials-vault"));
    }

    #[test]
    fn a_helper_in_a_relative_folder_is_not_run() {
        let refusal = "terraform-credentials-vault was found in `data/opentofu/plugins`, a relative folder, and is not run from there";
        let relative = "data/opentofu/plugins/terraform-credentials-vault";
        check(&[("XDG_DATA_HOME", "data")], &[relative], refusal);
    }
}
