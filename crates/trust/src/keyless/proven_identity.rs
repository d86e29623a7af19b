//! Who made a signature, as a certificate says it.

use std::fmt;

use serde::Serialize;
use sigstore_verify::crypto::{CertificateInfo, SubjectAltName};

use super::forges;
use crate::json;
use crate::published::PublishedRelease;

/// Whose certificates GitHub's own instance issues for immutable releases.
const GITHUB_RELEASES: &str = "https://dotcom.releases.github.com";

/// Who made a signature, as a proven certificate says it. Its texts are as the authority wrote them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ProvenIdentity {
    /// Who vouched for it to the authority, such as `https://token.actions.githubusercontent.com`.
    pub issuer: Option<String>,
    /// The name in the certificate: a workflow with its ref as a URL, or the address of a person.
    pub subject: String,
    /// The repository that was built, such as `github.com/acme/widget`.
    pub repository: Option<String>,
    /// The workflow that signed, without its ref, such as `github.com/acme/widget/.github/workflows/release.yml`.
    pub workflow: Option<String>,
    /// The ref of the workflow that signed: another one than `ref` if it is of another repository.
    pub workflow_ref: Option<String>,
    /// The ref that was built.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// The commit that was built.
    pub commit: Option<String>,
    /// The run that built it.
    pub run: Option<String>,
    /// The environment that it was deployed to.
    pub environment: Option<String>,
    /// Where it ran: `github-hosted`, `gitlab-hosted` or `self-hosted`.
    pub runner: Option<String>,
    /// The number that its host gave the repository: it stays with the repository, as its name need not.
    #[serde(skip)]
    pub(crate) repository_id: Option<String>,
    /// The same of the owner of the repository.
    #[serde(skip)]
    pub(crate) owner_id: Option<String>,
    /// Whether GitHub itself made it, of an immutable release: then the statement names repository and ref.
    #[serde(skip)]
    pub(crate) is_release: bool,
    /// Whether `subject` is the address of a person.
    #[serde(skip)]
    pub(crate) is_person: bool,
    /// The file with the root that proves it, if no built-in one does.
    #[serde(skip)]
    pub(crate) root: Option<String>,
}

impl ProvenIdentity {
    pub(super) fn of(certificate: &CertificateInfo) -> Option<Self> {
        let subject = certificate.identity.as_ref()?;
        let claims = &certificate.ci_claims;
        let bare = |url: &String| url.strip_prefix("https://").unwrap_or(url).to_owned();
        let signer = claims.build_signer_uri.as_ref().map(bare);
        let (workflow, workflow_ref) = match signer.as_deref().map(|signer| signer.split_once('@')) {
            Some(Some((workflow, reference))) => (Some(workflow.to_owned()), Some(reference.to_owned())),
            _ => (signer, None),
        };
        Some(Self {
            issuer: certificate.issuer.clone(),
            subject: subject.as_str().to_owned(),
            repository: claims.source_repository_uri.as_ref().map(bare),
            workflow,
            workflow_ref,
            reference: claims.source_repository_ref.clone(),
            commit: claims.source_repository_digest.clone(),
            run: claims.run_invocation_uri.clone(),
            environment: claims.deployment_environment.clone(),
            runner: claims.runner_environment.clone(),
            repository_id: claims.source_repository_identifier.clone(),
            owner_id: claims.source_repository_owner_identifier.clone(),
            is_release: false,
            is_person: matches!(subject, SubjectAltName::Email(_)),
            root: None,
        })
    }

    /// GitHub itself, with what it says of an immutable release.
    pub(super) fn with_release(self, published: Option<&PublishedRelease>) -> Self {
        let Some(published) = published.filter(|_| self.subject == GITHUB_RELEASES && self.issuer.is_none()) else {
            return self;
        };
        Self {
            repository: Some(published.repository.clone()),
            reference: Some(format!("refs/tags/{}", published.tag)),
            repository_id: published.repository_id.clone(),
            owner_id: published.owner_id.clone(),
            is_release: true,
            ..self
        }
    }

    /// The host of the repository, if it is the one whose workflows the issuer vouches for, such as `github.com`.
    pub fn forge(&self) -> Option<&str> {
        let host = self.repository.as_ref()?.split('/').next()?;
        (!self.is_person && forges::issuer_of(host) == Some(self.issuer.as_deref()?)).then_some(host)
    }

    /// The path of the workflow in the repository that was built, if it is of that one.
    pub(super) fn own_workflow(&self) -> Option<String> {
        let path = self.workflow.as_ref()?.strip_prefix(self.repository.as_ref()?)?.strip_prefix('/')?;
        Some(path.strip_prefix('/').unwrap_or(path).to_owned())
    }
}

/// `SUBJECT (by ISSUER)`: what the authority has seen, not what the signer says.
impl fmt::Display for ProvenIdentity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.issuer {
            Some(issuer) => write!(f, "{} (by {issuer})", self.subject),
            None => f.write_str(&self.subject),
        }
    }
}

impl ProvenIdentity {
    /// The lines of the `[[identity]]` that admits it; `None` for what no identity can name.
    pub(crate) fn to_add(&self) -> Option<String> {
        let mut members = vec!["[[identity]]".to_owned()];
        let mut member = |name: &str, value: Option<&str>| {
            members.extend(value.map(|value| format!("{name} = {}", json::shown(value))));
        };
        if self.is_person {
            member("name", Some(&self.subject));
            member("email", Some(&self.subject));
            member("issuer", self.issuer.as_deref());
            member("root", self.root.as_deref());
            return Some(members.join("\n"));
        }
        let (host, name) = self.repository.as_deref()?.split_once('/')?;
        member("name", Some(name));
        if self.is_release {
            member("repository", self.repository.as_deref());
            member("ref", self.reference.as_deref());
            members.push("release = true".to_owned());
            return Some(members.join("\n"));
        }
        let called = || Some(one_slash(self.workflow.as_deref()?.split_once('/')?.1));
        member("repository", self.repository.as_deref());
        member("workflow", self.own_workflow().or_else(called).as_deref());
        member("ref", self.reference.as_deref());
        member("issuer", self.issuer.as_deref().filter(|issuer| forges::issuer_of(host) != Some(issuer)));
        member("root", self.root.as_deref());
        Some(members.join("\n"))
    }
}

/// A path with one slash where GitLab writes two, between a project and its file.
pub(super) fn one_slash(path: &str) -> String {
    path.replace("//", "/")
}
