//! Modules of git repositories, by a rule that names the repository of each module.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use async_trait::async_trait;
use tofu_oci_fetch::{ModuleFetchError, VersionTag, version_tags_of};
use tofu_oci_mapper::{ModuleTemplate, TemplateError};
use tofu_oci_source::{GitFault, GitProgram, GitRunError, LocationAccess, MethodOpener, ModuleError, ModulePackage};
use tofu_oci_store::StoreError;
use tofu_oci_types::{GitModuleSource, GitReference, GitTransport, ModuleAddr, ModuleSource, Place, Version, masked};
use tokio::sync::Mutex;

use super::pick::NamedPackage;
use super::upstream::ModuleUpstream;

/// The git repository of each module, with the symbols of the address: `git::https://HOST/${namespace}/${name}.git//${target_system}`.
#[derive(Clone, Debug)]
pub struct GitTemplate(ModuleTemplate);

/// A text that is not a [`GitTemplate`]. It repeats no secret.
#[derive(Debug, thiserror::Error)]
pub enum InvalidGitTemplate {
    #[error(transparent)]
    Template(#[from] TemplateError),
    #[error("{0}")]
    Source(String),
    #[error("it names the tag of each version itself: leave `ref` out")]
    Reference,
    #[error("it holds a login, which git has from a credential helper or ~/.netrc")]
    Login,
}

impl GitTemplate {
    /// Whether a text is meant as one.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("git::") || text.starts_with("git@")
    }

    /// The template of what follows the scheme and the user: the host, a slash, the path.
    pub fn after_scheme(&self) -> ModuleTemplate {
        let text = self.0.as_str();
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let rest = rest.split_once('@').filter(|(user, _)| !user.contains('/')).map_or(rest, |(_, rest)| rest);
        let rest = if text.contains("://") { rest.to_owned() } else { rest.replacen(':', "/", 1) };
        ModuleTemplate::parse_loose(&rest).unwrap_or_else(|_| self.0.clone())
    }

    fn source(&self, address: &ModuleAddr, tag: Option<&GitReference>) -> Result<GitModuleSource, InvalidGitTemplate> {
        let wrong = |error: &dyn fmt::Display| InvalidGitTemplate::Source(error.to_string());
        let mut text = self.0.render(address).map_err(|error| wrong(&error))?;
        if let Some(tag) = tag {
            let more = if text.contains('?') { '&' } else { '?' };
            text = format!("{text}{more}ref={}", tag.as_str().replace('+', "%2B"));
        }
        let source = text.parse::<ModuleSource>().map_err(|error| wrong(&error))?;
        let ModuleSource::Other(other) = source else {
            return Err(wrong(&"it is not the address of a git repository"));
        };
        match GitModuleSource::of(&other) {
            Some(source) => source.map_err(|error| wrong(&error)),
            None => Err(wrong(&"it is not the address of a git repository")),
        }
    }
}

impl FromStr for GitTemplate {
    type Err = InvalidGitTemplate;

    fn from_str(text: &str) -> Result<Self, InvalidGitTemplate> {
        let template = Self(ModuleTemplate::parse_loose(text)?);
        let sample = "example.com/example/example/example".parse().expect("the address of a module");
        let source = template.source(&sample, None)?;
        if source.reference().is_some() {
            return Err(InvalidGitTemplate::Reference);
        }
        let has_user = !source.url().username().is_empty() && source.transport() != GitTransport::Ssh;
        if has_user || source.url().password().is_some() {
            return Err(InvalidGitTemplate::Login);
        }
        Ok(template)
    }
}

/// Modules that lie in git: a tag `v1.4.0` or `1.4.0` of the module's repository is a version.
pub struct GitModules {
    template: GitTemplate,
    opener: MethodOpener,
    git: Arc<dyn GitProgram>,
    work_dir: PathBuf,
    /// The tags that were listed.
    listed: Mutex<BTreeMap<ModuleAddr, Vec<VersionTag>>>,
}

impl GitModules {
    /// `work_dir` is an existing folder for temporary ones.
    pub fn new(template: GitTemplate, opener: MethodOpener, git: Arc<dyn GitProgram>, work_dir: PathBuf) -> Self {
        Self { template, opener, git, work_dir, listed: Mutex::default() }
    }

    fn at(&self, address: &ModuleAddr, tag: Option<&GitReference>) -> Result<ModulePackage, ModuleError> {
        let source = self.template.source(address, tag).map_err(|error| ModuleError::Git {
            place: Place::Method(masked(self.template.0.as_str())),
            repository: address.to_string(),
            fault: GitFault::Refused { message: error.to_string() },
        })?;
        Ok(self.opener.git_package(&source, Arc::clone(&self.git), LocationAccess::Anonymous))
    }

    async fn tags(&self, address: &ModuleAddr) -> Result<Vec<VersionTag>, ModuleError> {
        let mut listed = self.listed.lock().await;
        if let Some(known) = listed.get(address) {
            return Ok(known.clone());
        }
        let package = self.at(address, None)?;
        let checkout = package.git().expect("a package of git");
        let tags = version_tags_of(checkout, &self.work_dir).await.map_err(|error| match error {
            ModuleFetchError::Module(error) => error,
            error => ModuleError::Git {
                place: package.place().clone(),
                repository: checkout.source().to_string(),
                fault: GitRunError::NotRun { reason: error.to_string() }.into(),
            },
        })?;
        listed.insert(address.clone(), tags.clone());
        Ok(tags)
    }
}

#[async_trait]
impl ModuleUpstream for GitModules {
    async fn versions(&self, address: &ModuleAddr) -> Result<Vec<Version>, ModuleError> {
        Ok(self.tags(address).await?.into_iter().map(|tag| tag.version).collect())
    }

    fn knows_by_folder(&self) -> bool {
        true
    }

    async fn package(&self, address: &ModuleAddr, version: &Version) -> Result<ModulePackage, ModuleError> {
        let tags = self.tags(address).await?;
        match tags.into_iter().find(|tag| tag.version == *version) {
            Some(VersionTag { tag, other: None, .. }) => self.at(address, Some(&tag)),
            Some(VersionTag { tag, other: Some(other), .. }) => {
                let package = self.at(address, None)?;
                let repository = package.git().expect("a package of git").source().to_string();
                let fault = GitFault::TwoTags(tag, other);
                Err(ModuleError::Git { place: package.place().clone(), repository, fault })
            }
            None => Err(ModuleError::VersionMissing {
                address: address.clone(),
                version: version.clone(),
                place: self.at(address, None)?.place().clone(),
            }),
        }
    }

    async fn package_at(&self, named: &NamedPackage) -> Result<ModulePackage, ModuleError> {
        match named {
            NamedPackage::Git(source) => {
                Ok(self.opener.git_package(source, Arc::clone(&self.git), LocationAccess::Anonymous))
            }
            NamedPackage::Oci(_) => {
                Err(StoreError::UnknownRepository { place: Place::Method(masked(self.template.0.as_str())) }.into())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, want: &str) {
        let template: GitTemplate = template.parse().expect(template);
        let address = "registry.example.com/acme/network/aws".parse().expect("an address");
        let tag = "v1.4.0+b".parse().expect("a tag");
        assert_eq!(template.source(&address, Some(&tag)).expect(want).to_string(), want);
    }

    #[test]
    fn the_symbols_name_a_repository_and_a_folder() {
        check("git::https://g.test/${namespace}/${name}.git", "git::https://g.test/acme/network.git?ref=v1.4.0+b");
        check(
            "git::https://g.test/mods.git//${target_system}/${name}?depth=1",
            "git::https://g.test/mods.git//aws/network?ref=v1.4.0+b",
        );
        check("git@g.test:${namespace}/${name}", "git::ssh://git@g.test/acme/network?ref=v1.4.0+b");
    }

    #[test]
    fn what_is_no_rule_for_git_is_refused_and_no_secret_repeated() {
        for wrong in [
            "git::https://u:hunter2@g.test/${name}",
            "git::https://hunter2@g.test/${name}",
            "git::ssh://u:hunter2@g.test/${name}",
            "git::https://u:hunter2@g.test/${name}?ref=main",
            "git::https://u:hunter2@-g.test/${name}",
            "git::ftp://u:hunter2@g.test/${name}",
            "git::https://g.test/${type}",
            "git::",
        ] {
            let error = wrong.parse::<GitTemplate>().expect_err(wrong).to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
