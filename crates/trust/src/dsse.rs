//! The envelope: a payload, its type, and a signature over both.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Value, json};

use crate::json;

/// The type of a payload that is an in-toto statement.
pub(crate) const IN_TOTO: &str = "application/vnd.in-toto+json";

/// An envelope with exactly one signature over an in-toto statement.
pub(crate) struct Envelope {
    pub(crate) payload: Vec<u8>,
    pub(crate) signature: Vec<u8>,
}

impl Envelope {
    /// Of the member `dsseEnvelope` of a bundle.
    ///
    /// Spec: DSSE v1, `envelope.md`.
    pub(crate) fn parse(value: &Value) -> Result<Self, String> {
        let payload_type = json::text(value, "payloadType")?;
        if payload_type != IN_TOTO {
            return Err(format!("`payloadType` is {}, not {IN_TOTO:?}", json::shown(payload_type)));
        }
        let [signature] = json::list(value, "signatures")? else {
            let count = json::list(value, "signatures")?.len();
            return Err(format!("it holds {count} signatures, and exactly one is allowed"));
        };
        Ok(Self { payload: decode(value, "payload")?, signature: decode(signature, "sig")? })
    }

    /// As the member of a bundle.
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "payload": STANDARD.encode(&self.payload),
            "payloadType": IN_TOTO,
            "signatures": [{ "sig": STANDARD.encode(&self.signature) }],
        })
    }

    /// The bytes that the signature is over.
    pub(crate) fn signed_bytes(&self) -> Vec<u8> {
        pre_authentication(IN_TOTO, &self.payload)
    }
}

/// Type and payload in one text that gives the length of each.
///
/// Spec: DSSE v1, `protocol.md`, "Signature Definition" (`PAE`).
pub(crate) fn pre_authentication(payload_type: &str, payload: &[u8]) -> Vec<u8> {
    let mut bytes = format!("DSSEv1 {} {payload_type} {} ", payload_type.len(), payload.len()).into_bytes();
    bytes.extend_from_slice(payload);
    bytes
}

/// Both alphabets, as the specification demands.
fn decode(value: &Value, name: &str) -> Result<Vec<u8>, String> {
    let text = json::text(value, name)?;
    STANDARD.decode(text).or_else(|_| URL_SAFE.decode(text)).map_err(|_| format!("`{name}` is not base64"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pre_authentication_of_the_specification() {
        let bytes = pre_authentication("http://example.com/HelloWorld", b"hello world");
        assert_eq!(bytes, b"DSSEv1 29 http://example.com/HelloWorld 11 hello world");
    }

    #[track_caller]
    fn check(envelope: &str, want: Result<(), &str>) {
        let value = json::parse(envelope.as_bytes()).expect("JSON");
        let got = Envelope::parse(&value).map(drop);
        assert_eq!(got.as_ref().err().map(String::as_str), want.err());
    }

    #[test]
    fn envelopes() {
        let with = |signatures: &str| {
            format!(r#"{{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":{signatures}}}"#)
        };
        check(&with(r#"[{"sig":"AQID","keyid":"any"}]"#), Ok(()));
        check(&with(r#"[{"sig":"-_-_"}]"#), Ok(()));
        check(&with("[]"), Err("it holds 0 signatures, and exactly one is allowed"));
        check(&with(r#"[{"sig":"AQID"},{"sig":"AQID"}]"#), Err("it holds 2 signatures, and exactly one is allowed"));
        check(&with(r#"[{"sig":"A"}]"#), Err("`sig` is not base64"));
        check(&with("[1]"), Err("`sig` is missing"));
        check(&with("{}"), Err("`signatures` is not a list"));
        check(
            r#"{"payloadType":"text/plain","payload":"e30=","signatures":[{"sig":"AQID"}]}"#,
            Err(r#"`payloadType` is "text/plain", not "application/vnd.in-toto+json""#),
        );
        check("{}", Err("`payloadType` is missing"));
    }
}
