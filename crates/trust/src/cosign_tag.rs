//! cosign's `.sig` form: a payload, and its signature in an annotation of the layer that holds it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tofu_oci_types::Digest;

use crate::bundle::LIMIT;
use crate::fault::{Form, MadeBy, Peek, SignatureFault, Signed};
use crate::json;
use crate::keys::PublicKey;
use crate::signer::PrivateKey;
use crate::statement::{SignedSubject, Statement, Subject};
use crate::verify::signer;
use crate::vocabulary::SIGN_PREDICATE;

/// What `critical.type` must be.
const CRITICAL_TYPE: &str = "cosign container image signature";

/// The two halves of a signature in cosign's `.sig` form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CosignTagSignature {
    /// The layer's content.
    pub payload: Vec<u8>,
    /// The value of the layer's annotation [`SIGNATURE_ANNOTATION`](crate::SIGNATURE_ANNOTATION), in base64.
    pub signature: String,
}

/// What the payload says, when one of `keys` signed it. Payload and signature have at most 1 MiB each.
///
/// Which index it is about, and which provider, is for the caller to compare; the `docker-reference` is not looked at,
/// as cosign does not, because a release may be mirrored.
///
/// Spec: cosign, `specs/SIGNATURE_SPEC.md`; containers/image, `docs/containers-signature.5.md` (simple signing).
pub fn open_cosign_tag(payload: &[u8], signature_base64: &str, keys: &[PublicKey]) -> Result<Signed, SignatureFault> {
    bounded(payload.len())?;
    bounded(signature_base64.len())?;
    let signature = STANDARD
        .decode(signature_base64.trim_ascii())
        .map_err(|_| SignatureFault::malformed("the signature is not base64"))?;
    let key = signer(keys, None, payload, &signature)?;
    Ok(Signed { key, form: Form::CosignTag, statement: parse(payload)? })
}

/// What the payload claims, unverified.
pub fn peek_cosign_tag(payload: &[u8]) -> Result<Peek, SignatureFault> {
    bounded(payload.len())?;
    Ok(Peek { made_by: MadeBy::Key { hint: None }, statement: parse(payload)? })
}

/// Payload and signature in which `key` says that `subject` is signed: the same bytes for the same arguments.
/// `docker_reference` is the repository that the payload names (`HOST/PATH`), for readers that compare it.
pub fn sign_cosign_tag(key: &PrivateKey, subject: &SignedSubject<'_>, docker_reference: &str) -> CosignTagSignature {
    let payload = json!({
        "critical": {
            "identity": { "docker-reference": docker_reference },
            "image": { "docker-manifest-digest": subject.index },
            "type": CRITICAL_TYPE,
        },
        "optional": subject.names(),
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
        .map(|subject| Statement { predicate_type: SIGN_PREDICATE.to_owned(), subjects: vec![subject] })
        .map_err(SignatureFault::malformed)
}

fn subject(payload: &[u8]) -> Result<Subject, String> {
    let payload = json::parse(payload).map_err(|problem| format!("the payload: {problem}"))?;
    let critical = json::object(&payload, "critical")?;
    let kind = json::text(critical, "type")?;
    if kind != CRITICAL_TYPE {
        return Err(format!("`critical.type` is {kind:?}, not {CRITICAL_TYPE:?}"));
    }
    let names = payload.get("optional").filter(|names| !names.is_null());
    Subject::named(Some(image_digest(json::object(critical, "image")?)?), names, "optional")
}

/// The specification's example begins the member's name with a capital letter, what is written with a small one.
fn image_digest(image: &Value) -> Result<Digest, String> {
    let name = match (image.get("docker-manifest-digest"), image.get("Docker-manifest-digest")) {
        (Some(_), Some(_)) => return Err("`docker-manifest-digest` is given twice".to_owned()),
        (None, Some(_)) => "Docker-manifest-digest",
        (_, None) => "docker-manifest-digest",
    };
    let digest: Digest = json::text(image, name)?.parse().map_err(|error| format!("`critical.image`: {error}"))?;
    if digest.algorithm_name() != "sha256" {
        return Err("`critical.image` names no sha256".to_owned());
    }
    Ok(digest)
}
