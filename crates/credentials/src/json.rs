//! What a file of credentials has in JSON: how Go reads bytes, and what is said of wrong syntax.

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use tofu_oci_types::{JsonFault, JsonValue};

/// What Go takes for bytes in a text, `base64.StdEncoding`: padding is demanded, the unused bits of the last letter may be
/// anything. Line breaks, which it passes over, are the caller's part.
pub(crate) const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical)
        .with_decode_allow_trailing_bits(true),
);

/// The value of a text. A fault's message is for people, and quotes nothing of the text.
pub(crate) fn parse(text: &str) -> Result<JsonValue<'_>, JsonFault> {
    JsonValue::parse_as_go(text).map_err(|fault| {
        let at = text.split('\n').nth(fault.line - 1).and_then(|line| line.as_bytes().get(fault.column - 1));
        let message = match fault.message.as_str() {
            _ if text.trim().is_empty() => "it is empty",
            said if said.starts_with("EOF ") => "it ends in the middle",
            "key must be a string" | "expected value" if matches!(at, Some(b'}' | b']')) => "there is a comma too many",
            "key must be a string" => "a name lacks its quotes",
            "expected value" | "expected ident" => "this is no value",
            "trailing characters" => "something follows the end",
            "recursion limit exceeded" => "it nests deeper than 10,000 levels",
            said if said.starts_with("control character") => "a text has a line break or another control character",
            said => said,
        };
        JsonFault { message: message.to_owned(), ..fault }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Line and column where it breaks, and why.
    #[track_caller]
    fn check(text: &str, want: Option<(usize, usize, &str)>) {
        let got = parse(text).err();
        let got = got.as_ref().map(|fault| (fault.line, fault.column, fault.message.as_str()));
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
        check(&"[".repeat(10_001), Some((1, 10_001, "it ends in the middle")));
        let deep = format!("{}{}", "[".repeat(10_001), "]".repeat(10_001));
        check(&deep, Some((1, 10_001, "it nests deeper than 10,000 levels")));
        check("{a: 1}", Some((1, 2, "a name lacks its quotes")));
        check("{\"a\": \"x\ny\"}", Some((1, 8, "a text has a line break or another control character")));
    }
}
