//! What is known before anything is installed: the values that `OpenTofu` evaluates for the sources of modules.
//!
//! Functions and `for` are not evaluated here. What depends on them, on a variable without a value, or on one that is
//! sensitive, ephemeral or declared `const = false`, is unknown.
//!
//! Spec: `OpenTofu` 1.12, `configs.staticScopeData`, `command.Meta.collectVariableValues`; measured with 1.12.6.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_hcl::template::{Template, TemplateValue, Type};

use crate::facts::{InputVariable, ModuleCall};
use crate::files;
use crate::json;
use crate::model::ConfigFolder;
use crate::module::ModuleFacts;
use crate::state::workspace;
use crate::syntax::TfBody;
use tofu_oci_hcl::HclSyntax;

/// The longest text of an expression that is evaluated, and the largest value that is kept, in bytes.
const LIMIT: usize = 16 << 10;
/// The longest chain of names that refer to each other.
const DEPTH: usize = 50;

/// The names of one module.
pub(crate) struct EarlyScope<'a> {
    folder: &'a ConfigFolder,
    module: &'a ModuleFacts,
    /// The folder of the module, seen from the root's.
    below: &'a Path,
    /// The names of the calling module, and the call; `None` for the root.
    caller: Option<(&'a EarlyScope<'a>, &'a ModuleCall)>,
    /// What the user gives the root module; `None` if a file of it cannot be read.
    given: OnceCell<Option<BTreeMap<String, String>>>,
    locals: RefCell<BTreeMap<String, TemplateValue>>,
}

impl<'a> EarlyScope<'a> {
    pub(crate) fn of_root(folder: &'a ConfigFolder, module: &'a ModuleFacts) -> Self {
        let (given, locals) = (OnceCell::new(), RefCell::default());
        Self { folder, module, below: Path::new(""), caller: None, given, locals }
    }

    /// The names of a module that this one calls.
    pub(crate) fn of_called<'b>(
        &'b self,
        call: &'b ModuleCall,
        module: &'b ModuleFacts,
        below: &'b Path,
    ) -> EarlyScope<'b> {
        let (given, locals) = (OnceCell::new(), RefCell::default());
        EarlyScope { folder: self.folder, module, below, caller: Some((self, call)), given, locals }
    }

    /// The text that a template is; `None` if that is not known.
    pub(crate) fn text(&self, template: &str) -> Option<String> {
        match self.value(template, 0).into_text() {
            Ok(TemplateValue::String(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, template: &str, depth: usize) -> TemplateValue {
        if template.len() > LIMIT || depth > DEPTH || words(template).any(|word| word == "for") {
            return TemplateValue::ANY;
        }
        let object = |root: &str, value: &dyn Fn(&str) -> TemplateValue| {
            let names = members(template, root);
            TemplateValue::Object(names.map(|name| (name.to_owned(), value(name))).collect())
        };
        let variables = object("var", &|name| self.variable(name, depth));
        let locals = object("local", &|name| self.local(name, depth));
        let scope = |name: &str| match name {
            "var" => Some(variables.clone()),
            "local" => Some(locals.clone()),
            "path" => Some(self.path()),
            "terraform" | "tofu" => Some(self.program()),
            _ => None,
        };
        let value = Template::parse(template).and_then(|template| template.evaluate(&scope));
        value.ok().filter(|value| weight(value) <= LIMIT).unwrap_or(TemplateValue::ANY)
    }

    fn local(&self, name: &str, depth: usize) -> TemplateValue {
        if let Some(value) = self.locals.borrow().get(name) {
            return value.clone();
        }
        let Some(template) = self.module.locals.get(name) else { return TemplateValue::ANY };
        // Until it is known; for ever, if it depends on itself.
        self.locals.borrow_mut().insert(name.to_owned(), TemplateValue::ANY);
        let value = self.value(template, depth + 1);
        self.locals.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn variable(&self, name: &str, depth: usize) -> TemplateValue {
        let Some(variable) = self.module.variables.get(name).filter(|variable| variable.is_early()) else {
            return TemplateValue::ANY;
        };
        let default = || variable.value.as_ref().map_or(TemplateValue::ANY, |value| constant(value));
        let given = match self.caller {
            Some((caller, call)) => call.arguments.get(name).map(|argument| caller.value(argument, depth + 1)),
            None => match self.given.get_or_init(|| given(&self.folder.dir)) {
                None => return TemplateValue::ANY,
                Some(given) => given
                    .get(name)
                    .map(|value| constant(value))
                    .or_else(|| Some(from_environment(variable, self.folder.variables.get(name)?))),
            },
        };
        let value = given.unwrap_or_else(default);
        let value = if value.is_null() && variable.nullable == Some(false) { default() } else { value };
        let of = match variable.type_text.as_deref() {
            Some("string") => Type::String,
            Some("bool") => Type::Bool,
            Some("number") => Type::Number,
            _ => return value,
        };
        value.into_type(&of).unwrap_or(TemplateValue::ANY)
    }

    /// Without `path.cwd`: `OpenTofu` takes a source that begins with it for a module from elsewhere.
    fn path(&self) -> TemplateValue {
        let below = self.below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
        let module = if below.is_empty() { ".".to_owned() } else { below.join("/") };
        object([("module", TemplateValue::String(module)), ("root", TemplateValue::String(".".to_owned()))])
    }

    fn program(&self) -> TemplateValue {
        let name = workspace(self.folder).map_or(TemplateValue::ANY, TemplateValue::String);
        object([("workspace", name)])
    }
}

fn object<const N: usize>(members: [(&str, TemplateValue); N]) -> TemplateValue {
    TemplateValue::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What a template without names is.
fn constant(template: &str) -> TemplateValue {
    if template.len() > LIMIT || words(template).any(|word| word == "for") {
        return TemplateValue::ANY;
    }
    Template::parse(template).and_then(|template| template.evaluate(&|_| None)).unwrap_or(TemplateValue::ANY)
}

/// The value of a variable of the environment: a text for the simple types, else an expression.
fn from_environment(variable: &InputVariable, text: &str) -> TemplateValue {
    match variable.type_text.as_deref() {
        None | Some("string" | "bool" | "number") => TemplateValue::String(text.to_owned()),
        Some(_) => constant(&format!("${{{text}}}")),
    }
}

/// The values of the files that `tofu` reads by itself, as templates; the later file wins.
fn given(dir: &Path) -> Option<BTreeMap<String, String>> {
    let names = files::names(dir).ok()?.unwrap_or_default();
    let is_auto = |name: &&String| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
    let first = ["terraform.tfvars", "terraform.tfvars.json"].into_iter();
    let mut found = BTreeMap::new();
    for name in first.chain(names.iter().filter(is_auto).map(String::as_str)) {
        let path = dir.join(name);
        let Some(text) = files::text(&path, files::WRITTEN).ok()? else { continue };
        let mut add = |body: &TfBody<'_>| {
            let values = body.attributes().into_iter();
            found.extend(values.map(|value| (value.name.to_owned(), value.value.template(&text))));
        };
        match files::syntax(&path) {
            HclSyntax::Native => add(&TfBody::Native(&hcl_edit::parser::parse_body(&text).ok()?)),
            HclSyntax::Json => add(&TfBody::Json(json::parse(&path, &text).ok()?.objects())),
        }
    }
    Some(found)
}

/// How much memory a value takes, about.
fn weight(value: &TemplateValue) -> usize {
    match value {
        TemplateValue::String(text) => text.len(),
        TemplateValue::Tuple(items) | TemplateValue::List(_, items) => items.iter().map(|item| 8 + weight(item)).sum(),
        TemplateValue::Object(items) | TemplateValue::Map(_, items) => {
            items.iter().map(|(name, value)| name.len() + weight(value)).sum()
        }
        _ => 8,
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-')
        .filter(|word| !word.is_empty())
}

/// The names after `ROOT.`; perhaps also some that a text has by chance.
fn members<'t>(text: &'t str, root: &'t str) -> impl Iterator<Item = &'t str> {
    text.match_indices(root).filter_map(move |(at, _)| {
        let after = text[at + root.len()..].trim_start().strip_prefix('.')?;
        words(after.trim_start()).next()
    })
}
