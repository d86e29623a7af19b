//! Whose certificates count: an `[[identity]]` of a policy, and whether a proven one is it.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::forges::issuer_of;
use super::roots::{RootName, TrustedRoot};
use super::{Proven, ProvenIdentity, one_slash};
use crate::paths::{folded, is_repository, path_matches, repository_matches, segment_matches};
use crate::{KeyId, Material};

/// What stands for the version of the release in `ref`.
const VERSION: &str = "{version}";

/// Who may sign: a workflow of a repository, or a person.
///
/// `repository`, `workflow`, `ref` and `environment` may have `*`, for any characters except `/`; not so the file of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an object for an identity")]
pub struct Identity {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issuer: Option<String>,
    /// `HOST/OWNER/REPOSITORY`; only names after the owner have `*`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository: Option<String>,
    /// Its path in the repository, or `OWNER/REPOSITORY/PATH`, also with `@REF`, of one that is called from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// What was built, such as `refs/tags/v{version}`.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub environment: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<String>,
    /// The address of a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
    /// The number that the host gave the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repository_id: Option<String>,
    /// Whether GitHub's word for an immutable release counts, and no workflow's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub release: bool,
    /// The file with the root of a Sigstore instance of one's own, as it is written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
}

/// An identity that protects nothing, or that cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{member}` of the identity {problem}")]
pub struct IdentityProblem {
    pub member: &'static str,
    problem: &'static str,
}

fn has_dot(text: &str) -> bool {
    text.contains('.')
}

/// The member of an identity that a proven certificate does not have so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OtherMember {
    pub(crate) member: &'static str,
    pub(crate) found: Option<String>,
}

/// An identity with its root, if that is one of a file.
#[derive(Clone, Debug)]
pub struct TrustedIdentity {
    pub(crate) identity: Identity,
    pub(crate) root: Option<Arc<TrustedRoot>>,
}

impl Identity {
    /// The same with the issuer of its host, if it can be compared.
    ///
    /// # Errors
    /// The member that is missing, wrong, or so wide that it protects nothing.
    pub fn checked(mut self) -> Result<Self, IdentityProblem> {
        let wrong = |member, problem| Err(IdentityProblem { member, problem });
        if let Some(email) = &self.email {
            if email.contains('*') || !email.contains('@') {
                return wrong("email", "must be the whole address of one person");
            }
            let others = [&self.repository, &self.workflow, &self.reference, &self.environment, &self.runner];
            let others = others.into_iter().chain([&self.repository_id]);
            if self.release || others.into_iter().any(Option::is_some) {
                return wrong(
                    "email",
                    "must stand without repository, workflow, ref, environment and runner: a person has none",
                );
            }
        } else {
            let Some(repository) = &self.repository else {
                return wrong("repository", "is missing; a person has `email` and `issuer`");
            };
            let segments: Vec<&str> = repository.split('/').collect();
            let [host, owner, ..] = segments.as_slice() else {
                return wrong("repository", "must be HOST/OWNER/REPOSITORY");
            };
            let is_github = host.eq_ignore_ascii_case("github.com");
            let is_relative = segments.iter().any(|segment| matches!(*segment, "." | ".."));
            if !is_repository(repository) || is_relative || (is_github && segments.len() != 3) {
                return wrong("repository", "must be HOST/OWNER/REPOSITORY");
            }
            if self.environment.as_deref() == Some("") {
                return wrong("environment", "is empty: omit it, or name one");
            }
            if [host, owner].into_iter().any(|segment| segment.contains('*')) {
                return wrong(
                    "repository",
                    "must name one host and one owner: with `*` there, it matches any repository",
                );
            }
            let is_number = |id: &String| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
            if !self.repository_id.as_ref().is_none_or(is_number) {
                return wrong("repository_id", "must be the number of the repository, as a text");
            }
            if self.release {
                return self.checked_release();
            }
            if self.issuer.is_none() {
                self.issuer = issuer_of(host).map(str::to_owned);
            }
            let Some(workflow) = self.workflow.as_deref().map(one_slash) else {
                return wrong(
                    "workflow",
                    "is missing: any workflow of the repository could sign; for GitHub's immutable releases write release = true",
                );
            };
            let path = workflow.split_once('@').map_or(workflow.as_str(), |(path, _)| path);
            let is_whole = if path.starts_with('.') { path == workflow } else { path.split('/').count() > 2 };
            // No owner of GitHub has a dot in its name: it is the host, which does not belong there.
            let names_host = is_github && !path.starts_with('.') && path.split('/').next().is_some_and(has_dot);
            if !is_whole || names_host || path.split('/').any(str::is_empty) {
                return wrong("workflow", "must be .github/workflows/FILE, or OWNER/REPOSITORY/.github/workflows/FILE");
            }
            if !path.starts_with('.') && path.split('/').take(2).any(|segment| segment.contains('*')) {
                return wrong("workflow", "must name one owner and one repository");
            }
            if path.rsplit('/').next().is_some_and(|file| file.contains('*')) {
                return wrong("workflow", "must name one file: with `*`, other workflows of the repository could sign");
            }
            let is_yaml = |path: &str| matches!(path.rsplit_once('.'), Some((_, "yml" | "yaml")));
            if is_github && !(path.contains(".github/workflows/") && is_yaml(path)) {
                return wrong("workflow", "must be a file of .github/workflows that ends in .yml or .yaml");
            }
            self.workflow = Some(workflow);
            self.check_reference()?;
            let hosted = self.runner.as_deref().map(|runner| runner.strip_suffix("-hosted"));
            if !matches!(hosted, None | Some(Some("github" | "gitlab" | "self"))) {
                return wrong("runner", "must be \"github-hosted\", \"gitlab-hosted\" or \"self-hosted\"");
            }
        }
        if self.email.is_some() && self.issuer.is_none() {
            return wrong("issuer", "is missing: who vouches for the address, such as https://accounts.google.com");
        }
        if self.issuer.as_ref().is_none_or(|issuer| !issuer.starts_with("https://") || issuer.contains('*')) {
            return wrong(
                "issuer",
                "must be a URL with https://; only for github.com and gitlab.com it can be omitted",
            );
        }
        Ok(self)
    }

    /// One for GitHub's immutable releases: GitHub vouches for them by a certificate that names no issuer.
    fn checked_release(self) -> Result<Self, IdentityProblem> {
        let wrong = |member, problem| Err(IdentityProblem { member, problem });
        let host = self.repository.as_ref().and_then(|repository| repository.split('/').next());
        if !host.is_some_and(|host| host.eq_ignore_ascii_case("github.com")) {
            return wrong("release", "is for repositories of github.com alone");
        }
        let others = [&self.workflow, &self.environment, &self.runner, &self.issuer, &self.root];
        if others.into_iter().any(Option::is_some) {
            return wrong(
                "release",
                "must stand without workflow, environment, runner, issuer and root: GitHub itself signs",
            );
        }
        self.check_reference()?;
        Ok(self)
    }

    fn check_reference(&self) -> Result<(), IdentityProblem> {
        let Some(reference) = &self.reference else { return Ok(()) };
        let versions = reference.split('/').filter(|segment| segment.contains(VERSION));
        let mixed = |segment: &str| segment.matches(VERSION).count() > 1 || segment.contains('*');
        let is_other = reference.replace(VERSION, "").contains(['{', '}', '$'])
            || ["refs/tag/", "refs/head/"].iter().any(|slip| reference.starts_with(slip));
        let is_mixed = versions.clone().count() > 1 || versions.clone().any(mixed);
        if !reference.starts_with("refs/") || is_other || is_mixed {
            let problem = "must be refs/tags/v{version}, refs/heads/BRANCH, or the like";
            return Err(IdentityProblem { member: "ref", problem });
        }
        Ok(())
    }

    /// Who vouches for the repository in the end.
    pub(crate) fn vouched_by(&self) -> Option<&str> {
        if self.release { issuer_of("github.com") } else { self.issuer.as_deref() }
    }

    /// Its id: the same for the same members, however GitHub's names are spelled.
    pub fn id(&self) -> KeyId {
        let called = self.called().and_then(|called| Some(folded(&called).split_once('/')?.1.to_owned()));
        let workflow = called.or_else(|| self.workflow.clone());
        let named = Self { repository: self.repository.as_deref().map(folded), workflow, ..self.clone() };
        KeyId::of_identity(serde_json::to_string(&named).expect("texts are always JSON").as_bytes())
    }

    /// What makes two identities one party: whoever owns a repository can run what they like in it, and in the others of the
    /// same owner.
    pub(crate) fn party(&self) -> BTreeSet<Material> {
        let issuer = self.vouched_by().unwrap_or_default();
        let material = |who: &str| Material::of("identity", format!("{issuer}\0{who}").as_bytes());
        match (&self.email, &self.repository) {
            (Some(email), _) => BTreeSet::from([material(email)]),
            (None, Some(repository)) => {
                let called = self.called().map(|called| material(&owner_of(&called)));
                BTreeSet::from([material(&owner_of(repository))]).into_iter().chain(called).collect()
            }
            (None, None) => BTreeSet::new(),
        }
    }

    /// Whether one certificate could be of both, by its issuer and its repository or person.
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        let repositories = match (&self.repository, &other.repository) {
            (Some(one), Some(other)) => {
                let is_wide = one.contains('*') || other.contains('*');
                folded(one) == folded(other) || (is_wide && owner_of(one) == owner_of(other))
            }
            (one, other) => one == other,
        };
        repositories && self.vouched_by() == other.vouched_by() && self.email == other.email
    }

    /// The whole path of a workflow of another repository.
    fn called(&self) -> Option<String> {
        let workflow = self.workflow.as_ref().filter(|workflow| !workflow.starts_with('.'))?;
        let host = self.repository.as_ref()?.split('/').next()?;
        Some(format!("{host}/{workflow}"))
    }

    /// The version that the ref of the proven identity names, if all but the issuer is of this one; `None` if this one asks
    /// for no version. The error is empty for another person or repository.
    fn is(&self, proven: &ProvenIdentity) -> Result<Option<String>, Option<OtherMember>> {
        let other = |member, found: &Option<String>| Some(OtherMember { member, found: found.clone() });
        if let Some(email) = &self.email {
            let is_same = proven.is_person && *email == proven.subject;
            return if is_same { Ok(None) } else { Err(None) };
        }
        let repository = proven.repository.as_ref().filter(|_| !proven.is_person).ok_or(None)?;
        if !self.repository.as_ref().is_some_and(|wanted| repository_matches(wanted, repository)) {
            return Err(None);
        }
        if self.release != proven.is_release {
            return Err(None);
        }
        if self.repository_id.is_some() && self.repository_id != proven.repository_id {
            return Err(other("repository_id", &proven.repository_id));
        }
        if !self.release && !self.is_workflow(proven) {
            return Err(other("workflow", &Some(proven.subject.clone())));
        }
        let mut version = None;
        if let Some(wanted) = &self.reference {
            let found = proven.reference.as_deref().unwrap_or_default();
            version = named_version(wanted, found).map_err(|()| other("ref", &proven.reference))?;
        }
        for (member, wanted, found) in
            [("environment", &self.environment, &proven.environment), ("runner", &self.runner, &proven.runner)]
        {
            let is_same = |wanted: &String| found.as_ref().is_some_and(|found| path_matches(wanted, found));
            if !wanted.as_ref().is_none_or(is_same) {
                return Err(other(member, found));
            }
        }
        Ok(version)
    }

    /// Whether the workflow that signed is the one meant. One of the repository itself has the ref that was built: another
    /// branch has another text under the same path.
    fn is_workflow(&self, proven: &ProvenIdentity) -> bool {
        let (Some(wanted), Some(found)) = (&self.workflow, &proven.workflow) else { return false };
        let Some(called) = self.called() else {
            let is_built = proven.workflow_ref.is_some() && proven.workflow_ref == proven.reference;
            return is_built && proven.own_workflow().is_some_and(|path| path_matches(wanted, &path));
        };
        let (called, reference) = match called.split_once('@') {
            Some((called, reference)) => (called.to_owned(), Some(reference.to_owned())),
            None => (called, None),
        };
        let is_ref = |wanted: &String| proven.workflow_ref.as_ref().is_some_and(|found| path_matches(wanted, found));
        path_matches(&folded(&called), &folded(&one_slash(found))) && reference.as_ref().is_none_or(is_ref)
    }
}

impl TrustedIdentity {
    /// The version that a proven identity names, if it is this one, proven by its root. The error is empty for somebody else.
    pub(crate) fn admits(&self, proven: &Proven) -> Result<Option<String>, Option<OtherMember>> {
        let named = self.identity.is(&proven.identity);
        let other = |member, found| Err(named.as_ref().ok().map(|_| OtherMember { member, found }));
        if self.identity.issuer != proven.identity.issuer {
            return other("issuer", proven.identity.issuer.clone());
        }
        let is_root = |root: &RootName| match (&self.identity.root, root) {
            (None, RootName::PublicGood | RootName::GitHub) => true,
            (Some(wanted), RootName::File(found)) => wanted == found,
            _ => false,
        };
        if !proven.roots.iter().any(is_root) {
            return other("root", proven.roots.first().map(ToString::to_string));
        }
        named
    }
}

/// The host and the owner of a repository, as they are compared.
fn owner_of(repository: &str) -> String {
    folded(repository).splitn(3, '/').take(2).collect::<Vec<_>>().join("/")
}

/// The version in a ref that a pattern matches, `None` if the pattern asks for none; an error if it does not match.
fn named_version(pattern: &str, reference: &str) -> Result<Option<String>, ()> {
    if pattern.split('/').count() != reference.split('/').count() {
        return Err(());
    }
    let mut version = None;
    for (pattern, segment) in pattern.split('/').zip(reference.split('/')) {
        match pattern.split_once(VERSION) {
            Some((before, after)) => {
                let named = segment.strip_prefix(before).and_then(|rest| rest.strip_suffix(after));
                version = named.filter(|named| !named.is_empty()).map(str::to_owned);
                version.as_ref().ok_or(())?;
            }
            None if !segment_matches(pattern, segment) => return Err(()),
            None => {}
        }
    }
    Ok(version)
}
