//! The cells: which faults there are, which requests they meet, and how each has to end.

use std::fmt;

use super::verb::{FaultVerb, VERBS};

/// How a run with a fault has to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The fault passes, so the run succeeds.
    Passes,
    /// The network or the server is at fault for good: exit code 3, unless this request was not needed.
    Network,
    /// An answer that says no, or wrong bytes: exit code 1 or 3, unless this request was not needed.
    Refused,
}

/// A fault: its name and the proxy's settings for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixFault {
    pub(super) action: &'static str,
    pub(super) ending: Ending,
    /// The kind of requests that it can meet.
    meets: Meets,
}

impl MatrixFault {
    /// Whether it is an answer that refuses the request, and says nothing about what is there.
    pub(super) fn is_refusal(self) -> bool {
        ["status=400", "status=401", "status=403", "status=405", "status=413"]
            .iter()
            .any(|status| self.action.starts_with(status))
    }
}

/// Which requests a fault makes sense for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meets {
    /// Every request.
    All,
    /// Answers that have a body.
    Reads,
    /// Answers with the bytes of a blob, which clouds serve from another host.
    Blobs,
    /// Requests that have a body.
    Uploads,
}

/// A kind of request: what the proxy matches, and how it counts.
#[derive(Debug, Clone, Copy)]
struct FaultTarget {
    name: &'static str,
    matches: &'static str,
    kind: Meets,
    writes: bool,
}

impl FaultTarget {
    fn meets(&self, fault: &MatrixFault) -> bool {
        let blob = self.kind == Meets::Blobs && fault.meets == Meets::Reads;
        fault.meets == Meets::All || fault.meets == self.kind || blob
    }
}

/// One verb, one fault, one kind of request.
#[derive(Debug, Clone, Copy)]
pub(super) struct MatrixCell {
    pub(super) verb: FaultVerb,
    pub(super) fault: MatrixFault,
    target: FaultTarget,
}

impl MatrixCell {
    /// The rule for the proxy.
    pub(super) fn rule(&self) -> String {
        format!("{} {}", self.target.matches, self.fault.action)
    }
}

impl fmt::Display for MatrixCell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} × {} × {}", self.verb.words().join(" "), self.target.name, self.fault.action)
    }
}

/// All cells, verb by verb.
pub(super) fn cells() -> Vec<MatrixCell> {
    let mut cells = Vec::new();
    for &verb in VERBS {
        for &target in TARGETS.iter().filter(|target| verb.writes() || !target.writes) {
            cells.extend(FAULTS.iter().filter(|fault| target.meets(fault)).map(|&fault| MatrixCell {
                verb,
                fault,
                target,
            }));
        }
    }
    cells
}

const fn reading(name: &'static str, matches: &'static str) -> FaultTarget {
    FaultTarget { name, matches, kind: Meets::Reads, writes: false }
}

const fn writing(name: &'static str, matches: &'static str, kind: Meets) -> FaultTarget {
    FaultTarget { name, matches, kind, writes: true }
}

const TARGETS: &[FaultTarget] = &[
    reading("tag list", "method=GET path=/tags/list"),
    reading("manifest by tag", "path=/manifests/[0-9]"),
    reading("manifest by digest", "method=GET path=/manifests/sha256:"),
    FaultTarget { name: "blob", matches: "method=GET path=/blobs/sha256:", kind: Meets::Blobs, writes: false },
    reading("referrers", "method=GET path=/(referrers/|manifests/sha256-)"),
    writing("look for a blob", "method=HEAD path=/blobs/sha256:", Meets::All),
    writing("begin an upload", "method=POST path=/blobs/uploads/", Meets::All),
    writing("upload", "method=PUT path=/blobs/uploads/", Meets::Uploads),
    writing("manifest upload", "method=PUT path=/manifests/", Meets::Uploads),
    writing("deletion", "method=DELETE path=/manifests/", Meets::All),
];

const fn passing(action: &'static str, meets: Meets) -> MatrixFault {
    MatrixFault { action, ending: Ending::Passes, meets }
}

const fn lasting(action: &'static str, meets: Meets) -> MatrixFault {
    MatrixFault { action, ending: Ending::Network, meets }
}

const fn refused(action: &'static str, meets: Meets) -> MatrixFault {
    MatrixFault { action, ending: Ending::Refused, meets }
}

const FAULTS: &[MatrixFault] = &[
    // What passes.
    passing("times=2 status=500", Meets::All),
    passing("times=2 status=502", Meets::All),
    passing("times=2 status=503 retry-after=1", Meets::All),
    passing("times=1 status=408", Meets::All),
    passing("times=3 status=429 retry-after=1", Meets::All),
    passing("times=2 reset-now=1", Meets::All),
    passing("times=1 hang=5", Meets::All),
    passing("times=1 delay=1", Meets::All),
    passing("every=2 delay=0.2", Meets::All),
    passing("retry-after=1 rate=2/1", Meets::All),
    passing("times=1 lose-response=1", Meets::All),
    passing("drop-header=Docker-Content-Digest", Meets::All),
    passing("set-header=Warning:299_-_odd", Meets::All),
    passing("times=1 truncate=7", Meets::Reads),
    passing("times=2 truncate-rst=11", Meets::Reads),
    passing("times=1 truncate=0", Meets::Reads),
    // Each break comes after progress, and there are more breaks than attempts.
    passing("truncate=20000", Meets::Reads),
    passing("truncate-rst=20000", Meets::Reads),
    passing("no-range=1", Meets::Reads),
    passing("slow=200000", Meets::Reads),
    passing("times=1 reset-request=40", Meets::Uploads),
    passing("times=2 reset-request=0", Meets::Uploads),
    passing("slow-up=200000", Meets::Uploads),
    // What lasts.
    lasting("status=500", Meets::All),
    lasting("status=503 retry-after=1", Meets::All),
    lasting("status=429 retry-after=600", Meets::All),
    lasting("status=504", Meets::All),
    lasting("reset-now=1", Meets::All),
    lasting("hang=30", Meets::All),
    lasting("lose-response=1", Meets::All),
    lasting("truncate=7", Meets::Reads),
    lasting("truncate-rst=0", Meets::Reads),
    lasting("slow=1", Meets::Reads),
    lasting("reset-request=0", Meets::Uploads),
    lasting("slow-up=1", Meets::Uploads),
    // What only a person can fix.
    refused("status=400", Meets::All),
    refused("status=401", Meets::All),
    refused("status=403 code=DENIED", Meets::All),
    refused("status=404 code=NAME_UNKNOWN", Meets::All),
    refused("status=405", Meets::All),
    refused("status=413", Meets::All),
    refused("status=302 set-header=Location:http://127.0.0.1:1/", Meets::All),
    refused("corrupt=5", Meets::Reads),
    refused("corrupt=-3", Meets::Reads),
    refused("garbage=<html>", Meets::Reads),
    refused("garbage=", Meets::Reads),
    // The other host asks the registry for the blob, and has no login: none goes along a redirect.
    refused("redirect=307", Meets::Blobs),
    refused("redirect=302 to=http://127.0.0.1:1", Meets::Blobs),
    refused("redirect=302 to=ftp://example.test", Meets::Blobs),
];
