//! The configuration files of a folder.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use tofu_oci_types::TextPosition;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{position, problem};
use crate::model::Declared;

/// Most bytes of a file that people write.
pub(crate) const WRITTEN: u64 = 16 << 20;

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
    /// It adds blocks.
    Adds,
    /// It changes the blocks of the other files.
    Overrides,
}

/// The language of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TfSyntax {
    Native,
    Json,
}

/// The configuration files in `dir`, sorted by name; `None` if there is no such folder.
///
/// Spec: `OpenTofu` 1.12, `configs.Parser.ConfigDirFiles`, `IsIgnoredFile`.
pub(crate) fn find(dir: &Path) -> Result<Option<ModuleFiles>, TfConfigError> {
    let failed = |source| TfConfigError::Io { path: dir.to_owned(), source };
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
    Ok(Some(sort_out(dir, &names)))
}

fn sort_out(dir: &Path, names: &[String]) -> ModuleFiles {
    let mut files = ModuleFiles::default();
    for name in names.iter().filter(|name| !ignored(name)) {
        let Some((stem, extension)) = split(name) else { continue };
        let shadow = extension.replace(".tf", ".tofu");
        if extension != shadow && names.contains(&format!("{stem}{shadow}")) {
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

fn split(name: &str) -> Option<(&str, &'static str)> {
    [".tofu.json", ".tf.json", ".tofu", ".tf"]
        .into_iter()
        .find_map(|extension| Some((name.strip_suffix(extension)?, extension)))
}

/// The bytes of a file, at most `limit`; `None` if it does not exist. A device or a pipe, which a module
/// from elsewhere may link to, is not read.
pub(crate) fn bytes(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, TfConfigError> {
    let failed = |source| TfConfigError::Io { path: path.to_owned(), source };
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
        let valid = String::from_utf8_lossy(error.as_bytes().get(..good).unwrap_or_default());
        let at = position(path, &valid, valid.len());
        problem(at, ConfigProblem::Syntax { message: "the text is not UTF-8".to_owned() })
    })
}

/// The language of a file that [`find`] found.
pub(crate) fn syntax(path: &Path) -> TfSyntax {
    if path.extension().is_some_and(|extension| extension == "json") { TfSyntax::Json } else { TfSyntax::Native }
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
}
