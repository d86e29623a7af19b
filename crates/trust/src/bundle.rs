//! Sigstore bundles v0.3 by a key: an envelope with a statement, and a hint which key signed it.
//!
//! A bundle with a certificate ("keyless") is recognised here, and verified in `keyless`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tofu_oci_types::Digest;

use crate::dsse::Envelope;
use crate::fault::{MadeBy, Peek, SignatureFault, SignatureForm, Signed};
use crate::json;
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::{SignedContent, Statement};
use crate::verify::signer;
use crate::vocabulary::BUNDLE_TYPE;

/// The largest signature of either form that is read, in bytes.
pub(crate) const LIMIT: usize = 1024 * 1024;
/// The most entries of transparency logs. They are not read, but a bundle with thousands of them is refused.
const LOG_ENTRIES: usize = 32;
/// The largest hint, in bytes: a hash in base64 is recommended, and signers write other short texts.
const HINT: usize = 1024;

/// What the bundle says, if one of `keys` signed it. It has at most 1 MiB, one signature, and at most 1024 subjects.
///
/// Which index the statement is about, which provider, and which predicate counts, is for the caller to compare.
///
/// Spec: Sigstore protobuf-specs, `sigstore_bundle.proto`; DSSE v1; in-toto attestation v1.
pub fn open_bundle(bytes: &[u8], keys: &[PublicKey]) -> Result<Signed, SignatureFault> {
    let bundle = Bundle::parse(bytes)?;
    let MadeBy::Key { hint } = &bundle.made_by else { return Err(SignatureFault::Keyless) };
    let key = signer(keys, hint.as_deref(), &bundle.envelope.signed_bytes(), &bundle.envelope.signature)?;
    Ok(Signed { key, form: SignatureForm::Bundle, statement: bundle.statement()? })
}

/// What the bundle claims, unverified; also one with a certificate.
pub fn peek_bundle(bytes: &[u8]) -> Result<Peek, SignatureFault> {
    let bundle = Bundle::parse(bytes)?;
    Ok(Peek { statement: bundle.statement()?, made_by: bundle.made_by })
}

/// The bytes of the statement that the bundle carries, and which key it says has signed it; unverified.
pub(crate) fn statement_bytes(bytes: &[u8]) -> Result<(Vec<u8>, Option<String>), SignatureFault> {
    let Bundle { made_by, envelope } = Bundle::parse(bytes)?;
    let claimed_key = match made_by {
        MadeBy::Key { hint } => hint.as_deref().map(claimed_key),
        MadeBy::Certificate => None,
    };
    Ok((envelope.payload, claimed_key))
}

/// The id of the key that a hint names, if the hint has the recommended form; else the hint.
pub fn claimed_key(hint: &str) -> String {
    let hash = STANDARD.decode(hint).ok().and_then(|bytes| <[u8; 32]>::try_from(bytes).ok());
    hash.map_or_else(|| hint.to_owned(), |hash| Digest::from_sha256(hash).to_string())
}

/// A bundle in which `key` says that `content` is signed, and perhaps a note: the same bytes for the same arguments.
pub fn sign_bundle<'a>(key: &PrivateKey, content: impl Into<SignedContent<'a>>, note: Option<&str>) -> Vec<u8> {
    sign_statement(key, content.into().to_statement(note))
}

/// A bundle in which `key` signs an in-toto statement.
pub(crate) fn sign_statement(key: &PrivateKey, statement: Vec<u8>) -> Vec<u8> {
    let mut envelope = Envelope { payload: statement, signature: Vec::new() };
    envelope.signature = key.sign(&envelope.signed_bytes());
    json!({
        "mediaType": BUNDLE_TYPE,
        "verificationMaterial": { "publicKey": { "hint": key.public().id().hint() } },
        "dsseEnvelope": envelope.to_json(),
    })
    .to_string()
    .into_bytes()
}

struct Bundle {
    made_by: MadeBy,
    envelope: Envelope,
}

impl Bundle {
    fn parse(bytes: &[u8]) -> Result<Self, SignatureFault> {
        if bytes.len() > LIMIT {
            return Err(SignatureFault::TooLarge { bytes: bytes.len(), limit: LIMIT });
        }
        let bundle = json::parse(bytes).map_err(SignatureFault::malformed)?;
        let media_type = json::text(&bundle, "mediaType").map_err(SignatureFault::malformed)?;
        if media_type != BUNDLE_TYPE {
            return Err(SignatureFault::BundleVersion { media_type: media_type.to_owned() });
        }
        let envelope = match (bundle.get("dsseEnvelope"), bundle.get("messageSignature")) {
            (Some(envelope), None) => Envelope::parse(envelope).map_err(SignatureFault::malformed)?,
            (None, Some(_)) => return Err(SignatureFault::MessageSignature),
            (Some(_), Some(_)) => return Err(SignatureFault::malformed("it has two contents")),
            (None, None) => return Err(SignatureFault::malformed("`dsseEnvelope` is missing")),
        };
        Ok(Self { made_by: made_by(&bundle).map_err(SignatureFault::malformed)?, envelope })
    }

    fn statement(&self) -> Result<Statement, SignatureFault> {
        Statement::parse(&self.envelope.payload).map_err(SignatureFault::malformed)
    }
}

fn made_by(bundle: &Value) -> Result<MadeBy, String> {
    let material = json::object(bundle, "verificationMaterial")?;
    match material.get("tlogEntries") {
        None | Some(Value::Null) => {}
        Some(_) => {
            let entries = json::list(material, "tlogEntries")?.len();
            if entries > LOG_ENTRIES {
                return Err(format!("`tlogEntries` has {entries} entries, and at most {LOG_ENTRIES} are read"));
            }
        }
    }
    let keyless = material.get("certificate").or_else(|| material.get("x509CertificateChain"));
    match (material.get("publicKey"), keyless) {
        (Some(key), None) if key.is_object() => {
            let hint = key.get("hint").map(|_| json::text(key, "hint")).transpose()?;
            if hint.is_some_and(|hint| hint.len() > HINT) {
                return Err(format!("`hint` has more than {HINT} bytes"));
            }
            Ok(MadeBy::Key { hint: hint.filter(|hint| !hint.is_empty()).map(str::to_owned) })
        }
        (Some(_), None) => Err("`publicKey` is not an object".to_owned()),
        (None, Some(_)) => Ok(MadeBy::Certificate),
        (Some(_), Some(_)) => Err("it has both a key and a certificate".to_owned()),
        (None, None) => Err("`verificationMaterial` names neither a key nor a certificate".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{self, KINDS, bit_flips, bytes, named, public, unnamed};
    use crate::statement::StatementSubject;
    use crate::vocabulary::SIGN_PREDICATE;

    #[track_caller]
    fn check(bundle: &[u8], keys: &[&str], want: Result<(&str, &str, StatementSubject), &str>) {
        let keys: Vec<_> = keys.iter().map(|name| public(name)).collect();
        match (open_bundle(bundle, &keys), want) {
            (Ok(signed), Ok((key, predicate, subject))) => {
                assert_eq!((signed.key, signed.form), (public(key).id(), SignatureForm::Bundle));
                assert_eq!(signed.statement.predicate_type, predicate);
                assert_eq!(signed.statement.subjects, [subject]);
            }
            (Err(fault), Err(want)) => assert_eq!(fault.to_string(), want),
            (got, want) => panic!("{got:?}, not {want:?}"),
        }
    }

    /// The bundle that real cosign made with the P-256 key, with one thing changed.
    fn changed(change: impl FnOnce(&mut Value)) -> Vec<u8> {
        let mut bundle = serde_json::from_slice(&bytes("bundle/p256.json")).expect("JSON");
        change(&mut bundle);
        bundle.to_string().into_bytes()
    }

    /// Signed anew with the P-256 key, whatever the payload is.
    fn resigned(payload: &str) -> Vec<u8> {
        changed(|bundle| {
            let mut envelope = Envelope { payload: payload.as_bytes().to_vec(), signature: Vec::new() };
            envelope.signature = fixtures::private("p256").sign(&envelope.signed_bytes());
            bundle["dsseEnvelope"] = envelope.to_json();
        })
    }

    #[test]
    fn what_cosign_signed_verifies() {
        for kind in KINDS {
            check(&bytes(&format!("bundle/{kind}.json")), &[kind], Ok((kind, SIGN_PREDICATE, named())));
            check(&bytes(&format!("bundle/{kind}.json")), &KINDS, Ok((kind, SIGN_PREDICATE, named())));
            check(&bytes(&format!("bundle/{kind}-unnamed.json")), &KINDS, Ok((kind, SIGN_PREDICATE, unnamed())));
        }
    }

    #[test]
    fn another_predicate_is_visible() {
        let scan = "https://example.test/scan/v1";
        let subject = StatementSubject { name: Some("127.0.0.1:5471/attest/acme/widget".to_owned()), ..unnamed() };
        check(&bytes("bundle/p256-attest.json"), &["p256"], Ok(("p256", scan, subject)));
    }

    #[test]
    fn what_we_sign_verifies_and_is_always_the_same() {
        for kind in &KINDS[1..] {
            let key = fixtures::private(kind);
            let bundle = fixtures::with_subject(|subject| sign_bundle(&key, subject, None));
            check(&bundle, &KINDS, Ok((kind, SIGN_PREDICATE, named())));
            assert_eq!(bundle, fixtures::with_subject(|subject| sign_bundle(&key, subject, None)));
        }
    }

    /// All except the signature, which has a random number in cosign's.
    #[test]
    fn what_we_write_is_what_cosign_writes() {
        let ours = fixtures::with_subject(|subject| sign_bundle(&fixtures::private("p256"), subject, None));
        let theirs = changed(|bundle| {
            let ours: Value = serde_json::from_slice(&ours).expect("JSON");
            bundle["dsseEnvelope"]["signatures"] = ours["dsseEnvelope"]["signatures"].clone();
        });
        assert_eq!(String::from_utf8(ours), String::from_utf8(theirs));
    }

    #[test]
    fn another_key_is_told_by_the_hint() {
        let hint = public("p256").id().hint().expect("a hint");
        let unknown = format!(
            r#"none of the known keys made the signature, or it was damaged; it says that key "{hint}" made it"#
        );
        check(&bytes("bundle/p256.json"), &["p384"], Err(&unknown));
        check(&bytes("bundle/p256.json"), &[], Err(&unknown));
        let hintless = changed(|bundle| bundle["verificationMaterial"]["publicKey"] = json!({}));
        check(&hintless, &["p384", "p256"], Ok(("p256", SIGN_PREDICATE, named())));
        let unknown = "none of the known keys made the signature, or it was damaged";
        check(&hintless, &["p384", "ed25519"], Err(unknown));
        check(&hintless, &["p384"], Err(unknown));
    }

    /// The hint is not signed; a wrong one neither makes nor breaks a signature.
    #[test]
    fn a_wrong_hint() {
        let hint = public("p384").id().hint();
        let bundle = changed(|bundle| bundle["verificationMaterial"]["publicKey"]["hint"] = json!(hint));
        check(&bundle, &["p384", "p256"], Ok(("p256", SIGN_PREDICATE, named())));
        let bad = format!("the signature does not verify with key {}", public("p384").id());
        check(&bundle, &["p384", "ed25519"], Err(&bad));
    }

    #[test]
    fn every_bit_of_payload_and_signature_counts() {
        for kind in KINDS {
            let key = public(kind);
            let bundle: Value = serde_json::from_slice(&bytes(&format!("bundle/{kind}.json"))).expect("JSON");
            let envelope = Envelope::parse(&bundle["dsseEnvelope"]).expect("an envelope");
            let payloads =
                bit_flips(&envelope.payload).map(|payload| Envelope { payload, signature: envelope.signature.clone() });
            // The long signatures have each of their bits flipped in the test of the other form.
            let step = if kind.starts_with("rsa") { 29 } else { 1 };
            let signatures = bit_flips(&envelope.signature)
                .step_by(step)
                .map(|signature| Envelope { payload: envelope.payload.clone(), signature });
            for damaged in payloads.chain(signatures) {
                let mut bundle = bundle.clone();
                bundle["dsseEnvelope"] = damaged.to_json();
                let fault = open_bundle(bundle.to_string().as_bytes(), std::slice::from_ref(&key)).expect_err(kind);
                assert_eq!(fault, SignatureFault::BadSignature { key: key.id() }, "{kind}");
            }
        }
    }

    /// Of the file as a whole, a bit may be one that nothing depends on (of the hint); then the statement is the same.
    #[test]
    fn no_bit_of_the_file_changes_what_is_signed() {
        let (file, keys) = (bytes("bundle/p256.json"), [public("p256")]);
        let signed = open_bundle(&file, &keys).expect("signed");
        for damaged in bit_flips(&file) {
            match open_bundle(&damaged, &keys) {
                Ok(same) => assert_eq!(same, signed),
                Err(fault) => assert!(!fault.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn what_is_no_bundle_of_ours() {
        let version = |media_type: &str| changed(|bundle| bundle["mediaType"] = json!(media_type));
        let only = "only application/vnd.dev.sigstore.bundle.v0.3+json is supported";
        for (media_type, want) in [
            ("application/vnd.dev.sigstore.bundle+json;version=0.1", "of an older version"),
            ("application/vnd.dev.sigstore.bundle+json;version=0.2", "of an older version"),
            ("application/vnd.dev.sigstore.bundle+json;version=0.3", "of the older spelling"),
            ("application/vnd.dev.sigstore.bundle.v0.4+json", "of a newer version"),
            ("application/vnd.dev.sigstore.bundle.v1+json", "of a newer version"),
            ("application/json", "not a Sigstore bundle"),
        ] {
            let quoted =
                if want.ends_with("spelling") { format!("{media_type:?}") } else { format!("({media_type:?})") };
            check(&version(media_type), &["p256"], Err(&format!("the bundle is {want} {quoted}; {only}")));
        }
        let file = "the bundle holds the signature of a file (messageSignature), not of a statement about an index";
        check(&bytes("bundle/p256-sign-blob.json"), &["p256"], Err(file));
        let keyless = "the signature is keyless (made with a certificate), and a key is asked for";
        let material = |material| changed(|bundle| bundle["verificationMaterial"] = material);
        let certificate = material(json!({ "certificate": { "rawBytes": "AQID" }, "tlogEntries": [{}] }));
        check(&certificate, &["p256"], Err(keyless));
        assert_eq!(
            peek_bundle(&certificate).map(|peek| (peek.made_by, peek.statement.subjects)),
            Ok((MadeBy::Certificate, vec![named()]))
        );
        check(&material(json!({ "x509CertificateChain": {} })), &["p256"], Err(keyless));
    }

    #[test]
    fn damage_to_the_form() {
        let check = |bundle: &[u8], problem: &str| {
            check(bundle, &["p256"], Err(&format!("the signature is malformed: {problem}")));
        };
        let material = |material| changed(|bundle| bundle["verificationMaterial"] = material);
        check(&material(json!({})), "`verificationMaterial` names neither a key nor a certificate");
        check(&material(json!({ "publicKey": {}, "certificate": {} })), "it has both a key and a certificate");
        check(&material(json!({ "publicKey": "x" })), "`publicKey` is not an object");
        check(&material(json!({ "publicKey": { "hint": 1 } })), "`hint` is not a text");
        let long = material(json!({ "publicKey": { "hint": "x".repeat(1025) } }));
        check(&long, "`hint` has more than 1024 bytes");
        let entries = material(json!({ "publicKey": {}, "tlogEntries": vec![json!({}); 33] }));
        check(&entries, "`tlogEntries` has 33 entries, and at most 32 are read");
        let two = changed(|bundle| {
            let signature = bundle["dsseEnvelope"]["signatures"][0].clone();
            bundle["dsseEnvelope"]["signatures"] = json!([signature, signature]);
        });
        check(&two, "it holds 2 signatures, and exactly one is allowed");
        let kind = changed(|bundle| bundle["dsseEnvelope"]["payloadType"] = json!("text/plain"));
        check(&kind, r#"`payloadType` is "text/plain", not "application/vnd.in-toto+json""#);
        check(&changed(|bundle| bundle["messageSignature"] = json!({})), "it has two contents");
        check(
            &changed(|bundle| drop(bundle.as_object_mut().map(|bundle| bundle.remove("dsseEnvelope")))),
            "`dsseEnvelope` is missing",
        );
        let twice = fixtures::text("bundle/p256.json").replacen('{', r#"{"dsseEnvelope":{},"#, 1);
        check(
            twice.as_bytes(),
            &format!(
                r#"the member "dsseEnvelope" is there twice at line 1 column {}"#,
                fixtures::column(&twice, r#""dsseEnvelope""#)
            ),
        );
        check(b"[]", "`mediaType` is missing");
        check(b"\x1f\x8b", "expected value at line 1 column 1");
    }

    #[test]
    fn size() {
        let mut bundle = bytes("bundle/p256.json");
        bundle.resize(LIMIT, b' ');
        check(&bundle, &["p256"], Ok(("p256", SIGN_PREDICATE, named())));
        bundle.push(b' ');
        check(&bundle, &["p256"], Err("the signature has 1048577 bytes, and at most 1048576 are read"));
    }

    #[test]
    fn log_entries_are_not_looked_at() {
        let bundle = changed(|bundle| bundle["verificationMaterial"]["tlogEntries"] = json!(vec![json!({"x": 1}); 32]));
        check(&bundle, &["p256"], Ok(("p256", SIGN_PREDICATE, named())));
    }

    #[test]
    fn a_swapped_payload() {
        let bundle = changed(|bundle| {
            let other: Value = serde_json::from_slice(&bytes("bundle/p256-unnamed.json")).expect("JSON");
            bundle["dsseEnvelope"]["payload"] = other["dsseEnvelope"]["payload"].clone();
        });
        check(&bundle, &["p256"], Err(&format!("the signature does not verify with key {}", public("p256").id())));
        assert_eq!(peek_bundle(&bundle).map(|peek| peek.statement.subjects), Ok(vec![unnamed()]));
    }

    #[test]
    fn a_signed_statement_may_be_malformed_all_the_same() {
        check(&resigned("{}"), &["p256"], Err("the signature is malformed: `_type` is missing"));
    }

    #[test]
    fn a_payload_in_the_other_alphabet() {
        let bundle = changed(|bundle| {
            let sig = bundle["dsseEnvelope"]["signatures"][0]["sig"].as_str().expect("a text");
            let sig = sig.replace('+', "-").replace('/', "_");
            bundle["dsseEnvelope"]["signatures"][0]["sig"] = json!(sig);
        });
        check(&bundle, &["p256"], Ok(("p256", SIGN_PREDICATE, named())));
        assert!(STANDARD.decode("-_").is_err());
    }
}
