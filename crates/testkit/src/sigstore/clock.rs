//! An authority for timestamps.
//!
//! Spec: RFC 3161; RFC 5652, section 5.

use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CustomExtension, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SerialNumber, SigningKey as _,
};
use serde_json::{Value, json};
use tofu_oci_types::Moment;

use super::der::{INTEGER, OCTETS, SEQUENCE, SET, TIME, ZERO, content, of, oid, parts, tagged};
use super::texts::{SINCE, sha256};

const SIGNED_DATA: [u64; 7] = [1, 2, 840, 113_549, 1, 7, 2];
const TIMESTAMP: [u64; 9] = [1, 2, 840, 113_549, 1, 9, 16, 1, 4];
const CONTENT_TYPE: [u64; 7] = [1, 2, 840, 113_549, 1, 9, 3];
const MESSAGE_DIGEST: [u64; 7] = [1, 2, 840, 113_549, 1, 9, 4];
const SHA256: [u64; 9] = [2, 16, 840, 1, 101, 3, 4, 2, 1];
const ECDSA_SHA256: [u64; 7] = [1, 2, 840, 10_045, 4, 3, 2];
const KEY_USAGE: [u64; 4] = [2, 5, 29, 37];
const TIMESTAMPING: [u64; 9] = [1, 3, 6, 1, 5, 5, 7, 3, 8];
/// Of its certificate, and of every timestamp.
const SERIAL: u8 = 7;

/// A key with its certificate, and that of the authority that issued it.
#[derive(Debug)]
pub(super) struct Clock {
    key: KeyPair,
    chain: [Vec<u8>; 2],
}

impl Clock {
    pub(super) fn generate() -> Self {
        let name = |text: &str| {
            let mut name = DistinguishedName::new();
            name.push(DnType::CommonName, text);
            name
        };
        let mut root = CertificateParams::default();
        root.distinguished_name = name("tofu-oci test clocks");
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        root.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let root_key = KeyPair::generate().expect("the system has random numbers");
        let authority = root.self_signed(&root_key).expect("a fixed certificate request is valid");
        let mut leaf = CertificateParams::default();
        leaf.distinguished_name = name("tofu-oci test clock");
        leaf.serial_number = Some(SerialNumber::from(vec![SERIAL]));
        leaf.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let mut usage = CustomExtension::from_oid_content(&KEY_USAGE, of(SEQUENCE, &[oid(&TIMESTAMPING)]));
        usage.set_criticality(true);
        leaf.custom_extensions = vec![usage];
        let key = KeyPair::generate().expect("the system has random numbers");
        let issued = leaf.signed_by(&key, &Issuer::from_params(&root, &root_key));
        let issued = issued.expect("a fixed certificate request is valid");
        Self { key, chain: [issued.der().to_vec(), authority.der().to_vec()] }
    }

    /// Its member of a trusted root.
    pub(super) fn described(&self) -> Value {
        let chain: Vec<Value> = self.chain.iter().map(|bytes| json!({ "rawBytes": STANDARD.encode(bytes) })).collect();
        json!({
            "subject": { "commonName": "tofu-oci test clocks" },
            "uri": "https://clock.sigstore.example/api/v1/timestamp",
            "certChain": { "certificates": chain },
            "validFor": { "start": SINCE },
        })
    }

    /// The answer to a question.
    pub(super) fn answer(&self, question: &[u8], at: SystemTime) -> Vec<u8> {
        let imprint = parts(content(question))[1];
        self.stamp(content(parts(content(imprint))[1]), at)
    }

    /// The answer for what has this hash.
    pub(super) fn stamp(&self, hash: &[u8], at: SystemTime) -> Vec<u8> {
        let number = |number: u8| tagged(INTEGER, &[number]);
        let hashing = of(SEQUENCE, &[oid(&SHA256)]);
        let time: String = Moment::from(at).to_string().chars().filter(|c| !"-:T".contains(*c)).collect();
        let said = of(
            SEQUENCE,
            &[
                number(1),
                oid(&[1, 3, 6, 1, 4, 1, 57264, 2]),
                of(SEQUENCE, &[hashing.clone(), tagged(OCTETS, hash)]),
                number(SERIAL),
                tagged(TIME, time.as_bytes()),
            ],
        );
        let attribute = |name: &[u64], value: Vec<u8>| of(SEQUENCE, &[oid(name), of(SET, &[value])]);
        let attributes =
            [attribute(&CONTENT_TYPE, oid(&TIMESTAMP)), attribute(&MESSAGE_DIGEST, tagged(OCTETS, &sha256(&said)))];
        let signature = self.key.sign(&of(SET, &attributes)).expect("a key of our own signs");
        // The version, the serial number, the algorithm and the issuer come first.
        let issuer = parts(content(parts(content(&self.chain[0]))[0]))[3].to_vec();
        let signer = of(
            SEQUENCE,
            &[
                number(1),
                of(SEQUENCE, &[issuer, number(SERIAL)]),
                hashing.clone(),
                of(ZERO, &attributes),
                of(SEQUENCE, &[oid(&ECDSA_SHA256)]),
                tagged(OCTETS, &signature),
            ],
        );
        let data = of(
            SEQUENCE,
            &[
                number(3),
                of(SET, &[hashing]),
                of(SEQUENCE, &[oid(&TIMESTAMP), of(ZERO, &[tagged(OCTETS, &said)])]),
                of(SET, &[signer]),
            ],
        );
        let token = of(SEQUENCE, &[oid(&SIGNED_DATA), of(ZERO, &[data])]);
        of(SEQUENCE, &[of(SEQUENCE, &[number(0)]), token])
    }
}
