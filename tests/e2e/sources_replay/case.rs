//! The cases as they are written in the vector file.
//!
//! A case with a word that this reader does not know is an error of that case alone. It is never taken for another case.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The release that the program behaves like.
const RELEASE: &str = "1.13-dev";

/// One case: what the user has, what the world offers, and what `OpenTofu` made of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[expect(dead_code, reason = "the tally reads it from the raw case")]
    group: String,
    #[serde(default)]
    pub(super) cli_config: Option<String>,
    #[serde(default)]
    pub(super) cli_config_name: Option<String>,
    pub(super) provider: String,
    #[serde(default)]
    pub(super) constraint: Option<String>,
    pub(super) offers: BTreeMap<String, Offered>,
    #[serde(default)]
    pub(super) lock: Option<String>,
    #[serde(default)]
    #[expect(dead_code, reason = "the replay reads the file itself")]
    lock_before_last_command: Option<String>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, String>,
    #[serde(default)]
    pub(super) commands: Option<Vec<Vec<String>>>,
    #[expect(dead_code, reason = "for those who replay without a file system")]
    pure: bool,
    expect: Value,
    measured_with: Vec<String>,
    #[serde(default)]
    differs: BTreeMap<String, Value>,
    #[serde(default)]
    #[expect(dead_code, reason = "both outcomes are measured ones")]
    random: bool,
    #[serde(default)]
    expect_or: Option<Value>,
}

/// What one place offers, and how it fails.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Offered {
    pub(super) versions: Vec<String>,
    platforms: Vec<String>,
    platforms_of: BTreeMap<String, Vec<String>>,
    pub(super) unpacked: bool,
    pub(super) extra_tags: Vec<String>,
    pub(super) hashes: Option<String>,
    pub(super) broken: Option<String>,
    pub(super) fails: Option<String>,
    pub(super) fails_at: Option<String>,
    pub(super) package_hashes: BTreeMap<String, BTreeMap<String, String>>,
    pub(super) content: Option<String>,
}

impl Offered {
    /// The platforms of a version.
    pub(super) fn platforms(&self, version: &str) -> &[String] {
        self.platforms_of.get(version).unwrap_or(&self.platforms)
    }

    /// Panics with a clear message if the case holds a word that the scene does not know.
    pub(super) fn assert_known(&self, place: &str, fails_at: &[&str], broken: &[&str], hashes: &[&str]) {
        let check = |what: &str, word: &Option<String>, known: &[&str]| {
            let word = word.as_deref();
            assert!(word.is_none_or(|word| known.contains(&word)), "{place}: unknown `{what}`: {word:?}");
        };
        check("fails_at", &self.fails_at, fails_at);
        check("broken", &self.broken, broken);
        check("hashes", &self.hashes, hashes);
        check("content", &self.content, &["oci", "direct", "fs", "mirror", "net"]);
    }

    /// How it fails at a stage. Without a stage in the case it fails at `listing`.
    pub(super) fn failure(&self, stage: &str, listing: &str) -> Option<&str> {
        let at = self.fails_at.as_deref().unwrap_or(listing);
        self.fails.as_deref().filter(|_| at == stage || at == "all")
    }
}

/// What was measured. Stage, line and severity of errors in the configuration are compared by the replay of `mapper`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expected {
    pub(super) method: Option<String>,
    pub(super) version: Option<String>,
    pub(super) repository: Option<String>,
    pub(super) install_error: Option<String>,
    pub(super) config_error: Option<String>,
    stage: Option<String>,
    line: Option<usize>,
    severity: Option<String>,
    also: Vec<String>,
    then: Option<Value>,
    pub(super) lock_after: Option<Vec<String>>,
    /// Only commands other than `init` have it.
    pub(super) exit: Option<i32>,
    asked: Option<Vec<String>>,
    command_error: Option<String>,
}

impl Case {
    /// Whether the lock file must not be written.
    pub(super) fn leaves_the_lock_file(&self) -> bool {
        self.commands.iter().flatten().flatten().any(|word| word == "-lockfile=readonly")
    }

    /// Reads a case.
    ///
    /// # Errors
    /// The word that is unknown, or the member that is missing.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let case = Self::deserialize(value).map_err(|error| format!("unreadable case: {error}"))?;
        case.expected()?;
        Ok(case)
    }

    /// What the release that the program behaves like made of it. Several if it changes from run to run.
    ///
    /// # Errors
    /// If the case was not measured with that release, or holds an unknown word.
    pub(super) fn expected(&self) -> Result<Vec<Expected>, String> {
        let measured = self.measured_with.iter().any(|known| known == RELEASE).then_some(&self.expect);
        let first = self.differs.get(RELEASE).or(measured);
        let first = first.ok_or_else(|| format!("not measured with {RELEASE}"))?;
        let read =
            |value: &Value| Expected::deserialize(value).map_err(|error| format!("unreadable expectation: {error}"));
        std::iter::once(first).chain(&self.expect_or).map(read).collect()
    }
}

/// The file with the measured cases.
pub(super) const FILE: &str = "real_tofu_sources.json";

/// The name of a case as it is written, readable or not.
pub(super) fn name(case: &Value) -> &str {
    case["name"].as_str().unwrap_or("a case without a name")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_unknown_word_is_the_error_of_its_case_alone() {
        let good = json!({"name": "good", "group": "g", "provider": "a.test/b/c", "offers": {}, "lock": null,
            "pure": true, "expect": {"install_error": "x"}, "measured_with": [RELEASE]});
        let mut odd = good.clone();
        odd["surprise"] = json!(1);
        let mut measured = good.clone();
        measured["expect"]["surprise"] = json!(1);
        let read: Vec<bool> = [good, odd, measured].iter().map(|case| Case::read(case).is_ok()).collect();
        assert_eq!(read, [true, false, false]);
    }
}
