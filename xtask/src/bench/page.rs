//! `docs/reference/performance.md` and its picture, drawn from the record that lies beside them.

use std::collections::BTreeMap;

use super::jobs::{self, Doer};
use super::measure::Series;
use super::record::BenchRecord;
use super::{growth, picture, table};
use crate::failure::ChoreResult;
use crate::paths;

const RECORD: &str = "docs/reference/performance.json";
const PAGE: &str = "docs/reference/performance.md";
const PICTURE: &str = "docs/reference/performance.svg";

/// The page and the picture, by their paths in the workspace; empty as long as no run has been kept.
///
/// # Errors
/// If the record cannot be read.
pub(crate) fn pages() -> ChoreResult<BTreeMap<&'static str, String>> {
    let path = paths::root().join(RECORD);
    if !path.exists() {
        return Ok(BTreeMap::new());
    }
    let record = BenchRecord::read(&path)?;
    Ok([(PAGE, page(&record)), (PICTURE, picture::svg(&record)?)].into())
}

fn page(record: &BenchRecord) -> String {
    let mut text = String::from(
        "# Performance\n\n<!-- `cargo xtask fixtures` writes this page and its picture from performance.json. -->\n\n\
         How fast the program is beside what people use today, from one run on one machine. The registry shares the \
         machine's cores. Compare ratios: seconds differ from machine to machine.\n\n\
         ![Bars of each job beside its peers, and time against n](performance.svg)\n\n## The machine\n\n",
    );
    for line in table::machine_lines(record).into_iter().chain(record.noise_lines()) {
        text += &format!("- {line}\n");
    }
    text += "\n## Jobs\n\n`x ours` says how often the first line of a job fits into a line, by medians. The spread \
             says how much longer the slowest round took than the fastest. Requests are those that the registries logged \
             in one run. `oras` pushes one platform after the other, as its documentation shows.\n\n\
             | job | who | case | seconds, least | median | spread | rounds | peak MiB | requests | x ours |\n|---|---|---|---:|---:|---:|---:|---:|---:|---:|\n";
    for job in jobs::measured(record) {
        for line in &job.lines {
            let who = match line.doer {
                Doer::Ours => "tofu-oci",
                Doer::Peer => "peer",
                Doer::Limit => "limit",
            };
            let series = line.series;
            let requests = series.requests.map(|count| count.to_string()).unwrap_or_default();
            text += &format!(
                "| {} | {who} | {} | {:.3} | {:.3} | {:.0} % | {} | {:.1} | {requests} | {:.2} |\n",
                job.what,
                series.name.replace('|', "\\|"),
                series.min(),
                series.median(),
                series.spread(),
                series.samples.len(),
                series.peak_mebibytes(),
                line.ratio
            );
        }
    }
    text += &parts(record);
    text += &trips_section(record);
    text += &record.loads.section();
    text += &growth_section(record);
    text += "\n## How to repeat it\n\n```sh\ncargo xtask bench --runs 5 --json docs/reference/performance.json\ncargo xtask fixtures\n```\n\n\
             The first command needs the programs that CONTRIBUTING.md names; what is missing is left out. The large package is a \
             provider that it finds in a filesystem mirror on the machine (`--provider-dir DIR`), otherwise a made one of 700 MB.\n\n\
             `bench` first measures the machine's noise, and waits up to ten minutes (`--wait MINUTES`) until it is at \
             most 8 %. If the noise before the rounds or within them is higher, it prints the figures but writes no file. \
             `--against docs/reference/performance.json` prints each case beside this run.\n";
    text
}

fn parts(record: &BenchRecord) -> String {
    let parted = table::parted(record);
    if parted.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## The parts of an installation\n\nWhat one core needs for each part, one after the other: receiving, decompressing, hashing the archive and \
         the files, the CRC of a zip, and writing. `install` does them side by side (goal: \
         at most 1.25 of the sum). Each spread stands in brackets.\n\n\
         | case | seconds, median | sum of its parts | of the sum | parts |\n|---|---:|---:|---:|---|\n",
    );
    let spread = |name: &str| record.find(name).map_or(0.0, Series::spread);
    for table::PartedInstall { install, seconds, parts, sum, .. } in &parted {
        let part = |(name, seconds): &(&str, f64)| {
            format!("{} {seconds:.2} ({:.0} %)", name.trim_start_matches("part: "), spread(name))
        };
        let parts: Vec<String> = parts.iter().map(part).collect();
        text += &format!(
            "| {install} | {seconds:.3} ({:.0} %) | {sum:.3} | {:.2} | {} |\n",
            spread(install),
            seconds / sum,
            parts.join("; ")
        );
    }
    text += "\nFour threads share the work of one package: one receives it and hashes the archive, one decompresses, one \
             hashes the files, one writes. A small layer has two that decompress; the table counts one. So the least seconds of the parts say what more cores can give: their sum by the cores, \
             but not less than the busiest thread. Nothing is flushed to the disk. Several packages at once use more cores than that.\n\n\
             | case | 1 core | 2 cores | 4 cores | 8 cores |\n|---|---:|---:|---:|---:|\n";
    for parted in &parted {
        let seconds = [1, 2, 4, 8].map(|cores| format!("{:.2}", parted.least_with(cores)));
        text += &format!("| {} | {} |\n", parted.install, seconds.join(" | "));
    }
    text
}

fn trips_section(record: &BenchRecord) -> String {
    let Some(first) = record.trips.first() else { return String::new() };
    let mut text = format!(
        "\n## Round trips\n\nSmall providers over a line with a round trip of {} ms, connecting included: the seconds beyond those \
         without a delay, in round trips.\n\n| job | seconds | without delay | round trips | goal | connections |\n|---|---:|---:|---:|---:|---:|\n",
        first.round_trip
    );
    for line in &record.trips {
        let ([far, near], trips) = (line.seconds, line.trips());
        text += &format!(
            "| {} | {far:.3} | {near:.3} | {trips:.1} | {:.0} | {} |\n",
            line.job, line.goal, line.connections
        );
    }
    text
}

fn growth_section(record: &BenchRecord) -> String {
    let families = growth::measured(record);
    if families.is_empty() {
        return String::new();
    }
    let mut text = String::from(
        "\n## Growth\n\n`install` with more and more of one thing. An exponent of 1 is linear growth; of 0, none; of -1, half the time with twice as much. Only `install` is confined to the cores.\n\n\
         | what grows | n | least seconds | spread | peak MiB | exponent of time | of memory |\n|---|---:|---:|---:|---:|---:|---:|\n",
    );
    for family in families {
        for (index, (n, series)) in family.steps.iter().enumerate() {
            let exponents =
                if index == 0 { family.exponents.map(|value| format!("{value:.2}")) } else { Default::default() };
            let [time, memory] = exponents;
            let (seconds, spread, peak) = (series.min(), series.spread(), series.peak_mebibytes());
            text += &format!(
                "| {} | {n} | {seconds:.3} | {spread:.0} % | {peak:.1} | {time} | {memory} |\n",
                family.family.name()
            );
        }
    }
    text
}
