//! Running commands and taking their time and peak memory.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::process::high_water;

/// One thing that is measured.
pub(super) struct BenchCase<'a> {
    /// Its name in the table.
    pub(super) name: String,
    /// Done before each run, not timed; gives the commands to time, one after the other.
    pub(super) prepare: Box<dyn Fn(usize) -> ChoreResult<Vec<Command>> + 'a>,
    /// How the time is taken.
    pub(super) clock: BenchClock,
    pub(super) size: CaseSize,
}

/// How long a case takes; each size has rounds of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CaseSize {
    Large,
    /// Below about 100 ms: the write-back of a large case would swing it.
    Small,
}

/// The fixed piece of work that shows the machine's noise in the rounds of either size.
pub(super) const YARDSTICK: &str = "inflate to nowhere";
/// How often a round of small cases runs each of them.
const SMALL_TIMES: usize = 4;

impl BenchCase<'_> {
    /// The same case in the rounds of the small ones.
    pub(super) fn small(self) -> Self {
        Self { size: CaseSize::Small, ..self }
    }

    /// How often a round of this size runs it.
    fn times_in_round(&self, size: CaseSize) -> usize {
        match (self.size, size) {
            (CaseSize::Large, CaseSize::Large) => 1,
            (CaseSize::Small, CaseSize::Small) => SMALL_TIMES,
            (CaseSize::Large, CaseSize::Small) => usize::from(self.name == YARDSTICK),
            (CaseSize::Small, CaseSize::Large) => 0,
        }
    }
}

/// How the time is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum BenchClock {
    /// From the start of the first command to the end of the last.
    Wall,
    /// The command prints its own seconds.
    Printed,
}

/// What one run cost.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Sample {
    pub(super) seconds: f64,
    /// The largest resident set of any process of the run, in bytes.
    pub(super) peak: u64,
}

/// All runs of one case.
#[derive(Serialize, Deserialize)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) samples: Vec<Sample>,
    /// Requests to the registries in one run; absent if they were not counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) requests: Option<usize>,
}

/// The middle of some figures, of which there is one at least; the larger of the two in the middle.
pub(super) fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

impl Series {
    pub(super) fn min(&self) -> f64 {
        self.samples.iter().map(|sample| sample.seconds).fold(f64::INFINITY, f64::min)
    }

    pub(super) fn median(&self) -> f64 {
        median(self.samples.iter().map(|sample| sample.seconds))
    }

    pub(super) fn most(&self) -> f64 {
        self.samples.iter().map(|sample| sample.seconds).fold(0.0, f64::max)
    }

    /// How much longer the slowest run took than the fastest, in percent.
    pub(super) fn spread(&self) -> f64 {
        (self.most() / self.min() - 1.0) * 100.0
    }

    pub(super) fn peak(&self) -> u64 {
        self.samples.iter().map(|sample| sample.peak).max().unwrap_or(0)
    }

    /// The peak in MiB.
    pub(super) fn peak_mebibytes(&self) -> f64 {
        self.peak() as f64 / f64::from(1 << 20)
    }
}

/// Runs the large cases, then the small ones, each round in another order. The disk is synced before each case.
pub(super) fn rounds(cases: &[BenchCase<'_>], runs: usize) -> ChoreResult<Vec<Series>> {
    let mut series: Vec<Series> =
        cases.iter().map(|case| Series { name: case.name.clone(), samples: Vec::new(), requests: None }).collect();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for (size, word) in [(CaseSize::Large, "round"), (CaseSize::Small, "small round")] {
        for round in 1..=runs {
            for index in order(cases, size, &mut random)? {
                eprintln!("{word} {round} of {runs}: {}", cases[index].name);
                let number = series[index].samples.len();
                series[index].samples.push(run(&cases[index], number)?);
            }
        }
    }
    Ok(series)
}

/// The cases of a round of this size, shuffled; empty if no case has this size.
fn order(cases: &[BenchCase<'_>], size: CaseSize, random: &mut u64) -> ChoreResult<Vec<usize>> {
    if cases.iter().all(|case| case.size != size) {
        return Ok(Vec::new());
    }
    let times = |(index, case): (usize, &BenchCase<'_>)| std::iter::repeat_n(index, case.times_in_round(size));
    let mut order: Vec<usize> = cases.iter().enumerate().flat_map(times).collect();
    for position in (1..order.len()).rev() {
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        let other = usize::try_from(*random % (position as u64 + 1))?;
        order.swap(position, other);
    }
    Ok(order)
}

fn run(case: &BenchCase<'_>, round: usize) -> ChoreResult<Sample> {
    let commands = (case.prepare)(round)?;
    warm_memory()?;
    let mut sample = Sample { seconds: 0.0, peak: 0 };
    for mut command in commands {
        let words = format!("{command:?}");
        let start = Instant::now();
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let status = format!("/proc/{}/status", child.id());
        // VmHWM is a high-water mark that is gone with the process: the last reading before the end counts.
        let ended = loop {
            sample.peak = sample.peak.max(high_water(&status));
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let wall = start.elapsed().as_secs_f64();
        let mut printed = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut printed)?;
        }
        if !ended.success() {
            let mut errors = String::new();
            if let Some(mut stderr) = child.stderr.take() {
                stderr.read_to_string(&mut errors)?;
            }
            return Err(ChoreFailure::new(format!("{}: {words} failed: {printed}{errors}", case.name)));
        }
        sample.seconds += match case.clock {
            BenchClock::Wall => wall,
            BenchClock::Printed => printed
                .trim()
                .parse()
                .map_err(|_| ChoreFailure::new(format!("{words} printed no seconds: {printed}")))?,
        };
    }
    Ok(sample)
}

/// Takes and frees memory before a run. Virtual machines give free pages back to their host, and the process that touches them
/// first pays for it: without this, the order of the cases decides which one is slow.
fn warm_memory() -> ChoreResult {
    const BYTES: usize = 3 << 30;
    const PAGE: usize = 4096;
    Command::new("sync").status()?;
    let mut memory = vec![0_u8; BYTES];
    for page in memory.iter_mut().step_by(PAGE) {
        *page = 1;
    }
    std::hint::black_box(&memory);
    Ok(())
}

/// Seconds to inflate every entry of a zip into one reused buffer: the yardstick of the install.
pub(super) fn inflate_to_nowhere(zip: &Path) -> ChoreResult<f64> {
    let mut archive = zip::ZipArchive::new(fs::File::open(zip)?)?;
    let mut ranges = Vec::new();
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index)?;
        let start = entry.data_start().ok_or_else(|| ChoreFailure::new("a zip entry has no data"))?;
        ranges.push((start, entry.compressed_size(), entry.compression() == zip::CompressionMethod::Deflated));
    }
    let bytes = fs::read(zip)?;
    let mut buffer = vec![0_u8; 1 << 20];
    let start = Instant::now();
    for (offset, length, deflated) in ranges {
        let range = usize::try_from(offset)?..usize::try_from(offset + length)?;
        let input = bytes.get(range).ok_or_else(|| ChoreFailure::new("a zip entry leaves the file"))?;
        if deflated {
            inflate(input, &mut buffer)?;
        }
    }
    Ok(start.elapsed().as_secs_f64())
}

fn inflate(mut input: &[u8], buffer: &mut [u8]) -> ChoreResult {
    let mut inflater = flate2::Decompress::new(false);
    loop {
        let before = inflater.total_in();
        let status = inflater.decompress(input, buffer, flate2::FlushDecompress::None)?;
        input = &input[usize::try_from(inflater.total_in() - before)?..];
        if status == flate2::Status::StreamEnd {
            return Ok(());
        }
    }
}

/// What a command prints; a failure if it fails.
pub(super) fn output(command: &mut Command) -> ChoreResult<String> {
    let words = format!("{command:?}");
    let output = command.output()?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(ChoreFailure::new(format!("{words} failed: {}", String::from_utf8_lossy(&output.stderr))))
}

#[cfg(test)]
pub(super) mod tests {
    use super::{BenchCase, BenchClock, CaseSize, Sample, Series, YARDSTICK, order};

    /// A series of these seconds.
    pub(in crate::bench) fn series(name: &str, seconds: &[f64]) -> Series {
        let samples = seconds.iter().map(|&seconds| Sample { seconds, peak: 0 }).collect();
        Series { name: name.to_owned(), samples, requests: None }
    }

    #[test]
    fn the_spread_is_what_the_slowest_took_beyond_the_fastest() {
        assert!((series("a", &[2.0, 2.5, 2.2]).spread() - 25.0).abs() < 1e-9);
        assert!(series("a", &[2.0]).spread().abs() < 1e-9);
    }

    #[test]
    fn small_cases_run_apart_from_large_ones_and_the_yardstick_in_both() {
        let case = |name: &str| BenchCase {
            name: name.to_owned(),
            prepare: Box::new(|_| Ok(Vec::new())),
            clock: BenchClock::Wall,
            size: CaseSize::Large,
        };
        let cases = [case("push"), case("--version").small(), case(YARDSTICK)];
        let round = |cases: &[BenchCase<'_>], size| {
            let mut order = order(cases, size, &mut 1).unwrap();
            order.sort_unstable();
            order
        };
        assert_eq!(round(&cases, CaseSize::Large), [0, 2]);
        assert_eq!(round(&cases, CaseSize::Small), [1, 1, 1, 1, 2]);
        assert!(round(&cases[2..], CaseSize::Small).is_empty());
    }
}
