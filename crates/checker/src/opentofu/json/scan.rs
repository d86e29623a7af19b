//! Syntax: bytes to a flat list of tokens. Nothing here recurses, so depth costs no stack.

/// The deepest nesting that Go reads.
const MAX_DEPTH: usize = 10_000;

/// A value, or an end of one.
#[derive(Debug, PartialEq)]
pub(super) enum GoJsonToken<'a> {
    Null,
    Bool,
    Number(&'a str),
    Text(String),
    /// The position after its end.
    Array(usize),
    /// Followed by name and value in turns; the position after its end.
    Object(usize),
    End,
}

/// The bytes are not a JSON document for Go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Invalid;

/// The tokens of a whole document.
pub(super) fn scan(bytes: &[u8]) -> Result<Vec<GoJsonToken<'_>>, Invalid> {
    let mut scan = Scan { bytes, at: 0, tokens: Vec::new(), open: Vec::new() };
    scan.value()?;
    while let Some(container) = scan.open.last().copied() {
        scan.inside(container)?;
    }
    scan.blanks();
    if scan.at == bytes.len() { Ok(scan.tokens) } else { Err(Invalid) }
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    tokens: Vec<GoJsonToken<'a>>,
    /// The tokens of the open containers.
    open: Vec<usize>,
}

impl<'a> Scan<'a> {
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn eat(&mut self, byte: u8) -> Result<(), Invalid> {
        if self.peek() == Some(byte) {
            self.at += 1;
            return Ok(());
        }
        Err(Invalid)
    }

    /// One step inside a container: its end, or its next element.
    fn inside(&mut self, container: usize) -> Result<(), Invalid> {
        let object = matches!(self.tokens[container], GoJsonToken::Object(_));
        let close = if object { b'}' } else { b']' };
        let first = container + 1 == self.tokens.len();
        self.blanks();
        if self.peek() == Some(close) {
            self.at += 1;
            self.tokens.push(GoJsonToken::End);
            let behind = self.tokens.len();
            match &mut self.tokens[container] {
                GoJsonToken::Array(end) | GoJsonToken::Object(end) => *end = behind,
                _ => {}
            }
            self.open.pop();
            return Ok(());
        }
        if !first {
            self.eat(b',')?;
            self.blanks();
        }
        if object {
            let name = self.text()?;
            self.tokens.push(GoJsonToken::Text(name));
            self.blanks();
            self.eat(b':')?;
        }
        self.value()
    }

    fn value(&mut self) -> Result<(), Invalid> {
        self.blanks();
        let token = match self.peek().ok_or(Invalid)? {
            b'{' => return self.enter(GoJsonToken::Object(0)),
            b'[' => return self.enter(GoJsonToken::Array(0)),
            b'"' => GoJsonToken::Text(self.text()?),
            b'n' => self.word("null", GoJsonToken::Null)?,
            b't' => self.word("true", GoJsonToken::Bool)?,
            b'f' => self.word("false", GoJsonToken::Bool)?,
            _ => GoJsonToken::Number(self.number()?),
        };
        self.tokens.push(token);
        Ok(())
    }

    fn enter(&mut self, token: GoJsonToken<'a>) -> Result<(), Invalid> {
        self.at += 1;
        self.open.push(self.tokens.len());
        self.tokens.push(token);
        if self.open.len() > MAX_DEPTH { Err(Invalid) } else { Ok(()) }
    }

    fn word(&mut self, word: &str, token: GoJsonToken<'a>) -> Result<GoJsonToken<'a>, Invalid> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(token);
        }
        Err(Invalid)
    }

    fn digits(&mut self) -> Result<(), Invalid> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Invalid) }
    }

    fn number(&mut self) -> Result<&'a str, Invalid> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        std::str::from_utf8(&self.bytes[start..self.at]).map_err(|_| Invalid)
    }

    /// A quoted text. Bytes that are not UTF-8 and half surrogates become U+FFFD.
    fn text(&mut self) -> Result<String, Invalid> {
        self.eat(b'"')?;
        let mut text = Vec::new();
        loop {
            match self.peek().ok_or(Invalid)? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    let mut buffer = [0; 4];
                    text.extend_from_slice(self.escape()?.encode_utf8(&mut buffer).as_bytes());
                }
                0..0x20 => return Err(Invalid),
                byte => {
                    self.at += 1;
                    text.push(byte);
                }
            }
        }
        self.at += 1;
        Ok(match String::from_utf8(text) {
            Ok(text) => text,
            Err(error) => lossy(error.as_bytes()),
        })
    }

    fn escape(&mut self) -> Result<char, Invalid> {
        let byte = self.peek().ok_or(Invalid)?;
        self.at += 1;
        Ok(match byte {
            b'"' | b'\\' | b'/' => char::from(byte),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                let unit = self.unit()?;
                if let Some(plain) = char::from_u32(unit) {
                    return Ok(plain);
                }
                self.second_half(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            _ => return Err(Invalid),
        })
    }

    fn unit(&mut self) -> Result<u32, Invalid> {
        let digits = self.bytes.get(self.at..self.at + 4).ok_or(Invalid)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(Invalid);
        }
        self.at += 4;
        let digits = std::str::from_utf8(digits).map_err(|_| Invalid)?;
        u32::from_str_radix(digits, 16).map_err(|_| Invalid)
    }

    /// The character of a surrogate pair, or `None` if the other half does not follow.
    fn second_half(&mut self, first: u32) -> Option<char> {
        let start = self.at;
        if self.bytes[self.at..].starts_with(b"\\u") {
            self.at += 2;
            if let Ok(second) = self.unit()
                && (0xd800..0xdc00).contains(&first)
                && (0xdc00..0xe000).contains(&second)
            {
                return char::from_u32(0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00));
            }
        }
        self.at = start;
        None
    }
}

/// The text, with U+FFFD for each byte that is not UTF-8.
fn lossy(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(chunk.invalid().iter().map(|_| char::REPLACEMENT_CHARACTER));
    }
    text
}
