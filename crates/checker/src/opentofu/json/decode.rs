//! Types: tokens to values, in place, as Go does it. A value of a wrong type is noted and skipped; the rest is
//! still read.

use super::scan::{GoJsonToken, Invalid, scan};

/// Reads a document into `target`; false if Go's `Unmarshal` returns an error. `target` keeps what was read before.
pub(super) fn unmarshal<T: JsonTarget>(bytes: &[u8], target: &mut T) -> bool {
    let Ok(tokens) = scan(bytes).map_err(|Invalid| ()) else { return false };
    let mut reader = JsonReader { tokens: &tokens, at: 0, wrong: false };
    reader.read(target);
    !reader.wrong
}

/// Something that a value is read into.
pub(super) trait JsonTarget {
    /// `null`.
    fn null(&mut self) {}
    /// A text; false if that is a wrong type.
    fn text(&mut self, _text: &str) -> bool {
        false
    }
    /// A number; false if that is a wrong type, or does not fit.
    fn number(&mut self, _number: &str) -> bool {
        false
    }
    /// An array; false if that is a wrong type.
    fn array(&mut self, _reader: &mut JsonReader<'_>) -> bool {
        false
    }
    /// An object; false if that is a wrong type.
    fn object(&mut self, _reader: &mut JsonReader<'_>) -> bool {
        false
    }
}

/// A place among the tokens.
pub(super) struct JsonReader<'a> {
    tokens: &'a [GoJsonToken<'a>],
    at: usize,
    wrong: bool,
}

impl<'a> JsonReader<'a> {
    /// Reads the value here into `target`, and moves after it.
    pub(super) fn read(&mut self, target: &mut dyn JsonTarget) {
        let token = &self.tokens[self.at];
        let behind = self.behind();
        self.at += 1;
        let right = match token {
            GoJsonToken::Null => {
                target.null();
                true
            }
            GoJsonToken::Bool | GoJsonToken::End => false,
            GoJsonToken::Number(number) => target.number(number),
            GoJsonToken::Text(text) => target.text(text),
            GoJsonToken::Array(_) => target.array(self),
            GoJsonToken::Object(_) => target.object(self),
        };
        self.wrong |= !right;
        self.at = behind;
    }

    /// Whether another element or member follows in the container.
    pub(super) fn more(&self) -> bool {
        self.tokens[self.at] != GoJsonToken::End
    }

    /// The name of the next member; moves to its value.
    pub(super) fn name(&mut self) -> &'a str {
        let GoJsonToken::Text(name) = &self.tokens[self.at] else { return "" };
        self.at += 1;
        name
    }

    /// Skips the value here.
    pub(super) fn skip(&mut self) {
        self.at = self.behind();
    }

    /// Notes that a value was of a wrong type.
    pub(super) fn complain(&mut self) {
        self.wrong = true;
    }

    fn behind(&self) -> usize {
        match &self.tokens[self.at] {
            GoJsonToken::Array(end) | GoJsonToken::Object(end) => *end,
            _ => self.at + 1,
        }
    }
}

/// The member of this name: the exact one, else the first that differs only in case.
pub(super) fn member(name: &str, members: &[&str]) -> Option<usize> {
    let exact = members.iter().position(|member| *member == name);
    exact.or_else(|| members.iter().position(|member| name.chars().map(fold).eq(member.chars().map(fold))))
}

/// Go's simple folding, as far as it leads to ASCII.
fn fold(character: char) -> char {
    match character {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        _ => character.to_ascii_lowercase(),
    }
}

impl JsonTarget for String {
    fn text(&mut self, text: &str) -> bool {
        text.clone_into(self);
        true
    }
}

impl JsonTarget for i64 {
    fn number(&mut self, number: &str) -> bool {
        number.parse().map(|value| *self = value).is_ok()
    }
}

/// A pointer: null removes it, any other value is read into it.
impl<T: JsonTarget + Default> JsonTarget for Option<T> {
    fn null(&mut self) {
        *self = None;
    }
    fn text(&mut self, text: &str) -> bool {
        self.get_or_insert_default().text(text)
    }
    fn number(&mut self, number: &str) -> bool {
        self.get_or_insert_default().number(number)
    }
    fn array(&mut self, reader: &mut JsonReader<'_>) -> bool {
        self.get_or_insert_default().array(reader)
    }
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        self.get_or_insert_default().object(reader)
    }
}

/// A slice. A second array is read over the elements of the first: members that it does not name keep their values.
#[derive(Debug, Default)]
pub(super) struct Slice<T> {
    storage: Vec<T>,
    length: usize,
}

impl<T> Slice<T> {
    /// The elements.
    pub(super) fn into_vec(mut self) -> Vec<T> {
        self.storage.truncate(self.length);
        self.storage
    }
}

impl<T: JsonTarget + Default> JsonTarget for Slice<T> {
    fn null(&mut self) {
        *self = Self { storage: Vec::new(), length: 0 };
    }

    fn array(&mut self, reader: &mut JsonReader<'_>) -> bool {
        self.length = 0;
        while reader.more() {
            if self.length == self.storage.len() {
                self.storage.push(T::default());
            }
            reader.read(&mut self.storage[self.length]);
            self.length += 1;
        }
        if self.length == 0 {
            self.storage.clear();
        }
        true
    }
}

/// A map of texts, which is checked and not kept.
#[derive(Debug, Default)]
pub(super) struct Texts;

impl JsonTarget for Texts {
    fn object(&mut self, reader: &mut JsonReader<'_>) -> bool {
        while reader.more() {
            reader.name();
            reader.read(&mut String::new());
        }
        true
    }
}

/// Bytes in Base64, which are checked and not kept.
#[derive(Debug, Default)]
pub(super) struct Base64;

impl JsonTarget for Base64 {
    fn text(&mut self, text: &str) -> bool {
        is_base64(text)
    }

    /// A slice of bytes may also be written as an array of numbers.
    fn array(&mut self, reader: &mut JsonReader<'_>) -> bool {
        while reader.more() {
            let mut byte = 0_i64;
            reader.read(&mut byte);
            if !(0..=255).contains(&byte) {
                reader.complain();
            }
        }
        true
    }
}

/// Standard Base64 with padding; line breaks and the bits left over are ignored.
fn is_base64(text: &str) -> bool {
    let symbols: Vec<u8> = text.bytes().filter(|byte| !matches!(byte, b'\r' | b'\n')).collect();
    let data = symbols.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')).count();
    let padding = symbols.len() - data;
    symbols[data..].iter().all(|byte| *byte == b'=') && symbols.len().is_multiple_of(4) && padding <= 2
}
