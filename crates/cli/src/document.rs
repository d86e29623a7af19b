//! What programs read: JSON, SARIF, `JUnit`, a configuration. It is exact, and safe to show in a terminal or a log.

use std::fmt::Write as _;

use serde::Serialize;
use tofu_oci_types::is_unprintable;

use crate::page::disarmed;

/// A text for programs in which no character acts on what shows it.
#[derive(Clone, Debug)]
pub(crate) struct Document(String);

impl Document {
    /// A value as JSON on one line. Characters that would act on a terminal are written as `\uXXXX`, so that a program reads
    /// the same value.
    pub(crate) fn json_line(value: &impl Serialize) -> Self {
        let text = serde_json::to_string(value).expect("reports have string keys and paths are written as text");
        Self(format!("{}\n", json_escaped(&text)))
    }

    /// A value as JSON on several lines, escaped in the same way.
    pub(crate) fn json_pretty(value: &impl Serialize) -> Self {
        let text = serde_json::to_string_pretty(value).expect("reports have string keys only");
        Self(format!("{}\n", json_escaped(&text)))
    }

    /// Text that is JSON already, escaped in the same way.
    pub(crate) fn json_text(json: &str) -> Self {
        Self(json_escaped(json))
    }

    /// A text of lines whose values are escaped already. It escapes the hostile characters that are left, and makes no
    /// line a command of a CI system.
    pub(crate) fn lines(text: &str) -> Self {
        let mut out = String::with_capacity(text.len());
        for line in text.lines() {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}", disarmed(&tofu_oci_types::printable(line)));
        }
        Self(out)
    }

    /// The text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

/// JSON text in which such characters stand only inside strings, where an escape means the same character. Line breaks
/// between values stay.
fn json_escaped(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        // `##` begins a command of some CI systems wherever it stands, and JSON has it in strings alone.
        let is_second_hash = character == '#' && out.ends_with('#');
        if (is_unprintable(character) && character != '\n') || is_second_hash {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(character);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_reads_the_same_value_and_a_terminal_obeys_nothing() {
        let value = "a\x1b[2J\n\u{9b}\u{202e}\u{2028}\u{feff}\u{e0041}\u{7f} ##vso[x] ##[y] \"ü\\";
        for document in [Document::json_line(&value), Document::json_pretty(&[value])] {
            let text = document.as_str();
            assert!(!text.replace('\n', "").contains(is_unprintable), "{text:?}");
            assert!(!text.contains("##"), "{text:?}");
            assert!(text.contains("ü"), "{text}");
            assert!(text.matches('\n').count() <= 3, "{text}");
        }
        let read: String = serde_json::from_str(Document::json_line(&value).as_str()).expect("JSON");
        assert_eq!(read, value);
    }

    #[test]
    fn lines_hide_no_command() {
        let document = Document::lines("a\n ::error::b\n<x>\x1b[2J</x>\n");
        assert_eq!(document.as_str(), "a\n \\u{3a}:error::b\n<x>\\u{1b}[2J</x>\n");
    }
}
