//! A pattern of an ignore file, and whether a name matches it.
//!
//! The rules of `.gitignore` (git, `gitignore(5)`, "PATTERN FORMAT"): `?`, `*` and a class match no slash, `**` as a
//! whole part of a name matches any number of folders, a backslash takes the next character as it is. Braces are
//! ordinary characters, and a character is one of Unicode's, as in Terraform. A name of *n* characters is matched in *n*
//! steps, each over the length of the pattern: no pattern takes longer.

/// A pattern that was read.
#[derive(Debug)]
pub(super) struct Glob {
    tokens: Vec<Token>,
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Char(char),
    /// `?`
    Any,
    /// `*`
    Star,
    Class {
        is_negated: bool,
        ranges: Vec<(char, char)>,
    },
    /// `**/`: no folder, or some. It stands before the first character of a folder's name.
    Folders,
    /// The rest of a folder's name, after [`Token::Folders`].
    InFolder,
    /// `**` at the end: what remains, which is not empty.
    Rest,
}

impl Glob {
    /// The pattern; `None` if a class is not closed, a range runs backwards or nothing follows a backslash.
    pub(super) fn parse(pattern: &str) -> Option<Self> {
        let mut tokens = Vec::new();
        let mut rest = pattern;
        while !rest.is_empty() {
            let begins_a_part = matches!(tokens.last(), None | Some(Token::Char('/') | Token::InFolder));
            if begins_a_part && rest == "**" {
                tokens.push(Token::Rest);
                break;
            }
            if let Some(after) = rest.strip_prefix("**/").filter(|_| begins_a_part) {
                if tokens.last() != Some(&Token::InFolder) {
                    tokens.extend([Token::Folders, Token::InFolder]);
                }
                rest = after;
                continue;
            }
            let token = match next(&mut rest)? {
                '?' => Token::Any,
                '*' => Token::Star,
                '[' => class(&mut rest)?,
                '\\' => Token::Char(next(&mut rest)?),
                other => Token::Char(other),
            };
            tokens.push(token);
        }
        Some(Self { tokens })
    }

    /// Whether the whole name matches; its parts are separated by `/`.
    pub(super) fn is_match(&self, name: &str) -> bool {
        // Before which tokens the matching can stand, after the characters so far.
        let mut places = vec![false; self.tokens.len() + 1];
        places[0] = true;
        self.pass_over(&mut places);
        for char in name.chars() {
            let mut after = vec![false; places.len()];
            for (place, token) in self.tokens.iter().enumerate().filter(|(place, _)| places[*place]) {
                let no_slash = char != '/';
                match token {
                    Token::Char(one) => after[place + 1] |= *one == char,
                    Token::Any => after[place + 1] |= no_slash,
                    Token::Star => after[place] |= no_slash,
                    Token::Class { is_negated, ranges } => {
                        let holds = ranges.iter().any(|(low, high)| (low..=high).contains(&&char));
                        after[place + 1] |= no_slash && holds != *is_negated;
                    }
                    Token::Folders => after[if no_slash { place + 1 } else { place }] = true,
                    Token::InFolder => after[if no_slash { place } else { place - 1 }] = true,
                    Token::Rest => after[place..=place + 1].fill(true),
                }
            }
            self.pass_over(&mut after);
            places = after;
        }
        places[self.tokens.len()]
    }

    /// Adds the places behind tokens that need no character.
    fn pass_over(&self, places: &mut [bool]) {
        for (place, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Star => places[place + 1] |= places[place],
                Token::Folders => places[place + 2] |= places[place],
                _ => {}
            }
        }
    }
}

/// The class whose `[` was read.
fn class(rest: &mut &str) -> Option<Token> {
    let is_negated = rest.starts_with(['!', '^']);
    *rest = &rest[usize::from(is_negated)..];
    let mut ranges = Vec::new();
    loop {
        // A bracket in the first place is a member.
        let low = match next(rest)? {
            ']' if !ranges.is_empty() => return Some(Token::Class { is_negated, ranges }),
            '\\' => next(rest)?,
            other => other,
        };
        let mut high = low;
        if let Some(after) = rest.strip_prefix('-').filter(|after| !after.starts_with(']')) {
            *rest = after;
            high = next(rest)?;
            if high == '\\' {
                high = next(rest)?;
            }
        }
        ranges.push((low, high));
        if low > high {
            return None;
        }
    }
}

/// Takes a character.
fn next(rest: &mut &str) -> Option<char> {
    let first = rest.chars().next()?;
    *rest = &rest[first.len_utf8()..];
    Some(first)
}

#[cfg(test)]
mod tests {
    use globset::GlobBuilder;
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(pattern: &str, yes: &[&str], no: &[&str]) {
        let glob = Glob::parse(pattern).expect("a pattern");
        let wrong = |names: &[&str], wanted: bool| -> Vec<String> {
            names.iter().filter(|name| glob.is_match(name) != wanted).map(ToString::to_string).collect()
        };
        assert_eq!((wrong(yes, true), wrong(no, false)), (vec![], vec![]), "{pattern}");
    }

    #[test]
    fn what_git_matches() {
        check("a*c", &["ac", "abc", "abbc"], &["a/c", "abcd", "xac"]);
        check("*", &["a", "é"], &["a/b"]);
        check("a?c", &["abc", "aéc"], &["ac", "a/c"]);
        check("**/a", &["a", "x/a", "x/y/a"], &["xa", "x/ya", "a/x"]);
        check("a/**/z", &["a/z", "a/b/z", "a/b/c/z"], &["az", "a/bz", "b/a/z"]);
        check("a/**", &["a/b", "a/b/c"], &["a", "ab", "a/"]);
        check("**", &["a", "a/b"], &[""]);
        check("a**b", &["ab", "axb"], &["a/b"]);
        check("**/**/a", &["a", "x/a", "x/y/a"], &["xa"]);
        check("[a-cx]", &["a", "b", "x"], &["d", "-", "ab"]);
        check("[!a]b", &["bb", "éb"], &["ab", "/b", "b"]);
        check("[^a-é]", &["ü"], &["b", "é"]);
        check("[]a]", &["]", "a"], &["b"]);
        check("[a-]", &["a", "-"], &["b"]);
        check("[-a]", &["a", "-"], &["b"]);
        check(r"[\]a]", &["]", "a"], &["\\"]);
        check(r"[a\-c]", &["a", "-", "c"], &["b"]);
        check(r"\*\a", &["*a"], &["ba"]);
        check("a{b,c}", &["a{b,c}"], &["ab"]);
        check("[a{]", &["a", "{"], &["[", "]"]);
    }

    #[test]
    fn what_is_no_pattern() {
        for text in ["[", "a[b", "[]", "[!]", "[z-a]", "a\\", "[a-", "[\\"] {
            assert!(Glob::parse(text).is_none(), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 2000, max_global_rejects: 8000, failure_persistence: None, ..ProptestConfig::default()
        })]
        /// Left out is where that matcher differs from git: escapes in classes are members for it, a negated class
        /// matches a slash, and some patterns match the bytes of a character.
        #[test]
        fn another_matcher_says_the_same(
            parts in prop::collection::vec(prop::sample::select(vec![
                "a", "b", "/", "/", "*", "*", "**", "**/", "/**/", "?", "[ab]", "[b-c]", "[]a]", r"\*", "[", "]", "\\",
            ]), 1..8),
            names in prop::collection::vec("[abc*]{1,2}(/[abc*]{1,2}){0,4}", 1..6),
        ) {
            let pattern = parts.concat();
            // The reader of a line has cut the slashes at its end.
            prop_assume!(!pattern.contains("//") && !pattern.ends_with('/'));
            prop_assume!(!regions(&pattern).any(|class| class.contains(['\\', '/', '!', '^'])));
            let other = GlobBuilder::new(&pattern).literal_separator(true).backslash_escape(true).build();
            let ours = Glob::parse(&pattern);
            prop_assert_eq!(ours.is_some(), other.is_ok(), "{}", pattern);
            if let (Some(ours), Ok(other)) = (ours, other) {
                let other = other.compile_matcher();
                for name in names {
                    prop_assert_eq!(ours.is_match(&name), other.is_match(&name), "{} {}", pattern, name);
                }
            }
        }
    }

    /// What stands behind each opening bracket, up to the last closing one.
    fn regions(pattern: &str) -> impl Iterator<Item = &str> {
        pattern.match_indices('[').map(|(at, _)| {
            let rest = &pattern[at + 1..];
            &rest[..rest.rfind(']').unwrap_or(rest.len())]
        })
    }
}
