//! What a 401 or 403 of a registry is about. Pure.

use reqwest::StatusCode;
use tofu_oci_http::{SecretScrubber, clean};
use tofu_oci_store::{AccessFault, StoreError};
use tofu_oci_types::Place;

use crate::challenge::AuthChallenge;
use crate::exchange::ShownCredential;

/// What was shown, what the registry says of it, and what it wants instead.
pub(crate) struct AccessRefusal {
    shown: ShownCredential,
    named: bool,
    short: bool,
    lack: Option<AccessFault>,
    /// The schemes that it names, as people write them.
    schemes: Vec<String>,
    error: Option<String>,
    description: Option<String>,
}

impl AccessRefusal {
    /// The refusal in an answer to a request that showed this. A `short` token says itself that it grants less than was asked for.
    pub(crate) fn new(
        proof: (ShownCredential, bool, bool),
        lack: Option<AccessFault>,
        challenges: &[AuthChallenge],
        scrubber: &SecretScrubber,
    ) -> Self {
        let (shown, named, short) = proof;
        let word = |name: &str| challenges.iter().find_map(|challenge| challenge.parameter(name));
        let word = |name: &str| word(name).map(|text| clean(&scrubber.hide(text))).filter(|text| !text.is_empty());
        let schemes = challenges.iter().map(|challenge| in_words(&clean(&challenge.scheme))).collect();
        Self { shown, named, short, lack, schemes, error: word("error"), description: word("error_description") }
    }

    /// The error for people. `problem` is what the body says.
    ///
    /// Spec: RFC 6750, section 3.1, "Error Codes".
    pub(crate) fn error(self, status: StatusCode, place: Place, problem: String) -> StoreError {
        let code = status.as_u16();
        let scope =
            self.error.as_deref() == Some("insufficient_scope") || (self.short && self.shown == ShownCredential::Token);
        let problem = match (&self.error, &self.description) {
            (Some(error), Some(description)) if error != "insufficient_scope" => {
                format!("{problem}; its challenge says {error}: {description}")
            }
            (Some(error), None) if error != "insufficient_scope" => format!("{problem}; its challenge says {error}"),
            _ => problem,
        };
        if scope && self.shown != ShownCredential::Nothing {
            let who = if self.named { "the login is right, and lacks" } else { "anonymous callers lack" };
            let problem = format!("{who} the right to do this: {problem}");
            return StoreError::Denied { place, fault: AccessFault::InsufficientScope(code), problem };
        }
        let known = self.schemes.iter().any(|scheme| matches!(scheme.as_str(), "Basic" | "Bearer"));
        if self.shown == ShownCredential::Nothing && !known && self.lack.is_none() {
            let problem = match self.schemes.as_slice() {
                [] => format!("it names no way to log in, so nothing was shown: {problem}"),
                schemes => format!(
                    "it wants {}, which tofu-oci does not speak, so nothing was shown: {problem}",
                    schemes.join(" or ")
                ),
            };
            return StoreError::Denied { place, fault: AccessFault::NoKnownScheme(code), problem };
        }
        if status == StatusCode::FORBIDDEN {
            return StoreError::Denied { place, fault: AccessFault::RegistryStatus(code), problem };
        }
        match self.shown {
            ShownCredential::Token => {
                let problem = format!("the token that its token server gave is refused: {problem}");
                StoreError::Unauthorized { place, fault: AccessFault::TokenRefused(code), problem }
            }
            _ if self.named => {
                let problem = format!("the given credentials are refused: {problem}");
                StoreError::Unauthorized { place, fault: AccessFault::RegistryStatus(code), problem }
            }
            _ => {
                let fault = self.lack.unwrap_or(AccessFault::RegistryStatus(code));
                StoreError::Unauthorized { place, fault, problem }
            }
        }
    }
}

/// `negotiate` as `Negotiate`.
fn in_words(scheme: &str) -> String {
    let mut letters = scheme.chars();
    letters.next().map(|first| first.to_ascii_uppercase().to_string() + letters.as_str()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::challenge::parse;

    #[track_caller]
    fn check(status: u16, proof: (ShownCredential, bool, bool), challenge: &str, want: &str) {
        let scrubber = SecretScrubber::default();
        scrubber.secret("hunter2");
        let refusal = AccessRefusal::new(proof, None, &parse([challenge]), &scrubber);
        let status = StatusCode::from_u16(status).unwrap();
        let error = refusal.error(status, "a.test/x".parse().unwrap(), "no".to_owned());
        assert_eq!(error.to_string(), want);
        assert_eq!(error.credential_code(), Some(format!("registry-status:{}", status.as_u16())));
    }

    #[test]
    fn a_scheme_that_is_not_spoken_is_no_refused_login() {
        let nothing = || (ShownCredential::Nothing, false, false);
        check(
            401,
            nothing(),
            "Negotiate",
            "a.test/x denied access: it wants Negotiate, which tofu-oci does not speak, so nothing was shown: no",
        );
        check(401, nothing(), "", "a.test/x denied access: it names no way to log in, so nothing was shown: no");
        check(403, nothing(), "", "a.test/x denied access: it names no way to log in, so nothing was shown: no");
        check(401, nothing(), "Basic", "a.test/x needs credentials: no");
    }

    #[test]
    fn a_token_without_the_right_is_no_wrong_password() {
        let token = |short| (ShownCredential::Token, true, short);
        let lacks = "a.test/x denied access: the login is right, and lacks the right to do this: no";
        check(401, token(false), "Bearer error=\"insufficient_scope\"", lacks);
        check(401, token(true), "Bearer realm=\"https://a.test/t\"", lacks);
        check(
            403,
            (ShownCredential::Basic { username: "ada".to_owned() }, true, false),
            "",
            "a.test/x denied access: no",
        );
    }

    #[test]
    fn an_expired_token_is_told_in_the_words_of_the_registry() {
        check(
            401,
            (ShownCredential::Token, true, false),
            "Bearer error=\"invalid_token\",error_description=\"expired: hunter2\"",
            "a.test/x needs credentials: the token that its token server gave is refused: no; its challenge says \
             invalid_token: expired: [hidden]",
        );
        check(
            401,
            (ShownCredential::RegistryToken, true, false),
            "Bearer error=\"invalid_token\"",
            "a.test/x needs credentials: the given credentials are refused: no; its challenge says invalid_token",
        );
    }
}
