//! The measured cases of how `OpenTofu` chooses and sends credentials, replayed with the built program.
//!
//! ```text
//! case --scene--> files, environment, helpers, CLI configuration, mock --tofu-oci install--> Run --outcome--> came
//!   \--expected, or one of the differences--------------------------------------------------- judge --------/
//! ```
//!
//! `testdata/vectors/real_tofu_credentials.json` was measured with real `OpenTofu`; `testdata/credentials/more_cases.json`
//! is made from its specification, in the same words. `auth explain` is asked about every case as well, and must know.
//! Every run is looked through for the secrets of its case. `TOFU_OCI_CASES=WORD` runs the cases with WORD in their name.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod case;
mod differences;
mod documented;
mod files;
mod further;
mod outcome;
mod scene;
mod secrets;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use case::{Expect, Observed};
use differences::{DIFFERENCES, Difference, Ours};
use outcome::Outcome;
use scene::{Scene, Telling};
use secrets::Secrets;
use serde_json::Value;
use tofu_oci_testkit::MockReleases;
use tofu_oci_vectors::{Vectors, panic_message};

/// The file with the measured cases.
const FILE: &str = "real_tofu_credentials.json";
/// So many cases run at once; half of the time they wait.
const AT_ONCE: usize = 4;

/// A case that has been run and compared.
struct Judged {
    /// The decision that explains it; `None` if all is as measured.
    decided: Option<&'static str>,
    secrets: usize,
}

/// Runs and compares all cases, some at once, in the order of the files.
fn judge_all(cases: &[Value]) -> Vec<Result<Judged, String>> {
    let releases = MockReleases::of(&["widget", "gadget"]);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(nth) else { break };
                    let judged = catch_unwind(AssertUnwindSafe(|| judge(case, &releases)));
                    // An unknown word of one case must not hide the others.
                    let judged = judged.unwrap_or_else(|panic| Err(panic_message(panic.as_ref()).to_owned()));
                    done.lock().unwrap().insert(nth, judged);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// Runs a case twice, for machines and for people, and compares what came.
fn judge(raw: &Value, releases: &MockReleases) -> Result<Judged, String> {
    let scene = Scene::new(raw, releases);
    let case = &scene.case;
    let run = scene.run(Telling::Machines);
    let found = Outcome::came(&scene, &run).map_err(|what| format!("{what}\n{}", run.stderr))?;

    let mut secrets = Secrets::of(case);
    secrets.sent(&run.arrivals, &scene.mock.issued());
    let again = scene.run(Telling::People);
    secrets.sent(&again.arrivals, &scene.mock.issued());
    let (explained, explanation) = scene.explain();
    for said in [&run.stdout, &run.stderr, &again.stdout, &again.stderr, &explanation] {
        if let Some(secret) = secrets.find(said) {
            return Err(format!("a secret was said: {secret}\n{said}"));
        }
    }
    if run.code != again.code {
        return Err(format!("exit code {:?}, then {:?}", run.code, again.code));
    }

    if case.fails_at_the_list()
        && let Some(what) = found.other_than_explained(&explained)
    {
        return Err(what);
    }

    let (expect, observed) = case.expected();
    // What OpenTofu does not say is said here, whatever comes of it.
    let warns = run.stdout.lines().any(|line| line.contains("\"warning\"") && line.contains("credential-file"));
    if observed.ambient_off && !warns {
        return Err("no warning about the file that turns the others off in OpenTofu".to_owned());
    }
    let measured = Outcome::expected(case, &expect, &observed);
    let told = |wanted: &Outcome| {
        let error = run.stderr.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
        format!(
            "{}
    {error}",
            found.other_than(wanted)
        )
    };
    let Some((difference, ours)) = decided(&case.name) else {
        return if found == measured {
            Ok(Judged { decided: None, secrets: secrets.len() })
        } else {
            Err(told(&measured))
        };
    };
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let (expect, observed) = (read(ours.expect), read(ours.observed));
    let expect: Expect = serde_json::from_value(expect).map_err(|error| error.to_string())?;
    let observed: Observed = serde_json::from_value(observed).map_err(|error| error.to_string())?;
    let wanted = Outcome::expected(case, &expect, &observed);
    if wanted == measured {
        return Err(format!("{} does not differ from what was measured", difference.name));
    }
    if found != wanted {
        return Err(format!("not as decided by {}: {}", difference.name, told(&wanted)));
    }
    Ok(Judged { decided: Some(difference.name), secrets: secrets.len() })
}

/// The decision about a case, if there is one.
fn decided(name: &str) -> Option<(&'static Difference, &'static Ours)> {
    let all = DIFFERENCES.iter().flat_map(|difference| difference.outcomes().map(move |ours| (difference, ours)));
    all.into_iter().find(|(_, ours)| ours.cases.contains(&name))
}

/// What the comparison of all cases gives.
#[derive(Default)]
struct Tally {
    /// All cases, those as measured and those decided, by group.
    groups: BTreeMap<String, [usize; 3]>,
    /// The cases of each decision.
    decided: BTreeMap<&'static str, BTreeSet<String>>,
    secrets: usize,
    bad: Vec<String>,
}

impl Tally {
    fn add(&mut self, case: &Value, judged: Result<Judged, String>) {
        let word = |name: &str| case[name].as_str().unwrap_or_default().to_owned();
        let count = self.groups.entry(word("group")).or_default();
        count[0] += 1;
        match judged {
            Err(what) => self.bad.push(format!("{}: {what}", word("name"))),
            Ok(judged) => {
                self.secrets += judged.secrets;
                match judged.decided {
                    Some(decision) => {
                        count[2] += 1;
                        self.decided.entry(decision).or_default().insert(word("name"));
                    }
                    None => count[1] += 1,
                }
            }
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (group, [all, same, decided]) in &self.groups {
            writeln!(f, "{group}: {all} cases: {same} same, {decided} intended differences")?;
        }
        for (name, cases) in &self.decided {
            writeln!(f, "decided by {name}: {}", cases.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        let [all, same, decided] = [0, 1, 2].map(|nth| self.groups.values().map(|count| count[nth]).sum::<usize>());
        writeln!(f, "{all} cases: {same} same, {decided} intended differences, {} other", self.bad.len())?;
        write!(f, "{} secrets were looked for in everything that was said", self.secrets)
    }
}

/// The measured cases of `table`, then those made from the specification.
fn cases(table: &Vectors) -> Vec<Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/credentials/more_cases.json");
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let more: Vec<Value> = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    [table.cases("cases"), &more].concat()
}

#[test]
fn every_case_sends_the_credential_that_was_measured_or_decided() {
    let start = Instant::now();
    let mut cases = cases(&Vectors::open(FILE));
    if let Ok(only) = std::env::var("TOFU_OCI_CASES") {
        cases.retain(|case| case["name"].as_str().is_some_and(|name| name.contains(&only)));
    }
    let mut tally = Tally::default();
    for (case, judged) in cases.iter().zip(judge_all(&cases)) {
        tally.add(case, judged);
    }
    println!("{tally}\nin {} s", start.elapsed().as_secs());
    assert!(tally.bad.is_empty(), "{} are other than measured\n{}", tally.bad.len(), tally.bad.join("\n"));
}

#[test]
fn every_case_has_a_name_of_its_own_and_every_decision_has_cases() {
    let all = cases(&Vectors::own(FILE));
    let names: BTreeSet<&str> = all.iter().filter_map(|case| case["name"].as_str()).collect();
    assert_eq!(names.len(), all.len(), "a name stands twice");
    let mut seen = BTreeSet::new();
    for difference in DIFFERENCES {
        let cases: Vec<&str> = difference.outcomes().flat_map(|ours| ours.cases).copied().collect();
        assert!(!cases.is_empty(), "{} is about nothing", difference.name);
        for case in cases {
            assert!(names.contains(case), "{} is about {case}, which is not there", difference.name);
            assert!(seen.insert(case), "{case} is decided twice");
        }
    }
}
