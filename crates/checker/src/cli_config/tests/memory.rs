//! A user `u` of a Unix, in `/w`, with files in memory.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use tofu_oci_mapper::config::{ConfigFiles, Environment, Os};

pub(super) fn environment() -> Environment {
    Environment {
        os: Os::Unix,
        home: Some(PathBuf::from("/home/u")),
        app_data: None,
        launch_dir: PathBuf::from("/w"),
        working_dir: PathBuf::from("/w"),
        named: None,
        vars: BTreeMap::new(),
    }
}

/// Files by their paths. A path that ends in `/` is an empty folder.
#[derive(Default)]
pub(super) struct MemoryFiles(BTreeMap<String, String>);

impl MemoryFiles {
    /// What lies below a folder: the rest of each path.
    fn below<'a>(&'a self, folder: &Path) -> impl Iterator<Item = &'a str> {
        let folder = format!("{}/", folder.display().to_string().trim_end_matches('/'));
        self.0.keys().filter_map(move |path| path.strip_prefix(&folder))
    }
}

impl<const N: usize> From<[(&str, &str); N]> for MemoryFiles {
    fn from(files: [(&str, &str); N]) -> Self {
        Self(files.map(|(path, content)| (path.to_owned(), content.to_owned())).into())
    }
}

impl ConfigFiles for MemoryFiles {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let content = self.0.get(path.to_string_lossy().as_ref());
        content.map(|content| content.clone().into_bytes()).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        let names = self.below(path).filter_map(|rest| rest.split('/').next()).filter(|name| !name.is_empty());
        let names: std::collections::BTreeSet<OsString> = names.map(Into::into).collect();
        if self.is_dir(path) { Ok(names.into_iter().collect()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.below(path).next().is_some()
    }

    fn exists(&self, path: &Path) -> bool {
        self.is_dir(path) || self.read(path).is_ok()
    }
}
