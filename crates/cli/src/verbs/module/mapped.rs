//! Modules of registries that `modules.toml` keeps in a repository.

use std::fmt;

use serde::Serialize;
use tofu_oci_mapper::{ModuleMirror, ModuleMirrors, TemplatePlace};
use tofu_oci_source::{Listing, ModuleError};
use tofu_oci_types::{Constraints, Event, ModuleAddr, ModuleName, Place, Version};

use crate::diagnostic::Diagnostic;
use crate::ends::End;
use crate::exit::Exit;
use crate::verbs::context::Context;

/// The repository of a module, and the rule that names it.
#[derive(Clone, Debug)]
pub(in crate::verbs) struct MappedModule {
    pub(in crate::verbs) end: End,
    pub(in crate::verbs) by: MappedBy,
}

#[derive(Clone, Debug, Serialize)]
pub(in crate::verbs) struct MappedBy {
    /// The file with the rule.
    file: String,
    /// The line of its `[[module_mirror]]`.
    line: usize,
    /// The template.
    template: String,
}

impl MappedModule {
    /// The repository of a name; `None` if no rule is for it, or the name is no module of a registry.
    pub(in crate::verbs) fn of(mirrors: &ModuleMirrors, name: &ModuleName) -> Result<Option<Self>, Diagnostic> {
        let ModuleName::Registry { address, .. } = name else { return Ok(None) };
        let Some(mirror) = mirrors.of(address) else { return Ok(None) };
        let by = MappedBy::of(mirror);
        let end = match mirror.place(address) {
            Ok(TemplatePlace::Registry(repository)) => End::Registry(repository),
            Ok(TemplatePlace::Layout(dir)) => End::Layout(dir),
            Err(error) => {
                return Err(Diagnostic::of(Exit::Usage, &error)
                    .code(error.code())
                    .cause(format!("the rule is {}:{}", by.file, by.line))
                    .hint("correct the template, or name the module in `exclude`"));
            }
        };
        Ok(Some(Self { end, by }))
    }

    /// The same error, with the rule that leads to the repository.
    pub(super) fn blamed(&self, diagnostic: Diagnostic, address: &ModuleAddr) -> Diagnostic {
        diagnostic.cause(format!("{}:{} maps {address} to {}", self.by.file, self.by.line, self.end))
    }

    /// Says which rule leads to the repository.
    pub(super) fn note(&self, context: &Context, address: &ModuleAddr) {
        let text =
            format!("{address} is looked for in {} alone: {}:{} maps it there", self.end, self.by.file, self.by.line);
        context.reporter.event(&Event::note("module-mapped", text));
    }
}

impl fmt::Display for MappedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}, {}", self.file, self.line, self.template)
    }
}

impl MappedBy {
    fn of(mirror: &ModuleMirror) -> Self {
        let template = mirror.repositories.to_string();
        match &mirror.origin {
            Some(origin) => Self { file: origin.path.display().to_string(), line: origin.line, template },
            None => Self { file: String::new(), line: 0, template },
        }
    }
}

/// Why the tags of a module's repository are not known. A repository that is not there has a code of modules.
pub(super) fn unlisted(error: impl Into<Diagnostic>) -> Diagnostic {
    let diagnostic = error.into();
    if diagnostic.stable_name() == "provider-not-found" { diagnostic.code("module-not-found") } else { diagnostic }
}

/// The newest version that a repository lists and the constraints admit. A withdrawn version has no tag of its own, so it is not
/// chosen.
pub(super) fn choose(
    listing: &Listing,
    place: Place,
    address: &ModuleAddr,
    wanted: &Constraints,
) -> Result<Version, Diagnostic> {
    if let Some(version) = wanted.select(&listing.versions) {
        return Ok(version.clone());
    }
    let withdrawn = wanted.select(&listing.withdrawn).map(|version| format!("{version} was withdrawn from {place}"));
    let error = ModuleError::NoMatchingVersion {
        address: address.clone(),
        place,
        wanted: wanted.clone(),
        offered: listing.versions.clone(),
    };
    let diagnostic = Diagnostic::from(error);
    Err(diagnostic.more_causes(withdrawn))
}
