//! Public keys that signatures are verified with.

use std::fmt;

use p256::elliptic_curve::sec1::ToEncodedPoint as _;
use p256::pkcs8::der::asn1::{AnyRef, BitStringRef, UintRef};
use p256::pkcs8::der::{Decode as _, Encode as _, Reader as _, SliceReader};
use p256::pkcs8::spki::AlgorithmIdentifierRef;
use p256::pkcs8::{ObjectIdentifier, SubjectPublicKeyInfoRef};

use crate::key_id::KeyId;
use crate::material::Material;
use crate::pem;

pub(crate) const EC: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.2.1");
pub(crate) const P256: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.10045.3.1.7");
pub(crate) const P384: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.132.0.34");
pub(crate) const ED25519: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.3.101.112");
pub(crate) const RSA: ObjectIdentifier = ObjectIdentifier::new_unwrap("1.2.840.113549.1.1.1");

/// Fewer bits are refused.
const RSA_LEAST: u32 = 2048;
/// The most bits: no verification here supports more.
const RSA_MOST: u32 = 8192;

/// A public key: ECDSA over P-256 or P-384, Ed25519, or RSA of 2048 to 8192 bits.
///
/// However it was written down (a compressed point, PKCS#1), it is kept in the one canonical form, so that the same key
/// always has the same [`KeyId`].
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kind: KeyKind,
    spki: Vec<u8>,
    /// What verifies: an uncompressed point, 32 bytes of Ed25519, or an `RSAPublicKey` in DER.
    material: Vec<u8>,
    id: KeyId,
}

/// The algorithm of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KeyKind {
    /// ECDSA over NIST P-256.
    EcdsaP256,
    /// ECDSA over NIST P-384.
    EcdsaP384,
    Ed25519,
    /// RSA with a modulus of so many bits.
    Rsa {
        /// The length of the modulus.
        bits: u32,
    },
}

/// A key that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is not what it should be.
    #[error("the key is malformed: {problem}")]
    Malformed {
        /// What is wrong; never a part of a private key.
        problem: String,
    },
    /// A private key was given instead of a public one.
    #[error("this is a private key; what verifies signatures is its public key")]
    Private,
    /// A public key was given instead of a private one.
    #[error("this is a public key; what signs is a private key")]
    Public,
    /// An `OpenPGP` key, which signs files and no releases.
    #[error("this is an OpenPGP key; what signs a release is a PEM key")]
    OpenPgp,
    /// A key of an algorithm or curve that is not supported.
    #[error("{algorithm} is not supported; use ECDSA P-256 or P-384, Ed25519, or RSA of 2048 bits or more")]
    Unsupported { algorithm: String },
    /// An RSA key that is too short.
    #[error("the RSA key has {bits} bits; at least 2048 are needed")]
    WeakRsa { bits: u32 },
    /// An RSA key that is too long for its purpose.
    #[error("the RSA key has {bits} bits; at most {most} are supported for {purpose}")]
    LongRsa {
        bits: u32,
        most: u32,
        /// `verifying` or `signing`.
        purpose: &'static str,
    },
    /// A private key that is encrypted in a way that is not read.
    #[error("the private key is {form}, which is not read; `cosign import-key-pair` makes one that is")]
    UnsupportedEncryption { form: String },
    /// The private key is encrypted and no password was given.
    #[error("the private key is encrypted, and no password was given")]
    PasswordNeeded,
    /// The private key is encrypted with another password.
    #[error("the password of the private key is wrong")]
    WrongPassword,
}

impl KeyError {
    pub(crate) fn malformed(problem: impl Into<String>) -> Self {
        Self::Malformed { problem: problem.into() }
    }
}

impl PublicKey {
    /// The key in a PEM file of at most 64 KiB: `PUBLIC KEY`, or `RSA PUBLIC KEY`.
    ///
    /// Spec: RFC 7468, section 13; RFC 8017, appendix A.1.1.
    pub fn from_pem(file: &[u8]) -> Result<Self, KeyError> {
        let blocks = pem::blocks(file).map_err(KeyError::malformed)?;
        let mut blocks = blocks.iter();
        let (first, None) = (blocks.next(), blocks.next()) else {
            return Err(KeyError::malformed("the file holds more than one key"));
        };
        let first = first.ok_or_else(|| KeyError::malformed("the file holds no PEM block `PUBLIC KEY`"))?;
        match first.label.as_str() {
            "PUBLIC KEY" => Self::from_spki_der(&first.content),
            "RSA PUBLIC KEY" => Self::from_rsa(&first.content),
            "CERTIFICATE" => Err(KeyError::malformed(
                "it is a certificate; `openssl x509 -pubkey -noout` prints the public key in it",
            )),
            label if label.ends_with("PRIVATE KEY") => Err(KeyError::Private),
            label => Err(KeyError::malformed(format!("the PEM block is a `{label}`, not a `PUBLIC KEY`"))),
        }
    }

    /// The key in a `SubjectPublicKeyInfo` in DER.
    ///
    /// Spec: RFC 5280, section 4.1.2.7; RFC 5480; RFC 8410.
    pub fn from_spki_der(der: &[u8]) -> Result<Self, KeyError> {
        let problem = |error| KeyError::malformed(format!("it is not a public key: {error}"));
        let info = SubjectPublicKeyInfoRef::try_from(der).map_err(problem)?;
        let bits = info.subject_public_key.as_bytes();
        let bytes = bits.ok_or_else(|| KeyError::malformed("it is not of whole bytes"))?;
        match info.algorithm.oid {
            EC => Self::from_ec_point(curve(info.algorithm.parameters)?, bytes),
            ED25519 => Self::from_ed25519(bytes),
            RSA => Self::from_rsa(bytes),
            other => Err(unsupported_algorithm(other)),
        }
    }

    pub(crate) fn from_ec_point(curve: Curve, point: &[u8]) -> Result<Self, KeyError> {
        let problem = |_| KeyError::malformed("it is not a point of its curve");
        let (kind, oid, point) = match curve {
            Curve::P256 => {
                let key = p256::PublicKey::from_sec1_bytes(point).map_err(problem)?;
                (KeyKind::EcdsaP256, &P256, key.to_encoded_point(false).as_bytes().to_vec())
            }
            Curve::P384 => {
                let key = p384::PublicKey::from_sec1_bytes(point).map_err(problem)?;
                (KeyKind::EcdsaP384, &P384, key.to_encoded_point(false).as_bytes().to_vec())
            }
        };
        Ok(Self::canonical(kind, EC, Some(AnyRef::from(oid)), point))
    }

    pub(crate) fn from_ed25519(bytes: &[u8]) -> Result<Self, KeyError> {
        let bytes: [u8; 32] = bytes.try_into().map_err(|_| KeyError::malformed("an Ed25519 key has 32 bytes"))?;
        ed25519_dalek::VerifyingKey::from_bytes(&bytes)
            .ok()
            .filter(|key| !key.is_weak())
            .ok_or_else(|| KeyError::malformed("it is not a usable point of Ed25519"))?;
        Ok(Self::canonical(KeyKind::Ed25519, ED25519, None, bytes.to_vec()))
    }

    /// Of an `RSAPublicKey` in DER.
    pub(crate) fn from_rsa(der: &[u8]) -> Result<Self, KeyError> {
        let problem = |error| KeyError::malformed(format!("it is not an RSA public key: {error}"));
        let mut reader = SliceReader::new(der).map_err(problem)?;
        let numbers = reader.sequence(|reader| Ok((UintRef::decode(reader)?, UintRef::decode(reader)?)));
        let (modulus, exponent) = numbers.map_err(problem)?;
        reader.finish(()).map_err(problem)?;
        let bits = bit_length(modulus.as_bytes());
        match bits {
            ..RSA_LEAST => return Err(KeyError::WeakRsa { bits }),
            RSA_LEAST..=RSA_MOST => {}
            _ => return Err(KeyError::LongRsa { bits, most: RSA_MOST, purpose: "verifying" }),
        }
        let odd = |number: &[u8]| number.last().is_some_and(|byte| byte & 1 == 1);
        let exponent = exponent.as_bytes();
        // As ring and OpenSSL bound it: an odd number from 3 to 33 bits.
        if !odd(modulus.as_bytes()) || !odd(exponent) || !(2..=33).contains(&bit_length(exponent)) {
            return Err(KeyError::malformed("its numbers are not those of an RSA key"));
        }
        Ok(Self::canonical(KeyKind::Rsa { bits }, RSA, Some(AnyRef::NULL), der.to_vec()))
    }

    fn canonical(kind: KeyKind, oid: ObjectIdentifier, parameters: Option<AnyRef<'_>>, material: Vec<u8>) -> Self {
        let reason = "a key of at most 8192 bits is far below what DER can say";
        let info = SubjectPublicKeyInfoRef {
            algorithm: AlgorithmIdentifierRef { oid, parameters },
            subject_public_key: BitStringRef::from_bytes(&material).expect(reason),
        };
        let spki = info.to_der().expect(reason);
        let id = KeyId::of_spki(&spki);
        Self { kind, spki, material, id }
    }

    /// The `SubjectPublicKeyInfo` in DER, in its canonical form.
    pub fn spki_der(&self) -> &[u8] {
        &self.spki
    }

    /// The key as a PEM file, as cosign and OpenSSL write it.
    pub fn to_pem(&self) -> String {
        pem::encode("PUBLIC KEY", &self.spki)
    }

    /// Its identity.
    pub fn id(&self) -> KeyId {
        self.id.clone()
    }

    /// Its algorithm.
    pub fn kind(&self) -> KeyKind {
        self.kind
    }

    pub(crate) fn material(&self) -> &[u8] {
        &self.material
    }

    /// What it has in common with the same key in an `OpenPGP` certificate.
    pub(crate) fn numbers(&self) -> Material {
        let point = |name| Material::of(name, &self.material);
        match self.kind {
            KeyKind::EcdsaP256 => point("p256"),
            KeyKind::EcdsaP384 => point("p384"),
            KeyKind::Ed25519 => point("ed25519"),
            KeyKind::Rsa { .. } => {
                let mut reader = SliceReader::new(&self.material).expect("it was read before");
                let modulus = reader.sequence(|reader| {
                    let modulus = UintRef::decode(reader)?;
                    UintRef::decode(reader)?;
                    Ok(modulus)
                });
                Material::rsa(modulus.expect("it was read before").as_bytes())
            }
        }
    }
}

fn bit_length(number: &[u8]) -> u32 {
    let digits = number.iter().skip_while(|byte| **byte == 0);
    let mut bits = 0u32;
    for (index, byte) in digits.enumerate() {
        bits += if index == 0 { 8 - byte.leading_zeros() } else { 8 };
    }
    bits
}

/// A curve that is supported.
#[derive(Clone, Copy)]
pub(crate) enum Curve {
    P256,
    P384,
}

/// The curve that the parameters of an elliptic key name.
pub(crate) fn curve(parameters: Option<AnyRef<'_>>) -> Result<Curve, KeyError> {
    let name = parameters.and_then(|parameters| parameters.decode_as::<ObjectIdentifier>().ok());
    match name {
        Some(P256) => Ok(Curve::P256),
        Some(P384) => Ok(Curve::P384),
        Some(other) => Err(KeyError::Unsupported { algorithm: format!("ECDSA over {}", curve_name(other)) }),
        None => Err(KeyError::Unsupported { algorithm: "ECDSA over a curve without a name".to_owned() }),
    }
}

fn curve_name(oid: ObjectIdentifier) -> String {
    let name = match oid.to_string().as_str() {
        "1.2.840.10045.3.1.1" => "P-192",
        "1.3.132.0.33" => "P-224",
        "1.3.132.0.35" => "P-521",
        "1.3.132.0.10" => "secp256k1",
        "1.3.36.3.3.2.8.1.1.7" => "brainpoolP256r1",
        "1.3.36.3.3.2.8.1.1.11" => "brainpoolP384r1",
        "1.3.36.3.3.2.8.1.1.13" => "brainpoolP512r1",
        other => return format!("the curve {other}"),
    };
    name.to_owned()
}

/// The error that names an algorithm which is not supported.
pub(crate) fn unsupported_algorithm(oid: ObjectIdentifier) -> KeyError {
    let algorithm = match oid.to_string().as_str() {
        "1.2.840.113549.1.1.10" => "an RSA key for PSS only".to_owned(),
        "1.2.840.10040.4.1" => "DSA".to_owned(),
        "1.3.101.110" => "X25519".to_owned(),
        "1.3.101.113" => "Ed448".to_owned(),
        other => format!("the algorithm {other}"),
    };
    KeyError::Unsupported { algorithm }
}

impl fmt::Display for KeyKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EcdsaP256 => f.write_str("ECDSA P-256"),
            Self::EcdsaP384 => f.write_str("ECDSA P-384"),
            Self::Ed25519 => f.write_str("Ed25519"),
            Self::Rsa { bits } => write!(f, "RSA {bits}"),
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({} {})", self.kind, self.id)
    }
}

#[cfg(test)]
mod tests;
