//! Which versions a constraint admits, as `required_providers` writes it, and which it forbids in `deny`.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use tofu_oci_fault::Fault;

use crate::Version;
use crate::text_value::text_value;
use crate::token::VersionToken;
use crate::version::compare_extras;

/// Constraints that a version must meet, all of them; an empty list admits every release.
///
/// Kept in canonical form: sorted by boundary and operator, without duplicates. `Display` is the canonical rendering
/// of lock files, and equality is that of the renderings.
///
/// Spec: apparentlymart/go-versions "ruby style multi" as `OpenTofu` 1.12 uses it.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Constraints(Vec<Term>);

#[derive(Clone, PartialEq, Eq)]
struct Term {
    operator: Operator,
    boundary: Version,
}

/// In the order of canonical renderings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Greater,
    GreaterOrEqual,
    Equal,
    /// `~> 1.2.3`: the same minor.
    SameMinor,
    /// `~> 1.2`: the same major.
    SameMajor,
    LessOrEqual,
    Less,
    NotEqual,
}

/// A text that is not a list of constraints.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("`{input}` is not a version constraint: {}", .fault.reason())]
#[fault(of = fault)]
pub struct InvalidConstraints {
    input: String,
    fault: ConstraintFault,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[fault(named)]
enum ConstraintFault {
    SwappedOperator,
    BadOperator,
    #[fault(code = "bad-operator")]
    NoPart,
    VPrefix,
    #[fault(code = "extra-space-after-operator")]
    SpaceAfterOperator,
    #[fault(code = "extra-space-after-operator")]
    NoVersion,
    TooManyParts,
    Wildcard,
    MissingComma,
    #[fault(code = "number-too-large")]
    Overflow,
}

impl ConstraintFault {
    fn reason(self) -> &'static str {
        match self {
            Self::SwappedOperator => "the operators are written >= and <=",
            Self::BadOperator => "the operators are =, !=, >, >=, <, <= and ~>",
            Self::NoPart => "there is nothing before one of its commas",
            Self::VPrefix => "versions are written without a v before them",
            Self::SpaceAfterOperator => "after an operator there is at most one blank",
            Self::NoVersion => "an operator has no version after it",
            Self::TooManyParts => "a version has more than three numbers",
            Self::Wildcard => "wildcards are not supported; use ~>, and omit the numbers that may be any",
            Self::MissingComma => "its parts are versions, with or without an operator, separated by commas",
            Self::Overflow => "one of its numbers is above 18446744073709551615",
        }
    }
}

impl Constraints {
    /// No constraint.
    pub fn any() -> Self {
        Self::default()
    }

    /// Exactly this version, build metadata included.
    pub fn exactly(version: Version) -> Self {
        Self(vec![Term { operator: Operator::Equal, boundary: version }])
    }

    /// Whether the list is empty.
    pub fn is_any(&self) -> bool {
        self.0.is_empty()
    }

    /// The one version that is named exactly; `None` if there is more than that, or less.
    pub fn exact(&self) -> Option<&Version> {
        match self.0.as_slice() {
            [Term { operator: Operator::Equal, boundary }] => Some(boundary),
            _ => None,
        }
    }

    /// Both lists at once.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self::canonical(self.0.iter().chain(&other.0).cloned().collect())
    }

    /// Whether the version is admitted. A prerelease is admitted only if a term names it exactly; plain `0.0.0`, which
    /// means "no version", never.
    pub fn admits(&self, version: &Version) -> bool {
        if version.is_unspecified() {
            return false;
        }
        let named = || self.0.iter().any(|term| term.operator == Operator::Equal);
        self.0.iter().all(|term| term.admits(version)) && (!version.is_prerelease() || named())
    }

    /// Whether the version is kept out by a rule that forbids what meets the constraints. It errs on the safe side: what
    /// [admits](Self::admits) is exact, as `OpenTofu` reads it, and a rule that forbids must not be gone around by a prerelease or
    /// by build metadata. What is forbidden is compared by precedence; what `!=` spares is compared whole.
    ///
    /// | term | forbids |
    /// |---|---|
    /// | none | everything |
    /// | `1.4.0`, `= 1.4.0` | 1.4.0 with any build metadata; not its prereleases |
    /// | `!= 1.4.0` | everything except exactly that: 1.4.0+b, too |
    /// | `< 2.0.0` | what comes before it, as 1.5.0-rc.1 and 2.0.0-rc.1 do |
    /// | `<= 2.0.0` | that, and 2.0.0 with any build metadata |
    /// | `> 1.4.0` | what comes after it, as 1.4.1-rc.1 does; not 1.4.0+b |
    /// | `>= 2.0.0` | 2.0.0, its prereleases, and what comes after them |
    /// | `~> 1.4`, `~> 1.4.0` | 1.4.0, its prereleases, and what comes after them, up to the prereleases of 2.0.0, of 1.5.0 |
    /// | several | what all of them forbid |
    ///
    /// Prereleases have two orders, semver's and [`OpenTofu`'s](Version::precedence); what is forbidden by one of them is forbidden.
    pub fn forbids(&self, version: &Version) -> bool {
        self.0.iter().all(|term| term.forbids(version))
    }

    /// Whether only plain `0.0.0` could meet the constraints, so that they admit nothing.
    pub fn ask_for_unspecified(&self) -> bool {
        let names_it = |term: &Term| term.operator == Operator::Equal && term.boundary.is_unspecified();
        self.0
            .iter()
            .find(|term| names_it(term))
            .is_some_and(|named| self.0.iter().all(|term| term.admits(&named.boundary)))
    }

    /// The version that `OpenTofu` would install: the newest admitted one, the last listed among equals.
    pub fn select<'a>(&self, versions: &'a [Version]) -> Option<&'a Version> {
        versions.iter().filter(|version| self.admits(version)).max_by(|a, b| a.precedence(b))
    }

    fn canonical(mut terms: Vec<Term>) -> Self {
        terms.sort_by(Term::order);
        terms.dedup();
        Self(terms)
    }
}

impl Term {
    fn order(&self, other: &Self) -> Ordering {
        self.boundary
            .precedence(&other.boundary)
            .then_with(|| compare_extras(self.boundary.metadata(), other.boundary.metadata()))
            .then_with(|| self.operator.cmp(&other.operator))
    }

    /// As `OpenTofu` reads it. Metadata counts for `=` and `!=` alone.
    fn admits(&self, version: &Version) -> bool {
        let order = version.precedence(&self.boundary);
        match self.operator {
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Equal => *version == self.boundary,
            Operator::SameMinor | Operator::SameMajor => order.is_ge() && self.is_below_next(version),
            Operator::LessOrEqual => order.is_le(),
            Operator::Less => order.is_lt(),
            Operator::NotEqual => *version != self.boundary,
        }
    }

    fn forbids(&self, version: &Version) -> bool {
        let orders = [version.precedence(&self.boundary), version.semver_precedence(&self.boundary)];
        let is = |wanted: fn(Ordering) -> bool| orders.into_iter().any(wanted);
        // The first of the forbidden versions is not forbidden without its candidates.
        let is_candidate =
            version.is_prerelease() && !self.boundary.is_prerelease() && version.numbers() == self.boundary.numbers();
        match self.operator {
            Operator::Equal => is(Ordering::is_eq),
            Operator::NotEqual => *version != self.boundary,
            Operator::Less => is(Ordering::is_lt),
            Operator::LessOrEqual => is(Ordering::is_le),
            Operator::Greater => is(Ordering::is_gt),
            Operator::GreaterOrEqual => is_candidate || is(Ordering::is_ge),
            Operator::SameMinor | Operator::SameMajor => {
                (is_candidate || is(Ordering::is_ge)) && self.is_below_next(version)
            }
        }
    }

    /// Whether the version comes before the first one that `~>` leaves out.
    fn is_below_next(&self, version: &Version) -> bool {
        let [major, minor, _] = self.boundary.numbers();
        let next_major = major.checked_add(1).map(|next| [next, 0, 0]);
        match (self.operator, minor.checked_add(1)) {
            (Operator::SameMinor, Some(next)) => below(version, Some([major, next, 0])),
            _ => below(version, next_major),
        }
    }
}

/// Whether the version comes before the release of these numbers; its own prereleases do.
fn below(version: &Version, limit: Option<[u64; 3]>) -> bool {
    limit.is_none_or(|limit| version.numbers() < limit || (version.numbers() == limit && version.is_prerelease()))
}

impl FromStr for Constraints {
    type Err = InvalidConstraints;

    fn from_str(input: &str) -> Result<Self, InvalidConstraints> {
        parse(input).map(Self::canonical).map_err(|fault| InvalidConstraints { input: input.to_owned(), fault })
    }
}

fn parse(input: &str) -> Result<Vec<Term>, ConstraintFault> {
    let mut terms = Vec::new();
    let mut rest = input.trim();
    while !rest.is_empty() {
        let token = VersionToken::scan(rest);
        let term = term(&token)?;
        rest = token.rest.trim();
        if !rest.is_empty() {
            if rest.starts_with('v') {
                return Err(ConstraintFault::VPrefix);
            }
            rest = rest.strip_prefix(',').ok_or(ConstraintFault::MissingComma)?.trim();
        }
        terms.push(term.ok_or(ConstraintFault::MissingComma)?);
    }
    Ok(terms)
}

/// One term; `None` if it has neither an operator nor a number.
fn term(token: &VersionToken<'_>) -> Result<Option<Term>, ConstraintFault> {
    let operator = match token.op {
        "" | "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        ">" => Operator::Greater,
        ">=" => Operator::GreaterOrEqual,
        "<" => Operator::Less,
        "<=" => Operator::LessOrEqual,
        "~>" if token.nums.len() == 3 => Operator::SameMinor,
        "~>" => Operator::SameMajor,
        "=<" | "=>" => return Err(ConstraintFault::SwappedOperator),
        op if op.starts_with(',') => return Err(ConstraintFault::NoPart),
        _ => return Err(ConstraintFault::BadOperator),
    };
    match token.sep {
        sep if sep.contains('v') => return Err(ConstraintFault::VPrefix),
        "" | " " => {}
        _ => return Err(ConstraintFault::SpaceAfterOperator),
    }
    if token.nums.is_empty() {
        return if token.op.is_empty() { Ok(None) } else { Err(ConstraintFault::NoVersion) };
    }
    if token.nums.len() > 3 {
        return Err(ConstraintFault::TooManyParts);
    }
    if token.has_wildcard() {
        return Err(ConstraintFault::Wildcard);
    }
    let numbers = token.numbers().ok_or(ConstraintFault::Overflow)?;
    Ok(Some(Term { operator, boundary: Version::from_token(numbers, token) }))
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.operator {
            Operator::Greater => "> ",
            Operator::GreaterOrEqual => ">= ",
            Operator::Equal => "",
            Operator::SameMinor | Operator::SameMajor => "~> ",
            Operator::LessOrEqual => "<= ",
            Operator::Less => "< ",
            Operator::NotEqual => "!= ",
        })?;
        if self.operator != Operator::SameMajor {
            return self.boundary.fmt(f);
        }
        // Two numbers mean the same major, so the third is not written.
        let [major, minor, _] = self.boundary.numbers();
        write!(f, "{major}.{minor}")?;
        self.boundary.fmt_extras(f)
    }
}

impl fmt::Display for Constraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, term) in self.0.iter().enumerate() {
            write!(f, "{}{term}", if position == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

text_value!(Constraints);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(input: &str, code: &str) {
        let error = input.parse::<Constraints>().expect_err("must be refused");
        assert_eq!(error.code(), code, "{input:?}");
        assert!(error.to_string().contains(input), "{error}");
    }

    #[test]
    fn an_operator_without_a_version_is_refused_also_before_a_comma() {
        check_refused("> , 1.0.0", "extra-space-after-operator");
        check_refused(">= ,", "extra-space-after-operator");
        check_refused("1.0.0, >", "extra-space-after-operator");
    }

    #[test]
    fn a_number_that_does_not_fit_is_an_error_and_no_crash() {
        check_refused(">= 18446744073709551616", "number-too-large");
    }

    #[test]
    fn the_largest_number_has_no_upper_bound_to_wrap_around() {
        check_select("~> 18446744073709551615.0", &["18446744073709551615.2.0"], Some("18446744073709551615.2.0"));
        let last = "1.18446744073709551615.7";
        check_select("~> 1.18446744073709551615.0", &[last, "2.0.0", "3.0.0"], Some(last));
    }

    #[track_caller]
    fn check_select(constraints: &str, versions: &[&str], want: Option<&str>) {
        let constraints: Constraints = constraints.parse().expect("constraints");
        let versions: Vec<Version> = versions.iter().map(|text| text.parse().expect("a version")).collect();
        assert_eq!(constraints.select(&versions).map(ToString::to_string).as_deref(), want);
    }

    #[test]
    fn selects_the_newest_and_the_last_listed_among_equals() {
        check_select("", &["1.2.0", "1.10.0", "1.9.0", "2.0.0-rc.1"], Some("1.10.0"));
        check_select("~> 1.0", &["1.0.0+b", "1.0.0", "1.0.0+a"], Some("1.0.0+a"));
        check_select("1.0.0", &["1.0.0+b", "1.0.0", "1.0.0+a"], Some("1.0.0"));
        check_select("~> 1.0, 2.0.0-alpha", &["1.0.0", "2.0.0-alpha"], Some("2.0.0-alpha"));
        check_select("~> 1.0", &["2.0.0-alpha"], None);
        check_select("> 2.0.0", &["1.0.0"], None);
    }

    #[test]
    fn plain_0_0_0_is_never_admitted() {
        for constraints in ["", "0.0.0", ">= 0.0.0", "!= 1.0.0", "~> 0.0"] {
            check_select(constraints, &["0.0.0"], None);
        }
        check_select("0.0.0-dev", &["0.0.0-dev", "0.0.0"], Some("0.0.0-dev"));
        check_select("", &["0.0.0+x"], Some("0.0.0+x"));
        let asks = |text: &str| text.parse::<Constraints>().expect("constraints").ask_for_unspecified();
        assert!(asks("0.0.0") && asks("= 0, < 1.0.0"));
        assert!(!asks("0.0.0, > 1.0.0") && !asks(">= 0.0.0") && !asks("0.0.0-a") && !asks(""));
    }

    /// The versions that each operator is tried with, each as a release, a prerelease, with build metadata, and with both.
    const TRIED: &str = "1.3.9 1.3.9-rc.1 1.3.9+b 1.3.9-rc.1+b 1.4.0 1.4.0-rc.1 1.4.0+b 1.4.0-rc.1+b \
                         1.4.1 1.4.1-rc.1 1.4.1+b 1.4.1-rc.1+b 1.5.0 1.5.0-rc.1 1.5.0+b 1.5.0-rc.1+b \
                         2.0.0 2.0.0-rc.1 2.0.0+b 2.0.0-rc.1+b";

    /// Of the tried versions, those that are forbidden; `*` after numbers stands for all four forms.
    #[track_caller]
    fn check_forbidden(constraints: &str, want: &str) {
        let forms = ["", "-rc.1", "+b", "-rc.1+b"];
        let want: Vec<String> = want
            .split_whitespace()
            .flat_map(|text| match text.strip_suffix('*') {
                Some(numbers) => forms.iter().map(|form| format!("{numbers}{form}")).collect(),
                None => vec![text.to_owned()],
            })
            .collect();
        let constraints: Constraints = constraints.parse().expect("constraints");
        let forbids = |text: &&str| constraints.forbids(&text.parse().expect("a version"));
        let got: Vec<&str> = TRIED.split_whitespace().filter(forbids).collect();
        assert_eq!(got, want, "{constraints}");
        let admits = |text: &&str| constraints.admits(&text.parse().expect("a version"));
        assert!(TRIED.split_whitespace().filter(admits).all(|text| got.contains(&text)), "{constraints}");
    }

    #[test]
    fn a_prerelease_or_build_metadata_went_around_what_was_denied() {
        check_forbidden("", "1.3.9* 1.4.0* 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden("1.4.0", "1.4.0 1.4.0+b");
        check_forbidden("= 1.4.0", "1.4.0 1.4.0+b");
        check_forbidden("= 1.4.0+evil", "1.4.0 1.4.0+b");
        check_forbidden("= 1.4.0-rc.1", "1.4.0-rc.1 1.4.0-rc.1+b");
        check_forbidden("!= 1.4.0", "1.3.9* 1.4.0-rc.1 1.4.0+b 1.4.0-rc.1+b 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden("< 1.4.0", "1.3.9* 1.4.0-rc.1 1.4.0-rc.1+b");
        check_forbidden("<= 1.4.0", "1.3.9* 1.4.0*");
        check_forbidden("> 1.4.0", "1.4.1* 1.5.0* 2.0.0*");
        check_forbidden(">= 1.4.0", "1.4.0* 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden("> 1.4.0-rc.1", "1.4.0 1.4.0+b 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden(">= 1.4.0-rc.1", "1.4.0* 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden(">= 1.4.0-rc.2", "1.4.0 1.4.0+b 1.4.1* 1.5.0* 2.0.0*");
        check_forbidden("~> 1.4.0", "1.4.0* 1.4.1* 1.5.0-rc.1 1.5.0-rc.1+b");
        check_forbidden("~> 1.4", "1.4.0* 1.4.1* 1.5.0* 2.0.0-rc.1 2.0.0-rc.1+b");
        check_forbidden("~> 1", "1.3.9* 1.4.0* 1.4.1* 1.5.0* 2.0.0-rc.1 2.0.0-rc.1+b");
        check_forbidden(">= 1.4.0, < 1.5.0", "1.4.0* 1.4.1* 1.5.0-rc.1 1.5.0-rc.1+b");
        check_forbidden("< 1.5.0, != 1.4.0", "1.3.9* 1.4.0-rc.1 1.4.0+b 1.4.0-rc.1+b 1.4.1* 1.5.0-rc.1 1.5.0-rc.1+b");
        check_forbidden("< 1.4.0, > 1.5.0", "");
    }

    #[test]
    fn what_one_of_the_two_orders_of_prereleases_forbids_is_forbidden() {
        let forbids = |constraints: &str, version: &str| {
            constraints.parse::<Constraints>().expect("constraints").forbids(&version.parse().expect("a version"))
        };
        // OpenTofu puts 1.0.0-beta before 1.0.0-alpha.1, and semver after it.
        assert!(forbids("< 1.0.0-beta", "1.0.0-alpha.1") && forbids("> 1.0.0-beta", "1.0.0-alpha.1"));
        assert!(!forbids("< 1.0.0-beta", "1.0.0-rc") && !forbids("= 1.0.0-beta", "1.0.0-alpha.1"));
        assert!(forbids("0.0.0", "0.0.0") && forbids("", "0.0.0"));
    }

    #[test]
    fn both_lists_at_once_are_rendered_once() {
        let parse = |text: &str| text.parse::<Constraints>().expect("constraints");
        let both = parse(">= 2.68").and(&parse(">= 2.68.0, < 3"));
        assert_eq!(both.to_string(), ">= 2.68.0, < 3.0.0");
        assert_eq!(both, parse("< 3.0.0, >= 2.68.0"));
        assert!(parse(" ").is_any());
        assert_eq!(parse("1.0.0+b.10, 1.0.0+b.9, 1.0.0").to_string(), "1.0.0, 1.0.0+b.9, 1.0.0+b.10");
        assert_eq!(Constraints::exactly("1.0.0+x".parse().expect("a version")).to_string(), "1.0.0+x");
    }
}
