//! Which names the members of a package (a zip, a tar) may have: they stay in the package's folder, and
//! Windows must accept them.

use std::collections::HashMap;

use crate::ArchiveError;
use crate::embedded::{completes_bare_repository, is_repository};
use crate::spelling::fold;

/// Longest part of a name, in bytes.
const PART_BYTES: usize = 255;
/// Longest name, in bytes.
const NAME_BYTES: usize = 1024;
/// Most parts of a name.
const DEPTH: usize = 32;
/// Most bytes that the names of an archive and of all directories in them may have together: names are kept in memory.
const ALL_NAMES_BYTES: usize = 16 << 20;

/// What an entry is, as far as its name is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EntryKind {
    File,
    Directory,
}

/// Refuses a name that is not relative, clean, printable and possible on this system, and one of a repository of version
/// control. `name` has no trailing slash.
///
/// Spec: project paper "OCI reality", section 1.4 rule 1 and section 6 "Extraction".
pub(crate) fn check_name(name: &str) -> Result<(), ArchiveError> {
    if let Some(reason) = reason_against(name) {
        return Err(unsafe_name(name, reason));
    }
    if name.split('/').any(is_repository) { Err(of_repository(name)) } else { Ok(()) }
}

/// The name without its empty and `.` parts, as Go joins it to a folder; a slash that begins it stays.
pub fn clean_name(name: &str) -> String {
    let parts: Vec<&str> = name.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    let root = if name.starts_with('/') { "/" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// The name in `bytes`, which must be UTF-8.
pub(crate) fn utf8_name(bytes: &[u8]) -> Result<&str, ArchiveError> {
    str::from_utf8(bytes).map_err(|_| unsafe_name(&String::from_utf8_lossy(bytes), "it is not UTF-8"))
}

pub(crate) fn unsafe_name(name: &str, reason: &'static str) -> ArchiveError {
    // A hostile name may be long; its end adds nothing.
    ArchiveError::UnsafeName { name: name.chars().take(200).collect(), reason }
}

fn of_repository(name: &str) -> ArchiveError {
    ArchiveError::EmbeddedRepository { name: name.to_owned() }
}

fn reason_against(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        return Some("it is empty");
    }
    if name.len() > NAME_BYTES {
        return Some("it is longer than 1024 bytes");
    }
    if name.chars().any(char::is_control) {
        return Some("it has a control character");
    }
    if name.starts_with('/') {
        return Some("it is absolute");
    }
    if name.split('/').count() > DEPTH {
        return Some("it lies more than 32 directories deep");
    }
    // A backslash is a character like others; to the programs that unpack packages it separates such parts all the same.
    let leads_up = || name.split(['/', '\\']).any(|part| part == "..").then_some(LEADS_UP);
    let windows = || windows_refusal(name).filter(|_| cfg!(windows));
    name.split('/').find_map(reason_against_part).or_else(leads_up).or_else(windows)
}

/// Why Windows cannot hold a name of a package, although other systems can; `None` if it can.
///
/// Spec: Microsoft, "Naming Files, Paths, and Namespaces".
pub fn windows_refusal(name: &str) -> Option<&'static str> {
    if name.contains('\\') {
        return Some("it has a backslash, which Windows takes for a slash");
    }
    if name.contains(':') {
        return Some("it has a colon, which on Windows names a drive or a stream");
    }
    if name.contains(['<', '>', '"', '|', '?', '*']) {
        return Some("it has a character that Windows does not take: one of < > \" | ? *");
    }
    name.split('/').find_map(|part| {
        if part.ends_with(['.', ' ']) {
            return Some("a part of it ends in a dot or a space, which Windows drops");
        }
        is_device(part).then_some("a part of it is the name of a device on Windows")
    })
}

const LEADS_UP: &str = "it has a `..` part";

fn reason_against_part(part: &str) -> Option<&'static str> {
    match part {
        "" => return Some("a part of it is empty"),
        "." => return Some("it has a `.` part"),
        ".." => return Some(LEADS_UP),
        _ => {}
    }
    (part.len() > PART_BYTES).then_some("a part of it is longer than 255 bytes")
}

/// Whether Windows takes `part` for a device, whatever its extension.
fn is_device(part: &str) -> bool {
    let stem = part.split('.').next().unwrap_or(part).trim_end_matches(' ').to_ascii_uppercase();
    if matches!(stem.as_str(), "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$") {
        return true;
    }
    let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    number.is_some_and(|number| {
        matches!(number, "\u{b9}" | "\u{b2}" | "\u{b3}")
            || matches!(number.as_bytes(), [digit] if digit.is_ascii_digit())
    })
}

/// The length of all names of an archive together, each with every directory above it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NameBytes(usize);

impl NameBytes {
    /// Counts a name.
    pub(crate) fn add(&mut self, name: &str) -> Result<(), ArchiveError> {
        self.0 += name.match_indices('/').map(|(slash, _)| slash).sum::<usize>() + name.len();
        if self.0 > ALL_NAMES_BYTES {
            return Err(ArchiveError::Malformed { reason: "its names are longer than 16 MiB together" });
        }
        Ok(())
    }
}

/// The names so far; refuses a name that is among them in any spelling, and one that makes its folder a repository of git.
#[derive(Debug, Default)]
pub(crate) struct NameSet {
    /// Folded name -> the spelling that came first, and what it is.
    names: HashMap<String, (String, EntryKind)>,
    bytes: NameBytes,
}

impl NameSet {
    /// Adds a checked name (no trailing slash) and the directories above it.
    pub(crate) fn insert(&mut self, name: &str, kind: EntryKind) -> Result<(), ArchiveError> {
        if name.is_empty() {
            // The root.
            return Ok(());
        }
        self.bytes.add(name)?;
        for (slash, _) in name.match_indices('/') {
            self.insert_one(&name[..slash], EntryKind::Directory)?;
        }
        self.insert_one(name, kind)
    }

    fn insert_one(&mut self, name: &str, kind: EntryKind) -> Result<(), ArchiveError> {
        let folded = fold(name);
        let Some((first, first_kind)) = self.names.get(&folded) else {
            if completes_bare_repository(&folded, |other| self.names.contains_key(other)) {
                return Err(of_repository(name));
            }
            self.names.insert(folded, (name.to_owned(), kind));
            return Ok(());
        };
        if first != name {
            return Err(ArchiveError::NameCollision { first: first.clone(), second: name.to_owned() });
        }
        if (*first_kind, kind) == (EntryKind::Directory, EntryKind::Directory) {
            return Ok(());
        }
        Err(ArchiveError::DuplicateName { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, want: Option<&str>) {
        let found = check_name(name).err().map(|error| error.to_string());
        let want = want.map(|reason| {
            let shown: String = name.chars().take(200).collect();
            format!("the archive has an entry with an unsafe name, `{}`: {reason}", shown.escape_debug())
        });
        assert_eq!(found, want, "{name:?}");
    }

    #[test]
    fn ordinary_names_pass() {
        for name in
            ["terraform-provider-zap_v1.0.0_x5", "docs/a b.md", ".hidden", "..a/b..c", "é/日本", "COM/comma", "a/nul-l"]
        {
            check(name, None);
        }
        check(&format!("{}/b", "a".repeat(255)), None);
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        check("", Some("it is empty"));
        check("/etc/passwd", Some("it is absolute"));
        check("../a", Some("it has a `..` part"));
        check("a/../../b", Some("it has a `..` part"));
        check("a/..", Some("it has a `..` part"));
        check("./a", Some("it has a `.` part"));
        check("a/./b", Some("it has a `.` part"));
        check("a//b", Some("a part of it is empty"));
        check("a\\..\\b", Some("it has a `..` part"));
        check("..\\a", Some("it has a `..` part"));
        check("a\0b", Some("it has a control character"));
        check("a\nb", Some("it has a control character"));
    }

    #[test]
    fn names_that_windows_alone_refuses_were_refused_everywhere() {
        let check_windows = |name: &str, want: &str| {
            assert_eq!(windows_refusal(name), Some(want), "{name}");
            check(name, cfg!(windows).then_some(want));
        };
        check_windows("C:/a", "it has a colon, which on Windows names a drive or a stream");
        check_windows("a:stream", "it has a colon, which on Windows names a drive or a stream");
        check_windows("a.", "a part of it ends in a dot or a space, which Windows drops");
        check_windows("a /b", "a part of it ends in a dot or a space, which Windows drops");
        for name in ["what?.md", "a*b", "a|b", "<a>", "say \"a\""] {
            check_windows(name, "it has a character that Windows does not take: one of < > \" | ? *");
        }
        check_windows("docs\\a.md", "it has a backslash, which Windows takes for a slash");
        for name in ["con", "docs/AUX.md", "nul.tar.gz", "COM1", "lpt9.txt", "COM¹", "prn .txt", "conin$"] {
            check_windows(name, "a part of it is the name of a device on Windows");
        }
        for name in ["docs/a b.md", ".hidden", "..a/b..c", "COM/comma"] {
            assert_eq!(windows_refusal(name), None, "{name}");
        }
    }

    #[test]
    fn names_that_some_system_cannot_hold_are_refused() {
        check(&"a".repeat(256), Some("a part of it is longer than 255 bytes"));
        check(&"a/".repeat(40).repeat(20), Some("it is longer than 1024 bytes"));
        check(&format!("{}b", "a/".repeat(32)), Some("it lies more than 32 directories deep"));
        assert!(utf8_name(b"a\xff").is_err());
    }

    #[test]
    fn the_data_of_version_control_was_unpacked_and_ran_commands() {
        let error = check_name("modules/a/.Git/config").expect_err("it is refused");
        assert_eq!(error.code(), "embedded-repository");
        insta::assert_snapshot!(error, @"the package has `modules/a/.Git/config`, a part of a repository of version control, whose settings can run commands");
        for name in
            [".git", ".hg/hgrc", ".svn/wc.db", "GIT~1/config", "a/gi7eba~1", ".jj/repo", ".g\u{200d}it", "_darcs"]
        {
            assert!(matches!(check_name(name), Err(ArchiveError::EmbeddedRepository { .. })), "{name}");
        }
        // Windows drops what follows.
        for name in [".git /config", ".git./config", ".git::$INDEX_ALLOCATION/config"] {
            assert!(check_name(name).is_err(), "{name}");
        }
        for name in [".gitignore", ".gitattributes", ".github/workflows/a.yml", "a/.gitkeep", "git/main.tf", "CVS/a.tf"]
        {
            check(name, None);
        }
    }

    #[test]
    fn a_folder_that_git_takes_for_a_bare_repository_was_unpacked() {
        use EntryKind::{Directory, File};
        let refused = Some(
            "the package has `x/refs`, a part of a repository of version control, whose settings can run commands",
        );
        check_set(&[("x/HEAD", File), ("x/config", File), ("x/objects", Directory), ("x/refs/heads/a", File)], refused);
        check_set(&[("x/objects/a", File), ("x/head", File), ("x/refs", File)], refused);
        check_set(&[("x/objects/a", File), ("x/refs/b", File), ("y/HEAD", File)], None);
        check_set(&[("HEAD.tf", File), ("objects/main.tf", File), ("refs/main.tf", File)], None);
    }

    #[track_caller]
    fn check_set(names: &[(&str, EntryKind)], want: Option<&str>) {
        let mut set = NameSet::default();
        let found = names.iter().find_map(|(name, kind)| set.insert(name, *kind).err()).map(|error| error.to_string());
        assert_eq!(found.as_deref(), want, "{names:?}");
    }

    #[test]
    fn one_name_twice_is_refused_in_every_spelling() {
        use EntryKind::{Directory, File};
        check_set(&[("a/b", File), ("a/c", File), ("a", Directory), ("a", Directory)], None);
        check_set(&[("a", File), ("a", File)], Some("the archive has two entries named `a`"));
        check_set(&[("a", File), ("a/b", File)], Some("the archive has two entries named `a`"));
        check_set(&[("a/b", File), ("a", File)], Some("the archive has two entries named `a`"));
        for (first, second) in [
            ("README", "readme"),
            ("\u{e9}", "e\u{301}"),
            ("É", "e\u{301}"),
            ("straße", "STRASSE"),
            ("a\u{200c}b", "ab"),
        ] {
            let want =
                format!("the archive has the entries `{first}` and `{second}`, which are one name on some systems");
            check_set(&[(first, File), (second, File)], Some(&want));
        }
        check_set(
            &[("Docs/a", File), ("docs/b", File)],
            Some("the archive has the entries `Docs` and `docs`, which are one name on some systems"),
        );
    }

    #[test]
    fn names_that_are_too_long_together_are_refused() {
        let mut set = NameSet::default();
        let directories = "a/".repeat(31);
        let error = (0..50_000)
            .find_map(|number| set.insert(&format!("{number:0>900}/{directories}x"), EntryKind::File).err())
            .expect("they are too long");
        assert_eq!(error.to_string(), "the archive is damaged: its names are longer than 16 MiB together");
        assert!(set.names.len() < 50_000, "{}", set.names.len());
    }
}
