//! What foreign text looks like on a terminal, in a log or in a document: escaped.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text with an escape for every character that could act on a terminal, a log or a document.
///
/// Line breaks and tabs become `\n`, `\r` and `\t`; every other such character becomes `\u{HEX}`, as in Rust. The
/// result is one line. A text without such a character is returned as it is.
///
/// ```
/// # use tofu_oci_types::printable;
/// assert_eq!(printable("a\x1b[2J\nb"), "a\\u{1b}[2J\\nb");
/// assert_eq!(printable("plain ü"), "plain ü");
/// ```
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unprintable) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            other if is_unprintable(other) => {
                // Writing to a String cannot fail.
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(other));
            }
            other => shown.push(other),
        }
    }
    Cow::Owned(shown)
}

/// Whether a character could act on a terminal, a log or a document, or hide in it: control characters (C0 with line
/// breaks and tabs, DEL, C1), separators of lines and paragraphs, marks that turn the direction of writing, characters
/// without a width or a shape, and the code points that are not characters, of which XML forbids two.
///
/// Variation selectors 1 to 16 are printable: many pictures need one.
///
/// Spec: Unicode 16, `General_Category` Cc, Zl and Zp, `Default_Ignorable_Code_Point`, `Noncharacter_Code_Point`.
pub fn is_unprintable(character: char) -> bool {
    let code = u32::from(character);
    let is_noncharacter = code & 0xfffe == 0xfffe || matches!(code, 0xfdd0..=0xfdef);
    character.is_control()
        || is_noncharacter
        || matches!(
            code,
            0xad | 0x34f | 0x61c | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f | 0x200b..=0x200f
                | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfeff | 0xffa0 | 0xfff0..=0xfffb
                | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: &str) {
        assert_eq!(printable(text), want);
        assert!(!printable(text).contains(is_unprintable), "{text:?}");
    }

    #[test]
    fn foreign_text_moves_no_cursor_and_begins_no_line() {
        check("artifact type `a\x1b[2Jb`\r\nnext\t", "artifact type `a\\u{1b}[2Jb`\\r\\nnext\\t");
        check("\u{0}\u{7}\u{8}\u{7f}\u{9b}31m\u{85}", "\\u{0}\\u{7}\\u{8}\\u{7f}\\u{9b}31m\\u{85}");
        check("a\u{202a}\u{202e}\u{2066}\u{2069}b", "a\\u{202a}\\u{202e}\\u{2066}\\u{2069}b");
        check("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}");
        check("\u{200b}\u{200d}\u{2060}\u{feff}\u{ad}", "\\u{200b}\\u{200d}\\u{2060}\\u{feff}\\u{ad}");
        check("\u{2028}\u{2029}", "\\u{2028}\\u{2029}");
        check("\u{e0041}\u{e007f}\u{e0101}", "\\u{e0041}\\u{e007f}\\u{e0101}");
        check("\u{fffe}\u{ffff}\u{10ffff}\u{fdd0}", "\\u{fffe}\\u{ffff}\\u{10ffff}\\u{fdd0}");
    }

    #[test]
    fn text_of_people_stays_as_it_is() {
        for text in
            ["", "plain", "Grüße, 世界, שלום, नमस्ते", "…—“”", "C:\\new\\table", "\u{fffd}\u{a0}\u{3000}", "☎\u{fe0f}"]
        {
            check(text, text);
            assert!(matches!(printable(text), Cow::Borrowed(_)), "{text}");
        }
    }
}
