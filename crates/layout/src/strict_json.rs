//! JSON in which no object has the same member twice.
//!
//! Two parsers may take different ones of two equal members, and then what was checked is not what is used.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The value that the bytes represent.
///
/// # Errors
/// On anything that is not JSON, is followed by something else, nests deeper than 128, or has a member twice.
pub fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// What the parser says about a member that an object has twice; `None` if no object has one, or if the bytes are not
/// JSON.
pub fn repeated_member(bytes: &[u8]) -> Option<String> {
    // Every value is accepted, so the only error about data is that of `visit_map`.
    parse(bytes).err().filter(serde_json::Error::is_data).map(|error| error.to_string())
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(Strict)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                return Err(A::Error::custom(format_args!("the member `{name}` is there twice")));
            }
            let value = members.next_value_seed(Strict)?;
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(text: &str, problem: &str) {
        let error = parse(text.as_bytes()).expect_err("must be refused").to_string();
        assert!(error.contains(problem), "{error}");
    }

    #[test]
    fn reads_what_serde_json_reads() {
        let text = r#"{"a":[1,-2,3.5,"x",true,null,{}],"b":{"c":"\u00e9","d":18446744073709551615}}"#;
        assert_eq!(parse(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn refuses_what_two_parsers_may_read_differently() {
        check_refused(r#"{"a":1,"a":1}"#, "the member `a` is there twice");
        check_refused(r#"{"x":[{"a":1,"\u0061":2}]}"#, "the member `a` is there twice");
        assert!(repeated_member(br#"[{"a":1,"a":1}]"#).is_some());
        assert_eq!(repeated_member(b"{\"a\":\"is there twice\"} {}"), None);
        check_refused("{} {}", "trailing characters");
        check_refused("", "EOF");
        check_refused(&"[".repeat(4000), "recursion limit");
    }
}
