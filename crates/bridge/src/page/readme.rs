//! How the README of a module stays inert: HTML that does nothing.

use std::fmt::Write as _;

use maud::{Escaper, Markup, PreEscaped};
use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};
use tofu_oci_types::printable;
use url::Url;

/// The most bytes of a README that a page shows.
pub(super) const LONGEST: usize = 256 << 10;

/// The most elements within each other; what is deeper is text of the last one.
const DEEPEST: usize = 24;

/// The README as HTML: of the elements below alone, with no attributes except `href`, `rel`, `start`, `tabindex` and `class`.
///
/// HTML in it is dropped, a picture becomes its description, and only links to `https`, `http` and `mailto` stay links.
/// So a README runs no script, loads nothing from another host, and has no form. Its headings begin two levels below
/// those of the page.
pub(super) fn readme(text: &str) -> Markup {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut page = ReadmePage::default();
    for event in Parser::new_ext(&text[..end], options) {
        page.event(event);
    }
    if end < text.len() {
        page.html.push_str("<p class=\"aside\">The README is longer than a page shows.</p>");
    }
    PreEscaped(page.html)
}

#[derive(Default)]
struct ReadmePage {
    html: String,
    /// The names of the open elements; empty for one that is not written.
    open: Vec<&'static str>,
    /// How many open elements hold HTML, which is dropped.
    dropped: usize,
    in_head: bool,
}

impl ReadmePage {
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
            Event::Html(_) | Event::InlineHtml(_) | Event::FootnoteReference(_) => {}
        }
    }

    /// Foreign text: what would hide in it is shown as an escape, except the ends of lines.
    fn text(&mut self, text: &str) {
        if self.dropped > 0 {
            return;
        }
        for (number, line) in text.split('\n').enumerate() {
            if number > 0 {
                self.html.push('\n');
            }
            let line = line.trim_end_matches('\r').replace('\t', "    ");
            // Writing to a String cannot fail.
            let _ = Escaper::new(&mut self.html).write_str(&printable(&line));
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
            Tag::Paragraph => self.element("p", ""),
            Tag::Heading { level, .. } => self.element(heading(*level), ""),
            Tag::BlockQuote(_) => self.element("blockquote", ""),
            Tag::CodeBlock(_) => self.element("pre", " tabindex=\"0\""),
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
            Tag::Link { dest_url, .. } => match target(dest_url) {
                Some(target) => {
                    let mut attributes = " rel=\"nofollow noopener noreferrer\" href=\"".to_owned();
                    let _ = Escaper::new(&mut attributes).write_str(&target);
                    attributes.push('"');
                    self.element("a", &attributes);
                }
                None => self.element("", ""),
            },
            Tag::HtmlBlock | Tag::MetadataBlock(_) => {
                self.dropped += 1;
                self.element("", "");
            }
            _ => self.element("", ""),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::TableHead => self.in_head = false,
            TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.dropped = self.dropped.saturating_sub(1),
            _ => {}
        }
        if let Some(name) = self.open.pop().filter(|name| !name.is_empty()) {
            let _ = write!(self.html, "</{name}>");
        }
    }
}

fn heading(level: HeadingLevel) -> &'static str {
    match level {
        HeadingLevel::H1 => "h3",
        HeadingLevel::H2 => "h4",
        HeadingLevel::H3 => "h5",
        _ => "h6",
    }
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
}
