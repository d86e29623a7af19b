//! Types that share their name: one type of a name in the workspace.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::modules::ModuleTree;

/// The files that define a type, by its name.
#[derive(Default)]
pub(super) struct TypeNames(BTreeMap<String, Vec<String>>);

impl TypeNames {
    /// Adds the types of a crate, those inside functions too.
    pub(super) fn add(&mut self, role: &str, tree: &ModuleTree) {
        for file in &tree.files {
            let mut found = FoundTypes(Vec::new());
            found.visit_file(&file.syntax);
            for name in found.0 {
                self.0.entry(name).or_default().push(format!("{role}/src/{}", file.path.display()));
            }
        }
    }

    /// The names that several types have, as text.
    pub(super) fn findings(&self) -> Vec<String> {
        let shared = self.0.iter().filter(|(_, files)| files.len() > 1);
        shared.map(|(name, files)| format!("{} types are named `{name}`: {}", files.len(), files.join(", "))).collect()
    }
}

struct FoundTypes(Vec<String>);

macro_rules! collect_types {
    ($($visit:ident: $item:ty),+ $(,)?) => {
        $(fn $visit(&mut self, item: &$item) {
            self.0.push(item.ident.to_string());
            visit::$visit(self, item);
        })+
    };
}

impl Visit<'_> for FoundTypes {
    collect_types! {
        visit_item_struct: syn::ItemStruct,
        visit_item_enum: syn::ItemEnum,
        visit_item_union: syn::ItemUnion,
        visit_item_trait: syn::ItemTrait,
        visit_item_type: syn::ItemType,
    }
}
