//! The words of a registry or a token server that refuses.

use reqwest::StatusCode;
use serde::Deserialize;
use serde_json::Value;
use tofu_oci_http::{HttpAnswer, SecretScrubber, clean};
use tofu_oci_store::RejectionReason;
use tofu_oci_types::Place;

/// Most bytes of an error's body that are read.
const ERROR_LIMIT: u64 = 64 * 1024;

/// The errors that a registry names.
///
/// Spec: OCI distribution-spec 1.1.1, "Error Codes". Bodies that are anything else have no words.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ErrorWords {
    #[serde(default)]
    errors: Vec<NamedError>,
    /// What token servers say instead: of `OAuth2` these two, of Docker Hub the third.
    #[serde(default)]
    error: Value,
    #[serde(default)]
    error_description: Value,
    #[serde(default)]
    details: Value,
}

#[derive(Debug, Default, Deserialize)]
struct NamedError {
    #[serde(default)]
    code: String,
    #[serde(default)]
    message: String,
    /// More about it, which registries may give in any form; a text is shown.
    #[serde(default)]
    detail: Value,
}

impl NamedError {
    /// The sentence, with the detail if that says more.
    fn sentence(&self) -> String {
        let message = clean(&self.message);
        match self.detail.as_str().map(clean) {
            Some(detail) if !detail.is_empty() && !message.contains(&detail) => {
                if message.is_empty() {
                    detail
                } else {
                    format!("{message}: {detail}")
                }
            }
            _ => message,
        }
    }
}

impl ErrorWords {
    /// Reads the words in the body of an answer, without any secret that was sent. Words are a help: the wait for them is
    /// short.
    pub(crate) async fn read(answer: &mut HttpAnswer, scrubber: &SecretScrubber) -> Self {
        let bytes = answer.read_soon(ERROR_LIMIT).await;
        let mut words: Self = serde_json::from_slice(&bytes).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let is_plain = answer.url().scheme() == "http";
        if is_plain && words.errors.is_empty() && TLS_PORT.iter().any(|said| text.contains(said)) {
            words.errors.push(NamedError { message: PLAIN_HTTP.to_owned(), ..NamedError::default() });
        }
        let errors = words.errors.iter_mut().flat_map(|error| {
            let detail = match &mut error.detail {
                Value::String(text) => Some(text),
                _ => None,
            };
            [&mut error.code, &mut error.message].into_iter().chain(detail)
        });
        let others = [&mut words.error, &mut words.error_description, &mut words.details];
        let others = others.into_iter().filter_map(|one| match one {
            Value::String(text) => Some(text),
            _ => None,
        });
        for text in errors.chain(others) {
            *text = scrubber.hide(text);
        }
        words
    }

    /// The first error in one line.
    pub(crate) fn first(&self) -> Option<String> {
        let error = self.errors.first()?;
        let parts = [clean(&error.code), clean(&error.message)];
        Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": "))
            .filter(|words| !words.is_empty())
    }

    /// What a token server says, in one line: an error as registries name them, or one of `OAuth2`.
    ///
    /// Spec: RFC 6749, section 5.2; distribution, `docs/spec/auth/token.md`.
    pub(crate) fn of_token_server(&self) -> Option<String> {
        let text = |value: &Value| value.as_str().map(clean).filter(|text| !text.is_empty());
        let code_first = |code: Option<String>, message: Option<String>| match (code, message) {
            (Some(code), Some(message)) => Some(format!("{message} ({code})")),
            (code, message) => message.or(code),
        };
        let first = self.errors.first().and_then(|error| {
            let [code, message] = [&error.code, &error.message].map(|text| clean(text));
            code_first(Some(code).filter(|text| !text.is_empty()), Some(message).filter(|text| !text.is_empty()))
        });
        let words =
            first.or_else(|| code_first(text(&self.error), text(&self.error_description).or(text(&self.details))));
        words.map(|words| clean(&words))
    }

    /// Whether there are no words: the answer may come from a server that is not a registry.
    pub(crate) fn is_empty(&self) -> bool {
        self.errors.is_empty()
    }

    pub(crate) fn has_code(&self, codes: &[&str]) -> bool {
        self.errors.iter().any(|error| codes.contains(&error.code.as_str()))
    }

    /// Whether a registry says this about content that it has, while another program writes there.
    pub(crate) fn speak_of_a_moment(&self) -> bool {
        self.has_code(&["DIGEST_INVALID", "MANIFEST_BLOB_UNKNOWN", "MANIFEST_UNKNOWN", "BLOB_UNKNOWN"])
            || self.mentions("invalid checksum digest format")
    }

    /// Whether a registry has a manifest in another form than those that were accepted.
    pub(crate) fn speak_of_another_form(&self) -> bool {
        self.mentions("accept header")
    }

    /// Whether a message has these words: some registries use one code for several cases. Only this file looks into a
    /// message.
    fn mentions(&self, text: &str) -> bool {
        let words = self.errors.iter().flat_map(|error| [Some(error.message.as_str()), error.detail.as_str()]);
        words.flatten().any(|words| words.to_ascii_lowercase().contains(text))
    }

    pub(crate) fn repository_unknown(&self) -> bool {
        self.has_code(&["NAME_UNKNOWN", "NAME_INVALID"])
    }

    /// The first error in one line, or the status if no error is named.
    pub(crate) fn text(&self, status: StatusCode) -> String {
        let reason = status.canonical_reason().unwrap_or("no reason given").to_ascii_lowercase();
        let Some(error) = self.errors.first() else { return reason };
        match (clean(&error.code), error.sentence()) {
            (code, message) if code.is_empty() && message.is_empty() => reason,
            (code, message) if message.is_empty() => code,
            (code, message) if code.is_empty() => message,
            (code, message) => format!("{message} ({code})"),
        }
    }

    /// What the first error says about a refused request. The distribution-spec has no codes for most of these.
    pub(crate) fn reason(&self, status: StatusCode, place: &Place) -> RejectionReason {
        let text = self.text(status).to_ascii_lowercase();
        let has = |words: &str| text.contains(words);
        let project = || place.repository().and_then(|repository| repository.name().split('/').next());
        if has("digest_invalid") {
            RejectionReason::WrongDigest
        } else if self.errors.first().is_some_and(|error| error.message == PLAIN_HTTP) {
            RejectionReason::PlainHttp
        } else if has("immutab") || status == StatusCode::PRECONDITION_FAILED && has("precondition") {
            RejectionReason::ImmutableTag
        } else if status.is_client_error() && TYPE_WORDS.iter().any(|words| has(words)) {
            RejectionReason::UnsupportedType
        } else if status != StatusCode::NOT_FOUND {
            RejectionReason::Other
        } else if has("does not exist in the registry with id") {
            RejectionReason::UnknownAwsRepository
        } else if project().is_some_and(|project| has(&format!("project {project} not found"))) {
            RejectionReason::UnknownProject
        } else {
            RejectionReason::Other
        }
    }
}

/// What a port for TLS answers to plain HTTP, in any form: a server in Go, nginx, Apache.
const TLS_PORT: [&str; 3] = [
    "Client sent an HTTP request to an HTTPS server",
    "The plain HTTP request was sent to HTTPS port",
    "speaking plain HTTP to an SSL-enabled server port",
];
/// The same in words of this program.
const PLAIN_HTTP: &str = "the request was plain HTTP, and it speaks TLS";

/// How registries name the types of manifests and artifacts when they refuse one.
const TYPE_WORDS: [&str; 5] = ["media type", "mediatype", "content type", "artifact type", "artifacttype"];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(place: &str, status: u16, code: &str, message: &str, want: RejectionReason) {
        let body = serde_json::json!({"errors": [{"code": code, "message": message}]});
        let words: ErrorWords = serde_json::from_value(body).unwrap();
        let status = StatusCode::from_u16(status).unwrap();
        assert_eq!(words.reason(status, &place.parse().unwrap()), want, "{message}");
    }

    #[test]
    fn reasons_that_have_no_code_of_the_specification() {
        use RejectionReason::{
            ImmutableTag, Other, UnknownAwsRepository, UnknownProject, UnsupportedType, WrongDigest,
        };
        check("x/a/b", 400, "DIGEST_INVALID", "provided digest did not match uploaded content", WrongDigest);
        let type_of = "manifest invalid: unknown media type: application/vnd.opentofu.provider";
        check("registry.gitlab.com/a/b", 400, "MANIFEST_INVALID", type_of, UnsupportedType);
        check("quay.example.com/a/b", 415, "UNSUPPORTED", "unsupported artifactType", UnsupportedType);
        check("x/a/b", 500, "UNKNOWN", "unknown media type", Other);
        let tag = "The image tag '1.0.0' already exists and cannot be overwritten because the tag is immutable.";
        check("x/a/b", 400, "", tag, ImmutableTag);
        check("x/a/b", 412, "PRECONDITION", "Failed to process request", ImmutableTag);
        check("x/a/b", 400, "MANIFEST_INVALID", "manifest invalid", Other);
        let named = "The repository with name 'a/b' does not exist in the registry with id '1'";
        check("ecr.example.com/a/b", 404, "NAME_UNKNOWN", named, UnknownAwsRepository);
        check("harbor.example.com/acme/widget", 404, "NOT_FOUND", "project acme not found", UnknownProject);
        check("r.example.com/a-project/x", 404, "NAME_UNKNOWN", "repository a-project/x not found", Other);
    }
}
