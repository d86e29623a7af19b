//! What to write in place of a mistake.

use tofu_oci_hcl::{SyntaxError, SyntaxErrorKind};

/// What to write in place of a syntax error. `text` is the file.
pub(super) fn syntax(error: &SyntaxError, text: &str) -> String {
    let bare = || text.get(error.span.clone()).unwrap_or_default();
    match error.kind {
        SyntaxErrorKind::ByteOrderMark => "write the file as UTF-8 without a byte order mark",
        // Most files with other bytes were written by PowerShell's `>`.
        SyntaxErrorKind::NotUtf8 => {
            "write the file as UTF-8; PowerShell 5 writes UTF-16 unless it gets `-Encoding ascii`"
        }
        SyntaxErrorKind::OtherQuote => "write \"…\", in plain double quotes",
        SyntaxErrorKind::QuoteInDirective => {
            "write \\\" in place of each quote inside %{ }; inside ${ } it stands bare"
        }
        SyntaxErrorKind::UnclosedInterpolation => "write the `}`, or `$${` for the two characters themselves",
        SyntaxErrorKind::UnclosedString => "write the closing quote, and `\\n` for a line's end",
        SyntaxErrorKind::UnclosedHeredoc | SyntaxErrorKind::UnclosedComment | SyntaxErrorKind::UnclosedBracket => {
            "write the closing part where it belongs"
        }
        SyntaxErrorKind::IllegalEscape => "write `\\\\` for a backslash itself",
        SyntaxErrorKind::IllegalNumber => "write a number in decimal digits without a leading 0, or a text in quotes",
        SyntaxErrorKind::HeredocAnchor => "write <<END, then the text, then END on a line of its own",
        SyntaxErrorKind::Duplicate => "write each argument once; of a list, all in one pair of brackets",
        SyntaxErrorKind::MissingComma => "write a comma between the items of a list",
        SyntaxErrorKind::BareWord if !bare().is_empty() => return format!("write \"{}\", in quotes", bare()),
        SyntaxErrorKind::IllegalCharacter
        | SyntaxErrorKind::StrayBracket
        | SyntaxErrorKind::Misplaced
        | SyntaxErrorKind::Null => "write the same without it",
        _ if text.trim_start().starts_with('{') => "write \"NAME\": VALUE, with commas between and none at the end",
        _ => "write NAME = VALUE in a line of its own, or NAME { … }",
    }
    .to_owned()
}
