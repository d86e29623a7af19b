//! Rust source with everything blanked that is not code of the product: comments, literals, test modules.
//!
//! Not a parser: enough of the lexical rules to search for words without meeting them in prose.

/// The lines of code, with their numbers from 1. A line of comment is an empty line here; an inline module under
/// `#[cfg(test)]` ends the text, because tests stand last in a file.
pub(super) fn code_lines(text: &str) -> Vec<(usize, String)> {
    let blanked = blank(text);
    let mut lines = Vec::new();
    let mut after_test_attribute = false;
    for (index, line) in blanked.lines().enumerate() {
        if after_test_attribute && line.starts_with("mod ") && line.trim_end().ends_with('{') {
            break;
        }
        after_test_attribute = line.trim() == "#[cfg(test)]" || (after_test_attribute && line.trim().is_empty());
        lines.push((index + 1, line.to_owned()));
    }
    lines
}

/// The names of the modules that `#[cfg(test)] mod NAME;` keeps in files of their own.
pub(super) fn test_modules(text: &str) -> Vec<String> {
    let blanked = blank(text);
    let mut names = Vec::new();
    let mut after_test_attribute = false;
    for line in blanked.lines().map(str::trim) {
        let declared = line.strip_suffix(';').and_then(|line| line.rsplit_once("mod ")).map(|(_, name)| name);
        if let (true, Some(name)) = (after_test_attribute, declared) {
            names.push(name.to_owned());
        }
        after_test_attribute = line == "#[cfg(test)]" || (after_test_attribute && line.is_empty());
    }
    names
}

/// The text with spaces in place of comments and of what stands in string literals; line breaks stay.
fn blank(text: &str) -> String {
    let mut rest = text;
    let mut out = String::with_capacity(text.len());
    while let Some(next) = rest.chars().next() {
        let hidden = hidden_length(rest, out.chars().next_back());
        if hidden > 0 {
            out.extend(rest[..hidden].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[hidden..];
        } else {
            out.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    out
}

/// How many bytes from here are a comment or a literal; 0 when code goes on.
fn hidden_length(rest: &str, before: Option<char>) -> usize {
    let after_name = before.is_some_and(|c| c.is_alphanumeric() || c == '_');
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return block_comment(rest);
    }
    if !after_name && (rest.starts_with("r\"") || rest.starts_with("r#")) {
        return raw_string(rest);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    if rest.starts_with('\'') { character(rest) } else { 0 }
}

fn block_comment(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

fn raw_string(rest: &str) -> usize {
    let hashes = rest[1..].chars().take_while(|c| *c == '#').count();
    if !rest[1 + hashes..].starts_with('"') {
        return 0; // a raw identifier
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let start = 2 + hashes;
    rest[start..].find(&end).map_or(rest.len(), |at| start + at + end.len())
}

fn quoted(rest: &str, end: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == end => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A character literal; 0 for a lifetime.
fn character(rest: &str) -> usize {
    let mut chars = rest.chars().skip(1);
    match (chars.next(), chars.next()) {
        (Some('\\'), _) => quoted(rest, '\''),
        (Some(c), Some('\'')) => 2 + c.len_utf8(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(blank(text), want);
    }

    #[test]
    fn prose_is_blank() {
        check("a // b\nc", "a     \nc");
        check("a /* /* b */ */ c", "a               c");
        check(r#"f("a\"b", 1)"#, "f(      , 1)");
        check(r##"f(r#"a"b"#)"##, "f(        )");
    }

    #[test]
    fn test_modules_in_files_are_named() {
        let text = "#[cfg(test)]\npub(crate) mod builder;\nmod zip;\n#[cfg(test)]\nmod tests {}\n";
        assert_eq!(test_modules(text), ["builder"]);
    }

    #[test]
    fn code_stays() {
        check("fn f<'a>(x: &'a str) -> char { '\"' }", "fn f<'a>(x: &'a str) -> char {     }");
        check(r"let c = '\''; r#type", r"let c =     ; r#type");
    }
}
