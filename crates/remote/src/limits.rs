//! The table of limits: how long each wait may take. There is no limit on a whole transfer, only on the time in which
//! nothing, or too little, moves.

use std::time::Duration;

/// The one table of limits. `--timeout` scales all of it ([`Limits::within`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// Until the first byte of an answer comes, if the request had no body.
    pub first_byte: Duration,
    /// Until the registry takes more of a body, or answers after it has taken all of it.
    pub taken: Duration,
    /// The time in which at least [`Limits::floor`] bytes of an answer's body must come.
    pub window: Duration,
    /// Bytes.
    pub floor: u64,
    /// The time without progress of all tries of one request together, the waits between them included.
    pub total: Duration,
    /// After this much waiting an event says for whom.
    pub notice: Duration,
}

impl Limits {
    /// The total of [`Limits::default`].
    pub const DEFAULT_TOTAL: Duration = Duration::from_mins(2);

    /// The table with this total; the other times keep their proportion to it. [`Limits::notice`] only gets shorter.
    #[must_use]
    pub fn within(total: Duration) -> Self {
        let scaled = |seconds: u32| total.saturating_mul(seconds) / 120;
        Self {
            connect: scaled(10),
            first_byte: scaled(30),
            taken: scaled(60),
            window: scaled(30),
            floor: 2 * 1024,
            total,
            notice: scaled(3).min(Duration::from_secs(3)),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::within(Self::DEFAULT_TOTAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_scales_the_whole_table() {
        let seconds = Duration::from_secs;
        let table = |limits: Limits| {
            let Limits { connect, first_byte, taken, window, floor, total, notice } = limits;
            assert_eq!(floor, 2048);
            [connect, first_byte, taken, window, total, notice]
        };
        assert_eq!(table(Limits::default()), [10, 30, 60, 30, 120, 3].map(seconds));
        assert_eq!(table(Limits::within(seconds(240))), [20, 60, 120, 60, 240, 3].map(seconds));
        assert_eq!(
            table(Limits::within(seconds(12))),
            [1000, 3000, 6000, 3000, 12_000, 300].map(Duration::from_millis)
        );
    }
}
