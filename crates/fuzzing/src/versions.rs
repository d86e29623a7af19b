//! Constraints, versions and tags: the first line is a constraint, each other line a version and a tag.

use tofu_oci_types::{Constraints, Tag, Version};

use crate::input::text_of;
use crate::seeds;

/// Reads the text.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let mut lines = text.split('\n');
    let constraints = lines.next().unwrap_or_default().parse::<Constraints>();
    let mut versions: Vec<Version> = Vec::new();
    for line in lines.take(12) {
        versions.extend(version(line));
        tag(line);
    }
    order(&versions);
    match constraints {
        Ok(constraints) => choice(&constraints, &versions),
        Err(error) => assert!(!error.code().is_empty() && !error.to_string().is_empty()),
    }
}

/// Each constraint with some versions.
pub fn seeds() -> Vec<Vec<u8>> {
    let table = seeds::vectors("constraints.json");
    let inputs = |section: &str| -> Vec<String> {
        let cases = table[section].as_array().into_iter().flatten();
        cases.filter_map(|case| case["input"].as_str()).map(str::to_owned).collect()
    };
    let versions = inputs("versions");
    let text = |(number, constraint): (usize, String)| {
        let some: Vec<&str> = versions.iter().cycle().skip(number).take(6).map(String::as_str).collect();
        format!("{constraint}\n{}", some.join("\n"))
    };
    seeds::bytes(inputs("constraints").into_iter().enumerate().map(text))
}

fn version(text: &str) -> Option<Version> {
    let version = text.parse::<Version>().ok()?;
    let canonical = version.to_string();
    assert_eq!(canonical.parse::<Version>().as_ref(), Ok(&version), "{text:?}");
    assert_eq!(version.numbers().len() + usize::from(version.is_prerelease()), canonical_parts(&canonical), "{text:?}");
    assert!(canonical.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+".contains(&byte)), "{text:?}");
    if let Ok(tag) = Tag::for_version(&version) {
        assert_eq!(tag.version().as_ref(), Some(&version), "{text:?}");
    }
    // Exactly this version is met by nothing but itself.
    let exactly = Constraints::exactly(version.clone());
    assert_eq!(exactly.admits(&version), !version.is_unspecified(), "{text:?}");
    assert_eq!(exactly.to_string().parse::<Constraints>(), Ok(exactly), "{text:?}");
    Some(version)
}

/// Three numbers, and a prerelease where there is one.
fn canonical_parts(text: &str) -> usize {
    let release = text.split('+').next().unwrap_or_default();
    let (numbers, prerelease) =
        release.split_once('-').map_or((release, None), |(numbers, rest)| (numbers, Some(rest)));
    numbers.split('.').count() + prerelease.into_iter().count()
}

fn tag(text: &str) {
    let Ok(tag) = text.parse::<Tag>() else { return };
    if let Some(version) = tag.version()
        && let Ok(canonical) = Tag::for_version(&version)
    {
        assert_eq!(canonical.version(), Some(version), "{text:?}");
    }
}

fn order(versions: &[Version]) {
    for (a, b) in versions.iter().zip(versions.iter().skip(1)) {
        assert_eq!(a.precedence(b), b.precedence(a).reverse(), "{a} {b}");
    }
    for [a, b, c] in versions.windows(3).filter_map(<&[Version; 3]>::from_slice) {
        if a.precedence(b).is_le() && b.precedence(c).is_le() {
            assert!(a.precedence(c).is_le(), "{a} {b} {c}");
        }
    }
}

/// `windows` with a length that the compiler knows.
trait FromSlice<'a>: Sized {
    fn from_slice(slice: &'a [Version]) -> Option<Self>;
}

impl<'a> FromSlice<'a> for &'a [Version; 3] {
    fn from_slice(slice: &'a [Version]) -> Option<Self> {
        slice.try_into().ok()
    }
}

fn choice(constraints: &Constraints, versions: &[Version]) {
    let canonical = constraints.to_string();
    let again: Constraints = canonical.parse().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(again, *constraints);
    assert_eq!(again.to_string(), canonical, "the canonical form is stable");
    assert_eq!(constraints.and(constraints), *constraints);
    assert_eq!(constraints.and(&Constraints::any()), *constraints);
    for version in versions {
        assert_eq!(again.admits(version), constraints.admits(version), "{canonical} {version}");
        let narrowed = constraints.and(&Constraints::exactly(version.clone()));
        if constraints.admits(version) {
            assert!(narrowed.admits(version), "{canonical} {version}");
        }
    }
    match constraints.select(versions) {
        Some(chosen) => {
            assert!(constraints.admits(chosen));
            let better = |other: &&Version| constraints.admits(other) && other.precedence(chosen).is_gt();
            assert_eq!(versions.iter().find(better), None, "{canonical} {chosen}");
        }
        None => assert!(!versions.iter().any(|version| constraints.admits(version)), "{canonical}"),
    }
}
