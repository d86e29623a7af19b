//! Where a call of a module comes from, by its source and the mapping of modules.

use std::path::Path;

use serde::Serialize;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_tfconfig::{ModuleNode, ProviderTree};
use tofu_oci_types::{
    Constraints, Digest, Event, InvalidModuleName, ModuleName, ModuleSource, Reference, RepositoryRef, Tag,
};

use crate::page::first_of;
use crate::verbs::context::Context;
use crate::verbs::module::mapped::{MappedBy, MappedModule};

/// The most modules that the note about calls outside of the mapping names.
const NAMED: usize = 3;

/// Where a module comes from.
pub(super) enum CallPlace {
    /// A folder beside its caller.
    Folder,
    /// The repository that a rule of `modules.toml` names for a module of a registry.
    Mapped {
        place: String,
        by: MappedBy,
    },
    Registry {
        host: String,
    },
    /// A package in an OCI repository.
    Oci {
        repository: RepositoryRef,
        reference: Reference,
    },
    Git,
    AbsoluteFolder,
    /// Something else that can be fetched.
    Other,
    /// The source is computed, or not valid, or the rule for it gives no repository.
    Unknown {
        reason: String,
    },
}

/// The member `comes_from` of a module.
#[derive(Default, Serialize)]
pub(super) struct ComesFrom<'a> {
    kind: &'static str,
    place: Option<String>,
    tag: Option<&'a Tag>,
    digest: Option<&'a Digest>,
    pinned: Option<bool>,
    mapped_by: Option<&'a MappedBy>,
    reason: Option<&'a str>,
}

impl CallPlace {
    /// The place that a source names, as [`ModuleNode::source`] has it.
    pub(super) fn of(source: &str, mirrors: &ModuleMirrors) -> Self {
        match source.parse() {
            Ok(ModuleSource::Local(_)) => Self::Folder,
            Ok(ModuleSource::Registry(address, subdir)) => {
                let host = address.hostname().display();
                let name = ModuleName::Registry { address, subdir, constraints: Constraints::any() };
                match MappedModule::of(mirrors, &name) {
                    Ok(Some(mapped)) => Self::Mapped { place: mapped.end.to_string(), by: mapped.by },
                    Ok(None) => Self::Registry { host },
                    Err(diagnostic) => Self::Unknown { reason: diagnostic.text().to_owned() },
                }
            }
            Ok(ModuleSource::Oci(oci)) => {
                Self::Oci { repository: oci.repository().clone(), reference: oci.reference().clone() }
            }
            Ok(ModuleSource::Other(other)) => match source.parse::<ModuleName>() {
                Ok(ModuleName::Git(_)) | Err(InvalidModuleName::Git(_)) => Self::Git,
                _ if other.package().starts_with('/') => Self::AbsoluteFolder,
                _ => Self::Other,
            },
            Err(error) => Self::Unknown { reason: error.to_string() },
        }
    }

    /// For people.
    pub(super) fn text(&self, folder: &Path) -> String {
        match self {
            Self::Folder => {
                let folder = folder.display().to_string();
                format!("the folder {}", folder.strip_prefix("./").unwrap_or(&folder))
            }
            Self::Mapped { place, by } => format!("{place}, by {by}"),
            Self::Registry { host } => format!("the registry {host}"),
            Self::Oci { repository, reference: Reference::Tag(tag) } => {
                format!("{repository}, tag {tag}, not pinned by a digest")
            }
            Self::Oci { repository, reference: Reference::Digest(digest) } => {
                format!("{repository}, pinned to {digest}")
            }
            Self::Git => "the git repository of its source".to_owned(),
            Self::AbsoluteFolder => "the folder of its source".to_owned(),
            Self::Other => "the address of its source".to_owned(),
            Self::Unknown { reason } => format!("unknown: {reason}"),
        }
    }

    /// For programs.
    pub(super) fn json(&self) -> ComesFrom<'_> {
        let nothing = ComesFrom { kind: "folder", ..ComesFrom::default() };
        match self {
            Self::Folder | Self::AbsoluteFolder => nothing,
            Self::Mapped { place, by } => {
                ComesFrom { kind: "mapped", place: Some(place.clone()), mapped_by: Some(by), ..nothing }
            }
            Self::Registry { host } => ComesFrom { kind: "registry", place: Some(host.clone()), ..nothing },
            Self::Oci { repository, reference } => {
                let (tag, digest) = match reference {
                    Reference::Tag(tag) => (Some(tag), None),
                    Reference::Digest(digest) => (None, Some(digest)),
                };
                let (place, pinned) = (Some(repository.to_string()), Some(digest.is_some()));
                ComesFrom { kind: "oci", place, tag, digest, pinned, ..nothing }
            }
            Self::Git => ComesFrom { kind: "git", ..nothing },
            Self::Other => ComesFrom { kind: "other", ..nothing },
            Self::Unknown { reason } => ComesFrom { kind: "unknown", reason: Some(reason), ..nothing },
        }
    }

    /// Whether it comes from a registry, a git repository or another address that no rule maps.
    fn leaves(&self) -> bool {
        matches!(self, Self::Registry { .. } | Self::Git | Self::Other)
    }
}

/// Names the modules that come from outside of the mapping, if there is one.
pub(super) fn note_leaving(context: &Context, tree: &ProviderTree, mirrors: &ModuleMirrors) {
    if mirrors.mirrors().is_empty() {
        return;
    }
    let mut calls = Vec::new();
    sources(&tree.root, &mut calls);
    calls.extend(tree.not_looked_into.iter().map(|missing| (missing.path.as_str(), missing.source.as_str())));
    let leaving: Vec<&str> =
        calls.into_iter().filter(|(_, source)| CallPlace::of(source, mirrors).leaves()).map(|(path, _)| path).collect();
    let names = first_of(&leaving, NAMED, (" and", "more"));
    let text = match leaving.len() {
        0 => return,
        1 => format!("modules.toml does not map {names}"),
        count => format!("modules.toml does not map {count} modules: {names}"),
    };
    let hint = "add a rule for modules of registries; `tofu-oci module mirror` copies modules into your repositories";
    context.reporter.event(&Event::note("module-not-mapped", text).with_hint(hint));
}

/// The path and the source of every call below a module.
fn sources<'a>(node: &'a ModuleNode, calls: &mut Vec<(&'a str, &'a str)>) {
    for child in &node.children {
        // A test file is not called.
        if child.called.is_some() {
            calls.push((&child.path, &child.source));
        }
        sources(child, calls);
    }
}
