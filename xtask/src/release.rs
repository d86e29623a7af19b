//! `cargo xtask release VERSION`: the version in every place that says it, the section of the changelog, commit and tag.
//!
//! What it is not: a publication. Nothing is sent anywhere; `cargo xtask dist` builds what is published.

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use similar::TextDiff;
use tofu_oci_types::{Moment, Version};

use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::ProgramRun;

/// Arguments of the chore.
#[derive(Debug, clap::Args)]
pub(crate) struct ReleaseArgs {
    /// The version to release, such as 0.2.0
    version: Version,
    /// Write, commit and tag, instead of printing what would change
    #[arg(long)]
    apply: bool,
}

/// What stands before the version where other files than those of Cargo and the changelog name it.
const BEFORE: [&str; 7] = ["@v", "rev: v", "version: ", "tofu-oci:", "tofu-oci_", "image:", "appVersion: \""];

/// The files and folders in which that is looked for.
const NAMED_IN: [&str; 6] = ["README.md", "docs/start", "docs/how-to", "actions", "templates", "integrations"];

const UNRELEASED: &str = "## Unreleased";

/// Prints the changes, or makes them.
pub(crate) fn run(arguments: &ReleaseArgs) -> ChoreResult {
    let root = paths::root();
    let now: Version = env!("CARGO_PKG_VERSION").parse()?;
    let version = &arguments.version;
    let tag = format!("v{version}");
    if version.precedence(&now).is_lt() {
        return Err(ChoreFailure::new(format!("{version} is older than {now}, which Cargo.toml says")));
    }
    if !git(&root, &["tag", "--list", &tag])?.is_empty() {
        return Err(ChoreFailure::new(format!("the tag {tag} exists: a version is released once")));
    }
    if arguments.apply && !git(&root, &["status", "--porcelain"])?.is_empty() {
        return Err(ChoreFailure::new("there are changes that are not committed: commit or remove them first"));
    }
    let today = Moment::from(SystemTime::now()).to_string();
    let (now, next) = (now.to_string(), version.to_string());
    let listed = git(&root, &[["ls-files", "--"].as_slice(), &NAMED_IN].concat())?;
    let files = ["CHANGELOG.md", "Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock"].into_iter().chain(listed.lines());
    // Pictures name no version.
    let texts = files.filter_map(|file| Some((file, fs::read_to_string(root.join(file)).ok()?)));
    // All before the first is written: what cannot be released stays as it was.
    let changes = changes(texts, &today, (&now, &next))?;
    for (file, before, after) in &changes {
        let (old, new) = (format!("a/{file}"), format!("b/{file}"));
        print!("{}", TextDiff::from_lines(before, after).unified_diff().context_radius(1).header(&old, &new));
    }
    if !arguments.apply {
        println!("nothing was written; with --apply this becomes a commit with the tag {tag}");
        return Ok(());
    }
    for (file, _, after) in changes {
        paths::write(&root.join(file), after)?;
    }
    git(&root, &["commit", "--all", "--quiet", "--allow-empty", "--message", &format!("tofu-oci {version}")])?;
    git(&root, &["tag", "--annotate", &tag, "--message", &format!("tofu-oci {version}")])?;
    println!("committed and tagged {tag}; next: cargo xtask dist --check-twice");
    Ok(())
}

fn git(root: &Path, arguments: &[&str]) -> ChoreResult<String> {
    let run = ProgramRun::inheriting("git").arg("-C").arg(root).args(arguments);
    Ok(run.success()?.stdout.trim().to_owned())
}

/// The files whose text changes: name, text before and after.
fn changes<'a>(
    texts: impl Iterator<Item = (&'a str, String)>,
    today: &str,
    (now, next): (&str, &str),
) -> ChoreResult<Vec<(&'a str, String, String)>> {
    let mut changes = Vec::new();
    for (file, before) in texts {
        let after = match file {
            "CHANGELOG.md" => changelog(&before, today, next).doing(|| file.to_owned())?,
            "Cargo.toml" => cargo_toml(&before, now, next).doing(|| file.to_owned())?,
            "Cargo.lock" | "fuzz/Cargo.lock" => cargo_lock(&before, now, next),
            _ => named(&before, now, next),
        };
        if after != before {
            changes.push((file, before, after));
        }
    }
    Ok(changes)
}

/// The section of what is unreleased becomes that of the version; an empty one stands above it.
fn changelog(text: &str, today: &str, next: &str) -> ChoreResult<String> {
    let (before, after) = text
        .split_once(&format!("{UNRELEASED}\n"))
        .ok_or_else(|| ChoreFailure::new(format!("there is no line `{UNRELEASED}`")))?;
    let section = after.split("\n## ").next().unwrap_or_default();
    if section.trim().is_empty() {
        return Err(ChoreFailure::new(format!("nothing stands below `{UNRELEASED}`")));
    }
    let day = today.split('T').next().unwrap_or_default();
    Ok(format!("{before}{UNRELEASED}\n\n## {next} - {day}\n{after}"))
}

/// The first `version = "…"` is that of the workspace.
fn cargo_toml(text: &str, now: &str, next: &str) -> ChoreResult<String> {
    let (was, is) = (format!("\nversion = \"{now}\"\n"), format!("\nversion = \"{next}\"\n"));
    if text.contains(&was) { Ok(text.replacen(&was, &is, 1)) } else { Err(ChoreFailure::new("it has no version")) }
}

/// Every crate of the workspace, which has no `source`.
fn cargo_lock(text: &str, now: &str, next: &str) -> String {
    let package = |package: &str| {
        let is_ours = package.contains(&format!("\nversion = \"{now}\"\n")) && !package.contains("\nsource = ");
        if is_ours { package.replacen(&format!("\"{now}\""), &format!("\"{next}\""), 1) } else { package.to_owned() }
    };
    text.split("[[package]]").map(package).collect::<Vec<_>>().join("[[package]]")
}

/// The version after one of the words that stand before it, unless it is the beginning of another one.
fn named(text: &str, now: &str, next: &str) -> String {
    let goes_on = |rest: &str| rest.starts_with(|one: char| one.is_alphanumeric() || "-+.".contains(one));
    let mut pieces = text.split(now);
    let mut renamed = pieces.next().unwrap_or_default().to_owned();
    for rest in pieces {
        let is_named = BEFORE.iter().any(|word| renamed.ends_with(word)) && !goes_on(rest);
        renamed.push_str(if is_named { next } else { now });
        renamed.push_str(rest);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changelog_gets_a_section_and_an_empty_one_is_refused() {
        let text = "# Changelog\n\n## Unreleased\n\n- new\n\n## 0.1.0 - 2026-01-01\n\n- old\n";
        let want = "# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-11-29\n\n- new\n\n## 0.1.0 - 2026-01-01\n\n- old\n";
        assert_eq!(changelog(text, "2026-11-29T08:00:00Z", "0.2.0").unwrap(), want);
        assert!(changelog(want, "2026-11-29T08:00:00Z", "0.3.0").is_err());
    }

    #[test]
    fn crates_of_others_keep_their_version() {
        let text = "[[package]]\nname = \"a\"\nversion = \"0.1.0\"\nsource = \"registry\"\n\n[[package]]\nname = \"b\"\nversion = \"0.1.0\"\ndependencies = [\n \"a\",\n]\n";
        assert_eq!(
            cargo_lock(text, "0.1.0", "0.2.0"),
            text.replacen("\"b\"\nversion = \"0.1.0\"", "\"b\"\nversion = \"0.2.0\"", 1)
        );
    }

    #[test]
    fn other_numbers_that_look_like_the_version_stay() {
        let text = "uses: o/tofu-oci/actions/push@v0.1.0\nnames 0.1.0\n";
        assert_eq!(named(text, "0.1.0", "0.2.0"), "uses: o/tofu-oci/actions/push@v0.2.0\nnames 0.1.0\n");
    }

    #[test]
    fn a_version_that_begins_as_the_old_one_was_renamed() {
        let check = |text: &str, want: &str| assert_eq!(named(text, "0.1.1", "0.2.0"), want);
        for other in ["version: 0.1.10", "version: 0.1.1-rc.1", "version: 0.1.1+a", "version: 0.1.1.2", "rev: v0.1.1a"]
        {
            check(other, other);
        }
        check("{version: 0.1.1, key: a}", "{version: 0.2.0, key: a}");
        check("appVersion: \"0.1.1\"", "appVersion: \"0.2.0\"");
        check("tofu-oci:0.1.1 tofu-oci_0.1.1_linux rev: v0.1.1", "tofu-oci:0.2.0 tofu-oci_0.2.0_linux rev: v0.2.0");
    }

    #[test]
    fn the_changelog_was_written_although_cargo_toml_has_no_version() {
        let changelog = "# Changelog\n\n## Unreleased\n\n- new\n";
        let check = |cargo: &str| {
            let texts = [("CHANGELOG.md", changelog), ("Cargo.toml", cargo), ("README.md", "no version")];
            let texts = texts.into_iter().map(|(file, text)| (file, text.to_owned()));
            let changes = changes(texts, "2026-11-29T08:00:00Z", ("0.1.0", "0.2.0"));
            changes.map(|changes| changes.into_iter().map(|(file, ..)| file).collect::<Vec<_>>())
        };
        assert!(check("[workspace.package]\n").is_err());
        assert_eq!(check("[package]\nversion = \"0.1.0\"\n").unwrap(), ["CHANGELOG.md", "Cargo.toml"]);
    }
}
