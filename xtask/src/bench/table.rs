//! The figures, and the ratios that the project has set itself.

use super::measure::Series;
use super::packed::Packing;
use super::record::{BenchMachine, BenchRecord};
use super::{growth, jobs, trips};

/// A ratio of two cases and the bound it should keep.
struct Goal {
    what: &'static str,
    case: &'static str,
    against: &'static str,
    at_most: f64,
}

const GOALS: &[Goal] = &[
    Goal { what: "install / inflate alone", case: "install", against: "inflate to nowhere", at_most: 1.4 },
    Goal { what: "install with lock file / install", case: "install, lock file", against: "install", at_most: 1.0 },
    Goal { what: "install / curl + unzip", case: "install", against: "curl + unzip", at_most: 0.35 },
    Goal { what: "install / tofu init", case: "install", against: "tofu init", at_most: 0.2 },
    Goal {
        what: "install / tofu init, lock file",
        case: "install, lock file",
        against: "tofu init, lock file",
        at_most: 0.12,
    },
    Goal { what: "push one / curl PUT", case: "push one, no h1", against: "curl PUT one", at_most: 1.15 },
    Goal {
        what: "push all / curl one by one",
        case: "push all, no h1",
        against: "sha256sum + curl PUT all",
        at_most: 0.5,
    },
    Goal {
        what: "cache, a project deleted / kept",
        case: "install, project made anew",
        against: "install, from the cache",
        at_most: 1.3,
    },
    Goal { what: "lock 5 x 10 / curl + sha256sum", case: "lock, signed", against: "curl + sha256sum", at_most: 0.1 },
    Goal { what: "lock 5 x 10 / lock unsigned", case: "lock, signed", against: "lock, unsigned", at_most: 0.1 },
    Goal { what: "mirror one / curl | curl", case: "mirror one", against: "curl | curl", at_most: 1.25 },
    Goal { what: "mirror one / terraform", case: "mirror one", against: "terraform mirror one", at_most: 1.0 },
    Goal {
        what: "bridge / registry, TLS",
        case: "bridge: package, TLS",
        against: "bridge: registry, TLS",
        at_most: 1.5,
    },
    Goal {
        what: "bridge, from disk / nginx, TLS",
        case: "bridge: package on disk, TLS",
        against: "bridge: nginx, TLS",
        at_most: 1.2,
    },
    Goal { what: "bridge / registry", case: "bridge: package", against: "bridge: registry", at_most: 1.5 },
];

/// The most that a case should cost.
struct Limit {
    case: &'static str,
    cost: Cost,
}

enum Cost {
    /// The median.
    Seconds(f64),
    /// The peak of memory.
    Mebibytes(f64),
}

const LIMITS: &[Limit] = &[
    Limit { case: "mirror one", cost: Cost::Mebibytes(64.0) },
    Limit { case: "mirror 100, unchanged", cost: Cost::Seconds(1.0) },
    Limit { case: "install, from the cache", cost: Cost::Seconds(0.03) },
    Limit { case: "install, nothing recorded", cost: Cost::Seconds(0.6) },
];

/// Two cases and how many seconds the first may take beyond the other.
struct Extra {
    case: &'static str,
    beyond: &'static str,
    at_most: f64,
}

const EXTRAS: &[Extra] = &[
    Extra { case: "bridge: run -- init", beyond: "bridge: init, static mirror", at_most: 0.3 },
    Extra { case: "install, already there", beyond: "--version", at_most: 0.01 },
];

/// Prints the jobs, then the ratios and limits, then growth, then the cases that no job names.
pub(super) fn print(record: &BenchRecord) {
    for machine in machine_lines(record) {
        println!("{machine}");
    }
    print_jobs(record);
    print_parts(record);
    print_goals(record);
    print_growth(record);
    trips::print(&record.trips);
    println!("\n{:<34} {:>8} {:>8} {:>8} {:>10}", "other cases, seconds", "min", "median", "spread", "peak MiB");
    let other = |series: &&Series| !jobs::is_in_a_job(&series.name) && growth::GrowthStep::of(series).is_none();
    for series in record.series.iter().filter(other) {
        println!("{:<34} {}", series.name, figures(series));
    }
    println!("\n{}", record.noise_lines().join("\n"));
}

/// Where, with what and how often it was measured.
pub(super) fn machine_lines(record: &BenchRecord) -> Vec<String> {
    let BenchRecord { machine, programs, package, rounds, .. } = record;
    let BenchMachine { processor, cores, memory, system } = machine;
    let most = record.series.iter().map(|series| series.samples.len()).max().unwrap_or(0);
    let small = if most > *rounds {
        format!(" (after them, {most} of each case that takes less than about 100 ms)")
    } else {
        String::new()
    };
    vec![
        format!("{processor}, {cores} cores, {memory} GiB, {system}"),
        programs.join(", "),
        format!("{package}; {rounds} rounds in shuffled order{small}; registry:2 on the same cores, over loopback"),
    ]
}

fn print_jobs(record: &BenchRecord) {
    println!(
        "\n{:<34} {:>8} {:>8} {:>8} {:>10} {:>9} {:>7}",
        "job, seconds", "min", "median", "spread", "peak MiB", "requests", "x ours"
    );
    for job in jobs::measured(record) {
        println!("{}", job.what);
        for line in job.lines {
            let requests = line.series.requests.map_or_else(|| "-".to_owned(), |count| count.to_string());
            let name = format!("  {}{}", line.series.name, line.doer.mark());
            println!("{name:<34} {} {requests:>9} {:>7.2}", figures(line.series), line.ratio);
        }
    }
}

fn figures(series: &Series) -> String {
    let spread = format!("{:.0} %", series.spread());
    format!("{:>8.3} {:>8.3} {spread:>8} {:>10.1}", series.min(), series.median(), series.peak_mebibytes())
}

/// What one core would need for each part of an installation.
fn print_parts(record: &BenchRecord) {
    for PartedInstall { install, seconds, parts, sum, .. } in parted(record) {
        let each: Vec<String> = parts.iter().map(|(name, seconds)| format!("{name} {seconds:.2}")).collect();
        println!("\n{install}, its parts one after the other on one core: {}; in all {sum:.2} s", each.join(", "));
        println!("{install} / its parts: {:.2}, goal 1.25", seconds / sum);
    }
}

/// An installation and its parts, in medians of seconds.
pub(super) struct PartedInstall {
    pub(super) install: &'static str,
    pub(super) seconds: f64,
    pub(super) parts: Vec<(&'static str, f64)>,
    pub(super) sum: f64,
    /// The least seconds of the parts, by the thread that does them.
    pub(super) threads: Vec<f64>,
}

impl PartedInstall {
    /// The least seconds that the installation of one package takes with so many cores.
    pub(super) fn least_with(&self, cores: u32) -> f64 {
        let shared = self.threads.iter().sum::<f64>() / f64::from(cores);
        self.threads.iter().copied().fold(shared, f64::max)
    }
}

/// The installations of which every part was measured.
pub(super) fn parted(record: &BenchRecord) -> Vec<PartedInstall> {
    let median = |name| record.find(name).map(Series::median);
    let of = |packing: Packing| {
        let least = |names: &Vec<&str>| names.iter().map(|name| Some(record.find(name)?.min())).sum();
        let threads = packing.threads();
        let parts: Option<Vec<_>> = threads.concat().into_iter().map(|name| Some((name, median(name)?))).collect();
        let (install, parts) = (packing.install(), parts?);
        let sum = parts.iter().map(|(_, seconds)| seconds).sum();
        let threads: Option<Vec<f64>> = threads.iter().map(least).collect();
        Some(PartedInstall { install, seconds: median(install)?, parts, sum, threads: threads? })
    };
    Packing::ALL.into_iter().filter_map(of).collect()
}

fn print_growth(record: &BenchRecord) {
    for growth in growth::measured(record) {
        let [time, memory] = growth.exponents;
        println!("\ninstall, {}: time grows as n^{time:.2}, memory as n^{memory:.2}", growth.family.name());
        for (n, series) in growth.steps {
            println!("{n:>34} {}", figures(series));
        }
    }
}

fn print_goals(record: &BenchRecord) {
    println!("\n{:<36} {:>7} {:>7} {:>7}", "ratio", "median", "min", "goal");
    for goal in GOALS {
        let (Some(case), Some(against)) = (record.find(goal.case), record.find(goal.against)) else { continue };
        let (median, min) = (case.median() / against.median(), case.min() / against.min());
        println!("{:<36} {median:>7.2} {min:>7.2} {:>7.2}", goal.what, goal.at_most);
    }
    for extra in EXTRAS {
        let (Some(case), Some(beyond)) = (record.find(extra.case), record.find(extra.beyond)) else { continue };
        let (median, min) = (case.median() - beyond.median(), case.min() - beyond.min());
        println!("{:<36} {median:>+7.2} {min:>+7.2} {:>7.2} s", format!("{}, extra", extra.case), extra.at_most);
    }
    for limit in LIMITS {
        let Some(series) = record.find(limit.case) else { continue };
        let (found, most, unit) = match limit.cost {
            Cost::Seconds(most) => (series.median(), most, "s"),
            Cost::Mebibytes(most) => (series.peak_mebibytes(), most, "MiB"),
        };
        println!("{:<36} {found:>7.2} {unit:>7} {most:>7.2}", limit.case);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_cores_than_busy_threads_help_no_single_package() {
        let threads = vec![0.3, 0.7, 0.6, 0.4];
        let parted = PartedInstall { install: "install", seconds: 1.0, parts: Vec::new(), sum: 2.5, threads };
        assert_eq!([1, 2, 4, 8].map(|cores| format!("{:.1}", parted.least_with(cores))), ["2.0", "1.0", "0.7", "0.7"]);
    }
}
