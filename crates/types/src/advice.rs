//! Words of advice that many errors give.

use crate::Version;

/// How many items of a list are shown.
pub const SHOWN: usize = 8;

/// The newest versions of these, as `it has 1.4.0, 1.3.0 and 6 older`; `lead` begins it.
pub fn versions_in_words(lead: &str, offered: &[Version]) -> String {
    if offered.is_empty() {
        return "it has no versions".to_owned();
    }
    let newest: Vec<String> = offered.iter().rev().take(SHOWN).map(ToString::to_string).collect();
    let more = offered.len().saturating_sub(SHOWN);
    let rest = if more > 0 { format!(" and {more} older") } else { String::new() };
    format!("{lead} {}{rest}", newest.join(", "))
}

/// The word, quoted for a shell.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}
