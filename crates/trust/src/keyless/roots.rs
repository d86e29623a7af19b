//! Who may issue certificates, and who keeps the logs and the clocks: trusted roots of Sigstore instances.

use std::fmt;
use std::sync::{Arc, LazyLock};

use p256::pkcs8::der::asn1::AnyRef;
use p256::pkcs8::der::{Decode as _, Encode as _, SliceReader, Tag, TagNumber, Tagged as _};
use sigstore_verify::trust_root::TrustedRoot as Document;
use sigstore_verify::{VerificationPolicy, Verifier};

use super::crypto;
use super::described::DescribedRoot;
use crate::json;

/// The day on which the built-in roots were taken.
pub(crate) const ROOTS_DATE: &str = "2026-10-23";

/// The instances whose roots are built in: that of the Sigstore project, and GitHub's own for private repositories.
static BUILT_IN: LazyLock<[Arc<TrustedRoot>; 2]> = LazyLock::new(|| {
    let built_in = |name, text: &str| {
        Arc::new(TrustedRoot::read(name, text.as_bytes()).expect("a built-in root is one, as a test shows"))
    };
    [
        built_in(RootName::PublicGood, include_str!("roots/public-good.json")),
        built_in(RootName::GitHub, include_str!("roots/github.json")),
    ]
});

/// What GitHub's own instance issues certificates for.
const GITHUB_ISSUER: &str = "https://token.actions.githubusercontent.com";

/// Which root proves a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RootName {
    PublicGood,
    GitHub,
    /// A file that the policy names, as it is written there.
    File(String),
}

/// As it is said of a certificate: `its root is …`.
impl fmt::Display for RootName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PublicGood => "that of Sigstore's public instance",
            Self::GitHub => "that of GitHub's own instance",
            Self::File(path) => path,
        })
    }
}

/// The authorities, logs and clocks of one Sigstore instance.
pub(crate) struct TrustedRoot {
    pub(crate) name: RootName,
    pub(super) verifier: Verifier,
    /// What it demands: a proof of each kind of log that it names.
    pub(super) demands: VerificationPolicy,
    /// The names of its authorities, as certificates that they issue have them.
    authorities: Vec<Vec<u8>>,
    described: DescribedRoot,
}

impl fmt::Debug for TrustedRoot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

impl TrustedRoot {
    /// Reads the text of a `trusted_root.json`.
    ///
    /// Spec: Sigstore protobuf-specs, `sigstore_trustroot.proto`.
    pub(crate) fn read(name: RootName, text: &[u8]) -> Result<Self, String> {
        crypto::install();
        if text.trim_ascii_start().starts_with(b"-----BEGIN ") {
            return Err("it is PEM, and a trusted root of Sigstore is JSON".to_owned());
        }
        json::parse(text)?;
        let text = std::str::from_utf8(text).map_err(|_| "it is not UTF-8".to_owned())?;
        let document = Document::from_json(text).map_err(|_| "it is not a trusted root of Sigstore".to_owned())?;
        let certificates =
            document.certificate_authorities.iter().flat_map(|authority| &authority.cert_chain.certificates);
        let authorities: Option<Vec<_>> =
            certificates.map(|certificate| Some(Names::of(certificate.raw_bytes.as_bytes())?.subject)).collect();
        let authorities = authorities.filter(|all| !all.is_empty());
        let authorities = authorities.ok_or("it names no certificate authority that can be read")?;
        let mut demands = VerificationPolicy::any_identity();
        if document.tlogs.is_empty() {
            demands = demands.skip_tlog_unsafe();
        }
        if document.ctlogs.is_empty() {
            demands = demands.skip_sct();
        }
        if document.tlogs.is_empty() && document.timestamp_authorities.is_empty() {
            return Err("it names neither a transparency log nor a timestamp authority".to_owned());
        }
        let verifier = Verifier::new(&document).map_err(|_| "a key or certificate in it cannot be used".to_owned())?;
        let described = match &name {
            RootName::PublicGood => DescribedRoot::of("sigstore", Some(ROOTS_DATE), &document),
            RootName::GitHub => DescribedRoot::of("github", Some(ROOTS_DATE), &document),
            RootName::File(path) => DescribedRoot::of(path, None, &document),
        };
        Ok(Self { name, verifier, demands, authorities, described })
    }

    /// The roots that count without a file.
    pub(crate) fn built_in() -> &'static [Arc<Self>] {
        &*BUILT_IN
    }

    /// What it names.
    pub(crate) fn described(&self) -> &DescribedRoot {
        &self.described
    }

    /// Whether one of its authorities is named as the issuer of the certificate.
    pub(super) fn claims(&self, names: &Names) -> bool {
        self.authorities.contains(&names.issuer)
    }

    /// Whether it may prove identities of an issuer.
    pub(super) fn is_for(&self, issuer: Option<&str>) -> bool {
        let is_githubs = |issuer: &str| {
            let rest = issuer.strip_prefix(GITHUB_ISSUER);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.name != RootName::GitHub || issuer.is_none_or(is_githubs)
    }
}

/// The roots that are built in.
pub fn built_in_roots() -> Vec<DescribedRoot> {
    TrustedRoot::built_in().iter().map(|root| root.described().clone()).collect()
}

impl DescribedRoot {
    /// Of the text of a `trusted_root.json`, as it is named.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read(name: &str, text: &[u8]) -> Result<Self, String> {
        TrustedRoot::read(RootName::File(name.to_owned()), text).map(|root| root.described)
    }
}

/// The two names in a certificate, in DER.
pub(super) struct Names {
    issuer: Vec<u8>,
    subject: Vec<u8>,
}

impl Names {
    /// Of a certificate in DER.
    ///
    /// Spec: RFC 5280, section 4.1.
    pub(super) fn of(certificate: &[u8]) -> Option<Self> {
        let whole = AnyRef::from_der(certificate).ok()?;
        let signed = AnyRef::decode(&mut SliceReader::new(whole.value()).ok()?).ok()?;
        let mut fields = SliceReader::new(signed.value()).ok()?;
        let version = Tag::ContextSpecific { constructed: true, number: TagNumber::new(0) };
        let mut next = || AnyRef::decode(&mut fields).ok();
        let first = next()?;
        let _serial = if first.tag() == version { next()? } else { first };
        let _algorithm = next()?;
        let issuer = next()?.to_der().ok()?;
        let _validity = next()?;
        Some(Self { issuer, subject: next()?.to_der().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_built_in_says_when_it_was_taken_and_what_it_names() {
        let [sigstore, github] = built_in_roots().try_into().expect("two roots");
        assert_eq!((sigstore.name.as_str(), sigstore.date.as_deref()), ("sigstore", Some(ROOTS_DATE)));
        assert!(sigstore.logs.iter().any(|log| log.name == "https://rekor.sigstore.dev" && log.until.is_none()));
        assert!(sigstore.authorities.iter().any(|authority| authority.until.is_some()));
        assert_eq!((github.name.as_str(), github.logs.len(), github.certificate_logs.len()), ("github", 0, 0));
        assert!(!github.timestamp_authorities.is_empty());
        let own = DescribedRoot::read("own.json", include_bytes!("roots/public-good.json")).expect("a root");
        assert_eq!(own, DescribedRoot { name: "own.json".to_owned(), date: None, ..sigstore });
    }
}
