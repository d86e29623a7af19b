//! The files of all layers so far, and how a layer changes them.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::ArchiveError;

/// A file whose contents are in the spool.
#[derive(Clone, Debug)]
pub(super) struct SpooledFile {
    pub(super) spooled: usize,
    pub(super) size: u64,
    pub(super) mode: u32,
}

#[derive(Clone, Debug)]
pub(super) enum TreeNode {
    Directory,
    File(SpooledFile),
}

/// The changes of a layer, in its order.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Directories whose contents of lower layers are hidden; empty for the root.
    pub(super) opaque: Vec<String>,
    /// Names of lower layers that are hidden.
    pub(super) whiteouts: Vec<String>,
    /// Symbolic links of this layer and those below, which lie beside the tree, and where they lead; `None` if they are refused.
    pub(super) symlinks: Option<Vec<(String, Vec<u8>)>>,
    entries: Vec<(String, TreeChange)>,
}

#[derive(Debug)]
enum TreeChange {
    Put(TreeNode),
    /// A hard link to this name.
    Link(String),
}

impl Changes {
    pub(super) fn directory(&mut self, name: String) {
        self.entries.push((name, TreeChange::Put(TreeNode::Directory)));
    }

    pub(super) fn file(&mut self, name: String, file: SpooledFile) {
        self.entries.push((name, TreeChange::Put(TreeNode::File(file))));
    }

    pub(super) fn link(&mut self, name: String, target: String) {
        self.entries.push((name, TreeChange::Link(target)));
    }
}

/// The entry of each name. Every parent of a name is an entry too, a directory.
#[derive(Debug, Default)]
pub(super) struct Tree(BTreeMap<String, TreeNode>);

impl Tree {
    /// Whiteouts first, wherever they stood, since they never hide anything of their own layer; then the entries in
    /// order, a later one replacing an earlier one of the same name.
    /// `copies` takes the bytes of each copy that a hard link becomes, and may refuse them.
    pub(super) fn apply(
        &mut self,
        changes: Changes,
        copies: &mut dyn FnMut(u64) -> Result<(), ArchiveError>,
    ) -> Result<(), ArchiveError> {
        for directory in &changes.opaque {
            self.remove_below(directory);
        }
        for name in &changes.whiteouts {
            self.remove(name);
        }
        for (name, change) in changes.entries {
            match change {
                TreeChange::Put(TreeNode::Directory) => self.make_directory(&name),
                TreeChange::Put(file) => self.put(name, file),
                TreeChange::Link(target) => {
                    let Some(TreeNode::File(file)) = self.0.get(&target).cloned() else {
                        return Err(ArchiveError::DanglingHardLink { name, target });
                    };
                    copies(file.size)?;
                    self.put(name, TreeNode::File(file));
                }
            }
        }
        Ok(())
    }

    /// Everything, sorted by name.
    pub(super) fn into_nodes(self) -> BTreeMap<String, TreeNode> {
        self.0
    }

    fn put(&mut self, name: String, node: TreeNode) {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.make_directory(parent);
        }
        self.remove_below(&name);
        self.0.insert(name, node);
    }

    /// Makes the directory and those above it; removes a file of the same name.
    fn make_directory(&mut self, name: &str) {
        let above = name.match_indices('/').map(|(slash, _)| &name[..slash]);
        for directory in above.chain([name]) {
            if !matches!(self.0.get(directory), Some(TreeNode::Directory)) {
                self.0.insert(directory.to_owned(), TreeNode::Directory);
            }
        }
    }

    fn remove(&mut self, name: &str) {
        self.0.remove(name);
        self.remove_below(name);
    }

    /// Removes what lies in the directory `name`; the root is empty text.
    fn remove_below(&mut self, name: &str) {
        if name.is_empty() {
            self.0.clear();
            return;
        }
        let prefix = format!("{name}/");
        let below = self.0.range::<str, _>((Bound::Included(prefix.as_str()), Bound::Unbounded));
        let below: Vec<String> =
            below.map(|(name, _)| name).take_while(|name| name.starts_with(&prefix)).cloned().collect();
        for name in below {
            self.0.remove(&name);
        }
    }
}
