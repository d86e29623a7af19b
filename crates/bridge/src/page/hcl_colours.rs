//! The parts of a text in HCL, for colours.

/// Hands the text on in pieces, each with the class of its colour: `c` a comment, `s` a string, `k` the type of a block, `n` a number
/// or a word such as `true`.
pub(super) fn pieces<'a>(text: &'a str, mut take: impl FnMut(Option<&'static str>, &'a str)) {
    let (mut rest, mut plain) = (text, 0);
    // Whether only blanks stand before in the line.
    let mut is_first = true;
    // Where the line ends.
    let mut end = 0;
    while let Some(character) = rest.chars().next() {
        let at = text.len() - rest.len();
        if end < at || at == 0 {
            end = at + rest.find('\n').unwrap_or(rest.len());
        }
        let found = token(rest, end - at, is_first, text[..at].chars().next_back());
        let length = found.map_or(character.len_utf8(), |(_, length)| length);
        is_first = character == '\n' || (is_first && character.is_whitespace());
        if let Some((class, _)) = found {
            if plain < at {
                take(None, &text[plain..at]);
            }
            if class.is_empty() {
                plain = at;
            } else {
                take(Some(class), &rest[..length]);
                plain = at + length;
            }
        }
        rest = &rest[length..];
    }
    if plain < text.len() {
        take(None, &text[plain..]);
    }
}

/// The class and the length of what the text begins with, of which the first `line` bytes are its line; an empty class for a word
/// without a colour.
fn token(rest: &str, line: usize, is_first: bool, before: Option<char>) -> Option<(&'static str, usize)> {
    if rest.starts_with('#') || rest.starts_with("//") {
        return Some(("c", line));
    }
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(("c", comment.find("*/").map_or(rest.len(), |end| end + 4)));
    }
    if rest.starts_with('"') {
        return Some(("s", string(&rest[..line])));
    }
    let is_word = |character: char| character.is_alphanumeric() || character == '_' || character == '-';
    if before.is_some_and(|before| is_word(before) || before == '.') {
        return None;
    }
    let length = rest.find(|character| !is_word(character)).unwrap_or(rest.len());
    let word = &rest[..length];
    if word.is_empty() {
        return None;
    }
    if word.starts_with(|first: char| first.is_ascii_digit()) || matches!(word, "true" | "false" | "null") {
        return Some(("n", length));
    }
    let after = rest[length..line].trim_start_matches(' ');
    Some((if is_first && after.starts_with(['"', '{']) { "k" } else { "" }, length))
}

/// The length of a string in a line, its quotes included.
fn string(line: &str) -> usize {
    let mut is_escaped = false;
    for (at, character) in line.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let (mut shown, mut all) = (String::new(), String::new());
        pieces(text, |class, piece| {
            all.push_str(piece);
            shown.push_str(&class.map_or(piece.to_owned(), |class| format!("<{class}:{piece}>")));
        });
        assert_eq!((shown.as_str(), all.as_str()), (want, text));
    }

    #[test]
    fn parts_of_a_configuration_have_their_classes() {
        check("# a\nb = 1 // c\n/* d\n */ e", "<c:# a>\nb = <n:1> <c:// c>\n<c:/* d\n */> e");
        check(
            "resource \"a_b\" \"c\" {\n  d = \"e\\\"f\"\n}",
            "<k:resource> <s:\"a_b\"> <s:\"c\"> {\n  d = <s:\"e\\\"f\">\n}",
        );
        check("  nested {\n    x = true\n  }\n", "  <k:nested> {\n    x = <n:true>\n  }\n");
        check("a1 = b.2c[0] ", "a1 = b.2c[<n:0>] ");
        check("", "");
        check("\"ü open\nü", "<s:\"ü open>\nü");
        check("/* open", "<c:/* open>");
    }

    #[test]
    fn a_line_of_many_tokens_is_read_once() {
        let line = "a.b + ".repeat(1 << 18);
        check(&format!("{line}\nc = 1"), &format!("{line}\nc = <n:1>"));
    }
}
