//! What a look-up found: every source that was considered, and the choice.

use std::fmt;

use tofu_oci_types::RepositoryRef;

use crate::key::Specificity;
use crate::place::FilePlace;
use crate::{Credential, HelperName, NearMiss};

/// What is known about the access to one repository.
#[derive(Clone, Debug)]
pub struct CredentialLookup {
    /// The repository that was asked for.
    pub repository: RepositoryRef,
    /// Every block, entry and helper, in the order looked at.
    pub candidates: Vec<Candidate>,
    /// What to use, once the registry asks.
    pub choice: Choice,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    pub origin: CredentialOrigin,
    /// How closely it fits; `None` if it is for other repositories.
    pub fit: Option<Specificity>,
    /// What became of it.
    pub verdict: CandidateVerdict,
}

/// The position of a source. Keys are as people may see them: without user information, control characters escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CredentialOrigin {
    /// An `oci_credentials` block.
    Block { label: String, place: FilePlace },
    /// The helper of `oci_default_credentials`.
    DefaultHelper {
        name: String,
        /// Where it is named.
        place: FilePlace,
    },
    /// An entry of `auths`.
    Auth { key: String, place: FilePlace },
    /// An entry of `credHelpers`.
    CredHelper { key: String, name: String, place: FilePlace },
    /// A `credsStore`.
    CredsStore { name: String, place: FilePlace },
}

/// What became of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CandidateVerdict {
    Chosen,
    /// It fits, and another source wins or is an error.
    Outranked,
    /// It fits and is an error: nothing can be chosen.
    Broken(ChoiceError),
    /// An entry without a credential: `docker login` leaves it as a mark if a helper holds the credential.
    Empty,
    /// A broken entry, and what is wrong with it. It counts as absent.
    LeftOut(String),
    /// It is for other repositories; perhaps it was meant for this one.
    NoMatch(Option<NearMiss>),
}

/// What to use for a repository, once its registry asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Nothing.
    Anonymous,
    /// A credential that is at hand.
    Credential { credential: Credential, origin: CredentialOrigin },
    /// The caller has to ask a helper. If it has no credential, no less specific source is tried.
    Ask {
        call: HelperCall,
        /// Where it is named.
        origin: CredentialOrigin,
    },
    /// Nothing can be chosen: an error if the registry asks for a credential.
    Refused(ChoiceError),
}

/// A question to a helper.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperCall {
    pub helper: HelperName,
    /// What to ask for, in turn, at least one: the next only after [`HelperAnswer::NotFound`] or
    /// [`HelperAnswer::Empty`], which some helpers say instead.
    ///
    /// [`HelperAnswer::NotFound`]: crate::HelperAnswer::NotFound
    /// [`HelperAnswer::Empty`]: crate::HelperAnswer::Empty
    pub servers: Vec<String>,
}

/// Why nothing can be chosen. Never contains a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// The `auth` of an entry that fits is not `username:password`.
    #[error("the `auth` of {key} in {place} has no colon between username and password")]
    AuthWithoutColon { key: String, place: FilePlace },
    /// A block that fits leaves open what it holds.
    #[error("oci_credentials \"{label}\" in {place} has an empty {argument}")]
    StyleUndecided {
        label: String,
        place: FilePlace,
        /// The argument that is empty.
        argument: &'static str,
    },
    /// The helper that fits best has a name that no program may have.
    #[error("`{name}` cannot be the name of a credential helper: {origin}")]
    InvalidHelperName { name: String, origin: CredentialOrigin },
}

impl Choice {
    /// The source that counts.
    pub fn origin(&self) -> Option<&CredentialOrigin> {
        match self {
            Self::Credential { origin, .. } | Self::Ask { origin, .. } => Some(origin),
            Self::Anonymous | Self::Refused(_) => None,
        }
    }
}

impl CredentialOrigin {
    /// Where it stands.
    pub fn place(&self) -> &FilePlace {
        match self {
            Self::Block { place, .. }
            | Self::DefaultHelper { place, .. }
            | Self::Auth { place, .. }
            | Self::CredHelper { place, .. }
            | Self::CredsStore { place, .. } => place,
        }
    }
}

impl ChoiceError {
    /// A name for programs, such as `auth-without-colon`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::AuthWithoutColon { .. } => "auth-without-colon",
            Self::StyleUndecided { .. } => "block-style-undecided",
            Self::InvalidHelperName { .. } => "invalid-helper-name",
        }
    }
}

impl fmt::Display for CredentialOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block { label, place } => write!(f, "oci_credentials \"{label}\" in {place}"),
            Self::DefaultHelper { name, place } => {
                write!(f, "docker_credentials_helper \"{name}\" of oci_default_credentials in {place}")
            }
            Self::Auth { key, place } => write!(f, "auths \"{key}\" in {place}"),
            Self::CredHelper { key, name, place } => write!(f, "credHelpers \"{key}\": \"{name}\" in {place}"),
            Self::CredsStore { name, place } => write!(f, "credsStore \"{name}\" in {place}"),
        }
    }
}
