//! From the blocks of a file to its facts about providers.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_types::Constraints;

use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::{
    Backend, BackendSetting, ConfigRef, FileFacts, Import, InputVariable, LineStarts, ModuleCall, Output, Passed,
    ProviderBlock, RequiredBlock, RequiredEntry, Resource, WrittenSource, WrittenVersion, implied, normal_name,
    parse_constraints, parse_source, problem,
};
use crate::files::FileRole;
use crate::json::TfJsonKind;
use crate::model::{Declared, UsedBy};
use crate::syntax::{Constant, TfAttribute, TfBlock, TfBody, TfValue};
use crate::{functions, json, shape, syntax};
use tofu_oci_hcl::HclSyntax;

/// The facts of a file.
///
/// Spec: `OpenTofu` 1.12, `configs.loadConfigFileBody`.
pub(crate) fn read(path: &Path, text: &str, syntax: HclSyntax, role: FileRole) -> Result<FileFacts, TfConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let reader = FactsReader { path, text, lines: LineStarts::of(text) };
    let mut facts = FileFacts::default();
    match syntax {
        HclSyntax::Native => {
            let body = syntax::parse(path, text)?;
            reader.file(&TfBody::Native(&body), role, &mut facts)?;
            facts.functions = functions::native(&body, |offset| reader.at(offset));
        }
        HclSyntax::Json => {
            let root = json::parse(path, text)?;
            if !matches!(root.kind, TfJsonKind::Object(_) | TfJsonKind::Array(_)) {
                let message = "the file must hold an object".to_owned();
                return Err(problem(reader.at(root.offset), ConfigProblem::Syntax { message }));
            }
            reader.file(&TfBody::Json(root.objects()), role, &mut facts)?;
            facts.functions = functions::json(&root, |offset| reader.at(offset));
        }
    }
    Ok(facts)
}

struct FactsReader<'a> {
    path: &'a Path,
    text: &'a str,
    lines: LineStarts,
}

impl FactsReader<'_> {
    fn at(&self, offset: usize) -> Declared {
        Declared { path: self.path.to_owned(), at: self.lines.position(self.text, offset) }
    }

    fn file(&self, body: &TfBody<'_>, role: FileRole, facts: &mut FileFacts) -> Result<(), TfConfigError> {
        for block in body.blocks("provider", 1) {
            facts.providers.push(self.provider(&block)?);
        }
        if role == FileRole::Tests {
            return self.runs(body, facts);
        }
        self.misplaced(body)?;
        for terraform in body.blocks("terraform", 0) {
            for block in terraform.body.blocks("required_providers", 0) {
                facts.required.push(self.required_block(&block)?);
            }
            self.backends(&terraform.body, facts);
        }
        for (kind, by) in [
            ("resource", UsedBy::Resource as fn(String) -> UsedBy),
            ("data", UsedBy::Data),
            ("ephemeral", UsedBy::Ephemeral),
        ] {
            for block in body.blocks(kind, 2) {
                facts.resources.push(self.resource(kind, by, &block)?);
            }
        }
        for check in body.blocks("check", 1) {
            for block in check.body.blocks("data", 2) {
                facts.resources.push(self.resource("data", UsedBy::Data, &block)?);
            }
        }
        for block in body.blocks("import", 0) {
            facts.imports.extend(self.import(&block)?);
        }
        for block in body.blocks("module", 1) {
            facts.modules.push(self.module(&block)?);
        }
        facts.variables = body.blocks("variable", 1).iter().map(|block| self.variable(block)).collect();
        facts.locals = body.blocks("locals", 0).iter().flat_map(|block| self.templates(&block.body)).collect();
        facts.outputs = body.blocks("output", 1).iter().map(output).collect();
        facts.names = shape::names(body, |offset| self.at(offset));
        facts.findings = shape::findings(body, role, |offset| self.at(offset));
        Ok(())
    }

    /// The modules that the runs of a test file run, as calls.
    ///
    /// Spec: `OpenTofu` 1.12, `configs.decodeTestRunModuleBlock`.
    fn runs(&self, body: &TfBody<'_>, facts: &mut FileFacts) -> Result<(), TfConfigError> {
        for run in body.blocks("run", 1) {
            for block in run.body.blocks("module", 0) {
                let call = self.module(&block)?;
                let providers = self.passed(&run.body)?;
                let variables = run.body.blocks("variables", 0);
                let arguments = variables.iter().flat_map(|block| self.templates(&block.body)).collect();
                let (name, at) = (label(&run), self.at(run.offset));
                facts.modules.push(ModuleCall { name, providers, arguments, at, ..call });
            }
        }
        Ok(())
    }

    /// Refuses `required_providers` outside of a `terraform` block, where it would silently mean nothing.
    fn misplaced(&self, body: &TfBody<'_>) -> Result<(), TfConfigError> {
        let outside = body.blocks("required_providers", 0).into_iter().next();
        let foreign = body.blocks("tofu", 0).into_iter();
        let foreign = foreign.flat_map(|block| block.body.blocks("required_providers", 0)).next();
        match outside.or(foreign) {
            Some(block) => Err(problem(self.at(block.offset), ConfigProblem::Misplaced)),
            None => Ok(()),
        }
    }

    fn backends(&self, body: &TfBody<'_>, facts: &mut FileFacts) {
        let text = |attribute: Option<TfAttribute<'_>>| match attribute.map(|attribute| attribute.value.constant()) {
            None | Some(Some(Constant::Null)) => BackendSetting::Absent,
            Some(Some(Constant::Text(text) | Constant::Other(text))) => BackendSetting::Text(text),
            Some(None) => BackendSetting::Computed,
        };
        for block in body.blocks("backend", 1) {
            facts.backends.push(Backend {
                kind: block.labels.first().copied().unwrap_or_default().to_owned(),
                path: text(block.body.attribute("path")),
                workspace_dir: text(block.body.attribute("workspace_dir")),
                at: self.at(block.offset),
            });
        }
        for block in body.blocks("cloud", 0) {
            let (kind, at) = ("cloud".to_owned(), self.at(block.offset));
            facts.backends.push(Backend {
                kind,
                path: BackendSetting::Absent,
                workspace_dir: BackendSetting::Absent,
                at,
            });
        }
    }

    fn required_block(&self, block: &TfBlock<'_>) -> Result<RequiredBlock, TfConfigError> {
        let entries =
            block.body.attributes().iter().map(|attribute| self.required(attribute)).collect::<Result<_, _>>();
        Ok(RequiredBlock { entries: entries?, at: self.at(block.offset) })
    }

    /// Spec: `OpenTofu` 1.12, `configs.decodeRequiredProvidersBlock`.
    fn required(&self, attribute: &TfAttribute<'_>) -> Result<RequiredEntry, TfConfigError> {
        let (name, at) = (attribute.name.to_owned(), self.at(attribute.offset));
        if let Some(Constant::Text(text) | Constant::Other(text)) = attribute.value.constant() {
            let constraints = parse_constraints(&text, &self.at(attribute.value.offset()))?;
            return Ok(RequiredEntry { address: implied(&name, &at)?, name, constraints, aliases: Vec::new(), at });
        }
        normal_name(&name, &at)?;
        let Some(pairs) = attribute.value.pairs() else {
            return Err(problem(at, ConfigProblem::InvalidEntry { name }));
        };
        let (mut source, mut constraints, mut aliases) = (None, Constraints::any(), Vec::new());
        for (key, value) in pairs {
            let there = self.at(value.offset());
            match key.constant() {
                Some(Constant::Text(key)) if key == "source" => {
                    source = Some(parse_source(&self.string("source", value)?, &there)?);
                }
                Some(Constant::Text(key)) if key == "version" => {
                    constraints = parse_constraints(&self.string("version", value)?, &there)?;
                }
                Some(Constant::Text(key)) if key == "configuration_aliases" => aliases = self.aliases(&name, value)?,
                _ => {
                    let member = key.written(self.text);
                    return Err(problem(self.at(key.offset()), ConfigProblem::UnknownMember { name, member }));
                }
            }
        }
        let address = match source {
            Some(address) => address,
            None => implied(&name, &at)?,
        };
        Ok(RequiredEntry { name, address, constraints, aliases, at })
    }

    fn aliases(&self, name: &str, value: TfValue<'_>) -> Result<Vec<String>, TfConfigError> {
        let wrong = |value: TfValue<'_>| {
            problem(self.at(value.offset()), ConfigProblem::InvalidAlias { name: name.to_owned() })
        };
        let items = value.list().ok_or_else(|| wrong(value))?;
        // The name alone is the default configuration, which is passed in any case.
        let alias = |item: TfValue<'_>| match item.reference() {
            Some(ConfigRef { name: local, alias, key: None }) if local == name => Ok(alias),
            _ => Err(wrong(item)),
        };
        items.into_iter().filter_map(|item| alias(item).transpose()).collect()
    }

    /// Spec: `OpenTofu` 1.12, `configs.decodeProviderBlock`.
    fn provider(&self, block: &TfBlock<'_>) -> Result<ProviderBlock, TfConfigError> {
        let name = block.labels.first().copied().unwrap_or_default().to_owned();
        let at = self.at(block.offset);
        normal_name(&name, &at)?;
        let alias = block.body.attribute("alias").map(|alias| self.string("alias", alias.value)).transpose()?;
        let version = match block.body.attribute("version") {
            Some(attribute) => {
                let there = self.at(attribute.value.offset());
                match attribute.value.constant() {
                    Some(Constant::Null) => None,
                    Some(Constant::Text(text) | Constant::Other(text)) => {
                        Some((parse_constraints(&text, &there)?, self.at(attribute.offset)))
                    }
                    None => return Err(problem(there, ConfigProblem::NotAString { name: "version".to_owned() })),
                }
            }
            None => None,
        };
        let several = block.body.attribute("for_each").is_some();
        let empty = block.body.names().iter().all(|name| matches!(*name, "alias" | "version" | "for_each"));
        Ok(ProviderBlock { name, alias, version, several, empty, at })
    }

    fn resource(&self, kind: &str, by: fn(String) -> UsedBy, block: &TfBlock<'_>) -> Result<Resource, TfConfigError> {
        let [resource_type, name] = block.labels[..] else {
            return Err(problem(
                self.at(block.offset),
                ConfigProblem::Syntax { message: format!("a {kind} block has two labels") },
            ));
        };
        let prefix = if kind == "resource" { String::new() } else { format!("{kind}.") };
        Ok(Resource {
            by: by(format!("{prefix}{resource_type}.{name}")),
            type_name: resource_type.to_owned(),
            provider: self.meta_provider(&block.body)?,
            at: self.at(block.offset),
        })
    }

    fn meta_provider(&self, body: &TfBody<'_>) -> Result<Option<ConfigRef>, TfConfigError> {
        body.attribute("provider").map(|attribute| self.reference("provider", attribute.value)).transpose()
    }

    fn reference(&self, argument: &str, value: TfValue<'_>) -> Result<ConfigRef, TfConfigError> {
        let at = self.at(value.offset());
        let Some(reference) = value.reference() else {
            return Err(problem(at, ConfigProblem::InvalidReference { argument: argument.to_owned() }));
        };
        normal_name(&reference.name, &at)?;
        Ok(reference)
    }

    /// `None` if `to` is missing or not an address; `OpenTofu` refuses that, and no provider can be reported from it.
    fn import(&self, block: &TfBlock<'_>) -> Result<Option<Import>, TfConfigError> {
        let Some(to) = block.body.attribute("to").and_then(|to| to.value.address()) else { return Ok(None) };
        let modules =
            to.chunks(2).take_while(|pair| pair.len() == 2 && pair.first().is_some_and(|step| step == "module"));
        let [type_name, _] = &to[modules.count() * 2..] else { return Ok(None) };
        Ok(Some(Import {
            type_name: type_name.clone(),
            in_module: to.first().is_some_and(|step| step == "module"),
            to: to.join("."),
            provider: self.meta_provider(&block.body)?,
            at: self.at(block.offset),
        }))
    }

    /// Spec: `OpenTofu` 1.12, `configs.decodeModuleBlock`.
    fn module(&self, block: &TfBlock<'_>) -> Result<ModuleCall, TfConfigError> {
        let source = match block.body.attribute("source").map(|source| source.value) {
            Some(value) => Some(match value.constant() {
                Some(Constant::Text(text)) => WrittenSource { text, template: None, at: self.at(value.offset()) },
                Some(_) => {
                    let name = "source".to_owned();
                    return Err(problem(self.at(value.offset()), ConfigProblem::NotAString { name }));
                }
                None => {
                    let (text, template) =
                        (value.written(self.text).trim().to_owned(), Some(value.template(self.text)));
                    WrittenSource { text, template, at: self.at(value.offset()) }
                }
            }),
            None => None,
        };
        let version = match block.body.attribute("version").map(|version| version.value.constant()) {
            None => WrittenVersion::Absent,
            Some(Some(Constant::Text(text))) => WrittenVersion::Text(text),
            Some(_) => WrittenVersion::Computed,
        };
        let mut repeated = ["count", "for_each", "depends_on"].into_iter();
        let repeated = repeated.find_map(|name| Some((name, self.at(block.body.attribute(name)?.offset))));
        let mut enabled = block.body.blocks("lifecycle", 0).into_iter();
        let enabled = enabled.find_map(|block| Some(("enabled", self.at(block.body.attribute("enabled")?.offset))));
        Ok(ModuleCall {
            name: block.labels.first().copied().unwrap_or_default().to_owned(),
            source,
            version,
            providers: self.passed(&block.body)?,
            arguments: self.templates(&block.body),
            repeated: repeated.or(enabled),
            at: self.at(block.offset),
        })
    }

    /// Spec: `OpenTofu` 1.12, `configs.decodeVariableBlock`.
    fn variable(&self, block: &TfBlock<'_>) -> InputVariable {
        let written = |name| block.body.attribute(name).map(|attribute| attribute.value.shown(self.text));
        InputVariable {
            name: label(block),
            description: text(block, "description"),
            type_text: written("type"),
            default: written("default"),
            value: block.body.attribute("default").map(|attribute| attribute.value.literal(self.text)),
            sensitive: truth(block, "sensitive"),
            ephemeral: truth(block, "ephemeral"),
            constant: truth(block, "const"),
            nullable: truth(block, "nullable"),
        }
    }

    /// The attributes of a body as templates, by name.
    fn templates(&self, body: &TfBody<'_>) -> BTreeMap<String, String> {
        let attributes = body.attributes().into_iter();
        attributes.map(|attribute| (attribute.name.to_owned(), attribute.value.template(self.text))).collect()
    }

    fn passed(&self, body: &TfBody<'_>) -> Result<Vec<Passed>, TfConfigError> {
        let Some(attribute) = body.attribute("providers") else { return Ok(Vec::new()) };
        let Some(pairs) = attribute.value.pairs() else {
            let argument = "providers".to_owned();
            return Err(problem(self.at(attribute.value.offset()), ConfigProblem::InvalidReference { argument }));
        };
        let mut passed: Vec<Passed> = Vec::new();
        for (key, value) in pairs {
            let at = self.at(key.offset());
            let (child, parent) = (self.reference("providers", key)?, self.reference("providers", value)?);
            if passed.iter().any(|earlier| earlier.child == child) {
                return Err(problem(at, ConfigProblem::PassedTwice { name: child.text() }));
            }
            passed.push(Passed { child, parent, at });
        }
        Ok(passed)
    }

    fn string(&self, name: &str, value: TfValue<'_>) -> Result<String, TfConfigError> {
        match value.constant() {
            Some(Constant::Text(text)) => Ok(text),
            _ => Err(problem(self.at(value.offset()), ConfigProblem::NotAString { name: name.to_owned() })),
        }
    }
}

fn output(block: &TfBlock<'_>) -> Output {
    Output { name: label(block), description: text(block, "description"), sensitive: truth(block, "sensitive") }
}

fn label(block: &TfBlock<'_>) -> String {
    block.labels.first().copied().unwrap_or_default().to_owned()
}

/// A text that needs no evaluation.
fn text(block: &TfBlock<'_>, name: &str) -> Option<String> {
    match block.body.attribute(name)?.value.constant()? {
        Constant::Text(text) => Some(text),
        Constant::Null | Constant::Other(_) => None,
    }
}

/// A truth value that needs no evaluation; any other expression may be true.
fn truth(block: &TfBlock<'_>, name: &str) -> Option<bool> {
    let value = block.body.attribute(name)?.value;
    Some(
        !matches!(value.constant(), Some(Constant::Null))
            && !matches!(value.constant(), Some(Constant::Other(text) | Constant::Text(text)) if text == "false"),
    )
}
