//! `cargo xtask bench`: speed and memory of install, push, lock, mirror, serve and modules, as ratios measured in one run.
//!
//! The order of the cases is shuffled in every round, and small cases have rounds of their own, after the large ones.
//! Each figure is the minimum and the median of all rounds, with their spread. A timing never fails a test: this prints,
//! and people judge. A file of figures is refused if the machine was noisy.

mod bridge;
mod cases;
mod compare;
mod growth;
mod jobs;
mod loads;
mod lock;
mod measure;
mod mirror;
mod module;
mod noise;
mod package;
mod packed;
mod page;
mod parts;
mod peers;
mod picture;
mod record;
mod slow_line;
mod stage;
mod table;
mod trips;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::RangedU64ValueParser;

use crate::failure::ChoreResult;
use loads::MeasuredLoads;
pub(crate) use page::pages;
pub(crate) use parts::{PartArgs, run as run_part};
use record::BenchRecord;

/// Arguments of `cargo xtask bench`.
#[derive(Debug, Args)]
pub(crate) struct BenchArgs {
    /// A real large package: a filesystem mirror of Terraform's (`HOST/NAMESPACE/TYPE/VERSION/OS_ARCH`). Without it one is
    /// looked for in the usual folders, and otherwise made
    #[arg(long, value_name = "DIR")]
    provider_dir: Option<PathBuf>,
    /// Rounds; each figure is the minimum and the median of them. Small cases have as many rounds of their own, with
    /// four runs in each
    #[arg(long, default_value_t = 5, value_parser = RangedU64ValueParser::<usize>::new().range(1..))]
    runs: usize,
    /// Size of the made package's executable in MB, when no real one is there
    #[arg(long, default_value_t = 700)]
    size: u64,
    /// How many platforms the large release has
    #[arg(long, default_value_t = 10)]
    platforms: usize,
    /// Run only cases whose name contains this text; repeat it for more of them. `trips` runs the small providers over a slow
    /// line alone
    #[arg(long)]
    only: Vec<String>,
    /// Measure this program over the slow line, instead of a release build
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The round trip of the slow line, in milliseconds. With a longer one the machine's own noise counts less
    #[arg(long, default_value_t = 50)]
    round_trip: u64,
    /// Keep every figure in this file, unless the machine's noise was above 8 %, before the rounds or within them.
    /// `cargo xtask fixtures` draws docs/reference/performance.md and its picture from docs/reference/performance.json
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Wait at most so long for a quiet machine; then the rounds begin all the same
    #[arg(long, value_name = "MINUTES", default_value_t = 10)]
    wait: u64,
    /// Print each case beside the same one of an earlier `--json` file, as a Markdown page
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Compare this `--json` file with that one, without a run
    #[arg(long, value_name = "FILE", requires = "against", conflicts_with = "json")]
    with: Option<PathBuf>,
}

/// Builds what is measured, prepares the package and the registries, runs the rounds, prints the tables.
pub(crate) fn run(args: &BenchArgs) -> ChoreResult {
    let against = args.against.as_deref().map(BenchRecord::read).transpose()?;
    if let (Some(before), Some(with)) = (&against, &args.with) {
        print!("{}", compare::page(before, &BenchRecord::read(with)?, &args.only));
        return Ok(());
    }
    let only_trips = args.only == [trips::NAME];
    if let Some(program) = args.program.as_deref().filter(|_| only_trips) {
        trips::print(&trips::measure(program, args.runs, args.round_trip)?);
        return Ok(());
    }
    let work = tempfile::Builder::new().prefix("tofu-oci-bench-").tempdir()?;
    let programs = stage::Programs::build()?;
    if only_trips {
        trips::print(&trips::measure(&programs.tofu_oci, args.runs, args.round_trip)?);
        return Ok(());
    }
    let package =
        package::BenchPackage::find_or_make(args.provider_dir.as_deref(), args.size, args.platforms, work.path())?;
    println!("{package}");
    let stage = stage::BenchStage::start(&programs, &package, work.path())?;
    let mut cases = stage.cases();
    if !args.only.is_empty() {
        // A file needs the noise within the rounds.
        let yardstick = args.json.as_ref().map(|_| measure::YARDSTICK);
        let wanted = |name: &str| args.only.iter().any(|text| name.contains(text)) || Some(name) == yardstick;
        cases.retain(|case| wanted(&case.name));
    }
    let mut record = BenchRecord::new(package.to_string(), args.runs);
    let (work, bound) = (stage.noise_cases(), Duration::from_secs(args.wait * 60));
    record.noise = noise::wait_for_quiet(bound, || measure::rounds(&work, noise::TIMES))?;
    record.series = measure::rounds(&cases, args.runs)?;
    for (case, series) in cases.iter().zip(&mut record.series).filter(|(case, _)| jobs::is_in_a_job(&case.name)) {
        let round = series.samples.len();
        series.requests = Some(stage.requests_of(case, round)?).filter(|&requests| requests > 0);
    }
    if record.series.iter().any(|series| series.name.starts_with("bridge: ")) {
        // What was measured before is kept all the same.
        record.loads = stage.bridged()?.loads().unwrap_or_else(|failure| {
            eprintln!("loads on the bridge: NOT MEASURED, {failure}");
            MeasuredLoads::default()
        });
    }
    if args.only.is_empty() {
        record.trips = trips::measure(&programs.tofu_oci, args.runs, args.round_trip)?;
    }
    let kept = args.json.as_deref().map_or(Ok(()), |file| record.keep(file));
    table::print(&record);
    if let Some(before) = &against {
        print!("\n{}", compare::page(before, &record, &args.only));
    }
    if record.find(stage::UNCHANGED).is_some() {
        stage.print_requests()?;
    }
    print!("{}", record.loads.section());
    kept
}
