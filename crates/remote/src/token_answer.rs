//! What a token server answered. Pure.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use tofu_oci_http::clean;
use tofu_oci_store::AccessFault;
use tofu_oci_types::Secret;

/// How long a token lives if the server does not say, or does not name a time.
const DEFAULT_LIFE: Duration = Duration::from_mins(1);
/// The longest life that is believed.
const LONGEST_LIFE: Duration = Duration::from_hours(24);
/// Most scopes of a token that are reported.
const MOST_GRANTED: usize = 64;

/// A token server's good answer.
#[derive(Debug)]
pub(crate) struct TokenAnswer {
    pub(crate) token: Secret,
    /// How long it lives from now.
    pub(crate) life: Duration,
    /// Whole seconds of its life, if the server says so.
    pub(crate) seconds: Option<u64>,
    /// A refresh token that replaces the one that was shown.
    pub(crate) refresh: Option<Secret>,
}

impl TokenAnswer {
    /// Reads an answer: `access_token`, else `token`, names in any case; `expires_in` in whatever form. Text after the
    /// object is ignored, as other clients do.
    ///
    /// Spec: distribution, `docs/spec/auth/token.md`, "Token Response Fields"; `oauth.md`, "Token Response Fields".
    ///
    /// # Errors
    /// [`AccessFault::TokenNotJson`] or [`AccessFault::TokenEmpty`].
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, AccessFault> {
        let mut documents = serde_json::Deserializer::from_slice(bytes).into_iter::<Option<Map<String, Value>>>();
        let Some(Ok(members)) = documents.next() else { return Err(AccessFault::TokenNotJson) };
        let mut members = members.unwrap_or_default();
        let (access, plain) = (text(&mut members, "access_token")?, text(&mut members, "token")?);
        let token = access.or(plain).ok_or(AccessFault::TokenEmpty)?;
        let seconds = member(&mut members, "expires_in").as_ref().and_then(seconds);
        Ok(Self {
            token,
            life: seconds.map_or(DEFAULT_LIFE, Duration::from_secs_f64),
            seconds: seconds.map(whole),
            refresh: text(&mut members, "refresh_token").unwrap_or_default(),
        })
    }

    /// The scopes that the token grants, if it is a JWT that says so. Nothing here relies on that claim.
    ///
    /// Spec: distribution, `docs/spec/auth/jwt.md`, `access`.
    pub(crate) fn granted(&self) -> Option<Vec<String>> {
        let mut parts = self.token.expose().split('.');
        let (_, payload, _, None) = (parts.next()?, parts.next()?, parts.next()?, parts.next()) else { return None };
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload).ok()?).ok()?;
        let entries = claims.get("access")?.as_array()?.iter().take(MOST_GRANTED);
        Some(entries.filter_map(scope).collect())
    }
}

/// A member, its name in any case; the last one if there are several.
fn member(members: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let key = members.keys().rfind(|key| key.eq_ignore_ascii_case(name))?.clone();
    members.shift_remove(&key)
}

/// A member that is a text; an empty one and `null` count as missing.
fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<Secret>, AccessFault> {
    match member(members, name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(Secret::new(text)).filter(|text| !text.is_empty())),
        Some(_) => Err(AccessFault::TokenNotJson),
    }
}

/// A life in seconds: more than zero, at most the longest that is believed.
fn seconds(value: &Value) -> Option<f64> {
    let seconds = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    (seconds > 0.0).then(|| seconds.min(LONGEST_LIFE.as_secs_f64()))
}

fn whole(seconds: f64) -> u64 {
    Duration::from_secs_f64(seconds).as_secs()
}

fn scope(entry: &Value) -> Option<String> {
    let member = |name: &str| entry.get(name).and_then(Value::as_str);
    let actions: Vec<&str> = entry.get("actions")?.as_array()?.iter().filter_map(Value::as_str).collect();
    Some(clean(&format!("{}:{}:{}", member("type")?, member("name")?, actions.join(","))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(body: &str, want: &str) {
        let got = match TokenAnswer::parse(body.as_bytes()) {
            Ok(answer) => {
                let refresh = answer.refresh.as_ref().map_or("", |refresh| refresh.expose());
                format!("{} {:?} {:?} {refresh}", answer.token.expose(), answer.life, answer.seconds)
            }
            Err(fault) => fault.with_status(),
        };
        assert_eq!(got.trim(), want, "{body}");
    }

    #[test]
    fn access_token_comes_before_token() {
        check(r#"{"token":"t"}"#, "t 60s None");
        check(r#"{"access_token":"a"}"#, "a 60s None");
        check(r#"{"token":"t","access_token":"a"}"#, "a 60s None");
        check(r#"{"token":"t","access_token":""}"#, "t 60s None");
        check(r#"{"token":"t","access_token":null}"#, "t 60s None");
        check(r#"{"token":"t","token":"u"}"#, "u 60s None");
        check(r#"{"Token":"t","EXPIRES_IN":7}"#, "t 7s Some(7)");
        check(r#"{"token":"t","Access_Token":"a","TOKEN":"u"}"#, "a 60s None");
        check(r#"{"access_token":"","token":"t","TOKEN":"u"}"#, "u 60s None");
    }

    #[test]
    fn no_token_in_it() {
        check("{}", "token-empty");
        check("null", "token-empty");
        check(r#"{"token":""}"#, "token-empty");
        check(r#"{"token":null,"expires_in":60}"#, "token-empty");
    }

    #[test]
    fn no_answer_of_a_token_server() {
        for body in ["", "hello", "[]", "true", "\"t\"", "7", "{", "\u{feff}{}", "<html>", r#"{"token":1}"#] {
            check(body, "token-not-json");
        }
        check(r#"{"token":"t","access_token":{}}"#, "token-not-json");
        check(&"[".repeat(100_000), "token-not-json");
        check(&format!(r#"{{"a":{}"#, "[".repeat(100_000)), "token-not-json");
    }

    #[test]
    fn an_odd_life_does_not_cost_the_token() {
        check(r#"{"token":"t","expires_in":300}"#, "t 300s Some(300)");
        check(r#"{"token":"t","expires_in":"300"}"#, "t 300s Some(300)");
        check(r#"{"token":"t","expires_in":2.5}"#, "t 2.5s Some(2)");
        check(r#"{"token":"t","expires_in":1e3}"#, "t 1000s Some(1000)");
        check(r#"{"token":"t","expires_in":1e300}"#, "t 86400s Some(86400)");
        check(r#"{"token":"t","expires_in":99999999999999999999999}"#, "t 86400s Some(86400)");
        for odd in ["0", "-1", "-1e300", "null", "true", "{}", "[]", "\"soon\"", "\"NaN\"", "\"\"", "-0.0"] {
            check(&format!(r#"{{"token":"t","expires_in":{odd}}}"#), "t 60s None");
        }
        check(r#"{"token":"t","expires_in":"inf"}"#, "t 86400s Some(86400)");
    }

    #[test]
    fn members_beside_the_token_and_text_after_it_are_ignored() {
        check(r#"{"token":"t","issued_at":7,"scope":[],"unknown":{}}"#, "t 60s None");
        check("{\"token\":\"t\"}\n<!-- served by lab -->", "t 60s None");
        check(r#"{"token":"t","refresh_token":"r"}"#, "t 60s None r");
        check(r#"{"token":"t","refresh_token":""}"#, "t 60s None");
        check(r#"{"token":"t","refresh_token":7}"#, "t 60s None");
    }

    #[track_caller]
    fn check_granted(claims: &str, want: Option<&[&str]>) {
        let token = format!("e30.{}.c2ln", URL_SAFE_NO_PAD.encode(claims));
        let answer = TokenAnswer::parse(format!(r#"{{"token":"{token}"}}"#).as_bytes()).unwrap();
        assert_eq!(answer.granted(), want.map(|want| want.iter().map(ToString::to_string).collect()), "{claims}");
    }

    #[test]
    fn granted_scopes_are_read_where_the_token_says_so() {
        let entry = r#"{"type":"repository","name":"x/y","actions":["pull","push"]}"#;
        check_granted(&format!(r#"{{"access":[{entry}]}}"#), Some(&["repository:x/y:pull,push"]));
        check_granted(&format!(r#"{{"access":[7,{{}},{entry}]}}"#), Some(&["repository:x/y:pull,push"]));
        check_granted(r#"{"access":[]}"#, Some(&[]));
        check_granted(r#"{"access":[{"type":"a","name":"b\u001b[2J","actions":[]}]}"#, Some(&["a:b [2J:"]));
        check_granted(r#"{"access":7}"#, None);
        check_granted("{}", None);
        check_granted("rubbish", None);
    }
}
