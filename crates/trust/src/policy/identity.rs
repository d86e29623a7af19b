//! `[[identity]]`: whose certificates count.

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;
use toml::Spanned;

use super::error::{PolicyError, PolicyProblem};
use super::key::{KeyMaterial, NamedKey};
use crate::keyless::{RootName, TrustedRoot};
use crate::{Identity, TrustedIdentity};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct IdentityTable {
    name: Spanned<String>,
    issuer: Option<Spanned<String>>,
    repository: Option<Spanned<String>>,
    workflow: Option<Spanned<String>>,
    #[serde(rename = "ref")]
    reference: Option<Spanned<String>>,
    environment: Option<Spanned<String>>,
    runner: Option<Spanned<String>>,
    email: Option<Spanned<String>>,
    repository_id: Option<Spanned<String>>,
    release: Option<Spanned<bool>>,
    root: Option<Spanned<String>>,
}

/// An identity whose root has not been read yet.
#[derive(Clone, Debug)]
pub(super) struct IdentityEntry {
    pub(super) name: String,
    /// The place of the name in the text.
    pub(super) named: Range<usize>,
    identity: Identity,
    /// The place of the root in the text.
    root: Option<Range<usize>>,
}

impl IdentityEntry {
    /// Whether it is for GitHub's immutable releases.
    pub(super) fn is_of_releases(&self) -> bool {
        self.identity.release
    }

    pub(super) fn read(table: &IdentityTable) -> Result<Self, PolicyError> {
        let IdentityTable { name, issuer, repository, workflow, reference, environment, runner, email, .. } = table;
        let IdentityTable { repository_id, release, root, .. } = table;
        let (named, name) = (name.span(), name.get_ref().clone());
        if name.trim().is_empty() {
            return Err(PolicyError { span: Some(named), problem: PolicyProblem::NoName });
        }
        let members = [("issuer", issuer), ("repository", repository), ("workflow", workflow), ("ref", reference)];
        let more =
            [("environment", environment), ("runner", runner), ("email", email), ("repository_id", repository_id)];
        let written = |member: &Option<Spanned<String>>| member.as_ref().map(|written| written.get_ref().clone());
        let identity = Identity {
            issuer: written(issuer),
            repository: written(repository),
            workflow: written(workflow),
            reference: written(reference),
            environment: written(environment),
            runner: written(runner),
            email: written(email),
            repository_id: written(repository_id),
            release: release.as_ref().is_some_and(|release| *release.get_ref()),
            root: written(root),
        };
        let identity = identity.checked().map_err(|source| {
            let wrong = members.into_iter().chain(more).find(|(member, _)| *member == source.member);
            let wrong = wrong.and_then(|(_, written)| written.as_ref());
            let of_release = release.as_ref().filter(|_| source.member == "release").map(Spanned::span);
            let span = wrong.map(Spanned::span).or(of_release).unwrap_or_else(|| named.clone());
            let written = wrong.map(|written| written.get_ref().clone());
            PolicyError { span: Some(span), problem: PolicyProblem::Identity { name: name.clone(), written, source } }
        })?;
        Ok(Self { name, named, identity, root: root.as_ref().map(Spanned::span) })
    }

    /// With its root, if it names one; `roots` has those that were read.
    pub(super) fn load(
        self,
        read: &impl Fn(&Path) -> Result<Vec<u8>, io::Error>,
        roots: &mut BTreeMap<String, Arc<TrustedRoot>>,
    ) -> Result<NamedKey, PolicyError> {
        let Self { name, identity, root: span, .. } = self;
        let root = identity.root.as_ref().map(|written| {
            if let Some(root) = roots.get(written) {
                return Ok(Arc::clone(root));
            }
            let path = PathBuf::from(written);
            let at = |problem| PolicyError { span: span.clone(), problem };
            let text = match read(&path) {
                Ok(text) => text,
                Err(source) => return Err(at(PolicyProblem::RootFile { path, source })),
            };
            let root = TrustedRoot::read(RootName::File(written.clone()), &text);
            let root = root.map(Arc::new).map_err(|problem| at(PolicyProblem::Root { path, problem }))?;
            roots.insert(written.clone(), Arc::clone(&root));
            Ok(root)
        });
        let root = root.transpose()?;
        Ok(NamedKey { name, material: KeyMaterial::Identity(Box::new(TrustedIdentity { identity, root })) })
    }
}
