//! The names of pages.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// What a page is about. The order is that of a navigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PageKind {
    /// `index`, the provider itself.
    Overview,
    Guide,
    Resource,
    DataSource,
    EphemeralResource,
    ListResource,
    Action,
    Function,
}

impl PageKind {
    /// Every kind except the overview.
    pub const FOLDERS: [Self; 7] = [
        Self::Guide,
        Self::Resource,
        Self::DataSource,
        Self::EphemeralResource,
        Self::ListResource,
        Self::Action,
        Self::Function,
    ];

    /// The folder of its pages; empty for the overview.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Overview => "",
            Self::Guide => "guides",
            Self::Resource => "resources",
            Self::DataSource => "data-sources",
            Self::EphemeralResource => "ephemeral-resources",
            Self::ListResource => "list-resources",
            Self::Action => "actions",
            Self::Function => "functions",
        }
    }

    /// Its pages, as a heading.
    pub fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Guide => "Guides",
            Self::Resource => "Resources",
            Self::DataSource => "Data sources",
            Self::EphemeralResource => "Ephemeral resources",
            Self::ListResource => "List resources",
            Self::Action => "Actions",
            Self::Function => "Functions",
        }
    }

    /// The kind of a folder, by its name or the short one of `website/docs`.
    fn of_folder(name: &str) -> Option<Self> {
        match name {
            "r" => Some(Self::Resource),
            "d" => Some(Self::DataSource),
            _ => Self::FOLDERS.into_iter().find(|kind| kind.folder() == name),
        }
    }
}

/// The name of a page: `index`, or a folder and a name such as `resources/widget`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageName {
    kind: PageKind,
    name: String,
}

/// Why a text is not the name of a page.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not the name of a page; write index, or FOLDER/NAME such as resources/widget")]
pub struct InvalidPageName(String);

/// What the names of pages end with, the longest first.
const ENDINGS: [&str; 4] = [".html.markdown", ".html.md", ".markdown", ".md"];

impl PageName {
    /// The page of the provider itself.
    pub fn overview() -> Self {
        Self { kind: PageKind::Overview, name: "index".to_owned() }
    }

    /// The page that a file of a `docs` or `website/docs` folder is; `None` if it is not a page. Folders within folders, such as
    /// the translations below `cdktf`, hold no pages.
    pub fn of_file(path: &str) -> Option<Self> {
        let stem = ENDINGS.iter().find_map(|ending| path.strip_suffix(ending))?;
        Self::of_stem(stem)
    }

    /// The same without the ending of its file.
    pub(crate) fn of_stem(stem: &str) -> Option<Self> {
        if stem == "index" {
            return Some(Self::overview());
        }
        let (folder, name) = stem.split_once('/')?;
        let kind = PageKind::of_folder(folder)?;
        is_name(name).then(|| Self { kind, name: name.to_owned() })
    }

    pub fn kind(&self) -> PageKind {
        self.kind
    }

    /// Its name without the folder.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file that holds it in the published archive.
    pub fn file_name(&self) -> String {
        format!("{self}.md")
    }
}

/// Letters, digits and `_`, `-`, `.`; at most 128, no dot begins it, and it does not end as a file does.
fn is_name(text: &str) -> bool {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let is_file = ENDINGS.iter().chain(&[".html"]).any(|ending| text.ends_with(ending));
    !text.is_empty() && !is_file && text.len() <= 128 && !text.starts_with('.') && text.chars().all(is_letter)
}

impl fmt::Display for PageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            PageKind::Overview => f.write_str(&self.name),
            kind => write!(f, "{}/{}", kind.folder(), self.name),
        }
    }
}

impl FromStr for PageName {
    type Err = InvalidPageName;

    /// A name, with or without the ending of a file.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::of_file(text).or_else(|| Self::of_stem(text)).ok_or_else(|| InvalidPageName(text.to_owned()))
    }
}

impl Serialize for PageName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, want: Option<&str>) {
        assert_eq!(PageName::of_file(file).map(|name| name.to_string()).as_deref(), want, "{file}");
    }

    #[test]
    fn two_names_of_files_were_one_page() {
        check("resources/x.html.html.md", None);
        check("resources/x.md.md", None);
        check("resources/x.html.md", Some("resources/x"));
        check("resources/x.y.md", Some("resources/x.y"));
    }

    proptest::proptest! {
        #[test]
        fn a_name_is_read_back_as_it_was_written(path in "(resources|d|guides)/[a-z._-]{1,6}(\\.html|\\.md|\\.markdown){0,3}") {
            if let Some(name) = PageName::of_file(&path) {
                assert_eq!(PageName::of_file(&name.file_name()).as_ref(), Some(&name));
                assert_eq!(name.to_string().parse::<PageName>().as_ref(), Ok(&name));
            }
        }
    }

    #[test]
    fn files_of_both_folders_are_the_same_pages() {
        check("index.md", Some("index"));
        check("index.html.markdown", Some("index"));
        check("resources/widget.md", Some("resources/widget"));
        check("r/widget.html.markdown", Some("resources/widget"));
        check("d/widget.html.md", Some("data-sources/widget"));
        check("guides/version-2-upgrade.markdown", Some("guides/version-2-upgrade"));
        check("ephemeral-resources/token.md", Some("ephemeral-resources/token"));
        check("list-resources/widget.md", Some("list-resources/widget"));
        check("actions/restart.md", Some("actions/restart"));
        check("functions/parse.html.markdown", Some("functions/parse"));
    }

    #[test]
    fn other_files_are_no_pages() {
        for file in [
            "README.md",
            "resources/widget.png",
            "resources/.md",
            "resources/.hidden.md",
            "resources/a/b.md",
            "cdktf/python/resources/widget.md",
            "../index.md",
            "resources/../x.md",
            "resources/a b.md",
            "resources/<x>.md",
            "index",
            "r.md",
        ] {
            check(file, None);
        }
        check(&format!("resources/{}.md", "a".repeat(129)), None);
    }

    #[test]
    fn a_person_may_omit_the_ending() {
        assert_eq!("r/widget".parse::<PageName>().unwrap().to_string(), "resources/widget");
        assert_eq!("resources/widget.md".parse::<PageName>().unwrap().file_name(), "resources/widget.md");
        insta::assert_snapshot!("widget".parse::<PageName>().unwrap_err(), @"`widget` is not the name of a page; write index, or FOLDER/NAME such as resources/widget");
    }
}
