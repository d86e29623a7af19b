//! Whether a body comes fast enough.

use std::time::Duration;

use crate::limits::HttpLimits;
use crate::problem::NetworkProblem;

/// How a body comes. Two floors apply: one finds a body that has stopped, the other a body that drips.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BodyRate {
    /// How much longer nothing may move, of the time that all attempts of the request have.
    left: Duration,
    stall: Gauge,
    drip: Gauge,
}

/// The time waited, and the bytes that came, since the floor was last reached.
#[derive(Clone, Copy, Debug, Default)]
struct Gauge {
    waited: Duration,
    bytes: u64,
}

/// So many bytes must come in this time.
#[derive(Clone, Copy)]
struct PaceFloor {
    bytes: u64,
    within: Duration,
}

impl BodyRate {
    pub(crate) fn within(left: Duration) -> Self {
        Self { left, ..Self::default() }
    }

    /// The time that the request has spent without the progress that it should have made.
    pub(crate) fn still(&self) -> Duration {
        self.stall.waited.max(self.drip.waited)
    }

    /// The time since the last two KiB came.
    pub(crate) fn stalled(&self) -> Duration {
        self.stall.waited
    }

    /// How long the next piece may take.
    pub(crate) fn time_left(&self, limits: &HttpLimits) -> Duration {
        let [stall, drip] = self.floors(limits);
        stall.within.saturating_sub(self.stall.waited).min(drip.within.saturating_sub(self.drip.waited))
    }

    /// Counts time that was waited.
    pub(crate) fn waited(&mut self, time: Duration) {
        self.stall.waited += time;
        self.drip.waited += time;
    }

    /// Counts bytes that came.
    pub(crate) fn moved(&mut self, bytes: u64, limits: &HttpLimits) {
        let [stall, drip] = self.floors(limits);
        self.stall.moved(bytes, stall);
        self.drip.moved(bytes, drip);
    }

    /// What is wrong if the next piece has taken longer than [`BodyRate::time_left`].
    pub(crate) fn too_slow(&self, limits: &HttpLimits) -> NetworkProblem {
        let [stall, drip] = self.floors(limits);
        if self.stall.waited >= stall.within {
            let what = match self.stall.bytes {
                0 => "nothing came".to_owned(),
                bytes => format!("only {bytes} bytes came"),
            };
            return NetworkProblem::timed_out(&what, self.stall.waited);
        }
        let what = format!("only {} of at least {} bytes came", self.drip.bytes, drip.bytes);
        NetworkProblem::timed_out(&what, self.drip.waited)
    }

    /// Both floors; if less time is left than they have, in proportion.
    fn floors(&self, limits: &HttpLimits) -> [PaceFloor; 2] {
        [(limits.floor, limits.window), (limits.pace_floor, limits.pace_window)].map(|(bytes, within)| {
            if self.left >= within {
                return PaceFloor { bytes, within };
            }
            let share = self.left.as_millis().saturating_mul(u128::from(bytes)) / within.as_millis().max(1);
            PaceFloor { bytes: u64::try_from(share).unwrap_or(bytes).max(1), within: self.left }
        })
    }
}

impl Gauge {
    fn moved(&mut self, bytes: u64, floor: PaceFloor) {
        self.bytes += bytes;
        if self.bytes >= floor.bytes {
            *self = Self::default();
        }
    }
}
