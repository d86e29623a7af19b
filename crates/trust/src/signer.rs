//! Private keys that make signatures.

use std::fmt;

use p256::ecdsa::signature::hazmat::PrehashSigner as _;
use p256::elliptic_curve::sec1::ToEncodedPoint as _;
use p256::pkcs8::PrivateKeyInfo;
use p256::pkcs8::der::asn1::{AnyRef, ContextSpecific, OctetStringRef, UintRef};
use p256::pkcs8::der::{Decode as _, Encode as _, Header, SliceReader, Tag, TagNumber};
use ring::digest::{SHA256, digest};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _, RSA_PKCS1_SHA256, RsaKeyPair};
use tofu_oci_types::Secret;
use zeroize::Zeroizing;

use crate::encrypted;
use crate::keys::{self, Curve, KeyError, PublicKey};
use crate::pem::{self, PemBlock};

/// More bits cannot sign here.
const RSA_MOST: u32 = 4096;

/// What is signed to learn whether a key can sign.
pub(crate) const PROBE: &[u8] = b"tofu-oci";

/// A private key: of the kinds of a [`PublicKey`], with RSA of at most 4096 bits. Its bytes here are never shown, and are
/// wiped when it is dropped. The copy that `ring` makes of an Ed25519 or RSA key while it signs is freed and not wiped.
pub struct PrivateKey {
    public: PublicKey,
    secret: SecretNumbers,
}

enum SecretNumbers {
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    Ed25519(Zeroizing<[u8; 32]>),
    /// An `RSAPrivateKey` in DER.
    Rsa(Zeroizing<Vec<u8>>),
}

impl PrivateKey {
    /// The key in a PEM file of at most 64 KiB: PKCS#8 (`PRIVATE KEY`), SEC1 (`EC PRIVATE KEY`), PKCS#1 (`RSA PRIVATE
    /// KEY`), or cosign's encrypted form (`ENCRYPTED SIGSTORE PRIVATE KEY`, `ENCRYPTED COSIGN PRIVATE KEY`), which needs
    /// `password`. For the others a password is not looked at.
    ///
    /// Spec: RFC 5208, RFC 5915, RFC 8017 appendix A.1.2.
    pub fn from_pem(file: &[u8], password: Option<&Secret>) -> Result<Self, KeyError> {
        let block = private_block(file)?;
        match block.label.as_str() {
            "PRIVATE KEY" => Self::from_pkcs8(&block.content),
            "EC PRIVATE KEY" => Self::from_sec1(&block.content),
            "RSA PRIVATE KEY" => Self::from_rsa(&block.content),
            label if is_sealed(label) => {
                let password = password.ok_or(KeyError::PasswordNeeded)?;
                Self::from_pkcs8(&encrypted::open(&block.content, password.expose().as_bytes())?)
            }
            "ENCRYPTED PRIVATE KEY" => Err(KeyError::UnsupportedEncryption { form: "encrypted as PKCS#8".to_owned() }),
            "OPENSSH PRIVATE KEY" => Err(KeyError::UnsupportedEncryption { form: "in OpenSSH's form".to_owned() }),
            label if label.ends_with("PUBLIC KEY") => Err(KeyError::Public),
            label => Err(KeyError::malformed(format!("the PEM block is a `{label}`, not a private key"))),
        }
    }

    /// Whether the key in this PEM file needs a password.
    pub fn needs_password(file: &[u8]) -> bool {
        private_block(file).is_ok_and(|block| is_sealed(&block.label))
    }

    fn from_pkcs8(der: &[u8]) -> Result<Self, KeyError> {
        let info = PrivateKeyInfo::try_from(der).map_err(|_| KeyError::malformed("it is not PKCS#8"))?;
        match info.algorithm.oid {
            keys::EC => Self::from_ec(keys::curve(info.algorithm.parameters)?, info.private_key),
            keys::RSA => Self::from_rsa(info.private_key),
            keys::ED25519 => {
                let seed = OctetStringRef::from_der(info.private_key).ok().map(|octets| octets.as_bytes());
                let seed: Option<&[u8; 32]> = seed.and_then(|seed| seed.try_into().ok());
                let seed = seed.ok_or_else(|| KeyError::malformed("an Ed25519 key has 32 bytes"))?;
                let key = Self::from_seed(Zeroizing::new(*seed))?;
                if info.public_key.is_some_and(|public| public != key.public.material()) {
                    return Err(KeyError::malformed("its public half belongs to another key"));
                }
                Ok(key)
            }
            other => Err(keys::unsupported_algorithm(other)),
        }
    }

    fn from_seed(seed: Zeroizing<[u8; 32]>) -> Result<Self, KeyError> {
        let public = PublicKey::from_ed25519(ed25519(&seed).public_key().as_ref())?;
        Ok(Self { public, secret: SecretNumbers::Ed25519(seed) })
    }

    /// Of an `ECPrivateKey`, which names its curve.
    fn from_sec1(der: &[u8]) -> Result<Self, KeyError> {
        let problem = |_| KeyError::malformed("it is not a SEC1 key");
        let mut reader = SliceReader::new(der).map_err(problem)?;
        let header = Header::decode(&mut reader).map_err(problem)?;
        header.tag.assert_eq(Tag::Sequence).map_err(problem)?;
        u8::decode(&mut reader).and_then(|_| OctetStringRef::decode(&mut reader)).map_err(problem)?;
        let parameters = ContextSpecific::<AnyRef<'_>>::decode_explicit(&mut reader, TagNumber::N0);
        let parameters = parameters.map_err(problem)?.map(|parameters| parameters.value);
        Self::from_ec(keys::curve(parameters)?, der)
    }

    fn from_ec(curve: Curve, sec1: &[u8]) -> Result<Self, KeyError> {
        let problem = |_| KeyError::malformed("it is not a key of its curve");
        Ok(match curve {
            Curve::P256 => {
                let key = p256::SecretKey::from_sec1_der(sec1).map_err(problem)?;
                let public = PublicKey::from_ec_point(curve, key.public_key().to_encoded_point(false).as_bytes())?;
                Self { public, secret: SecretNumbers::P256(key.into()) }
            }
            Curve::P384 => {
                let key = p384::SecretKey::from_sec1_der(sec1).map_err(problem)?;
                let public = PublicKey::from_ec_point(curve, key.public_key().to_encoded_point(false).as_bytes())?;
                Self { public, secret: SecretNumbers::P384(key.into()) }
            }
        })
    }

    /// Of an `RSAPrivateKey` in DER.
    fn from_rsa(der: &[u8]) -> Result<Self, KeyError> {
        let public = PublicKey::from_rsa(&rsa_public(der).ok_or_else(|| KeyError::malformed("it is not PKCS#1"))?)?;
        if let keys::KeyKind::Rsa { bits: bits @ RSA_MOST.. } = public.kind()
            && bits > RSA_MOST
        {
            return Err(KeyError::LongRsa { bits, most: RSA_MOST, purpose: "signing" });
        }
        let pair =
            RsaKeyPair::from_der(der).map_err(|rejected| KeyError::malformed(format!("its numbers: {rejected}")))?;
        // Numbers that are each well-formed may not belong together: what counts is that it signs.
        let probe = rsa_signature(&pair, PROBE).filter(|signature| public.verifies(PROBE, signature));
        probe.ok_or_else(|| KeyError::malformed("its numbers do not belong together"))?;
        Ok(Self { public, secret: SecretNumbers::Rsa(Zeroizing::new(der.to_vec())) })
    }

    /// Its public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The signature of `message`, always the same for the same message: ECDSA in ASN.1 with SHA-256 and a nonce by RFC
    /// 6979, pure Ed25519, or RSA PKCS#1 v1.5 with SHA-256. `cosign verify` accepts each of them without a further
    /// option (it asks for SHA-256 with P-384 and for pure Ed25519, though `cosign sign` writes others).
    pub fn sign(&self, message: &[u8]) -> Vec<u8> {
        let hash = digest(&SHA256, message);
        match &self.secret {
            SecretNumbers::P256(key) => {
                let signature: p256::ecdsa::Signature =
                    key.sign_prehash(hash.as_ref()).expect("a SHA-256 is as long as a number of P-256");
                signature.to_der().as_bytes().to_vec()
            }
            SecretNumbers::P384(key) => {
                let signature: p384::ecdsa::Signature =
                    key.sign_prehash(hash.as_ref()).expect("a SHA-256 is more than half of a number of P-384");
                signature.to_der().as_bytes().to_vec()
            }
            SecretNumbers::Ed25519(seed) => ed25519(seed).sign(message).as_ref().to_vec(),
            SecretNumbers::Rsa(der) => {
                let reason =
                    "the key signed a probe when it was loaded, and the system's random numbers (for blinding) work";
                rsa_signature(&RsaKeyPair::from_der(der).expect(reason), message).expect(reason)
            }
        }
    }
}

/// `None` if the numbers of the key do not belong together.
fn rsa_signature(key: &RsaKeyPair, message: &[u8]) -> Option<Vec<u8>> {
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), message, &mut signature).ok()?;
    Some(signature)
}

fn ed25519(seed: &[u8; 32]) -> Ed25519KeyPair {
    Ed25519KeyPair::from_seed_unchecked(seed).expect("a seed has 32 bytes")
}

/// The `RSAPublicKey` in DER of an `RSAPrivateKey` in DER.
fn rsa_public(der: &[u8]) -> Option<Vec<u8>> {
    let mut reader = SliceReader::new(der).ok()?;
    let header = Header::decode(&mut reader).ok()?;
    header.tag.assert_eq(Tag::Sequence).ok()?;
    u8::decode(&mut reader).ok()?;
    let (modulus, exponent) = (UintRef::decode(&mut reader).ok()?, UintRef::decode(&mut reader).ok()?);
    let content = [modulus.to_der().ok()?, exponent.to_der().ok()?].concat();
    AnyRef::new(Tag::Sequence, &content).ok()?.to_der().ok()
}

fn is_sealed(label: &str) -> bool {
    matches!(label, "ENCRYPTED SIGSTORE PRIVATE KEY" | "ENCRYPTED COSIGN PRIVATE KEY")
}

/// The one block of the file that is not about the curve alone (`openssl ecparam -genkey` writes that before the key).
fn private_block(file: &[u8]) -> Result<PemBlock, KeyError> {
    let is_armored = || std::str::from_utf8(file).is_ok_and(|text| text.contains("-----BEGIN PGP "));
    if file.first().is_some_and(|first| first & 0x80 != 0) || is_armored() {
        return Err(KeyError::OpenPgp);
    }
    let blocks = pem::blocks(file).map_err(KeyError::malformed)?;
    let mut blocks = blocks.into_iter().filter(|block| block.label != "EC PARAMETERS");
    match (blocks.next(), blocks.next()) {
        (Some(block), None) => Ok(block),
        (None, _) => Err(KeyError::malformed("the file holds no PEM block with a private key")),
        (Some(_), Some(_)) => Err(KeyError::malformed("the file holds more than one key")),
    }
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({} {}, the secret masked)", self.public.kind(), self.public.id())
    }
}
