//! Version-control repositories, which no package may hold: their settings name commands (`core.fsmonitor`, hooks,
//! aliases). A prompt or an editor that asks git about the folder would run these.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::io;
use std::path::Path;

use crate::spelling::fold;

/// What programs of version control keep their data and settings in, folded: a folder, or a file that leads to one.
///
/// `CVS` and `RCS` are not here: they are words, and their files name no command that a look at a folder runs.
const REPOSITORIES: [&str; 12] = [
    ".git",      // git
    ".hg",       // Mercurial, Sapling
    ".sl",       // Sapling
    ".svn",      // Subversion
    ".jj",       // Jujutsu
    ".bzr",      // Bazaar, Breezy
    ".pijul",    // Pijul
    "_darcs",    // Darcs
    "_mtn",      // Monotone
    ".fslckout", // Fossil
    ".fos",      // Fossil, formerly
    "_fossil_",  // Fossil on Windows
];

/// Whether a part of a name is what such a program takes for its data on some system.
///
/// Spec: git's `is_ntfs_dotgit` and `is_hfs_dotgit`: trailing dots and spaces, streams of NTFS, short names of FAT, and the
/// characters that HFS+ passes over.
pub(crate) fn is_repository(part: &str) -> bool {
    let folded = fold(part.split(':').next().unwrap_or(part));
    let name = folded.trim_end_matches(['.', ' ']);
    REPOSITORIES.iter().any(|known| name == *known || is_short_name_of(name, known))
}

/// Whether `name` is a short name that FAT and NTFS give to `known`: its first letters, perhaps replaced in part by four
/// hexadecimal digits, and a number. Both are folded.
fn is_short_name_of(name: &str, known: &str) -> bool {
    let Some((stem, number)) = name.split_once('~') else { return false };
    let letters = known.trim_start_matches('.');
    // A name that fits as it is has no other.
    if letters.len() == known.len() || number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let is_hash = |rest: &str| rest.len() == 4 && rest.bytes().all(|byte| byte.is_ascii_hexdigit());
    stem == &letters[..letters.len().min(6)] || stem.strip_prefix(&letters[..2]).is_some_and(is_hash)
}

/// The names that make a folder a repository for git, without `.git` around them: `HEAD`, and `objects` and `refs`, or the
/// file `commondir` that says where those are.
///
/// Spec: git's `is_git_directory`; git-config(1), `safe.bareRepository`.
const BARE: [&str; 4] = ["head", "objects", "refs", "commondir"];

/// Whether the folder that `name` lies in is a repository for git, once `name` is in it beside what `has` finds. Names are
/// folded.
pub(crate) fn completes_bare_repository(name: &str, has: impl Fn(&str) -> bool) -> bool {
    let (folder, last) = name.rsplit_once('/').map_or(("", name), |(_, last)| (&name[..name.len() - last.len()], last));
    if !BARE.contains(&last) {
        return false;
    }
    is_bare(|part| part == last || has(&format!("{folder}{part}")))
}

fn is_bare(has: impl Fn(&str) -> bool) -> bool {
    has("head") && (has("commondir") || has("objects") && has("refs"))
}

/// What a folder says that is missing, or cannot be listed.
const UNLISTED: [io::ErrorKind; 3] =
    [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory, io::ErrorKind::PermissionDenied];

/// Whether a folder of this path makes one above it a repository for git, beside what lies there.
///
/// # Errors
/// A folder above it cannot be read.
pub fn makes_bare_repository(path: &Path) -> io::Result<bool> {
    let spelt = |name: &std::ffi::OsStr| fold(&name.to_string_lossy());
    for path in path.ancestors() {
        let (Some(name), Some(parent)) = (path.file_name().map(spelt), path.parent()) else { continue };
        if !BARE.contains(&name.as_str()) {
            continue;
        }
        let entries = match fs::read_dir(parent) {
            // What cannot be listed is no folder of the user's.
            Err(error) if UNLISTED.contains(&error.kind()) => continue,
            other => other?,
        };
        let beside = entries.map(|entry| Ok(spelt(&entry?.file_name()))).collect::<io::Result<HashSet<_>>>()?;
        if completes_bare_repository(&name, |other| beside.contains(other)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first of the names of an archive's entries that is of a repository inside of the package, in whatever spelling some
/// reader unpacks it.
pub fn embedded_repository<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // A name of 64 KiB has 30 000 folders. A hash stands for a folder, and only for one that may be a repository.
    let (hashed, mut seen) = (RandomState::new(), HashMap::<u64, Vec<&str>>::new());
    names.into_iter().find(|name| {
        let parts = name.split(['/', '\\']).filter(|part| !matches!(*part, "" | "."));
        let mut folder = hashed.build_hasher();
        for part in parts {
            if is_repository(part) {
                return true;
            }
            let spelt = fold(part);
            let last = spelt.trim_end_matches(['.', ' ']);
            if let Some(known) = BARE.into_iter().find(|known| *known == last) {
                let found = seen.entry(folder.finish()).or_default();
                if !found.contains(&known) {
                    found.push(known);
                }
                if is_bare(|part| found.contains(&part)) {
                    return true;
                }
            }
            last.hash(&mut folder);
        }
        false
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_of_version_control_takes_for_its_own() {
        for part in [
            ".git",
            ".GIT",
            ".Git",
            ".git ",
            ".git.",
            ".git . .",
            ".git::$INDEX_ALLOCATION",
            ".git:x",
            "git~1",
            "GIT~12",
            "gi7eba~1",
            "GI7EBA~9",
            ".g\u{200c}it",
            "\u{feff}.git",
            ".gi\u{202e}t",
            ".\u{ff47}it",
            ".hg",
            ".HG",
            "hg~1",
            ".svn",
            ".\u{17f}vn",
            "SVN~1",
            ".jj",
            ".sl",
            ".bzr",
            "_darcs",
            "_DARCS",
            "_MTN",
            ".pijul",
            ".fslckout",
            ".FOS",
            "FSLCKO~1",
            "_FOSSIL_",
        ] {
            assert!(is_repository(part), "{part:?}");
        }
        for part in [
            "git",
            ".gitignore",
            ".gitattributes",
            ".gitmodules",
            ".gitkeep",
            ".github",
            ".gitlab-ci.yml",
            "x.git",
            ".git-x",
            ".hgignore",
            ".svnignore",
            "hg",
            "CVS",
            "git~",
            "~1",
            "git~a",
            "main.tf~1",
            "gi12345~1",
            "darcs~1",
            "a~b~1",
            "",
        ] {
            assert!(!is_repository(part), "{part:?}");
        }
    }

    #[track_caller]
    fn check(names: &[&str], want: Option<&str>) {
        assert_eq!(embedded_repository(names.iter().copied()), want, "{names:?}");
    }

    #[test]
    fn a_repository_is_found_in_every_spelling_of_a_path() {
        check(&["main.tf", ".github/x.yml", "docs/.gitkeep"], None);
        check(&["main.tf", "a/b/.GIT/config", "c/.hg/hgrc"], Some("a/b/.GIT/config"));
        check(&["./.git/config"], Some("./.git/config"));
        check(&["/.git/config"], Some("/.git/config"));
        check(&["a\\.git\\config"], Some("a\\.git\\config"));
        check(&["modules/x/.git"], Some("modules/x/.git"));
        check(&[".git/"], Some(".git/"));
    }

    #[test]
    fn a_folder_with_the_files_of_a_bare_repository_is_one() {
        check(&["x/HEAD", "x/config", "x/objects/a", "x/refs/b"], Some("x/refs/b"));
        check(&["refs/", "objects/", "head"], Some("head"));
        check(&["x/objects/a", "x/commondir", "x/HEAD"], Some("x/HEAD"));
        check(&["x/objects", "x/refs", "./x//Head"], Some("./x//Head"));
        check(&["HEAD", "objects/x", "docs/refs/y"], None);
        check(&["x/objects/a", "x/refs/b", "x/config"], None);
        check(&["head.tf", "objects.tf", "refs.tf"], None);
    }

    #[test]
    fn a_name_of_many_folders_took_gigabytes() {
        let deep = "a/".repeat(32_000);
        let names: Vec<String> = (0..100).map(|number| format!("{deep}{number}")).collect();
        check(&names.iter().map(String::as_str).collect::<Vec<_>>(), None);
        let [head, refs, objects] = ["HEAD", "refs/x", "objects/y"].map(|last| format!("{deep}{last}"));
        check(&[&head, &refs, &objects], Some(&objects));
    }
}
