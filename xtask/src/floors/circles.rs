//! Files and folders of a crate that use each other in a circle.
//!
//! A file uses another if its code names something that is defined there: by a path, by an import, or inside a macro. A
//! re-export (`pub use`) alone is not a use; what it names counts for the file that uses the name. Tests do not count.
//! `a.rs` and what lies in `a/` are one room of the folder around them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use proc_macro2::{TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{ItemMod, ItemUse, LitStr, Visibility};

use super::modules::{ModuleTree, PathTarget, imports};

/// The names that a file takes from another.
type FileUses = BTreeMap<(usize, usize), BTreeSet<String>>;

/// The circles of a crate, as text: the files of each, and the names that tie every step; if no files are in a circle, the rooms of a
/// folder that are.
pub(super) fn findings(role: &str, tree: &ModuleTree) -> Vec<String> {
    let uses = uses(tree);
    let files = circles(tree.files.len(), &uses);
    if !files.is_empty() {
        return files.iter().map(|circle| describe(role, tree, &uses, circle)).collect();
    }
    room_circles(role, tree, &uses)
}

/// The circles of rooms, as text, with the files that tie every step.
fn room_circles(role: &str, tree: &ModuleTree, uses: &FileUses) -> Vec<String> {
    let folders: BTreeSet<&Path> = tree.files.iter().flat_map(|file| file.path.ancestors().skip(1)).collect();
    let mut found = Vec::new();
    for folder in folders {
        let rooms: Vec<Option<PathBuf>> = tree.files.iter().map(|file| room_of(&file.path, folder)).collect();
        let names: Vec<&PathBuf> = rooms.iter().flatten().collect::<BTreeSet<_>>().into_iter().collect();
        let number = |file: usize| names.iter().position(|name| Some(*name) == rooms[file].as_ref());
        let mut between = FileUses::new();
        for (user, used) in uses.keys() {
            let (Some(from), Some(to)) = (number(*user), number(*used)) else { continue };
            if from != to {
                let step = format!("\n  {} -> {}", tree.files[*user].path.display(), tree.files[*used].path.display());
                between.entry((from, to)).or_default().insert(step);
            }
        }
        for circle in circles(names.len(), &between) {
            let inside = between.iter().filter(|((from, to), _)| circle.contains(from) && circle.contains(to));
            let steps: String = inside.flat_map(|(_, steps)| steps).map(String::as_str).collect();
            let folder = Path::new("src").join(folder);
            found.push(format!("{role}: rooms of {} use each other in a circle:{steps}", folder.display()));
        }
    }
    found
}

/// The room of a folder in which a file lies.
fn room_of(file: &Path, folder: &Path) -> Option<PathBuf> {
    file.strip_prefix(folder).ok()?.iter().next().map(|first| Path::new(first).with_extension(""))
}

fn describe(role: &str, tree: &ModuleTree, uses: &FileUses, circle: &[usize]) -> String {
    let name = |file: usize| tree.files[file].path.display();
    let steps = uses.iter().filter(|((user, used), _)| circle.contains(user) && circle.contains(used));
    let lines = steps.map(|((user, used), names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("\n  {} -> {}: {}", name(*user), name(*used), names.join(", "))
    });
    format!("{role}: {} files use each other in a circle:{}", circle.len(), lines.collect::<String>())
}

fn uses(tree: &ModuleTree) -> FileUses {
    let mut uses = FileUses::new();
    for file in &tree.files {
        UsesInFile { tree, module: file.module, uses: &mut uses }.visit_file(&file.syntax);
    }
    uses
}

/// The sets of files that each reach all others of the set.
fn circles(files: usize, uses: &FileUses) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..files).map(|file| reached(file, uses)).collect();
    let circle = |file: usize| reach[file].iter().copied().filter(|other| reach[*other].contains(&file)).collect();
    let all: BTreeSet<Vec<usize>> = (0..files).map(circle).filter(|circle: &Vec<usize>| !circle.is_empty()).collect();
    all.into_iter().collect()
}

/// The files that a file uses, directly or through others.
fn reached(from: usize, uses: &FileUses) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut open = vec![from];
    while let Some(here) = open.pop() {
        let next = uses.range((here, 0)..=(here, usize::MAX)).map(|((_, used), _)| *used);
        open.extend(next.filter(|used| found.insert(*used)));
    }
    found
}

struct UsesInFile<'a> {
    tree: &'a ModuleTree,
    module: usize,
    uses: &'a mut FileUses,
}

impl UsesInFile<'_> {
    fn note(&mut self, path: &[String]) {
        if let Some(PathTarget::Item { module, name }) = self.tree.resolve(self.module, path) {
            self.insert(module, name);
        }
    }

    fn insert(&mut self, module: usize, name: String) {
        let (here, there) = (self.tree.file_of(self.module), self.tree.file_of(module));
        if here != there {
            self.uses.entry((here, there)).or_default().insert(name);
        }
    }

    /// Notes the paths among the tokens of a macro or an attribute. What follows a `.` is a field or a method.
    fn note_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut signs = String::new();
        for token in tokens {
            match token {
                TokenTree::Ident(word) => {
                    if signs != "::" {
                        self.note(&std::mem::take(&mut path));
                    }
                    if signs != "." {
                        path.push(word.to_string());
                    }
                    signs.clear();
                }
                TokenTree::Punct(sign) => signs.push(sign.as_char()),
                TokenTree::Group(group) => {
                    self.note_tokens(group.stream());
                    signs.clear();
                }
                TokenTree::Literal(_) => signs.clear(),
            }
        }
        self.note(&path);
    }
}

impl Visit<'_> for UsesInFile<'_> {
    fn visit_path(&mut self, path: &syn::Path) {
        if path.leading_colon.is_none() {
            let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.note(&names);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &syn::Macro) {
        self.visit_path(&call.path);
        self.note_tokens(call.tokens.clone());
    }

    fn visit_attribute(&mut self, attribute: &syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.note_tokens(list.tokens.clone());
            // serde takes paths as text.
            let texts = list.tokens.clone().into_iter().filter_map(|token| syn::parse2::<LitStr>(token.into()).ok());
            for path in texts.filter_map(|text| text.parse::<syn::Path>().ok()) {
                self.visit_path(&path);
            }
        }
    }

    fn visit_item_use(&mut self, item: &ItemUse) {
        if !matches!(item.vis, Visibility::Inherited) {
            return;
        }
        for import in imports(item) {
            match (import.name, self.tree.resolve(self.module, &import.path)) {
                (Some(_), Some(PathTarget::Item { module, name })) => self.insert(module, name),
                (None, Some(PathTarget::Module(module))) => self.insert(module, "*".to_owned()),
                _ => {}
            }
        }
    }

    fn visit_item_mod(&mut self, item: &ItemMod) {
        let Some(inline) = self.tree.child(self.module, &item.ident.to_string()) else { return };
        if item.content.is_some() {
            let outer = std::mem::replace(&mut self.module, inline);
            visit::visit_item_mod(self, item);
            self.module = outer;
        }
    }
}
