//! JSON with the place of each value.
//!
//! serde's own values lose places and the first of two members of one name, and copy secrets into memory that is never
//! wiped. Nothing is copied here: texts keep their escapes until someone asks for them.

use std::ops::Range;

use serde::de::IgnoredAny;
use zeroize::Zeroizing;

/// The deepest nesting of values that are kept.
const DEPTH: usize = 128;

/// The deepest nesting that Go reads.
///
/// Spec: Go 1.25, encoding/json, `maxNestingDepth`.
const GO_DEPTH: usize = 10_000;

/// A value of a text.
#[derive(Clone)]
pub struct JsonValue<'a> {
    /// Its bytes in the text.
    pub span: Range<usize>,
    /// The line on which it begins, from 1.
    pub line: usize,
    pub kind: JsonKind<'a>,
}

/// What a value is.
#[derive(Clone)]
pub enum JsonKind<'a> {
    Null,
    Bool(bool),
    /// As written.
    Number(&'a str),
    String(JsonString<'a>),
    Array(Vec<JsonValue<'a>>),
    /// In the order of the text; a name may occur twice.
    Object(Vec<JsonMember<'a>>),
    /// An array or an object at the 128th level, which only [`JsonValue::parse_as_go`] passes over.
    Deep,
}

/// A member of an object.
#[derive(Clone)]
pub struct JsonMember<'a> {
    pub name: JsonString<'a>,
    /// From its name to the end of its value.
    pub span: Range<usize>,
    /// The line on which its name begins, from 1.
    pub line: usize,
    pub value: JsonValue<'a>,
}

/// A text as it is written, between its quotes.
#[derive(Clone, Copy)]
pub struct JsonString<'a> {
    written: &'a str,
    start: usize,
}

/// Where and why a text is not JSON. Quotes nothing of it.
#[derive(Debug, PartialEq, Eq)]
pub struct JsonFault {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// What serde says.
    pub message: String,
}

impl<'a> JsonValue<'a> {
    /// Reads a whole text, at most 128 levels deep.
    ///
    /// # Errors
    /// If it is not JSON. Half a surrogate pair is, as for Go.
    pub fn parse(text: &'a str) -> Result<Self, JsonFault> {
        Self::read(text, DEPTH - 1)
    }

    /// Reads a whole text as deep as Go does. What is deeper than 127 levels becomes [`JsonKind::Deep`].
    ///
    /// # Errors
    /// As [`JsonValue::parse`].
    pub fn parse_as_go(text: &'a str) -> Result<Self, JsonFault> {
        Self::read(text, GO_DEPTH)
    }

    fn read(text: &'a str, limit: usize) -> Result<Self, JsonFault> {
        serde_json::from_str::<IgnoredAny>(text).map_err(|error| {
            // The parser skips values, so its error names the syntax and quotes nothing.
            let said = error.to_string();
            let message = said.split(" at line ").next().unwrap_or_default().to_owned();
            JsonFault { line: error.line().max(1), column: error.column().max(1), message }
        })?;
        JsonWalker { text, at: 0, line: 1, depth: 0, limit }.value()
    }

    /// The members of an object; none of another value.
    pub fn members(&self) -> &[JsonMember<'a>] {
        if let JsonKind::Object(members) = &self.kind { members } else { &[] }
    }

    /// The text of a text.
    pub fn text(&self) -> Option<Zeroizing<String>> {
        if let JsonKind::String(text) = self.kind { Some(text.text()) } else { None }
    }
}

impl JsonMember<'_> {
    /// Whether Go takes the member for the field of this name (of small and capital ASCII letters): letters of either
    /// case, and the two others that fold to `s` and `k`.
    ///
    /// Spec: Go 1.25, encoding/json, `foldName`.
    pub fn is_named(&self, name: &str) -> bool {
        let fold = |letter: char| match letter {
            'ſ' => 's',
            '\u{212a}' => 'k',
            _ => letter.to_ascii_lowercase(),
        };
        self.name.text().chars().map(fold).eq(name.chars().map(fold))
    }
}

impl JsonString<'_> {
    /// Where it ends, after its quote.
    pub(crate) fn end(self) -> usize {
        self.start + self.written.len() + 1
    }

    /// The text without its escapes. Half a surrogate pair becomes U+FFFD, as in Go.
    pub fn text(self) -> Zeroizing<String> {
        let mut rest = self.written;
        // Nothing is longer than its escape, so the memory is never moved.
        let mut text = Zeroizing::new(String::with_capacity(rest.len()));
        while let Some((plain, escape)) = rest.split_once('\\') {
            text.push_str(plain);
            let letter = escape.chars().next().unwrap_or('\\');
            rest = escape.get(letter.len_utf8()..).unwrap_or_default();
            text.push(match letter {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let (letter, behind) = unicode(rest);
                    rest = behind;
                    letter
                }
                other => other,
            });
        }
        text.push_str(rest);
        text
    }
}

/// The character of `XXXX`, or of `XXXX\uXXXX`, and what follows.
fn unicode(rest: &str) -> (char, &str) {
    let unit = |text: &str| text.get(..4).and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let Some(first) = unit(rest) else { return (char::REPLACEMENT_CHARACTER, rest) };
    let behind = rest.get(4..).unwrap_or_default();
    let second = behind.strip_prefix("\\u").and_then(unit);
    match char::decode_utf16([first].into_iter().chain(second)).next() {
        Some(Ok(letter)) if letter.len_utf16() == 2 => (letter, behind.get(6..).unwrap_or_default()),
        Some(Ok(letter)) => (letter, behind),
        _ => (char::REPLACEMENT_CHARACTER, behind),
    }
}

/// Walks a text that is known to be well-formed.
struct JsonWalker<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    depth: usize,
    /// The most levels.
    limit: usize,
}

impl<'a> JsonWalker<'a> {
    /// The next byte that is not a blank, which stays unread.
    fn peek(&mut self) -> Option<u8> {
        loop {
            let byte = self.text.as_bytes().get(self.at).copied()?;
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                _ => return Some(byte),
            }
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<JsonValue<'a>, JsonFault> {
        let first = self.peek();
        let (start, line) = (self.at, self.line);
        let kind = match first {
            Some(b'{' | b'[') if self.depth + 1 == DEPTH => self.deep()?,
            Some(b'{') => JsonKind::Object(self.all(b'}', Self::member)?),
            Some(b'[') => JsonKind::Array(self.all(b']', Self::value)?),
            Some(b'"') => JsonKind::String(self.string()),
            _ => self.word(),
        };
        Ok(JsonValue { span: start..self.at, line, kind })
    }

    /// What stands between brackets.
    fn all<T>(
        &mut self,
        close: u8,
        mut next: impl FnMut(&mut Self) -> Result<T, JsonFault>,
    ) -> Result<Vec<T>, JsonFault> {
        self.at += 1;
        self.depth += 1;
        let mut found = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b',' => self.at += 1,
                byte if byte == close => break,
                _ => found.push(next(self)?),
            }
        }
        self.at += 1;
        self.depth -= 1;
        Ok(found)
    }

    /// Passes over an array or an object without recursion.
    fn deep(&mut self) -> Result<JsonKind<'a>, JsonFault> {
        let outside = self.depth;
        while let Some(byte) = self.peek() {
            match byte {
                b'"' => {
                    self.string();
                    continue;
                }
                b'{' | b'[' if self.depth == self.limit => {
                    let column = self.at + 1 - self.text[..self.at].rfind('\n').map_or(0, |end| end + 1);
                    return Err(JsonFault { line: self.line, column, message: "recursion limit exceeded".to_owned() });
                }
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => self.depth -= 1,
                _ => {}
            }
            self.at += 1;
            if self.depth == outside {
                break;
            }
        }
        Ok(JsonKind::Deep)
    }

    fn member(&mut self) -> Result<JsonMember<'a>, JsonFault> {
        let (start, line, name) = (self.at, self.line, self.string());
        self.peek();
        self.at += 1;
        let value = self.value()?;
        Ok(JsonMember { name, span: start..self.at, line, value })
    }

    fn string(&mut self) -> JsonString<'a> {
        let start = self.at + 1;
        let rest = self.text.get(start..).unwrap_or_default();
        let mut is_escaped = false;
        let ends = |byte: u8| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        };
        let end = rest.bytes().position(ends).unwrap_or(rest.len());
        self.at = start + end + 1;
        JsonString { written: rest.get(..end).unwrap_or_default(), start }
    }

    fn word(&mut self) -> JsonKind<'a> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let word = rest.split([',', ']', '}', ' ', '\t', '\n', '\r']).next().unwrap_or_default();
        self.at += word.len().max(1);
        match word {
            "true" => JsonKind::Bool(true),
            "false" => JsonKind::Bool(false),
            "null" => JsonKind::Null,
            number => JsonKind::Number(number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value with every place, for people.
    fn shown(json: &JsonValue<'_>) -> String {
        let text = match &json.kind {
            JsonKind::Null => "null".to_owned(),
            JsonKind::Bool(value) => value.to_string(),
            JsonKind::Number(text) => (*text).to_owned(),
            JsonKind::String(text) => format!("{:?}", text.text().as_str()),
            JsonKind::Deep => "deep".to_owned(),
            JsonKind::Array(list) => format!("[{}]", list.iter().map(shown).collect::<Vec<_>>().join(" ")),
            JsonKind::Object(members) => {
                let member = |member: &JsonMember<'_>| {
                    let (name, span) = (member.name.text(), &member.span);
                    format!("{}@{}-{}:{}", name.as_str(), span.start, span.end, shown(&member.value))
                };
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" "))
            }
        };
        let line = if json.line == 1 { String::new() } else { format!("/{}", json.line) };
        format!("{text}@{}-{}{line}", json.span.start, json.span.end)
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = JsonValue::parse(text)
            .map_or_else(|fault| format!("{}:{}: {}", fault.line, fault.column, fault.message), |json| shown(&json));
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn values_know_where_they_are() {
        check(
            r#"{"a": 1.50, "b":[true,null , "x\"y\\"]}"#,
            r#"{a@1-10:1.50@6-10 b@12-38:[true@17-21 null@22-26 "x\"y\\"@29-37]@16-38}@0-39"#,
        );
        check(" [] ", "[]@1-3");
        check("{\n \"a\":\n  [1]}", "{a@3-13:[1@11-12/3]@10-13/3}@0-14");
        check("-1e3", "-1e3@0-4");
        // OpenTofu 1.12 takes it, too.
        check("1e999", "1e999@0-5");
    }

    #[test]
    fn names_that_stand_there_twice_are_both_kept() {
        check(r#"{"a":1,"a":{"b":{}}}"#, "{a@1-6:1@5-6 a@7-19:{b@12-18:{}@16-18}@11-19}@0-20");
    }

    #[test]
    fn faults_name_line_and_column() {
        check("{\n  \"a\": \n}", "3:1: expected value");
        check("", "1:1: EOF while parsing a value");
        check("[1] 2", "1:5: trailing characters");
        check(&format!("{}{}", "[".repeat(200), "]".repeat(200)), "1:128: recursion limit exceeded");
        check(&format!("{}{}", "[".repeat(20_000), "]".repeat(20_000)), "1:128: recursion limit exceeded");
    }

    #[test]
    fn what_go_reads_beyond_128_levels_was_refused() {
        let nested = |open: &str, close: &str, levels| format!("{}{}", open.repeat(levels), close.repeat(levels));
        for (open, close) in [("[\n", "]"), ("{\"a]\\\"\":", "}")] {
            let (open, close) = (open.repeat(10_000 - 1), close.repeat(10_000 - 1));
            let text = format!("{open}{{}}{close}");
            assert!(JsonValue::parse_as_go(&text).is_ok());
            assert!(JsonValue::parse(&text).is_err());
            assert!(JsonValue::parse_as_go(&format!("{open}[[1]]{close}")).is_err());
        }
        let text = format!("{{\"a\": {}, \"b\":\n 1}}", nested("[", "]", 200));
        let top = JsonValue::parse_as_go(&text).unwrap_or_else(|fault| panic!("{fault:?}"));
        let spans: Vec<_> = top.members().iter().map(|member| (&text[member.span.clone()], member.line)).collect();
        assert_eq!(spans[1], ("\"b\":\n 1", 1));
    }

    #[track_caller]
    fn check_text(raw: &str, want: &str) {
        let text = JsonValue::parse(raw).expect("JSON").text();
        assert_eq!(text.as_deref().map(String::as_str), Some(want), "{raw}");
    }

    #[test]
    fn texts_lose_their_escapes_as_in_go() {
        check_text(r#""plain""#, "plain");
        check_text(r#""a\"\\\/\b\f\n\r\tz""#, "a\"\\/\u{8}\u{c}\n\r\tz");
        check_text(r#""\u0041\u00fc\u20ac\ud83d\ude00!""#, "Aü€😀!");
        check_text(r#""\ud83d""#, "\u{fffd}");
        check_text(r#""\ud83dx\ude00""#, "\u{fffd}x\u{fffd}");
        check_text(r#""\ud83d\u0041""#, "\u{fffd}A");
        check_text(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀");
        check_text("\"\"", "");
    }

    #[test]
    fn names_are_folded_as_in_go() {
        let named = |key: &str, name: &str| {
            let text = format!("{{{key}: 1}}");
            JsonValue::parse(&text).expect("JSON").members()[0].is_named(name)
        };
        assert!(named("\"AUTHS\"", "auths"));
        assert!(named("\"credsstore\"", "credsStore"));
        assert!(named("\"auth\u{17f}\"", "auths"));
        assert!(named("\"identityto\u{212a}en\"", "identitytoken"));
        assert!(named("\"\\u0061uths\"", "auths"));
        assert!(!named("\"auth\"", "auths"));
        assert!(!named("\"auths \"", "auths"));
    }

    proptest::proptest! {
        #[test]
        fn whatever_serde_reads_is_read(text in "([{}\\[\\]:,\" \n\\\\]|1|-0.5e1|true|null|é|\\\\u00e9|\"a\":){0,16}") {
            let (read, read_as_go) = (JsonValue::parse(&text).is_ok(), JsonValue::parse_as_go(&text).is_ok());
            proptest::prop_assert_eq!(read, read_as_go);
            proptest::prop_assert_eq!(read, serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
    }
}
