//! From the root module to the files of all modules that are folders of the configuration.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use tofu_oci_disk::FileError;
use tofu_oci_types::{LocalModulePath, ModuleSource};

use super::source_call::{self, CallSource, SourceCall};
use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::problem;
use crate::files::{self, ModuleFiles, clean};
use crate::model::Declared;

/// More folders than this are a mistake.
const LIMIT: usize = 5000;

/// A configuration file with its calls of modules.
#[derive(Clone, Debug)]
pub struct CallFile {
    /// The file as it was found, below the folder that was named.
    pub path: PathBuf,
    /// The file itself: `path` may be a link.
    pub(super) place: PathBuf,
    /// Its text, with a byte order mark if it has one.
    pub(super) text: String,
    /// Its calls, in the order of the text.
    pub(super) calls: Vec<SourceCall>,
}

impl CallFile {
    /// Its text, with a byte order mark if it has one.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its calls, in the order of the text.
    pub fn calls(&self) -> &[SourceCall] {
        &self.calls
    }

    /// The file itself, whatever links lead to it: equal for equal files.
    pub fn place(&self) -> &Path {
        &self.place
    }

    pub(super) fn read(path: &Path) -> Result<Self, TfConfigError> {
        let failed = |source| TfConfigError::from(FileError::new("read", path, source));
        let place = std::fs::canonicalize(path).map_err(failed)?;
        let gone = || failed(std::io::ErrorKind::NotFound.into());
        let text = files::text(&place, files::WRITTEN).map_err(|error| error.at_path(path))?.ok_or_else(gone)?;
        // `a/../b` is shown as `b`, unless a link leads elsewhere.
        let short = clean(path);
        let path = if std::fs::canonicalize(&short).is_ok_and(|same| same == place) { &short } else { path };
        let calls = source_call::find(path, &text, files::syntax(path))?;
        Ok(Self { path: path.to_owned(), place, text, calls })
    }
}

/// The files of the configuration in `dir` and of the local modules that it calls, overrides among them, each once; those
/// without a call of a module are omitted. `data_dir` is left alone, whatever calls it.
///
/// # Errors
/// A file that cannot be read or does not parse, and a local module that is missing.
///
/// Spec: `OpenTofu` 1.12, `configs.Parser.ConfigDirFiles`.
pub fn module_calls(dir: &Path, data_dir: &Path) -> Result<Vec<CallFile>, TfConfigError> {
    let mut walk = FolderWalk {
        root: dir,
        data_dir: std::fs::canonicalize(data_dir).ok(),
        folders: BTreeSet::new(),
        places: BTreeSet::new(),
        waiting: VecDeque::new(),
        found: Vec::new(),
    };
    if !walk.folder(Path::new(""))? {
        return Err(TfConfigError::NoConfiguration { dir: dir.to_owned() });
    }
    while let Some((below, called)) = walk.waiting.pop_front() {
        if walk.folders.len() > LIMIT {
            return Err(problem(called.at, ConfigProblem::TooManyModules { limit: LIMIT }));
        }
        if !walk.folder(&below)? && !called.is_overridden && !dir.join(&below).is_dir() {
            return Err(problem(called.at, ConfigProblem::ModuleMissing { path: called.source }));
        }
    }
    Ok(walk.found)
}

/// A call of a folder.
struct FolderCall {
    source: String,
    at: Declared,
    /// Whether an override file names another source.
    is_overridden: bool,
}

struct FolderWalk<'a> {
    root: &'a Path,
    data_dir: Option<PathBuf>,
    /// The folders that were read, whatever links lead to them.
    folders: BTreeSet<PathBuf>,
    /// The files that were found, whatever links lead to them.
    places: BTreeSet<PathBuf>,
    waiting: VecDeque<(PathBuf, FolderCall)>,
    found: Vec<CallFile>,
}

impl FolderWalk<'_> {
    /// Reads a folder, `below` the root's; false if it has no configuration.
    fn folder(&mut self, below: &Path) -> Result<bool, TfConfigError> {
        let dir = if below.as_os_str().is_empty() { self.root.to_owned() } else { self.root.join(below) };
        let real = std::fs::canonicalize(&dir).unwrap_or_else(|_| dir.clone());
        if self.is_data(&real) || self.folders.contains(&real) {
            return Ok(true);
        }
        let Some(files) = files::find(&dir)?.filter(|files| !files.is_empty()) else { return Ok(false) };
        self.folders.insert(real);
        let ModuleFiles { primary, overrides } = files;
        let primary = primary.iter().map(|path| CallFile::read(path)).collect::<Result<Vec<_>, _>>()?;
        let overrides = overrides.iter().map(|path| CallFile::read(path)).collect::<Result<Vec<_>, _>>()?;
        // The last override of a source is the one that counts.
        let mut last: BTreeMap<&str, &Declared> = BTreeMap::new();
        for call in overrides.iter().flat_map(|file| &file.calls) {
            last.insert(&call.module, &call.at);
        }
        for call in primary.iter().chain(&overrides).flat_map(|file| &file.calls) {
            let Some(path) = local(call) else { continue };
            let is_overridden = last.get(call.module.as_str()).is_some_and(|at| **at != call.at);
            let folder = FolderCall { source: path.to_string(), at: call.at.clone(), is_overridden };
            self.waiting.push_back((clean(&below.join(path.as_str())), folder));
        }
        for file in primary.into_iter().chain(overrides).filter(|file| !file.calls.is_empty()) {
            if !self.is_data(&file.place) && self.places.insert(file.place.clone()) {
                self.found.push(file);
            }
        }
        Ok(true)
    }

    fn is_data(&self, place: &Path) -> bool {
        self.data_dir.as_ref().is_some_and(|data_dir| place.starts_with(data_dir))
    }
}

/// The folder that a call names, if it is one of this configuration.
fn local(call: &SourceCall) -> Option<LocalModulePath> {
    let CallSource::Other(text) = &call.source else { return None };
    match text.parse() {
        Ok(ModuleSource::Local(path)) => Some(path),
        _ => None,
    }
}
