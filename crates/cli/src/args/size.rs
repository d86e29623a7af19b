//! Sizes of files.

use std::str::FromStr;

use tofu_oci_types::ByteSize;

/// The least size of a part, in bytes: 999 of them are a gigabyte.
const LEAST: u64 = 1_000_000;

/// How large one file may be, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PartSize(pub(crate) u64);

impl FromStr for PartSize {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse::<ByteSize>() {
            Ok(ByteSize(size)) if size >= LEAST => Ok(Self(size)),
            Ok(_) => Err("a part has 1MB or more".to_owned()),
            Err(error) => Err(error.to_string()),
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
    fn a_part_is_not_too_small() {
        check("4GB", Ok(4_000_000_000));
        check("1MB", Ok(1_000_000));
        check("1KB", Err("a part has 1MB or more"));
        check("4XB", Err("write a size such as 4GB, 700MB or 2GiB"));
    }
}
