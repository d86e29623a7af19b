//! The figures, and the ratios that the project has set itself.

use super::measure::Series;

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
    Goal { what: "install / tofu init", case: "install", against: "tofu init", at_most: 0.35 },
    Goal { what: "push one / curl PUT", case: "push one, no h1", against: "curl PUT one", at_most: 1.15 },
    Goal {
        what: "push all / curl one by one",
        case: "push all, no h1",
        against: "sha256sum + curl PUT all",
        at_most: 0.5,
    },
    Goal { what: "lock 5 x 10 / curl + sha256sum", case: "lock, signed", against: "curl + sha256sum", at_most: 0.1 },
    Goal { what: "lock 5 x 10 / lock unsigned", case: "lock, signed", against: "lock, unsigned", at_most: 0.1 },
    Goal { what: "mirror one / curl | curl", case: "mirror one", against: "curl | curl", at_most: 1.3 },
    Goal { what: "mirror one / terraform", case: "mirror one", against: "terraform mirror one", at_most: 1.0 },
    Goal {
        what: "bridge / registry, TLS",
        case: "bridge: package, TLS",
        against: "bridge: registry, TLS",
        at_most: 1.25,
    },
    Goal { what: "bridge / registry", case: "bridge: package", against: "bridge: registry", at_most: 1.25 },
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
];

/// Two cases and how many seconds the first may take beyond the other.
struct Extra {
    case: &'static str,
    beyond: &'static str,
    at_most: f64,
}

const EXTRAS: &[Extra] = &[Extra { case: "bridge: run -- init", beyond: "bridge: init, static mirror", at_most: 0.3 }];

/// Prints every case, then the ratios of medians, then the peaks of memory.
pub(super) fn print(results: &[Series], runs: usize) {
    println!("\n{:<28} {:>8} {:>8} {:>10}", format!("seconds (of {runs})"), "min", "median", "peak MiB");
    for series in results {
        let peak = peak(series);
        println!("{:<28} {:>8.3} {:>8.3} {:>10.1}", series.name, series.min(), series.median(), peak);
    }
    if let Some(noise) = find(results, "inflate to nowhere") {
        let slowest = noise.samples.iter().map(|sample| sample.seconds).fold(0.0, f64::max);
        let spread = (slowest / noise.min() - 1.0) * 100.0;
        println!("\nmachine noise: the same inflate took up to {spread:.0} % longer than its best");
    }
    println!("\n{:<36} {:>7} {:>7} {:>7}", "ratio", "median", "min", "goal");
    for goal in GOALS {
        let (Some(case), Some(against)) = (find(results, goal.case), find(results, goal.against)) else { continue };
        let (median, min) = (case.median() / against.median(), case.min() / against.min());
        println!("{:<36} {median:>7.2} {min:>7.2} {:>7.2}", goal.what, goal.at_most);
    }
    for extra in EXTRAS {
        let (Some(case), Some(beyond)) = (find(results, extra.case), find(results, extra.beyond)) else { continue };
        let (median, min) = (case.median() - beyond.median(), case.min() - beyond.min());
        println!("{:<36} {median:>+7.2} {min:>+7.2} {:>7.2} s", format!("{}, extra", extra.case), extra.at_most);
    }
    for limit in LIMITS {
        let Some(series) = find(results, limit.case) else { continue };
        let (found, most, unit) = match limit.cost {
            Cost::Seconds(most) => (series.median(), most, "s"),
            Cost::Mebibytes(most) => (peak(series), most, "MiB"),
        };
        println!("{:<36} {found:>7.2} {unit:>7} {most:>7.2}", limit.case);
    }
}

/// In MiB.
fn peak(series: &Series) -> f64 {
    series.peak() as f64 / f64::from(1 << 20)
}

fn find<'a>(results: &'a [Series], name: &str) -> Option<&'a Series> {
    results.iter().find(|series| series.name == name)
}
