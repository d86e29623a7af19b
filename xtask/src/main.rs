//! Chores of the workspace, run as `cargo xtask CHORE`.
//!
//! ```text
//! demo       the main job of the program, command by command, for newcomers
//! where      the file of a rule, by words of its first lines
//! floors     which crate may use which, which crates stay pure, no circles of files, one type of a name
//! fixtures   the golden files in testdata/
//! registry   a real registry:2 in the foreground, to try things against
//! interop    the stage with real registries, real clients and a real provider
//! bench      speed and memory, as ratios measured in one run
//! build-cost the seconds of each crate, who brings it, what it serves
//! soak       bridges under load, while registries and bridges go and come back
//! fuzz       every reader of foreign text, under libFuzzer
//! dist       what users download: archives, packages, an image, sums
//! release    the version in every place that says it, the changelog, commit and tag
//! ci         all of the above checks, formatting, lints, documentation and licences
//! ```
//!
//! What it is not: part of the product. Nothing in `crates/` depends on it.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "chores talk to people and to CI logs")]

mod bench;
mod build_cost;
mod ci;
mod demo;
mod dist;
mod failure;
mod fixtures;
mod floors;
mod fuzz;
mod interop;
mod load;
mod nginx;
mod paths;
mod process;
mod program;
mod registry;
mod release;
mod served;
mod signed_origin;
mod sigstore_client;
mod soak;
mod where_is;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use failure::ChoreResult;

/// The command line.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", about = "Chores of the tofu-oci workspace")]
struct CommandLine {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Debug, Subcommand)]
enum Chore {
    /// Build the program and show the main job: publish, list, install, lock, install again
    Demo(demo::DemoArgs),
    /// Find the file of a rule: paths and first sentences of the files that say all these words
    Where(where_is::WhereArgs),
    /// Check the floors of crates, purity, circles of files, and names of types
    Floors,
    /// Write the golden files in testdata/, or compare them
    Fixtures(fixtures::FixturesArgs),
    /// Run registry:2 in the foreground, or stop the one that runs
    Registry(registry::RegistryArgs),
    /// Run the program against real registries, real clients and a real provider
    Interop(interop::InteropArgs),
    /// Measure install, push, lock and mirror beside curl, unzip, tofu and terraform, as ratios in one run
    Bench(bench::BenchArgs),
    /// Print what a release build costs: the seconds of each dependency, and what it serves
    BuildCost(build_cost::BuildCostArgs),
    /// Serve cached releases under load while registry:2 is restarted every minute; count failures, print memory
    Soak(soak::SoakArgs),
    /// Run the readers of foreign text under libFuzzer; needs cargo-fuzz and a nightly compiler
    Fuzz(fuzz::FuzzArgs),
    /// Do one part of an installation alone and print the seconds (a yardstick of bench, in its release build)
    #[command(hide = true)]
    BenchPart(bench::PartArgs),
    /// Speak the protocol of Sigstore's conformance suite: verify-bundle
    #[command(hide = true)]
    SigstoreClient(sigstore_client::SigstoreClientArgs),
    /// Build what users download: static programs, archives, packages, an image, bills of materials and checksums
    Dist(dist::DistArgs),
    /// Set the version everywhere, close the changelog's section, commit and tag; print it unless --apply is given
    Release(release::ReleaseArgs),
    /// Run every check that CI runs besides `cargo test --workspace`
    Ci(ci::CiArgs),
}

fn main() -> ExitCode {
    match run(&CommandLine::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &CommandLine) -> ChoreResult {
    match &arguments.chore {
        Chore::Demo(arguments) => demo::run(arguments),
        Chore::Where(arguments) => where_is::run(arguments),
        Chore::Floors => floors::run(),
        Chore::Fixtures(arguments) => fixtures::run(arguments),
        Chore::Registry(arguments) => registry::run(arguments),
        Chore::Interop(arguments) => interop::run(arguments).map(|_| ()),
        Chore::Bench(arguments) => bench::run(arguments),
        Chore::BuildCost(arguments) => build_cost::run(arguments),
        Chore::Soak(arguments) => soak::run(arguments),
        Chore::Fuzz(arguments) => fuzz::run(arguments),
        Chore::BenchPart(arguments) => bench::run_part(arguments),
        Chore::SigstoreClient(arguments) => sigstore_client::run(arguments),
        Chore::Dist(arguments) => dist::run(arguments),
        Chore::Release(arguments) => release::run(arguments),
        Chore::Ci(arguments) => ci::run(arguments),
    }
}
