//! What a signature says: which digest is which version of which provider or module.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;
use serde_json::{Value, json};
use tofu_oci_types::{Digest, Predecessors, ProviderAddr, Version};

use crate::json;
use crate::published::PublishedRelease;
use crate::slsa::Build;
use crate::sums::Sums;
use crate::vocabulary::{ADDRESS_ANNOTATION, NOTE_ANNOTATION, SIGN_PREDICATE, VERSION_ANNOTATION};

/// The most subjects that a statement may have.
const SUBJECTS: usize = 1024;

/// What we write, and what `cosign sign` writes.
const STATEMENT_V1: &str = "https://in-toto.io/Statement/v1";
/// What `cosign attest` still writes; of what is read here the two are the same.
const STATEMENT_V0_1: &str = "https://in-toto.io/Statement/v0.1";

/// The signed statement, whichever form it was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The type of the statement about the subjects; [`SIGN_PREDICATE`] for cosign's `.sig` form, which has
    /// no such member.
    pub predicate_type: String,
    /// What it is said about; one at least, 1024 at most.
    pub subjects: Vec<StatementSubject>,
    /// How it was built; `None` unless the statement is provenance.
    pub build: Option<Build>,
    /// What GitHub says of an immutable release; `None` unless the statement is of that type.
    pub published: Option<PublishedRelease>,
}

/// One thing that a statement is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatementSubject {
    /// Its SHA-256; `None` if the statement names it by another hash only.
    pub digest: Option<Digest>,
    /// What the signer called it, such as the name of a file.
    pub name: Option<String>,
    /// The provider that the signer named.
    pub address: Name<ProviderAddr>,
    /// The version that the signer named.
    pub version: Name<Version>,
    /// What the signer says besides.
    pub note: Option<String>,
}

/// A name within a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name<T> {
    /// The signer did not say.
    Absent,
    /// The signer said this.
    Is(T),
    /// The signer wrote something that is not such a name.
    Invalid(String),
}

/// What we sign: this index is that provider in that version.
#[derive(Clone, Copy, Debug)]
pub struct SignedSubject<'a> {
    pub index: &'a Digest,
    pub address: &'a ProviderAddr,
    pub version: &'a Version,
}

/// What a signature of ours is about.
#[derive(Clone, Copy, Debug)]
pub enum SignedContent<'a> {
    /// A release, by its names.
    Release(SignedSubject<'a>),
    /// A manifest that says itself what it is, as that of a module: the signature adds no name.
    Manifest(&'a Digest),
}

/// What a version of a repository is: a release of a provider, or a module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum VersionOf {
    /// A release of a provider.
    Provider {
        /// The provider.
        address: ProviderAddr,
    },
    /// The package of a module, which has no address.
    Module,
}

impl VersionOf {
    /// What a signature or notice about this version must be about, if its manifest has this digest.
    pub fn content<'a>(&'a self, manifest: &'a Digest, version: &'a Version) -> SignedContent<'a> {
        match self {
            Self::Provider { address } => SignedContent::Release(SignedSubject { index: manifest, address, version }),
            Self::Module => SignedContent::Manifest(manifest),
        }
    }

    /// The provider; `None` for a module.
    pub fn address(&self) -> Option<&ProviderAddr> {
        match self {
            Self::Provider { address } => Some(address),
            Self::Module => None,
        }
    }
}

impl From<&ProviderAddr> for VersionOf {
    fn from(address: &ProviderAddr) -> Self {
        Self::Provider { address: address.clone() }
    }
}

/// `registry.example.com/acme/widget`, or `the module`: a version can follow.
impl fmt::Display for VersionOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider { address } => address.fmt(f),
            Self::Module => f.write_str("the module"),
        }
    }
}

impl<'a> From<&SignedSubject<'a>> for SignedContent<'a> {
    fn from(subject: &SignedSubject<'a>) -> Self {
        Self::Release(*subject)
    }
}

impl Statement {
    /// The files that it names, as a list; `None` if one has two digests.
    pub fn files(&self) -> Option<Sums> {
        let subjects = self.subjects.iter();
        Sums::of(subjects.filter_map(|subject| Some((subject.name.as_deref()?, subject.digest.as_ref()?))))
    }

    /// Of the payload of an envelope.
    ///
    /// Spec: in-toto attestation v1, `spec/v1/statement.md`.
    pub(crate) fn parse(payload: &[u8]) -> Result<Self, String> {
        let value = json::parse(payload).map_err(|problem| format!("the statement: {problem}"))?;
        let kind = json::text(&value, "_type")?;
        if !matches!(kind, STATEMENT_V1 | STATEMENT_V0_1) {
            return Err(format!("`_type` is {}, not {STATEMENT_V1:?}", json::shown(kind)));
        }
        let predicate_type = json::text(&value, "predicateType")?.to_owned();
        let subjects = json::list(&value, "subject")?;
        if subjects.len() > SUBJECTS {
            return Err(format!("it has {} subjects, and at most {SUBJECTS} are read", subjects.len()));
        }
        let subjects = subjects.iter().map(StatementSubject::parse).collect::<Result<Vec<_>, _>>()?;
        if subjects.iter().all(|subject| subject.digest.is_none()) {
            return Err("no subject has a `sha256`".to_owned());
        }
        let predicate = value.get("predicate");
        let build = Build::of(&predicate_type, predicate);
        let published = PublishedRelease::of(&predicate_type, predicate);
        Ok(Self { predicate_type, subjects, build, published })
    }

    /// Whether one of its subjects has this digest.
    pub(crate) fn names(&self, digest: &Digest) -> bool {
        self.subjects.iter().any(|subject| subject.digest.as_ref() == Some(digest))
    }
}

impl StatementSubject {
    fn parse(value: &Value) -> Result<Self, String> {
        let digest = json::object(value, "digest")?;
        let digest = match digest.get("sha256") {
            None => None,
            Some(_) => Some(sha256(json::text(digest, "sha256")?)?),
        };
        let names = value.get("annotations").filter(|names| !names.is_null());
        let name = value.get("name").and_then(Value::as_str).map(str::to_owned);
        Ok(Self { name, ..Self::named(digest, names, "annotations")? })
    }

    /// With the names that are members of `names`, which is called `place`.
    pub(crate) fn named(digest: Option<Digest>, names: Option<&Value>, place: &str) -> Result<Self, String> {
        if names.is_some_and(|names| !names.is_object()) {
            return Err(format!("`{place}` is not an object"));
        }
        let member = |name| names.and_then(|names| names.get(name));
        Ok(Self {
            digest,
            name: None,
            address: Name::parse(member(ADDRESS_ANNOTATION)),
            version: Name::parse(member(VERSION_ANNOTATION)),
            note: member(NOTE_ANNOTATION).and_then(Value::as_str).map(str::to_owned),
        })
    }
}

fn sha256(hex: &str) -> Result<Digest, String> {
    let digest = format!("sha256:{hex}").parse();
    digest.map_err(|_| format!("a subject's `sha256` is {}, not 64 lower-case hexadecimal digits", json::shown(hex)))
}

impl<T: FromStr + ToString> Name<T> {
    /// Only as it is written out: `1.0` is not a version, and `acme/widget` names no host.
    pub(crate) fn written(text: &str) -> Self {
        match text.parse::<T>() {
            Ok(name) if name.to_string() == text => Self::Is(name),
            _ => Self::Invalid(text.to_owned()),
        }
    }

    fn parse(value: Option<&Value>) -> Self {
        match value {
            None => Self::Absent,
            Some(Value::String(text)) => Self::written(text),
            Some(other) => Self::Invalid(other.to_string()),
        }
    }
}

impl<'a> SignedContent<'a> {
    /// The digest of the index or manifest.
    pub fn digest(&self) -> &'a Digest {
        match self {
            Self::Release(SignedSubject { index, .. }) => index,
            Self::Manifest(digest) => digest,
        }
    }

    /// Whether a subject of a statement is this very content under these very names.
    pub fn is(&self, subject: &StatementSubject) -> bool {
        self.is_one(subject, Predecessors::NONE)
    }

    /// The same if these names count as one.
    pub(crate) fn is_one(&self, subject: &StatementSubject, predecessors: &Predecessors) -> bool {
        let named = match self {
            Self::Release(SignedSubject { address, version, .. }) => {
                matches!(&subject.address, Name::Is(named) if predecessors.same_provider(named, address))
                    && matches!(&subject.version, Name::Is(named) if named == *version)
            }
            Self::Manifest(_) => subject.address == Name::Absent && subject.version == Name::Absent,
        };
        named && subject.digest.as_ref() == Some(self.digest())
    }

    /// The annotations that name it, and a note, sorted as cosign sorts them. Without any it is null, as cosign writes it.
    pub(crate) fn annotations(&self, note: Option<&str>) -> Value {
        let mut all = match self {
            Self::Release(SignedSubject { address, version, .. }) => {
                json!({ ADDRESS_ANNOTATION: address.to_string(), VERSION_ANNOTATION: version.to_string() })
            }
            Self::Manifest(_) => Value::Null,
        };
        if let Some(note) = note {
            all[NOTE_ANNOTATION] = note.into();
        }
        all
    }

    /// The in-toto statement about it, as `cosign sign` writes it, with what the signer says besides.
    pub fn to_statement(self, note: Option<&str>) -> Vec<u8> {
        self.statement(SIGN_PREDICATE, &json!({}), note)
    }

    /// An in-toto statement about it with this predicate.
    pub(crate) fn statement(self, predicate_type: &str, predicate: &Value, note: Option<&str>) -> Vec<u8> {
        let digest = self.digest();
        let mut subject = json!({ "digest": { digest.algorithm_name(): digest.encoded() } });
        let annotations = self.annotations(note);
        if !annotations.is_null() {
            subject["annotations"] = annotations;
        }
        json!({
            "_type": STATEMENT_V1,
            "subject": [subject],
            "predicateType": predicate_type,
            "predicate": predicate,
        })
        .to_string()
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{address, index, version};

    const HEX: &str = "41fc87ebfa1add0bf3e668238cf58fad7d1259029d6f5ed4504e0eb15f9db5db";

    #[track_caller]
    fn check(subjects: &str, want: Result<&[StatementSubject], &str>) {
        let text = format!(r#"{{"_type":"{STATEMENT_V1}","subject":{subjects},"predicateType":"p","predicate":1}}"#);
        let got = Statement::parse(text.as_bytes());
        assert_eq!(got.as_ref().map(|got| got.subjects.as_slice()).map_err(String::as_str), want, "{subjects}");
    }

    #[test]
    fn a_signature_of_a_manifest_names_nothing_else() {
        let digest = index();
        let content = SignedContent::Manifest(&digest);
        let statement = Statement::parse(&content.to_statement(None)).unwrap();
        assert_eq!(statement.predicate_type, SIGN_PREDICATE);
        assert_eq!(statement.subjects, [subject(Some(index()), Name::Absent, Name::Absent)]);
        assert!(content.is(&statement.subjects[0]));
        let (address, version) = (address(), version());
        let release = SignedContent::from(&SignedSubject { index: &digest, address: &address, version: &version });
        assert!(!release.is(&statement.subjects[0]));
        let named = subject(Some(index()), Name::Is(address.clone()), Name::Is(version.clone()));
        assert!(release.is(&named) && !content.is(&named));
        let key = crate::fixtures::private("p256");
        let signed = crate::sign_cosign_tag(&key, content, None, "registry.example.com/acme/network");
        let opened = crate::open_cosign_tag(&signed.payload, &signed.signature, &[key.public().clone()]).unwrap();
        assert!(content.is(&opened.statement.subjects[0]));
    }

    fn subject(digest: Option<Digest>, address: Name<ProviderAddr>, version: Name<Version>) -> StatementSubject {
        StatementSubject { digest, name: None, address, version, note: None }
    }

    #[test]
    fn subjects() {
        let nameless = || subject(Some(index()), Name::Absent, Name::Absent);
        let file = StatementSubject { name: Some("x".to_owned()), ..nameless() };
        check(&format!(r#"[{{"name":"x","digest":{{"sha256":"{HEX}"}}}}]"#), Ok(&[file]));
        check(&format!(r#"[{{"digest":{{"sha256":"{HEX}"}},"annotations":null}}]"#), Ok(&[nameless()]));
        let other = subject(None, Name::Absent, Name::Absent);
        check(
            &format!(r#"[{{"digest":{{"sha512":"x"}}}},{{"digest":{{"sha256":"{HEX}"}}}}]"#),
            Ok(&[other, nameless()]),
        );
        check("[]", Err("no subject has a `sha256`"));
        check(r#"[{"digest":{"sha512":"x"}}]"#, Err("no subject has a `sha256`"));
        check(r#"[{"digest":{}}]"#, Err("no subject has a `sha256`"));
        check("[{}]", Err("`digest` is missing"));
        check(r#"[{"digest":{"sha256":1}}]"#, Err("`sha256` is not a text"));
        let upper = HEX.to_uppercase();
        check(
            &format!(r#"[{{"digest":{{"sha256":"{upper}"}}}}]"#),
            Err(&format!("a subject's `sha256` is \"{upper}\", not 64 lower-case hexadecimal digits")),
        );
        check(
            &format!(r#"[{{"digest":{{"sha256":"{HEX}"}},"annotations":[]}}]"#),
            Err("`annotations` is not an object"),
        );
        check("{}", Err("`subject` is not a list"));
        let many =
            |count: usize| format!("[{}]", vec![format!(r#"{{"digest":{{"sha256":"{HEX}"}}}}"#); count].join(","));
        check(&many(SUBJECTS), Ok(&vec![nameless(); SUBJECTS]));
        check(&many(SUBJECTS + 1), Err("it has 1025 subjects, and at most 1024 are read"));
    }

    #[test]
    fn names() {
        let check = |names: &str, address, version| {
            let subjects = format!(r#"[{{"digest":{{"sha256":"{HEX}"}},"annotations":{names}}}]"#);
            check(&subjects, Ok(&[subject(Some(index()), address, version)]));
        };
        check(
            r#"{"org.opentofu.provider.address":"registry.example.test/acme/widget","org.opentofu.provider.version":"1.0.0","x":"y"}"#,
            Name::Is(address()),
            Name::Is(version()),
        );
        check(r#"{"org.opentofu.provider.version":"1.0.0"}"#, Name::Absent, Name::Is(version()));
        check(
            r#"{"org.opentofu.provider.address":"registry.example.test./acme/widget"}"#,
            Name::Invalid("registry.example.test./acme/widget".to_owned()),
            Name::Absent,
        );
        check(
            r#"{"org.opentofu.provider.address":"a b","org.opentofu.provider.version":1}"#,
            Name::Invalid("a b".to_owned()),
            Name::Invalid("1".to_owned()),
        );
    }

    #[track_caller]
    fn check_whole(text: &str, want: Result<&str, &str>) {
        let got = Statement::parse(text.as_bytes()).map(|statement| statement.predicate_type);
        assert_eq!(got.as_deref().map_err(String::as_str), want, "{text}");
    }

    #[test]
    fn wholes() {
        let subject = format!(r#""subject":[{{"digest":{{"sha256":"{HEX}"}}}}]"#);
        let of = |kind: &str| format!(r#"{{"_type":"{kind}",{subject},"predicateType":"p"}}"#);
        check_whole(&of(STATEMENT_V1), Ok("p"));
        check_whole(&of(STATEMENT_V0_1), Ok("p"));
        check_whole(
            &of("https://in-toto.io/Statement/v2"),
            Err(r#"`_type` is "https://in-toto.io/Statement/v2", not "https://in-toto.io/Statement/v1""#),
        );
        check_whole(&format!(r#"{{"_type":"{STATEMENT_V1}",{subject}}}"#), Err("`predicateType` is missing"));
        check_whole(
            r#"{"_type":"a","_type":"a"}"#,
            Err(r#"the statement: the member "_type" is there twice at line 1 column 20"#),
        );
        check_whole("1", Err("`_type` is missing"));
    }
}
