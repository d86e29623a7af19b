//! Whether the blocks of a file have the shape that `OpenTofu` demands when it reads them: labels, arguments, blocks, names.
//!
//! ```text
//! table (what may be where) --+
//! items (one body, both syntaxes) --+--> here: a walk over the file --> findings
//! values, rules (types, expressions) --+
//! ```
//!
//! What every release of `OpenTofu` from 1.10 on refuses is a finding. What one of these releases or Terraform reads is accepted,
//! and so is what depends on a provider, a value or another file.

mod expressions;
mod fault;
mod items;
mod rules;
mod table;
mod types;
mod values;

use crate::facts::DeclaredName;
use crate::files::FileRole;
use crate::model::{ConfigFinding, Declared};
use crate::syntax::{TfAttribute, TfBlock, TfBody};
use fault::ShapeFault;
use items::ShapeItem;
use table::{ArgumentValue, BlockOccurs, BlockShape, OtherItems};

/// What `OpenTofu` refuses in the blocks of a file, in the order of the text.
///
/// Spec: `OpenTofu` 1.12, `configs.loadConfigFileBody` and what it calls; HCL 2, `Body.Content`.
pub(crate) fn findings(body: &TfBody<'_>, role: FileRole, at: impl Fn(usize) -> Declared) -> Vec<ConfigFinding> {
    let mut walk = ShapeWalk { role, found: Vec::new() };
    walk.items(body, &table::FILE, "a file", 0);
    if let TfBody::Native(body) = body {
        rules::redefined(body, "the file", &mut walk.found);
    }
    walk.found.sort_by_key(|fault| fault.offset);
    let finding = |ShapeFault { offset, code, message, instead }| ConfigFinding {
        code,
        refused: true,
        declared: at(offset),
        message,
        instead,
    };
    walk.found.into_iter().map(finding).collect()
}

/// The names that a file declares and that no other file of the module may declare again.
///
/// Spec: `OpenTofu` 1.12, `configs.Module.appendFile`.
pub(crate) fn names(body: &TfBody<'_>, at: impl Fn(usize) -> Declared) -> Vec<DeclaredName> {
    let mut found = Vec::new();
    let mut add = |space: &'static str, name: String, offset: usize| {
        found.push(DeclaredName { space, name, at: at(offset) });
    };
    for (kind, space) in [("variable", "the variable"), ("output", "the output"), ("check", "the check")] {
        for block in body.blocks(kind, 1) {
            add(space, block.labels.concat(), block.offset);
        }
    }
    for local in body.blocks("locals", 0).iter().flat_map(|block| block.body.attributes()) {
        add("the local value", local.name.to_owned(), local.offset);
    }
    for import in body.blocks("import", 0) {
        let to = import.body.attribute("to").filter(|to| values::has_no_keys(to.value));
        if let Some(steps) = to.and_then(|to| to.value.address()) {
            add("the `import` to", steps.join("."), import.offset);
        }
    }
    for terraform in body.blocks("terraform", 0) {
        for meta in terraform.body.blocks("provider_meta", 1) {
            add("`provider_meta` of", meta.labels.concat(), meta.offset);
        }
        for encryption in terraform.body.blocks("encryption", 0) {
            add("the block", "encryption".to_owned(), encryption.offset);
        }
    }
    found
}

struct ShapeWalk {
    role: FileRole,
    found: Vec<ShapeFault>,
}

impl ShapeWalk {
    /// Everything in a body; `inside` names it, with an article, and `offset` is where its block begins.
    fn items(&mut self, body: &TfBody<'_>, shape: &BlockShape, inside: &str, offset: usize) {
        let child = |kind: &str| shape.children.iter().find(|child| child.kind == kind);
        let mut seen = Vec::new();
        for item in items::of(body, |kind| child(kind).map(|child| child.shape.labels.len())) {
            match item {
                ShapeItem::Argument(argument) => {
                    self.argument(&argument, shape, inside, seen.contains(&argument.name));
                    seen.push(argument.name);
                }
                ShapeItem::Block(kind, block) => {
                    match child(kind) {
                        Some(child) => {
                            let again = seen.contains(&kind);
                            self.block(kind, &block, child, again, inside);
                        }
                        None if shape.others == OtherItems::Free => {}
                        None => self.found.push(ShapeFault::block(block.offset, kind, inside)),
                    }
                    seen.push(kind);
                }
                ShapeItem::Wrong(offset, kind, why) => {
                    let message = format!("a `{kind}` block in JSON {why}");
                    let labels = child(kind).map(|child| child.shape.labels).unwrap_or_default();
                    let fault = ShapeFault::labels(offset, kind, labels);
                    self.found.push(ShapeFault {
                        message,
                        instead: "write an object for each label, and one for the block".to_owned(),
                        ..fault
                    });
                }
            }
        }
        if self.role == FileRole::Adds {
            for name in shape.required.iter().filter(|name| !seen.contains(*name)) {
                self.found.push(ShapeFault::missing(offset, name, inside));
            }
        }
    }

    /// `again` says whether the body had an argument of this name before; only JSON lets that through.
    fn argument(&mut self, argument: &TfAttribute<'_>, shape: &BlockShape, inside: &str, again: bool) {
        let (name, offset) = (argument.name, argument.offset);
        if shape.reserved.contains(&name) {
            self.found.push(ShapeFault::misplaced(offset, name, &format!("cannot stand in {inside}")));
            return;
        }
        let known = shape.arguments.iter().find(|(known, _)| *known == name);
        match known {
            Some((_, ArgumentValue::References)) if self.role == FileRole::Overrides && !values::is_empty(argument) => {
                let why = "cannot be overridden";
                self.found.push(ShapeFault::misplaced(offset, name, why));
            }
            Some((_, wanted)) => self.found.extend(values::check(argument, *wanted)),
            None if shape.others == OtherItems::Refused => self.found.push(ShapeFault::argument(offset, name, inside)),
            None => {}
        }
        let json = matches!(argument.value, crate::syntax::TfValue::Json(_));
        if again && json && (known.is_some() || shape.others == OtherItems::Arguments) {
            self.found.push(ShapeFault::twice(offset, name, inside));
        }
    }

    fn block(&mut self, kind: &str, block: &TfBlock<'_>, child: &table::ChildBlock, again: bool, inside: &str) {
        let shape = child.shape;
        let refused = match child.occurs {
            BlockOccurs::Often => None,
            BlockOccurs::Once => again.then(|| ShapeFault::twice(block.offset, kind, inside)),
            BlockOccurs::Never => Some(ShapeFault::block(block.offset, kind, inside)),
            BlockOccurs::NotInOverride => (self.role == FileRole::Overrides).then(|| {
                let fault = ShapeFault::block(block.offset, kind, "an override file");
                ShapeFault { instead: "move it into a file without `override` in its name".to_owned(), ..fault }
            }),
        };
        if let Some(fault) = refused {
            self.found.push(fault);
            return;
        }
        if block.labels.len() != shape.labels.len() {
            self.found.push(ShapeFault::labels(block.offset, kind, shape.labels));
            return;
        }
        self.found.extend(rules::labels(kind, block, shape.names));
        if kind == "locals" && shape.others == OtherItems::Arguments {
            self.found.extend(rules::local_names(block));
        }
        let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
        self.items(&block.body, shape, &format!("{article} `{kind}` block"), block.offset);
        self.found.extend(rules::check(kind, block));
    }
}
