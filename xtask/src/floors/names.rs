//! Types that share their name in a crate, and enums that share their meaning in the house.

use std::collections::BTreeMap;

use syn::visit::{self, Visit};

use super::modules::ModuleTree;

/// The names that several types of a crate have, those inside functions too, as text.
pub(super) fn findings(role: &str, tree: &ModuleTree) -> Vec<String> {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for file in &tree.files {
        let mut found = FoundTypes::default();
        found.visit_file(&file.syntax);
        for name in found.names {
            files.entry(name).or_default().push(file.path.display().to_string());
        }
    }
    let shared = files.iter().filter(|(_, files)| files.len() > 1);
    shared
        .map(|(name, files)| format!("{role}: {} types are named `{name}`: {}", files.len(), files.join(", ")))
        .collect()
}

/// The enums of the house without contents, by their variants; those that clap reads are words of the command line.
#[derive(Default)]
pub(super) struct BareEnums(BTreeMap<Vec<String>, Vec<String>>);

impl BareEnums {
    /// Adds the enums of a crate.
    pub(super) fn add(&mut self, role: &str, tree: &ModuleTree) {
        for file in &tree.files {
            let mut found = FoundTypes::default();
            found.visit_file(&file.syntax);
            for (name, mut variants) in found.bare {
                variants.sort();
                self.0.entry(variants).or_default().push(format!("{name} ({role}/src/{})", file.path.display()));
            }
        }
    }

    /// Enums with the same variants, as text: one meaning has one type. Those of `other_meaning` are left out.
    pub(super) fn findings(&self, other_meaning: &[&str]) -> Vec<String> {
        let sets = self.0.iter().filter(|(variants, _)| variants.len() > 1);
        let sets = sets.map(|(variants, enums)| {
            let is_meant = |text: &&String| !other_meaning.iter().any(|name| text.split(' ').next() == Some(*name));
            (variants, enums.iter().filter(is_meant).map(String::as_str).collect::<Vec<_>>())
        });
        let shared = sets.filter(|(_, enums)| enums.len() > 1);
        let known = |name: &&&str| {
            self.0
                .values()
                .any(|enums| enums.len() > 1 && enums.iter().any(|text| text.split(' ').next() == Some(**name)))
        };
        let dead = other_meaning.iter().filter(|name| !known(name));
        shared
            .map(|(variants, enums)| format!("{} are {}", enums.join(", "), variants.join(" | ")))
            .chain(dead.map(|name| format!("`{name}` has the variants of no other enum: take it from OTHER_MEANING")))
            .collect()
    }
}

#[derive(Default)]
struct FoundTypes {
    names: Vec<String>,
    /// Enums without contents, and their variants.
    bare: Vec<(String, Vec<String>)>,
}

macro_rules! collect_types {
    ($($visit:ident: $item:ty),+ $(,)?) => {
        $(fn $visit(&mut self, item: &$item) {
            self.names.push(item.ident.to_string());
            visit::$visit(self, item);
        })+
    };
}

impl Visit<'_> for FoundTypes {
    collect_types! {
        visit_item_struct: syn::ItemStruct,
        visit_item_union: syn::ItemUnion,
        visit_item_trait: syn::ItemTrait,
        visit_item_type: syn::ItemType,
    }

    fn visit_item_enum(&mut self, item: &syn::ItemEnum) {
        self.names.push(item.ident.to_string());
        let is_of_clap = item.attrs.iter().any(|attribute| {
            matches!(&attribute.meta, syn::Meta::List(list) if list.tokens.to_string().contains("ValueEnum"))
        });
        if !is_of_clap && item.variants.iter().all(|variant| variant.fields.is_empty()) {
            let variants = item.variants.iter().map(|variant| variant.ident.to_string());
            self.bare.push((item.ident.to_string(), variants.collect()));
        }
        visit::visit_item_enum(self, item);
    }
}
