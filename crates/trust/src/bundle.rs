//! Sigstore bundles v0.3 by a key: an envelope with a statement, and a hint which key signed it.
//!
//! A bundle with a certificate ("keyless") needs a root of trust that changes, and is told apart, not verified.

use serde_json::{Value, json};

use crate::dsse::Envelope;
use crate::fault::{Form, MadeBy, Peek, SignatureFault, Signed};
use crate::json;
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::{SignedSubject, Statement};
use crate::verify::signer;
use crate::vocabulary::BUNDLE_TYPE;

/// The largest signature of either form that is read, in bytes.
pub(crate) const LIMIT: usize = 1024 * 1024;
/// Entries of transparency logs; they are not looked at, but a bundle with thousands of them is none.
const LOG_ENTRIES: usize = 32;

/// What the bundle says, when one of `keys` signed it. It has at most 1 MiB, one signature, and at most 1024 subjects.
///
/// Which index the statement is about, which provider, and which predicate counts, is for the caller to compare.
///
/// Spec: Sigstore protobuf-specs, `sigstore_bundle.proto`; DSSE v1; in-toto attestation v1.
pub fn open_bundle(bytes: &[u8], keys: &[PublicKey]) -> Result<Signed, SignatureFault> {
    let bundle = Bundle::parse(bytes)?;
    let MadeBy::Key { hint } = &bundle.made_by else { return Err(SignatureFault::Keyless) };
    let key = signer(keys, hint.as_deref(), &bundle.envelope.signed_bytes(), &bundle.envelope.signature)?;
    Ok(Signed { key, form: Form::Bundle, statement: bundle.statement()? })
}

/// What the bundle claims, unverified; also one with a certificate.
pub fn peek_bundle(bytes: &[u8]) -> Result<Peek, SignatureFault> {
    let bundle = Bundle::parse(bytes)?;
    Ok(Peek { statement: bundle.statement()?, made_by: bundle.made_by })
}

/// A bundle in which `key` says that `subject` is signed: the same bytes for the same arguments.
pub fn sign_bundle(key: &PrivateKey, subject: &SignedSubject<'_>) -> Vec<u8> {
    let mut envelope = Envelope { payload: subject.to_statement(), signature: Vec::new() };
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
            Ok(MadeBy::Key { hint: hint.filter(|hint| !hint.is_empty()).map(str::to_owned) })
        }
        (Some(_), None) => Err("`publicKey` is not an object".to_owned()),
        (None, Some(_)) => Ok(MadeBy::Certificate),
        (Some(_), Some(_)) => Err("it has both a key and a certificate".to_owned()),
        (None, None) => Err("`verificationMaterial` names neither a key nor a certificate".to_owned()),
    }
}
