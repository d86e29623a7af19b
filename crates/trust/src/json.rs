//! Members of JSON documents, with errors that name them.

use serde_json::Value;

/// The document, or what is wrong with it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, String> {
    tofu_oci_types::parse_strictly(bytes).map_err(|error| error.to_string())
}

/// A foreign text, quoted, without control characters, at most a line long.
pub(crate) fn shown(text: &str) -> String {
    let mut start: String = text.chars().take(SHOWN).collect();
    if start.len() < text.len() {
        start.push('…');
    }
    format!("{start:?}")
}

/// How many characters of a foreign text an error quotes.
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
