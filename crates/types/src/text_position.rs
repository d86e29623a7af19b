//! A position in a text, for people.

use std::fmt;

/// A position in a text; `2:5` as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct TextPosition {
    /// The line, from 1. Only `\n` ends a line.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl TextPosition {
    /// The first character of a text.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The position of the byte `offset` of `text`. An offset inside a character counts as that character, one after
    /// the end as the end.
    pub fn of(text: &str, offset: usize) -> Self {
        let mut position = Self::START;
        for (at, character) in text.char_indices() {
            if at + character.len_utf8() > offset {
                break;
            }
            if character == '\n' {
                position = Self { line: position.line + 1, column: 1 };
            } else {
                position.column += 1;
            }
        }
        position
    }
}

impl fmt::Display for TextPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: usize, want: &str) {
        assert_eq!(TextPosition::of(text, offset).to_string(), want);
    }

    #[test]
    fn counts_characters_and_lines() {
        check("", 0, "1:1");
        check("ab", 1, "1:2");
        check("a\nb", 1, "1:2");
        check("a\nb", 2, "2:1");
        check("é!", 1, "1:1");
        check("é!", 2, "1:2");
        check("a\r\nb", 3, "2:1");
    }

    #[test]
    fn after_the_end_is_the_end() {
        check("ab\n", 99, "2:1");
    }
}
