//! How time and memory grow with the number of providers, of versions and of files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::measure::{Series, output};
use super::package::{PLATFORMS, make, write_zip};
use super::record::BenchRecord;
use crate::failure::ChoreResult;
use crate::process::find;

/// What grows, and how far: the name of the family, and the numbers that are measured.
pub(super) const FAMILIES: &[(GrowthFamily, &[usize])] = &[
    (GrowthFamily::Providers, &[1, 10, 100]),
    (GrowthFamily::Versions, &[1, 10, 100]),
    (GrowthFamily::Files, &[10, 100, 1000]),
    (GrowthFamily::Cores, &[1, 2]),
];

/// How many providers are installed with more and more cores, and the size of each program in MB.
const FOR_CORES: (usize, u64) = (30, 20);

/// What there are more and more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrowthFamily {
    /// Providers of one configuration; each package has one small file.
    Providers,
    /// Versions in the repository of one provider.
    Versions,
    /// Files in one package.
    Files,
    /// Cores for 30 providers of 20 MB. Only `install` is confined to them; the registry takes what it gets.
    Cores,
}

/// The place of a case in its family.
#[derive(Clone, Copy, Debug)]
pub(super) struct GrowthStep {
    pub(super) family: GrowthFamily,
    pub(super) n: usize,
}

impl GrowthFamily {
    /// What is counted, in words.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Providers => "providers in a configuration",
            Self::Versions => "versions in a repository",
            Self::Files => "files in a package",
            Self::Cores => "cores for 30 providers of 20 MB",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Providers => "providers",
            Self::Versions => "versions",
            Self::Files => "files",
            Self::Cores => "cores",
        }
    }
}

impl GrowthStep {
    /// The name of its case.
    pub(super) fn case(self) -> String {
        format!("growth: install, {} {}", self.n, self.family.key())
    }

    /// The step that a series measures.
    pub(super) fn of(series: &Series) -> Option<Self> {
        Self::all().find(|step| step.case() == series.name)
    }

    /// Every step of every family.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        FAMILIES.iter().flat_map(|(family, numbers)| numbers.iter().map(|&n| Self { family: *family, n }))
    }

    /// Those that this machine can measure.
    pub(super) fn possible() -> impl Iterator<Item = Self> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let confines = find("taskset").is_some();
        Self::all().filter(move |step| step.family != GrowthFamily::Cores || confines && step.n <= cores)
    }

    /// What the step installs: addresses, each with the name of its repository below `growth/`.
    fn providers(self) -> Vec<String> {
        match self.family {
            GrowthFamily::Providers => (0..self.n).map(|number| format!("p{number}")).collect(),
            GrowthFamily::Versions => vec![format!("v{}", self.n)],
            GrowthFamily::Files => vec![format!("f{}", self.n)],
            GrowthFamily::Cores => (0..FOR_CORES.0).map(|number| format!("c{number}")).collect(),
        }
    }

    /// Publishes what the step installs, with `push DIST REPOSITORY …` as `tofu_oci` begins it.
    pub(super) fn publish(self, work: &Path, registry: &str, tofu_oci: &impl Fn() -> Command) -> ChoreResult {
        for provider in self.providers() {
            let versions = if self.family == GrowthFamily::Versions { self.n } else { 1 };
            let files = if self.family == GrowthFamily::Files { self.n } else { 1 };
            for version in 0..versions {
                let dist = work.join("growth").join(&provider);
                let size = match self.family {
                    GrowthFamily::Cores => ProgramSize::Megabytes(FOR_CORES.1),
                    _ => ProgramSize::Script,
                };
                dist_of(&dist, &provider, &format!("1.{version}.0"), files, size)?;
                let mut push = tofu_oci();
                push.arg("push").arg(&dist).arg(format!("{registry}/growth/{provider}"));
                output(push.args(["--address", &format!("registry.example.test/growth/{provider}")]))?;
                fs::remove_dir_all(&dist)?;
            }
        }
        Ok(())
    }

    /// Makes `command` install it into `folder`.
    pub(super) fn install(self, mut command: Command, folder: &Path, registry: &str) -> ChoreResult<Command> {
        let source =
            |provider: &String| format!("{provider} = {{ source = \"registry.example.test/growth/{provider}\" }}\n");
        let required: String = self.providers().iter().map(source).collect();
        fs::write(folder.join("main.tf"), format!("terraform {{\nrequired_providers {{\n{required}}}\n}}\n"))?;
        let mirror = format!(
            "repository_template = \"{registry}/growth/${{type}}\"\ninclude = [\"registry.example.test/growth/*\"]"
        );
        fs::write(folder.join("rc"), format!("provider_installation {{\noci_mirror {{\n{mirror}\n}}\n}}\n"))?;
        command.args(["install", "--chdir"]).arg(folder).env("TF_CLI_CONFIG_FILE", folder.join("rc"));
        Ok(if self.family == GrowthFamily::Cores { on_cores(&command, self.n) } else { command })
    }
}

/// The same command on so many cores.
fn on_cores(command: &Command, cores: usize) -> Command {
    let mut confined = Command::new("taskset");
    confined.args(["--cpu-list", &format!("0-{}", cores - 1)]).arg(command.get_program()).args(command.get_args());
    confined.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
    confined
}

/// How large a provider's program is.
#[derive(Clone, Copy)]
enum ProgramSize {
    /// A few bytes.
    Script,
    Megabytes(u64),
}

/// A folder with one zip: a program, and further files.
fn dist_of(dist: &Path, provider: &str, version: &str, files: usize, program_size: ProgramSize) -> ChoreResult {
    let source = dist.join("files");
    fs::create_dir_all(&source)?;
    let program = source.join(format!("terraform-provider-{provider}_v{version}"));
    match program_size {
        ProgramSize::Megabytes(megabytes) => fs::rename(make(megabytes, &source)?, &program)?,
        ProgramSize::Script => fs::write(&program, format!("#!/bin/sh\necho {version}\n"))?,
    }
    let mut all: Vec<PathBuf> = vec![program];
    for number in 1..files {
        let file = source.join(format!("file-{number}.txt"));
        fs::write(&file, format!("{number:>8}\n").repeat(500))?;
        all.push(file);
    }
    write_zip(&all, &dist.join(format!("terraform-provider-{provider}_{version}_{}.zip", PLATFORMS[0])))?;
    Ok(fs::remove_dir_all(&source)?)
}

/// The measured steps of a family.
pub(super) struct MeasuredGrowth<'a> {
    pub(super) family: GrowthFamily,
    pub(super) steps: Vec<(usize, &'a Series)>,
    /// The exponents of time and of memory: 1 is linear growth, 0 none.
    pub(super) exponents: [f64; 2],
}

/// The families with more than one measured step.
pub(super) fn measured<'a>(record: &'a BenchRecord) -> Vec<MeasuredGrowth<'a>> {
    let of = |(family, _): &(GrowthFamily, &[usize])| {
        let step = |series: &'a Series| Some((GrowthStep::of(series).filter(|step| step.family == *family)?.n, series));
        let steps: Vec<(usize, &Series)> = record.series.iter().filter_map(step).collect();
        let points =
            |of: fn(&Series) -> f64| steps.iter().map(|(n, series)| (*n as f64, of(series))).collect::<Vec<_>>();
        let exponents = [exponent(&points(Series::min))?, exponent(&points(|series| series.peak() as f64))?];
        Some(MeasuredGrowth { family: *family, steps, exponents })
    };
    FAMILIES.iter().filter_map(of).collect()
}

/// The slope of the straight line that is closest to the points on doubly logarithmic paper.
fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    if points.len() < 2 {
        return None;
    }
    let count = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |of: fn(&(f64, f64)) -> f64| logs.iter().map(of).sum::<f64>() / count;
    let (x0, y0) = (mean(|point| point.0), mean(|point| point.1));
    let above: f64 = logs.iter().map(|(x, y)| (x - x0) * (y - y0)).sum();
    let below: f64 = logs.iter().map(|(x, _)| (x - x0) * (x - x0)).sum();
    Some(above / below)
}

#[cfg(test)]
mod tests {
    use super::exponent;

    #[track_caller]
    fn check(points: &[(f64, f64)], want: Option<f64>) {
        match (exponent(points), want) {
            (Some(found), Some(want)) => assert!((found - want).abs() < 1e-9, "{found}"),
            (found, want) => assert_eq!(found, want),
        }
    }

    #[test]
    fn the_exponent_says_how_time_grows() {
        check(&[(1.0, 2.0), (10.0, 20.0), (100.0, 200.0)], Some(1.0));
        check(&[(1.0, 5.0), (10.0, 5.0), (100.0, 5.0)], Some(0.0));
        check(&[(10.0, 1.0), (100.0, 100.0)], Some(2.0));
        check(&[(10.0, 1.0)], None);
    }
}
