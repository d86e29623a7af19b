//! What a signature says: which digest, of which provider, in which version.

use std::str::FromStr;

use serde_json::{Value, json};
use tofu_oci_types::{Digest, ProviderAddr, Version};

use crate::json;
use crate::vocabulary::{ADDRESS_ANNOTATION, SIGN_PREDICATE, VERSION_ANNOTATION};

/// What a statement may be about at most.
const SUBJECTS: usize = 1024;

/// What we write, and what `cosign sign` writes.
const STATEMENT_V1: &str = "https://in-toto.io/Statement/v1";
/// What `cosign attest` still writes; of what is read here the two are the same.
const STATEMENT_V0_1: &str = "https://in-toto.io/Statement/v0.1";

/// The signed statement, whichever form it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// What is said about the subjects; [`SIGN_PREDICATE`](crate::SIGN_PREDICATE) for cosign's `.sig` form, which has
    /// no such member.
    pub predicate_type: String,
    /// What it is said about; one at least, 1024 at most.
    pub subjects: Vec<Subject>,
}

/// One thing that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its SHA-256; nothing when the statement names it by another hash only.
    pub digest: Option<Digest>,
    /// The provider that the signer named.
    pub address: Name<ProviderAddr>,
    /// The version that the signer named.
    pub version: Name<Version>,
}

/// A name within a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name<T> {
    /// The signer did not say.
    Absent,
    /// The signer said this.
    Is(T),
    /// The signer said something that is no such name.
    Invalid(String),
}

/// What we sign: this index is that provider in that version.
#[derive(Clone, Copy, Debug)]
pub struct SignedSubject<'a> {
    /// The digest of the index.
    pub index: &'a Digest,
    /// The provider.
    pub address: &'a ProviderAddr,
    /// Its version.
    pub version: &'a Version,
}

impl Statement {
    /// Of the payload of an envelope.
    ///
    /// Spec: in-toto attestation v1, `spec/v1/statement.md`.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, String> {
        let value = json::parse(payload).map_err(|problem| format!("the statement: {problem}"))?;
        let kind = json::text(&value, "_type")?;
        if !matches!(kind, STATEMENT_V1 | STATEMENT_V0_1) {
            return Err(format!("`_type` is {kind:?}, not {STATEMENT_V1:?}"));
        }
        let predicate_type = json::text(&value, "predicateType")?.to_owned();
        let subjects = json::list(&value, "subject")?;
        if subjects.len() > SUBJECTS {
            return Err(format!("it has {} subjects, and at most {SUBJECTS} are read", subjects.len()));
        }
        let subjects = subjects.iter().map(Subject::parse).collect::<Result<Vec<_>, _>>()?;
        if subjects.iter().all(|subject| subject.digest.is_none()) {
            return Err("no subject has a `sha256`".to_owned());
        }
        Ok(Self { predicate_type, subjects })
    }
}

impl Subject {
    fn parse(value: &Value) -> Result<Self, String> {
        let digest = json::object(value, "digest")?;
        let digest = match digest.get("sha256") {
            None => None,
            Some(_) => Some(sha256(json::text(digest, "sha256")?)?),
        };
        let names = value.get("annotations").filter(|names| !names.is_null());
        Self::named(digest, names, "annotations")
    }

    /// With the names that are members of `names`, which is called `place`.
    pub(crate) fn named(digest: Option<Digest>, names: Option<&Value>, place: &str) -> Result<Self, String> {
        if names.is_some_and(|names| !names.is_object()) {
            return Err(format!("`{place}` is not an object"));
        }
        let member = |name| names.and_then(|names| names.get(name));
        Ok(Self {
            digest,
            address: Name::parse(member(ADDRESS_ANNOTATION)),
            version: Name::parse(member(VERSION_ANNOTATION)),
        })
    }
}

fn sha256(hex: &str) -> Result<Digest, String> {
    format!("sha256:{hex}").parse().map_err(|error| format!("a subject: {error}"))
}

impl<T: FromStr> Name<T> {
    fn parse(value: Option<&Value>) -> Self {
        match value {
            None => Self::Absent,
            Some(Value::String(text)) => text.parse().map_or_else(|_| Self::Invalid(text.clone()), Self::Is),
            Some(other) => Self::Invalid(other.to_string()),
        }
    }
}

impl SignedSubject<'_> {
    /// The two annotations that name it, sorted as cosign sorts them.
    pub(crate) fn names(&self) -> Value {
        json!({ ADDRESS_ANNOTATION: self.address.to_string(), VERSION_ANNOTATION: self.version.to_string() })
    }

    /// The in-toto statement about it, as `cosign sign -a` writes it.
    pub(crate) fn to_statement(self) -> Vec<u8> {
        json!({
            "_type": STATEMENT_V1,
            "subject": [{
                "digest": { self.index.algorithm_name(): self.index.encoded() },
                "annotations": self.names(),
            }],
            "predicateType": SIGN_PREDICATE,
            "predicate": {},
        })
        .to_string()
        .into_bytes()
    }
}
