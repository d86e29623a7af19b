//! The doors of a crate: what it gives to others says what it is. Members are free: their names may do.

use syn::{Attribute, Item, Visibility};

use super::modules::ModuleTree;

/// Public items without documentation, as text.
pub(super) fn findings(role: &str, tree: &ModuleTree) -> Vec<String> {
    let names = tree.files.iter().flat_map(|file| silent(&file.syntax.items).into_iter().map(move |name| (file, name)));
    names.map(|(file, name)| format!("{role}/src/{}: `{name}` does not say what it is", file.path.display())).collect()
}

fn silent(items: &[Item]) -> Vec<String> {
    let names = items.iter().flat_map(|item| match item {
        Item::Mod(inline) if matches!(inline.vis, Visibility::Public(_)) => {
            inline.content.as_ref().map(|(_, items)| silent(items)).unwrap_or_default()
        }
        item => door(item)
            .filter(|(visibility, attributes, _)| {
                let is_said = attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
                matches!(visibility, Visibility::Public(_)) && !is_said
            })
            .map(|(.., name)| name)
            .into_iter()
            .collect(),
    });
    names.collect()
}

fn door(item: &Item) -> Option<(&Visibility, &[Attribute], String)> {
    Some(match item {
        Item::Struct(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Enum(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Trait(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Type(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Const(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Static(item) => (&item.vis, &item.attrs, item.ident.to_string()),
        Item::Fn(item) => (&item.vis, &item.attrs, item.sig.ident.to_string()),
        _ => return None,
    })
}
