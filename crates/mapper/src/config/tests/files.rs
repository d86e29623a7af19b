//! A file system in memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use super::super::ConfigFiles;

/// Files by their paths, with `/` or `\` between the parts. A path that ends in a separator is an empty folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryFiles(BTreeMap<String, Vec<u8>>);

impl MemoryFiles {
    pub(crate) fn add(&mut self, path: &str, content: &str) {
        self.add_bytes(path, content.as_bytes());
    }

    pub(in crate::config) fn add_bytes(&mut self, path: &str, content: &[u8]) {
        self.0.insert(path.to_owned(), content.to_vec());
    }

    /// What lies below a folder: the rest of each path.
    fn below<'a>(&'a self, folder: &Path) -> impl Iterator<Item = &'a str> {
        let folder = folder.to_string_lossy().trim_end_matches(['/', '\\']).to_owned();
        self.0.keys().filter_map(move |path| path.strip_prefix(&folder)?.strip_prefix(['/', '\\']))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for MemoryFiles {
    fn from(files: [(&str, &str); N]) -> Self {
        let mut all = Self::default();
        for (path, content) in files {
            all.add(path, content);
        }
        all
    }
}

impl ConfigFiles for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = path.to_string_lossy();
        if path.ancestors().skip(1).any(|folder| self.0.contains_key(folder.to_string_lossy().as_ref())) {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        self.0.get(text.as_ref()).cloned().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let mut names: Vec<OsString> = self
            .below(path)
            .filter(|rest| !rest.is_empty())
            .map(|rest| rest.split(['/', '\\']).next().unwrap_or_default().into())
            .collect();
        // Any order will do; this one is not sorted.
        names.sort();
        names.dedup();
        names.reverse();
        if self.is_dir(path) { Ok(names) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    fn exists(&self, path: &Path) -> bool {
        self.is_dir(path) || self.read(&PathBuf::from(path)).is_ok()
    }
}
