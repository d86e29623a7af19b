//! The known releases of `OpenTofu`.

use std::fmt;

/// A release series of `OpenTofu`. `Display` gives `1.10` to `1.13`.
///
/// Spec: measured on 1.10.10, 1.11, 1.12.6 and 1.13-dev.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TofuRelease {
    /// 1.10, the first that reads providers from OCI.
    V1_10,
    /// 1.11.
    V1_11,
    /// 1.12.
    V1_12,
    /// 1.13.
    V1_13,
}

impl TofuRelease {
    /// Every known series, the oldest first.
    pub const ALL: [Self; 4] = [Self::V1_10, Self::V1_11, Self::V1_12, Self::V1_13];
}

impl fmt::Display for TofuRelease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V1_10 => "1.10",
            Self::V1_11 => "1.11",
            Self::V1_12 => "1.12",
            Self::V1_13 => "1.13",
        })
    }
}

impl serde::Serialize for TofuRelease {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Releases that follow each other and behave alike. `Display` gives `1.10 to 1.13`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TofuReleases {
    first: TofuRelease,
    last: TofuRelease,
}

impl TofuReleases {
    pub const ALL: Self = Self { first: TofuRelease::V1_10, last: TofuRelease::V1_13 };

    /// The releases, the oldest first.
    pub fn iter(self) -> impl Iterator<Item = TofuRelease> {
        TofuRelease::ALL.into_iter().filter(move |release| (self.first..=self.last).contains(release))
    }
}

impl fmt::Display for TofuReleases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { self.first.fmt(f) } else { write!(f, "{} to {}", self.first, self.last) }
    }
}
