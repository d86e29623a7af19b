//! JSON as Go's `encoding/json` takes it, with the place of every value.
//!
//! `serde_json` gives no places, keeps one of two members of the same name, and refuses texts that Go mends (bytes
//! that are not UTF-8, half a surrogate pair). Docker, podman and `OpenTofu` are Go: what they see is what counts.
//!
//! [`Node::parse`] checks the whole text without recursion; members and texts are read when they are asked for.

mod scan;
mod told;

use std::ops::Range;

use zeroize::Zeroizing;

pub(crate) use told::Lines;

/// A value inside a checked text.
#[derive(Clone, Copy)]
pub(crate) struct Node<'a> {
    whole: &'a [u8],
    start: usize,
    end: usize,
}

/// A member of an object.
pub(crate) struct Member<'a> {
    /// Its name, decoded.
    pub(crate) name: String,
    /// Where its name starts, the quote included.
    pub(crate) start: usize,
    /// Its value.
    pub(crate) value: Node<'a>,
}

/// What sort of value it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Null,
    Bool,
    Number,
    Text,
    List,
    Object,
}

/// Where a text stops being JSON. Quotes nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From 1.
    pub(crate) line: usize,
    /// In bytes, from 1.
    pub(crate) column: usize,
}

impl<'a> Node<'a> {
    /// Checks that the text is one JSON value and nothing else.
    ///
    /// # Errors
    /// Where it breaks. At most 10000 levels deep, as in Go.
    ///
    /// Spec: RFC 8259; Go 1.25, `encoding/json`, `Unmarshal`.
    pub(crate) fn parse(whole: &'a [u8]) -> Result<Self, Fault> {
        let start = scan::blanks(whole, 0);
        let end = scan::value(whole, start).and_then(|end| {
            let rest = scan::blanks(whole, end);
            if rest == whole.len() { Ok(end) } else { Err(rest) }
        });
        let end = end.map_err(|offset| {
            let (line, column) = position(whole, offset);
            Fault { line, column }
        })?;
        Ok(Self { whole, start, end })
    }

    /// Where it stands in the text.
    pub(crate) fn span(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The line on which it starts, from 1.
    pub(crate) fn line(&self) -> usize {
        position(self.whole, self.start).0
    }

    /// Its own bytes.
    pub(crate) fn raw(&self) -> &'a [u8] {
        &self.whole[self.start..self.end]
    }

    /// What sort of value it is.
    pub(crate) fn sort(&self) -> Sort {
        match self.whole[self.start] {
            b'n' => Sort::Null,
            b't' | b'f' => Sort::Bool,
            b'"' => Sort::Text,
            b'[' => Sort::List,
            b'{' => Sort::Object,
            _ => Sort::Number,
        }
    }

    /// The members of an object in their order, those of the same name all of them; none of another value.
    pub(crate) fn members(&self) -> Vec<Member<'a>> {
        let mut members = Vec::new();
        if self.sort() != Sort::Object {
            return members;
        }
        let mut at = scan::blanks(self.whole, self.start + 1);
        while self.whole[at] == b'"' {
            let name = self.child(at);
            let colon = scan::blanks(self.whole, name.end);
            let value = self.child(scan::blanks(self.whole, colon + 1));
            members.push(Member { name: text(name.raw()).to_string(), start: at, value });
            at = self.after(value.end);
        }
        members
    }

    /// The items of a list; none of another value.
    pub(crate) fn items(&self) -> Vec<Node<'a>> {
        let mut items = Vec::new();
        if self.sort() != Sort::List {
            return items;
        }
        let mut at = scan::blanks(self.whole, self.start + 1);
        while self.whole[at] != b']' {
            let item = self.child(at);
            items.push(item);
            at = self.after(item.end);
        }
        items
    }

    /// The text of a text.
    pub(crate) fn text(&self) -> Option<Zeroizing<String>> {
        (self.sort() == Sort::Text).then(|| text(self.raw()))
    }

    fn child(&self, start: usize) -> Node<'a> {
        let end = scan::value(self.whole, start).expect("the whole text was checked");
        Node { whole: self.whole, start, end }
    }

    /// The next item behind one that ends here, or the closing bracket.
    fn after(&self, end: usize) -> usize {
        let at = scan::blanks(self.whole, end);
        if self.whole[at] == b',' { scan::blanks(self.whole, at + 1) } else { at }
    }
}

/// Whether a member of this name is what Go reads into a field called `wanted` (ASCII letters): case does not count,
/// and two letters outside ASCII fold into it.
///
/// Spec: Go 1.25, `encoding/json`, `foldName`.
pub(crate) fn same_name(name: &str, wanted: &str) -> bool {
    let fold = |letter: char| match letter {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        _ => letter.to_ascii_lowercase(),
    };
    name.chars().map(fold).eq(wanted.chars().map(fold))
}

/// Line and column of an offset, from 1.
fn position(whole: &[u8], offset: usize) -> (usize, usize) {
    let before = &whole[..offset.min(whole.len())];
    let line = before.split(|byte| *byte == b'\n').count();
    let column = 1 + before.iter().rev().take_while(|byte| **byte != b'\n').count();
    (line, column)
}

/// The text between the quotes. What is not UTF-8 and half surrogate pairs become U+FFFD.
fn text(quoted: &[u8]) -> Zeroizing<String> {
    let inner = &quoted[1..quoted.len() - 1];
    // Nothing grows by being decoded but bytes that are not UTF-8, so that no copy of a secret is left behind.
    let mut text = Zeroizing::new(String::with_capacity(inner.len() * 3));
    let mut rest = inner;
    while let Some(escape) = rest.iter().position(|byte| *byte == b'\\') {
        push_lossy(&mut text, &rest[..escape]);
        rest = &rest[escape + 1..];
        rest = match rest[0] {
            b'u' => push_escaped(&mut text, &rest[1..]),
            letter => {
                text.push(match letter {
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    other => char::from(other),
                });
                &rest[1..]
            }
        };
    }
    push_lossy(&mut text, rest);
    text
}

fn push_lossy(text: &mut String, bytes: &[u8]) {
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        // Go counts every such byte, not every broken sequence.
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
}

/// Reads what follows `\u`, the second half of a surrogate pair included.
fn push_escaped<'a>(text: &mut String, rest: &'a [u8]) -> &'a [u8] {
    let unit =
        |hex: &[u8]| hex.iter().fold(0_u32, |sum, digit| sum * 16 + char::from(*digit).to_digit(16).unwrap_or(0));
    let (first, rest) = (unit(&rest[..4]), &rest[4..]);
    if let Some(character) = char::from_u32(first) {
        text.push(character);
        return rest;
    }
    if (0xd800..0xdc00).contains(&first) && rest.len() >= 6 && rest.starts_with(b"\\u") {
        let second = unit(&rest[2..6]);
        if (0xdc00..0xe000).contains(&second) {
            text.extend(char::from_u32(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00)));
            return &rest[6..];
        }
    }
    text.push(char::REPLACEMENT_CHARACTER);
    rest
}

#[cfg(test)]
mod tests;
