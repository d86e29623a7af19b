//! `cargo xtask soak`: `serve` under load with a registry:2 that is restarted every minute.
//!
//! Three loads run side by side: metadata and packages that the bridge has at hand (no request may fail), and packages that
//! it streams from the registry (counted, since some are under way when the registry goes).

use std::fs;
use std::path::Path;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tofu_oci_testkit::{Bearer, Login, ProviderZip, RealMode, RealRegistry, ReleaseFolder};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::load::{LoadReport, LoadTarget, drive};
use crate::process::ProgramRun;
use crate::program;
use crate::served::{ServedBridge, free_port};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct SoakArgs {
    /// How long
    #[arg(long, default_value_t = 15)]
    minutes: u64,
    /// How many seconds the registry is away each minute
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(..60))]
    away: u64,
    /// Behind a token server whose tokens live a minute: each restart needs new ones, and none may be remembered for good
    #[arg(long)]
    tokens: bool,
}

const HOST: &str = "registry.example.test";
const PROVIDERS: usize = 8;
const VERSIONS: [&str; 3] = ["1.0.0", "1.1.0", "2.0.0"];
const PLATFORMS: [&str; 2] = ["linux_amd64", "darwin_arm64"];
/// Bytes of a package that do not compress.
const PACKAGE: usize = 2_000_000;
const METADATA_CLIENTS: usize = 16;
const PACKAGE_CLIENTS: usize = 4;

/// Runs it; a failure if a request for what was at hand failed.
pub(crate) fn run(arguments: &SoakArgs) -> ChoreResult {
    let program = program::build_release()?;
    let work = tempfile::tempdir()?;
    let registry = RealRegistry::start(mode(arguments))?;
    log_in(work.path(), &registry)?;
    let tofu_oci = || ProgramRun::isolated(&program, work.path());
    publish(work.path(), &registry, tofu_oci)?;
    let port = free_port()?;
    let settings = format!(
        "[[provider]]\ninclude = [\"{HOST}/*/*\"]\nfrom = \"{}/soak/${{namespace}}/${{type}}\"\n\n[cache]\ndir = \"{}\"\nmetadata = \"5s\"\n",
        registry.address(),
        work.path().join("cache").display()
    );
    let bridge = ServedBridge::start(tofu_oci(), &work.path().join("bridge"), port, None, &settings)?;
    let loads = [
        ("metadata", METADATA_CLIENTS, metadata(port)?),
        ("packages in the cache", PACKAGE_CLIENTS, packages(port, "image")?),
        ("packages of the registry", PACKAGE_CLIENTS, packages(port, "zip")?),
    ];
    let before = bridge.memory().0;
    let time = Duration::from_secs(arguments.minutes * 60);
    let (begin, mut restarts) = (Instant::now(), 0);
    let mut samples = Vec::new();
    let reports = thread::scope(|scope| -> ChoreResult<Vec<LoadReport>> {
        let running: Vec<_> = loads
            .iter()
            .map(|(_, clients, targets)| scope.spawn(move || drive(port, targets, *clients, time)))
            .collect();
        // Half a minute after the start, and each minute from there.
        let mut next = Duration::from_secs(30);
        while begin.elapsed() < time {
            sleep(Duration::from_secs(1));
            samples.push(bridge.memory().0);
            if begin.elapsed() >= next {
                registry.stop();
                sleep(Duration::from_secs(arguments.away));
                registry.start_again()?;
                restarts += 1;
                next += Duration::from_mins(1);
            }
        }
        running.into_iter().map(|load| load.join().map_err(|_| ChoreFailure::new("a load panicked"))).collect()
    })?;

    let (after, peak) = bridge.memory();
    println!("{} minutes, {restarts} restarts of registry:2, each {} s away", arguments.minutes, arguments.away);
    println!("\n{:<28} {:>8} {:>12} {:>8} {:>10}", "load", "clients", "answered", "failed", "slowest s");
    for ((name, clients, _), report) in loads.iter().zip(&reports) {
        let slowest = report.slowest.as_secs_f64();
        println!("{name:<28} {clients:>8} {:>12} {:>8} {slowest:>10.3}", report.answered, report.failed);
    }
    for line in reports.iter().flat_map(|report| &report.failures) {
        println!("   failed at {line}");
    }
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let middle = samples.get(samples.len() / 2).copied().unwrap_or(before);
    println!(
        "\nresident memory: {:.1} MiB at the start, {:.1} in the middle, {:.1} at the end, {:.1} at most",
        mib(before),
        mib(middle),
        mib(after),
        mib(peak)
    );
    bridge.stop()?;
    match reports[..2].iter().map(|report| report.failed).sum::<u64>() {
        0 => Ok(()),
        failed => Err(ChoreFailure::new(format!("{failed} requests for what was in the cache failed"))),
    }
}

fn login() -> Login {
    Login::new("soak", "password-of-the-soak")
}

fn mode(arguments: &SoakArgs) -> RealMode {
    if arguments.tokens {
        RealMode::token(Bearer { ttl: Duration::from_mins(1), ..Bearer::new(login()) })
    } else {
        RealMode::plain()
    }
}

/// Writes the login where docker has it; a registry that wants none is not shown it.
fn log_in(home: &Path, registry: &RealRegistry) -> ChoreResult {
    let encoded = login().basic_header().replace("Basic ", "");
    fs::create_dir_all(home.join(".docker"))?;
    let config = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"{encoded}\"}}}}}}", registry.address());
    fs::write(home.join(".docker/config.json"), config)?;
    Ok(())
}

fn provider(kind: &str, number: usize) -> String {
    format!("{kind}{number}")
}

/// Providers whose packages the bridge converts and keeps, and others whose packages it streams.
fn publish(work: &Path, registry: &RealRegistry, tofu_oci: impl Fn() -> ProgramRun) -> ChoreResult {
    for (kind, layout) in [("image", "image"), ("zip", "artifact")] {
        for number in 0..PROVIDERS {
            let name = provider(kind, number);
            for version in VERSIONS {
                let dist = work.join("dist").join(&name).join(version);
                fs::create_dir_all(&dist)?;
                let package =
                    |platform: &&str| ProviderZip::new(&name, version, platform).random_file("data.bin", PACKAGE);
                let folder = PLATFORMS
                    .iter()
                    .map(package)
                    .fold(ReleaseFolder::new(&name, version, &[]), tofu_oci_testkit::ReleaseFolder::package);
                folder.write_zips(&dist);
                let repository = format!("{}/soak/load/{name}", registry.address());
                let address = format!("{HOST}/load/{name}");
                let push = tofu_oci().arg("push").arg(&dist).arg(repository).args(["--address", &address]);
                push.args(["--layout", layout, "--h1", "skip"]).success()?;
            }
        }
    }
    Ok(())
}

fn metadata(port: u16) -> ChoreResult<Vec<LoadTarget>> {
    let kinds = ["image", "zip"].into_iter().flat_map(|kind| (0..PROVIDERS).map(move |number| provider(kind, number)));
    let documents = kinds.flat_map(|name| {
        let folder = format!("/mirror/{HOST}/load/{name}");
        let versions = VERSIONS.iter().map(|version| format!("{folder}/{version}.json")).collect::<Vec<_>>();
        std::iter::once(format!("{folder}/index.json")).chain(versions)
    });
    documents.map(|path| target(port, path)).collect()
}

fn packages(port: u16, kind: &str) -> ChoreResult<Vec<LoadTarget>> {
    let names = (0..PROVIDERS).map(|number| provider(kind, number));
    let file = |name: String| {
        let (version, platform) = (VERSIONS[0], PLATFORMS[0]);
        format!("/mirror/{HOST}/load/{name}/terraform-provider-{name}_{version}_{platform}.zip")
    };
    names.map(|name| target(port, file(name))).collect()
}

/// Asks once, and so knows how long the body is and brings it into the cache.
fn target(port: u16, path: String) -> ChoreResult<LoadTarget> {
    let url = format!("http://127.0.0.1:{port}{path}");
    let curl = crate::process::find("curl").ok_or_else(|| ChoreFailure::new("curl is not on the PATH"))?;
    let bytes = ProgramRun::inheriting(curl).args(["--silent", "--show-error", "--fail", &url]).bytes()?.len();
    Ok(LoadTarget { path, bytes: bytes as u64 })
}
