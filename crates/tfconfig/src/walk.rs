//! From the root module to all its modules.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use tofu_oci_hcl::template::TemplateValue;
use tofu_oci_types::{LocalModulePath, ModuleSource, masked};

use crate::early::{EarlyScope, constant};
use crate::error::{ConfigProblem, TfConfigError};
use crate::facts::problem;
use crate::files::{self, clean};
use crate::json::{self, TfJsonKind};
use crate::model::{ConfigFolder, Declared, MissingModule};
use crate::module::{self, ModuleFacts};

/// More calls than this are a mistake: ten modules that call each other twice already make a thousand.
const LIMIT: usize = 5000;
/// Modules below each other; every program that walks them has an end to its stack.
const DEPTH: usize = 100;

/// One call of a module, or the root.
#[derive(Debug, Default)]
pub(crate) struct CallNode {
    /// The names of the calls on the way, joined by dots.
    pub(crate) key: String,
    /// The same as programs write it: `module.a.module.b`, or `test.FILE.run.RUN`.
    pub(crate) path: String,
    /// The name of the call.
    pub(crate) name: String,
    pub(crate) source: String,
    /// The folder, the root's in front as it was given.
    pub(crate) dir: PathBuf,
    pub(crate) called: Option<Declared>,
    pub(crate) module: Rc<ModuleFacts>,
    pub(crate) children: Vec<CallNode>,
}

impl CallNode {
    /// Whether it is a test file.
    pub(crate) fn is_test(&self) -> bool {
        self.called.is_none() && !self.key.is_empty()
    }
}

/// All modules of a configuration.
#[derive(Debug)]
pub(crate) struct WalkedModules {
    pub(crate) root: CallNode,
    pub(crate) missing: Vec<MissingModule>,
    pub(crate) by_variables: bool,
}

/// The modules of a configuration, those that its tests run among them.
///
/// # Errors
/// What cannot be read, with its place; a folder without a configuration.
pub(crate) fn walk(folder: &ConfigFolder) -> Result<WalkedModules, TfConfigError> {
    let installed = manifest(&folder.data_dir)?;
    let dir = &folder.dir;
    let mut walk =
        ModuleWalk { root: dir, installed, read: BTreeMap::new(), calls: 0, chain: Vec::new(), missing: Vec::new() };
    let module = walk.read(dir)?.ok_or_else(|| TfConfigError::NoConfiguration { dir: dir.clone() })?;
    let mut tests = Vec::new();
    let scope = EarlyScope::of_root(folder, &module);
    if let Some(below) = &folder.tests {
        for path in files::tests(dir, below)? {
            tests.push(walk.test(&path, &module, &scope)?);
        }
    }
    let root = CallNode { module: Rc::clone(&module), ..CallNode::default() };
    let mut root = walk.node(root, Path::new(""), &scope)?;
    root.children.splice(0..0, tests);
    let by_variables = scope.into_asked()? || walk.missing.iter().any(|module| module.is_computed);
    Ok(WalkedModules { root, missing: walk.missing, by_variables })
}

/// Where `tofu init` has put modules: `modules/modules.json` of the data directory.
fn manifest(data_dir: &Path) -> Result<BTreeMap<String, PathBuf>, TfConfigError> {
    let path = data_dir.join("modules/modules.json");
    let Some(text) = files::text(&path, files::WRITTEN)? else { return Ok(BTreeMap::new()) };
    let root = json::parse(&path, &text)?;
    let mut installed = BTreeMap::new();
    if let Some(TfJsonKind::Array(entries)) = root.member("Modules").map(|modules| &modules.kind) {
        for entry in entries {
            let text = |name| entry.member(name).and_then(|value| value.as_str());
            if let (Some(key), Some(dir)) = (text("Key"), text("Dir")) {
                installed.insert(key.to_owned(), PathBuf::from(dir));
            }
        }
    }
    Ok(installed)
}

struct ModuleWalk<'a> {
    root: &'a Path,
    installed: BTreeMap<String, PathBuf>,
    /// What was read already, by folder.
    read: BTreeMap<PathBuf, Option<Rc<ModuleFacts>>>,
    calls: usize,
    /// The folders on the way from the root: as they are, and for people.
    chain: Vec<(PathBuf, PathBuf)>,
    missing: Vec<MissingModule>,
}

impl ModuleWalk<'_> {
    fn read(&mut self, dir: &Path) -> Result<Option<Rc<ModuleFacts>>, TfConfigError> {
        if let Some(module) = self.read.get(dir) {
            return Ok(module.clone());
        }
        let module = module::read(dir)?;
        // A folder without a configuration is a module that requires nothing.
        let is_empty = module.is_none() && dir != self.root && dir.is_dir();
        let module = module.or_else(|| is_empty.then(ModuleFacts::default)).map(Rc::new);
        self.read.insert(dir.to_owned(), module.clone());
        Ok(module)
    }

    /// A test file, by its path in the folder of the root module.
    ///
    /// Spec: `OpenTofu` 1.12, `configs.buildTestModules`: the keys of the modules that it runs. Their sources know no names.
    fn test(&mut self, path: &Path, root: &ModuleFacts, scope: &EarlyScope<'_>) -> Result<CallNode, TfConfigError> {
        let source = path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/");
        let key = format!("test.{}", source.trim_end_matches(".tftest.hcl").replace('/', "."));
        let mut module = module::read_test(&self.root.join(path), root)?;
        for source in module.calls.values_mut().filter_map(|call| call.source.as_mut()) {
            if let Some(template) = source.template.take() {
                let TemplateValue::String(text) = constant(&template) else {
                    let name = "source".to_owned();
                    return Err(problem(source.at.clone(), ConfigProblem::NotAString { name }));
                };
                source.text = text;
            }
        }
        let test = CallNode { path: key.clone(), key, source, module: Rc::new(module), ..CallNode::default() };
        // What a run sets, the root module's names say.
        self.node(test, Path::new(""), scope)
    }

    /// The same with its folder and the modules below it. `below` is the folder as seen from the root's.
    fn node(&mut self, mut call: CallNode, below: &Path, scope: &EarlyScope<'_>) -> Result<CallNode, TfConfigError> {
        self.calls += 1;
        // An empty path would only add a separator.
        call.dir = match below.as_os_str().is_empty() {
            _ if call.is_test() => self.root.join(&call.source),
            true => self.root.to_owned(),
            false => self.root.join(below),
        };
        let dir = &call.dir;
        let real = std::fs::canonicalize(dir).unwrap_or_else(|_| dir.clone());
        if let Some(at) = call.called.clone() {
            if let Some(first) = self.chain.iter().position(|(earlier, _)| *earlier == real) {
                let names = self.chain.iter().skip(first).map(|(_, dir)| dir).chain([dir]);
                let chain = names.map(|dir| format!("`{}`", dir.display())).collect();
                return Err(problem(at, ConfigProblem::ModuleLoop { chain }));
            }
            if self.chain.len() > DEPTH {
                return Err(problem(at, ConfigProblem::ModulesTooDeep { limit: DEPTH }));
            }
            if self.calls > LIMIT {
                return Err(problem(at, ConfigProblem::TooManyModules { limit: LIMIT }));
            }
        }
        self.chain.push((real, dir.clone()));
        for (name, call_below) in &Rc::clone(&call.module).calls {
            let dot = if call.key.is_empty() { "" } else { "." };
            let key = format!("{}{dot}{name}", call.key);
            let path = format!("{}{dot}{}.{name}", call.path, if call.is_test() { "run" } else { "module" });
            // OpenTofu refuses a call without a source; there is nothing to look into.
            let Some(source) = &call_below.source else { continue };
            let known = match &source.template {
                Some(template) => scope.text(template),
                None => Some(source.text.clone()),
            };
            let local = known.as_deref().and_then(local);
            let shown = match &known {
                Some(known) if local.is_some() => known.clone(),
                _ => masked(&source.text),
            };
            let child_dir = match (&local, self.installed.get(&key)) {
                (Some(path), _) => Some(clean(&below.join(path.as_str()))),
                (None, Some(installed)) => Some(clean(installed)),
                (None, None) => None,
            };
            let child = match &child_dir {
                Some(child) => self.read(&self.root.join(child))?,
                None => None,
            };
            match (child_dir, child) {
                (Some(child_dir), Some(module)) => {
                    let names = scope.of_called(call_below, &module, &child_dir);
                    let (name, called, module) = (name.clone(), Some(source.at.clone()), Rc::clone(&module));
                    let child = CallNode { key, path, name, source: shown, called, module, ..CallNode::default() };
                    call.children.push(self.node(child, &child_dir, &names)?);
                }
                (_, None) if local.is_some() => {
                    let problem_here = ConfigProblem::ModuleMissing { path: shown };
                    return Err(problem(source.at.clone(), problem_here));
                }
                _ => {
                    let (is_computed, declared) = (known.is_none(), source.at.clone());
                    self.missing.push(MissingModule { key, path, source: shown, is_computed, declared });
                }
            }
        }
        self.chain.pop();
        Ok(call)
    }
}

/// The folder that a source names, if it is one of this configuration.
fn local(source: &str) -> Option<LocalModulePath> {
    match source.parse() {
        Ok(ModuleSource::Local(path)) => Some(path),
        _ => None,
    }
}
