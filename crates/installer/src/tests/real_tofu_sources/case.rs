//! The cases as they are written in the vector file.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use tofu_oci_mapper::TofuRelease;

/// One case: what the user has, what the world offers, and what `OpenTofu` made of it.
#[derive(Debug, Deserialize)]
pub(super) struct Case {
    pub(super) name: String,
    pub(super) group: String,
    #[serde(default)]
    pub(super) cli_config: Option<String>,
    #[serde(default)]
    pub(super) cli_config_name: Option<String>,
    pub(super) provider: String,
    #[serde(default)]
    pub(super) constraint: Option<String>,
    pub(super) offers: BTreeMap<String, Offered>,
    pub(super) lock: Option<String>,
    #[serde(default)]
    lock_before_last_command: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) commands: Option<Vec<Vec<String>>>,
    expect: Value,
    measured_with: Vec<String>,
    #[serde(default)]
    differs: BTreeMap<String, Value>,
    #[serde(default)]
    random: bool,
}

/// What one place offers, and how it fails.
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct Offered {
    #[serde(default)]
    pub(super) versions: Vec<String>,
    #[serde(default)]
    pub(super) platforms: Vec<String>,
    #[serde(default)]
    pub(super) platforms_of: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    pub(super) unpacked: bool,
    #[serde(default)]
    pub(super) extra_tags: Vec<String>,
    #[serde(default)]
    pub(super) hashes: Option<String>,
    #[serde(default)]
    pub(super) broken: Option<String>,
    #[serde(default)]
    pub(super) fails: Option<String>,
    #[serde(default)]
    pub(super) fails_at: Option<String>,
    #[serde(default)]
    pub(super) package_hashes: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(super) content: Option<String>,
}

impl Offered {
    /// The platforms of a version.
    pub(super) fn platforms(&self, version: &str) -> &[String] {
        self.platforms_of.get(version).unwrap_or(&self.platforms)
    }

    /// Fails with a clear message where the case is about something that the scene does not know.
    pub(super) fn assert_known(&self, place: &str, fails_at: &[&str], broken: &[&str], hashes: &[&str]) {
        let check = |what: &str, word: &Option<String>, known: &[&str]| {
            let word = word.as_deref();
            assert!(word.is_none_or(|word| known.contains(&word)), "{place}: `{what}` that nobody knows: {word:?}");
        };
        check("fails_at", &self.fails_at, fails_at);
        check("broken", &self.broken, broken);
        check("hashes", &self.hashes, hashes);
        check("content", &self.content, &["oci", "direct", "fs", "mirror", "net"]);
    }

    /// How it fails at a stage; without a stage it fails when the versions are listed.
    pub(super) fn failure(&self, stage: &str, listing: &str) -> Option<&str> {
        let at = self.fails_at.as_deref().unwrap_or(listing);
        self.fails.as_deref().filter(|_| at == stage || at == "all")
    }
}

/// What came of a case.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Expected {
    #[serde(default)]
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) version: Option<String>,
    #[serde(default)]
    pub(super) repository: Option<String>,
    #[serde(default)]
    pub(super) install_error: Option<String>,
    #[serde(default)]
    pub(super) config_error: Option<String>,
    #[serde(default)]
    pub(super) stage: Option<String>,
    #[serde(default)]
    pub(super) line: Option<usize>,
    #[serde(default)]
    pub(super) severity: Option<String>,
    #[serde(default)]
    pub(super) also: Vec<String>,
    #[serde(default)]
    pub(super) then: Option<Box<Expected>>,
    #[serde(default)]
    pub(super) lock_after: Option<Vec<String>>,
    #[serde(default)]
    pub(super) exit: Option<i32>,
    #[serde(default)]
    pub(super) asked: Option<Vec<String>>,
}

impl Expected {
    /// What happened in spite of an error in the configuration, with the lock file that was there in the end.
    pub(super) fn in_the_end(&self) -> Self {
        match &self.then {
            Some(then) => {
                Self { lock_after: self.lock_after.clone().or_else(|| then.lock_after.clone()), ..*then.clone() }
            }
            None => self.clone(),
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.method, &self.version, &self.repository, &self.install_error];
        f.write_str(&parts.into_iter().flatten().cloned().collect::<Vec<_>>().join(" "))
    }
}

fn name(release: TofuRelease) -> &'static str {
    match release {
        TofuRelease::V1_10 => "1.10.10",
        TofuRelease::V1_12 => "1.12.6",
        TofuRelease::V1_13 => "1.13-dev",
    }
}

impl Case {
    /// What a release made of it; nothing where it was not measured.
    pub(super) fn expected(&self, release: TofuRelease) -> Option<Expected> {
        let release = name(release);
        let measured = self.measured_with.iter().any(|known| known == release).then_some(&self.expect);
        self.differs.get(release).or(measured).map(read)
    }

    /// The lock file that the last command finds.
    pub(super) fn final_lock(&self) -> &str {
        self.lock_before_last_command.as_ref().or(self.lock.as_ref()).map_or("", String::as_str)
    }

    /// Whether something else may come of it in the next run.
    pub(super) fn is_random(&self) -> bool {
        self.random
    }
}

fn read(value: &Value) -> Expected {
    serde_json::from_value(value.clone()).unwrap()
}

#[derive(Deserialize)]
struct Vectors {
    cases: Vec<Case>,
}

/// All cases.
pub(super) fn cases() -> Vec<Case> {
    let shared = fs::read(root().join("../shared/spec/vectors/real_tofu_sources.json"));
    shared.map_or_else(|_| copied_cases(), |bytes| serde_json::from_slice::<Vectors>(&bytes).unwrap().cases)
}

/// The cases of the project's copy.
pub(super) fn copied_cases() -> Vec<Case> {
    let bytes = fs::read(root().join("testdata/vectors/real_tofu_sources.json")).unwrap();
    serde_json::from_slice::<Vectors>(&bytes).unwrap().cases
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
