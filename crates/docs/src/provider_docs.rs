//! The pages of one version of a provider.

use std::collections::BTreeMap;

use crate::front_matter::{FrontMatter, split};
use crate::{PageKind, PageName};

/// The pages of one version of a provider, sorted by kind and name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderDocs {
    pages: BTreeMap<PageName, DocPage>,
}

/// A page. All of it is foreign text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocPage {
    /// `page_title` of its front matter, in one line.
    pub title: Option<String>,
    /// `subcategory` of its front matter.
    pub subcategory: Option<String>,
    /// `description` of its front matter, in one line.
    pub description: Option<String>,
    /// Markdown after the front matter; its lines end with `\n`.
    pub text: String,
}

impl ProviderDocs {
    /// The pages among files with their names, of two files of one page the first. Other files do not count, and neither does what is not UTF-8 in a page.
    pub fn of_files<N: AsRef<str>>(files: impl IntoIterator<Item = (N, Vec<u8>)>) -> Self {
        let page = |(name, bytes): (N, Vec<u8>)| Some((PageName::of_file(name.as_ref())?, DocPage::of(&bytes)));
        let mut pages = BTreeMap::new();
        for (name, page) in files.into_iter().filter_map(page) {
            pages.entry(name).or_insert(page);
        }
        Self { pages }
    }

    pub fn page(&self, name: &PageName) -> Option<&DocPage> {
        self.pages.get(name)
    }

    pub fn pages(&self) -> impl Iterator<Item = (&PageName, &DocPage)> {
        self.pages.iter()
    }

    /// The pages of one kind.
    pub fn of_kind(&self, kind: PageKind) -> impl Iterator<Item = (&PageName, &DocPage)> {
        self.pages().filter(move |(name, _)| name.kind() == kind)
    }

    /// The name of a page as it is kept here; `None` if there is no such page.
    pub(crate) fn kept(&self, name: &PageName) -> Option<&PageName> {
        self.pages.get_key_value(name).map(|(name, _)| name)
    }

    /// Bytes of all pages.
    pub fn bytes(&self) -> usize {
        let page = |(name, page): (&PageName, &DocPage)| {
            let said = [&page.title, &page.subcategory, &page.description];
            name.name().len() + page.text.len() + said.into_iter().flatten().map(String::len).sum::<usize>()
        };
        self.pages().map(page).sum()
    }

    /// The page that a person means: by its whole name, or by its name alone, with or without the type of the provider before
    /// it, as `acme_widget` is `resources/widget`. Among several kinds the first one counts, resources before data sources.
    pub fn meant(&self, text: &str, provider_type: &str) -> Option<&PageName> {
        if let Some(name) = text.parse().ok().and_then(|name| self.kept(&name)) {
            return Some(name);
        }
        let (kind, name) = match text.parse::<PageName>() {
            Ok(name) => (Some(name.kind()), name.name().to_owned()),
            Err(_) => (None, text.to_owned()),
        };
        let prefix = format!("{provider_type}_");
        let short = |name: &str| name.strip_prefix(&prefix).unwrap_or(name).to_owned();
        let wanted = short(&name);
        let mut names = self.pages.keys().filter(|page| kind.is_none_or(|kind| kind == page.kind()));
        let mut guide = None;
        let found = names.find(|page| {
            let is_it = short(page.name()) == wanted;
            // What has the name of a guide is meant before the guide is.
            if is_it && kind.is_none() && page.kind() == PageKind::Guide {
                guide = Some(*page);
                return false;
            }
            is_it
        });
        found.or(guide)
    }
}

impl DocPage {
    fn of(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
        let (FrontMatter { title, subcategory, description }, text) = split(text.trim_start_matches('\u{feff}'));
        Self { title, subcategory, description, text: text.to_owned() }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn docs(files: &[(&str, &str)]) -> ProviderDocs {
        ProviderDocs::of_files(files.iter().map(|(name, text)| (*name, text.as_bytes().to_vec())))
    }

    #[test]
    fn a_person_may_name_a_page_in_several_ways() {
        let docs = docs(&[
            ("index.md", ""),
            ("guides/widget.md", ""),
            ("r/widget.html.markdown", ""),
            ("data-sources/widget.md", ""),
            ("data-sources/acme_part.md", ""),
            ("LICENSE", ""),
        ]);
        let meant = |text| docs.meant(text, "acme").map(ToString::to_string);
        for text in ["resources/widget", "r/widget", "widget", "acme_widget", "resources/acme_widget"] {
            assert_eq!(meant(text).as_deref(), Some("resources/widget"), "{text}");
        }
        assert_eq!(meant("d/widget").as_deref(), Some("data-sources/widget"));
        assert_eq!(meant("guides/widget").as_deref(), Some("guides/widget"));
        assert_eq!(meant("part").as_deref(), Some("data-sources/acme_part"));
        assert_eq!(meant("index").as_deref(), Some("index"));
        assert_eq!(meant("LICENSE"), None);
        assert_eq!(meant("functions/widget"), None);
    }

    #[test]
    fn bytes_that_are_no_text_do_no_harm() {
        let docs =
            ProviderDocs::of_files([("index.md", b"\xef\xbb\xbf---\r\npage_title: a\r\n---\r\nb\xff\r\n".to_vec())]);
        let page = docs.page(&PageName::overview()).unwrap();
        assert_eq!((page.title.as_deref(), page.text.as_str()), (Some("a"), "b\u{fffd}\n"));
    }
}
