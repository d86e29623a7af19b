//! What the program `git` answers.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use tofu_oci_types::{GitReference, Version, printable};

/// The files of a commit.
#[derive(Debug, Default)]
pub(super) struct GitTree {
    /// How many entries it has.
    pub(super) entries: usize,
    /// Bytes of its files.
    pub(super) bytes: u64,
    /// Folders that are other repositories, and the commit of each.
    pub(super) commits: BTreeMap<String, GitReference>,
}

/// A tag that is a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionTag {
    pub version: Version,
    pub tag: GitReference,
    /// Another tag for the same version, if it names another commit.
    pub other: Option<GitReference>,
}

/// A submodule that is to be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Submodule {
    pub(super) path: String,
    /// Where it is, as `.gitmodules` says.
    pub(super) address: String,
    pub(super) commit: GitReference,
}

impl GitTree {
    /// Reads `git ls-tree -r -z -l`: `MODE SP TYPE SP OBJECT SP+ SIZE TAB PATH NUL`.
    pub(super) fn parse(list: &[u8]) -> Result<Self, String> {
        let mut tree = Self::default();
        for entry in list.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
            let text = String::from_utf8_lossy(entry);
            let unknown = || format!("`{}` is not an entry of a tree", printable(&text));
            let (head, path) = text.split_once('\t').ok_or_else(unknown)?;
            let fields: Vec<&str> = head.split_ascii_whitespace().collect();
            let [mode, _, object, size] = fields[..] else { return Err(unknown()) };
            tree.entries += 1;
            if mode == "160000" {
                tree.commits.insert(path.to_owned(), object.parse().map_err(|_| unknown())?);
            } else {
                tree.bytes = tree.bytes.saturating_add(size.parse().map_err(|_| unknown())?);
            }
        }
        Ok(tree)
    }
}

/// The commit in the answer of `git rev-parse`.
pub(super) fn commit(answer: &[u8]) -> Result<GitReference, String> {
    let text = String::from_utf8_lossy(answer);
    let commit = text.trim().parse::<GitReference>().ok().filter(GitReference::is_hexadecimal);
    commit.ok_or_else(|| format!("`{}` is not a commit", printable(text.trim())))
}

/// The first of the names that `git ls-remote` lists: `OBJECT TAB NAME LF`. It lists names that end in one, too.
pub(super) fn named<'a>(answer: &[u8], names: &'a [String]) -> Option<&'a str> {
    let text = String::from_utf8_lossy(answer);
    let listed: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('\t')?.1)).collect();
    names.iter().map(String::as_str).find(|name| listed.contains(name))
}

/// Whether the objects that `git ls-remote` lists have names of SHA-256, of 64 digits; `None` if it lists none.
pub(super) fn has_sha256(answer: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(answer);
    let (object, _) = text.lines().find_map(|line| line.split_once('\t'))?;
    Some(object.len() == 64)
}

/// The commit of the first of the names that `git ls-remote` lists: an annotated tag is listed again as `NAME^{}`, with its
/// commit.
pub(super) fn commit_named(answer: &[u8], names: &[String]) -> Option<GitReference> {
    let text = String::from_utf8_lossy(answer);
    let listed: BTreeMap<&str, &str> =
        text.lines().filter_map(|line| line.split_once('\t')).map(|(object, name)| (name, object)).collect();
    let of = |name: &String| listed.get(format!("{name}^{{}}").as_str()).or_else(|| listed.get(name.as_str()));
    names.iter().find_map(of).and_then(|object| commit(object.as_bytes()).ok())
}

/// The tags of `git ls-remote --tags` that are versions in full, perhaps after a `v`, ascending. Of two tags for one version the
/// one with the `v` counts if both name the same commit.
pub(super) fn version_tags(answer: &[u8]) -> Vec<VersionTag> {
    let text = String::from_utf8_lossy(answer);
    let mut commits: BTreeMap<&str, &str> = BTreeMap::new();
    for (object, name) in text.lines().filter_map(|line| line.split_once('\t')) {
        // An annotated tag is listed again, with its commit.
        commits.extend(name.strip_prefix("refs/tags/").map(|name| (name.strip_suffix("^{}").unwrap_or(name), object)));
    }
    let version = |(name, commit): (&str, &str)| {
        let written = name.strip_prefix('v').unwrap_or(name);
        let version: Version = written.parse().ok().filter(|version: &Version| version.to_string() == written)?;
        Some((VersionTag { version, tag: name.parse().ok()?, other: None }, commit.to_owned()))
    };
    let mut found: Vec<(VersionTag, String)> = commits.into_iter().filter_map(version).collect();
    // `v` comes after all digits.
    let place = |of: &VersionTag| (of.version.to_string(), Reverse(of.tag.as_str().to_owned()));
    found.sort_by(|(one, _), (other, _)| {
        one.version.precedence(&other.version).then_with(|| place(one).cmp(&place(other)))
    });
    found.dedup_by(|(later, commit), (earlier, first)| {
        let is_same = later.version == earlier.version;
        if is_same && commit != first {
            earlier.other = Some(later.tag.clone());
        }
        is_same
    });
    found.into_iter().map(|(tag, _)| tag).collect()
}

/// The submodules, out of `git config -z --list`: `KEY LF VALUE NUL`. One with `update = none` is left out. The error has the
/// folder.
///
/// Spec: gitmodules(5); `git submodule update` refuses a folder that `.gitmodules` does not name.
pub(super) fn submodules(
    settings: &[u8],
    commits: &BTreeMap<String, GitReference>,
) -> Result<Vec<Submodule>, (String, String)> {
    let text = String::from_utf8_lossy(settings);
    let mut sections: BTreeMap<&str, BTreeMap<&str, &str>> = BTreeMap::new();
    for (key, value) in text.split('\0').filter_map(|setting| setting.split_once('\n')) {
        if let Some((name, member)) = key.strip_prefix("submodule.").and_then(|rest| rest.rsplit_once('.')) {
            sections.entry(name).or_default().insert(member, value);
        }
    }
    let section = |path: &str| sections.values().find(|section| section.get("path").is_some_and(|own| *own == path));
    let mut found = Vec::new();
    for (path, commit) in commits {
        let problem = |text: &str| (printable(path).into_owned(), text.to_owned());
        let section = section(path).ok_or_else(|| problem("no `.gitmodules` names it"))?;
        if section.get("update").is_some_and(|how| *how == "none") {
            continue;
        }
        let address = section.get("url").ok_or_else(|| problem("`.gitmodules` has no url for it"))?;
        found.push(Submodule { path: path.clone(), address: (*address).to_owned(), commit: commit.clone() });
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "0123456789012345678901234567890123456789";

    #[test]
    fn a_tree_is_counted_before_it_is_checked_out() {
        let list = format!(
            "100644 blob {COMMIT}      12\tmain.tf\0120000 blob {COMMIT} 5\ta b\0160000 commit {COMMIT} -\tsub\0"
        );
        let tree = GitTree::parse(list.as_bytes()).expect("a tree");
        assert_eq!((tree.entries, tree.bytes, tree.commits.keys().next().map(String::as_str)), (3, 17, Some("sub")));
        for rubbish in ["x", "100644 blob x\tp", "100644 blob x y\tp", "160000 commit -x -\tp"] {
            assert!(GitTree::parse(rubbish.as_bytes()).is_err(), "{rubbish}");
        }
    }

    #[test]
    fn only_the_names_that_were_asked_for_count() {
        let names = ["refs/tags/v1".to_owned(), "refs/heads/v1".to_owned()];
        let of = |answer: &str| named(answer.as_bytes(), &names).map(str::to_owned);
        assert_eq!(of("aa\trefs/heads/v1\nbb\trefs/tags/v1\n").as_deref(), Some("refs/tags/v1"));
        assert_eq!(of("aa\trefs/x/refs/tags/v1\n"), None);
        assert_eq!(of("rubbish"), None);
    }

    #[test]
    fn a_commit_is_hexadecimal() {
        assert_eq!(commit(format!("{COMMIT}\n").as_bytes()).expect("a commit").as_str(), COMMIT);
        assert!(commit(b"--upload-pack=x").is_err());
        assert!(commit(b"").is_err());
    }

    #[test]
    fn an_annotated_tag_names_the_commit_behind_it() {
        let names = ["refs/tags/v1".to_owned(), "refs/heads/v1".to_owned()];
        let of = |answer: &str| commit_named(answer.as_bytes(), &names).map(|commit| commit.to_string());
        let tag = format!("aaaa\trefs/tags/v1\n{COMMIT}\trefs/tags/v1^{{}}\nbbbb\trefs/heads/v1\n");
        assert_eq!(of(&tag).as_deref(), Some(COMMIT));
        assert_eq!(of("bbbb\trefs/heads/v1\n").as_deref(), Some("bbbb"));
        assert_eq!(of("bbbb\tHEAD\n"), None);
        assert_eq!(of("-x\trefs/heads/v1\n"), None);
    }

    #[test]
    fn the_names_of_objects_say_which_kind_of_repository_it_is() {
        assert_eq!(has_sha256(format!("{COMMIT}\tHEAD\n").as_bytes()), Some(false));
        assert_eq!(has_sha256(format!("{COMMIT}012345678901234567890123\tHEAD\n").as_bytes()), Some(true));
        assert_eq!(has_sha256(b""), None);
    }

    #[test]
    fn tags_that_are_versions_in_full_are_listed_once_each() {
        let names = [
            "v1.0.0+b",
            "v1.0.0",
            "1.0.0+b",
            "1.0.0",
            "1.10.0",
            "v1.2.0-rc.1",
            "v1.2.0",
            "v2",
            "1.3",
            "x/1.4.0",
            "vv1.5.0",
            "main",
        ];
        let answer: String = names.iter().map(|name| format!("{COMMIT}\trefs/tags/{name}\n")).collect();
        let tags: Vec<String> = version_tags((answer + "rubbish\n\t\n").as_bytes())
            .into_iter()
            .map(|VersionTag { version, tag, .. }| format!("{version} {tag}"))
            .collect();
        assert_eq!(
            tags,
            ["1.0.0 v1.0.0", "1.0.0+b v1.0.0+b", "1.2.0-rc.1 v1.2.0-rc.1", "1.2.0 v1.2.0", "1.10.0 1.10.0"]
        );
    }

    #[test]
    fn two_tags_of_different_commits_were_one_version() {
        let of = |answer: &str| {
            let [tag] = &version_tags(answer.as_bytes())[..] else { panic!("one version") };
            (tag.tag.to_string(), tag.other.as_ref().map(ToString::to_string))
        };
        assert_eq!(of("a\trefs/tags/1.0.0\nb\trefs/tags/v1.0.0\n"), ("v1.0.0".to_owned(), Some("1.0.0".to_owned())));
        let annotated = "x\trefs/tags/1.0.0\na\trefs/tags/1.0.0^{}\na\trefs/tags/v1.0.0\n";
        assert_eq!(of(annotated), ("v1.0.0".to_owned(), None));
    }

    #[test]
    fn each_folder_that_is_a_repository_has_its_address() {
        let commits: BTreeMap<_, _> = [("a/b".to_owned(), COMMIT.parse().expect("a commit"))].into();
        let of = |settings: &str| {
            submodules(settings.as_bytes(), &commits)
                .map(|all| all.into_iter().map(|one| one.address).collect::<Vec<_>>())
        };
        assert_eq!(of("submodule.x.y.path\na/b\0submodule.x.y.url\n../b\0").expect("one"), ["../b"]);
        assert!(of("submodule.x.path\na/b\0submodule.x.url\nu\0submodule.x.update\nnone\0").expect("none").is_empty());
        assert!(of("submodule.x.path\na/b\0").is_err());
        assert!(of("submodule.x.path\na\0submodule.x.url\nu\0").is_err());
    }
}
