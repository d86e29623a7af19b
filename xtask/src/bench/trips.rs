//! How often a run waits for the line: small providers over a line with a long round trip.
//!
//! The registry is in this process, and each job runs twice: over the line, and over one without any delay. The
//! difference, in round trips, is what the line costs; the rest is the machine's work.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tofu_oci_testkit::{
    Anonymous, Auth, Bearer, ClientCertificate, DelayedLine, Login, Registry, ReleaseFolder, TestContext, TokenAddress,
};

use super::measure::output;
use crate::failure::ChoreResult;

/// What selects these cases alone: `--only trips`.
pub(super) const NAME: &str = "trips";

/// The most providers of a job.
const MOST: usize = 20;

/// What a user does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TripJob {
    /// `install` in an empty folder.
    Install,
    /// `install` with the lock file and the pins of an earlier run, on a machine that has nothing else.
    Locked,
    /// `install --locked` of what is there.
    Again,
    /// `lock`.
    Lock,
}

/// Who gives tokens.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TokenHost {
    Without,
    SameHost,
    OtherHost,
}

/// One row of the table.
struct TripCase {
    job: TripJob,
    providers: usize,
    tokens: TokenHost,
    goal: f64,
}

const CASES: &[TripCase] = &[
    TripCase { job: TripJob::Install, providers: 1, tokens: TokenHost::Without, goal: 5.0 },
    TripCase { job: TripJob::Install, providers: 5, tokens: TokenHost::Without, goal: 5.0 },
    TripCase { job: TripJob::Install, providers: 16, tokens: TokenHost::Without, goal: 5.0 },
    TripCase { job: TripJob::Install, providers: 5, tokens: TokenHost::SameHost, goal: 7.0 },
    TripCase { job: TripJob::Install, providers: 16, tokens: TokenHost::SameHost, goal: 7.0 },
    TripCase { job: TripJob::Install, providers: 5, tokens: TokenHost::OtherHost, goal: 9.0 },
    TripCase { job: TripJob::Install, providers: 16, tokens: TokenHost::OtherHost, goal: 9.0 },
    TripCase { job: TripJob::Locked, providers: 1, tokens: TokenHost::Without, goal: 4.0 },
    TripCase { job: TripJob::Locked, providers: 16, tokens: TokenHost::Without, goal: 4.0 },
    TripCase { job: TripJob::Lock, providers: 20, tokens: TokenHost::Without, goal: 6.0 },
    TripCase { job: TripJob::Again, providers: 16, tokens: TokenHost::Without, goal: 0.0 },
];

/// What a job costs over the slow line.
#[derive(Serialize, Deserialize)]
pub(super) struct MeasuredTrips {
    pub(super) job: String,
    /// Milliseconds of a round trip.
    pub(super) round_trip: u64,
    /// Over the line, and over one without any delay.
    pub(super) seconds: [f64; 2],
    pub(super) connections: usize,
    pub(super) goal: f64,
}

impl MeasuredTrips {
    /// How often the job waited for the line.
    pub(super) fn trips(&self) -> f64 {
        let [far, near] = self.seconds;
        (far - near) / Duration::from_millis(self.round_trip).as_secs_f64()
    }
}

/// Runs each job over a line with this round trip in milliseconds; the best of `runs`.
pub(super) fn measure(tofu_oci: &Path, runs: usize, round_trip: u64) -> ChoreResult<Vec<MeasuredTrips>> {
    let layouts = Layouts::make(tofu_oci)?;
    let delay = Duration::from_millis(round_trip);
    let mut measured = Vec::new();
    for tls in [false, true] {
        for case in CASES {
            let (far, connections) = layouts.best(case, tls, delay, runs)?;
            let (near, _) = layouts.best(case, tls, Duration::ZERO, runs)?;
            let job = format!("{case}, {}", if tls { "TLS" } else { "plain HTTP" });
            measured.push(MeasuredTrips { job, round_trip, seconds: [far, near], connections, goal: case.goal });
        }
    }
    Ok(measured)
}

/// Prints the table.
pub(super) fn print(measured: &[MeasuredTrips]) {
    let Some(first) = measured.first() else { return };
    println!("\nround trips of {} ms", first.round_trip);
    println!("{:<44} {:>8} {:>9} {:>6} {:>6} {:>12}", "job", "seconds", "no delay", "trips", "goal", "connections");
    for line in measured {
        let ([far, near], trips) = (line.seconds, line.trips());
        println!("{:<44} {far:>8.3} {near:>9.3} {trips:>6.1} {:>6.0} {:>12}", line.job, line.goal, line.connections);
    }
}

impl std::fmt::Display for TripCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let job = match self.job {
            TripJob::Install => "install",
            TripJob::Locked => "install, locked",
            TripJob::Again => "install --locked again",
            TripJob::Lock => "lock",
        };
        let tokens = match self.tokens {
            TokenHost::Without => "",
            TokenHost::SameHost => ", token",
            TokenHost::OtherHost => ", token elsewhere",
        };
        write!(f, "{job} {}{tokens}", self.providers)
    }
}

/// The providers as image layouts, and the program.
struct Layouts {
    tofu_oci: PathBuf,
    context: TestContext,
}

/// A registry at the end of a line.
struct FarRegistry {
    _registry: Registry,
    _token_line: Option<DelayedLine>,
    line: DelayedLine,
    ca: Option<PathBuf>,
}

fn name(number: usize) -> String {
    format!("small{number}")
}

impl Layouts {
    fn make(tofu_oci: &Path) -> ChoreResult<Self> {
        let layouts = Self { tofu_oci: tofu_oci.canonicalize()?, context: TestContext::new() };
        for number in 0..MOST {
            let name = name(number);
            let dist = layouts.context.work().join(format!("dist-{name}"));
            ReleaseFolder::new(&name, "1.4.0", &["darwin_arm64", "linux_amd64"]).write_zips(&dist);
            let mut push = layouts.context.command(&layouts.tofu_oci);
            push.arg("push").arg(&dist).arg(format!("oci:layout-{name}"));
            push.args(["--address", &format!("registry.example.com/acme/{name}")]);
            output(&mut push)?;
        }
        Ok(layouts)
    }

    /// The least seconds of a job, and how many connections it made.
    fn best(&self, case: &TripCase, tls: bool, round_trip: Duration, runs: usize) -> ChoreResult<(f64, usize)> {
        let far = self.registry(case, tls, round_trip);
        let mut best = (f64::INFINITY, 0);
        for _ in 0..runs {
            let folder = self.context.work().join("job");
            if folder.exists() {
                fs::remove_dir_all(&folder)?;
            }
            fs::create_dir(&folder)?;
            if matches!(case.job, TripJob::Locked | TripJob::Again) {
                output(&mut self.command(&TripCase { job: TripJob::Install, ..*case }, &far, &folder))?;
            }
            if case.job == TripJob::Locked {
                fs::remove_dir_all(folder.join(".terraform"))?;
            }
            // The manifests of earlier runs.
            let cache = self.context.home().join(".cache");
            if cache.exists() {
                fs::remove_dir_all(cache)?;
            }
            let before = far.line.connections();
            let start = Instant::now();
            output(&mut self.command(case, &far, &folder))?;
            let seconds = start.elapsed().as_secs_f64();
            if seconds < best.0 {
                best = (seconds, far.line.connections() - before);
            }
        }
        Ok(best)
    }

    fn registry(&self, case: &TripCase, tls: bool, round_trip: Duration) -> FarRegistry {
        let (near, near_tokens) = (DelayedLine::near_end(), DelayedLine::near_end());
        let scheme = if tls { "https" } else { "http" };
        let mut builder = Registry::builder();
        if tls {
            builder = builder.tls(ClientCertificate::NotAsked);
        }
        let realm = match case.tokens {
            TokenHost::Without => None,
            TokenHost::SameHost => Some(near.address()),
            TokenHost::OtherHost => Some(near_tokens.address()),
        };
        if let Some(realm) = realm {
            let bearer = Bearer::new(Login::new("somebody", "nothing"));
            let address = TokenAddress::Given(format!("{scheme}://{realm}/token"));
            builder = builder.auth(Auth::Bearer(Bearer { address, anonymous: Anonymous::MayPull, ..bearer }));
        }
        let registry = builder.start();
        for number in 0..MOST {
            let name = name(number);
            registry.put_layout(&format!("acme/{name}"), &self.context.work().join(format!("layout-{name}")));
        }
        let line = near.leads_to(registry.address(), round_trip);
        let elsewhere = case.tokens == TokenHost::OtherHost;
        let token_line = elsewhere.then(|| near_tokens.leads_to(registry.address(), round_trip));
        let ca = registry.ca_pem().map(|pem| self.context.write_home("ca.pem", pem));
        FarRegistry { _registry: registry, _token_line: token_line, line, ca }
    }

    fn command(&self, case: &TripCase, far: &FarRegistry, folder: &Path) -> Command {
        let mut command = self.context.command(&self.tofu_oci);
        command.arg(if case.job == TripJob::Lock { "lock" } else { "install" });
        for number in 0..case.providers {
            command.arg(format!("registry.example.com/acme/{}", name(number)));
        }
        command.arg("--from").arg(format!("{}/${{namespace}}/${{type}}", far.line.address()));
        command.arg("--chdir").arg(folder);
        if case.job == TripJob::Again {
            command.arg("--locked");
        }
        command.args(if case.job == TripJob::Lock { &[][..] } else { &["--platform", "linux_amd64"][..] });
        command.envs(far.ca.as_ref().map(|ca| ("TOFU_OCI_CA_FILE", ca)));
        command
    }
}
