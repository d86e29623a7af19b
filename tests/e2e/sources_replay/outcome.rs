//! The whole outcome of a run: exit code, error, what is installed, who served it, the lock file to its last byte.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Expected;
use super::differences::{Ends, Ours};
use super::lock_text::{self, Entries, Entry};
use super::packages::{maker, package};
use super::scene::{PLATFORM, Run, Scene, State};

/// What a run must have come to.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The exit code; `None` is any but 0: `OpenTofu` has no other than 1.
    exit: Option<i32>,
    /// The right codes of the error; empty on success, or if the error has no code.
    codes: Vec<String>,
    state: State,
    /// The servers that may have sent the package: one of them has. Empty if no server has.
    served: BTreeSet<String>,
    /// The places that it may be said to come from; empty if the run is free to say.
    places: BTreeSet<String>,
}

impl Wanted {
    /// What was measured, with one addition: `OpenTofu` knows no `ch:` lines, and the program records the manifest of
    /// what it fetched from an OCI registry.
    pub(super) fn measured(scene: &Scene, before: &State, expected: &Expected) -> Result<Self, String> {
        if let Some(error) = &expected.install_error {
            let codes = our_codes(error).iter().map(ToString::to_string).collect();
            return Ok(Self::unchanged(None, codes, before));
        }
        let method = expected.method.as_deref().ok_or("an expectation without a method and without an error")?;
        if method == "none" {
            return Ok(Self::unchanged(Some(0), Vec::new(), before));
        }
        let version = expected.version.as_deref().ok_or("an expectation without a version")?;
        let repository = expected.repository.as_deref().filter(|_| method == "oci");
        let made = Made::of(scene, method, repository, version);
        let mut hashes: BTreeSet<String> = match &expected.lock_after {
            Some(lines) => lines.iter().map(|line| scene.translation.apply(line)).collect(),
            None => made.recorded(),
        };
        if !scene.case.leaves_the_lock_file() {
            hashes.extend(made.ch.clone());
        }
        if method == "cache" {
            // Nobody is asked: the line of an earlier run stays.
            let earlier = before.lock.as_deref().and_then(lock_text::entries).unwrap_or_default();
            let lines = earlier.into_values().flat_map(|entry| entry.hashes);
            hashes.extend(lines.filter(|line| scene.world.knows(line)));
        }
        Ok(made.installed(scene, before, version, hashes))
    }

    /// What is decided otherwise.
    pub(super) fn ours(scene: &Scene, before: &State, ours: &Ours) -> Self {
        match ours.ends {
            Ends::With { exit, code } => {
                let codes = Some(code).filter(|code| !code.is_empty()).map(ToOwned::to_owned);
                Self::unchanged(Some(exit), codes.into_iter().collect(), before)
            }
            Ends::Installs { version, from, lock } => {
                let repository = Some(from).filter(|from| !METHODS.contains(from));
                let method = if repository.is_some() { "oci" } else { from };
                let made = Made::of(scene, method, repository, version);
                let hashes = made.lines(scene, lock);
                made.installed(scene, before, version, hashes)
            }
            Ends::Locks { version, repository, lock } => {
                let made = Made::of(scene, "oci", Some(repository), version);
                let hashes = made.lines(scene, lock);
                let mut wanted = made.installed(scene, before, version, hashes);
                wanted.state.installed.clone_from(&before.installed);
                wanted
            }
        }
    }

    /// An error of the CLI configuration: no host is asked, and nothing changes.
    pub(super) fn stops(before: &State, code: &str) -> Self {
        Self::unchanged(Some(2), vec![code.to_owned()], before)
    }

    fn unchanged(exit: Option<i32>, codes: Vec<String>, before: &State) -> Self {
        Self { exit, codes, state: before.clone(), served: BTreeSet::new(), places: BTreeSet::new() }
    }

    /// What came otherwise, a line each; empty if all is as wanted.
    pub(super) fn differs_from(&self, run: &Run) -> String {
        let mut said = String::new();
        let mut line = |what: &str, wanted: String, came: String| {
            if wanted != came {
                said.push_str(&format!("\n    {what}: wanted {wanted}, came {came}"));
            }
        };
        match (self.exit, run.exit) {
            (None, Some(1..=3)) => {}
            (None, came) => line("exit", "1, 2 or 3".to_owned(), format!("{came:?}")),
            (wanted, came) => line("exit", format!("{wanted:?}"), format!("{came:?}")),
        }
        match &run.code {
            Some(code) if self.codes.iter().any(|wanted| fits(wanted, code)) => {}
            None if self.codes.is_empty() => {}
            code => line("error", self.codes.join(" or "), format!("{code:?}")),
        }
        line("installed", format!("{:?}", self.state.installed), format!("{:?}", run.after.installed));
        line("lock file", format!("{:?}", self.state.lock), format!("{:?}", run.after.lock));
        if run.exit == Some(0) {
            let of = |wanted: &BTreeSet<String>, came: &BTreeSet<String>| {
                came.len() <= 1 && came.is_subset(wanted) && came.is_empty() == wanted.is_empty()
            };
            let sent: BTreeSet<String> = run.served.iter().cloned().collect();
            if !of(&self.served, &sent) {
                line("sent by", format!("{:?}", self.served), format!("{sent:?}"));
            }
            // What a run says of a package that was there already is its own affair.
            if !self.places.is_empty() && !run.places.is_empty() && !of(&self.places, &run.places) {
                line("place", format!("{:?}", self.places), format!("{:?}", run.places));
            }
        }
        said
    }
}

/// The methods of the cases other than `oci`.
const METHODS: [&str; 4] = ["direct", "network_mirror", "filesystem_mirror", "cache"];

/// The package that is installed, its checksums, and who may have sent it.
struct Made {
    source: String,
    h1: String,
    zh: String,
    ch: Option<String>,
    /// What the place says of it, and of the other platforms.
    claimed: BTreeSet<String>,
    served: BTreeSet<String>,
    places: BTreeSet<String>,
}

impl Made {
    fn of(scene: &Scene, method: &str, repository: Option<&str>, version: &str) -> Self {
        let kind = match method {
            "network_mirror" => "mirror",
            "filesystem_mirror" => "fs",
            // What the cache holds came from an OCI registry.
            "cache" => "oci",
            other => other,
        };
        let of_kind = || scene.case.offers.iter().filter(|(name, _)| name.split(':').next() == Some(kind));
        // A case that names no repository has one only.
        let only = || of_kind().next().and_then(|(name, _)| name.strip_prefix("oci:")).filter(|_| method == "oci");
        let repository = repository.or_else(only);
        let exact = repository.and_then(|repository| scene.case.offers.get(&format!("oci:{repository}")));
        let offer = exact.or_else(|| of_kind().next().map(|(_, offer)| offer));
        let source = maker(kind, offer.and_then(|offer| offer.content.as_deref()));
        let provider_type = scene.case.provider.rsplit('/').next().unwrap_or_default();
        let made = package(&source, provider_type, version, PLATFORM);
        let leaf = repository.and_then(|repository| scene.world.leaf(repository, version, PLATFORM));
        let (served, places) = match (method, repository) {
            ("cache", _) => (BTreeSet::new(), BTreeSet::new()),
            (_, Some(repository)) => [scene.world.sender(repository)].into_iter().unzip(),
            ("filesystem_mirror", _) => {
                (BTreeSet::new(), of_kind().filter_map(|(name, _)| scene.folder(name)).collect())
            }
            _ => of_kind().map(|(name, _)| scene.world.sender(name)).unzip(),
        };
        let claimed = match (kind, offer) {
            // Every line of `SHA256SUMS`.
            ("direct", Some(offer)) => {
                let platforms = offer.platforms(version).iter();
                platforms.map(|platform| package(&source, provider_type, version, platform).zh.clone()).collect()
            }
            ("mirror", Some(offer)) if matches!(offer.hashes.as_deref(), Some("none" | "h1")) => BTreeSet::new(),
            ("fs", _) => BTreeSet::new(),
            _ => [made.zh.clone()].into(),
        };
        let ch = leaf.map(|leaf| format!("ch:{leaf}"));
        Self { source, h1: made.h1.clone(), zh: made.zh.clone(), ch, claimed, served, places }
    }

    /// What `OpenTofu` records of a package that no lock file knows.
    fn recorded(&self) -> BTreeSet<String> {
        self.claimed.iter().chain([&self.h1]).cloned().collect()
    }

    /// Lines of a lock file: `h1`, `zh` and `ch` mean the package's own, everything else itself.
    fn lines(&self, scene: &Scene, lines: &[&str]) -> BTreeSet<String> {
        let line = |line: &&str| match *line {
            "h1" => self.h1.clone(),
            "zh" => self.zh.clone(),
            "ch" => self.ch.clone().unwrap_or_default(),
            other => scene.translation.apply(other),
        };
        lines.iter().map(line).collect()
    }

    fn installed(&self, scene: &Scene, before: &State, version: &str, hashes: BTreeSet<String>) -> Wanted {
        let provider = &scene.case.provider;
        let name = format!("{provider}/{version}/{PLATFORM}");
        let mut installed: BTreeMap<String, String> = before.installed.clone();
        installed.insert(name, self.source.clone());
        let entry = Entry { version: version.to_owned(), constraints: scene.case.constraint.clone(), hashes };
        let entries = Entries::from([(provider.clone(), entry)]);
        // A file that says all that is to be said, in order, is left as it is.
        let is_in_order = |text: &&str| {
            let hashes = text.lines().filter(|line| line.starts_with("    \""));
            hashes.is_sorted_by(|one, next| one < next)
        };
        let same = before.lock.as_deref().filter(|text| lock_text::entries(text).as_ref() == Some(&entries));
        let same = same.filter(|text| scene.case.leaves_the_lock_file() || is_in_order(text));
        let lock = same.map_or_else(|| lock_text::file(&entries), ToOwned::to_owned);
        Wanted {
            exit: Some(0),
            codes: Vec::new(),
            state: State { installed, lock: Some(lock) },
            served: self.served.clone(),
            places: self.places.clone(),
        }
    }
}

/// Whether a code is the wanted one; `xx` at the end of a wanted one means any two characters.
fn fits(wanted: &str, code: &str) -> bool {
    match wanted.strip_suffix("xx") {
        Some(start) => code.strip_prefix(start).is_some_and(|rest| rest.len() == 2),
        None => wanted == code,
    }
}

/// Our codes for a measured one. Some measured classes are wider than ours, or narrower; and an answer of a registry has
/// the code of its status here.
fn our_codes(measured: &str) -> Vec<&str> {
    match measured {
        // However it cannot be reached.
        "registry-unreachable" => vec!["connection-refused", "dns", "tls", "unreachable", "connection-lost"],
        // The proxy looks the name up, and says only that it cannot be reached.
        "dns" => vec!["dns", "unreachable"],
        "not-found-but-hard" => vec!["not-found-but-hard", "registry-status:404"],
        "unauthorized" => vec!["unauthorized", "registry-status:401", "token-server-status:401"],
        "denied" => vec!["denied", "registry-status:403"],
        "too-many-requests" => vec!["too-many-requests", "registry-status:429"],
        "server-error" => vec!["server-error", "registry-status:5xx"],
        "bad-status" => vec!["bad-status", "registry-status:2xx"],
        // The only checksum of a mirror's archive is its digest.
        "mirror-hash-mismatch" => vec!["mirror-hash-mismatch", "blob-digest-mismatch"],
        other => vec![other],
    }
}
