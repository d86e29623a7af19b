//! The configuration files of a folder, and which of its tests count.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use tofu_oci_disk::FileError;
use tofu_oci_hcl::HclSyntax;
use tofu_oci_hcl::template::native_text;
use tofu_oci_types::TextPosition;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{position, problem};
use crate::model::Declared;

/// Most bytes of a file that people write.
pub(crate) const WRITTEN: u64 = 16 << 20;

const EXTENSIONS: [&str; 4] = [".tofu.json", ".tf.json", ".tofu", ".tf"];
const TEST_EXTENSIONS: [&str; 4] = [".tofutest.json", ".tftest.json", ".tofutest.hcl", ".tftest.hcl"];

/// Whether a file is named as one of a configuration.
pub fn is_configuration_file(name: &str) -> bool {
    EXTENSIONS.iter().any(|extension| name.ends_with(extension))
}

/// The files of one module, in the order in which they are read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct ModuleFiles {
    /// Files that add to each other.
    pub(crate) primary: Vec<PathBuf>,
    /// Files that override the others.
    pub(crate) overrides: Vec<PathBuf>,
}

impl ModuleFiles {
    /// Whether there is no file at all.
    pub(crate) fn is_empty(&self) -> bool {
        self.primary.is_empty() && self.overrides.is_empty()
    }
}

/// What a file does to the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    Adds,
    /// It changes the blocks of the other files.
    Overrides,
    /// It tests the module.
    Tests,
}

/// The configuration files in `dir`, sorted by name; `None` if there is no such folder.
///
/// Spec: `OpenTofu` 1.12, `configs.Parser.ConfigDirFiles`, `IsIgnoredFile`.
pub(crate) fn find(dir: &Path) -> Result<Option<ModuleFiles>, TfConfigError> {
    Ok(names(dir)?.map(|names| sort_out(dir, &names)))
}

/// The test files of the configuration in `dir`, by their paths in it: those beside it and those in the folder `tests`.
///
/// Spec: `OpenTofu` 1.12, `configs.Parser.dirFiles`. Files in folders below do not count.
pub(crate) fn tests(dir: &Path, tests: &Path) -> Result<BTreeSet<PathBuf>, TfConfigError> {
    let mut found = BTreeSet::new();
    for folder in [tests, Path::new("")] {
        let place = dir.join(folder);
        let names = names(&place)?.unwrap_or_default();
        if place.is_file() {
            return Err(TfConfigError::from(FileError::new(
                "read",
                place,
                io::Error::from(io::ErrorKind::NotADirectory),
            )));
        }
        let is_test = |name: &&String| {
            let split = split(name, &TEST_EXTENSIONS).filter(|_| !ignored(name));
            split.is_some_and(|(stem, extension)| !is_shadowed(stem, extension, &names))
        };
        found.extend(names.iter().filter(is_test).map(|name| clean(&folder.join(name))));
    }
    Ok(found)
}

/// The names of the files in a folder, sorted; `None` if there is no such folder.
pub(crate) fn names(dir: &Path) -> Result<Option<Vec<String>>, TfConfigError> {
    let failed = |source| TfConfigError::from(FileError::new("read", dir, source));
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if let Ok(name) = entry.file_name().into_string()
            && !entry.path().is_dir()
        {
            names.push(name);
        }
    }
    names.sort();
    Ok(Some(names))
}

fn sort_out(dir: &Path, names: &[String]) -> ModuleFiles {
    let mut files = ModuleFiles::default();
    for name in names.iter().filter(|name| !ignored(name)) {
        let Some((stem, extension)) = split(name, &EXTENSIONS) else { continue };
        if is_shadowed(stem, extension, names) {
            continue;
        }
        let list =
            if stem == "override" || stem.ends_with("_override") { &mut files.overrides } else { &mut files.primary };
        list.push(dir.join(name));
    }
    files
}

fn ignored(name: &str) -> bool {
    name.starts_with('.') || name.ends_with('~') || (name.starts_with('#') && name.ends_with('#'))
}

fn split<'a>(name: &'a str, extensions: &[&'static str]) -> Option<(&'a str, &'static str)> {
    extensions.iter().find_map(|extension| Some((name.strip_suffix(extension)?, *extension)))
}

/// Whether a file for `OpenTofu` alone takes the place of this one.
fn is_shadowed(stem: &str, extension: &str, names: &[String]) -> bool {
    let shadow = extension.replace(".tf", ".tofu");
    extension != shadow && names.contains(&format!("{stem}{shadow}"))
}

/// The bytes of a file, at most `limit`; `None` if it does not exist. A device or a pipe, which a module
/// from elsewhere may link to, is not read.
pub(crate) fn bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, TfConfigError> {
    let failed = |source| TfConfigError::from(FileError::new("read", path, source));
    let refused = |why| Err(problem(Declared { path: path.to_owned(), at: TextPosition::START }, why));
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(failed(error)),
    };
    if !metadata.is_file() && !metadata.is_dir() {
        return refused(ConfigProblem::NoFile);
    }
    let mut bytes = Vec::new();
    tofu_oci_disk::open_file(path).and_then(|file| file.take(limit + 1).read_to_end(&mut bytes)).map_err(failed)?;
    if bytes.len() as u64 > limit {
        return refused(ConfigProblem::TooLarge { limit });
    }
    Ok(Some(bytes))
}

/// The same as text.
pub(crate) fn text(path: &Path, limit: u64) -> Result<Option<String>, TfConfigError> {
    let Some(bytes) = bytes(path, limit)? else { return Ok(None) };
    String::from_utf8(bytes).map(Some).map_err(|error| {
        let good = error.utf8_error().valid_up_to();
        not_utf8(path, &String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default()))
    })
}

/// The text of a file that is not written anew: HCL takes any bytes in comments and in JSON's texts.
pub(crate) fn source(path: &Path) -> Result<Option<String>, TfConfigError> {
    let Some(bytes) = bytes(path, WRITTEN)? else { return Ok(None) };
    let text = match syntax(path) {
        HclSyntax::Json => String::from_utf8_lossy(&bytes).into_owned(),
        HclSyntax::Native => native_text(bytes).map_err(|valid| not_utf8(path, &valid))?,
    };
    Ok(Some(text))
}

fn not_utf8(path: &Path, valid: &str) -> TfConfigError {
    let at = position(path, valid, valid.len());
    problem(at, ConfigProblem::Syntax { message: "the text is not UTF-8".to_owned() })
}

/// The language of a file that [`find`] found.
pub(crate) fn syntax(path: &Path) -> HclSyntax {
    if path.extension().is_some_and(|extension| extension == "json") { HclSyntax::Json } else { HclSyntax::Native }
}

/// The path without `.` and with `..` taken literally, as `OpenTofu` joins folders.
pub(crate) fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if matches!(cleaned.components().next_back(), Some(Component::Normal(_))) => {
                cleaned.pop();
            }
            other => cleaned.push(other),
        }
    }
    cleaned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(names: &str, want: &str) {
        let names: Vec<String> = names.split_whitespace().map(str::to_owned).collect();
        let files = sort_out(Path::new(""), &names);
        let text =
            |paths: &[PathBuf]| paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(format!("{} | {}", text(&files.primary), text(&files.overrides)), want);
    }

    #[test]
    fn sorts_files_as_opentofu_does() {
        check("a.tf b.tf.json c.tofu d.tofu.json e.txt f.tftest.hcl", "a.tf b.tf.json c.tofu d.tofu.json | ");
        check("a.tf a.tofu b.tf.json b.tofu.json", "a.tofu b.tofu.json | ");
        check("a.tf a.tofu.json", "a.tf a.tofu.json | ");
        check("a.tf a_override.tf override.tf.json", "a.tf | a_override.tf override.tf.json");
        check(".hidden.tf a.tf~ #a.tf# a.tf", "a.tf | ");
    }

    #[test]
    fn folders_are_joined_literally() {
        for (path, want) in
            [("./a/./b", "a/b"), ("a/../b", "b"), ("a/..", ""), ("../a/../../b", "../../b"), ("/x/../a", "/a")]
        {
            assert_eq!(clean(Path::new(path)), Path::new(want));
        }
    }
}
