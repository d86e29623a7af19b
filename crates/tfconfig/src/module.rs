//! The files of one folder as one module, and what a test file needs.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::io::ErrorKind;
use std::path::Path;

use tofu_oci_disk::FileError;
use tofu_oci_types::{Constraints, ProviderAddr, TextPosition};

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{
    Backend, DeclaredName, FileFacts, FunctionCall, Import, InputVariable, ModuleCall, Output, ProviderBlock,
    RequiredBlock, RequiredEntry, Resource, WrittenVersion, config_name, implied, implied_name, problem,
};
use crate::files::FileRole;
use crate::model::{ConfigFinding, Declared};
use crate::{files, reader};

/// What one module says.
#[derive(Debug, Default)]
pub(crate) struct ModuleFacts {
    /// The entries of `required_providers`, by local name.
    pub(crate) required: BTreeMap<String, RequiredEntry>,
    /// The provider blocks, one for each name and alias.
    pub(crate) providers: Vec<ProviderBlock>,
    pub(crate) resources: Vec<Resource>,
    pub(crate) imports: Vec<Import>,
    pub(crate) functions: Vec<FunctionCall>,
    /// The modules that it calls, by the name of the call.
    pub(crate) calls: BTreeMap<String, ModuleCall>,
    pub(crate) backend: Option<Backend>,
    /// Local values, as templates by name.
    pub(crate) locals: BTreeMap<String, String>,
    /// Input variables, by name.
    pub(crate) variables: BTreeMap<String, InputVariable>,
    /// Output values, by name.
    pub(crate) outputs: BTreeMap<String, Output>,
    pub(crate) findings: Vec<ConfigFinding>,
    required_at: Option<Declared>,
    /// What no second block may be called, and the first one that is.
    once: HashMap<(&'static str, String), Declared>,
    /// The resources by what they are called, as places in their list: a file may have very many.
    named: HashMap<String, usize>,
}

/// The module in `dir`; `None` if there is no such folder, or no configuration in it.
///
/// Spec: `OpenTofu` 1.12, `configs.NewModule`; override files as its `module_merge.go`.
pub(crate) fn read(dir: &Path) -> Result<Option<ModuleFacts>, TfConfigError> {
    let Some(files) = files::find(dir)?.filter(|files| !files.is_empty()) else { return Ok(None) };
    let mut module = ModuleFacts::default();
    let mut primary = Vec::new();
    for path in &files.primary {
        primary.push(read_file(path, FileRole::Adds)?);
    }
    let mut overrides = Vec::new();
    for path in &files.overrides {
        overrides.push(read_file(path, FileRole::Overrides)?);
    }
    for facts in &mut primary {
        module.require(std::mem::take(&mut facts.required))?;
    }
    for facts in &mut overrides {
        for entry in std::mem::take(&mut facts.required).into_iter().flat_map(|block| block.entries) {
            module.required.insert(entry.name.clone(), entry);
        }
    }
    for facts in primary {
        module.append(facts);
    }
    for facts in overrides {
        module.merge(facts);
    }
    Ok(Some(module))
}

/// The test file at `path` as a module of its own, whose calls are the modules that its runs run.
///
/// A provider block counts for the provider that the name means in `root`, the module that is tested. Blocks of
/// `mock_provider` require none. What else is wrong with a test is not judged.
///
/// Spec: `OpenTofu` 1.12, `configs.Config.addProviderRequirements`; measured with 1.12.6.
pub(crate) fn read_test(path: &Path, root: &ModuleFacts) -> Result<ModuleFacts, TfConfigError> {
    let mut test = ModuleFacts::default();
    test.append(read_file(path, FileRole::Tests)?);
    test.findings.clear();
    for block in &test.providers {
        if let Some(required) = root.required.get(&block.name) {
            let entry = RequiredEntry {
                constraints: Constraints::any(),
                aliases: Vec::new(),
                at: block.at.clone(),
                ..required.clone()
            };
            test.required.insert(block.name.clone(), entry);
        }
    }
    Ok(test)
}

fn read_file(path: &Path, role: FileRole) -> Result<FileFacts, TfConfigError> {
    let gone = || TfConfigError::from(FileError::new("read", path, std::io::Error::from(ErrorKind::NotFound)));
    let text = files::source(path)?.ok_or_else(gone)?;
    reader::read(path, &text, files::syntax(path), role)
}

impl ModuleFacts {
    /// The provider that a local name means.
    pub(crate) fn address(&self, name: &str, at: &Declared) -> Result<ProviderAddr, TfConfigError> {
        match self.required.get(name) {
            Some(required) => Ok(required.address.clone()),
            None => implied(name, at),
        }
    }

    /// The provider that a local name means; `None` if the name is invalid.
    pub(crate) fn known_address(&self, name: &str) -> Option<ProviderAddr> {
        let nowhere = Declared { path: std::path::PathBuf::new(), at: TextPosition::START };
        self.address(name, &nowhere).ok()
    }

    /// The local name that a resource or import uses.
    pub(crate) fn local_name(
        resource_type: &str,
        provider: Option<&super::facts::ConfigRef>,
        at: &Declared,
    ) -> Result<String, TfConfigError> {
        match provider {
            Some(reference) => Ok(reference.name.clone()),
            // In normal form: `AWS_instance` is of `aws`.
            None => Ok(implied(implied_name(resource_type), at)?.provider_type().to_owned()),
        }
    }

    pub(crate) fn block(&self, name: &str, alias: Option<&str>) -> Option<&ProviderBlock> {
        self.providers.iter().find(|block| block.name == name && block.alias.as_deref() == alias)
    }

    fn require(&mut self, blocks: Vec<RequiredBlock>) -> Result<(), TfConfigError> {
        for block in blocks {
            if let Some(first) = &self.required_at {
                return Err(problem(block.at, ConfigProblem::SecondRequired { first: first.clone() }));
            }
            self.required_at = Some(block.at);
            for entry in block.entries {
                if self.required.contains_key(&entry.name) {
                    return Err(problem(entry.at, ConfigProblem::Duplicate { name: entry.name }));
                }
                self.required.insert(entry.name.clone(), entry);
            }
        }
        Ok(())
    }

    /// A file that adds to the others.
    fn append(&mut self, facts: FileFacts) {
        self.findings.extend(facts.findings);
        for DeclaredName { space, name, at } in facts.names {
            let what = format!("{space} `{name}`");
            match self.once.entry((space, name)) {
                Entry::Occupied(first) => self.findings.push(duplicate(&what, first.get(), at)),
                Entry::Vacant(free) => drop(free.insert(at)),
            }
        }
        for block in facts.providers {
            match self.block(&block.name, block.alias.as_deref()) {
                Some(first) => {
                    let name = config_name(&block.name, block.alias.as_deref());
                    let finding = duplicate(&format!("the provider configuration `{name}`"), &first.at, block.at);
                    self.findings.push(finding);
                }
                None => self.providers.push(block),
            }
        }
        for resource in facts.resources {
            let name = resource.by.text().to_owned();
            if let Some(first) = self.named.get(&name).and_then(|first| self.resources.get(*first)) {
                self.findings.push(duplicate(&format!("`{name}`"), &first.at, resource.at));
            } else {
                self.named.insert(name, self.resources.len());
                self.resources.push(resource);
            }
        }
        for call in facts.modules {
            match self.calls.get(&call.name) {
                Some(first) => {
                    let finding = duplicate(&format!("the module `{}`", call.name), &first.at, call.at);
                    self.findings.push(finding);
                }
                None => {
                    self.calls.insert(call.name.clone(), call);
                }
            }
        }
        for backend in facts.backends {
            match &self.backend {
                Some(first) => {
                    let finding = duplicate("the backend", &first.at, backend.at);
                    self.findings.push(finding);
                }
                None => self.backend = Some(backend),
            }
        }
        self.imports.extend(facts.imports);
        self.functions.extend(facts.functions);
        self.locals.extend(facts.locals);
        for variable in facts.variables {
            self.variables.entry(variable.name.clone()).or_insert(variable);
        }
        for output in facts.outputs {
            self.outputs.entry(output.name.clone()).or_insert(output);
        }
    }

    /// An override file: it changes existing blocks, and adds only default provider configurations.
    fn merge(&mut self, facts: FileFacts) {
        self.findings.extend(facts.findings);
        for DeclaredName { space, name, at } in facts.names {
            let what = format!("{} `{name}`", space.trim_start_matches("the "));
            if matches!(space, "the variable" | "the output" | "the local value")
                && !self.once.contains_key(&(space, name))
            {
                self.findings.push(nothing_to_override(&what, at));
            }
        }
        for block in facts.providers {
            let same = |earlier: &&mut ProviderBlock| earlier.name == block.name && earlier.alias == block.alias;
            match self.providers.iter_mut().find(same) {
                Some(base) => {
                    base.version = block.version.or(base.version.take());
                    base.empty &= block.empty;
                }
                None if block.alias.is_none() => self.providers.push(block),
                None => {
                    let name = config_name(&block.name, block.alias.as_deref());
                    self.findings.push(nothing_to_override(&format!("provider configuration `{name}`"), block.at));
                }
            }
        }
        for resource in facts.resources {
            if let Some(base) = self.resources.iter_mut().find(|base| base.by == resource.by) {
                base.provider = resource.provider.or(base.provider.take());
            } else {
                let name = resource.by.text().to_owned();
                self.findings.push(nothing_to_override(&format!("block `{name}`"), resource.at));
            }
        }
        for call in facts.modules {
            match self.calls.get_mut(&call.name) {
                Some(base) => {
                    base.source = call.source.or(base.source.take());
                    if call.version != WrittenVersion::Absent {
                        base.version = call.version;
                    }
                    if !call.providers.is_empty() {
                        base.providers = call.providers;
                    }
                    base.arguments.extend(call.arguments);
                    base.repeated = call.repeated.or(base.repeated.take());
                }
                None => self.findings.push(nothing_to_override(&format!("module `{}`", call.name), call.at)),
            }
        }
        for import in facts.imports {
            self.findings.push(ConfigFinding {
                code: "import-in-override",
                refused: true,
                declared: import.at,
                message: "an override file cannot hold an `import` block".to_owned(),
                instead: "move it into a file without `override` in its name".to_owned(),
            });
        }
        for (nth, second) in facts.backends.iter().enumerate() {
            let mut earlier = facts.backends.iter().take(nth);
            if let Some(first) = earlier.find(|first| (first.kind == "cloud") == (second.kind == "cloud")) {
                self.findings.push(duplicate("the backend", &first.at, second.at.clone()));
            }
        }
        if let Some(backend) = facts.backends.into_iter().next() {
            self.backend = Some(backend);
        }
        self.functions.extend(facts.functions);
        self.locals.extend(facts.locals);
        for variable in facts.variables {
            if let Some(base) = self.variables.get_mut(&variable.name) {
                base.description = variable.description.or(base.description.take());
                base.type_text = variable.type_text.or(base.type_text.take());
                base.default = variable.default.or(base.default.take());
                base.value = variable.value.or(base.value.take());
                base.sensitive = variable.sensitive.or(base.sensitive);
                base.ephemeral = variable.ephemeral.or(base.ephemeral);
                base.constant = variable.constant.or(base.constant);
                base.nullable = variable.nullable.or(base.nullable);
            }
        }
        for output in facts.outputs {
            if let Some(base) = self.outputs.get_mut(&output.name) {
                base.description = output.description.or(base.description.take());
                base.sensitive = output.sensitive.or(base.sensitive);
            }
        }
    }
}

/// The constraints of a provider block.
pub(crate) fn block_constraints(block: &ProviderBlock) -> Constraints {
    block.version.as_ref().map_or_else(Constraints::any, |(constraints, _)| constraints.clone())
}

fn duplicate(what: &str, first: &Declared, declared: Declared) -> ConfigFinding {
    ConfigFinding {
        code: "duplicate-block",
        refused: true,
        declared,
        message: format!("{what} is there twice; the first one stands at {first}"),
        instead: "keep one of the two, or give one another name (`alias` in a provider block)".to_owned(),
    }
}

fn nothing_to_override(what: &str, declared: Declared) -> ConfigFinding {
    ConfigFinding {
        code: "nothing-to-override",
        refused: true,
        declared,
        message: format!("an override file changes the {what}, which no other file has"),
        instead: "check the name, or move the block into a file without `override` in its name".to_owned(),
    }
}
