//! Whole numbers as Go writes them.

/// Reads a number of 64 bits: a sign, then decimal digits, or `0x`, `0o`, `0b` or `0` and digits of that base; single
/// `_` between the digits.
pub(super) fn parse(text: &str) -> Option<i64> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let lower = rest.to_ascii_lowercase();
    let (base, digits) = match lower.as_bytes() {
        [b'0', b'x', ..] => (16, &lower[2..]),
        [b'0', b'o', ..] => (8, &lower[2..]),
        [b'0', b'b', ..] => (2, &lower[2..]),
        [b'0', _, ..] => (8, &lower[1..]),
        _ => (10, &lower[..]),
    };
    // A base counts as a digit here, so an underscore may follow it.
    let digits = if base == 10 { digits } else { digits.strip_prefix('_').unwrap_or(digits) };
    let groups_are_fine =
        digits.split('_').all(|group| group.chars().all(|digit| digit.is_digit(base)) && !group.is_empty());
    if !groups_are_fine {
        return None;
    }
    let size = u64::from_str_radix(&digits.replace('_', ""), base).ok()?;
    if negative { 0_i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: impl Into<Option<i64>>) {
        assert_eq!(parse(text), want.into(), "{text}");
    }

    #[test]
    fn numbers() {
        check("0", 0);
        check("-12", -12);
        check("+12", 12);
        check("010", 8);
        check("0_7", 7);
        check("0x_1F", 31);
        check("0B11", 3);
        check("0o17", 15);
        check("1_000", 1000);
        check("9223372036854775807", i64::MAX);
        check("-9223372036854775808", i64::MIN);
    }

    #[test]
    fn no_numbers() {
        for text in
            ["", "-", "0x", "08", "1__0", "_1", "1_", "1.0", "1e3", " 1", "0b2", "9223372036854775808", "--1", "0x+1"]
        {
            check(text, None);
        }
    }
}
