//! A Sigstore instance that programs can ask, over plain HTTP: an authority for certificates, its witnesses, and the TUF repository
//! that says where they are.
//!
//! Spec: Fulcio, `fulcio.proto`; RFC 3161, section 3.4; Rekor, `openapi.yaml`; `rekor-tiles`, `rekor_service.proto`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rcgen::{PKCS_ECDSA_P256_SHA256, PublicKeyData, SignatureAlgorithm};
use serde_json::{Value, json};

use super::log::Logged;
use super::texts::{SINCE, hex, sha256};
use super::{BuiltBy, LocalSigstore, Witness, der};
use crate::fault::{Answer, Computed, Fault, RequestHead, Rule};
use crate::tuf::tuf_repository;
use crate::web::WebServer;

const CERTIFICATES: &str = "/api/v2/signingCert";
const TIMESTAMPS: &str = "/api/v1/timestamp";
const OLD_LOG: &str = "/api/v1/log/entries";
const NEW_LOG: &str = "/api/v2/log/entries";
const TUF: &str = "/tuf/";

/// A running instance, which goes by the clock of this machine.
#[derive(Debug)]
pub struct SigstoreServer {
    sigstore: Arc<LocalSigstore>,
    files: BTreeMap<String, String>,
    web: WebServer,
}

impl SigstoreServer {
    pub fn start(witness: Witness) -> Self {
        let sigstore = Arc::new(LocalSigstore::new(witness, None));
        let web = WebServer::plain();
        let config = signing_config(witness, web.origin());
        let targets = [("trusted_root.json", &*sigstore.root()), ("signing_config.v0.2.json", &*config)];
        let files = tuf_repository(&targets, 1);
        let (asked, served) = (Arc::clone(&sigstore), files.clone());
        let answer = move |head: &RequestHead, body: &[u8]| match head.path.strip_prefix(TUF) {
            Some(name) => served.get(name).map_or_else(Answer::not_found, |text| Answer::text(200, text)),
            None => answer(&asked, head, body).unwrap_or_else(|| Answer::text(400, "not understood\n")),
        };
        web.fault(Rule::on("*", "*").then(Fault::Computed(Computed::new(answer))));
        Self { sigstore, files, web }
    }

    /// Its `trusted_root.json`.
    pub fn root(&self) -> String {
        self.sigstore.root()
    }

    /// The address of its TUF repository.
    pub fn tuf_mirror(&self) -> String {
        format!("{}{}", self.web.origin(), TUF.trim_end_matches('/'))
    }

    /// The files of its TUF repository, by their paths.
    pub fn tuf_files(&self) -> &BTreeMap<String, String> {
        &self.files
    }
}

impl BuiltBy<'_> {
    /// A token with which this server issues a certificate: of a job on GitHub, or of a person.
    pub fn token(&self) -> String {
        let bare = |text: &str| text.strip_prefix("github.com/").unwrap_or(text).to_owned();
        let repository = bare(self.repository);
        let mut claims = json!({
            "iss": self.issuer,
            "aud": "sigstore",
            "sub": format!("repo:{repository}:ref:{}", self.reference),
            "iat": 1_700_000_000,
            "exp": 4_000_000_000_u64,
        });
        let more = match self.email {
            Some(email) => json!({ "email": email, "email_verified": true }),
            None => json!({
                "repository": repository,
                "job_workflow_ref": format!("{}@{}", bare(self.workflow), self.reference),
                "ref": self.reference,
                "runner_environment": self.runner,
                "environment": self.environment,
                "repository_id": self.repository_id,
            }),
        };
        claims.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        // The server believes every token.
        format!("{}.{}.bm90IHNpZ25lZA", encoded(&json!({ "alg": "RS256", "typ": "JWT" })), encoded(&claims))
    }
}

fn signing_config(witness: Witness, origin: &str) -> String {
    let service = |version: u8, path: &str| {
        json!([{
            "url": format!("{origin}{path}"), "majorApiVersion": version, "operator": "sigstore.example",
            "validFor": { "start": SINCE },
        }])
    };
    let mut config = json!({
        "mediaType": "application/vnd.dev.sigstore.signingconfig.v0.2+json",
        "caUrls": service(1, ""),
        "oidcUrls": service(1, "/oidc"),
    });
    match witness {
        Witness::Log => config["rekorTlogUrls"] = service(1, ""),
        Witness::LogAndClock => config["rekorTlogUrls"] = service(2, ""),
        Witness::Clock => {}
    }
    if witness != Witness::Log {
        config["tsaUrls"] = service(1, TIMESTAMPS);
    }
    config["rekorTlogConfig"] = json!({ "selector": "ANY" });
    config["tsaConfig"] = json!({ "selector": "ANY" });
    config.to_string()
}

fn answer(sigstore: &LocalSigstore, head: &RequestHead, body: &[u8]) -> Option<Answer> {
    match (head.method.as_str(), head.path.as_str()) {
        ("POST", CERTIFICATES) => certificate(sigstore, head, body),
        ("POST", TIMESTAMPS) => {
            let stamp = sigstore.clock.as_ref()?.answer(body, sigstore.signed_at());
            Some(Answer::new(201).header("Content-Type", "application/timestamp-reply").body(stamp))
        }
        ("POST", NEW_LOG) => new_entry(sigstore, body),
        ("POST", OLD_LOG) => old_entry(sigstore, body),
        _ => Some(Answer::not_found()),
    }
}

/// A public key of ECDSA with P-256.
struct PublicPoint(Vec<u8>);

impl PublicKeyData for PublicPoint {
    fn der_bytes(&self) -> &[u8] {
        &self.0
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &PKCS_ECDSA_P256_SHA256
    }
}

fn certificate(sigstore: &LocalSigstore, head: &RequestHead, body: &[u8]) -> Option<Answer> {
    let token = head.headers.get("Authorization")?.to_str().ok()?.strip_prefix("Bearer ")?;
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let question: Value = serde_json::from_slice(body).ok()?;
    let pem = question["publicKeyRequest"]["publicKey"]["content"].as_str()?;
    let public = STANDARD.decode(pem.lines().filter(|line| !line.starts_with('-')).collect::<String>()).ok()?;
    // The algorithm comes first; the first byte of a bit string is the number of unused bits.
    let point = PublicPoint(der::content(der::parts(der::content(&public))[1]).get(1..)?.to_vec());
    let text = |name: &str| claims[name].as_str();
    let on_github = |name: &str| text(name).map(|text| format!("github.com/{text}"));
    let (repository, signer) = (on_github("repository"), on_github("job_workflow_ref"));
    let (workflow, reference) = signer.as_deref().unwrap_or("@").split_once('@')?;
    let by = BuiltBy {
        issuer: text("iss")?,
        repository: repository.as_deref().unwrap_or_default(),
        workflow,
        reference,
        environment: text("environment"),
        runner: text("runner_environment").unwrap_or_default(),
        repository_id: text("repository_id"),
        owner_id: text("repository_owner_id"),
        email: text("email"),
    };
    let issued = sigstore.certificate_of(&by, &point).pem();
    let key =
        if sigstore.certificates.is_some() { "signedCertificateEmbeddedSct" } else { "signedCertificateDetachedSct" };
    Some(Answer::json(&json!({ key: { "chain": { "certificates": [issued, pem_of(&sigstore.certificate)] } } })))
}

fn pem_of(certificate: &[u8]) -> String {
    format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", STANDARD.encode(certificate))
}

fn new_entry(sigstore: &LocalSigstore, body: &[u8]) -> Option<Answer> {
    let question: Value = serde_json::from_slice(body).ok()?;
    let asked = &question["hashedRekordRequestV002"];
    let bytes = |value: &Value| STANDARD.decode(value.as_str()?).ok();
    let certificate = bytes(&asked["signature"]["verifier"]["x509Certificate"]["rawBytes"])?;
    let (hash, signature) = (bytes(&asked["digest"])?, bytes(&asked["signature"]["content"])?);
    let entry = sigstore.log.as_ref()?.hashed(&hash, &signature, &certificate);
    Some(Answer { status: 201, ..Answer::json(&entry) })
}

fn old_entry(sigstore: &LocalSigstore, body: &[u8]) -> Option<Answer> {
    let question: Value = serde_json::from_slice(body).ok()?;
    let proposed = &question["spec"]["proposedContent"];
    let written = proposed["envelope"].as_str()?;
    let envelope: Value = serde_json::from_str(written).ok()?;
    let bytes = |value: &Value| STANDARD.decode(value.as_str()?).ok();
    let logged = Logged {
        envelope: written.as_bytes(),
        payload: &bytes(&envelope["payload"])?,
        signature: &bytes(&envelope["signatures"][0]["sig"])?,
        certificate: &String::from_utf8(bytes(&proposed["verifiers"][0])?).ok()?,
    };
    let entry = sigstore.log.as_ref()?.dsse(&logged, sigstore.signed_at());
    let number = |value: &Value| value.as_str()?.parse::<u64>().ok();
    let in_hex = |value: &Value| Some(hex(&bytes(value)?));
    let proof = &entry["inclusionProof"];
    let hashes: Option<Vec<String>> = proof["hashes"].as_array()?.iter().map(in_hex).collect();
    let name = hex(&sha256(written.as_bytes()));
    let whole = json!({ &name: {
        "body": entry["canonicalizedBody"],
        "integratedTime": number(&entry["integratedTime"])?,
        "logID": in_hex(&entry["logId"]["keyId"])?,
        "logIndex": number(&entry["logIndex"])?,
        "verification": {
            "signedEntryTimestamp": entry["inclusionPromise"]["signedEntryTimestamp"],
            "inclusionProof": {
                "checkpoint": proof["checkpoint"]["envelope"],
                "hashes": hashes?,
                "logIndex": number(&proof["logIndex"])?,
                "rootHash": in_hex(&proof["rootHash"])?,
                "treeSize": number(&proof["treeSize"])?,
            },
        },
    } });
    let answer = Answer { status: 201, ..Answer::json(&whole) };
    Some(answer.header("ETag", name.clone()).header("Location", format!("{OLD_LOG}/{name}")))
}
