//! The machine's noise: how much longer the same work takes at its worst than at its best.
//!
//! It is measured before the rounds, with CPU and disk, and within them, with the yardstick. A noisy run is not kept.

use std::time::{Duration, Instant};

use super::measure::Series;
use crate::failure::{ChoreFailure, ChoreResult};

/// When a noise was measured.
pub(super) const BEFORE: &str = "before the rounds";
pub(super) const WITHIN: &str = "within the rounds";
/// How often a measurement before the rounds repeats its work.
pub(super) const TIMES: usize = 5;
/// The most noise of a run that is kept, in percent.
const MOST: f64 = 8.0;
/// Between two measurements.
const PAUSE: Duration = Duration::from_secs(30);

/// Measures until the machine is quiet, for at most `bound`. What it measured last, quiet or not.
pub(super) fn wait_for_quiet(
    bound: Duration,
    measure: impl FnMut() -> ChoreResult<Vec<Series>>,
) -> ChoreResult<Vec<Series>> {
    let start = Instant::now();
    until_quiet(measure, || {
        let left = bound.saturating_sub(start.elapsed());
        if left.is_zero() {
            eprintln!("more than {MOST} %, and no time is left to wait: the rounds begin, but no file will be written");
            return false;
        }
        eprintln!("more than {MOST} %: measuring again soon, for {} s at most", left.as_secs());
        std::thread::sleep(left.min(PAUSE));
        true
    })
}

fn until_quiet(
    mut measure: impl FnMut() -> ChoreResult<Vec<Series>>,
    mut waits: impl FnMut() -> bool,
) -> ChoreResult<Vec<Series>> {
    loop {
        let noise = measure()?;
        for series in &noise {
            eprintln!("{}", line(BEFORE, series));
        }
        if !noise.iter().any(is_noisy) || !waits() {
            return Ok(noise);
        }
    }
}

/// Refuses a run with one of these noises.
pub(super) fn check<'a>(mut noises: impl Iterator<Item = (&'static str, &'a Series)>) -> ChoreResult {
    match noises.find(|(_, series)| is_noisy(series)) {
        Some((when, series)) => Err(ChoreFailure::new(format!(
            "{}; a run with more than {MOST} % is not kept. Repeat it when nothing else runs on this machine",
            line(when, series)
        ))),
        None => Ok(()),
    }
}

fn is_noisy(series: &Series) -> bool {
    series.spread() > MOST
}

/// A noise in words.
pub(super) fn line(when: &str, series: &Series) -> String {
    format!("machine noise {when}: `{}` took up to {:.1} % longer than its best", series.name, series.spread())
}

#[cfg(test)]
mod tests {
    use super::super::measure::tests::series;
    use super::{BEFORE, WITHIN, check, until_quiet};

    /// How often a machine with these noises is measured, if one may wait so often.
    #[track_caller]
    fn measurements(noises: &[f64], mut pauses: usize) -> usize {
        let mut measured = 0;
        let measure = || {
            let cpu = series("inflate", &[1.0, 1.01]);
            let disk = series("write", &[1.0, noises[measured]]);
            measured += 1;
            Ok(vec![cpu, disk])
        };
        let last = until_quiet(measure, || {
            pauses = pauses.wrapping_sub(1);
            pauses != usize::MAX
        });
        assert!((last.unwrap()[1].most() - noises[measured - 1]).abs() < 1e-9);
        measured
    }

    #[test]
    fn the_rounds_wait_for_a_quiet_machine_within_a_bound() {
        assert_eq!(measurements(&[1.07], 9), 1);
        assert_eq!(measurements(&[1.5, 1.09, 1.02, 1.0], 9), 3);
        assert_eq!(measurements(&[1.5, 1.5, 1.5, 1.5], 2), 3);
        assert_eq!(measurements(&[1.5, 1.0], 0), 1);
    }

    #[test]
    fn a_run_on_a_noisy_machine_is_not_kept() {
        let run = |before: &[f64], within: &[f64]| {
            let noises = [(BEFORE, series("write", before)), (WITHIN, series("inflate", within))];
            check(noises.iter().map(|(when, series)| (*when, series))).map_err(|failure| failure.to_string())
        };
        assert_eq!(run(&[2.0, 2.1], &[1.0, 1.07]), Ok(()));
        let refused = "; a run with more than 8 % is not kept. Repeat it when nothing else runs on this machine";
        let noise = "machine noise within the rounds: `inflate` took up to 9.0 % longer than its best";
        assert_eq!(run(&[2.0, 2.1], &[1.0, 1.09]), Err(format!("{noise}{refused}")));
        let noise = "machine noise before the rounds: `write` took up to 20.0 % longer than its best";
        assert_eq!(run(&[2.0, 2.4], &[1.0, 1.01]), Err(format!("{noise}{refused}")));
    }
}
