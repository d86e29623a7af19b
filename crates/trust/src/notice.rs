//! What a publisher says of a release after it was published: deprecated, withdrawn, available again.
//!
//! ```text
//! Notice --to_statement--> in-toto statement --sign_notice--> Sigstore bundle
//! bundle or statement --StatedNotice::peek--> StatedNotice { digest, subjects, notice }
//! those that count --in_force--> the one that holds
//! ```
//!
//! A notice has no time. It names the statements that it supersedes, by their digests, so an old notice that somebody
//! shows again does not come into force again.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tofu_oci_types::{Digest, Predecessors};

use crate::bundle::{sign_statement, statement_bytes};
use crate::json;
use crate::statement::{SignedContent, Statement, StatementSubject};
use crate::vocabulary::NOTICE_PREDICATE;
use crate::{PrivateKey, SignatureFault};

/// The most characters of a reason.
const REASON: usize = 1024;

/// How the reasons of withdrawals by `mirror` ended before its notices named their writer.
const OF_OLDER_MIRRORS: [&str; 2] =
    ["the rules of the mirror no longer name this version", "no longer lists this version"];

/// The most statements that a notice may supersede.
const SUPERSEDED: usize = 100;

/// What the publisher says of a release; a graver state is greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReleaseState {
    /// It can be used: what was said before no longer holds.
    Available,
    /// It works, and another one should be used.
    Deprecated,
    /// It must not be used.
    Withdrawn,
}

/// Why a publisher says so: one line of 1 to 1024 characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct NoticeReason(String);

/// A text that is not the reason of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidNoticeReason {
    #[error("the text is empty")]
    Empty,
    #[error("the text has {characters} characters, and at most {REASON} are allowed")]
    TooLong { characters: usize },
    #[error("the text has a line break or another control character; it must be one line")]
    NotOneLine,
}

/// Who decided what a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NoticeWriter {
    /// People.
    Publisher,
    /// A run of `mirror`, by its rules or because its source no longer lists the version.
    Mirror,
}

/// What the publisher says of a release.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Notice {
    /// What may be done with it.
    pub state: ReleaseState,
    /// Why.
    pub reason: NoticeReason,
    /// Who says so.
    pub writer: NoticeWriter,
    /// The index that took its place under the tag of the version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<Digest>,
    /// The statements that no longer hold.
    pub supersedes: BTreeSet<Digest>,
}

/// A notice as it was found, unverified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedNotice {
    /// The SHA-256 of the statement: what another notice supersedes it by.
    pub digest: Digest,
    /// What it is said about.
    pub subjects: Vec<StatementSubject>,
    pub notice: Notice,
    /// Whether it lies in a bundle with a signature, which was not verified here.
    pub is_signed: bool,
    /// The key that the bundle says has signed it, as a key id if it is one; `None` if it does not say.
    pub claimed_key: Option<String>,
}

impl ReleaseState {
    /// The name in a statement.
    pub fn name(self) -> &'static str {
        match self {
            Self::Available => "available",
            Self::Deprecated => "deprecated",
            Self::Withdrawn => "withdrawn",
        }
    }
}

impl fmt::Display for ReleaseState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl fmt::Display for NoticeWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Publisher => "its publisher",
            Self::Mirror => "the mirror",
        })
    }
}

impl NoticeWriter {
    /// Who wrote a notice that does not say it.
    fn of_unnamed(reason: &NoticeReason) -> Self {
        let is_of_mirror = OF_OLDER_MIRRORS.iter().any(|end| reason.as_str().ends_with(end));
        if is_of_mirror { Self::Mirror } else { Self::Publisher }
    }
}

impl FromStr for NoticeReason {
    type Err = InvalidNoticeReason;

    fn from_str(text: &str) -> Result<Self, InvalidNoticeReason> {
        let text = text.trim();
        let characters = text.chars().count();
        match characters {
            0 => Err(InvalidNoticeReason::Empty),
            1..=REASON if text.chars().any(breaks_line) => Err(InvalidNoticeReason::NotOneLine),
            1..=REASON => Ok(Self(text.to_owned())),
            _ => Err(InvalidNoticeReason::TooLong { characters }),
        }
    }
}

fn breaks_line(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

impl NoticeReason {
    /// The text, as its author wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for NoticeReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Notice {
    /// The in-toto statement that says it of `subject`: the same bytes for the same arguments.
    pub fn to_statement<'a>(&self, subject: impl Into<SignedContent<'a>>) -> Vec<u8> {
        let mut predicate = json!({ "state": self.state.name(), "reason": self.reason.as_str() });
        // Most notices are those of publishers, and older programs made them without this member: they stay the same bytes.
        match self.writer {
            NoticeWriter::Publisher if NoticeWriter::of_unnamed(&self.reason) == self.writer => {}
            writer => predicate["writer"] = json!(writer),
        }
        if let Some(index) = &self.replaced_by {
            predicate["replacedBy"] = json!(index.to_string());
        }
        predicate["supersedes"] = self.supersedes.iter().map(ToString::to_string).collect();
        subject.into().statement(NOTICE_PREDICATE, &predicate, None)
    }

    fn parse(statement: &[u8]) -> Result<Self, String> {
        let value = json::parse(statement)?;
        let predicate = json::object(&value, "predicate")?;
        let state = match json::text(predicate, "state")? {
            "available" => ReleaseState::Available,
            "deprecated" => ReleaseState::Deprecated,
            "withdrawn" => ReleaseState::Withdrawn,
            other => return Err(format!("`state` is {}", json::shown(other))),
        };
        let reason = json::text(predicate, "reason")?.parse().map_err(|problem| format!("`reason`: {problem}"))?;
        let writer = match predicate.get("writer").and_then(Value::as_str) {
            Some("mirror") => NoticeWriter::Mirror,
            Some(_) => NoticeWriter::Publisher,
            None => NoticeWriter::of_unnamed(&reason),
        };
        let replaced_by = match predicate.get("replacedBy") {
            None => None,
            Some(_) => Some(digest(json::text(predicate, "replacedBy")?)?),
        };
        let supersedes = match predicate.get("supersedes") {
            None => &[],
            Some(_) => json::list(predicate, "supersedes")?,
        };
        if supersedes.len() > SUPERSEDED {
            return Err(format!("it supersedes {} statements, and at most {SUPERSEDED} are read", supersedes.len()));
        }
        let supersedes = supersedes.iter().map(|one| {
            let text = Value::as_str(one).ok_or_else(|| "`supersedes` holds something else than texts".to_owned())?;
            digest(text)
        });
        Ok(Self { state, reason, writer, replaced_by, supersedes: supersedes.collect::<Result<_, _>>()? })
    }
}

fn digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|_| format!("{} is not a digest", json::shown(text)))
}

impl StatedNotice {
    /// What a bundle or a bare statement claims, unverified; `None` if it is a statement of another type.
    pub fn peek(bytes: &[u8]) -> Result<Option<Self>, SignatureFault> {
        let value = json::parse(bytes).map_err(SignatureFault::malformed)?;
        if value.get("_type").is_some() {
            return Self::parse(bytes);
        }
        let (statement, claimed_key) = statement_bytes(bytes)?;
        Ok(Self::parse(&statement)?.map(|stated| Self { is_signed: true, claimed_key, ..stated }))
    }

    pub(crate) fn parse(statement: &[u8]) -> Result<Option<Self>, SignatureFault> {
        let read = Statement::parse(statement).map_err(SignatureFault::malformed)?;
        if read.predicate_type != NOTICE_PREDICATE {
            return Ok(None);
        }
        let notice = Notice::parse(statement).map_err(SignatureFault::malformed)?;
        Ok(Some(Self {
            digest: Digest::sha256(statement),
            subjects: read.subjects,
            notice,
            is_signed: false,
            claimed_key: None,
        }))
    }

    /// Whether it is about this very content, under the names that belong to it.
    pub fn is_about<'a>(&self, content: impl Into<SignedContent<'a>>) -> bool {
        self.is_about_one(content.into(), Predecessors::NONE)
    }

    /// The same, also under the address of a predecessor.
    pub(crate) fn is_about_one(&self, content: SignedContent<'_>, predecessors: &Predecessors) -> bool {
        self.subjects.iter().any(|subject| content.is_one(subject, predecessors))
    }
}

/// A bundle in which `key` signs the notice about `subject`: the same bytes for the same arguments.
pub fn sign_notice<'a>(key: &PrivateKey, subject: impl Into<SignedContent<'a>>, notice: &Notice) -> Vec<u8> {
    sign_statement(key, notice.to_statement(subject))
}

/// Of notices about one release, the one that holds: of those that no other one supersedes, the gravest. If they supersede
/// each other all around, the gravest of all; of equally grave ones that with the smallest digest.
pub fn in_force<'a>(notices: impl IntoIterator<Item = &'a StatedNotice>) -> Option<&'a StatedNotice> {
    let notices: Vec<&StatedNotice> = notices.into_iter().collect();
    let heads = heads(&notices);
    let of = if heads.is_empty() { notices } else { heads };
    of.into_iter()
        .max_by(|one, other| one.notice.state.cmp(&other.notice.state).then_with(|| other.digest.cmp(&one.digest)))
}

/// Those that no other one of them supersedes.
pub fn heads<'a>(notices: &[&'a StatedNotice]) -> Vec<&'a StatedNotice> {
    let is_superseded = |digest: &Digest| {
        notices.iter().any(|other| other.digest != *digest && other.notice.supersedes.contains(digest))
    };
    notices.iter().filter(|notice| !is_superseded(&notice.digest)).copied().collect()
}

#[cfg(test)]
mod tests;
