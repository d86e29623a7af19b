//! What can be wrong with a policy.

use std::io;
use std::ops::Range;
use std::path::PathBuf;

use tofu_oci_types::InvalidPattern;

use super::{InvalidModulePlacePattern, KeyMaterialError};
use crate::paths::is_repository;
use crate::slsa::PROVENANCE_V0_2;
use crate::{IdentityProblem, PROVENANCE_PREDICATE, SIGN_PREDICATE};

/// A policy that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{problem}")]
pub struct PolicyError {
    /// The place in the text, in bytes, if it has one.
    pub span: Option<Range<usize>>,
    pub problem: PolicyProblem,
}

/// What is wrong with a policy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyProblem {
    /// It is not TOML, has an unknown member, or has a value of another kind.
    #[error("{message}")]
    Syntax { message: String, instead: Option<String> },
    /// A key or an identity without a name.
    #[error("a key or identity needs a name")]
    NoName,
    #[error("there are two keys or identities named {name:?}")]
    DuplicateName { name: String },
    #[error("the key {name:?} has neither `file` nor `pem`")]
    NoContent { name: String },
    #[error("the key {name:?} has both `file` and `pem`")]
    TwoContents { name: String },
    #[error("the key file {} cannot be read", path.display())]
    KeyFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the key {name:?} cannot be used: {source}")]
    Key { name: String, source: KeyMaterialError },
    #[error("{name:?}: {source}")]
    Identity {
        name: String,
        /// What the wrong member says, if it is there.
        written: Option<String>,
        source: IdentityProblem,
    },
    #[error("the trusted root {} cannot be read", path.display())]
    RootFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("the trusted root {} cannot be used: {problem}", path.display())]
    Root { path: PathBuf, problem: String },
    #[error("`pem` of the key {name:?} is not the text of a key")]
    NotPem { name: String, text: String },
    #[error("a rule names the providers or the modules that it is for")]
    NoProviders,
    /// An invalid pattern of repositories with modules.
    #[error(transparent)]
    ModulePlacePattern(InvalidModulePlacePattern),
    /// An invalid pattern of providers.
    #[error(transparent)]
    Pattern(InvalidPattern),
    #[error("the pattern {pattern:?} names no host, and so means one default host alone")]
    NoHost { pattern: String },
    #[error("no rule names the key or identity {name:?}, so it protects nothing")]
    UnusedKey { name: String },
    #[error("the keys {one:?} and {other:?} are one key in two forms, and a threshold counts distinct keys")]
    SameKey { one: String, other: String },
    #[error("the identities {one:?} and {other:?} are of one owner, and a threshold counts owners")]
    SameOwner { one: String, other: String },
    #[error("there is no key or identity named {name:?}")]
    UnknownKey { name: String, known: Vec<String> },
    #[error("the threshold {threshold} cannot be met: {}", many(*.keys))]
    Threshold { threshold: u64, keys: usize },
    #[error("the threshold must be at least 1; unsigned = \"allow\" allows unsigned releases")]
    NoThreshold,
    #[error("the list of predicate types is empty; omit it for the usual one")]
    NoPredicateTypes,
    #[error("the predicate type {written:?} is not a URI, which is what signers write")]
    PredicateType { written: String },
    #[error("`{member}` of the rule {problem}")]
    Build { member: &'static str, problem: &'static str, written: Option<String> },
    #[error("`slsa` demands provenance, and `predicate_types` does not name it")]
    NoProvenance,
}

impl PolicyProblem {
    /// What to do, if the problem does not say it.
    pub fn instead(&self) -> Option<String> {
        match self {
            Self::Pattern(pattern) => Some(pattern.instead()),
            Self::Syntax { instead, .. } => instead.clone(),
            Self::Identity { written: Some(written), source, .. } => member_instead(source.member, written),
            Self::Build { member, written: Some(written), .. } => member_instead(member, written),
            Self::UnknownKey { known, .. } if known.is_empty() => {
                Some("add a [[key]] with that `name`, and `file` or `pem`, or an [[identity]]".to_owned())
            }
            Self::UnknownKey { known, .. } => Some(format!("the keys and identities are: {}", known.join(", "))),
            Self::RootFile { .. } => Some("the path of a root is relative to the policy file".to_owned()),
            Self::Root { .. } => Some(
                "`root` names the trusted_root.json of a Sigstore instance of your own; omit it for the public one"
                    .to_owned(),
            ),
            Self::KeyFile { .. } => Some("a key file's path is relative to the policy file".to_owned()),
            Self::NoContent { .. } | Self::TwoContents { .. } => {
                Some("write file = \"PATH\", or pem = \"\"\"the key itself\"\"\"".to_owned())
            }
            Self::NotPem { text, .. } => Some(format!("if it is a file, write file = {text:?}")),
            Self::NoHost { pattern } => Some(format!("write HOST/{pattern}, such as registry.opentofu.org/{pattern}")),
            Self::UnusedKey { name } => {
                Some(format!("add a [[rule]] with `providers` and keys = [{name:?}], or take it out"))
            }
            Self::NoProviders => Some(
                "write providers = [\"HOST/NAMESPACE/TYPE\"], or [\"*/*/*\"] for all; for modules, modules = \
                 [\"HOST/REPOSITORY\"], or [\"*\"]"
                    .to_owned(),
            ),
            Self::PredicateType { written } => Some(match usual_type(written) {
                Some(uri) => format!("write {uri:?}"),
                None => format!("write it as `verify` shows it after `it says`, such as {PROVENANCE_PREDICATE:?}"),
            }),
            Self::NoProvenance => Some(format!("add {PROVENANCE_PREDICATE:?}, or omit `predicate_types`")),
            Self::ModulePlacePattern(_) => Some("write HOST/REPOSITORY, HOST/PATH/*, HOST/* or *".to_owned()),
            _ => None,
        }
    }
}

/// The type that cosign and people call by a short name.
fn usual_type(written: &str) -> Option<&'static str> {
    match written.to_ascii_lowercase().as_str() {
        "provenance" | "slsa" | "slsaprovenance" | "slsaprovenance1" => Some(PROVENANCE_PREDICATE),
        "slsaprovenance02" => Some(PROVENANCE_V0_2),
        "sign" | "signature" => Some(SIGN_PREDICATE),
        "spdx" | "spdxjson" => Some("https://spdx.dev/Document"),
        "cyclonedx" => Some("https://cyclonedx.org/bom"),
        "vuln" => Some("https://cosign.sigstore.dev/attestation/vuln/v1"),
        "link" => Some("https://in-toto.io/Link/v1"),
        _ => None,
    }
}

/// What was meant by a member of an identity that is written otherwise elsewhere.
fn member_instead(member: &str, written: &str) -> Option<String> {
    let meant = match member {
        "repository" | "slsa.source" => {
            let place = written.split_once("://").map_or(written, |(_, place)| place);
            let place = place.split_once('@').map_or(place, |(_, place)| place).trim_end_matches('/');
            // As git writes a repository that is reached by SSH: git@HOST:OWNER/REPOSITORY.
            let place = place.strip_suffix(".git").unwrap_or(place).replacen(':', "/", 1);
            is_repository(&place).then_some(place)?
        }
        "workflow" if !written.starts_with('.') && !written.contains('/') => format!(".github/workflows/{written}"),
        "workflow" if written.strip_prefix(".github/workflows/").is_some_and(|file| !file.contains('.')) => {
            format!("{written}.yml")
        }
        "ref" if written.contains("{tag}") => written.replace("v{tag}", "{tag}").replace("{tag}", "v{version}"),
        _ => return None,
    };
    (meant != written).then(|| format!("write {member} = {meant:?}"))
}

fn many(keys: usize) -> String {
    match keys {
        0 => "the rule names no key or identity".to_owned(),
        1 => "the rule has one key; a key counts once, whatever its names and forms".to_owned(),
        keys => format!("the rule has {keys} distinct keys; a key counts once, whatever its names and forms"),
    }
}
