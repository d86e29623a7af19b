//! Which calls of modules lead out of the caller's package.

use tofu_oci_types::{Constraints, ModuleSource, masked};

use crate::error::TfConfigError;
use crate::facts::{WrittenSource, WrittenVersion};
use crate::model::{ConfigFolder, Declared};
use crate::walk::{self, CallNode};

/// A call of a module that is not a folder of the caller's package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OuterCall {
    /// What it calls; `None` if the source is computed, or is not one.
    pub source: Option<ModuleSource>,
    /// The source as written, without secrets; an expression if it is computed.
    pub text: String,
    /// What `version` demands, which is nothing if it is absent; `None` if it is computed or not a constraint.
    pub constraints: Option<Constraints>,
    /// The place of the source.
    pub at: Declared,
}

impl OuterCall {
    pub(crate) fn of(source: &WrittenSource, version: &WrittenVersion) -> Self {
        let constraints = match version {
            WrittenVersion::Absent => Some(Constraints::any()),
            WrittenVersion::Text(text) => text.parse().ok(),
            WrittenVersion::Computed => None,
        };
        let parsed = if source.template.is_some() { None } else { source.text.parse().ok() };
        Self { source: parsed, text: masked(&source.text), constraints, at: source.at.clone() }
    }
}

/// The calls of other packages that the configuration makes, its tests, and the modules in its own folders; in the order of
/// the modules and names. What `tofu init` has put into the data directory is not looked into.
///
/// # Errors
/// What cannot be read, with its place; a folder without a configuration.
pub fn outer_calls(folder: &ConfigFolder) -> Result<Vec<OuterCall>, TfConfigError> {
    let walked = walk::walk(folder)?;
    let mut calls = Vec::new();
    collect(&walked.root, &mut calls);
    Ok(calls)
}

fn collect(node: &CallNode, calls: &mut Vec<OuterCall>) {
    for (name, call) in &node.module.calls {
        let Some(source) = &call.source else { continue };
        let outer = OuterCall::of(source, &call.version);
        let child = node.children.iter().find(|child| child.name == *name);
        match child {
            // A computed source is known there.
            Some(child) if matches!(child.source.parse(), Ok(ModuleSource::Local(_))) => collect(child, calls),
            _ if calls.contains(&outer) => {}
            _ => calls.push(outer),
        }
    }
    node.children.iter().filter(|child| child.is_test()).for_each(|test| collect(test, calls));
}
