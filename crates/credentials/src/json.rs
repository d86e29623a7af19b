//! JSON as Go reads it, cut into pieces that know their line and are never copied.
//!
//! serde's own values would copy secrets into memory that is never wiped, lose the position of a member and drop the first
//! of two members of one name.

use std::fmt;
use std::ops::Range;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use zeroize::Zeroizing;

/// What Go takes for bytes in a text, `base64.StdEncoding`: padding is demanded, the unused bits of the last letter may be
/// anything. Line breaks, which it passes over, are the caller's part.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// A JSON text.
pub(crate) struct JsonText<'a> {
    text: &'a str,
    /// Where each line but the first begins.
    starts: Vec<usize>,
}

/// A value inside a [`JsonText`].
#[derive(Clone, Copy)]
pub(crate) struct JsonPiece<'a>(&'a str);

/// A member of an object.
pub(crate) struct ObjectMember<'a> {
    key: JsonPiece<'a>,
    pub(crate) value: JsonPiece<'a>,
}

/// What a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonKind {
    Null,
    Text,
    Object,
    List,
    /// A number or a truth value.
    Other,
}

/// Where and why a text is not JSON. Quotes nothing of it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonFault {
    pub(crate) line: usize,
    pub(crate) column: usize,
    pub(crate) reason: String,
}

impl<'a> JsonText<'a> {
    /// Checks the whole text and gives the value that it is.
    pub(crate) fn parse(text: &'a str) -> Result<(Self, JsonPiece<'a>), JsonFault> {
        let whole: &RawValue = serde_json::from_str(text).map_err(|error| fault(text, &error))?;
        let starts = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1).collect();
        Ok((Self { text, starts }, JsonPiece(whole.get())))
    }

    /// The line on which a value begins, from 1.
    pub(crate) fn line(&self, piece: JsonPiece<'_>) -> usize {
        let offset = self.span(piece).start;
        self.starts.partition_point(|start| *start <= offset) + 1
    }

    /// The position of a value in the text, in bytes.
    pub(crate) fn span(&self, piece: JsonPiece<'_>) -> Range<usize> {
        let start = (piece.0.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        start..start + piece.0.len()
    }

    /// The position of a member in the text, from its name to the end of its value, in bytes.
    pub(crate) fn span_of(&self, member: &ObjectMember<'_>) -> Range<usize> {
        self.span(member.key).start..self.span(member.value).end
    }

    /// The line on which a member begins, from 1.
    pub(crate) fn line_of(&self, member: &ObjectMember<'_>) -> usize {
        self.line(member.key)
    }
}

fn fault(text: &str, error: &serde_json::Error) -> JsonFault {
    let (line, column) = (error.line().max(1), error.column().max(1));
    // The parser skips values, so its error names the syntax and quotes nothing.
    let said = error.to_string();
    let at = text.split('\n').nth(line - 1).and_then(|line| line.as_bytes().get(column - 1));
    let reason = match said.split(" at line ").next().unwrap_or_default() {
        _ if text.trim().is_empty() => "it is empty",
        _ if error.is_eof() => "it ends in the middle",
        "key must be a string" | "expected value" if matches!(at, Some(b'}' | b']')) => "there is a comma too many",
        "key must be a string" => "a name lacks its quotes",
        "expected value" | "expected ident" => "this is no value",
        "trailing characters" => "something follows the end",
        reason if reason.starts_with("control character") => "a text has a line break or another control character",
        reason => reason,
    };
    JsonFault { line, column, reason: reason.to_owned() }
}

impl<'a> JsonPiece<'a> {
    pub(crate) fn kind(self) -> JsonKind {
        match self.0.as_bytes().first() {
            Some(b'n') => JsonKind::Null,
            Some(b'"') => JsonKind::Text,
            Some(b'{') => JsonKind::Object,
            Some(b'[') => JsonKind::List,
            _ => JsonKind::Other,
        }
    }

    /// The value as it is written.
    pub(crate) fn raw(self) -> &'a str {
        self.0
    }

    /// The text of a text; nothing of another value.
    pub(crate) fn text(self) -> Option<Zeroizing<String>> {
        (self.kind() == JsonKind::Text).then(|| unescape(self.0))
    }

    /// The members of an object in their order, also those of one name; none of another value.
    pub(crate) fn members(self) -> Vec<ObjectMember<'a>> {
        let members: Option<JsonMembers<'a>> = serde_json::from_str(self.0).ok();
        members.map(|members| members.0).unwrap_or_default()
    }

    /// The items of a list; none of another value.
    pub(crate) fn items(self) -> Vec<JsonPiece<'a>> {
        let items: Option<Items<'a>> = serde_json::from_str(self.0).ok();
        items.map(|items| items.0).unwrap_or_default()
    }
}

impl ObjectMember<'_> {
    /// The name.
    pub(crate) fn key(&self) -> Zeroizing<String> {
        unescape(self.key.0)
    }

    /// Whether Go takes the member for the field of this name (of small and capital ASCII letters): letters of either
    /// case, and the two others that fold to `s` and `k`.
    ///
    /// Spec: Go 1.25, encoding/json, `foldName`.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        let fold = |letter: char| match letter {
            'ſ' => 's',
            '\u{212a}' => 'k',
            _ => letter.to_ascii_lowercase(),
        };
        self.key().chars().map(fold).eq(name.chars().map(fold))
    }
}

/// A text without its quotes and escapes. Half a surrogate pair becomes U+FFFD, as in Go.
fn unescape(raw: &str) -> Zeroizing<String> {
    let mut rest = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(raw);
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

struct JsonMembers<'a>(Vec<ObjectMember<'a>>);

impl<'de> Deserialize<'de> for JsonMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = JsonMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
                    members.push(ObjectMember { key: JsonPiece(key.get()), value: JsonPiece(value.get()) });
                }
                Ok(JsonMembers(members))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

struct Items<'a>(Vec<JsonPiece<'a>>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let items: Vec<&RawValue> = Vec::deserialize(deserializer)?;
        Ok(Self(items.into_iter().map(|item| JsonPiece(item.get())).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line and column where it breaks, and why.
    #[track_caller]
    fn check(text: &str, want: Option<(usize, usize, &str)>) {
        let got = JsonText::parse(text).err();
        let got = got.as_ref().map(|fault| (fault.line, fault.column, fault.reason.as_str()));
        assert_eq!(got, want, "{text:?}");
    }

    #[test]
    fn wrong_syntax_is_told_with_its_place() {
        check("{}", None);
        check(" null\n", None);
        check("", Some((1, 1, "it is empty")));
        check(" \n ", Some((2, 1, "it is empty")));
        check("not json", Some((1, 2, "this is no value")));
        check("{\n  \"a\": 1,\n}", Some((3, 1, "there is a comma too many")));
        check("[1, ]", Some((1, 5, "there is a comma too many")));
        check("{} x", Some((1, 4, "something follows the end")));
        check("{\"a\" 1}", Some((1, 6, "expected `:`")));
        check("{\"a\": 1 \"b\": 1}", Some((1, 9, "expected `,` or `}`")));
        check("{\"a\": '1'}", Some((1, 7, "this is no value")));
        check("{\"a\": \"\\x\"}", Some((1, 9, "invalid escape")));
        check("{\"a\": 01}", Some((1, 8, "invalid number")));
        check("{\"a\": [", Some((1, 7, "it ends in the middle")));
        check("{a: 1}", Some((1, 2, "a name lacks its quotes")));
        check("{\"a\": \"x\ny\"}", Some((1, 8, "a text has a line break or another control character")));
    }

    #[track_caller]
    fn check_text(raw: &str, want: &str) {
        let (_, piece) = JsonText::parse(raw).expect("JSON");
        assert_eq!(piece.text().as_deref().map(String::as_str), Some(want), "{raw}");
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
    fn members_know_their_line_and_come_twice_where_they_are_twice() {
        let text = "{\n \"a\":\n  [1, null],\n \"A\": {\"x\": \"\\ud800\"}, \"a\": 2\n}";
        let (document, piece) = JsonText::parse(text).expect("JSON");
        let got: Vec<(String, usize, usize, JsonKind)> = piece
            .members()
            .iter()
            .map(|member| {
                let key = member.key().to_string();
                (key, document.line_of(member), document.line(member.value), member.value.kind())
            })
            .collect();
        assert_eq!(
            got,
            [
                ("a".to_owned(), 2, 3, JsonKind::List),
                ("A".to_owned(), 4, 4, JsonKind::Object),
                ("a".to_owned(), 4, 4, JsonKind::Other),
            ]
        );
        assert_eq!(&text[document.span_of(&piece.members()[2])], "\"a\": 2");
        assert_eq!(&text[document.span(piece.members()[0].value)], "[1, null]");
        assert_eq!(piece.members()[0].value.items().len(), 2);
        assert_eq!(piece.members()[0].value.items()[1].kind(), JsonKind::Null);
        assert!(piece.items().is_empty());
    }

    #[test]
    fn names_are_folded_as_in_go() {
        let named = |key: &str, name: &str| {
            let text = format!("{{{key}: 1}}");
            let (_, piece) = JsonText::parse(&text).expect("JSON");
            piece.members()[0].is_named(name)
        };
        assert!(named("\"AUTHS\"", "auths"));
        assert!(named("\"credsstore\"", "credsStore"));
        assert!(named("\"auth\u{17f}\"", "auths"));
        assert!(named("\"identityto\u{212a}en\"", "identitytoken"));
        assert!(named("\"\\u0061uths\"", "auths"));
        assert!(!named("\"auth\"", "auths"));
        assert!(!named("\"auths \"", "auths"));
    }
}
