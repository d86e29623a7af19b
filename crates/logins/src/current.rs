//! Which source answers for a registry now.

use tofu_oci_credentials::{Credential, CredentialOrigin, FileKind, FoundFile, SearchScope};
use tofu_oci_remote::CredentialFault;
use tofu_oci_types::RepositoryRef;

use crate::login_file::LoginFile;
use crate::registry_name::RegistryName;
use crate::resolver::{CredentialResolver, HelperReply};

/// The login that the user's files give for a registry.
pub struct CurrentLogin {
    resolver: CredentialResolver,
    registry: RegistryName,
    repository: RepositoryRef,
    answer: Result<Option<Credential>, CredentialFault>,
}

/// Whether a login that was just stored is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterLogin {
    /// It is used, by `OpenTofu` too.
    Used,
    /// It is used, and `OpenTofu` does not read the file.
    UnknownFile {
        file: String,
        /// The variable that names it.
        because: String,
    },
    /// It is used, and `OpenTofu` asks the helper only for another name.
    UnknownServer {
        program: String,
        /// What `OpenTofu` asks for.
        asked: String,
        /// What the helper keeps it under.
        kept: String,
    },
    NotUsed(Obstacle),
}

/// What prevents the use of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Another source comes first, with another login.
    Outranked(Option<CredentialOrigin>),
    /// Another source comes first, and has no login.
    Empty(CredentialOrigin),
    /// The file is not among those that are searched.
    NotSearched(SearchScope),
    /// A source that comes first fails.
    Fault(CredentialFault),
}

/// What answers after a logout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AfterLogout {
    /// Nothing: the logout is complete.
    Nothing,
    /// Another source.
    Answers(Option<CredentialOrigin>),
    /// It is not known, since a source fails.
    NotKnown { fault: CredentialFault, origin: Option<CredentialOrigin> },
}

impl CurrentLogin {
    /// Asks the source that is chosen, which may be a helper.
    pub async fn look(resolver: CredentialResolver, registry: &RegistryName) -> Self {
        let repository = registry.any_repository();
        let answer = resolver.answer(&repository).await;
        Self { resolver, registry: registry.clone(), repository, answer }
    }

    /// The resolver that was asked.
    pub fn resolver(&self) -> &CredentialResolver {
        &self.resolver
    }

    /// What a run would show to the registry.
    ///
    /// # Errors
    /// If a source is invalid, or its helper fails.
    pub fn credential(&self) -> Result<Option<&Credential>, &CredentialFault> {
        self.answer.as_ref().map(Option::as_ref)
    }

    /// The source that answers; `None` if it has no login.
    pub fn used(&self) -> Option<CredentialOrigin> {
        matches!(self.answer, Ok(Some(_))).then(|| self.origin()).flatten()
    }

    /// The source that is chosen.
    pub fn origin(&self) -> Option<CredentialOrigin> {
        self.resolver.policy().look_up(&self.repository).choice.origin().cloned()
    }

    /// The file that a new login must be written to, so that it replaces the one that is used. `None` if docker's own
    /// file does.
    pub fn file_to_replace(&self) -> Option<&str> {
        let (policy, origin) = (self.resolver.policy(), self.origin()?);
        let file = policy.files().iter().find(|file| origin.place().file == file.name)?;
        let comes_first = policy.search() == SearchScope::Listed || file.kind == FileKind::Containers;
        comes_first.then_some(file.name.as_str())
    }

    /// Whether a login that was just stored there is used, and whether `OpenTofu` uses it too.
    pub fn after_login(&self, file: &LoginFile, new: &Credential) -> AfterLogin {
        AfterLogin::NotUsed(match (&self.answer, self.origin()) {
            (Ok(Some(credential)), _) if credential == new => return self.in_opentofu(file),
            (Ok(Some(_)), origin) => Obstacle::Outranked(origin),
            (Ok(None), Some(origin)) => Obstacle::Empty(origin),
            (Ok(None), None) => Obstacle::NotSearched(self.resolver.policy().search()),
            (Err(fault), _) => Obstacle::Fault(fault.clone()),
        })
    }

    /// Whether the login works in `OpenTofu` too.
    fn in_opentofu(&self, file: &LoginFile) -> AfterLogin {
        let is_target = |found: &&FoundFile| file.is_named(&found.name);
        if let Some(found) = self.resolver.policy().files().iter().find(is_target)
            && !found.known_to_opentofu
        {
            return AfterLogin::UnknownFile { file: found.name.clone(), because: found.because.clone() };
        }
        match self.resolver.calls().as_slice() {
            [first, .., last] if matches!(first.reply, HelperReply::NotFound | HelperReply::Empty) => {
                AfterLogin::UnknownServer {
                    program: first.helper.program(),
                    asked: first.server.clone(),
                    kept: last.server.clone(),
                }
            }
            _ => AfterLogin::Used,
        }
    }

    /// What still answers after a logout.
    pub fn after_logout(&self) -> AfterLogout {
        match &self.answer {
            Ok(None) => AfterLogout::Nothing,
            Ok(Some(_)) => AfterLogout::Answers(self.origin()),
            Err(fault) => AfterLogout::NotKnown { fault: fault.clone(), origin: self.origin() },
        }
    }

    /// The sources that are for single repositories of the registry.
    pub fn of_repositories(&self) -> Vec<CredentialOrigin> {
        let inside = format!("{}/", self.registry);
        let own = |origin: &CredentialOrigin| match origin {
            CredentialOrigin::Auth { key: name, .. } | CredentialOrigin::Block { label: name, .. } => {
                name.starts_with(&inside)
            }
            _ => false,
        };
        let candidates = self.resolver.policy().look_up(&self.repository).candidates;
        candidates.into_iter().map(|candidate| candidate.origin).filter(own).collect()
    }
}
