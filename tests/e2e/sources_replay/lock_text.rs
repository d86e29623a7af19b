//! Whole lock files, written down independently of the program: what `OpenTofu` writes.

use std::collections::{BTreeMap, BTreeSet};

const HEADER: &str =
    "# This file is maintained automatically by \"tofu init\".\n# Manual edits may be lost in future updates.\n";

/// What a lock file says of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) version: String,
    pub(super) constraints: Option<String>,
    pub(super) hashes: BTreeSet<String>,
}

/// The entries by address.
pub(super) type Entries = BTreeMap<String, Entry>;

/// The entries of a file; `None` if it is not one that `OpenTofu` reads.
pub(super) fn entries(text: &str) -> Option<Entries> {
    let mut all = Entries::new();
    let mut current: Option<(String, Entry)> = None;
    let mut in_hashes = false;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(label) = line.strip_prefix("provider ") {
            current = Some((texts(label).pop()?, Entry::default()));
        } else if in_hashes && line == "]" {
            in_hashes = false;
        } else if in_hashes {
            current.as_mut()?.1.hashes.extend(texts(line));
        } else if line == "}" {
            let (address, entry) = current.take()?;
            all.insert(address, entry).is_none().then_some(())?;
        } else {
            let (name, value) = line.split_once('=')?;
            let entry = &mut current.as_mut()?.1;
            match name.trim() {
                "version" => entry.version = texts(value).pop()?,
                "constraints" => entry.constraints = texts(value).pop(),
                "hashes" => {
                    entry.hashes.extend(texts(value));
                    in_hashes = !value.contains(']');
                }
                _ => return None,
            }
        }
    }
    current.is_none().then_some(all)
}

/// The quoted texts of a line.
fn texts(line: &str) -> Vec<String> {
    line.split('"').skip(1).step_by(2).map(ToOwned::to_owned).collect()
}

/// The whole file with these entries.
pub(super) fn file(entries: &Entries) -> String {
    let mut text = HEADER.to_owned();
    for (address, Entry { version, constraints, hashes }) in entries {
        text.push_str(&format!("\nprovider \"{address}\" {{\n"));
        match constraints {
            Some(constraints) => {
                text.push_str(&format!("  version     = \"{version}\"\n  constraints = \"{constraints}\"\n"));
            }
            None => text.push_str(&format!("  version = \"{version}\"\n")),
        }
        if !hashes.is_empty() {
            let lines: String = hashes.iter().map(|hash| format!("    \"{hash}\",\n")).collect();
            text.push_str(&format!("  hashes = [\n{lines}  ]\n"));
        }
        text.push_str("}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_read() {
        let hashes = ["h1:b", "ch:a"].map(str::to_owned).into();
        let entry = Entry { version: "1.0.0".to_owned(), constraints: Some("~> 1.0".to_owned()), hashes };
        let plain = Entry { version: "2.0.0".to_owned(), ..Entry::default() };
        let all = Entries::from([("a.test/b/c".to_owned(), entry), ("a.test/b/d".to_owned(), plain)]);
        let text = file(&all);
        assert!(text.ends_with(
            "provider \"a.test/b/c\" {\n  version     = \"1.0.0\"\n  constraints = \"~> 1.0\"\n  hashes = [\n    \
             \"ch:a\",\n    \"h1:b\",\n  ]\n}\n\nprovider \"a.test/b/d\" {\n  version = \"2.0.0\"\n}\n"
        ));
        assert_eq!(entries(&text), Some(all));
        assert_eq!(entries("provider \"a.test/b/c\" {\n  extra = 1\n}\n"), None);
    }
}
