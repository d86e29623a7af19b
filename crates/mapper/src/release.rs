//! The releases of `OpenTofu` whose reading of a file can be asked for.

use std::fmt;

/// A release line of `OpenTofu`. `Display` gives `1.10`, `1.12` or `1.13`.
///
/// Spec: measured on 1.10.10, 1.12.6 and 1.13-dev.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TofuRelease {
    /// 1.10: a repeated argument is merged or the last one wins.
    V1_10,
    /// 1.12: a repeated argument makes the whole file unreadable.
    V1_12,
    /// 1.13: as 1.12 where files are read.
    V1_13,
}

impl TofuRelease {
    /// Every release line, the oldest first.
    pub const ALL: [Self; 3] = [Self::V1_10, Self::V1_12, Self::V1_13];
}

impl fmt::Display for TofuRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_10 => "1.10",
            Self::V1_12 => "1.12",
            Self::V1_13 => "1.13",
        })
    }
}
