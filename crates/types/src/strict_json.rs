//! JSON in which no object has the same member twice.
//!
//! Of two members with one name, two parsers may take different ones. Then the checked value is not the used one.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::json::{JsonKind, JsonMember, JsonValue};

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
        /// The column of its name's end in bytes, from 1.
        column: usize,
    },
}

/// The value of the bytes.
///
/// # Errors
/// If they are not strict JSON.
pub fn parse_strictly(bytes: &[u8]) -> Result<Value, StrictJsonError> {
    let value = serde_json::from_slice(bytes)?;
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let spanned = JsonValue::parse(text).ok();
    let Some(second) = spanned.as_ref().and_then(repeated) else { return Ok(value) };
    let name = second.name.text();
    let name = match name.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    };
    let before = &text[..second.name.end()];
    let column = before.len() - before.rfind('\n').map_or(0, |end| end + 1);
    Err(StrictJsonError::Repeated { name, line: second.line, column })
}

/// Characters of a member's name that an error quotes.
const SHOWN: usize = 160;

/// The first member that an object has for the second time.
fn repeated<'v, 'a>(value: &'v JsonValue<'a>) -> Option<&'v JsonMember<'a>> {
    match &value.kind {
        JsonKind::Array(items) => items.iter().find_map(repeated),
        JsonKind::Object(members) => {
            let mut names = BTreeSet::new();
            members.iter().find_map(|member| {
                if names.insert(member.name.text().to_string()) { repeated(&member.value) } else { Some(member) }
            })
        }
        _ => None,
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
