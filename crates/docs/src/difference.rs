//! What differs between the documentation of two versions.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::{PageName, ProviderDocs, arguments};

/// What came and went from one version to another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DocsDifference {
    /// Pages that the second version alone has.
    pub came: Vec<PageName>,
    /// Pages that the first version alone has.
    pub went: Vec<PageName>,
    /// Pages of both versions with other arguments.
    pub changed: Vec<ChangedPage>,
}

/// A page that describes other arguments than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedPage {
    pub page: PageName,
    /// Arguments that came, such as `timeouts.create`.
    pub came: Vec<String>,
    /// Arguments that went.
    pub went: Vec<String>,
}

impl DocsDifference {
    pub fn between(before: &ProviderDocs, after: &ProviderDocs) -> Self {
        let missing_in = |docs: &ProviderDocs, other: &ProviderDocs| {
            docs.pages().map(|(name, _)| name).filter(|name| other.page(name).is_none()).cloned().collect()
        };
        let changed = after.pages().filter_map(|(name, page)| {
            let old = before.page(name).filter(|old| old.text != page.text)?;
            let (old, new) = (arguments(&old.text), arguments(&page.text));
            let only = |one: &BTreeSet<String>, other| one.difference(other).cloned().collect::<Vec<_>>();
            let (came, went) = (only(&new, &old), only(&old, &new));
            (!came.is_empty() || !went.is_empty()).then(|| ChangedPage { page: name.clone(), came, went })
        });
        Self { came: missing_in(after, before), went: missing_in(before, after), changed: changed.collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.came.is_empty() && self.went.is_empty() && self.changed.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider_docs::tests::docs;

    #[test]
    fn pages_and_arguments_come_and_go() {
        let list = |names: &[&str]| {
            let items: String = names.iter().map(|name| format!("* `{name}` - x\n")).collect();
            format!("## Argument Reference\n\n{items}")
        };
        let before = docs(&[("index.md", "a"), ("r/widget.md", &list(&["name", "old"])), ("r/gone.md", "")]);
        let after = docs(&[("index.md", "b"), ("r/widget.md", &list(&["name", "new"])), ("d/part.md", "")]);
        let difference = DocsDifference::between(&before, &after);
        assert_eq!(difference.came, ["data-sources/part".parse().unwrap()]);
        assert_eq!(difference.went, ["resources/gone".parse().unwrap()]);
        let page = "resources/widget".parse().unwrap();
        assert_eq!(difference.changed, [ChangedPage { page, came: vec!["new".into()], went: vec!["old".into()] }]);
        assert!(DocsDifference::between(&after, &after).is_empty());
    }
}
