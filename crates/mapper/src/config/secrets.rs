//! Values in a text that may be secrets, found without understanding the text: it may be broken.

use std::ops::Range;

use super::{ConfigFile, Problem};

/// Words in the names of arguments whose values are never shown.
const WORDS: [&str; 4] = ["token", "password", "secret", "passphrase"];

/// What is shown instead.
pub(super) const MASK: &str = "***";

/// The parts of a line that belong to a secret, which may have begun on a line before.
pub(super) fn in_line(text: &str, line: Range<usize>) -> Vec<Range<usize>> {
    let clip = |range: Range<usize>| range.start.max(line.start)..range.end.min(line.end);
    all(text).into_iter().map(clip).filter(|range| range.start < range.end).collect()
}

/// Takes secrets out of what is said about a problem: a complaint may quote the word that it is about.
pub(super) fn mask(problem: &mut Problem, files: &[ConfigFile]) {
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

/// Whatever stands behind `token =`, `"password":` and the like, and user information of URLs, in order and apart from
/// each other.
fn all(text: &str) -> Vec<Range<usize>> {
    let lower = text.to_ascii_lowercase();
    let mut found: Vec<Range<usize>> = WORDS
        .iter()
        .flat_map(|word| lower.match_indices(word).map(|(at, _)| at + word.len()))
        .filter_map(|behind| value(lower.as_bytes(), behind))
        .chain(lower.match_indices("://").filter_map(|(at, scheme)| user_info(lower.as_bytes(), at + scheme.len())))
        // Where a letter is cut, the whole letter is meant.
        .map(|range| floor(text, range.start)..ceiling(text, range.end))
        .collect();
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

/// The value behind an argument's name, up to its closing quote or bracket; to the end of the line where there is none.
fn value(bytes: &[u8], behind_name: usize) -> Option<Range<usize>> {
    let name_end = skip(bytes, behind_name, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))?;
    let quote_end = name_end + usize::from(matches!(bytes.get(name_end), Some(b'"' | b'\'')));
    let sign = skip(bytes, quote_end, |byte| byte.is_ascii_whitespace())?;
    let start = match bytes.get(sign)? {
        b'=' | b':' => skip(bytes, sign + 1, |byte| byte.is_ascii_whitespace())?,
        // The sign was forgotten.
        b'{' | b'}' | b',' | b']' => return None,
        _ if sign > quote_end => sign,
        _ => return None,
    };
    let end = match bytes.get(start)? {
        b'"' => closing_quote(bytes, start).unwrap_or_else(|| line_end(bytes, start)),
        b'<' if bytes.get(start + 1) == Some(&b'<') => heredoc_end(bytes, start),
        b'[' | b'{' => skip(bytes, start, |byte| !matches!(byte, b']' | b'}')).map_or(bytes.len(), |end| end + 1),
        _ => line_end(bytes, start),
    };
    Some(start..end)
}

/// The user information of a URL whose authority begins at `start`.
fn user_info(bytes: &[u8], start: usize) -> Option<Range<usize>> {
    let authority = bytes.get(start..)?;
    let ends = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b'"' | b'\n');
    let length = authority.iter().position(ends).unwrap_or(authority.len());
    let at = authority.get(..length)?.iter().rposition(|byte| *byte == b'@')?;
    (at > 0).then_some(start..start + at)
}

/// The first place from `from` on that is not to be skipped.
fn skip(bytes: &[u8], from: usize, skipped: impl Fn(u8) -> bool) -> Option<usize> {
    bytes.iter().skip(from).position(|byte| !skipped(*byte)).map(|length| from + length)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    skip(bytes, from, |byte| byte != b'\n').unwrap_or(bytes.len())
}

/// Behind the quote that closes the one at `open` on the same line, and behind what hangs on to it: in a broken text
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

/// Behind the closing word of a heredoc; the end of the text where there is none.
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

/// The last place at or before an offset where a character starts.
pub(super) fn floor(text: &str, offset: usize) -> usize {
    (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn ceiling(text: &str, offset: usize) -> usize {
    (offset..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}
