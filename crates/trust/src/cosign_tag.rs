//! cosign's `.sig` form: a payload, and its signature in an annotation of the layer that holds it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tofu_oci_types::Digest;

use crate::bundle::LIMIT;
use crate::fault::{MadeBy, Peek, SignatureFault, SignatureForm, Signed};
use crate::json;
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::{SignedContent, Statement, StatementSubject};
use crate::verify::signer;
use crate::vocabulary::SIGN_PREDICATE;

/// What `critical.type` must be.
const CRITICAL_TYPE: &str = "cosign container image signature";

/// The two halves of a signature in cosign's `.sig` form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignTagSignature {
    pub payload: Vec<u8>,
    /// The value of the layer's annotation [`SIGNATURE_ANNOTATION`](crate::SIGNATURE_ANNOTATION), in base64.
    pub signature: String,
}

/// What the payload says, if one of `keys` signed it. Payload and signature have at most 1 MiB each.
///
/// The caller compares index and provider. The `docker-reference` is ignored, as by cosign, because a release may be
/// mirrored.
///
/// Spec: cosign, `specs/SIGNATURE_SPEC.md`; containers/image, `docs/containers-signature.5.md` (simple signing).
pub fn open_cosign_tag(payload: &[u8], signature_base64: &str, keys: &[PublicKey]) -> Result<Signed, SignatureFault> {
    bounded(payload.len())?;
    bounded(signature_base64.len())?;
    let signature = STANDARD
        .decode(signature_base64.trim_ascii())
        .map_err(|_| SignatureFault::malformed("the signature is not base64"))?;
    let key = signer(keys, None, payload, &signature)?;
    Ok(Signed { key, form: SignatureForm::CosignTag, statement: parse(payload)? })
}

/// What the payload claims, unverified.
pub fn peek_cosign_tag(payload: &[u8]) -> Result<Peek, SignatureFault> {
    bounded(payload.len())?;
    Ok(Peek { made_by: MadeBy::Key { hint: None }, statement: parse(payload)? })
}

/// Payload and signature in which `key` says that `content` is signed, and perhaps a note: the same bytes for the same arguments.
/// `docker_reference` is the repository that the payload names (`HOST/PATH`), for readers that compare it.
pub fn sign_cosign_tag<'a>(
    key: &PrivateKey,
    content: impl Into<SignedContent<'a>>,
    note: Option<&str>,
    docker_reference: &str,
) -> CosignTagSignature {
    let content = content.into();
    let payload = json!({
        "critical": {
            "identity": { "docker-reference": docker_reference },
            "image": { "docker-manifest-digest": content.digest() },
            "type": CRITICAL_TYPE,
        },
        "optional": content.annotations(note),
    })
    .to_string()
    .into_bytes();
    let signature = STANDARD.encode(key.sign(&payload));
    CosignTagSignature { payload, signature }
}

fn bounded(bytes: usize) -> Result<(), SignatureFault> {
    if bytes > LIMIT { Err(SignatureFault::TooLarge { bytes, limit: LIMIT }) } else { Ok(()) }
}

fn parse(payload: &[u8]) -> Result<Statement, SignatureFault> {
    subject(payload)
        .map(|subject| Statement {
            predicate_type: SIGN_PREDICATE.to_owned(),
            subjects: vec![subject],
            build: None,
            published: None,
        })
        .map_err(SignatureFault::malformed)
}

fn subject(payload: &[u8]) -> Result<StatementSubject, String> {
    let payload = json::parse(payload).map_err(|problem| format!("the payload: {problem}"))?;
    let critical = json::object(&payload, "critical")?;
    let kind = json::text(critical, "type")?;
    if kind != CRITICAL_TYPE {
        return Err(format!("`critical.type` is {}, not {CRITICAL_TYPE:?}", json::shown(kind)));
    }
    let names = payload.get("optional").filter(|names| !names.is_null());
    StatementSubject::named(Some(image_digest(json::object(critical, "image")?)?), names, "optional")
}

/// The specification's example begins the member's name with a capital letter; signers write a small one.
fn image_digest(image: &Value) -> Result<Digest, String> {
    let name = match (image.get("docker-manifest-digest"), image.get("Docker-manifest-digest")) {
        (Some(_), Some(_)) => return Err("`docker-manifest-digest` is given twice".to_owned()),
        (None, Some(_)) => "Docker-manifest-digest",
        (_, None) => "docker-manifest-digest",
    };
    let text = json::text(image, name)?;
    let digest = text.parse().ok().filter(|digest: &Digest| digest.algorithm_name() == "sha256");
    digest.ok_or_else(|| format!("`critical.image` is {}, not a sha256", json::shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, KINDS, bit_flips, bytes, named, public, text, unnamed};

    const STRANGER: &str = "none of the known keys made the signature, or it was damaged";

    #[track_caller]
    fn check(payload: &[u8], signature: &str, keys: &[&str], want: Result<(&str, StatementSubject), &str>) {
        let keys: Vec<_> = keys.iter().map(|name| public(name)).collect();
        match (open_cosign_tag(payload, signature, &keys), want) {
            (Ok(signed), Ok((key, subject))) => {
                assert_eq!((signed.key, signed.form), (public(key).id(), SignatureForm::CosignTag));
                assert_eq!(signed.statement.predicate_type, SIGN_PREDICATE);
                assert_eq!(signed.statement.subjects, [subject]);
            }
            (Err(fault), Err(want)) => assert_eq!(fault.to_string(), want),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    /// Signs `payload`, whatever it is, and returns the outcome.
    #[track_caller]
    fn check_payload(payload: &str, want: Result<StatementSubject, &str>) {
        let signature = STANDARD.encode(fixtures::private("p256").sign(payload.as_bytes()));
        let problem = want.as_ref().err().map(|problem| format!("the signature is malformed: {problem}"));
        check(
            payload.as_bytes(),
            &signature,
            &["p256"],
            match &problem {
                None => want.map(|subject| ("p256", subject)),
                Some(problem) => Err(problem),
            },
        );
    }

    fn signed(kind: &str) -> (Vec<u8>, String) {
        (bytes(&format!("tag/{kind}.payload.json")), text(&format!("tag/{kind}.sig")))
    }

    #[test]
    fn what_cosign_signed_verifies() {
        for kind in KINDS {
            let (payload, signature) = signed(kind);
            check(&payload, &signature, &[kind], Ok((kind, named())));
            check(&payload, &signature, &KINDS, Ok((kind, named())));
            let (payload, signature) = signed(&format!("{kind}-unnamed"));
            check(&payload, &signature, &KINDS, Ok((kind, unnamed())));
        }
    }

    #[test]
    fn what_openssl_signed_verifies() {
        fn check_signature(name: &str, key: &str, want: Result<(&str, StatementSubject), &str>) {
            check(&bytes("openssl/payload.json"), &text(&format!("openssl/{name}.sig")), &[key], want);
        }
        for (name, key) in [
            ("p256", "p256"),
            ("p384-sha256", "p384"),
            ("p384-sha384", "p384"),
            ("ed25519", "ed25519"),
            ("rsa-2048", "rsa-2048"),
            ("rsa-2048-pss", "rsa-2048"),
            ("rsa-4096", "rsa-4096"),
        ] {
            check_signature(name, key, Ok((key, named())));
        }
        for (name, key) in [("p256-sha384", "p256"), ("rsa-2048-sha1", "rsa-2048"), ("p256", "p384")] {
            check_signature(name, key, Err(STRANGER));
        }
    }

    #[test]
    fn what_we_sign_verifies_and_is_always_the_same() {
        for kind in &KINDS[1..] {
            let key = fixtures::private(kind);
            let sign =
                || fixtures::with_subject(|subject| sign_cosign_tag(&key, subject, None, "example.test/acme/widget"));
            check(&sign().payload, &sign().signature, &KINDS, Ok((kind, named())));
            assert_eq!(sign(), sign());
        }
    }

    #[test]
    fn what_we_write_is_what_cosign_writes() {
        let theirs = text("tag/p256.payload.json");
        let payload: Value = serde_json::from_str(&theirs).expect("JSON");
        let reference = payload["critical"]["identity"]["docker-reference"].as_str().expect("a text");
        let key = fixtures::private("p256");
        let ours = fixtures::with_subject(|subject| sign_cosign_tag(&key, subject, None, reference));
        assert_eq!(String::from_utf8(ours.payload), Ok(theirs));
    }

    #[test]
    fn every_bit_of_payload_and_signature_counts() {
        for kind in KINDS {
            let key = public(kind);
            let (payload, signature) = signed(kind);
            let raw = STANDARD.decode(&signature).expect("base64");
            let payloads =
                bit_flips(&payload).step_by(fixtures::step(kind)).map(|payload| (payload, signature.clone()));
            let signatures = bit_flips(&raw).map(|raw| (payload.clone(), STANDARD.encode(raw)));
            for (payload, signature) in payloads.chain(signatures) {
                let fault = open_cosign_tag(&payload, &signature, std::slice::from_ref(&key)).expect_err(kind);
                assert_eq!(fault, SignatureFault::UnknownKey { hint: None }, "{kind}");
            }
        }
    }

    #[test]
    fn damage() {
        let (payload, signature) = signed("p256");
        check(&payload, "AQI", &["p256"], Err("the signature is malformed: the signature is not base64"));
        check(&payload, "", &["p256"], Err(STRANGER));
        check(b"", "", &["p256"], Err(STRANGER));
        check(&payload, &signature, &["p384", "ed25519"], Err(STRANGER));
        check(&payload, &signature, &[], Err(STRANGER));
        check(&signed("p256-unnamed").0, &signature, &KINDS, Err(STRANGER));
        let large = "the signature has 1048577 bytes, and at most 1048576 are read";
        check(&vec![b' '; LIMIT + 1], &signature, &["p256"], Err(large));
        check(&payload, &"A".repeat(LIMIT + 1), &["p256"], Err(large));
    }

    #[test]
    fn payloads() {
        let payload = text("tag/p256.payload.json");
        let with = |from: &str, to: &str| {
            assert!(payload.contains(from), "{from}");
            payload.replacen(from, to, 1)
        };
        check_payload(&payload, Ok(named()));
        check_payload(&with("docker-manifest-digest", "Docker-manifest-digest"), Ok(named()));
        let twice = with(r#""image":{"#, r#""image":{"Docker-manifest-digest":"sha256:00","#);
        check_payload(&twice, Err("`docker-manifest-digest` is given twice"));
        check_payload(&with("docker-manifest-digest", "digest"), Err("`docker-manifest-digest` is missing"));
        let kind = with("cosign container image signature", "atomic container signature");
        check_payload(
            &kind,
            Err(r#"`critical.type` is "atomic container signature", not "cosign container image signature""#),
        );
        check_payload(&with(r#","type":"cosign container image signature""#, ""), Err("`type` is missing"));
        check_payload(
            &with("sha256:41", "sha256:4"),
            Err(
                r#"`critical.image` is "sha256:4fc87ebfa1add0bf3e668238cf58fad7d1259029d6f5ed4504e0eb15f9db5db", not a sha256"#,
            ),
        );
        let sha512 = with(index_text(), &format!("sha512:{}", "0".repeat(128)));
        check_payload(&sha512, Err(&format!(r#"`critical.image` is "sha512:{}", not a sha256"#, "0".repeat(128))));
        let twice = with(r#"{"critical""#, r#"{"optional":null,"critical""#);
        check_payload(
            &twice,
            Err(&format!(
                r#"the payload: the member "optional" is there twice at line 1 column {}"#,
                fixtures::column(&twice, r#""optional""#)
            )),
        );
        check_payload("[]", Err("`critical` is missing"));
        check_payload("", Err("the payload: EOF while parsing a value at line 1 column 0"));
    }

    fn index_text() -> &'static str {
        "sha256:41fc87ebfa1add0bf3e668238cf58fad7d1259029d6f5ed4504e0eb15f9db5db"
    }

    #[test]
    fn a_peek_shows_what_is_claimed() {
        let peek = peek_cosign_tag(&signed("p256").0).expect("a payload");
        assert_eq!((peek.hint(), &peek.statement.subjects), (None, &vec![named()]));
    }
}
