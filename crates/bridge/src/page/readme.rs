//! How the README of a module, and a page of a provider's documentation, stay inert: HTML that does nothing.

use std::collections::HashSet;
use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped};
use pulldown_cmark::{CodeBlockKind, Event, HeadingLevel, Options, Parser, Tag, TagEnd, TextMergeStream};
use tofu_oci_types::printable;
use url::Url;

use super::hcl_colours;

/// The most bytes of a text that a page shows.
pub(super) const LONGEST: usize = 256 << 10;

/// The most elements within each other; what is deeper is text of the last one.
const DEEPEST: usize = 24;

/// The arrows that begin a paragraph which is a note or a warning, and its class.
const NOTES: [(&str, &str); 3] = [("-> ", "aside"), ("~> ", "notice"), ("!> ", "notice")];

/// The README as HTML: of the elements below alone, with no attributes except `href`, `rel`, `start`, `tabindex` and `class`.
///
/// HTML in it is dropped, a picture becomes its description, and only links to `https`, `http` and `mailto` stay links.
/// So a README runs no script, loads nothing from another host, and has no form. Its headings begin two levels below
/// those of the page.
pub(super) fn readme(text: &str) -> Markup {
    rendered(text, InertPage::default())
}

/// A page of documentation as HTML, as inert as a README. `link` gives the address of what a link in it leads to, if that is a page of
/// the documentation. Its headings begin one level below those of the page; headings and anchors can be linked to: their `id`
/// is what the text calls them, after `doc-`.
pub(super) fn docs_text(text: &str, link: LinkTarget<'_>) -> Markup {
    rendered(text, InertPage { link: Some(link), ..InertPage::default() })
}

/// The name by which a place in a page of documentation is linked to; `None` if it has letters that no anchor needs.
pub(super) fn anchor_of(place: &str) -> Option<String> {
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    (!place.is_empty() && place.len() <= 100 && place.chars().all(is_letter)).then(|| format!("doc-{place}"))
}

fn rendered(text: &str, mut page: InertPage<'_>) -> Markup {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for event in TextMergeStream::new(Parser::new_ext(&text[..end], options)) {
        page.event(event);
    }
    if end < text.len() {
        let what = if page.link.is_some() { "documentation" } else { "README" };
        let _ = write!(page.html, "<p class=\"aside\">The {what} is longer than a page shows.</p>");
    }
    PreEscaped(page.html)
}

/// What a link leads to; `None` if it is not to be one.
type LinkTarget<'a> = &'a dyn Fn(&str) -> Option<String>;

#[derive(Default)]
struct InertPage<'a> {
    html: String,
    /// What the links of a page of documentation lead to; `None` for a README.
    link: Option<LinkTarget<'a>>,
    /// The names of the open elements; empty for one that is not written.
    open: Vec<&'static str>,
    /// How many open elements hold HTML, which is dropped.
    dropped: usize,
    in_head: bool,
    /// The heading that is open: what stands before it, and its words.
    heading: Option<(String, String)>,
    /// Where the text of a paragraph begins that has just been opened.
    paragraph: Option<usize>,
    is_hcl: bool,
    anchors: HashSet<String>,
}

impl InertPage<'_> {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.html.push_str("<code>");
                self.text(&text);
                self.html.push_str("</code>");
            }
            Event::SoftBreak => self.html.push('\n'),
            Event::HardBreak => self.html.push_str("<br>"),
            Event::Rule => self.html.push_str("<hr>"),
            Event::TaskListMarker(is_done) => self.html.push_str(if is_done { "☑ " } else { "☐ " }),
            Event::Html(html) | Event::InlineHtml(html) => self.anchor(&html),
            Event::FootnoteReference(_) => {}
        }
    }

    /// Text, a note or code, by where it stands.
    fn text(&mut self, text: &str) {
        if self.dropped > 0 {
            return;
        }
        if let Some((_, words)) = &mut self.heading {
            words.push_str(text);
        }
        if self.is_hcl {
            return hcl_colours::pieces(text, |class, piece| match class {
                Some(class) => {
                    let _ = write!(self.html, "<span class=\"{class}\">");
                    self.plain(piece);
                    self.html.push_str("</span>");
                }
                None => self.plain(piece),
            });
        }
        let note = NOTES.iter().find_map(|(arrow, class)| Some((text.strip_prefix(arrow)?, class)));
        match (self.paragraph.take().filter(|at| *at == self.html.len()), note) {
            (Some(at), Some((text, class))) if self.link.is_some() => {
                self.html.truncate(at - "<p>".len());
                let _ = write!(self.html, "<p class=\"{class}\">");
                self.plain(text);
            }
            _ => self.plain(text),
        }
    }

    /// Foreign text: what would hide in it is shown as an escape, except the ends of lines.
    fn plain(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.html.push('\n');
            }
            let line = line.trim_end_matches('\r').replace('\t', "    ");
            // Writing to a String cannot fail.
            let _ = Escaper::new(&mut self.html).write_str(&printable(&line));
        }
    }

    /// An anchor of generated documentation, `<a id="NAME">`; all other HTML is dropped.
    fn anchor(&mut self, html: &str) {
        let name = ["<a id=\"", "<a name=\""].iter().find_map(|start| html.trim_start().strip_prefix(start));
        let name = name.and_then(|rest| rest.split_once('"')).map(|(name, _)| name);
        if self.link.is_some()
            && let Some(name) = name.and_then(anchor_of)
            && self.anchors.insert(name.clone())
        {
            let _ = write!(self.html, "<span id=\"{name}\"></span>");
        }
    }

    /// Opens an element. Its attributes are made here; foreign text in them is escaped.
    fn element(&mut self, name: &'static str, attributes: &str) {
        let name = if self.open.len() < DEEPEST { name } else { "" };
        self.open.push(name);
        if !name.is_empty() {
            let _ = write!(self.html, "<{name}{attributes}>");
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph => {
                self.element("p", "");
                self.paragraph = self.html.ends_with("<p>").then_some(self.html.len());
            }
            Tag::Heading { level, .. } if self.link.is_some() && self.open.len() < DEEPEST => {
                // Its name is known at its end.
                self.open.push(heading(*level, 2));
                self.heading = Some((std::mem::take(&mut self.html), String::new()));
            }
            Tag::Heading { level, .. } => self.element(heading(*level, 3), ""),
            Tag::BlockQuote(_) => self.element("blockquote", ""),
            Tag::CodeBlock(kind) => {
                self.is_hcl = self.link.is_some() && is_hcl(kind);
                self.element("pre", " tabindex=\"0\"");
            }
            Tag::List(None) => self.element("ul", ""),
            Tag::List(Some(first)) => self.element("ol", &format!(" start=\"{first}\"")),
            Tag::Item => self.element("li", ""),
            Tag::Table(_) => self.element("table", ""),
            Tag::TableHead => {
                self.in_head = true;
                self.element("tr", "");
            }
            Tag::TableRow => self.element("tr", ""),
            Tag::TableCell => self.element(if self.in_head { "th" } else { "td" }, ""),
            Tag::Emphasis => self.element("em", ""),
            Tag::Strong => self.element("strong", ""),
            Tag::Strikethrough => self.element("s", ""),
            Tag::Link { dest_url, .. } => self.link(dest_url),
            Tag::HtmlBlock | Tag::MetadataBlock(_) => {
                self.dropped += 1;
                self.element("", "");
            }
            _ => self.element("", ""),
        }
    }

    fn link(&mut self, text: &str) {
        let own = self.link.and_then(|link| link(text));
        let (target, mut attributes) = match own {
            Some(page) => (Some(page), " href=\"".to_owned()),
            None => (target(text), " rel=\"nofollow noopener noreferrer\" href=\"".to_owned()),
        };
        let Some(target) = target else { return self.element("", "") };
        let _ = Escaper::new(&mut attributes).write_str(&target);
        attributes.push('"');
        self.element("a", &attributes);
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableHead => self.in_head = false,
            TagEnd::CodeBlock => self.is_hcl = false,
            TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.dropped = self.dropped.saturating_sub(1),
            TagEnd::Heading(_) => self.heading_ends(),
            _ => {}
        }
        if let Some(name) = self.open.pop().filter(|name| !name.is_empty()) {
            let _ = write!(self.html, "</{name}>");
        }
    }

    /// Writes the start of the heading before its content.
    fn heading_ends(&mut self) {
        let (Some((before, words)), Some(name)) = (self.heading.take(), self.open.last()) else { return };
        let content = std::mem::replace(&mut self.html, before);
        let id = anchor_of(&slug(&words)).filter(|id| self.anchors.insert(id.clone()));
        let id = id.map(|id| format!(" id=\"{id}\"")).unwrap_or_default();
        let _ = write!(self.html, "<{name}{id}>{content}");
    }
}

/// The name that links use for a heading, as GitHub makes it: lower case, `-` for a blank, no punctuation.
fn slug(words: &str) -> String {
    let kept = words.trim().chars().filter(|letter| letter.is_ascii_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

fn is_hcl(kind: &CodeBlockKind<'_>) -> bool {
    let CodeBlockKind::Fenced(info) = kind else { return false };
    let language = info.split([' ', ',', '{']).next().unwrap_or_default().to_ascii_lowercase();
    matches!(language.as_str(), "hcl" | "terraform" | "tf" | "tofu" | "opentofu")
}

/// The element of a heading, if those of level 1 are of level `first` in the page.
fn heading(level: HeadingLevel, first: usize) -> &'static str {
    ["h2", "h3", "h4", "h5", "h6"].get(first - 2 + level as usize - 1).unwrap_or(&"h6")
}

/// Where a link leads; `None` for a script, a file of the module, or anything else that is not on the web.
fn target(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    matches!(url.scheme(), "https" | "http" | "mailto").then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(readme(text).into_string(), want, "{text}");
    }

    #[test]
    fn what_readmes_are_made_of_is_shown() {
        check(
            "# A\n\nb *c* **d** `e` ~~f~~",
            "<h3>A</h3><p>b <em>c</em> <strong>d</strong> <code>e</code> <s>f</s></p>",
        );
        check("3. a\n4. b\n", "<ol start=\"3\"><li>a</li><li>b</li></ol>");
        check("- [x] a\n", "<ul><li>☑ a</li></ul>");
        check("```hcl\na = \"<b>\"\n\tc\n```\n", "<pre tabindex=\"0\">a = &quot;&lt;b&gt;&quot;\n    c\n</pre>");
        check("|a|b|\n|-|-|\n|c|d|\n", "<table><tr><th>a</th><th>b</th></tr><tr><td>c</td><td>d</td></tr></table>");
    }

    #[test]
    fn html_and_scripts_are_dropped() {
        check("<script>alert(1)</script>\n\na", "<p>a</p>");
        check("a <b onclick=\"x()\">c</b> <img src=x onerror=alert(1)>", "<p>a c </p>");
        check("<style>*{display:none}</style>\n<form action=\"https://evil.example/\">\n\nb", "<p>b</p>");
        check("<!-- a --> \n\nb", "<p>b</p>");
        check("a<!-- x", "<p>a&lt;!-- x</p>");
        check("&lt;script&gt;alert(1)&lt;/script&gt;", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>");
    }

    #[test]
    fn only_links_to_the_web_are_links() {
        let link = "<p><a rel=\"nofollow noopener noreferrer\" href=\"https://x.example/?a=1&amp;b=2\">a</a></p>";
        check("[a](https://x.example/?a=1&b=2)", link);
        check("[a](<https://x.example/?a=1&b=2> \"t\")", link);
        for text in [
            "[a](javascript:alert(1))",
            "[a](JaVaScRiPt:alert(1))",
            "[a](java&#x0a;script:alert(1))",
            "[a](data:text/html;base64,PHNjcmlwdD4=)",
            "[a](vbscript:x)",
            "[a](//evil.example/)",
            "[a](./LICENSE)",
            "[a](#b)",
            "[a](file:///etc/passwd)",
        ] {
            check(text, "<p>a</p>");
        }
        check(
            "[a](https://x.example/\"onmouseover=\"x)",
            "<p><a rel=\"nofollow noopener noreferrer\" href=\"https://x.example/%22onmouseover=%22x\">a</a></p>",
        );
    }

    #[test]
    fn a_picture_is_its_description() {
        check("![a diagram](https://tracker.example/p.png)", "<p>a diagram</p>");
        check(
            "[![ok](https://ci.example/b.svg)](https://ci.example/)",
            "<p><a rel=\"nofollow noopener noreferrer\" href=\"https://ci.example/\">ok</a></p>",
        );
    }

    #[test]
    fn text_that_hides_is_shown() {
        check("a\u{202e}b\u{0}", "<p>a\\u{202e}b\\u{0}</p>");
    }

    #[test]
    fn deep_and_long_texts_are_bounded() {
        let deep = readme(&format!("{} a", ">".repeat(100_000))).into_string();
        assert_eq!(deep.matches("<blockquote>").count(), DEEPEST);
        assert_eq!(deep.matches("</blockquote>").count(), DEEPEST);
        let long = readme(&"ü".repeat(LONGEST)).into_string();
        assert!(long.len() < LONGEST + 200 && long.contains("longer than a page shows"), "{}", long.len());
        let links = readme(&"[a](b".repeat(20_000)).into_string();
        assert!(links.len() < 4 * LONGEST, "{}", links.len());
    }

    #[track_caller]
    fn check_docs(text: &str, want: &str) {
        let link = |link: &str| match link {
            "../index" => Some("/p/docs".to_owned()),
            "#a" => Some("#doc-a".to_owned()),
            _ => None,
        };
        assert_eq!(docs_text(text, &link).into_string(), want, "{text}");
    }

    #[test]
    fn a_page_of_documentation_links_to_others_and_to_its_own_places() {
        check_docs("[a](../index) [b](#a)", "<p><a href=\"/p/docs\">a</a> <a href=\"#doc-a\">b</a></p>");
        check_docs("[a](./other) [b](javascript:x)", "<p>a b</p>");
        check_docs(
            "# Schema `x`\n\n## Schema `x`\n",
            "<h2 id=\"doc-schema-x\">Schema <code>x</code></h2><h3>Schema <code>x</code></h3>",
        );
        check_docs(
            "<a id=\"nested--x\"></a>\n### N",
            "<p><span id=\"doc-nested--x\"></span></p><h4 id=\"doc-n\">N</h4>",
        );
        check_docs("<a id=\"x y\" onclick=\"z()\"></a>\n\n<script id=\"s\">a</script>", "<p></p>");
    }

    #[test]
    fn notes_and_configurations_stand_out() {
        check_docs("~> **Note** a", "<p class=\"notice\"><strong>Note</strong> a</p>");
        check_docs("-> a <b>c</b>", "<p class=\"aside\">a c</p>");
        check_docs("a -> b", "<p>a -&gt; b</p>");
        check_docs(
            "```hcl\na \"<b>\" {}\n```\n",
            "<pre tabindex=\"0\"><span class=\"k\">a</span> <span class=\"s\">&quot;&lt;b&gt;&quot;</span> {}\n</pre>",
        );
        check_docs("```sh\na \"b\"\n```\n", "<pre tabindex=\"0\">a &quot;b&quot;\n</pre>");
        check("~> a", "<p>~&gt; a</p>");
    }

    #[test]
    fn many_headings_make_little_html() {
        let html = docs_text(&"# a\n".repeat(60_000), &|_| None).into_string();
        assert!(html.len() < 8 * LONGEST, "{}", html.len());
    }
}
