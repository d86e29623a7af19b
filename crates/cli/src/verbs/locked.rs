//! What an installation has changed in the lock file, or would change.

use serde::Serialize;
use tofu_oci_lockfile::{LOCK_FILE_NAME, LockEntry, LockFile, StoredLockFile};
use tofu_oci_types::{ProviderAddr, Version};

use crate::page::counted;

/// One provider whose entry has changed.
#[derive(Debug, Serialize)]
pub(super) struct LockChange {
    pub(super) address: ProviderAddr,
    /// The version that was locked before; `None` for a new entry.
    from: Option<Version>,
    /// The version that is locked now; `None` for a removed entry.
    pub(super) to: Option<Version>,
    /// How many checksums of the version are new.
    checksums_added: usize,
    /// How many `ch:` lines of the version are gone.
    #[serde(skip_serializing_if = "crate::report::is_zero")]
    checksums_removed: usize,
}

/// The entries that differ, by address.
pub(super) fn changes(before: &LockFile, after: &LockFile) -> Vec<LockChange> {
    let old = |address| before.get(address);
    let changed = after.iter().filter(|(address, entry)| old(address) != Some(entry));
    let gone = before.iter().filter(|(address, _)| after.get(address).is_none());
    let changed = changed.map(|(address, entry)| LockChange::between(address, old(address), entry));
    let mut all: Vec<LockChange> =
        changed.chain(gone.map(|(address, entry)| LockChange::removal(address, entry))).collect();
    all.sort_by(|one, other| one.address.cmp(&other.address));
    all
}

/// The entries that lack checksums. `ch:` lines do not count: every `init` drops them.
pub(super) fn lacking(before: &LockFile, after: &LockFile) -> Vec<LockChange> {
    let without = |file: &LockFile| {
        let mut lenient = LockFile::default();
        for (address, entry) in file.iter() {
            lenient.insert(address.clone(), entry.clone().without_manifests());
        }
        lenient
    };
    let mut changes = changes(&without(before), &without(after));
    changes.retain(|change| change.checksums_added > 0);
    changes
}

/// The lines that differ, as `diff -u` shows them.
pub(super) fn diff(before: &StoredLockFile, after: &LockFile) -> String {
    similar::TextDiff::from_lines(before.text().unwrap_or_default(), &after.to_text())
        .unified_diff()
        .header(&format!("{LOCK_FILE_NAME} (as it is)"), &format!("{LOCK_FILE_NAME} (as it would be)"))
        .to_string()
}

impl LockChange {
    fn between(address: &ProviderAddr, before: Option<&LockEntry>, after: &LockEntry) -> Self {
        let known = before.filter(|before| before.version == after.version);
        let is_new = |hash: &&_| known.is_none_or(|known| !known.hashes.contains(*hash));
        Self {
            address: address.clone(),
            from: before.map(|entry| entry.version.clone()),
            to: Some(after.version.clone()),
            checksums_added: after.hashes.iter().filter(is_new).count(),
            checksums_removed: known.map_or(0, |known| known.hashes.difference(&after.hashes).count()),
        }
    }

    fn removal(address: &ProviderAddr, before: &LockEntry) -> Self {
        Self {
            address: address.clone(),
            from: Some(before.version.clone()),
            to: None,
            checksums_added: 0,
            checksums_removed: 0,
        }
    }

    /// The checksums that the lock file lacks, in a few words.
    pub(super) fn lacking(&self) -> String {
        let Self { address, to, checksums_added, .. } = self;
        let version = to.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
        format!("{} of {address}{version}", counted(*checksums_added, "checksum"))
    }

    /// The change in a few words.
    pub(super) fn text(&self) -> String {
        let Self { address, from, to, checksums_added, checksums_removed } = self;
        let Some(to) = to else {
            return match from {
                Some(from) => format!("{address} {from} removed: neither the configuration nor its state requires it"),
                None => format!("{address} removed"),
            };
        };
        let counts = [(*checksums_added, "checksum", "added"), (*checksums_removed, "ch: line", "removed")];
        let counts = counts.into_iter().filter(|(count, ..)| *count > 0);
        let checksums: Vec<String> =
            counts.map(|(count, what, done)| format!("{} {done}", counted(count, what))).collect();
        match from {
            None => format!("{address} {to} added"),
            Some(from) if from != to => format!("{address} {from} -> {to}"),
            _ if checksums.is_empty() => format!("{address} {to}: constraints changed"),
            _ => format!("{address} {to}: {}", checksums.join(", ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const H1: &str = "\"h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\",";

    fn file(version: &str, constraints: &str, hashes: &str) -> LockFile {
        let text = format!(
            "provider \"example.com/acme/widget\" {{\n  version = \"{version}\"\n{constraints}  hashes = [{hashes}]\n}}\n"
        );
        LockFile::parse(&text).expect("well-formed")
    }

    #[track_caller]
    fn check(before: &LockFile, after: &LockFile, want: &[&str]) {
        let got: Vec<String> = changes(before, after).iter().map(LockChange::text).collect();
        assert_eq!(got, want);
    }

    #[test]
    fn a_change_is_said_in_a_few_words() {
        let old = file("1.1.0", "", H1);
        check(&old, &old, &[]);
        check(&LockFile::default(), &old, &["example.com/acme/widget 1.1.0 added"]);
        check(&old, &file("2.0.0", "", H1), &["example.com/acme/widget 1.1.0 -> 2.0.0"]);
        check(&file("2.0.0", "", H1), &old, &["example.com/acme/widget 2.0.0 -> 1.1.0"]);
        let zh = format!("\"zh:{}\",", "0".repeat(64));
        check(&old, &file("1.1.0", "", &format!("{H1} {zh}")), &["example.com/acme/widget 1.1.0: 1 checksum added"]);
        let manifests = file("1.1.0", "", &format!("{H1} \"ch:sha256:a\", \"ch:sha256:b\""));
        check(&manifests, &old, &["example.com/acme/widget 1.1.0: 2 ch: lines removed"]);
        let constrained = file("1.1.0", "  constraints = \"1.1.0\"\n", H1);
        check(&old, &constrained, &["example.com/acme/widget 1.1.0: constraints changed"]);
        let removed = "example.com/acme/widget 1.1.0 removed: neither the configuration nor its state requires it";
        check(&old, &LockFile::default(), &[removed]);
    }
}
