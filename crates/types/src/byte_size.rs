//! Sizes as people write them.

use std::str::FromStr;

/// A number of bytes, written with a unit: `4GB`, `700MB`, `2GiB`; without one it counts bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A text that is not a [`ByteSize`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a size such as 4GB, 700MB or 2GiB")]
pub struct InvalidByteSize;

impl FromStr for ByteSize {
    type Err = InvalidByteSize;

    fn from_str(text: &str) -> Result<Self, InvalidByteSize> {
        let digits = text.find(|one: char| !one.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at(digits);
        let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
            "" | "b" => 1,
            "kb" | "k" => 1_000,
            "mb" | "m" => 1_000_000,
            "gb" | "g" => 1_000_000_000,
            "tb" | "t" => 1_000_000_000_000,
            "kib" => 1 << 10,
            "mib" => 1 << 20,
            "gib" => 1 << 30,
            "tib" => 1 << 40,
            _ => return Err(InvalidByteSize),
        };
        number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)).map(Self).ok_or(InvalidByteSize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<u64>) {
        assert_eq!(text.parse().ok(), want.map(ByteSize), "{text}");
    }

    #[test]
    fn a_size_has_a_unit() {
        check("4GB", Some(4_000_000_000));
        check("4 gb", Some(4_000_000_000));
        check("32KiB", Some(1 << 15));
        check("2GiB", Some(1 << 31));
        check("1000000", Some(1_000_000));
        for text in ["", "GB", "-1GB", "4XB", "1.5GB", "99999999999999TB"] {
            check(text, None);
        }
    }
}
