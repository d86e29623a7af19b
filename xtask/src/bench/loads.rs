//! Many clients of the bridge at once: metadata beside nginx, and the memory that packages take.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::measure::{median, output};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::served::ServedBridge;

/// Connections of a load on metadata, and simultaneous downloads.
const CLIENTS: usize = 64;
/// How long a load on metadata lasts.
const SECONDS: u64 = 5;
/// How many times nginx and the bridge take turns.
const TURNS: usize = 3;

/// What loads on the bridge cost.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct MeasuredLoads {
    metadata: Vec<MetadataLoad>,
    memory: Vec<MemoryLoad>,
}

/// One document, asked for as fast as it comes.
#[derive(Serialize, Deserialize)]
struct MetadataLoad {
    document: String,
    bridge: Vec<RequestRate>,
    nginx: Vec<RequestRate>,
}

/// What `wrk` measured in one turn.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct RequestRate {
    /// Requests in a second.
    rate: f64,
    /// The time that 99 % of the requests keep to, in milliseconds.
    p99: f64,
}

/// All clients download the package at the same time.
#[derive(Serialize, Deserialize)]
struct MemoryLoad {
    how: String,
    seconds: f64,
    /// MiB of the bridge, resident at most.
    peak: f64,
}

impl MeasuredLoads {
    /// Adds the load of a document: its name, and its addresses at the bridge and at nginx.
    pub(super) fn add_metadata(&mut self, wrk: &Path, document: &str, urls: [&str; 2]) -> ChoreResult {
        let mut load = MetadataLoad { document: document.to_owned(), bridge: Vec::new(), nginx: Vec::new() };
        for _ in 0..TURNS {
            load.nginx.push(rate(wrk, urls[1])?);
            load.bridge.push(rate(wrk, urls[0])?);
        }
        self.metadata.push(load);
        Ok(())
    }

    /// Adds the memory of a bridge from which all clients download a package, each with this command's options.
    pub(super) fn add_memory(&mut self, how: &str, bridge: &ServedBridge, url: &str, mut curl: Command) -> ChoreResult {
        curl.args(["--parallel", "--parallel-immediate", "--parallel-max", &CLIENTS.to_string()]);
        for _ in 1..CLIENTS {
            curl.args(["--output", "/dev/null", url]);
        }
        let begin = Instant::now();
        output(&mut curl)?;
        let (seconds, (_, peak)) = (begin.elapsed().as_secs_f64(), bridge.memory());
        self.memory.push(MemoryLoad { how: how.to_owned(), seconds, peak: peak as f64 / f64::from(1 << 20) });
        Ok(())
    }

    /// Both tables, in Markdown.
    pub(super) fn section(&self) -> String {
        let mut text = String::new();
        if !self.metadata.is_empty() {
            text += &format!(
                "\n## Many clients of the bridge\n\n{CLIENTS} connections over TLS that ask for one document as fast as it comes, for {SECONDS} s, \
                 {TURNS} times in turn with nginx, which serves the same files. Medians, and how far the turns lie apart. The goal is 0.90 of nginx.\n\n\
                 | document | bridge, requests/s | nginx | bridge / nginx | 99 % within, ms | nginx |\n|---|---:|---:|---:|---:|---:|\n"
            );
        }
        for MetadataLoad { document, bridge, nginx } in &self.metadata {
            let [ours, theirs] = [bridge, nginx].map(|turns| median(turns.iter().map(|turn| turn.rate)));
            let [p99, their_p99] = [bridge, nginx].map(|turns| median(turns.iter().map(|turn| turn.p99)));
            text += &format!(
                "| `{document}` | {ours:.0} ({:.0} %) | {theirs:.0} ({:.0} %) | {:.2} | {p99:.2} | {their_p99:.2} |\n",
                spread(bridge),
                spread(nginx),
                ours / theirs
            );
        }
        if !self.memory.is_empty() {
            text += &format!(
                "\n{CLIENTS} clients download the large package at the same time. The goal is 96 MiB of the bridge.\n\n\
                 | package | seconds | peak MiB |\n|---|---:|---:|\n"
            );
        }
        for MemoryLoad { how, seconds, peak } in &self.memory {
            text += &format!("| {how} | {seconds:.1} | {peak:.1} |\n");
        }
        text
    }
}

/// By how many per cent the fastest turn exceeds the slowest.
fn spread(turns: &[RequestRate]) -> f64 {
    let rates = || turns.iter().map(|turn| turn.rate);
    (rates().fold(0.0, f64::max) / rates().fold(f64::INFINITY, f64::min) - 1.0) * 100.0
}

fn rate(wrk: &Path, url: &str) -> ChoreResult<RequestRate> {
    let mut command = Command::new(wrk);
    command.args(["--threads", "2", "--latency", "--connections", &CLIENTS.to_string()]);
    let said = output(command.args(["--duration", &format!("{SECONDS}s"), url]))?;
    let word = |begin: &str| said.lines().find_map(|line| line.trim().strip_prefix(begin)).map(str::trim);
    let rate = word("Requests/sec:").and_then(|text| text.parse().ok());
    let p99 = word("99%").and_then(milliseconds);
    match (rate, p99) {
        (Some(rate), Some(p99)) if !said.contains("Non-2xx") && !said.contains("Socket errors") => {
            Ok(RequestRate { rate, p99 })
        }
        _ => Err(ChoreFailure::new(format!("wrk at {url} says\n{said}"))),
    }
}

/// A time as wrk writes it.
fn milliseconds(text: &str) -> Option<f64> {
    let units = [("us", 1e-3), ("ms", 1.0), ("s", 1e3)];
    let (number, factor) = units.iter().find_map(|(unit, factor)| Some((text.strip_suffix(unit)?, factor)))?;
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_wrk_are_read_in_every_unit() {
        assert_eq!(milliseconds("512.00us"), Some(0.512));
        assert_eq!(milliseconds("4.71ms"), Some(4.71));
        assert_eq!(milliseconds("1.02s"), Some(1020.0));
        assert_eq!(milliseconds("soon"), None);
    }

    #[test]
    fn the_page_has_medians_their_spread_and_the_ratio() {
        let turns = |rates: [f64; 3]| rates.map(|rate| RequestRate { rate, p99: 2.0 }).to_vec();
        let load = MetadataLoad {
            document: "index.json".to_owned(),
            bridge: turns([80.0, 100.0, 90.0]),
            nginx: turns([100.0, 100.0, 120.0]),
        };
        let memory = MemoryLoad { how: "streams".to_owned(), seconds: 9.0, peak: 90.04 };
        let text = MeasuredLoads { metadata: vec![load], memory: vec![memory] }.section();
        assert!(text.contains("| `index.json` | 90 (25 %) | 100 (20 %) | 0.90 | 2.00 | 2.00 |\n"), "{text}");
        assert!(text.ends_with("| streams | 9.0 | 90.0 |\n"), "{text}");
        assert_eq!(MeasuredLoads::default().section(), "");
    }
}
