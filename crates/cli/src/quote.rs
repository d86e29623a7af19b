//! A line of a file with a place in it underlined.

use std::fmt::Write as _;
use std::ops::Range;

/// The width of a line that is quoted; what is further to the right is cut off.
const WIDTH: usize = 100;

/// One-based line and column of a byte offset, the column in characters.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    (line, column)
}

/// The line in which the span begins, numbered, and carets below the span's part of it. What stands behind names such
/// as `token` and `password` is shown as `***`. Every line ends in a line break and begins with two spaces.
pub(crate) fn quote(text: &str, span: &Range<usize>) -> String {
    let start = text.get(..span.start).map_or(0, |before| before.rfind('\n').map_or(0, |at| at + 1));
    let line = text[start..].split('\n').next().unwrap_or_default().trim_end_matches('\r');
    let secrets = secrets(line);
    let (mut shown, mut carets) = (String::new(), String::new());
    for (at, character) in line.char_indices() {
        let secret = secrets.iter().find(|secret| secret.contains(&at));
        if secret.is_some_and(|secret| secret.start != at) {
            continue;
        }
        let bytes = secret.map_or(at..at + character.len_utf8(), Clone::clone);
        let piece = match (secret, character) {
            (Some(_), _) => "***".to_owned(),
            (None, '\t') => "  ".to_owned(),
            (None, other) => other.to_string(),
        };
        let marked = start + bytes.start < span.end && span.start < start + bytes.end;
        let mark = if marked { "^" } else { " " };
        carets.push_str(&mark.repeat(piece.chars().count()));
        shown.push_str(&piece);
    }
    if !carets.contains('^') {
        // An empty span, or one at the end of the line: the place itself.
        let column = span.start.saturating_sub(start).min(line.len());
        let column = line.get(..column).map_or(0, |before| before.chars().count());
        carets = format!("{}^", " ".repeat(column));
    }
    let shown: String = shown.chars().take(WIDTH).collect();
    let mut carets: String = carets.chars().take(WIDTH).collect();
    carets.truncate(carets.trim_end().len());
    let number = position(text, span.start).0.to_string();
    let gap = " ".repeat(number.len());
    let mut quoted = String::new();
    // Writing to a String cannot fail.
    let _ = write!(quoted, "  {gap} |\n  {number} | {}\n  {gap} | {carets}\n", shown.trim_end());
    quoted
}

/// One line, such as an argument, with a place in it underlined.
pub(crate) fn underline(text: &str, span: &Range<usize>) -> String {
    quote(text, span).replace("  1 |", "    |")
}

/// Names whose values nobody may read over somebody's shoulder.
const SECRET_NAMES: [&str; 4] = ["token", "password", "secret", "private_key"];

/// The bytes of the values that stand behind secret names; a string that does not end goes to the end of the line.
fn secrets(line: &str) -> Vec<Range<usize>> {
    let lower = line.to_ascii_lowercase();
    let mut found: Vec<Range<usize>> = Vec::new();
    for name in SECRET_NAMES {
        for (at, _) in lower.match_indices(name) {
            let after = &line[at + name.len()..];
            let word = after.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '"').trim_start();
            let Some(value) = word.strip_prefix(['=', ':']).map(str::trim_start) else { continue };
            let start = line.len() - value.len();
            let length = match value.strip_prefix('"') {
                Some(inside) => string_end(inside).map_or(value.len(), |end| end + 2),
                None => value.find([',', ' ', '}']).unwrap_or(value.len()),
            };
            if length > 0 {
                found.push(start..start + length);
            }
        }
    }
    found
}

/// Where the quote is that ends the string.
fn string_end(inside: &str) -> Option<usize> {
    let mut escaped = false;
    inside.char_indices().find_map(|(at, character)| {
        let ends = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        ends.then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn quoted(text: &str, place: &str) -> String {
        let start = text.find(place).expect("the place stands in the text");
        quote(text, &(start..start + place.len()))
    }

    #[test]
    fn the_place_is_underlined() {
        assert_snapshot!(quoted("a = 1\n\tbe = \"ü\" # c\n", "\"ü\""), @r#"
          |
        2 |   be = "ü" # c
          |        ^^^
        "#);
        assert_snapshot!(quote("a {", &(3..3)), @"
          |
        1 | a {
          |    ^
        ");
        // A span of several lines is underlined in its first.
        assert_snapshot!(quoted("x\nblock {\n  a = 1\n}\n", "block {\n  a = 1\n}"), @"
          |
        2 | block {
          | ^^^^^^^
        ");
    }

    #[test]
    fn no_secret_is_shown() {
        assert_snapshot!(quoted("token = \"hunter\\\"2\" x\n", "x"), @"
          |
        1 | token = *** x
          |             ^
        ");
        for line in ["token = \"hunter2", "{\"c\":{\"h\":{\"Token\": \"hunter2\"}}}", "password=hunter2", "access_token = hunter2}"] {
            let quoted = quote(line, &(0..line.len()));
            assert!(!quoted.contains("hunter2") && quoted.contains("***"), "{quoted}");
        }
    }
}
