//! What was measured beside what comes out here.

use tofu_oci_mapper::config::{Severity, Stage};
use tofu_oci_mapper::{Problem, Reading, TofuRelease};

use super::case::{Case, Expected};
use super::registry::Clients;
use super::world::{Came, World};

/// A case that has been run.
#[derive(Debug)]
pub(super) struct Run {
    /// Where the readings are not as measured.
    pub(super) readings: Vec<String>,
    /// Whether the configuration has an error by the newest release's measure.
    pub(super) stops: bool,
    /// What the installation came to, if the case is about one.
    pub(super) install: Option<Install>,
    /// Whether the case could not be run at all; the readings tell why.
    pub(super) is_impossible: bool,
}

impl Run {
    /// A case that cannot be run here, and why.
    pub(super) fn impossible(why: &str) -> Self {
        Self { readings: vec![why.to_owned()], stops: false, install: None, is_impossible: true }
    }
}

/// An installation beside the measured one.
#[derive(Debug)]
pub(super) struct Install {
    pub(super) expected: Expected,
    pub(super) came: Came,
    /// The lock file afterwards: what is measured and missing here, and what is here and was not measured.
    pub(super) lock_lacks: Vec<String>,
    pub(super) lock_has: Vec<String>,
}

impl Install {
    /// Whether the same came of it, the lock file apart.
    pub(super) fn is_same(&self) -> bool {
        agrees(&self.expected, &self.came)
    }
}

/// Runs a case: reads its configuration as every release does, and installs as the newest.
pub(super) async fn run(case: &Case, clients: &Clients) -> Run {
    let world = World::new(case, clients);
    let mut readings = Vec::new();
    for release in TofuRelease::ALL {
        if let Some(expected) = case.expected(release) {
            let reading = world.reading(release);
            readings.extend(compare(&reading, &expected).map(|what| format!("{release}: {what}")));
        }
    }
    let install = match case.expected(TofuRelease::V1_13).map(|expected| expected.in_the_end()) {
        Some(expected) if expected.exit.is_none() && expected.asked.is_none() => Some(install(&world, expected).await),
        _ => None,
    };
    let stops = case.expected(TofuRelease::V1_13).is_some_and(|expected| expected.config_error.is_some());
    Run { readings, stops, install, is_impossible: false }
}

async fn install(world: &World<'_>, expected: Expected) -> Install {
    let came = world.run().await;
    let (mut lock_lacks, mut lock_has) = (Vec::new(), Vec::new());
    if let (Some(measured), Came::Installed { .. }) = (&expected.lock_after, &came) {
        let (measured, ours) = (world.translated(measured), world.locked().unwrap_or_default());
        lock_lacks = measured.difference(&ours).cloned().collect();
        // No release of OpenTofu writes digests of manifests.
        lock_has = ours.difference(&measured).filter(|line| !line.starts_with("ch:")).cloned().collect();
    }
    Install { expected, came, lock_lacks, lock_has }
}

/// What is other than measured about a reading: the lenient one goes on, the strict one refuses.
fn compare(reading: &Reading, expected: &Expected) -> Option<String> {
    let measured: Vec<&Problem> = reading.problems.iter().filter(|problem| !problem.ours).collect();
    let codes = || measured.iter().map(|problem| problem.code.as_str()).collect::<Vec<_>>().join(", ");
    let Some(code) = &expected.config_error else {
        return (!measured.is_empty()).then(|| format!("problems where there are none: {}", codes()));
    };
    let Some(problem) = measured.iter().find(|problem| problem.code == *code) else {
        return Some(format!("{code} expected, found: {}", codes()));
    };
    let mut all: Vec<&str> = measured.iter().map(|problem| problem.code.as_str()).collect();
    all.extend(measured.iter().flat_map(|problem| problem.also.iter().map(String::as_str)));
    if let Some(missing) = expected.also.iter().find(|also| !all.contains(&also.as_str())) {
        return Some(format!("{missing} is not told beside {code}: {}", all.join(", ")));
    }
    if let Some(other) = all.iter().find(|found| *found != code && !expected.also.iter().any(|also| also == *found)) {
        return Some(format!("{other} is told beside {code}"));
    }
    let stage = if problem.stage == Stage::Load { "load" } else { "sources" };
    if expected.stage.as_deref().is_some_and(|expected| expected != stage) {
        return Some(format!("{code} is told at the stage {stage}"));
    }
    if problem.reported != expected.line {
        return Some(format!("{code} in line {:?}, measured in {:?}", problem.reported, expected.line));
    }
    let severity = if problem.severity == Severity::Warning { "warning" } else { "error" };
    if expected.severity.as_deref().unwrap_or("error") != severity {
        return Some(format!("{code} is a {severity}"));
    }
    match reading.refuse() {
        Ok(_) => Some(format!("{code} is not refused by the strict reading")),
        Err(_) => None,
    }
}

fn agrees(expected: &Expected, came: &Came) -> bool {
    match came {
        Came::Installed { method, version, repository } => {
            expected.method.as_ref() == Some(method)
                && expected.version.as_ref().is_none_or(|expected| expected == version)
                && (expected.repository.is_none() || expected.repository == *repository)
        }
        Came::Nothing => expected.method.as_deref() == Some("none"),
        Came::Refused { class, .. } => {
            expected.install_error.as_deref().is_some_and(|expected| is_of_class(class, expected))
        }
    }
}

/// Whether a refusal is of the measured class. Some measured classes are wider than ours, or narrower.
fn is_of_class(class: &str, measured: &str) -> bool {
    match measured {
        // However it cannot be reached.
        "registry-unreachable" => ["connection-refused", "dns", "tls", "unreachable"].contains(&class),
        // A 404 that says why is told by its reason.
        "not-found-but-hard" => ["not-found-but-hard", "denied", "unauthorized"].contains(&class),
        // What exactly does not belong to the package is for the clients of these protocols to tell.
        "checksum-list" | "bad-signature" | "mirror-hash-mismatch" | "mirror-hash-schemes" => class == "not-authentic",
        _ => class == measured,
    }
}
