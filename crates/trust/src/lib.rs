//! Evidence and bytes in, a verdict out.
//!
//! `judge` uses `policy`, that uses `pins`, and each of them says what it finds in the words of `verdict`.
//!
//! This crate reads no file, socket, environment variable or clock.

mod bundle;
mod cosign_tag;
mod dsse;
mod encrypted;
mod evidence;
mod fault;
#[cfg(test)]
mod fixtures;
mod json;
mod judge;
mod key_id;
mod keyless;
mod keys;
mod material;
mod notice;
mod openpgp;
mod paths;
mod pem;
mod pins;
mod policy;
mod published;
mod signer;
mod slsa;
mod statement;
mod sums;
#[cfg(test)]
mod testing;
mod tuf;
mod verdict;
mod verify;
mod vocabulary;

pub use bundle::{claimed_key, open_bundle, peek_bundle, sign_bundle};
pub use cosign_tag::{CosignTagSignature, open_cosign_tag, peek_cosign_tag, sign_cosign_tag};
pub use evidence::{
    Archives, BUNDLES_LIMIT, EVIDENCE_LIMIT, Evidence, ReadLeaf, ReleaseFacts, SUMS_FILES_LIMIT, Subject,
};
pub use fault::{MadeBy, Peek, SignatureFault, SignatureForm, Signed};
pub use judge::judge;
pub use key_id::{InvalidKeyId, KeyId};
pub use keyless::{
    DescribedRoot, HostNumbers, Identity, IdentityProblem, NumberOf, ProvenIdentity, RootMember, TrustedIdentity,
    built_in_roots, prove_file, prove_fresh,
};
pub use keys::{KeyError, KeyKind, PublicKey};
pub(crate) use material::DistinctKeys;
pub use material::Material;
pub use notice::{
    InvalidNoticeReason, Notice, NoticeReason, NoticeWriter, ReleaseState, StatedNotice, heads, in_force, sign_notice,
};
pub use openpgp::{
    Expired, KEYS_LIMIT, KeyPart, KeyStanding, OpenPgpContents, OpenPgpError, OpenPgpFault, OpenPgpKey,
    OpenPgpSecretKey, OpenPgpSecretKeyError, OpenPgpSignature, Reason, SIGNATURES_LIMIT, WeakPart, binary_signature,
    openpgp_contents, verify_detached, verify_each,
};
pub use pins::{
    Admission, Contents, PIN_FILE_NAME, Pin, PinConflict, PinnedSigner, Pins, PinsError, ProviderSigner, SignedProvider,
};
pub use policy::{
    Action, ExpiredKeys, InvalidModulePlacePattern, KeyMaterial, KeyMaterialError, ManifestChecksums, NamedKey, Policy,
    PolicyError, PolicyFile, PolicyProblem, RuleOrigin, TrustRule, Unsigned,
};
pub use published::PublishedRelease;
pub use signer::PrivateKey;
pub use slsa::{Build, DemandedBuild};
pub use statement::{Name, SignedContent, SignedSubject, Statement, StatementSubject, VersionOf};
pub use sums::{SUMS_LIMIT, Sums, SumsError, SumsLine};
pub use tuf::{RootChain, SnapshotWanted, TargetWanted, TargetsWanted, TufError, TufState, TufVersions, WantedFile};
pub use verdict::{
    Covered, Covers, Examined, Flaw, ManualAcceptance, Missing, SignatureOutcome, SignedStatement, Signer, Standing,
    StillToSign, TrustRefusal, TrustRemark, Verdict,
};
pub use vocabulary::{
    ADDRESS_ANNOTATION, BUNDLE_TYPE, NOTICE_ARTIFACT_TYPE, NOTICE_PREDICATE, PROVENANCE_PREDICATE, SIGN_PREDICATE,
    SIGNATURE_ANNOTATION, SIMPLE_SIGNING_TYPE, SUMS_ARTIFACT_TYPE, VERSION_ANNOTATION,
};
