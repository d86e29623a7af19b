//! Everything that a refused command must leave as it was.

use std::collections::BTreeMap;
use std::path::Path;

use super::Scene;

/// Registry, work folder and temp folder, with contents.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct State {
    work: BTreeMap<String, Vec<u8>>,
    temp: BTreeMap<String, Vec<u8>>,
    registry: Vec<Repository>,
}

/// One repository: its name, its tags with their digests, and the digests of everything in it.
type Repository = (String, Vec<(String, String)>, Vec<String>);

/// The repositories that tests write to.
const REPOSITORIES: [&str; 4] = ["acme/widget", "acme/gadget", "acme/network", "mirror/widget"];

impl State {
    /// As it is now.
    pub(crate) fn of(scene: &Scene) -> Self {
        let temp = scene.context.work().parent().map(|root| root.join("tmp")).unwrap_or_default();
        let repository = |name: &&str| ((*name).to_owned(), scene.registry.tags(name), scene.registry.digests(name));
        Self {
            work: tree(&scene.context.work()),
            temp: tree(&temp),
            registry: REPOSITORIES.iter().map(repository).collect(),
        }
    }

    /// The names in the temp folder and in the work folder of files that hold at least so many bytes.
    pub(crate) fn at_least(&self, bytes: usize) -> Vec<&str> {
        let large = |content: &[u8]| content.len() >= bytes;
        let all = self.temp.iter().chain(&self.work);
        all.filter(|(_, content)| large(content)).map(|(name, _)| name.as_str()).collect()
    }

    /// The names in the temp folder.
    pub(crate) fn temp(&self) -> Vec<&str> {
        self.temp.keys().map(String::as_str).collect()
    }
}

/// All files and folders below a folder; folders end in `/` and are empty. Links are shown by what they point to.
pub(crate) fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            let path = entry.path();
            let name = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
            if let Ok(target) = std::fs::read_link(&path) {
                found.insert(name, target.to_string_lossy().into_owned().into_bytes());
            } else if path.is_dir() {
                found.insert(format!("{name}/"), Vec::new());
                open.push(path);
            } else {
                found.insert(name, std::fs::read(&path).unwrap_or_default());
            }
        }
    }
    found
}
