//! What one run of the benchmark measured, as JSON: `--json FILE` writes it, the table and the page are drawn from it.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::loads::MeasuredLoads;
use super::measure::{Series, YARDSTICK, output};
use super::noise;
use super::trips::MeasuredTrips;
use crate::failure::{ChoreResult, Doing};

/// One run: where, with what, and every figure.
#[derive(Serialize, Deserialize)]
pub(super) struct BenchRecord {
    pub(super) machine: BenchMachine,
    /// `rustc --version` and the version of each peer.
    pub(super) programs: Vec<String>,
    /// The large package, in words.
    pub(super) package: String,
    /// Rounds of each case.
    pub(super) rounds: usize,
    pub(super) series: Vec<Series>,
    /// The same work several times, before the rounds; empty in older records.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) noise: Vec<Series>,
    /// What a slow line costs; empty if it was not measured.
    #[serde(default)]
    pub(super) trips: Vec<MeasuredTrips>,
    /// Many clients of the bridge; empty in older records.
    #[serde(default)]
    pub(super) loads: MeasuredLoads,
}

/// The machine, in words that a reader compares with their own.
#[derive(Serialize, Deserialize)]
pub(super) struct BenchMachine {
    pub(super) processor: String,
    pub(super) cores: usize,
    /// GiB, rounded.
    pub(super) memory: u64,
    pub(super) system: String,
}

impl BenchRecord {
    /// A run on this machine, without its figures.
    pub(super) fn new(package: String, rounds: usize) -> Self {
        let versions = [
            ("rustc", &["--version"][..]),
            ("curl", &["--version"]),
            ("unzip", &["-v"]),
            ("tofu", &["version"]),
            ("terraform", &["version"]),
            ("oras", &["version"]),
            ("crane", &["version"]),
            ("regctl", &["version", "--format", "{{.VCSTag}}"]),
        ];
        let programs = versions.iter().filter_map(|(program, words)| version(program, words)).collect();
        let (series, noise, trips) = (Vec::new(), Vec::new(), Vec::new());
        let loads = MeasuredLoads::default();
        Self { machine: BenchMachine::this(), programs, package, rounds, series, noise, trips, loads }
    }

    /// Reads a record that an earlier run wrote.
    pub(super) fn read(path: &Path) -> ChoreResult<Self> {
        let text = fs::read(path).doing(|| format!("reading {}", path.display()))?;
        serde_json::from_slice(&text).doing(|| format!("reading {}", path.display()))
    }

    /// Writes the record.
    ///
    /// # Errors
    /// If the machine was noisy, besides what writing a file brings.
    pub(super) fn keep(&self, path: &Path) -> ChoreResult {
        noise::check(self.noises()).doing(|| format!("{} was not written", path.display()))?;
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(path, text).doing(|| format!("writing {}", path.display()))
    }

    /// The machine's noise, in words.
    pub(super) fn noise_lines(&self) -> Vec<String> {
        self.noises().map(|(when, series)| noise::line(when, series)).collect()
    }

    fn noises(&self) -> impl Iterator<Item = (&'static str, &Series)> {
        let within = self.find(YARDSTICK).map(|series| (noise::WITHIN, series));
        self.noise.iter().map(|series| (noise::BEFORE, series)).chain(within)
    }

    /// The figures of a case, if it was run.
    pub(super) fn find(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

impl BenchMachine {
    fn this() -> Self {
        let field = |file: &str, name: &str| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
            line.split_once(':').map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let kibibytes = field("/proc/meminfo", "MemTotal");
        let kibibytes: u64 = kibibytes.split(' ').next().and_then(|number| number.parse().ok()).unwrap_or(0);
        Self {
            processor: field("/proc/cpuinfo", "model name"),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: (kibibytes + (1 << 19)) >> 20,
            system: fs::read_to_string("/proc/sys/kernel/osrelease")
                .map_or_else(|_| std::env::consts::OS.to_owned(), |release| format!("Linux {}", release.trim())),
        }
    }
}

/// The first line that a program says about its version; `None` if it is not here.
fn version(program: &str, words: &[&str]) -> Option<String> {
    let said =
        output(Command::new(program).args(words).env("CHECKPOINT_DISABLE", "1").env_remove("TF_CLI_CONFIG_FILE"))
            .ok()?;
    // `unzip` begins with its version and goes on with its history; oras names a field.
    let line = said.lines().next()?.trim();
    let short = line.split(" (").next().unwrap_or(line).split(", by").next().unwrap_or(line);
    Some(if short.contains(program) { short.to_owned() } else { format!("{program} {}", last_word(short)) })
}

fn last_word(line: &str) -> &str {
    line.rsplit(' ').next().unwrap_or(line)
}

#[cfg(test)]
pub(super) mod tests {
    use super::{BenchMachine, BenchRecord};
    use crate::bench::loads::MeasuredLoads;
    use crate::bench::measure::tests::series;
    use crate::bench::measure::{Series, YARDSTICK};

    /// A run with these figures.
    pub(in crate::bench) fn record(series: Vec<Series>) -> BenchRecord {
        let machine =
            BenchMachine { processor: "a processor".to_owned(), cores: 2, memory: 8, system: "Linux".to_owned() };
        let (programs, noise, trips) = (vec!["curl 8".to_owned()], Vec::new(), Vec::new());
        let (package, loads) = ("a package".to_owned(), MeasuredLoads::default());
        BenchRecord { machine, programs, package, rounds: 2, series, noise, trips, loads }
    }

    #[test]
    fn a_file_is_written_and_read_again_if_the_machine_was_quiet() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("kept.json");
        let mut run = record(vec![series(YARDSTICK, &[1.0, 1.5])]);
        assert!(run.keep(&file).unwrap_err().to_string().contains("kept.json was not written: machine noise"));
        assert!(!file.exists());
        run.series = vec![series(YARDSTICK, &[1.0, 1.05])];
        run.noise = vec![series("write", &[1.0, 1.02])];
        run.keep(&file).unwrap();
        assert!((BenchRecord::read(&file).unwrap().noise[0].spread() - 2.0).abs() < 1e-9);
    }
}
