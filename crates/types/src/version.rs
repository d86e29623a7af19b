//! Provider versions.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::text_value::text_value;
use crate::token::VersionToken;

/// An exact version, `MAJOR.MINOR.PATCH[-PRERELEASE][+METADATA]`.
///
/// Equality looks at metadata; [`Version::precedence`] does not. `Display` is canonical.
///
/// Spec: apparentlymart/go-versions as `OpenTofu` 1.12 uses it; not semver in two points, see [`Version::precedence`].
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Version {
    major: u64,
    minor: u64,
    patch: u64,
    prerelease: String,
    metadata: String,
}

/// A text that is not an exact version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a version: {}", .fault.reason())]
#[fault(of = fault)]
pub struct InvalidVersion {
    input: String,
    fault: VersionFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[fault(named)]
enum VersionFault {
    Empty,
    Operator,
    BadStart,
    VPrefix,
    LeadingSpace,
    TrailingSpace,
    Multiple,
    Range,
    BadFormat,
    BadChars,
    TooManyParts,
    Wildcard,
    #[fault(code = "number-too-large")]
    Overflow,
}

impl VersionFault {
    fn reason(self) -> &'static str {
        match self {
            Self::Empty => "it is empty",
            Self::Operator => "it is a constraint, and one exact version is wanted",
            Self::BadStart => "it must begin with a number",
            Self::VPrefix => "it is written without a v before it",
            Self::LeadingSpace => "there is a blank before it",
            Self::TrailingSpace => "there is a blank after it",
            Self::Multiple => "one exact version is wanted, not several",
            Self::Range => "one exact version is wanted, not a range",
            Self::BadFormat => "it must read MAJOR.MINOR.PATCH",
            Self::BadChars => "it has characters that a version cannot have",
            Self::TooManyParts => "it has more than three numbers",
            Self::Wildcard => "one exact version is wanted, without wildcards",
            Self::Overflow => "one of its numbers is above 18446744073709551615",
        }
    }
}

impl Version {
    /// From the pieces of a token and its numbers.
    pub(crate) fn from_token([major, minor, patch]: [u64; 3], token: &VersionToken<'_>) -> Self {
        Self { major, minor, patch, prerelease: token.pre.to_owned(), metadata: token.meta.to_owned() }
    }

    /// Major, minor and patch.
    pub fn numbers(&self) -> [u64; 3] {
        [self.major, self.minor, self.patch]
    }

    /// The text after `-`, empty for a release.
    pub fn prerelease(&self) -> &str {
        &self.prerelease
    }

    /// The text after `+`; empty if there is no `+`.
    pub fn metadata(&self) -> &str {
        &self.metadata
    }

    /// Whether this is a release candidate or the like.
    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Whether this is plain `0.0.0`, which means "no version" to `OpenTofu`; it refuses to install that.
    pub fn is_unspecified(&self) -> bool {
        self.numbers() == [0; 3] && self.prerelease.is_empty() && self.metadata.is_empty()
    }

    /// The order in which versions are chosen, without metadata.
    ///
    /// Not semver's for prereleases: of two whose segments are equal so far, the one that runs out of dots first
    /// comes first, whatever its last segment is (`1.0.0-z` before `1.0.0-a.a`), and numeric segments are compared by
    /// length and then as text (`9` before `09`).
    pub fn precedence(&self, other: &Self) -> Ordering {
        self.numbers()
            .cmp(&other.numbers())
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| compare_extras(&self.prerelease, &other.prerelease))
    }

    /// The same, with the order of prereleases that semver has: `1.0.0-alpha.1` before `1.0.0-beta`.
    ///
    /// Spec: semver 2.0.0, 11.
    pub(crate) fn semver_precedence(&self, other: &Self) -> Ordering {
        self.numbers()
            .cmp(&other.numbers())
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| semver_extras(&self.prerelease, &other.prerelease))
    }
}

fn semver_extras(left: &str, right: &str) -> Ordering {
    let pairs = left.split('.').zip(right.split('.'));
    let differing = pairs.map(|(left, right)| compare_segments(left, right)).find(|order| order.is_ne());
    differing.unwrap_or_else(|| left.split('.').count().cmp(&right.split('.').count()))
}

/// The order of prereleases; canonical renderings of constraints sort metadata by it too.
pub(crate) fn compare_extras(mut left: &str, mut right: &str) -> Ordering {
    loop {
        match (left.split_once('.'), right.split_once('.')) {
            (None, None) => return compare_segments(left, right),
            (Some(_), None) => return Ordering::Greater,
            (None, Some(_)) => return Ordering::Less,
            (Some((left_segment, left_rest)), Some((right_segment, right_rest))) => {
                let order = compare_segments(left_segment, right_segment);
                if order != Ordering::Equal {
                    return order;
                }
                (left, right) = (left_rest, right_rest);
            }
        }
    }
}

fn compare_segments(left: &str, right: &str) -> Ordering {
    // An empty segment counts as a number.
    let numeric = |segment: &str| segment.bytes().all(|byte| byte.is_ascii_digit());
    match (numeric(left), numeric(right)) {
        (true, true) => left.len().cmp(&right.len()).then_with(|| left.cmp(right)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        (false, false) => left.cmp(right),
    }
}

impl FromStr for Version {
    type Err = InvalidVersion;

    fn from_str(input: &str) -> Result<Self, InvalidVersion> {
        parse(input).map_err(|fault| InvalidVersion { input: input.to_owned(), fault })
    }
}

/// Checks in the order in which `OpenTofu` complains.
fn parse(input: &str) -> Result<Version, VersionFault> {
    if input.trim().is_empty() {
        return Err(VersionFault::Empty);
    }
    let token = VersionToken::scan(input);
    match token.op.trim() {
        "" if token.sep.contains('v') => return Err(VersionFault::VPrefix),
        "" if !token.sep.is_empty() => return Err(VersionFault::LeadingSpace),
        "" => {}
        ">" | ">=" | "<" | "<=" | "!" | "!=" | "~>" | "^" | "~" => return Err(VersionFault::Operator),
        _ => return Err(VersionFault::BadStart),
    }
    if !token.rest.is_empty() {
        let rest = token.rest.trim();
        return Err(match rest {
            "" => VersionFault::TrailingSpace,
            _ if rest.starts_with([',', '|']) => VersionFault::Multiple,
            _ if rest.starts_with('-') => VersionFault::Range,
            _ if input.trim().starts_with(rest) => VersionFault::BadFormat,
            _ => VersionFault::BadChars,
        });
    }
    if token.nums.is_empty() {
        return Err(VersionFault::BadFormat);
    }
    if token.nums.len() > 3 {
        return Err(VersionFault::TooManyParts);
    }
    if token.has_wildcard() {
        return Err(VersionFault::Wildcard);
    }
    let numbers = token.numbers().ok_or(VersionFault::Overflow)?;
    Ok(Version::from_token(numbers, &token))
}

impl Version {
    /// Writes prerelease and metadata with their marks.
    pub(crate) fn fmt_extras(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.metadata.is_empty() {
            write!(f, "+{}", self.metadata)?;
        }
        Ok(())
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        self.fmt_extras(f)
    }
}

text_value!(Version);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(input: &str, code: &str) {
        let error = input.parse::<Version>().expect_err("must be refused");
        assert_eq!(error.code(), code, "{input:?}");
        assert!(error.to_string().contains(input), "{error}");
    }

    #[test]
    fn a_number_that_does_not_fit_is_an_error_and_no_crash() {
        check_refused("18446744073709551616.0.0", "number-too-large");
        check_refused("1.0.99999999999999999999999999", "number-too-large");
    }

    #[test]
    fn separators_and_blanks_never_get_in() {
        check_refused("../1.0.0", "bad-format");
        check_refused("..", "bad-format");
        check_refused("1.0.0/../..", "bad-chars");
        check_refused("1.0.0-\\..", "bad-chars");
        check_refused("1.0.0-a\0", "bad-chars");
        check_refused("1.0.0+a/b", "bad-chars");
    }

    #[track_caller]
    fn check_less(less: &str, greater: &str) {
        let parse = |text: &str| text.parse::<Version>().expect("a version");
        assert_eq!(parse(less).precedence(&parse(greater)), Ordering::Less, "{less} before {greater}");
    }

    #[test]
    fn fewer_segments_come_first_even_against_the_alphabet() {
        check_less("1.0.0-z", "1.0.0-a.a");
        check_less("1.0.0-beta", "1.0.0-alpha.1");
        check_less("1.0.0-9", "1.0.0-09");
        check_less("1.0.0-rc10", "1.0.0-rc9");
        check_less("1.0.0-a.z", "1.0.0-b.a");
        check_less("1.0.0-a..b", "1.0.0-a.-.b");
    }

    proptest::proptest! {
        #[test]
        fn whatever_parses_is_safe_as_a_folder_and_reads_back(input in "[0-9]{0,3}[.0-9x*v-]{0,6}\\PC{0,6}") {
            if let Ok(version) = input.parse::<Version>() {
                let text = version.to_string();
                assert!(text.starts_with(|first: char| first.is_ascii_digit()));
                assert!(!text.contains(['/', '\\', '\0']), "{input:?}");
                assert_eq!(text.parse(), Ok(version));
            }
        }

        #[test]
        fn precedence_is_a_total_order(texts in proptest::collection::vec("1\\.0\\.0(-[a0]{1,2}(\\.[a0]{0,2}){0,2})?", 3)) {
            let mut versions: Vec<Version> = texts.iter().map(|text| text.parse().expect("a version")).collect();
            versions.sort_by(Version::precedence);
            assert!(versions[0].precedence(&versions[2]).is_le());
            assert_eq!(versions[0].precedence(&versions[1]), versions[1].precedence(&versions[0]).reverse());
        }
    }
}
