//! The large package over a line of 100 Mbit/s: by its zip, and by its small layer.

use std::time::Duration;

use tofu_oci_testkit::DelayedLine;

/// 100 Mbit/s.
const BYTES_A_SECOND: u64 = 12_500_000;

const ROUND_TRIP: Duration = Duration::from_millis(20);

/// What the package comes by.
#[derive(Clone, Copy)]
pub(super) enum SlowLayer {
    Zip,
    Small,
}

impl SlowLayer {
    pub(super) const ALL: [Self; 2] = [Self::Zip, Self::Small];

    /// The repository that has the package in this form.
    pub(super) fn repository(self) -> &'static str {
        match self {
            Self::Zip => "line-zip",
            Self::Small => "line-small",
        }
    }

    /// How the package is published.
    pub(super) fn options(self) -> &'static [&'static str] {
        match self {
            Self::Zip => &[],
            Self::Small => &["--small"],
        }
    }

    /// The folder with the lock file.
    pub(super) fn locked(self) -> String {
        format!("{}-lock", self.repository())
    }
}

/// The line to a registry.
pub(super) fn line(registry: &str) -> DelayedLine {
    DelayedLine::near_end().with_bandwidth(BYTES_A_SECOND).leads_to(registry, ROUND_TRIP)
}
