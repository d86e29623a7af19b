//! `cargo xtask soak`: `serve` under load, while everything that it needs is restarted in turn, one each minute.
//!
//! ```text
//! loads --> nginx, if there are several --> instances of serve --> registry:2
//!                                                             \-> an upstream, another registry:2, pulled through
//! restarted: the registry, the upstream, and each instance if there are several
//! ```
//!
//! The loads run side by side: metadata, packages that a bridge has at hand, and what was pulled through (no request may
//! fail); and packages that are streamed from the registry (counted, since some are under way when the registry goes).

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use tofu_oci_testkit::{Bearer, Login, ProviderZip, RealMode, RealRegistry, ReleaseFolder};

use crate::failure::{ChoreFailure, ChoreResult};
use crate::load::{LoadReport, LoadTarget, drive};
use crate::nginx::Nginx;
use crate::process::ProgramRun;
use crate::program;
use crate::served::{ServedBridge, free_port};

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct SoakArgs {
    /// How long
    #[arg(long, default_value_t = 15)]
    minutes: u64,
    /// How many instances of serve, behind nginx if there are several
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=16))]
    instances: u16,
    /// How many seconds a registry is away each time
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
    let upstream = RealRegistry::start(RealMode::plain())?;
    publish(work.path(), &registry, &["image", "zip"], tofu_oci)?;
    publish(work.path(), &upstream, &["pulled"], tofu_oci)?;
    let mut bridges = Vec::new();
    for number in 0..arguments.instances {
        let (own, port) = (work.path().join(format!("bridge{number}")), free_port()?);
        let settings = settings(&registry, &upstream, &own.join("cache"));
        bridges.push((ServedBridge::start(tofu_oci(), &own, port, None, &settings)?, own, port));
    }
    let ports: Vec<u16> = bridges.iter().map(|(_, _, port)| *port).collect();
    let balancer = (ports.len() > 1).then(|| Nginx::before(&work.path().join("nginx"), &ports)).transpose()?;
    let port = balancer.as_ref().map_or(ports[0], Nginx::port);
    let loads = [
        ("metadata", METADATA_CLIENTS, metadata(&ports, port, &["image", "zip"])?),
        ("packages in the cache", PACKAGE_CLIENTS, packages(&ports, port, "image")?),
        ("metadata pulled through", METADATA_CLIENTS, metadata(&ports, port, &["pulled"])?),
        ("packages of the registry", PACKAGE_CLIENTS, packages(&ports, port, "zip")?),
    ];
    let memory = |bridges: &[(ServedBridge, PathBuf, u16)]| {
        bridges.iter().map(|(bridge, _, _)| bridge.memory()).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1.max(one.1)))
    };
    let before = memory(&bridges).0;
    let time = Duration::from_secs(arguments.minutes * 60);
    let (begin, mut restarts) = (Instant::now(), Restarts::default());
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
            samples.push(memory(&bridges).0);
            if begin.elapsed() >= next {
                let away = |gone: &RealRegistry| {
                    gone.stop();
                    sleep(Duration::from_secs(arguments.away));
                    gone.start_again()
                };
                match restarts.next(bridges.len()) {
                    Restarted::Registry => away(&registry)?,
                    Restarted::Upstream => away(&upstream)?,
                    Restarted::Instance => {
                        let (bridge, own, port) = bridges.remove(0);
                        bridge.stop()?;
                        bridges.push((ServedBridge::start_again(tofu_oci(), &own, port)?, own, port));
                    }
                }
                next += Duration::from_mins(1);
            }
        }
        running.into_iter().map(|load| load.join().map_err(|_| ChoreFailure::new("a load panicked"))).collect()
    })?;

    let (after, peak) = memory(&bridges);
    println!("{} minutes, {} of serve; {restarts}", arguments.minutes, arguments.instances);
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
        "\nresident memory: {:.1} MiB at the start, {:.1} in the middle, {:.1} at the end; {:.1} at most in one instance",
        mib(before),
        mib(middle),
        mib(after),
        mib(peak)
    );
    for (bridge, _, _) in bridges {
        bridge.stop()?;
    }
    match reports[..3].iter().map(|report| report.failed).sum::<u64>() {
        0 => Ok(()),
        failed => Err(ChoreFailure::new(format!("{failed} requests for what was at hand failed"))),
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

/// The settings of an instance.
fn settings(registry: &RealRegistry, upstream: &RealRegistry, cache: &Path) -> String {
    let (own, other) = (registry.address(), upstream.address());
    let pulled: Vec<String> =
        (0..PROVIDERS).map(|number| format!("\"{HOST}/load/{}\"", provider("pulled", number))).collect();
    let pulled = pulled.join(", ");
    format!(
        "[[provider]]\ninclude = [\"{HOST}/load/*\"]\nexclude = [{pulled}]\nfrom = \"{own}/soak/${{namespace}}/${{type}}\"\n\n\
         [[provider]]\ninclude = [{pulled}]\nfrom = \"{own}/pulled/${{namespace}}/${{type}}\"\n\
         upstream = [\"{other}/soak/${{namespace}}/${{type}}\"]\n\n[cache]\ndir = \"{}\"\nmetadata = \"5s\"\n",
        cache.display()
    )
}

/// What is restarted in a minute.
enum Restarted {
    Registry,
    Upstream,
    Instance,
}

/// How often each was restarted.
#[derive(Default)]
struct Restarts {
    registry: usize,
    upstream: usize,
    instance: usize,
}

impl Restarts {
    /// What is restarted next; a single instance stays.
    fn next(&mut self, instances: usize) -> Restarted {
        let kinds = if instances > 1 { 3 } else { 2 };
        let (count, restarted) = match (self.registry + self.upstream + self.instance) % kinds {
            0 => (&mut self.registry, Restarted::Registry),
            1 => (&mut self.upstream, Restarted::Upstream),
            _ => (&mut self.instance, Restarted::Instance),
        };
        *count += 1;
        restarted
    }
}

impl fmt::Display for Restarts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { registry, upstream, instance } = self;
        write!(f, "restarts: registry {registry}, upstream {upstream}, instances {instance}")
    }
}

/// Providers of these kinds: those of the kind `image` have packages that a bridge converts and keeps.
fn publish(work: &Path, registry: &RealRegistry, kinds: &[&str], tofu_oci: impl Fn() -> ProgramRun) -> ChoreResult {
    for kind in kinds {
        let layout = if *kind == "image" { "image" } else { "artifact" };
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

fn metadata(instances: &[u16], port: u16, kinds: &[&str]) -> ChoreResult<Vec<LoadTarget>> {
    let kinds = kinds.iter().flat_map(|kind| (0..PROVIDERS).map(move |number| provider(kind, number)));
    let documents = kinds.flat_map(|name| {
        let folder = format!("/mirror/{HOST}/load/{name}");
        let versions = VERSIONS.iter().map(|version| format!("{folder}/{version}.json")).collect::<Vec<_>>();
        std::iter::once(format!("{folder}/index.json")).chain(versions)
    });
    documents.map(|path| target(instances, port, path)).collect()
}

fn packages(instances: &[u16], port: u16, kind: &str) -> ChoreResult<Vec<LoadTarget>> {
    let names = (0..PROVIDERS).map(|number| provider(kind, number));
    let file = |name: String| {
        let (version, platform) = (VERSIONS[0], PLATFORMS[0]);
        format!("/mirror/{HOST}/load/{name}/terraform-provider-{name}_{version}_{platform}.zip")
    };
    names.map(|name| target(instances, port, file(name))).collect()
}

/// Asks each instance once, and so knows how long the body is and brings it into the caches.
fn target(instances: &[u16], port: u16, path: String) -> ChoreResult<LoadTarget> {
    let curl = crate::process::find("curl").ok_or_else(|| ChoreFailure::new("curl is not on the PATH"))?;
    let mut bytes = 0;
    for port in instances.iter().chain([&port]) {
        let url = format!("http://127.0.0.1:{port}{path}");
        bytes = ProgramRun::inheriting(&curl).args(["--silent", "--show-error", "--fail", &url]).bytes()?.len();
    }
    Ok(LoadTarget { path, bytes: bytes as u64 })
}
