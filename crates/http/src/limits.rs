//! The table of limits: how long each wait may take. There is no limit on a whole transfer, only on the time in which
//! nothing, or too little, moves.

use std::time::Duration;

/// The one table of limits. `--timeout` scales all of it ([`HttpLimits::within`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpLimits {
    /// Until there is a connection, TLS included.
    pub connect: Duration,
    /// Until the first byte of an answer comes, if the request had no body.
    pub first_byte: Duration,
    /// Until the server takes more of a body, or answers after it has taken all of it.
    pub taken: Duration,
    /// The time in which at least [`HttpLimits::floor`] bytes of an answer's body must come.
    pub window: Duration,
    /// Bytes.
    pub floor: u64,
    /// The time in which at least [`HttpLimits::pace_floor`] bytes, or the rest, of any body must move in either direction.
    pub pace_window: Duration,
    /// Bytes. Without `--timeout` this is 1 KiB a second; a longer timeout asks for less, a shorter one never for more.
    pub pace_floor: u64,
    /// The time without progress of all attempts of one request, the waits between them included.
    pub total: Duration,
    /// After this much waiting an event names the host.
    pub notice: Duration,
}

impl HttpLimits {
    /// The total of [`HttpLimits::default`].
    pub const DEFAULT_TOTAL: Duration = Duration::from_mins(2);

    /// The table with this total; the other times keep their proportion to it. [`HttpLimits::notice`] only gets shorter.
    #[must_use]
    pub fn within(total: Duration) -> Self {
        let scaled = |seconds: u32| total.saturating_mul(seconds) / 120;
        Self {
            connect: scaled(10),
            first_byte: scaled(30),
            taken: scaled(60),
            window: scaled(30),
            floor: 2 * 1024,
            pace_window: scaled(60),
            pace_floor: pace_floor(scaled(60)),
            total,
            notice: scaled(3).min(Duration::from_secs(3)),
        }
    }
}

/// The bytes that must move in this time.
fn pace_floor(window: Duration) -> u64 {
    let at_a_kibibyte_a_second = u64::try_from(window.as_millis()).unwrap_or(u64::MAX).saturating_mul(1024) / 1000;
    at_a_kibibyte_a_second.clamp(1, 60 * 1024)
}

impl Default for HttpLimits {
    fn default() -> Self {
        Self::within(Self::DEFAULT_TOTAL)
    }
}

/// A time for people: whole seconds, or milliseconds if it is shorter than one.
pub fn shown_time(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_scales_the_whole_table() {
        let seconds = Duration::from_secs;
        let table = |limits: HttpLimits| {
            let HttpLimits { connect, first_byte, taken, window, floor, total, notice, pace_window, .. } = limits;
            assert_eq!((floor, pace_window), (2048, taken));
            [connect, first_byte, taken, window, total, notice]
        };
        assert_eq!(table(HttpLimits::default()), [10, 30, 60, 30, 120, 3].map(seconds));
        assert_eq!(table(HttpLimits::within(seconds(240))), [20, 60, 120, 60, 240, 3].map(seconds));
        assert_eq!(
            table(HttpLimits::within(seconds(12))),
            [1000, 3000, 6000, 3000, 12_000, 300].map(Duration::from_millis)
        );
        let pace = |total| HttpLimits::within(total).pace_floor;
        assert_eq!([12, 120, 240, 86_400].map(seconds).map(pace), [6 * 1024, 60 * 1024, 60 * 1024, 60 * 1024]);
        assert_eq!(pace(Duration::from_millis(1)), 1);
    }
}
