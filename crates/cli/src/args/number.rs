//! Whole numbers as options take them.

/// Reads a whole number from `LEAST` to `MOST`.
pub(super) fn number<T: TryFrom<u32>, const LEAST: u32, const MOST: u32>(text: &str) -> Result<T, String> {
    let number = text.trim().parse::<u32>().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| format!("write a whole number, {LEAST} to {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_answered_with_the_range() {
        assert_eq!(number::<u8, 1, 32>("4"), Ok(4));
        assert_eq!(number::<u8, 1, 32>(" 32 "), Ok(32));
        for text in ["x", "", "0", "33", "-1", "1.5", "99999999999999999999"] {
            assert_eq!(number::<u8, 1, 32>(text), Err("write a whole number, 1 to 32".to_owned()), "{text}");
        }
    }
}
