//! The bytes of a JSON value that TUF's signatures are over.
//!
//! Spec: OLPC, "Canonical JSON"; The Update Framework 1.0, section 4.2.

use serde_json::Value;

/// Members sorted, no white space, whole numbers, and only `"` and `\` escaped; `None` for a number with a fraction.
pub(super) fn canonical(value: &Value) -> Option<Vec<u8>> {
    let mut written = Vec::new();
    write(value, &mut written)?;
    Some(written)
}

fn write(value: &Value, to: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Null => to.extend(b"null"),
        Value::Bool(true) => to.extend(b"true"),
        Value::Bool(false) => to.extend(b"false"),
        Value::Number(number) => {
            let whole = number.as_u64().map(|whole| whole.to_string());
            to.extend(whole.or_else(|| number.as_i64().map(|whole| whole.to_string()))?.as_bytes());
        }
        Value::String(text) => write_text(text, to),
        Value::Array(values) => {
            to.push(b'[');
            for (nth, value) in values.iter().enumerate() {
                if nth > 0 {
                    to.push(b',');
                }
                write(value, to)?;
            }
            to.push(b']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_by(|one, other| one.0.cmp(other.0));
            to.push(b'{');
            for (nth, (name, value)) in sorted.into_iter().enumerate() {
                if nth > 0 {
                    to.push(b',');
                }
                write_text(name, to);
                to.push(b':');
                write(value, to)?;
            }
            to.push(b'}');
        }
    }
    Some(())
}

fn write_text(text: &str, to: &mut Vec<u8>) {
    to.push(b'"');
    for byte in text.bytes() {
        if matches!(byte, b'"' | b'\\') {
            to.push(b'\\');
        }
        to.push(byte);
    }
    to.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_sorted_and_little_is_escaped() {
        let value = serde_json::json!({ "b": [1, -2, true, null], "a": "x\"\\\n", "A": {} });
        let want = "{\"A\":{},\"a\":\"x\\\"\\\\\n\",\"b\":[1,-2,true,null]}";
        assert_eq!(canonical(&value), Some(want.as_bytes().to_vec()));
        assert_eq!(canonical(&serde_json::json!(1.5)), None);
    }
}
