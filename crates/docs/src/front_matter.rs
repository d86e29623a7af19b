//! What stands before the text of a page: `page_title`, `subcategory`, `description`.

/// The most bytes of a title, a subcategory or a description that are read.
const MOST: usize = 1_000;

/// What a page says of itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct FrontMatter {
    pub(crate) title: Option<String>,
    pub(crate) subcategory: Option<String>,
    pub(crate) description: Option<String>,
}

/// The front matter, and the text after it. A page without one, or with one that does not end, is all text.
///
/// Of YAML it reads what the generators of documentation write: plain and quoted values in one line, and blocks (`|-`, `>`).
pub(crate) fn split(page: &str) -> (FrontMatter, &str) {
    let Some((head, text)) = parts(page) else { return (FrontMatter::default(), page) };
    let mut found = FrontMatter::default();
    let mut lines = head.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((name, value)) = line.split_once(':').filter(|_| !line.starts_with([' ', '#'])) else { continue };
        let mut words = Vec::new();
        if matches!(value.trim().trim_end_matches(['-', '+']), "|" | ">" | "") {
            while let Some(more) = lines.next_if(|line| line.is_empty() || line.starts_with([' ', '\t'])) {
                words.extend(more.split_whitespace());
            }
        } else {
            words.extend(unquoted(value.trim()).split_whitespace());
        }
        let mut value = words.join(" ");
        value.truncate(value.floor_char_boundary(MOST));
        let value = Some(value).filter(|value| !value.is_empty());
        match name.trim() {
            "page_title" => found.title = value,
            "subcategory" => found.subcategory = value,
            "description" => found.description = value,
            _ => {}
        }
    }
    (found, text)
}

fn parts(page: &str) -> Option<(&str, &str)> {
    let rest = page.strip_prefix("---\n")?;
    let end = if rest.starts_with("---\n") { 0 } else { rest.find("\n---\n")? + 1 };
    Some((&rest[..end], rest[end + 4..].trim_start_matches('\n')))
}

fn unquoted(value: &str) -> &str {
    let inside = |quote| value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    inside('"').or_else(|| inside('\'')).unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_generators_write_is_read() {
        let page = "---\n# generated\npage_title: \"acme_widget Resource\"\nsubcategory: 'Things'\nlayout: \"acme\"\n\
                    description: |-\n  A widget,\n  of any size.\n---\n\n# acme_widget\n";
        let (found, text) = split(page);
        assert_eq!(found.title.as_deref(), Some("acme_widget Resource"));
        assert_eq!(found.subcategory.as_deref(), Some("Things"));
        assert_eq!(found.description.as_deref(), Some("A widget, of any size."));
        assert_eq!(text, "# acme_widget\n");
    }

    #[test]
    fn a_description_of_megabytes_is_cut() {
        let page = format!("---\ndescription: {}\n---\na", "\u{e4}".repeat(1 << 20));
        assert_eq!(split(&page).0.description.map(|text| text.len()), Some(MOST));
    }

    #[test]
    fn a_page_without_front_matter_is_all_text() {
        for page in ["", "# a\n", "---\na: b\n", "---", "a\n---\nb: c\n---\n"] {
            assert_eq!(split(page), (FrontMatter::default(), page));
        }
        assert_eq!(split("---\n---\n# a\n"), (FrontMatter::default(), "# a\n"));
        let empty = FrontMatter::default();
        assert_eq!(split("---\nsubcategory: \"\"\n---\na"), (empty, "a"));
    }
}
