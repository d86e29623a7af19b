//! The ignore file of a module: `.tofuignore`, or `.terraformignore` if that is missing.
//!
//! Lines as in `.gitignore`, with the differences of Terraform: only the file in the module's root counts, a pattern with a
//! slash in its middle may begin in any folder, and the last line that matches decides, so `!` takes back what is below a
//! folder that an earlier line names.

use std::path::Path;

use super::glob::Glob;
use super::left_out::LeftOutReason;
use super::usual_names::{UsualName, never_packed};
use crate::ArchiveError;

/// The names of the ignore file; the first that exists counts.
pub const IGNORE_FILES: [&str; 2] = [".tofuignore", ".terraformignore"];

/// Most bytes of an ignore file, 1 MiB.
const LIMIT: u64 = 1 << 20;

/// Most bytes of a pattern: no name in a package is longer.
const PATTERN: usize = 1024;

/// What a folder is looked through for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum WalkPurpose {
    #[default]
    Publication,
    /// To take over what another publisher has chosen.
    Everything,
}

/// What stays out of a package.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    purpose: WalkPurpose,
    /// The ignore file, if there is one.
    pub(super) file: Option<&'static str>,
    lines: Vec<IgnoreLine>,
}

#[derive(Debug)]
struct IgnoreLine {
    number: usize,
    glob: Glob,
    /// Whether the pattern ends in a slash.
    folders: bool,
    /// Whether the line takes back.
    back: bool,
}

impl IgnoreRules {
    /// Those of the folder.
    pub(super) fn read(dir: &Path) -> Result<Self, ArchiveError> {
        for name in IGNORE_FILES {
            let path = dir.join(name);
            let bytes = match tofu_oci_disk::read_file(&path, LIMIT) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.map_err(ArchiveError::io("read", &path))?,
            };
            let text = String::from_utf8_lossy(&bytes);
            return Ok(Self { file: Some(name), lines: parse(&text, name)?, ..Self::default() });
        }
        Ok(Self::default())
    }

    /// Those by which nothing stays out.
    pub(super) fn for_everything() -> Self {
        Self { purpose: WalkPurpose::Everything, ..Self::default() }
    }

    /// Why the file or folder stays out; `None` if it is packed. A folder is a reason for everything in it only if
    /// [`IgnoreRules::is_final`] says so.
    pub(super) fn reason(&self, name: &str, is_folder: bool) -> Option<LeftOutReason> {
        if self.purpose == WalkPurpose::Everything {
            return None;
        }
        if let Some(never) = never_packed(name, is_folder) {
            return Some(never);
        }
        match self.decisive(name, is_folder) {
            Some(line) if line.back => None,
            Some(line) => Some(LeftOutReason::Ignored { line: line.number }),
            None => {
                let above = name.match_indices('/').map(|(slash, _)| (&name[..slash], true));
                above.chain([(name, is_folder)]).find_map(|(name, is_folder)| UsualName::of(name).reason(is_folder))
            }
        }
    }

    /// Whether no line can take back anything below a folder that stays out for this reason.
    pub(super) fn is_final(&self, reason: &LeftOutReason) -> bool {
        match reason {
            LeftOutReason::Credentials | LeftOutReason::CliConfig => self.lines.iter().all(|line| !line.back),
            LeftOutReason::Ignored { line } => self.lines.iter().all(|later| later.number <= *line || !later.back),
            _ => true,
        }
    }

    /// Whether the file is looked through for secrets: unless a line of the ignore file takes it back.
    pub(super) fn looks_into(&self, name: &str) -> bool {
        self.purpose == WalkPurpose::Publication && !self.decisive(name, false).is_some_and(|line| line.back)
    }

    /// The last line that matches the file or folder, or one of the folders above it.
    fn decisive(&self, name: &str, is_folder: bool) -> Option<&IgnoreLine> {
        self.lines.iter().rev().find(|line| {
            let itself = (is_folder || !line.folders) && line.glob.is_match(name);
            itself || name.match_indices('/').any(|(slash, _)| line.glob.is_match(&name[..slash]))
        })
    }
}

fn parse(text: &str, file: &'static str) -> Result<Vec<IgnoreLine>, ArchiveError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines.map(|(before, line)| read_line(line, before + 1, file)).collect()
}

fn read_line(line: &str, number: usize, file: &'static str) -> Result<IgnoreLine, ArchiveError> {
    let invalid = || ArchiveError::IgnoreLine { file, line: number, pattern: line.chars().take(200).collect() };
    let (back, pattern) = line.strip_prefix('!').map_or((false, line), |rest| (true, rest.trim_start()));
    if pattern.is_empty() || pattern.len() > PATTERN {
        return Err(invalid());
    }
    let clean = pattern.trim_end_matches('/');
    let folders = pattern != clean && !clean.is_empty();
    let glob = match clean.strip_prefix('/') {
        // A slash alone means everything.
        _ if clean.is_empty() => "**".to_owned(),
        Some(rooted) => rooted.to_owned(),
        None => format!("**/{clean}"),
    };
    let glob = Glob::parse(&glob).ok_or_else(invalid)?;
    Ok(IgnoreLine { number, glob, folders, back })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(rules: &str, name: &str, out: bool) {
        let lines = parse(rules, ".tofuignore").unwrap();
        let rules_read = IgnoreRules { file: Some(".tofuignore"), lines, ..IgnoreRules::default() };
        let (file, is_folder) = name.strip_suffix('/').map_or((name, false), |name| (name, true));
        assert_eq!(rules_read.reason(file, is_folder).is_some(), out, "{rules:?} {name}");
    }

    #[test]
    fn a_name_counts_in_every_folder_and_with_all_that_is_below_it() {
        check("baz.txt", "baz.txt", true);
        check("baz.txt", "parent/foo/baz.txt", true);
        check("baz.txt", "with-baz.txt", false);
        check("foo", "a/foo/b/c.tf", true);
        check("*.md", "docs/a.md", true);
        check("a?.tf", "ab.tf", true);
        check("a?.tf", "a/.tf", false);
        check("something-[a-z].txt", "bar/something-a.txt", true);
        check("a{b,c}.tf", "ab.tf", false);
        check("a{b,c}.tf", "a{b,c}.tf", true);
        check("# a.tf\n\n   \n", "a.tf", false);
        check("\u{feff}a.tf\r\n", "a.tf", true);
        check(r"\!a.tf", "!a.tf", true);
    }

    #[test]
    fn a_slash_at_the_end_means_folders_alone() {
        check("terraform.d/", "some/terraform.d/x", true);
        check("terraform.d/", "terraform.d/", true);
        check("terraform.d/", "terraform.d", false);
    }

    #[test]
    fn a_slash_in_front_means_the_root_and_one_in_the_middle_does_not() {
        check("/boop.txt", "boop.txt", true);
        check("/boop.txt", "baz/boop.txt", false);
        check("/docs/*.md", "docs/a.md", true);
        check("/docs/*.md", "docs/b/a.md", false);
        check("foo/bar.tf", "parent/foo/bar.tf", true);
        check("foo/*.md", "a/foo/b.md", true);
        check("a/**/z", "a/b/c/z", true);
        check("logs/**", "logs/x/y", true);
        check("/", "main.tf", true);
    }

    #[test]
    fn the_last_line_that_matches_decides() {
        check("*.md\n!README.md", "README.md", false);
        check("*.md\n!README.md", "CHANGES.md", true);
        check("!README.md\n*.md", "README.md", true);
        check("tests/\n!tests/keep/", "tests/keep/a.tf", false);
        check("tests/\n!tests/keep/", "tests/other/a.tf", true);
        check("!boop.txt\nboop.txt\n!/boop.txt", "boop.txt", false);
    }

    #[test]
    fn variables_can_be_taken_back_and_states_cannot() {
        check("", "a/terraform.tfvars", true);
        check("!/a/terraform.tfvars", "a/terraform.tfvars", false);
        check("!**", "a/terraform.tfstate", true);
        check("!.terraform/modules/", ".terraform/modules/a/main.tf", true);
        check("!.git/", "modules/a/.git/config", true);
    }

    #[test]
    fn a_folder_that_a_later_line_may_reopen_is_looked_into() {
        let rules = |text: &str| IgnoreRules { lines: parse(text, ".tofuignore").unwrap(), ..IgnoreRules::default() };
        let is_final = |text: &str| rules(text).reason("a", true).map(|reason| rules(text).is_final(&reason));
        assert_eq!(is_final("a/"), Some(true));
        assert_eq!(is_final("!x\na/"), Some(true));
        assert_eq!(is_final("a/\n!a/b"), Some(false));
        assert_eq!(is_final("a/\n!a"), None);
    }

    #[test]
    fn a_line_that_is_no_pattern_is_an_error_with_its_number() {
        let told = |text: &str| parse(text, ".tofuignore").map(|_| ()).unwrap_err().to_string();
        insta::assert_snapshot!(told("a\n!"), @"line 2 of .tofuignore is not a pattern: `!`");
        insta::assert_snapshot!(told("# x\na[b"), @"line 2 of .tofuignore is not a pattern: `a[b`");
    }

    #[test]
    fn a_pattern_of_60000_characters_panicked() {
        for pattern in
            ["a".repeat(60_000), "a?".repeat(30_000), "*a".repeat(30_000), "[a-z]".repeat(12_000), "é*".repeat(20_000)]
        {
            let error = parse(&format!("x\n{pattern}"), ".tofuignore").map(|_| ()).unwrap_err();
            let ArchiveError::IgnoreLine { line, pattern, .. } = error else { panic!("{error}") };
            assert_eq!((line, pattern.chars().count()), (2, 200));
        }
        // The longest that is read.
        for pattern in ["?".repeat(1024), "*?".repeat(512), "[^a-é]".repeat(146), "**/".repeat(341), "é".repeat(512)]
        {
            assert_eq!(parse(&pattern, ".tofuignore").map(|lines| lines.len()).ok(), Some(1), "{pattern}");
        }
    }
}
