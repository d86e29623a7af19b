//! Which names are one on some system.

use unicode_normalization::UnicodeNormalization as _;

/// One spelling for all names that are equal on some file system: without case, Unicode composition, and the characters that
/// HFS+ passes over.
pub(crate) fn fold(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    let seen = name.nfkd().filter(|character| !is_passed_over(*character));
    // Upper case first, because it expands letters such as the sharp s.
    seen.flat_map(char::to_uppercase).flat_map(char::to_lowercase).nfkc().collect()
}

/// Spec: Apple TN1150, "Case-insensitive string comparison", whose table leaves these characters out.
fn is_passed_over(character: char) -> bool {
    matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}')
}
