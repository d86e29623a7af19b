//! Sizes of files.

use std::str::FromStr;

/// The least size of a part, in bytes: 999 of them are a gigabyte.
const LEAST: u64 = 1_000_000;

/// How large one file may be, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartSize(pub(crate) u64);

impl FromStr for PartSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
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
            _ => return Err("write a size such as 4GB, 700MB or 2GiB".to_owned()),
        };
        match number.parse::<u64>().ok().and_then(|number| number.checked_mul(factor)) {
            Some(size) if size >= LEAST => Ok(Self(size)),
            Some(_) => Err("a part has 1MB or more".to_owned()),
            None => Err("write a size such as 4GB, 700MB or 2GiB".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Result<u64, &str>) {
        assert_eq!(
            text.parse::<PartSize>().map(|size| size.0).as_ref().map_err(String::as_str),
            want.as_ref().map_err(|text| *text),
            "{text}"
        );
    }

    #[test]
    fn a_size_has_a_unit() {
        check("4GB", Ok(4_000_000_000));
        check("4 gb", Ok(4_000_000_000));
        check("2GiB", Ok(1 << 31));
        check("1000000", Ok(1_000_000));
        check("1KB", Err("a part has 1MB or more"));
        for text in ["", "GB", "-1GB", "4XB", "1.5GB", "99999999999999TB"] {
            check(text, Err("write a size such as 4GB, 700MB or 2GiB"));
        }
    }
}
