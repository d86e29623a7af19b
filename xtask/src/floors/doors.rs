//! The doors of a crate: what it gives to others says what it is. Members are free: their names may do.

use syn::{Attribute, Item, Visibility};

use super::modules::ModuleTree;

/// Public items without documentation, as text.
pub(super) fn findings(role: &str, tree: &ModuleTree) -> Vec<String> {
    let items = tree.files.iter().flat_map(|file| file.syntax.items.iter().map(move |item| (file, item)));
    let silent = items.filter_map(|(file, item)| {
        let (visibility, attributes, name) = door(item)?;
        let is_silent = matches!(visibility, Visibility::Public(_))
            && !attributes.iter().any(|attribute| attribute.path().is_ident("doc"));
        is_silent.then(|| format!("{role}/src/{}: `{name}` does not say what it is", file.path.display()))
    });
    silent.collect()
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
