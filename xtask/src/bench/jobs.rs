//! The jobs that the benchmark compares: ours, each peer's, and the limit that physics sets.

use super::measure::Series;
use super::record::BenchRecord;

/// One thing that people do, and how each program does it.
struct Job {
    what: &'static str,
    /// Our cases; the first is the one that the others are compared with.
    ours: &'static [&'static str],
    /// What people use today.
    peers: &'static [&'static str],
    /// What no program can go below.
    limits: &'static [&'static str],
}

const JOBS: &[Job] = &[
    Job {
        what: "install a large provider, TLS",
        ours: &["install"],
        peers: &["tofu init", "curl + unzip"],
        limits: &["inflate to nowhere"],
    },
    Job {
        what: "install it with a lock file",
        ours: &["install, lock file"],
        peers: &["tofu init, lock file"],
        limits: &["inflate to nowhere"],
    },
    Job {
        what: "install it over 100 Mbit/s",
        ours: &["100 Mbit/s: small layer", "100 Mbit/s: zip"],
        peers: &[],
        limits: &["100 Mbit/s: curl"],
    },
    Job {
        what: "install it in a second project",
        ours: &[
            "install, from the cache",
            "install, project made anew",
            "install, already there",
            "install, nothing recorded",
        ],
        peers: &["tofu init", "curl + unzip"],
        limits: &["--version"],
    },
    Job {
        what: "push one platform",
        ours: &["push one, no h1"],
        peers: &["oras push one", "curl PUT one"],
        limits: &[],
    },
    Job {
        what: "push ten platforms",
        ours: &["push all, no h1", "push all, h1 computed", "push all, h1 remembered", "push all, unchanged"],
        peers: &["oras push all", "sha256sum + curl PUT all"],
        limits: &[],
    },
    Job {
        what: "copy a release to another registry",
        ours: &["copy"],
        peers: &["crane copy", "regctl copy", "oras copy"],
        limits: &[],
    },
    Job {
        what: "lock 5 providers for 10 platforms",
        ours: &["lock, signed", "lock, unsigned"],
        peers: &["curl + sha256sum"],
        limits: &[],
    },
    Job {
        what: "mirror one large package",
        ours: &["mirror one"],
        peers: &["terraform mirror one", "curl | curl"],
        limits: &[],
    },
    Job {
        what: "mirror again, nothing new",
        ours: &["mirror 100, unchanged"],
        peers: &["terraform mirror 1, unchanged"],
        limits: &[],
    },
    Job {
        what: "a package through the bridge, TLS",
        ours: &["bridge: package, TLS", "bridge: package on disk, TLS"],
        peers: &["bridge: nginx, TLS"],
        limits: &["bridge: registry, TLS"],
    },
    Job {
        what: "terraform init from a registry",
        ours: &["bridge: run -- init"],
        peers: &["bridge: init, static mirror"],
        limits: &[],
    },
    Job {
        what: "publish a module of 50 MB",
        ours: &["module: push"],
        peers: &["module: zip + oras push"],
        limits: &[],
    },
    Job { what: "fetch a module of 50 MB", ours: &["module: pull"], peers: &["module: curl + unzip"], limits: &[] },
];

/// Whose figure a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Doer {
    Ours,
    Peer,
    Limit,
}

impl Doer {
    /// What the line of a table says after the name of the case.
    pub(super) fn mark(self) -> &'static str {
        match self {
            Self::Ours => "",
            Self::Peer => " (peer)",
            Self::Limit => " (limit)",
        }
    }
}

/// One line of the table.
pub(super) struct JobLine<'a> {
    pub(super) doer: Doer,
    pub(super) series: &'a Series,
    /// How often the first of our cases fits into this one, by medians.
    pub(super) ratio: f64,
}

/// A job and its lines; ours first.
pub(super) struct MeasuredJob<'a> {
    pub(super) what: &'static str,
    pub(super) lines: Vec<JobLine<'a>>,
}

/// The jobs that were measured, with the cases that ran.
pub(super) fn measured(record: &BenchRecord) -> Vec<MeasuredJob<'_>> {
    let of = |job: &Job| {
        let base = record.find(job.ours[0])?.median();
        let names = [(Doer::Ours, job.ours), (Doer::Peer, job.peers), (Doer::Limit, job.limits)];
        let lines = names.iter().flat_map(|(doer, names)| names.iter().map(|name| (*doer, *name)));
        let line = |(doer, name): (Doer, &str)| {
            let series = record.find(name)?;
            Some(JobLine { doer, series, ratio: series.median() / base })
        };
        Some(MeasuredJob { what: job.what, lines: lines.filter_map(line).collect() })
    };
    JOBS.iter().filter_map(of).collect()
}

/// The cases whose requests are counted: all that a job names.
pub(super) fn is_in_a_job(case: &str) -> bool {
    JOBS.iter().any(|job| [job.ours, job.peers].iter().any(|names| names.contains(&case)))
}
