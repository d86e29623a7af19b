//! JSON with positions, as files in HCL's JSON syntax and state files need it.

use std::path::Path;

use tofu_oci_types::TextPosition;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::problem;
use crate::model::Declared;

/// A value, and where it begins.
#[derive(Clone, Debug)]
pub(crate) struct TfJsonValue {
    /// The byte offset of its first character.
    pub(crate) offset: usize,
    pub(crate) kind: TfJsonKind,
}

/// The kinds of values.
#[derive(Clone, Debug)]
pub(crate) enum TfJsonKind {
    Null,
    Bool(bool),
    Number(String),
    String(String),
    Array(Vec<TfJsonValue>),
    /// In the order of the text; a name may occur twice.
    Object(Vec<TfJsonMember>),
}

/// A member of an object.
#[derive(Clone, Debug)]
pub(crate) struct TfJsonMember {
    pub(crate) name: String,
    /// The byte offset of the name.
    pub(crate) offset: usize,
    pub(crate) value: TfJsonValue,
}

impl TfJsonValue {
    /// The members of an object, or of every object in an array: what HCL takes for one body.
    pub(crate) fn objects(&self) -> Vec<&[TfJsonMember]> {
        match &self.kind {
            TfJsonKind::Object(members) => vec![members],
            TfJsonKind::Array(list) => list.iter().flat_map(Self::objects).collect(),
            _ => Vec::new(),
        }
    }

    /// The value of a member of an object.
    pub(crate) fn member(&self, name: &str) -> Option<&TfJsonValue> {
        let TfJsonKind::Object(members) = &self.kind else { return None };
        members.iter().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The value as HCL writes it, in one line. A text stands for itself, as the type of a variable does.
    pub(crate) fn shown(&self) -> String {
        match &self.kind {
            TfJsonKind::Null => "null".to_owned(),
            TfJsonKind::Bool(value) => value.to_string(),
            TfJsonKind::Number(text) | TfJsonKind::String(text) => text.clone(),
            TfJsonKind::Array(list) => format!("[{}]", list.iter().map(Self::shown).collect::<Vec<_>>().join(", ")),
            TfJsonKind::Object(members) => {
                let member = |member: &TfJsonMember| format!("{} = {}", member.name, member.value.shown());
                format!("{{ {} }}", members.iter().map(member).collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// The text of a string.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let TfJsonKind::String(text) = &self.kind { Some(text) } else { None }
    }
}

/// Reads a JSON text; at most 128 levels deep.
pub(crate) fn parse(path: &Path, text: &str) -> Result<TfJsonValue, TfConfigError> {
    let failed = |error: &serde_json::Error| {
        let position = TextPosition { line: error.line().max(1), column: error.column().max(1) };
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or(&message).to_owned();
        problem(Declared { path: path.to_owned(), at: position }, ConfigProblem::Syntax { message })
    };
    serde_json::from_str::<serde_json::Value>(text).map_err(|error| failed(&error))?;
    Ok(JsonWalker { text, offset: 0 }.value())
}

/// Walks a text that is known to be well-formed.
struct JsonWalker<'a> {
    text: &'a str,
    offset: usize,
}

impl JsonWalker<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.offset..).unwrap_or_default()
    }

    /// The next character that is not a blank, which stays unread.
    fn peek(&mut self) -> Option<char> {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        self.offset += blanks;
        self.rest().chars().next()
    }

    fn skip(&mut self) {
        self.offset += self.rest().chars().next().map_or(0, char::len_utf8);
    }

    fn value(&mut self) -> TfJsonValue {
        let first = self.peek();
        let offset = self.offset;
        let kind = match first {
            Some('{') => TfJsonKind::Object(self.members()),
            Some('[') => TfJsonKind::Array(self.items()),
            Some('"') => TfJsonKind::String(self.string()),
            _ => self.word(),
        };
        TfJsonValue { offset, kind }
    }

    fn members(&mut self) -> Vec<TfJsonMember> {
        self.skip();
        let mut members = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                '"' => {
                    let offset = self.offset;
                    let name = self.string();
                    self.peek();
                    self.skip();
                    members.push(TfJsonMember { name, offset, value: self.value() });
                }
                '}' => {
                    self.skip();
                    break;
                }
                _ => self.skip(),
            }
        }
        members
    }

    fn items(&mut self) -> Vec<TfJsonValue> {
        self.skip();
        let mut items = Vec::new();
        while let Some(next) = self.peek() {
            match next {
                ']' => {
                    self.skip();
                    break;
                }
                ',' => self.skip(),
                _ => items.push(self.value()),
            }
        }
        items
    }

    fn string(&mut self) -> String {
        let rest = self.rest();
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find_map(|(index, character)| {
            let ends = character == '"' && !escaped;
            escaped = character == '\\' && !escaped;
            ends.then_some(index + 1)
        });
        let literal = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        let text = serde_json::from_str(literal).unwrap_or_default();
        self.offset += literal.len();
        text
    }

    fn word(&mut self) -> TfJsonKind {
        let rest = self.rest();
        let end = rest.find([',', ']', '}', ' ', '\t', '\n', '\r']).unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or_default();
        let kind = match word {
            "true" => TfJsonKind::Bool(true),
            "false" => TfJsonKind::Bool(false),
            "null" => TfJsonKind::Null,
            number => TfJsonKind::Number(number.to_owned()),
        };
        self.offset += end.max(1);
        kind
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The value with every offset, for people.
    fn shown(json: &TfJsonValue) -> String {
        let text = match &json.kind {
            TfJsonKind::Null => "null".to_owned(),
            TfJsonKind::Bool(value) => value.to_string(),
            TfJsonKind::Number(text) => text.clone(),
            TfJsonKind::String(text) => format!("{text:?}"),
            TfJsonKind::Array(list) => format!("[{}]", list.iter().map(shown).collect::<Vec<_>>().join(" ")),
            TfJsonKind::Object(members) => {
                let member =
                    |member: &TfJsonMember| format!("{}@{}:{}", member.name, member.offset, shown(&member.value));
                format!("{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(" "))
            }
        };
        format!("{text}@{}", json.offset)
    }

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = parse(Path::new("f"), text).map_or_else(|error| error.to_string(), |json| shown(&json));
        assert_eq!(got, want, "{text}");
    }

    #[test]
    fn values_know_where_they_begin() {
        check(r#"{"a": 1.50, "b":[true,null , "x\"y\\"]}"#, r#"{a@1:1.50@6 b@12:[true@17 null@22 "x\"y\\"@29]@16}@0"#);
        check(" [] ", "[]@1");
        check("{}", "{}@0");
        check("\"\\u00e4ä\"", "\"ää\"@0");
        check("-1e3", "-1e3@0");
    }

    #[test]
    fn names_that_stand_there_twice_are_both_kept() {
        check(r#"{"a":1,"a":{"b":{}}}"#, "{a@1:1@5 a@7:{b@12:{}@16}@11}@0");
    }

    #[test]
    fn errors_name_line_and_column() {
        check("{\n  \"a\": \n}", "f:3:1: the file does not parse: expected value");
        check("", "f:1:1: the file does not parse: EOF while parsing a value");
        check("[1] 2", "f:1:5: the file does not parse: trailing characters");
        let deep = "[".repeat(200);
        check(&deep, "f:1:128: the file does not parse: recursion limit exceeded");
    }
}
