//! Rules about dependency lock files.
//!
//! ```text
//! text          --check-->     from the text alone: does it parse, would init write it so, do its lines protect
//! entry         --coverage-->  with the release: which platforms no line covers
//! + ReleaseHashes
//! ```

mod coverage;
mod lines;
#[cfg(test)]
mod tests;

use std::path::Path;

use similar::TextDiff;
use tofu_oci_lockfile::{LockEntry, LockFile, LockFileError};
use tofu_oci_types::{PackageHash, ProviderAddr, Scheme};

use crate::model::Finding;
use crate::rules::catalogue::lock_file::{
    LOCK_CH_ONLY, LOCK_EMPTY, LOCK_H1_ONLY, LOCK_MALFORMED_HASH, LOCK_MODULES, LOCK_NO_HASHES, LOCK_NOT_CANONICAL,
    LOCK_ONE_PLATFORM, LOCK_SYMLINK, LOCK_SYNTAX, LOCK_UNKNOWN_SCHEME, LOCK_ZH_ONLY,
};
pub use coverage::{Coverage, coverage, not_asked, version_deprecated, version_gone};
use lines::LockLines;

/// A lock file on disk.
#[derive(Clone, Copy, Debug)]
pub struct LockText<'a> {
    /// Its path, as the user named it.
    pub path: &'a Path,
    pub text: &'a str,
    /// The target, if it is a symbolic link.
    pub link: Option<&'a Path>,
}

/// The locks, if the text is valid, and the findings about it.
pub fn lock_file(file: LockText<'_>) -> (Option<LockFile>, Vec<Finding>) {
    let mut found = Vec::new();
    let path = file.path.display().to_string();
    if let Some(target) = file.link {
        found.push(LOCK_SYMLINK.at(&path, format!("it leads to {}", target.display())));
    }
    let lock = match LockFile::parse(file.text) {
        Ok(lock) => lock,
        Err(error) => {
            found.push(syntax(&path, &error));
            return (None, found);
        }
    };
    found.extend(canonical(&path, file.text, &lock));
    if lock.ignored_modules() > 0 {
        found.push(LOCK_MODULES.at(&path, format!("{} blocks for modules", lock.ignored_modules())));
    }
    if lock.is_empty() {
        found.push(LOCK_EMPTY.at(&path, "it locks no provider"));
    }
    let lines = LockLines::of(file.text);
    for (address, entry) in lock.iter() {
        found
            .extend(block(&path, &lines, address, entry).into_iter().map(|finding| finding.of_version(&entry.version)));
    }
    (Some(lock), found)
}

/// The providers that are locked for one platform, as far as the lines show it.
pub fn one_platform(file: LockText<'_>, lock: &LockFile) -> Vec<Finding> {
    let lines = LockLines::of(file.text);
    let covers_one = |entry: &LockEntry| {
        let count = |scheme: Scheme| entry.hashes.iter().filter(|hash| hash.scheme() == scheme).count();
        match (count(Scheme::Zh), count(Scheme::H1)) {
            (0, 1) => Some("h1:"),
            (1, 0 | 1) => Some("zh:"),
            _ => None,
        }
    };
    let found = lock.iter().filter_map(|(address, entry)| {
        let scheme = covers_one(entry)?;
        let place = format!("{}:{}", file.path.display(), lines.of_provider(address));
        let said = format!("{address} {} covers one platform: it has one {scheme} line", entry.version);
        Some(LOCK_ONE_PLATFORM.at(place, said).of_version(&entry.version))
    });
    found.collect()
}

fn syntax(path: &str, error: &LockFileError) -> Finding {
    match error {
        LockFileError::Invalid { at, problem, .. } => LOCK_SYNTAX.at(format!("{path}:{at}"), problem.to_string()),
        other => LOCK_SYNTAX.at(path, other.to_string()),
    }
}

/// Whether the next `init` would write another text for the same locks.
fn canonical(path: &str, text: &str, lock: &LockFile) -> Option<Finding> {
    let canonical = lock.to_text();
    if canonical == text {
        return None;
    }
    if text.replace("\r\n", "\n") == canonical {
        let said = "its lines end in CR LF, and init writes LF; nothing else differs";
        return Some(LOCK_NOT_CANONICAL.at(path, said));
    }
    let diff = TextDiff::from_lines(text, &canonical);
    let line =
        diff.ops().iter().find(|op| op.tag() != similar::DiffTag::Equal).map_or(1, |op| op.old_range().start + 1);
    let diff = diff.unified_diff().context_radius(2).header(path, "as init writes it").to_string();
    let said = "its text differs from what init writes";
    Some(LOCK_NOT_CANONICAL.at(format!("{path}:{line}"), said).with_diff(diff))
}

/// What the lines of one provider protect.
fn block(path: &str, lines: &LockLines<'_>, address: &ProviderAddr, entry: &LockEntry) -> Vec<Finding> {
    let at = |line: usize| format!("{path}:{line}");
    let label = lines.of_provider(address);
    let mut found = Vec::new();
    for hash in &entry.hashes {
        let place = at(lines.of_hash(address, hash));
        if hash.scheme() == Scheme::Other {
            found.push(LOCK_UNKNOWN_SCHEME.at(place, format!("{address}: the scheme of `{hash}` is not known")));
        } else if !hash.is_well_formed() {
            found.push(LOCK_MALFORMED_HASH.at(place, format!("{address}: `{hash}` is {}", malformed(hash))));
        }
    }
    let has = |scheme: Scheme| entry.hashes.iter().any(|hash| hash.scheme() == scheme);
    let place = at(label);
    let (h1, zh, ch) = (has(Scheme::H1), has(Scheme::Zh), has(Scheme::Ch));
    match (h1, zh, ch) {
        (true, true, _) => {}
        (false, false, true) => {
            found.push(LOCK_CH_ONLY.at(place, format!("{address} {} has ch: lines alone", entry.version)));
        }
        (false, false, false) => {
            let said = if entry.hashes.is_empty() { "no checksums" } else { "no checksum of a known scheme" };
            found.push(LOCK_NO_HASHES.at(place, format!("{address} {} has {said}", entry.version)));
        }
        (true, false, _) => found.push(LOCK_H1_ONLY.at(place, format!("{address} {} has no zh: line", entry.version))),
        (false, true, _) => found.push(LOCK_ZH_ONLY.at(place, format!("{address} {} has no h1: line", entry.version))),
    }
    found
}

fn malformed(hash: &PackageHash) -> &'static str {
    match hash.scheme() {
        Scheme::H1 => "not `h1:` and 44 characters of base64",
        Scheme::Zh => "not `zh:` and 64 lower-case hexadecimal digits",
        Scheme::Ch | Scheme::Other => "not `ch:` and a digest such as sha256:HEX",
    }
}
