//! The folder inside a module package that a source address points at.

use std::fmt;

/// A folder inside a package, `/` between its segments; empty for the package's root.
///
/// Cleaned: no segment is empty, `.` or `..`, and it never begins with `/`, so joining it to a folder stays inside.
/// A segment may be a wildcard such as `mod*`, which is matched when the package has been unpacked.
///
/// `OpenTofu` lets `//..` through, because it looks for `../` only, and `..\` on Windows; both are refused here.
///
/// Spec: `OpenTofu` 1.12, getmodules `SplitPackageSubdir`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subdir(String);

/// A folder that lies outside of its package.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the folder `{0}` after `//` leads out of the module's package")]
pub struct InvalidSubdir(String);

impl Subdir {
    /// The package's root.
    pub fn root() -> Self {
        Self::default()
    }

    /// From the text after the `//` of a source address.
    ///
    /// # Errors
    /// If the folder is outside of the package.
    pub fn new(text: &str) -> Result<Self, InvalidSubdir> {
        let clean = clean(text);
        let inside = clean.trim_start_matches('/');
        if inside.split(['/', '\\']).any(|segment| segment == "..") {
            return Err(InvalidSubdir(clean));
        }
        Ok(Self(if inside == "." { String::new() } else { inside.to_owned() }))
    }

    /// The whole text, empty for the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this is the package's root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The folder `inner` of this folder.
    #[must_use]
    pub fn join(&self, inner: &Self) -> Self {
        match (self.is_root(), inner.is_root()) {
            (true, _) => inner.clone(),
            (_, true) => self.clone(),
            (false, false) => Self(format!("{}/{}", self.0, inner.0)),
        }
    }

    /// Those of the package's `paths` that it matches: `/` between their segments, folders and files.
    ///
    /// `*` is any text in a segment, `?` one character, `[a-z]` and `[^a-z]` one of a set, and `\` takes the next
    /// character as it is. `OpenTofu` demands exactly one match, which is a folder. The root matches no path.
    ///
    /// Spec: `OpenTofu` 1.12, getmodules `ExpandSubdirGlobs`; Go `path/filepath`, `Match`.
    pub fn matches<'a>(&self, paths: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
        let pattern: Vec<Vec<char>> = self.0.split('/').map(|segment| segment.chars().collect()).collect();
        let is_match = |path: &str| {
            let mut segments = path.split('/');
            let all = pattern.iter().all(|wanted| segments.next().is_some_and(|found| matches_segment(wanted, found)));
            all && segments.next().is_none()
        };
        paths.filter(|path| is_match(path)).collect()
    }

    /// What source addresses append: `//SUBDIR`, or an empty text for the root.
    pub(super) fn suffix(&self) -> impl fmt::Display {
        let marks = if self.is_root() { "" } else { "//" };
        format!("{marks}{}", self.0)
    }
}

impl fmt::Display for Subdir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn matches_segment(pattern: &[char], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // Where the last star was, and what it matches up to.
    let (mut at, mut read, mut star): (usize, usize, Option<(usize, usize)>) = (0, 0, None);
    while read < name.len() {
        if pattern.get(at) == Some(&'*') {
            star = Some((at, read));
            at += 1;
            continue;
        }
        match matches_one(&pattern[at..], name[read]) {
            Some(length) => (at, read) = (at + length, read + 1),
            None => match star {
                Some((of, from)) => {
                    star = Some((of, from + 1));
                    (at, read) = (of + 1, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[at..].iter().all(|left| *left == '*')
}

/// The length of what begins the pattern and matches this character; `None` if it does not match, or is malformed.
fn matches_one(pattern: &[char], character: char) -> Option<usize> {
    match pattern {
        ['?', ..] => Some(1),
        ['\\', literal, ..] => (*literal == character).then_some(2),
        ['\\'] | [] => None,
        ['[', rest @ ..] => {
            let inverted = rest.first() == Some(&'^');
            let mut at = usize::from(inverted);
            let (first, mut inside) = (at, false);
            loop {
                if rest.get(at) == Some(&']') && at > first {
                    break;
                }
                let (low, next) = set_character(rest, at)?;
                at = next;
                let mut high = low;
                if rest.get(at) == Some(&'-') {
                    (high, at) = set_character(rest, at + 1)?;
                }
                inside |= (low..=high).contains(&character);
            }
            (inside != inverted).then_some(at + 2)
        }
        [literal, ..] => (*literal == character).then_some(1),
    }
}

/// A character of a set, and what follows it.
fn set_character(set: &[char], at: usize) -> Option<(char, usize)> {
    match set.get(at)? {
        '-' | ']' => None,
        '\\' => Some((*set.get(at + 1)?, at + 2)),
        character => Some((*character, at + 1)),
    }
}

/// A path without empty and `.` segments, and without each `..` that cancels the segment before it; `.` if nothing is
/// left.
pub(super) fn clean(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/') {
        match segment {
            "" | "." => {}
            ".." if segments.last().is_some_and(|last| *last != "..") => {
                segments.pop();
            }
            ".." if rooted => {}
            segment => segments.push(segment),
        }
    }
    let joined = segments.join("/");
    match (rooted, joined.as_str()) {
        (true, _) => format!("/{joined}"),
        (false, "") => ".".to_owned(),
        (false, _) => joined,
    }
}

/// Cuts a source address at the `//` that is neither part of `://` nor after a `?`: the package's address with its
/// arguments, and the folder as written, which may be empty.
pub(super) fn split(source: &str) -> (String, &str) {
    let (path, arguments) = source.split_at(source.find('?').unwrap_or(source.len()));
    let scheme = path.find("://").map_or(0, |colon| colon + 3);
    match path[scheme..].find("//") {
        None => (source.to_owned(), ""),
        Some(found) => {
            let (package, rest) = path.split_at(scheme + found);
            (format!("{package}{arguments}"), &rest[2..])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, want: Option<&str>) {
        assert_eq!(Subdir::new(text).ok().as_ref().map(Subdir::as_str), want, "{text:?}");
    }

    #[test]
    fn is_cleaned_and_stays_inside() {
        check("", Some(""));
        check("sub", Some("sub"));
        check("./a//b/../c/", Some("a/c"));
        check("a/..", Some(""));
        check("mod*", Some("mod*"));
        check("...", Some("..."));
        check("../x", None);
        check("a/../../x", None);
    }

    #[test]
    fn the_parent_folder_alone_is_refused_which_opentofu_lets_through() {
        check("..", None);
        check("a/../..", None);
        check("../", None);
    }

    #[test]
    fn back_slashes_do_not_lead_out_on_windows() {
        check("..\\x", None);
        check("a\\..\\..\\x", None);
        check("a\\b", Some("a\\b"));
    }

    #[test]
    fn a_third_slash_does_not_make_the_folder_absolute() {
        check("/etc", Some("etc"));
        check("//etc", Some("etc"));
        check("/../etc", Some("etc"));
        check("/", Some(""));
    }

    #[test]
    fn a_folder_of_a_folder_has_both_names() {
        let join = |outer: &str, inner: &str| {
            Subdir::new(outer).unwrap().join(&Subdir::new(inner).unwrap()).as_str().to_owned()
        };
        assert_eq!(join("", "a"), "a");
        assert_eq!(join("a", ""), "a");
        assert_eq!(join("a/b", "c"), "a/b/c");
        assert_eq!(join("", ""), "");
    }

    #[track_caller]
    fn check_matches(pattern: &str, want: &[&str]) {
        let paths = ["main.tf", "sub", "sub/deep", "sup", "s*", "a-b", ".x"];
        assert_eq!(Subdir::new(pattern).unwrap().matches(paths.into_iter()), want, "{pattern:?}");
    }

    #[test]
    fn wildcards_match_within_a_segment() {
        check_matches("sub", &["sub"]);
        check_matches("su?", &["sub", "sup"]);
        check_matches("su[a-c]", &["sub"]);
        check_matches("su[^a-c]", &["sup"]);
        check_matches("s\\*", &["s*"]);
        check_matches("s*/d*p", &["sub/deep"]);
        check_matches("*", &["main.tf", "sub", "sup", "s*", "a-b", ".x"]);
        check_matches("a[\\-]b", &["a-b"]);
        check_matches("**b*", &["sub", "a-b"]);
        check_matches("su[", &[]);
        check_matches("su[]p]", &[]);
        check_matches("none*", &[]);
        check_matches("", &[]);
    }

    #[track_caller]
    fn check_split(source: &str, package: &str, subdir: &str) {
        assert_eq!(split(source), (package.to_owned(), subdir), "{source:?}");
    }

    #[test]
    fn neither_the_scheme_nor_an_argument_begins_a_folder() {
        check_split("oci://a/b//c?tag=x", "oci://a/b?tag=x", "c");
        check_split("oci://a/b?tag=x//c", "oci://a/b?tag=x//c", "");
        check_split("a/b/c//d//e", "a/b/c", "d//e");
        check_split("https://a/b?x=https://c//d", "https://a/b?x=https://c//d", "");
        check_split("a//b://c", "a//b://c", "");
        check_split("a/b//", "a/b", "");
    }
}
