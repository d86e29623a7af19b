//! JSON that says each thing once: a member given twice is an error, because two readers could believe different ones.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The document, or what is wrong with it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    serde_json::from_slice::<Once>(bytes).map(|once| once.0).map_err(|error| error.to_string())
}

struct Once(Value);

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OnceVisitor)
    }
}

struct OnceVisitor;

impl<'de> Visitor<'de> for OnceVisitor {
    type Value = Once;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_string<E>(self, value: String) -> Result<Once, E> {
        Ok(Once(value.into()))
    }

    fn visit_unit<E>(self) -> Result<Once, E> {
        Ok(Once(Value::Null))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Once, A::Error> {
        let mut array = Vec::new();
        while let Some(Once(element)) = elements.next_element()? {
            array.push(element);
        }
        Ok(Once(Value::Array(array)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Once, A::Error> {
        let mut object = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if object.contains_key(&name) {
                return Err(A::Error::custom(format_args!("{} is given twice", shown(&name))));
            }
            let Once(value) = members.next_value()?;
            object.insert(name, value);
        }
        Ok(Once(Value::Object(object)))
    }
}

/// A text of others, quoted, with nothing that a terminal would act on, and not longer than a line.
pub(crate) fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{start:?}")
}

/// Characters of another's text that an error quotes.
const SHOWN: usize = 160;

/// The member `name` of `value`, which must be there, as `what` the function makes of it.
pub(crate) fn member<'v, T: ?Sized>(
    value: &'v Value,
    name: &str,
    what: &str,
    read: fn(&'v Value) -> Option<&'v T>,
) -> Result<&'v T, String> {
    match value.get(name) {
        None => Err(format!("`{name}` is missing")),
        Some(found) => read(found).ok_or_else(|| format!("`{name}` is not {what}")),
    }
}

/// The member `name`, a text.
pub(crate) fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, String> {
    member(value, name, "a text", Value::as_str)
}

/// The member `name`, an object.
pub(crate) fn object<'v>(value: &'v Value, name: &str) -> Result<&'v Value, String> {
    member(value, name, "an object", |value| value.is_object().then_some(value))
}

/// The member `name`, a list.
pub(crate) fn list<'v>(value: &'v Value, name: &str) -> Result<&'v [Value], String> {
    member(value, name, "a list", |value| value.as_array().map(Vec::as_slice))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, want: Result<&str, &str>) {
        let got = parse(input.as_bytes()).map(|value| value.to_string());
        assert_eq!(got.as_deref().map_err(String::as_str), want, "{input}");
    }

    #[test]
    fn documents() {
        check(r#"{"a":[1,-2,3.5,true,null,"x\n"],"b":{"a":1}}"#, Ok(r#"{"a":[1,-2,3.5,true,null,"x\n"],"b":{"a":1}}"#));
        check(r#"{"a":1,"a":1}"#, Err(r#""a" is given twice at line 1 column 10"#));
        check(r#"{"a":1,"\u0061":1}"#, Err(r#""a" is given twice at line 1 column 15"#));
        check(r#"[{"b":[{"a":1,"a":2}]}]"#, Err(r#""a" is given twice at line 1 column 17"#));
        check("{} {}", Err("trailing characters at line 1 column 4"));
        check("", Err("EOF while parsing a value at line 1 column 0"));
        assert!(parse(b"\"\xff\"").is_err());
        assert!(parse("[".repeat(200).as_bytes()).is_err_and(|error| error.starts_with("recursion limit")));
    }

    #[test]
    fn quotes() {
        assert_eq!(shown("a\u{1b}[31m\"b"), r#""a\u{1b}[31m\"b""#);
        assert_eq!(shown(&"é".repeat(161)), format!("\"{}…\"", "é".repeat(160)));
        assert_eq!(shown(&"é".repeat(160)), format!("\"{}\"", "é".repeat(160)));
    }

    #[test]
    fn members() {
        let value = parse(br#"{"a":1,"t":"x","o":{},"l":[]}"#).expect("JSON");
        assert_eq!(text(&value, "t"), Ok("x"));
        assert_eq!(text(&value, "a"), Err("`a` is not a text".to_owned()));
        assert_eq!(text(&value, "z"), Err("`z` is missing".to_owned()));
        assert_eq!(object(&value, "l"), Err("`l` is not an object".to_owned()));
        assert_eq!(list(&value, "o"), Err("`o` is not a list".to_owned()));
        assert!(object(&value, "o").is_ok() && list(&value, "l").is_ok());
    }
}
