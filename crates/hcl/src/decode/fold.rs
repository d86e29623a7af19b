//! Names without regard to case.

/// Whether two texts are equal except for case, character by character, as HCL 1 compares names.
pub fn equal_fold(one: &str, other: &str) -> bool {
    one.chars().map(fold).eq(other.chars().map(fold))
}

fn fold(character: char) -> char {
    // Simple folding does not relate the dotless i to the I that is its upper case.
    if character == 'ı' {
        return character;
    }
    let upper = only(character.to_uppercase()).unwrap_or(character);
    only(upper.to_lowercase()).unwrap_or(upper)
}

fn only(mut characters: impl Iterator<Item = char>) -> Option<char> {
    let first = characters.next()?;
    characters.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_no_difference() {
        for (one, other) in [("include", "INCLUDE"), ("σς", "ΣΣ"), ("\u{212a}ey", "key"), ("ſet", "SET"), ("ß", "ẞ")]
        {
            assert!(equal_fold(one, other), "{one} {other}");
        }
        for (one, other) in [("ı", "i"), ("İ", "i"), ("ß", "ss"), ("a", "ab"), ("é", "e")] {
            assert!(!equal_fold(one, other), "{one} {other}");
        }
    }
}
