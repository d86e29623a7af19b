//! What the comment beside a pinned source says: the version that the digest is, and which versions may follow it.
//!
//! ```text
//! 1.4.0                     the canonical tag of a version
//! tag=main                  any other tag
//! 1.4.0 (~> 1.4)            with a constraint for `--upgrade`
//! (~> 1.4)   ~> 1.4         a constraint alone: whoever pins the call chooses the version
//! 1.4.0 # ask Bob           the user's own comment follows
//! ```

use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Range;

use tofu_oci_types::{Constraints, InvalidConstraints, Tag, Version};

/// What a comment says of a pin. `Display` is the text of the comment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PinNote {
    /// The tag that named the digest when the call was pinned; `None` if the comment has a constraint alone.
    pub tag: Option<Tag>,
    /// Which versions may follow it; `None` if all may.
    pub constraint: Option<NotedConstraint>,
}

/// A constraint as its user wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotedConstraint {
    text: String,
    constraints: Constraints,
}

/// What a text says, and the bytes that say it; the rest is the user's.
pub(super) type FoundNote = (Range<usize>, PinNote);

impl NotedConstraint {
    /// The versions that it admits.
    pub fn constraints(&self) -> &Constraints {
        &self.constraints
    }

    fn parse(text: &str) -> Result<Self, InvalidConstraints> {
        Ok(Self { text: text.trim().to_owned(), constraints: text.parse()? })
    }
}

impl fmt::Display for NotedConstraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for PinNote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.tag, &self.constraint) {
            (Some(tag), None) => f.write_str(&named(tag)),
            (Some(tag), Some(constraint)) => write!(f, "{} ({constraint})", named(tag)),
            (None, Some(constraint)) => write!(f, "({constraint})"),
            (None, None) => Ok(()),
        }
    }
}

/// A version if this is its canonical tag, else the tag with its name.
fn named(tag: &Tag) -> String {
    match tag.canonical_version() {
        Some(version) => version.to_string(),
        None => format!("tag={tag}"),
    }
}

/// The note at the beginning of a comment's text; `None` if it has none, so that all of it is the user's.
///
/// # Errors
/// If it has a constraint that cannot be read.
pub(super) fn read(comment: &str) -> Result<Option<FoundNote>, InvalidConstraints> {
    let start = comment.len() - comment.trim_start().len();
    let text = &comment[start..];
    let (tag, mut end) = match word(text) {
        Some((tag, length)) => (Some(tag), length),
        None => (None, 0),
    };
    let rest = &text[end..];
    let gap = rest.len() - rest.trim_start().len();
    let (constraint, length) = constraint(rest.trim_start(), tag.is_some())?;
    if constraint.is_some() {
        end += gap + length;
    }
    let after = text[end..].trim_start();
    let is_over = after.is_empty() || ["#", "//", "/*"].iter().any(|mark| after.starts_with(mark));
    if !is_over || (tag.is_none() && constraint.is_none()) {
        return Ok(None);
    }
    Ok(Some((start..start + end, PinNote { tag, constraint })))
}

/// What of a comment without a note looks as if it was meant for one; `None` if it is a text for people.
///
/// ```text
/// 1.4.0 (<1.4.2    (~> 1.4     1.4.0 (~> 1.4) blah    a constraint that does not end, or is not alone
/// v1.4.0           1.4         1.4.x                  alone in its comment, and no version in full
/// ~> 1.4 or so                                        a constraint with more behind it
/// ```
pub(super) fn meant_as_note(comment: &str) -> Option<String> {
    let end = ["#", "//", "/*"].iter().filter_map(|mark| comment.find(mark)).min().unwrap_or(comment.len());
    let text = comment[..end].trim();
    let rest = word(text).map_or(text, |(_, length)| text[length..].trim_start());
    let is_meant = match rest.strip_prefix('(') {
        Some(inside) => is_constraint(inside.trim_start()),
        None => is_constraint(rest) || (rest.len() == text.len() && is_almost_version(text)),
    };
    is_meant.then(|| text.to_owned())
}

/// Whether a text begins as a constraint does: an operator, and a number that has dots or ends what is compared. `>5 nodes` is a
/// text for people.
fn is_constraint(text: &str) -> bool {
    let operand = text.trim_start_matches(['~', '>', '<', '=', '!']);
    if operand.len() == text.len() {
        return false;
    }
    let operand = operand.trim_start();
    let end = operand.find(|one: char| one.is_whitespace() || [',', ')'].contains(&one)).unwrap_or(operand.len());
    let (number, rest) = (&operand[..end], operand[end..].trim_start());
    number.starts_with(|first: char| first.is_ascii_digit())
        && (number.contains('.') || rest.is_empty() || rest.starts_with([',', ')']))
}

/// Whether a text is one word of numbers with dots, perhaps with a `v` in front, and is no IPv4 address.
fn is_almost_version(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    text.parse::<Ipv4Addr>().is_err()
        && number.starts_with(|first: char| first.is_ascii_digit())
        && number.contains('.')
        && number.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".+-".contains(&byte))
}

/// The tag that the first word means, and its length.
fn word(text: &str) -> Option<(Tag, usize)> {
    let word = text.split(|one: char| one.is_whitespace() || one == '(').next()?;
    if let Some(tag) = word.strip_prefix("tag=") {
        return Some((tag.parse().ok()?, word.len()));
    }
    let version: Version = word.parse().ok()?;
    let tag = Tag::for_version(&version).ok().filter(|_| version.to_string() == word)?;
    Some((tag, word.len()))
}

/// The constraint in parentheses that a text begins with, or without them if nothing is named before it; its length.
fn constraint(text: &str, is_after_name: bool) -> Result<(Option<NotedConstraint>, usize), InvalidConstraints> {
    let has_operator = |text: &str| text.trim_start().starts_with(['~', '>', '<', '=', '!']);
    if let Some((inside, _)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) {
        return match NotedConstraint::parse(inside) {
            Ok(read) if !read.constraints.is_any() => Ok((Some(read), inside.len() + 2)),
            Err(error) if has_operator(inside) => Err(error),
            _ => Ok((None, 0)),
        };
    }
    if is_after_name || !has_operator(text) {
        return Ok((None, 0));
    }
    let end = ["#", "//", "/*"].iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    let written = text[..end].trim_end();
    // An arrow or a line of dashes is not a constraint.
    match NotedConstraint::parse(written) {
        Ok(read) => Ok((Some(read), written.len())),
        Err(_) => Ok((None, 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The note, and what is left of the comment.
    #[track_caller]
    fn check(comment: &str, want: &str) {
        let got = match read(comment) {
            Ok(Some((span, note))) => {
                format!("{}[{note}]{}", &comment[..span.start], &comment[span.end..])
            }
            Ok(None) => "none".to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(got, want, "{comment:?}");
    }

    #[test]
    fn a_version_or_a_tag_may_have_a_constraint() {
        check(" 1.4.0", " [1.4.0]");
        check("1.4.0 ", "[1.4.0] ");
        check(" 1.4.0+b.1", " [1.4.0+b.1]");
        check(" tag=main", " [tag=main]");
        check(" tag=1.4", " [tag=1.4]");
        check(" 1.4.0 (~> 1.4)", " [1.4.0 (~> 1.4)]");
        check(" 1.4.0(>= 1.4, < 3)", " [1.4.0 (>= 1.4, < 3)]");
        check(" 1.4.0  ( ~> 1.4 )", " [1.4.0 (~> 1.4)]");
        check(" tag=latest (1.4.0)", " [tag=latest (1.4.0)]");
    }

    #[test]
    fn a_constraint_may_stand_alone() {
        check(" (~> 1.4)", " [(~> 1.4)]");
        check(" ~> 1.4", " [(~> 1.4)]");
        check(" >= 1.4, < 3 # ask Bob", " [(>= 1.4, < 3)] # ask Bob");
    }

    #[test]
    fn the_users_own_comment_follows_or_is_all_there_is() {
        check(" 1.4.0 # ask Bob", " [1.4.0] # ask Bob");
        check(" 1.4.0 // ask Bob", " [1.4.0] // ask Bob");
        check(" 1.4.0 (~> 1.4) # 1.5.0 breaks", " [1.4.0 (~> 1.4)] # 1.5.0 breaks");
        for comment in [
            "",
            " ",
            " ask Bob",
            " 1.4.0 is broken",
            " 1.4",
            " v1.4.0",
            " 01.4.0",
            " latest",
            " (see the docs)",
            " 1.4.0 (the good one)",
            " 1.4.0 (2 nodes)",
            " => x",
            " -- 1.4.0",
            " ~> 1.4 or so",
            " tag=",
            " tag=a/b",
        ] {
            check(comment, "none");
        }
    }

    #[test]
    fn what_was_meant_as_a_note_is_known() {
        let meant = |comment: &str| {
            assert_eq!(read(comment).map(|found| found.is_none()), Ok(true), "{comment:?}");
            meant_as_note(comment)
        };
        for comment in ["1.4.0 (<1.4.2", "(~> 1.4", "1.4.0 (~> 1.4) blah", "v1.4.0", "1.4", "1.4.x", "~> 1.4 or so"] {
            assert_eq!(meant(&format!(" {comment} # ask Bob")).as_deref(), Some(comment));
        }
        for comment in
            ["", "ask Bob", "1.4.0 is broken", "(see the docs)", "1.4.0 (2 nodes)", "=> x", "-- 1.4.0", "443"]
        {
            assert_eq!(meant(comment), None, "{comment}");
        }
    }

    #[test]
    fn an_ipv4_address_or_a_number_of_things_is_a_text_for_people() {
        for comment in ["10.0.0.1", "10.0.0.1 # the gateway", ">5 nodes", "> 5 nodes", ">= 3 replicas"] {
            assert_eq!(meant_as_note(comment), None, "{comment}");
        }
        for comment in [">= 1.4 nodes", ">1, <3 or so", "(>5", "1.2.3.4.5"] {
            assert_eq!(meant_as_note(comment).as_deref(), Some(comment));
        }
    }

    #[test]
    fn a_constraint_that_cannot_be_read_is_an_error() {
        check(
            " 1.4.0 (~> 1.x)",
            "`~> 1.x` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any",
        );
    }
}
