//! The tokeniser that versions and constraints share.
//!
//! ```text
//! op      sep      nums                       pre        meta       rest
//! >=      ' '      1.2.3                      -beta.1    +build     , < 2.0
//! run of  run of   digits, *, x or X,         [A-Za-z0-9.-]+        what is left over
//! others  blanks   joined by dots
//!         and v
//! ```
//!
//! Prerelease and metadata are taken greedily and without semver's checks; a `-`, `+` or `.` at the end is dropped.

/// The beginning of a text, cut into its pieces.
#[derive(Debug, Default)]
pub(crate) struct VersionToken<'a> {
    /// Everything before the first blank, letter, digit, dot or star.
    pub(crate) op: &'a str,
    /// Blanks and `v` after the operator.
    pub(crate) sep: &'a str,
    /// The numbers, or wildcards in their place.
    pub(crate) nums: Vec<&'a str>,
    pub(crate) pre: &'a str,
    pub(crate) meta: &'a str,
    pub(crate) rest: &'a str,
}

impl<'a> VersionToken<'a> {
    pub(crate) fn scan(text: &'a str) -> Self {
        let mut token = Self::default();
        let is_op =
            |character: char| !(character.is_ascii_alphanumeric() || is_blank(character) || ".*".contains(character));
        let (op, mut rest) = take(text, is_op);
        token.op = op;
        (token.sep, rest) = take(rest, |character| is_blank(character) || character == 'v');
        while let Some((number, after)) = number(rest) {
            token.nums.push(number);
            rest = after;
            let Some(after) = rest.strip_prefix('.') else { break };
            rest = after;
        }
        if !token.nums.is_empty() {
            // A dot without a number after it ends the version: `1.-beta` has no prerelease.
            if !text[..text.len() - rest.len()].ends_with('.') {
                let dash = rest.starts_with('-');
                (token.pre, rest) = extra(rest, '-');
                // After a dash on its own the rest is not read.
                if !dash || !token.pre.is_empty() {
                    (token.meta, rest) = extra(rest, '+');
                }
            }
        }
        token.rest = rest;
        token
    }

    /// Whether one of the first three numbers is a wildcard.
    pub(crate) fn has_wildcard(&self) -> bool {
        self.nums.iter().take(3).any(|number| matches!(*number, "*" | "x" | "X"))
    }

    /// Major, minor and patch, the absent ones zero; `None` if one is above 2^64 - 1.
    pub(crate) fn numbers(&self) -> Option<[u64; 3]> {
        let mut numbers = [0; 3];
        for (number, text) in numbers.iter_mut().zip(&self.nums) {
            *number = text.parse().ok()?;
        }
        Some(numbers)
    }
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')
}

fn take(text: &str, wanted: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|character| !wanted(character)).unwrap_or(text.len()))
}

fn number(text: &str) -> Option<(&str, &str)> {
    match text.chars().next()? {
        '*' | 'x' | 'X' => Some(text.split_at(1)),
        '0'..='9' => Some(take(text, |character| character.is_ascii_digit())),
        _ => None,
    }
}

/// What follows `mark`; the mark alone is dropped.
fn extra(text: &str, mark: char) -> (&str, &str) {
    match text.strip_prefix(mark) {
        Some(after) => take(after, |character| character.is_ascii_alphanumeric() || ".-".contains(character)),
        None => ("", text),
    }
}
