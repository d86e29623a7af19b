//! Places in a text, for people.

use std::fmt;

/// A place in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Where the byte `offset` of `text` stands. An offset inside a character counts as that character, one after the
/// end as the end. Only `\n` ends a line.
pub fn position(text: &str, offset: usize) -> Position {
    let mut place = Position { line: 1, column: 1 };
    for (at, character) in text.char_indices() {
        if at + character.len_utf8() > offset {
            break;
        }
        if character == '\n' {
            place.line += 1;
            place.column = 1;
        } else {
            place.column += 1;
        }
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, offset: usize, want: &str) {
        assert_eq!(position(text, offset).to_string(), want);
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
    fn behind_the_end_is_the_end() {
        check("ab\n", 99, "2:1");
    }
}
