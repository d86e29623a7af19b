//! The cases as they are written in the files.
//!
//! An unknown word is an error that names it: no case is taken for another one.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use serde_json::{Map, Value};
use tofu_oci_testkit::MockScript;

/// The release that this program behaves like.
const RELEASE: &str = "1.13-dev";

/// What the user has, how the registry behaves, and what `OpenTofu` made of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    pub(super) name: String,
    #[expect(dead_code, reason = "the tally reads it before words are replaced")]
    group: String,
    /// Null takes a variable away.
    #[serde(default)]
    pub(super) env: BTreeMap<String, Option<String>>,
    #[serde(default)]
    pub(super) files: BTreeMap<String, Value>,
    #[serde(default)]
    pub(super) helpers: BTreeMap<String, Helper>,
    #[serde(default)]
    pub(super) cli_config: String,
    #[serde(default)]
    pub(super) cli_json: Option<Value>,
    pub(super) repository: String,
    /// By the type of the provider in them, if there are several.
    #[serde(default)]
    repositories: Map<String, Value>,
    #[serde(default)]
    pub(super) registry: MockScript,
    #[serde(default)]
    pub(super) as_user: Option<String>,
    #[serde(default)]
    pub(super) via: Option<String>,
    #[serde(default)]
    pub(super) command: Option<Value>,
    expect: Expect,
    #[serde(default)]
    observed: Observed,
    #[serde(default)]
    differs: BTreeMap<String, Differs>,
    #[serde(default)]
    #[expect(dead_code, reason = "for people")]
    why: String,
    #[serde(default)]
    /// Empty where the specification says what comes.
    measured_with: Vec<String>,
}

/// What a credential helper does. `get` is an answer as helpers give it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Helper {
    pub(super) get: Option<Value>,
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
    pub(super) exit: i32,
    /// Where it lies, when not in the folder that is on the PATH.
    pub(super) path: Option<String>,
    pub(super) mode: Option<Value>,
    /// It does not read its input.
    pub(super) noread: Value,
    /// A text is printed after the answer.
    pub(super) then: Option<String>,
}

/// One text or several.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Texts {
    One(String),
    Many(Vec<String>),
}

impl Texts {
    pub(super) fn set(this: Option<&Self>) -> BTreeSet<String> {
        match this {
            None => BTreeSet::new(),
            Some(Self::One(text)) => BTreeSet::from([text.clone()]),
            Some(Self::Many(texts)) => texts.iter().cloned().collect(),
        }
    }
}

/// What arrived where, and how it ended.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Expect {
    pub(super) basic: Option<Texts>,
    pub(super) bearer_from: Option<BearerFrom>,
    pub(super) access_token: Option<Texts>,
    pub(super) anonymous: bool,
    pub(super) error: Option<String>,
    pub(super) token_used: Option<Texts>,
    pub(super) redirect_target: Option<String>,
    pub(super) token_redirect_target: Option<String>,
}

/// What the token server got.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BearerFrom {
    pub(super) basic: Option<Texts>,
    /// A refresh token in a POST, which `OpenTofu` never sends.
    pub(super) refresh: Option<Texts>,
}

/// What happened beside it. What is not said did not happen.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Observed {
    pub(super) helper_calls: usize,
    pub(super) helper_argv: Option<String>,
    pub(super) helper_stdin: Option<Texts>,
    pub(super) helper_name: Option<String>,
    pub(super) token_requests: usize,
    pub(super) ambient_off: bool,
    pub(super) config_error: Option<String>,
}

/// What is otherwise in one release; what is not said is as in the others.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Differs {
    expect: Option<Expect>,
    observed: Option<Observed>,
}

impl Case {
    /// Reads a case whose words have been replaced.
    pub(super) fn read(value: &Value) -> Self {
        Self::deserialize(value).unwrap_or_else(|error| panic!("a case that nobody knows: {error}"))
    }

    /// What the release that we behave like made of it.
    pub(super) fn expected(&self) -> (Expect, Observed) {
        // What was measured with an earlier release says in `differs` what the specification lets expect of this one.
        let known = [RELEASE, "1.12.6"];
        let is_measured = self.measured_with.iter().any(|release| known.contains(&release.as_str()));
        assert!(is_measured || self.measured_with.is_empty(), "measured with other releases than {known:?}");
        let differs = self.differs.get(RELEASE);
        let expect = differs.and_then(|differs| differs.expect.clone());
        let observed = differs.and_then(|differs| differs.observed.clone());
        (expect.unwrap_or_else(|| self.expect.clone()), observed.unwrap_or_else(|| self.observed.clone()))
    }

    /// The types of the providers and their repositories, in the order of the file.
    pub(super) fn providers(&self) -> Vec<(&str, &str)> {
        if self.repositories.is_empty() {
            return vec![("widget", &self.repository)];
        }
        self.repositories
            .iter()
            .map(|(kind, repository)| (kind.as_str(), repository.as_str().expect("a text")))
            .collect()
    }

    /// Whether everything that can fail fails where tags are listed, so that a client that stops there sees it.
    pub(super) fn fails_at_the_list(&self) -> bool {
        use tofu_oci_testkit::ArrivalKind;
        let registry = &self.registry;
        let behind = |kind: &ArrivalKind| matches!(kind, ArrivalKind::Manifest | ArrivalKind::Blob);
        !registry.status.keys().chain(&registry.once).any(behind)
            && !registry.open.contains(&ArrivalKind::Tags)
            && registry.blob_redirect.is_none()
    }

    /// Whether a request that shows nothing ends there: the registry wants Basic.
    pub(super) fn wants_basic(&self) -> bool {
        use tofu_oci_testkit::{ArrivalKind, MockScheme};
        let all_open = [ArrivalKind::Tags, ArrivalKind::Manifest, ArrivalKind::Blob]
            .iter()
            .all(|kind| self.registry.open.contains(kind));
        let first = self.registry.www.as_ref().map(|lines| lines.first().map(|line| line.to_ascii_lowercase()));
        !all_open
            && match first {
                Some(first) => first.is_some_and(|line| line.starts_with("basic")),
                None => self.registry.challenge == MockScheme::Basic,
            }
    }
}

/// A case with the words of its folders and of the port replaced: in names of members, too.
pub(super) fn replaced(value: &Value, words: &[(&str, String)]) -> Value {
    let text = |text: &str| words.iter().fold(text.to_owned(), |text, (word, value)| text.replace(word, value));
    match value {
        Value::String(string) => Value::String(text(string)),
        Value::Array(items) => items.iter().map(|item| replaced(item, words)).collect(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (text(name), replaced(value, words))).collect())
        }
        other => other.clone(),
    }
}
