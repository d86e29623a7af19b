//! What the source of a module is if it is an expression: the values that `OpenTofu` knows before anything is
//! installed.
//!
//! Functions and `for` are not evaluated here. What depends on them, on a variable without a value, or on one that is
//! sensitive, ephemeral or declared `const = false`, is unknown.
//!
//! Spec: `OpenTofu` 1.12, `configs.staticScopeData`, `command.Meta.collectVariableValues`; measured with 1.12.6.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use hcl_edit::expr::{Expression, ObjectKey};
use tofu_oci_hcl::template::{Template, TemplateValue, Type};

use crate::error::TfConfigError;
use crate::facts::{InputVariable, ModuleCall};
use crate::files;
use crate::json;
use crate::model::ConfigFolder;
use crate::module::ModuleFacts;
use crate::state::workspace;
use crate::syntax::{self, TfBody};
use tofu_oci_hcl::HclSyntax;

/// The longest text of an expression that is evaluated, and the largest value that is kept, in bytes.
const LIMIT: usize = 16 << 10;
/// The most bytes of defaults that `optional` adds to a value.
const DEFAULTS: usize = 1 << 20;
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
    /// What the user gives the root module, once it is asked for.
    given: OnceCell<Result<BTreeMap<String, String>, TfConfigError>>,
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

    /// Whether a value that the user gives was asked for.
    pub(crate) fn into_asked(self) -> Result<bool, TfConfigError> {
        self.given.into_inner().transpose().map(|given| given.is_some())
    }

    /// The text that a template is; `None` if that is not known.
    pub(crate) fn text(&self, template: &str) -> Option<String> {
        match self.value(template, 0).into_text() {
            Ok(TemplateValue::String(text)) => Some(text),
            _ => None,
        }
    }

    fn value(&self, template: &str, depth: usize) -> TemplateValue {
        if template.len() > LIMIT || depth > DEPTH {
            return TemplateValue::Unknown;
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
        value.ok().filter(|value| weight(value) <= LIMIT).unwrap_or(TemplateValue::Unknown)
    }

    fn local(&self, name: &str, depth: usize) -> TemplateValue {
        if let Some(value) = self.locals.borrow().get(name) {
            return value.clone();
        }
        let Some(template) = self.module.locals.get(name) else { return TemplateValue::Unknown };
        // Until it is known; for ever, if it depends on itself.
        self.locals.borrow_mut().insert(name.to_owned(), TemplateValue::Unknown);
        let value = self.value(template, depth + 1);
        self.locals.borrow_mut().insert(name.to_owned(), value.clone());
        value
    }

    fn variable(&self, name: &str, depth: usize) -> TemplateValue {
        let Some(variable) = self.module.variables.get(name).filter(|variable| variable.is_early()) else {
            return TemplateValue::Unknown;
        };
        let default = || variable.value.as_ref().map_or(TemplateValue::Unknown, |value| constant(value));
        let given = match self.caller {
            Some((caller, call)) => call.arguments.get(name).map(|argument| caller.value(argument, depth + 1)),
            None => match self.given.get_or_init(|| given(&self.folder.dir)) {
                Err(_) => return TemplateValue::Unknown,
                Ok(given) => given
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
            Some(of) => {
                let (of, mut left) = (hcl_edit::parser::parse_expr(of), DEFAULTS);
                return of.map_or(value.clone(), |of| completed(&of, value, &mut left));
            }
            None => return value,
        };
        value.into_type(of).unwrap_or(TemplateValue::Unknown)
    }

    /// Without `path.cwd`: `OpenTofu` takes a source that begins with it for a module from elsewhere.
    fn path(&self) -> TemplateValue {
        let below = self.below.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>();
        let module = if below.is_empty() { ".".to_owned() } else { below.join("/") };
        object([("module", TemplateValue::String(module)), ("root", TemplateValue::String(".".to_owned()))])
    }

    fn program(&self) -> TemplateValue {
        let name = workspace(self.folder).map_or(TemplateValue::Unknown, TemplateValue::String);
        object([("workspace", name)])
    }
}

fn object<const N: usize>(members: [(&str, TemplateValue); N]) -> TemplateValue {
    TemplateValue::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// What a template without names is.
pub(crate) fn constant(template: &str) -> TemplateValue {
    if template.len() > LIMIT {
        return TemplateValue::Unknown;
    }
    Template::parse(template).and_then(|template| template.evaluate(&|_| None)).unwrap_or(TemplateValue::Unknown)
}

/// The value of a variable of the environment: a text for the simple types, else an expression.
fn from_environment(variable: &InputVariable, text: &str) -> TemplateValue {
    match variable.type_text.as_deref() {
        None | Some("string" | "bool" | "number") => TemplateValue::String(text.to_owned()),
        Some(_) => constant(&format!("${{{text}}}")),
    }
}

/// A value of a type, with the attributes that `optional` adds. `left` is how many bytes of defaults may still be added.
///
/// Spec: HCL 2, `typeexpr.Defaults.Apply`.
fn completed(of: &Expression, value: TemplateValue, left: &mut usize) -> TemplateValue {
    let Some((name, inside, _)) = constructor(of) else { return value };
    match (name, inside, value) {
        ("object", Expression::Object(types), TemplateValue::Object(mut values)) => {
            for (key, of) in types {
                let (ObjectKey::Ident(key) | ObjectKey::Expression(Expression::Variable(key))) = key else { continue };
                let given = values.remove(key.as_str());
                let value = match (constructor(of.expr()), given) {
                    (Some(("optional", of, default)), given) => {
                        let absent = || default.map_or(TemplateValue::Null, |written| default_of(written, left));
                        let given = given.filter(|given| !given.is_null()).unwrap_or_else(absent);
                        completed(of, given, left)
                    }
                    (_, Some(given)) => completed(of.expr(), given, left),
                    (_, None) => continue,
                };
                values.insert(key.as_str().to_owned(), value);
            }
            TemplateValue::Object(values)
        }
        ("map", of, TemplateValue::Object(values)) => {
            TemplateValue::Object(values.into_iter().map(|(key, value)| (key, completed(of, value, left))).collect())
        }
        ("tuple", Expression::Array(types), TemplateValue::Tuple(values)) => {
            TemplateValue::Tuple(types.iter().zip(values).map(|(of, value)| completed(of, value, left)).collect())
        }
        ("list" | "set", of, TemplateValue::Tuple(values)) => {
            TemplateValue::Tuple(values.into_iter().map(|value| completed(of, value, left)).collect())
        }
        (_, _, value) => value,
    }
}

fn default_of(written: &Expression, left: &mut usize) -> TemplateValue {
    let template = format!("${{{written}}}");
    match left.checked_sub(template.len()) {
        Some(rest) => {
            *left = rest;
            constant(&template)
        }
        None => TemplateValue::Unknown,
    }
}

/// The name and the arguments of `list(…)`, `optional(…, …)` and the like.
fn constructor(of: &Expression) -> Option<(&str, &Expression, Option<&Expression>)> {
    let Expression::FuncCall(call) = of else { return None };
    let mut arguments = call.args.iter();
    Some((call.name.name.as_str(), arguments.next()?, arguments.next()))
}

/// The values of the files that `tofu` reads by itself, as templates; the later file wins.
fn given(dir: &Path) -> Result<BTreeMap<String, String>, TfConfigError> {
    let names = files::names(dir)?.unwrap_or_default();
    let is_auto = |name: &&String| name.ends_with(".auto.tfvars") || name.ends_with(".auto.tfvars.json");
    let first = ["terraform.tfvars", "terraform.tfvars.json"].into_iter();
    let mut found = BTreeMap::new();
    for name in first.chain(names.iter().filter(is_auto).map(String::as_str)) {
        let path = dir.join(name);
        let Some(text) = files::source(&path)? else { continue };
        let mut add = |body: &TfBody<'_>, text: &str| {
            let values = body.attributes().into_iter();
            found.extend(values.map(|value| (value.name.to_owned(), value.value.literal(text))));
        };
        match files::syntax(&path) {
            HclSyntax::Native => {
                let text = text.trim_start_matches('\u{feff}');
                add(&TfBody::Native(&syntax::parse(&path, text)?), text);
            }
            HclSyntax::Json => add(&TfBody::Json(json::parse(&path, &text)?.objects()), &text),
        }
    }
    Ok(found)
}

/// How much memory a value takes, about.
fn weight(value: &TemplateValue) -> usize {
    match value {
        TemplateValue::String(text) => text.len(),
        TemplateValue::Tuple(items) => items.iter().map(|item| 8 + weight(item)).sum(),
        TemplateValue::Object(items) => items.iter().map(|(name, value)| name.len() + weight(value)).sum(),
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
