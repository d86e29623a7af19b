//! A paragraph as styled words. Links become commands: the reader has no `docs/`.

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthStr as _;

use super::topics;
use crate::page::Line;

pub(super) type Piece = (Style, String);

/// A word: pieces without a blank between them.
pub(super) type Word = Vec<Piece>;

pub(super) fn words(text: &str, style: Style) -> Vec<Word> {
    let mut words = vec![Word::new()];
    for (style, text) in pieces(text, style) {
        for (nth, part) in text.split(' ').enumerate() {
            if nth > 0 {
                words.push(Word::new());
            }
            if !part.is_empty()
                && let Some(word) = words.last_mut()
            {
                word.push((style, part.to_owned()));
            }
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The text in pieces of one style each.
fn pieces(text: &str, style: Style) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['`', '*', '[']) {
        pieces.push((style, rest[..at].to_owned()));
        rest = &rest[at..];
        if let Some((code, after)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
            pieces.push(piece_of_code(code, style));
            rest = after;
        } else if let Some((strong, after)) = rest.strip_prefix("**").and_then(|rest| rest.split_once("**")) {
            pieces.extend(self::pieces(strong, style.bold()));
            rest = after;
        } else if let Some((stressed, after)) = stressed(rest) {
            pieces.push((style.italic(), stressed.to_owned()));
            rest = after;
        } else if let Some((shown, target, after)) = link(rest) {
            pieces.extend(linked(shown, target, style));
            rest = after;
        } else {
            let (mark, after) = rest.split_at(1);
            pieces.push((style, mark.to_owned()));
            rest = after;
        }
    }
    pieces.push((style, rest.to_owned()));
    pieces
}

/// Code stands out by its backticks, and by its colour if there are colours.
fn piece_of_code(code: &str, style: Style) -> Piece {
    (style.fg_color(Some(AnsiColor::Cyan.into())), format!("`{code}`"))
}

/// A word between asterisks, and the text after it. `*/*` and `*.tfrc` are no such words.
fn stressed(text: &str) -> Option<(&str, &str)> {
    let (word, after) = text.strip_prefix('*')?.split_once('*')?;
    (!word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some((word, after))
}

/// What a link shows, its target, and the text after it.
fn link(text: &str) -> Option<(&str, &str, &str)> {
    let (shown, rest) = text.strip_prefix('[')?.split_once("](")?;
    let (target, after) = rest.split_at_checked(end_of_target(rest)?)?;
    (!shown.contains('[')).then_some((shown, target, &after[1..]))
}

/// Where the `)` is that ends a target: each `(` in it has a `)` of its own.
fn end_of_target(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    let mut ends = text.match_indices(['(', ')']).filter_map(|(at, mark)| {
        match (mark, open) {
            ("(", _) => open += 1,
            (_, 0) => return Some(at),
            _ => open -= 1,
        }
        None
    });
    ends.next().or_else(|| text.find(')'))
}

/// A link as people read it: the command that prints the page, or the address.
fn linked(shown: &str, target: &str, style: Style) -> Vec<Piece> {
    let path = target.split('#').next().unwrap_or_default();
    let file = path.rsplit('/').next().unwrap_or_default();
    let goal = match topics::of_file(file).filter(|_| !target.contains("://")) {
        Some(topic) => piece_of_code(&format!("tofu-oci help {}", topic.name), style),
        None if target.contains("://") => (style, target.to_owned()),
        None => return pieces(shown, style),
    };
    if shown == file || shown == target {
        return vec![goal];
    }
    let mut all = pieces(shown, style);
    all.extend([(style, " (".to_owned()), goal, (style, ")".to_owned())]);
    all
}

/// The words in lines of at most this many columns; a longer word has a line of its own.
pub(super) fn wrapped(words: &[Word], width: usize) -> Vec<Line> {
    let mut lines = vec![Line::default()];
    let mut used = 0;
    for word in words {
        let columns = columns(word);
        if used > 0 && used + 1 + columns > width {
            lines.push(Line::default());
            used = 0;
        }
        if let Some(line) = lines.last_mut() {
            let mut grown = std::mem::take(line);
            if used > 0 {
                // A blank between two words of one style belongs to both.
                grown = grown.plain(" ");
                used += 1;
            }
            *line = word.iter().fold(grown, |line, (style, text)| line.styled(*style, text));
        }
        used += columns;
    }
    lines
}

/// How many columns a word takes.
pub(super) fn columns(word: &Word) -> usize {
    word.iter().map(|(_, text)| text.width()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let words = words(text, Style::new());
        let shown: Vec<String> =
            words.iter().map(|word| word.iter().map(|(_, text)| text.as_str()).collect()).collect();
        assert_eq!(shown.join("|"), want);
    }

    #[test]
    fn links_become_commands() {
        check("see [trust.md](trust.md#pins).", "see|`tofu-oci|help|trust`.");
        check("[a page](../how-to/check.md) ends", "a|page|(`tofu-oci|help|checking`)|ends");
        check("the [table above](#x), [A](../../ARCHITECTURE.md)", "the|table|above,|A");
        check("*Measured* is */* or *.tfrc", "Measured|is|*/*|or|*.tfrc");
        check("[x](javascript:alert(1)) [y](a_(b)_c)z", "x|yz");
        check("[RFC](https://a.example/b)", "RFC|(https://a.example/b)");
        check("[::1] * `a [b](c.md)` **c `d`**e", "[::1]|*|`a|[b](c.md)`|c|`d`e");
    }

    #[test]
    fn code_and_strong_text_have_styles() {
        let words = words("a `b` **c**", Style::new());
        let code = Style::new().fg_color(Some(AnsiColor::Cyan.into()));
        assert_eq!(words[1], [(code, "`b`".to_owned())]);
        assert_eq!(words[2], [(Style::new().bold(), "c".to_owned())]);
    }
}
