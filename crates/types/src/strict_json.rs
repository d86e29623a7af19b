//! JSON in which no object has the same member twice.
//!
//! Of two members with one name, two parsers may take different ones. Then the checked value is not the used one.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Why a text is not strict JSON.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StrictJsonError {
    /// It is not JSON, nests deeper than 128, or something follows it.
    #[error(transparent)]
    Invalid(#[from] serde_json::Error),
    /// An object has a member twice.
    #[error("the member {name:?} is there twice at line {line} column {column}")]
    Repeated {
        /// The member; a long name is cut.
        name: String,
        /// The line of the second one, from 1.
        line: usize,
        /// The column in bytes, from 1.
        column: usize,
    },
}

/// The value of the bytes.
///
/// # Errors
/// If they are not strict JSON.
pub fn parse_strictly(bytes: &[u8]) -> Result<Value, StrictJsonError> {
    let repeated = Cell::new(None);
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { repeated: &repeated }.deserialize(&mut deserializer);
    match (value, repeated.take()) {
        (Err(error), Some(name)) => Err(StrictJsonError::Repeated { name, line: error.line(), column: error.column() }),
        (value, _) => {
            let value = value?;
            deserializer.end()?;
            Ok(value)
        }
    }
}

/// Characters of a member's name that an error quotes.
const SHOWN: usize = 160;

#[derive(Clone, Copy)]
struct Strict<'a> {
    /// The member that an object has twice.
    repeated: &'a Cell<Option<String>>,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
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
        while let Some(value) = items.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            if map.contains_key(&name) {
                self.repeated.set(Some(match name.char_indices().nth(SHOWN) {
                    Some((end, _)) => format!("{}…", &name[..end]),
                    None => name,
                }));
                return Err(A::Error::custom("a member is there twice"));
            }
            let value = members.next_value_seed(self)?;
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
        let error = parse_strictly(text.as_bytes()).expect_err("must be refused").to_string();
        assert!(error.contains(problem), "{error}");
    }

    #[test]
    fn reads_what_serde_json_reads() {
        let text = r#"{"a":[1,-2,3.5,"x",true,null,{}],"b":{"c":"\u00e9","d":18446744073709551615}}"#;
        assert_eq!(parse_strictly(text.as_bytes()).unwrap(), serde_json::from_str::<Value>(text).unwrap());
    }

    #[test]
    fn refuses_what_two_parsers_may_read_differently() {
        check_refused(r#"{"a":1,"a":1}"#, "the member \"a\" is there twice");
        check_refused(r#"{"x":[{"a":1,"\u0061":2}]}"#, "the member \"a\" is there twice");
        check_refused("{} {}", "trailing characters");
        check_refused("", "EOF");
        check_refused(&"[".repeat(4000), "recursion limit");
    }
}
