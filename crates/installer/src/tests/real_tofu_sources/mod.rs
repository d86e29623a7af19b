//! The measured cases of how `OpenTofu` reads its CLI configuration, combines methods and uses the lock file, replayed.
//!
//! ```text
//! case --world--> files, environment, registries --mapper::read--> Reading --methods--> Chain --install--> Came
//!   \--expected------------------------------------------------------------------------------- verdict ---/
//! ```
//!
//! Registries are real ones on this machine; other places are scripted, until this program has clients for them.

mod case;
mod differences;
mod failures;
mod folder;
mod methods;
mod packages;
mod registry;
mod scripted;
mod verdict;
mod watched;
mod world;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use case::Case;
use differences::{DIFFERENCES, LOCK_DIFFERENCES, Ours};
use insta::assert_snapshot;
use registry::Clients;
use verdict::{Install, Run};
use world::Came;

/// So many cases run at once; most of the time they wait.
const AT_ONCE: usize = 8;

/// Commands that this program does not have, and why.
const OUT_OF_SCOPE: &[(&str, &str)] = &[
    ("providers", "`tofu providers lock` and `mirror` ask the origin whatever is configured; their like comes later"),
    ("version", "it installs nothing: only the reading is compared"),
    ("validate", "it installs nothing: only the reading is compared"),
    ("fmt", "it installs nothing: only the reading is compared"),
];

/// The verb of a command line of `tofu`, behind options such as `-chdir=DIR`.
fn verb(command: &[String]) -> Option<&String> {
    let (program, arguments) = command.split_first()?;
    arguments.iter().find(|argument| program == "tofu" && !argument.starts_with('-'))
}

/// Runs all cases, some at once, in the order of the file.
fn run_all(cases: &[Case]) -> Vec<Run> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                let clients = Clients::default();
                loop {
                    let nth = next.fetch_add(1, Ordering::Relaxed);
                    let Some(case) = cases.get(nth) else { break };
                    let run = catch_unwind(AssertUnwindSafe(|| runtime.block_on(verdict::run(case, &clients))));
                    let run = run.unwrap_or_else(|panic| Run::impossible(&said(panic.as_ref())));
                    done.lock().unwrap().insert(nth, run);
                }
            });
        }
    });
    done.into_inner().unwrap().into_values().collect()
}

/// What a panic says: an unknown word of one case must not hide the others.
fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
}

/// What the comparison of all cases gives.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<String, Count>,
    /// The cases of each decision.
    decided: BTreeMap<&'static str, BTreeSet<String>>,
    /// The cases whose command is not this program's, by command.
    out_of_scope: BTreeMap<&'static str, BTreeSet<String>>,
    bad: Vec<String>,
}

#[derive(Default)]
struct Count {
    all: usize,
    same: usize,
    decided: usize,
    only_read: usize,
    /// Cases with an error in the configuration, for which this program stops and `OpenTofu` does not.
    stopped: usize,
}

impl Tally {
    fn add(&mut self, case: &Case, run: &Run) {
        let name = &case.name;
        self.bad.extend(run.readings.iter().map(|what| format!("{name}: {what}")));
        let outcome = run.install.as_ref().map(|install| self.judge(case, install));
        let count = self.groups.entry(case.group.clone()).or_default();
        count.all += 1;
        count.stopped += usize::from(run.stops);
        match outcome {
            None => {
                count.only_read += 1;
                let command = case.commands.iter().flatten().filter_map(|command| verb(command)).next_back();
                let known = OUT_OF_SCOPE.iter().find(|(known, _)| command.is_some_and(|command| command == known));
                match known {
                    Some((known, _)) => drop(self.out_of_scope.entry(known).or_default().insert(name.clone())),
                    // Told already.
                    None if run.is_impossible => {}
                    None => self.bad.push(format!("{name}: a command that nobody knows: {command:?}")),
                }
            }
            Some(Ok(true)) => count.same += 1,
            Some(Ok(false)) => count.decided += 1,
            Some(Err(what)) => self.bad.push(format!("{name}: {what}")),
        }
    }

    /// Whether all is as measured (true) or as decided (false).
    fn judge(&mut self, case: &Case, install: &Install) -> Result<bool, String> {
        let told = || format!("measured {}, came {:?}", install.expected, install.came);
        if let Some(difference) = DIFFERENCES.iter().find(|difference| (difference.about)(case, &install.expected)) {
            let as_decided = match (&difference.ours, &install.came) {
                (Ours::Always, _) => install.is_same(),
                (Ours::Installs(ours), Came::Installed { method, .. }) => {
                    !install.is_same() && ours.contains(&method.as_str())
                }
                (Ours::Refuses(ours), Came::Refused { class, .. }) => !install.is_same() && ours == class,
                _ => false,
            };
            if !as_decided {
                return Err(format!("not as decided by {}: {}", difference.name, told()));
            }
            self.decided.entry(difference.name).or_default().insert(case.name.clone());
            return Ok(false);
        }
        if !install.is_same() {
            return Err(told());
        }
        for (ours, lines) in [(true, &install.lock_has), (false, &install.lock_lacks)] {
            for line in lines {
                let explains = |difference: &&differences::LockDifference| {
                    difference.ours == ours && (difference.about)(&install.expected, line)
                };
                let Some(difference) = LOCK_DIFFERENCES.iter().find(explains) else {
                    return Err(format!("the lock file {} {line}", if ours { "has also" } else { "lacks" }));
                };
                self.decided.entry(difference.name).or_default().insert(case.name.clone());
            }
        }
        Ok(install.lock_has.is_empty() && install.lock_lacks.is_empty())
    }

    fn unused(&self) -> Vec<&'static str> {
        let outcomes = DIFFERENCES.iter().map(|difference| difference.name);
        let locks = LOCK_DIFFERENCES.iter().map(|difference| difference.name);
        outcomes.chain(locks).filter(|name| !self.decided.contains_key(name)).collect()
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = |of: fn(&Count) -> usize| self.groups.values().map(of).sum::<usize>();
        for (group, count) in &self.groups {
            let Count { all, same, decided, only_read, .. } = count;
            writeln!(f, "{group}: {all} cases: {same} same, {decided} intended differences, {only_read} only read")?;
        }
        for (name, cases) in &self.decided {
            writeln!(f, "decided by {name}: {}", cases.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        for (command, cases) in &self.out_of_scope {
            let why = OUT_OF_SCOPE.iter().find(|(known, _)| known == command).map_or("", |(_, why)| why);
            writeln!(f, "tofu {command} ({why}): {}", cases.iter().cloned().collect::<Vec<_>>().join(", "))?;
        }
        let (same, decided, only_read) = (sum(|c| c.same), sum(|c| c.decided), sum(|c| c.only_read));
        let (all, stopped) = (sum(|c| c.all), sum(|c| c.stopped));
        writeln!(f, "{stopped} have an error in the configuration: this program stops there, OpenTofu goes on")?;
        write!(f, "{all} cases: {same} same, {decided} intended differences, {only_read} of other commands")
    }
}

#[test]
fn every_measured_case_comes_out_as_measured_or_as_decided() {
    let cases = case::cases();
    let runs = run_all(&cases);
    let mut tally = Tally::default();
    for (case, run) in cases.iter().zip(&runs) {
        tally.add(case, run);
    }
    println!("{tally}");
    assert!(tally.bad.is_empty(), "{} are other than measured\n{}", tally.bad.len(), tally.bad.join("\n"));
    // Other cases of the same kind need not be about all of them.
    let names: BTreeSet<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    if case::copied_cases().iter().all(|case| names.contains(case.name.as_str())) {
        assert_eq!(tally.unused(), Vec::<&str>::new(), "decisions that no case is about");
    }
    assert_eq!(runs.len(), cases.len());
}

#[test]
fn every_class_of_refusals_is_told() {
    let cases = case::copied_cases();
    let mut told = BTreeMap::new();
    for (case, run) in cases.iter().zip(run_all(&cases)) {
        if let Some(Install { came: Came::Refused { class, told: text }, .. }) = run.install {
            told.entry(class).or_insert_with(|| format!("({}) {text}", case.name));
        }
    }
    let told: String = told.iter().map(|(class, text)| format!("{class} {text}\n")).collect();
    assert_snapshot!(told, @r#"
    archive-not-found (fail-net-archive-404-then-oci) nothing can be installed from network_mirror: archive: 404
    artifact-type (fail-oci-broken-index-type-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 in [REGISTRY]/m/acme/widget cannot be installed: this is an artifact of type `application/vnd.example.other`, not a provider release: expected an image index with a package for each platform
    bad-body (fail-fs-ok-then-oci-list-broken-json) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget is not usable: its list of tags is no such list
    bad-content-type (fail-net-index-html-then-oci) network_mirror ends the search for registry.example.test/acme/widget: nothing can be installed from network_mirror: index: html
    bad-status (fail-oci-list-204-then-fs) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget answered 204 to GET /v2/m/acme/widget/tags/list: no content
    bad-zip (fail-net-archive-html-then-oci) the package of registry.example.test/acme/widget 1.0.0 for linux_amd64 cannot be installed: this is not a zip archive
    blob-digest-mismatch (fail-oci-broken-blob-corrupt-then-fs) [DIGEST] (archive/zip) of [REGISTRY]/m/acme/widget is damaged: expected [DIGEST], got [DIGEST]
    cache-modified (lock-cache-tampered-lock-kept) $BASE/cache/registry.example.test/acme/widget/1.0.0/linux_amd64 has other contents than registry.example.test/acme/widget 1.0.0
    connection-lost (fail-oci-list-reset-then-fs) oci ends the search for registry.example.test/acme/widget: cannot reach [REGISTRY]/m/acme/widget: …
    connection-refused (tpl-ipv6) oci ends the search for registry.example.test/acme/widget: cannot reach [REGISTRY]/acme/widget: …
    denied (fail-oci-list-403-then-fs) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget denied access: it names no way to log in, so nothing was shown: forbidden
    descriptor-platform-missing (fail-oci-broken-no-platform-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 in [REGISTRY]/m/acme/widget cannot be installed: the provider package [DIGEST] has no platform in its index entry
    dns (fail-oci-dns-then-fs) oci ends the search for registry.example.test/acme/widget: cannot reach [REGISTRY]/m/acme/widget: …
    empty-repository (tpl-number) oci ends the search for registry.example.test/acme/widget: nothing can be installed from oci_mirror at $BASE/rc.tfrc:2: the repository template `${1}` gives only the registry 1 for registry.example.test/acme/widget, and no repository in it
    fs-dir-missing (fail-fs-x-missing-dir-then-oci) filesystem_mirror ends the search for registry.example.test/acme/widget: nothing can be installed from $BASE/w/mirror: $BASE/w/mirror
    invalid-repository-address (tpl-unicode-provider-parts) oci ends the search for registry.example.test/ほげ/ふが: nothing can be installed from oci_mirror at $BASE/rc.tfrc:2: requested provider address registry.example.test/ほげ/ふが contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as oci.example.test/ほげ/ふが
    lock-invalid (lock-no-version) $BASE/w/.terraform.lock.hcl:1:1: the block has no version
    lock-mismatch (lock-oci-h1-other-platform) registry.example.test/acme/widget 1.0.0 for linux_amd64 is not the package that was locked: the one checksum in the lock file is not this package's
    locked-version-conflict (lock-constraint-conflict) registry.example.test/acme/widget is locked at 1.0.0, which does not meet `~> 1.1`
    locked-version-gone (lock-version-gone) registry.example.test/acme/widget is locked at 1.0.0, which [REGISTRY]/m/acme/widget does not have any more
    manifest-not-found (fail-oci-manifest-404-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: [REGISTRY]/m/acme/widget has no manifest [DIGEST]
    mirror-version-missing (pair-net-direct-only-second) network_mirror ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 was not found in network_mirror
    no-matching-release (tpl-only-oci-bad) registry.example.test/acme/widget cannot be looked for: the CLI configuration has no installation method left
    no-provider-manifest (fail-oci-broken-no-leaves-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 in [REGISTRY]/m/acme/widget cannot be installed: this index has no provider package
    no-provider-service (fail-direct-discovery-404-then-oci) direct ends the search for registry.example.test/acme/widget: nothing can be installed from direct: discovery: 404
    no-zip-layer (fail-oci-broken-layer-type-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 in [REGISTRY]/m/acme/widget cannot be installed: the provider package [DIGEST] has no layer of type archive/zip, only application/zip
    not-an-index (fail-oci-broken-leaf-tagged-then-fs) oci ends the search for registry.example.test/acme/widget 1.0.0: registry.example.test/acme/widget 1.0.0 in [REGISTRY]/m/acme/widget cannot be installed: this is a single platform's provider package, not a provider release: expected an image index with a package for each platform
    not-authentic (fail-direct-broken-shasum-then-oci) nothing can be installed from direct: shasum
    not-found-but-hard (fail-oci-list-MANIFEST_UNKNOWN-then-fs) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget answered 404 to GET /v2/m/acme/widget/tags/list: injected (MANIFEST_UNKNOWN)
    platform-not-supported (plat-oci-direct-newest-lacks-platform-everywhere) registry.example.test/acme/widget 1.1.0 has no package for linux_amd64
    provider-not-found (cfg-dev-oci-lacks-it) registry.example.test/acme/widget was not found in [REGISTRY]/k/acme/widget
    registry-provider-not-known (both-lack-it) [REGISTRY]/m/acme/widget, direct does not know registry.example.test/acme/widget
    server-error (fail-fs-ok-then-oci-list-500) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget answered 500 to GET /v2/m/acme/widget/tags/list: internal server error
    source-address (tpl-percent-encoded-type) $BASE/w/main.tf:4:16: `registry.example.test/a--b/widget` is not a provider address: the namespace contains two dashes in a row
    tag-not-found (inc-newer-in-second) oci ends the search for registry.example.test/acme/widget 1.1.0: registry.example.test/acme/widget 1.1.0 was not found in [REGISTRY]/one/registry.example.test/acme/widget
    template-eval (tpl-map-lookup-miss) oci ends the search for registry.example.test/acme/widget: nothing can be installed from oci_mirror at $BASE/rc.tfrc:2: the repository template `oci.example.test/${ {"example.com" = "okay"}[hostname] }/${namespace}/${type}` cannot be worked out for registry.example.test/acme/widget: there is nothing under "registry.example.test", only example.com
    template-null (tpl-null-by-condition) oci ends the search for registry.example.test/acme/widget: nothing can be installed from oci_mirror at $BASE/rc.tfrc:2: the repository template `${namespace == "example-namespace" ? "oci.example.test/x" : null}` gives null for registry.example.test/acme/widget
    timeout (fail-net-hang-then-oci) network_mirror ends the search for registry.example.test/acme/widget: nothing can be installed from network_mirror: index: timeout
    tls (fail-oci-tls-then-fs) oci ends the search for registry.example.test/acme/widget: cannot reach [REGISTRY]/m/acme/widget: …
    too-many-requests (fail-oci-list-429-then-fs) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget answered 429 to GET /v2/m/acme/widget/tags/list: too many requests
    unauthorized (fail-oci-list-401-then-fs) oci ends the search for registry.example.test/acme/widget: [REGISTRY]/m/acme/widget denied access: it names no way to log in, so nothing was shown: unauthorized
    zero-version (alone-oci-zero-version) registry.example.test/acme/widget 0.0.0 cannot be installed: that number means that there is no version
    "#);
}
