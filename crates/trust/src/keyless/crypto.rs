//! The numbers of keyless signatures, by the libraries that all signatures here are verified with.
//!
//! The crate that knows Sigstore's formats has one provider for a process, and a clock of its own beside the `now` that callers
//! give: both stay in this module and its neighbours.

use p256::ecdsa::signature::hazmat::PrehashVerifier as _;
use ring::digest::{Context, SHA256, SHA384, SHA512};
use ring::signature::{
    ECDSA_P256_SHA256_ASN1, ECDSA_P256_SHA384_ASN1, ECDSA_P384_SHA256_ASN1, ECDSA_P384_SHA384_ASN1, ED25519,
    RSA_PKCS1_2048_8192_SHA256, RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, UnparsedPublicKey, VerificationAlgorithm,
};
use sigstore_verify::crypto::{
    CryptoProvider, Error, HashContext, KeyAlgorithm, Result, SigningScheme, install_default_provider,
};
use sigstore_verify::types::HashAlgorithm;

/// Gives the crate its provider; every call but the first changes nothing.
pub(super) fn install() {
    // An error says that a provider is there: this one, for no other is ever installed.
    let _ = install_default_provider(&Numbers);
}

#[derive(Debug)]
struct Numbers;

struct Hashing(Context);

impl HashContext for Hashing {
    fn update(&mut self, data: &[u8]) {
        self.0.update(data);
    }

    fn finalize(self: Box<Self>) -> Vec<u8> {
        self.0.finish().as_ref().to_vec()
    }
}

impl CryptoProvider for Numbers {
    fn hash(&self, algorithm: HashAlgorithm) -> Result<Box<dyn HashContext>> {
        let algorithm = match algorithm {
            HashAlgorithm::Sha2256 => &SHA256,
            HashAlgorithm::Sha2384 => &SHA384,
            HashAlgorithm::Sha2512 => &SHA512,
            other => return Err(Error::UnsupportedAlgorithm(other.to_string())),
        };
        Ok(Box::new(Hashing(Context::new(algorithm))))
    }

    fn verify_raw(&self, scheme: SigningScheme, key: &[u8], data: &[u8], signature: &[u8]) -> Result<()> {
        let algorithm: &'static dyn VerificationAlgorithm = match scheme {
            SigningScheme::EcdsaP256Sha256 => &ECDSA_P256_SHA256_ASN1,
            SigningScheme::EcdsaP256Sha384 => &ECDSA_P256_SHA384_ASN1,
            SigningScheme::EcdsaP384Sha256 => &ECDSA_P384_SHA256_ASN1,
            SigningScheme::EcdsaP384Sha384 => &ECDSA_P384_SHA384_ASN1,
            SigningScheme::Ed25519 => &ED25519,
            SigningScheme::RsaPssSha256 => &RSA_PSS_2048_8192_SHA256,
            SigningScheme::RsaPssSha384 => &RSA_PSS_2048_8192_SHA384,
            SigningScheme::RsaPssSha512 => &RSA_PSS_2048_8192_SHA512,
            SigningScheme::RsaPkcs1Sha256 => &RSA_PKCS1_2048_8192_SHA256,
            SigningScheme::RsaPkcs1Sha384 => &RSA_PKCS1_2048_8192_SHA384,
            SigningScheme::RsaPkcs1Sha512 => &RSA_PKCS1_2048_8192_SHA512,
            other => return Err(unsupported(other)),
        };
        UnparsedPublicKey::new(algorithm, key).verify(data, signature).map_err(|_| wrong(scheme))
    }

    fn verify_prehashed(&self, scheme: SigningScheme, key: &[u8], digest: &[u8], signature: &[u8]) -> Result<()> {
        let verified = match scheme.key_algorithm() {
            KeyAlgorithm::EcdsaP256 => {
                let key = p256::ecdsa::VerifyingKey::from_sec1_bytes(key).map_err(|_| wrong(scheme))?;
                let signature = p256::ecdsa::Signature::from_der(signature).map_err(|_| wrong(scheme))?;
                key.verify_prehash(digest, &signature)
            }
            KeyAlgorithm::EcdsaP384 => {
                let key = p384::ecdsa::VerifyingKey::from_sec1_bytes(key).map_err(|_| wrong(scheme))?;
                let signature = p384::ecdsa::Signature::from_der(signature).map_err(|_| wrong(scheme))?;
                key.verify_prehash(digest, &signature)
            }
            _ => return Err(unsupported(scheme)),
        };
        verified.map_err(|_| wrong(scheme))
    }
}

fn unsupported(scheme: SigningScheme) -> Error {
    Error::UnsupportedAlgorithm(scheme.name().to_owned())
}

fn wrong(scheme: SigningScheme) -> Error {
    Error::Verification(scheme.name().to_owned())
}
