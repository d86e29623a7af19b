//! Values in a text that may be secrets, found without parsing the text, which may be broken.

use std::ops::Range;

use tofu_oci_types::login_end;

use super::{CliConfigProblem, ConfigFile};

/// Words in the names of arguments whose values are never shown.
const WORDS: [&str; 4] = ["token", "password", "secret", "passphrase"];

/// Arguments of blocks of credentials that hold no secret. Others are never shown: `tokn` was meant to be `token`.
const HARMLESS: [&str; 4] =
    ["username", "docker_credentials_helper", "docker_style_config_files", "discover_ambient_credentials"];

/// The replacement of a secret.
pub const MASK: &str = "***";

/// The parts of a line that belong to a secret, which may begin on an earlier line.
pub fn in_line(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let clip = |range: Range<usize>| range.start.max(line.start)..range.end.min(line.end);
    all(text).into_iter().map(clip).filter(|range| range.start < range.end).collect()
}

/// Masks secrets in a message, which may quote a word of the file.
pub(super) fn mask(problem: &mut CliConfigProblem, files: &[ConfigFile]) {
    let Some(text) = problem.file.and_then(|file| files.get(file)).map(|file| file.text.as_str()) else { return };
    let Some(span) = &problem.span else { return };
    for secret in all(text).into_iter().filter(|secret| secret.start <= span.end && span.start <= secret.end) {
        let inside = span.start.max(secret.start)..span.end.min(secret.end);
        let quoted = text.get(inside).unwrap_or_default().trim_matches(is_delimiter);
        let words = text.get(secret).unwrap_or_default().split(is_delimiter).filter(|word| word.len() > 2);
        for word in std::iter::once(quoted).chain(words).filter(|word| !word.is_empty()) {
            problem.message = problem.message.replace(word, MASK);
            problem.instead = problem.instead.take().map(|instead| instead.replace(word, MASK));
        }
    }
}

fn is_delimiter(character: char) -> bool {
    character.is_whitespace() || matches!(character, '"' | '\'' | '[' | ']' | '{' | '}' | ',' | ';')
}

/// The secrets of a text, in order and apart from each other, also those whose names are written with escapes.
fn all(text: &str) -> Vec<Range<usize>> {
    let mut found = as_written(text);
    if let Some((plain, places)) = unescaped(text) {
        found.extend(as_written(&plain).into_iter().map(|range| places[range.start]..places[range.end]));
    }
    found.sort_by_key(|range| (range.start, range.end));
    found.dedup_by(|next, kept| {
        let joined = next.start < kept.end;
        if joined {
            kept.end = kept.end.max(next.end);
        }
        joined
    });
    found
}

/// The text with each letter, digit, `_` and `-` in the place of its escape, and for each byte of it, and its end, the
/// place in `text`; `None` if there is no such escape.
fn unescaped(text: &str) -> Option<(String, Vec<usize>)> {
    let (mut plain, mut places) = (String::new(), Vec::new());
    let mut at = 0;
    let mut any = false;
    while let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let escape = escape(&text[at..]);
        any |= escape.is_some();
        // The second half of `\\` begins no escape.
        let (stands_for, length) = escape.unwrap_or((letter, letter.len_utf8()));
        plain.push(stands_for);
        places.resize(plain.len(), at);
        at += length;
        if letter == '\\' && length == 1 && text[at..].starts_with('\\') {
            plain.push('\\');
            places.push(at);
            at += 1;
        }
    }
    places.push(text.len());
    any.then_some((plain, places))
}

/// The letter of names that the escape at the beginning stands for, and the length of the escape.
fn escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let kind = rest.chars().next()?;
    let (digits, radix, from) = match kind {
        'u' => (4, 16, 2),
        'U' => (8, 16, 2),
        'x' => (2, 16, 2),
        '0'..='7' => (3, 8, 1),
        _ => return None,
    };
    let number = text.get(from..from + digits)?;
    let letter = char::from_u32(u32::from_str_radix(number, radix).ok()?)?;
    (letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-')).then_some((letter, from + digits))
}

/// Whatever stands after `token =`, `"password":` and the like and after unknown names in blocks of credentials, and
/// what addresses say before their `@` and after their `?`.
fn as_written(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let named = WORDS.iter().flat_map(|word| lower.match_indices(word).map(|(at, _)| at + word.len()));
    named
        .filter_map(|behind| value(lower.as_bytes(), behind))
        .chain(in_credentials(lower.as_bytes(), &lower))
        .chain(in_addresses(&lower))
        .chain(in_repositories(&lower))
        // A cut letter counts as a whole.
        .map(|range| text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end))
        .collect()
}

/// The values of the arguments of blocks of credentials, except those that hold no secret.
fn in_credentials(bytes: &[u8], lower: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut behind = 0;
    for (at, word) in lower.match_indices("credentials") {
        if at < behind {
            continue;
        }
        let Some(open) = block_start(bytes, at + word.len()) else { continue };
        behind = block_end(bytes, open);
        let mut name: Option<Range<usize>> = None;
        let mut next = open;
        while let Some(byte) = bytes.get(next).copied().filter(|_| next < behind) {
            let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
            if is_name(byte) {
                let end = skip(bytes, next, is_name).unwrap_or(bytes.len());
                name = Some(next..end);
                next = end;
            } else if matches!(byte, b'=' | b':') {
                let named = name.take().and_then(|name| lower.get(name)).unwrap_or_default();
                let start = skip(bytes, next + 1, |byte| byte.is_ascii_whitespace()).unwrap_or(bytes.len());
                let opens_block = match bytes.get(start) {
                    Some(b'{') => true,
                    Some(b'[') => skip(bytes, start + 1, |byte| byte.is_ascii_whitespace())
                        .is_some_and(|inside| bytes.get(inside) == Some(&b'{')),
                    _ => false,
                };
                next = start.max(next + 1);
                if !opens_block && let Some(range) = value_at(bytes, start) {
                    let harmless = HARMLESS.contains(&named);
                    // A bare value ends with its line or earlier, so the text after it is searched too.
                    if !harmless || bytes.get(start) == Some(&b'"') {
                        next = range.end.max(next);
                    }
                    if !harmless {
                        found.push(range);
                    }
                }
            } else {
                next += 1;
            }
        }
    }
    found
}

/// After the brace that opens the block whose name ends at `from`: only labels, and in JSON a sign, stand between.
fn block_start(bytes: &[u8], from: usize) -> Option<usize> {
    let mut at = from;
    let mut on_line = true;
    loop {
        match bytes.get(at)? {
            b'{' => return Some(at + 1),
            b'\n' => on_line = false,
            b'=' | b':' | b'[' | b'"' | b'\'' => {}
            byte if byte.is_ascii_whitespace() => {}
            b'#' | b'/' | b'}' | b']' | b',' => return None,
            _ if on_line => {}
            _ => return None,
        }
        at += 1;
    }
}

/// Where a block ends whose first brace is before `from`; the end of the text if it is not closed.
fn block_end(bytes: &[u8], from: usize) -> usize {
    let mut depth = 1_usize;
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = closing_quote(bytes, at).map_or(at, |end| end - 1),
            b'{' => depth += 1,
            b'}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
        at += 1;
    }
    bytes.len()
}

/// What stands before the `@` and after the `?` of addresses such as `https://USER:PASSWORD@HOST/?QUERY`.
fn in_addresses(lower: &str) -> Vec<Range<usize>> {
    let addresses = lower.match_indices("://").map(|(at, sign)| {
        let rest = lower.get(at + sign.len()..).unwrap_or_default();
        let end = rest.find(|character: char| character.is_whitespace() || character == '"').unwrap_or(rest.len());
        (at + sign.len(), rest.get(..end).unwrap_or_default())
    });
    addresses
        .flat_map(|(start, address)| {
            let user = address.rfind('@').map(|end| start..start + end);
            let before = user.as_ref().map_or(0, |user| user.end - start);
            let query = address.get(before..).and_then(|rest| rest.find('?')).map(|at| before + at + 1);
            let query = query.filter(|query| *query < address.len()).map(|at| start + at..start + address.len());
            user.into_iter().chain(query)
        })
        .filter(|range| !range.is_empty())
        .collect()
}

/// What stands before the `@` of repositories without a scheme, `USER:PASSWORD@REGISTRY/…`, in quotes or as the whole text.
fn in_repositories(lower: &str) -> impl Iterator<Item = Range<usize>> {
    let is_quote = |one: char| matches!(one, '"' | '\'');
    let quoted = lower.match_indices(is_quote).map(|(at, _)| at + 1);
    quoted.chain([0]).filter_map(move |start| {
        let word = lower.get(start..)?.split(|one: char| one.is_whitespace() || is_quote(one)).next()?;
        word.contains('/').then_some(())?;
        login_end(word).filter(|user| word[..*user] != *"git").map(|user| start..start + user)
    })
}

/// The value after an argument's name, up to its closing quote or bracket; to the end of the line if there is none.
fn value(bytes: &[u8], behind_name: usize) -> Option<Range<usize>> {
    let name_end = skip(bytes, behind_name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))?;
    let quote_end = name_end + usize::from(matches!(bytes.get(name_end), Some(b'"' | b'\'')));
    let sign = skip(bytes, quote_end, |byte| byte.is_ascii_whitespace())?;
    let start = match bytes.get(sign)? {
        b'=' | b':' => skip(bytes, sign + 1, |byte| byte.is_ascii_whitespace())?,
        // The sign is missing.
        b'{' | b'}' | b',' | b']' => return None,
        _ if sign > quote_end => sign,
        _ => return None,
    };
    value_at(bytes, start)
}

/// The value that begins at `start`.
fn value_at(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let end = match bytes.get(start)? {
        b'"' => closing_quote(bytes, start).unwrap_or_else(|| open_end(bytes, start)),
        b'<' if bytes.get(start + 1) == Some(&b'<') => heredoc_end(bytes, start),
        b'[' | b'{' => skip(bytes, start, |byte| !matches!(byte, b']' | b'}')).map_or(bytes.len(), |end| end + 1),
        _ => line_end(bytes, start),
    };
    Some(start..end)
}

/// The first place from `from` on that is not to be skipped.
fn skip(bytes: &[u8], from: usize, skipped: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.iter().skip(from).position(|byte| !skipped(*byte)).map(|length| from + length)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    skip(bytes, from, |byte| byte != b'\n').unwrap_or(bytes.len())
}

/// After the quote that closes the one at `open` on the same line, and after what hangs on to it: in a broken text
/// a quote may be part of the secret.
fn closing_quote(bytes: &[u8], open: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(open + 1) {
        match byte {
            b'\n' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => {
                let ends = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']');
                return Some(skip(bytes, at + 1, |byte| !ends(byte)).unwrap_or(bytes.len()));
            }
            _ => {}
        }
    }
    None
}

/// Where a value ends whose quote is not closed on its line: at a quote of a later line, unless an argument, a block or the
/// end of one stands before it. Only a comment can hold such a value.
fn open_end(bytes: &[u8], open: usize) -> usize {
    let first = line_end(bytes, open);
    let mut at = first + 1;
    for line in bytes.get(at..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
        let quote = line.iter().position(|byte| *byte == b'"');
        let text = line.get(..quote.unwrap_or(line.len())).unwrap_or_default().trim_ascii();
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let after = text.iter().position(|byte| !is_name(byte)).and_then(|end| text.get(end..)).unwrap_or_default();
        // A line of Base64 may end with equals signs.
        let is_argument = after.len() < text.len()
            && after.trim_ascii_start().first() == Some(&b'=')
            && after.iter().any(|byte| *byte != b'=');
        if is_argument || text == b"}" || text == b"*/" || text.ends_with(b"{") {
            return first;
        }
        match quote {
            Some(quote) => return at + quote + 1,
            None => at += line.len(),
        }
    }
    first
}

/// After the closing word of a heredoc; the end of the text if there is none.
fn heredoc_end(bytes: &[u8], open: usize) -> usize {
    let rest = bytes.get(open + 2..).unwrap_or_default();
    let rest = rest.strip_prefix(b"-").unwrap_or(rest);
    let word: Vec<u8> = rest.iter().copied().take_while(|byte| !byte.is_ascii_whitespace()).collect();
    let mut at = open;
    for line in bytes.get(open..).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
        at += line.len();
        if !word.is_empty() && line.trim_ascii() == word {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let mut shown = text.to_owned();
        in_line(text, 0..text.len()).into_iter().rev().for_each(|secret| shown.replace_range(secret, MASK));
        shown
    }

    /// A block in a comment is not read, so a string in it may go over lines.
    #[test]
    fn the_second_line_of_a_string_in_a_comment_was_shown() {
        for (text, want) in [
            ("/* token = \"one\n  hunter2\"\n*/ x = 1", "/* token = ***\n*/ x = 1"),
            ("/* token = \"one\ntwo==\nhunter2aaaaaaaaaaaaaaa==\"\n*/", "/* token = ***\n*/"),
            ("# token = \"one\nx = \"y\"\n", "# token = ***\nx = \"y\"\n"),
            ("# token = \"one\nx {\n  y = \"z\"\n}\n", "# token = ***\nx {\n  y = \"z\"\n}\n"),
            ("# token = \"one\n}\n# \"z\"\n", "# token = ***\n}\n# \"z\"\n"),
        ] {
            assert_eq!(shown(text), want);
        }
    }

    #[test]
    fn a_name_with_escapes_showed_its_secret() {
        for (text, want) in [
            (r#"x { "tok\u0065n" = "hunter2" }"#, r#"x { "tok\u0065n" = *** }"#),
            (r#"x { "\x74oken" = "hun\u0074er2" }"#, r#"x { "\x74oken" = *** }"#),
            (r#"x { "\164\U0000006fken" = "hunter2" }"#, r#"x { "\164\U0000006fken" = *** }"#),
            (r#""cred\u0065ntials" "h.test" { tokn = "hunter2" }"#, r#""cred\u0065ntials" "h.test" { tokn = *** }"#),
            (r#"x { path = "C:\\x74oken" }"#, r#"x { path = "C:\\x74oken" }"#),
        ] {
            assert_eq!(shown(text), want);
        }
    }
}
