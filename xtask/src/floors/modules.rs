//! The modules of a crate: which file each lies in, what it defines, and what its paths lead to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::TokenStream;
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, UseTree};

use super::sources::without_tests;
use crate::failure::{ChoreFailure, ChoreResult, Doing};

/// Reads a file below the folder of sources; `None` if there is no such file.
pub(super) type SourceReader<'a> = &'a dyn Fn(&Path) -> ChoreResult<Option<String>>;

/// A file of the product: tests aside.
pub(super) struct SourceFile {
    /// Below the folder of sources.
    pub(super) path: PathBuf,
    pub(super) tokens: TokenStream,
    pub(super) syntax: syn::File,
    /// The module that the whole file is.
    pub(super) module: usize,
}

/// A module: a whole file, or inline in one.
#[derive(Default)]
struct TreeModule {
    file: usize,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    items: BTreeSet<String>,
    imports: BTreeMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
}

/// What a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PathTarget {
    Module(usize),
    Item { module: usize, name: String },
}

/// The modules of a crate. The root is module 0.
#[derive(Default)]
pub(super) struct ModuleTree {
    pub(super) files: Vec<SourceFile>,
    modules: Vec<TreeModule>,
}

impl ModuleTree {
    /// Reads a crate, from `lib.rs` or `main.rs` on.
    pub(super) fn read(read: SourceReader<'_>) -> ChoreResult<Self> {
        let mut tree = Self::default();
        for root in ["lib.rs", "main.rs"].map(Path::new) {
            if let Some(text) = read(root)? {
                tree.add_file(root, &text, None, Path::new(""), read)?;
                return Ok(tree);
            }
        }
        Err(ChoreFailure::new("no lib.rs and no main.rs"))
    }

    /// The file that a module lies in.
    pub(super) fn file_of(&self, module: usize) -> usize {
        self.modules[module].file
    }

    /// The module inside `module` with this name.
    pub(super) fn child(&self, module: usize, name: &str) -> Option<usize> {
        self.modules[module].children.get(name).copied()
    }

    /// What a path in `module` leads to within this crate. Re-exports are followed to the definition.
    pub(super) fn resolve(&self, module: usize, path: &[String]) -> Option<PathTarget> {
        self.follow(module, path, 0)
    }

    fn follow(&self, from: usize, path: &[String], depth: usize) -> Option<PathTarget> {
        const DEEPEST: usize = 32; // imports may name each other
        let mut here = from;
        for (at, name) in path.iter().enumerate() {
            let next = match name.as_str() {
                _ if depth > DEEPEST => return None,
                "crate" => PathTarget::Module(0),
                "self" => PathTarget::Module(here),
                "super" => PathTarget::Module(self.modules[here].parent?),
                name => self.look_up(here, name, at + 1 == path.len(), depth)?,
            };
            match next {
                PathTarget::Module(module) => here = module,
                item @ PathTarget::Item { .. } => return Some(item),
            }
        }
        Some(PathTarget::Module(here))
    }

    /// A name in a module. A module and an item may share it: at the end of a path the item is meant.
    fn look_up(&self, module: usize, name: &str, is_last: bool, depth: usize) -> Option<PathTarget> {
        let here = &self.modules[module];
        let child = here.children.get(name).map(|child| PathTarget::Module(*child));
        if child.is_some() && !is_last {
            return child;
        }
        if here.items.contains(name) {
            return Some(PathTarget::Item { module, name: name.to_owned() });
        }
        let import = here.imports.get(name).and_then(|path| self.follow(module, path, depth + 1));
        let from_globs = || {
            here.globs.iter().find_map(|path| match self.follow(module, path, depth + 1)? {
                PathTarget::Module(other) if other != module => self.look_up(other, name, is_last, depth + 1),
                _ => None,
            })
        };
        import.or(child).or_else(from_globs)
    }

    /// Adds a file as a module, and the files of its modules.
    fn add_file(
        &mut self,
        path: &Path,
        text: &str,
        parent: Option<usize>,
        folder: &Path,
        read: SourceReader<'_>,
    ) -> ChoreResult<usize> {
        let doing = || format!("reading {}", path.display());
        let tokens = without_tests(text.parse().doing(doing)?);
        let syntax: syn::File = syn::parse2(tokens.clone()).doing(doing)?;
        let file = self.files.len();
        let module = self.modules.len();
        self.modules.push(TreeModule { file, parent, ..TreeModule::default() });
        self.files.push(SourceFile { path: path.to_owned(), tokens, syntax: syntax.clone(), module });
        self.add_items(module, &syntax.items, folder, read)?;
        Ok(module)
    }

    fn add_items(&mut self, module: usize, items: &[syn::Item], folder: &Path, read: SourceReader<'_>) -> ChoreResult {
        for item in items {
            if let syn::Item::Mod(child) = item {
                self.add_child(module, child, folder, read)?;
            } else {
                NameCollector(&mut self.modules[module]).visit_item(item);
            }
        }
        Ok(())
    }

    fn add_child(&mut self, parent: usize, child: &ItemMod, folder: &Path, read: SourceReader<'_>) -> ChoreResult {
        let name = child.ident.to_string();
        let below = folder.join(&name);
        let module = if let Some((_, items)) = &child.content {
            let module = self.modules.len();
            let file = self.modules[parent].file;
            self.modules.push(TreeModule { file, parent: Some(parent), ..TreeModule::default() });
            self.add_items(module, items, &below, read)?;
            module
        } else {
            let beside = below.with_added_extension("rs");
            let (file, text) = if let Some(text) = read(&beside)? {
                (beside, text)
            } else {
                let inside = below.join("mod.rs");
                let missing = || ChoreFailure::new(format!("the module {} has no file", below.display()));
                let text = read(&inside)?.ok_or_else(missing)?;
                (inside, text)
            };
            self.add_file(&file, &text, Some(parent), &below, read)?
        };
        self.modules[parent].children.insert(name, module);
        Ok(())
    }
}

/// Collects the names that a module defines and imports, those inside functions too.
struct NameCollector<'a>(&'a mut TreeModule);

macro_rules! collect_items {
    ($($visit:ident: $item:ty),+ $(,)?) => {
        $(fn $visit(&mut self, item: &$item) {
            self.0.items.insert(item.ident.to_string());
            visit::$visit(self, item);
        })+
    };
}

impl Visit<'_> for NameCollector<'_> {
    collect_items! {
        visit_item_struct: syn::ItemStruct,
        visit_item_enum: syn::ItemEnum,
        visit_item_union: syn::ItemUnion,
        visit_item_trait: syn::ItemTrait,
        visit_item_type: syn::ItemType,
        visit_item_const: syn::ItemConst,
        visit_item_static: syn::ItemStatic,
    }

    fn visit_item_fn(&mut self, item: &syn::ItemFn) {
        self.0.items.insert(item.sig.ident.to_string());
        visit::visit_item_fn(self, item);
    }

    fn visit_item_macro(&mut self, item: &syn::ItemMacro) {
        self.0.items.extend(item.ident.as_ref().map(ToString::to_string));
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        for import in imports(item) {
            match import.name {
                Some(name) => drop(self.0.imports.insert(name, import.path)),
                None => self.0.globs.push(import.path),
            }
        }
    }
}

/// One name of a `use`.
pub(super) struct ImportedName {
    /// The name in this module; `None` for `*`.
    pub(super) name: Option<String>,
    pub(super) path: Vec<String>,
}

/// The single imports of a `use`.
pub(super) fn imports(item: &ItemUse) -> Vec<ImportedName> {
    fn collect(tree: &UseTree, before: &[String], found: &mut Vec<ImportedName>) {
        let joined = |name: &syn::Ident| before.iter().cloned().chain([name.to_string()]).collect::<Vec<_>>();
        match tree {
            UseTree::Path(path) => collect(&path.tree, &joined(&path.ident), found),
            UseTree::Name(name) if name.ident == "self" => {
                found.push(ImportedName { name: before.last().cloned(), path: before.to_vec() });
            }
            UseTree::Name(name) => {
                found.push(ImportedName { name: Some(name.ident.to_string()), path: joined(&name.ident) });
            }
            UseTree::Rename(name) => {
                found.push(ImportedName { name: Some(name.rename.to_string()), path: joined(&name.ident) });
            }
            UseTree::Glob(_) => found.push(ImportedName { name: None, path: before.to_vec() }),
            UseTree::Group(group) => group.items.iter().for_each(|tree| collect(tree, before, found)),
        }
    }
    let mut found = Vec::new();
    if item.leading_colon.is_none() {
        collect(&item.tree, &[], &mut found);
    }
    found
}
