//! What several parts of a block say together.

use hcl_edit::Span as _;
use hcl_edit::structure::{Body, Structure};

use super::expressions::{computed, references};
use super::fault::ShapeFault;
use super::table::{LabelRule, MODULE_NAMES};
use super::types;
use super::values::is_identifier;
use crate::syntax::{Constant, TfAttribute, TfBlock, TfValue};

/// The faults of a block that are more than its arguments and blocks one by one.
pub(super) fn check(kind: &str, block: &TfBlock<'_>) -> Vec<ShapeFault> {
    match kind {
        "variable" => variable(block).into_iter().chain(deprecated(block)).collect(),
        "output" => deprecated(block).into_iter().collect(),
        "resource" | "data" | "ephemeral" | "module" => repeated(kind, block).into_iter().collect(),
        "provisioner" => provisioner(block),
        "import" => import(block).into_iter().collect(),
        "moved" => moved(block).into_iter().collect(),
        "provider_meta" => provider_meta(block),
        _ => Vec::new(),
    }
}

/// The labels of a block that cannot be names.
pub(super) fn labels(kind: &str, block: &TfBlock<'_>, rule: LabelRule) -> Vec<ShapeFault> {
    let fault = |label: &str| {
        if rule == LabelRule::Free {
            None
        } else if !is_identifier(label) {
            Some(ShapeFault::name(block.offset, label, &format!("cannot be the name of a `{kind}` block")))
        } else if rule == LabelRule::Variable && MODULE_NAMES.contains(&label) {
            let why = "cannot be the name of a variable, since it means something else in a `module` block";
            Some(ShapeFault::name(block.offset, label, why))
        } else {
            None
        }
    };
    block.labels.iter().filter_map(|label| fault(label)).collect()
}

/// The names of local values that cannot be names; only JSON can write them.
pub(super) fn local_names(block: &TfBlock<'_>) -> Vec<ShapeFault> {
    let names = block.body.attributes().into_iter().filter(|local| !is_identifier(local.name));
    names.map(|local| ShapeFault::name(local.offset, local.name, "cannot be the name of a local value")).collect()
}

/// Arguments that stand twice in one body of native syntax, at any depth.
pub(super) fn redefined(body: &Body, inside: &str, found: &mut Vec<ShapeFault>) {
    let mut names = std::collections::HashSet::new();
    for item in body {
        match item {
            Structure::Attribute(attribute) => {
                if !names.insert(attribute.key.as_str()) {
                    let offset = attribute.key.span().map_or(0, |span| span.start);
                    found.push(ShapeFault::twice(offset, attribute.key.as_str(), inside));
                }
            }
            Structure::Block(block) => redefined(&block.body, &format!("the `{}` block", block.ident.as_str()), found),
        }
    }
}

fn variable(block: &TfBlock<'_>) -> Vec<ShapeFault> {
    let mut found = Vec::new();
    let default = block.body.attribute("default");
    if let (Some(default), Some(wanted)) = (&default, block.body.attribute("type"))
        && let Ok(wanted) = types::constraint(wanted.value)
        && !types::fits(&wanted, default.value)
    {
        let message = "the `default` is not of the `type` of the variable".to_owned();
        found.push(ShapeFault::value(default.value.offset(), message, "change one of the two"));
    }
    let nullable = block.body.attribute("nullable");
    let never =
        nullable.is_some_and(|it| matches!(it.value.constant(), Some(Constant::Other(text)) if text == "false"));
    if let Some(default) = default.filter(|default| never && matches!(default.value.constant(), Some(Constant::Null))) {
        let message = "the `default` is `null`, which `nullable = false` forbids".to_owned();
        found.push(ShapeFault::value(default.value.offset(), message, "change one of the two"));
    }
    let Some(name) = block.labels.first() else { return found };
    for validation in block.body.blocks("validation", 0) {
        let Some(condition) = validation.body.attribute("condition") else { continue };
        if references(condition.value).is_some_and(|names| !names.roots.is_empty() && !names.variables.contains(*name))
        {
            let message = format!("the `condition` does not refer to `var.{name}`");
            found.push(ShapeFault::value(condition.value.offset(), message, "refer to the variable itself"));
        }
    }
    found
}

fn deprecated(block: &TfBlock<'_>) -> Option<ShapeFault> {
    let argument = block.body.attribute("deprecated")?;
    let empty = matches!(argument.value.constant(), Some(Constant::Text(text)) if text.trim().is_empty());
    let message = "`deprecated` is empty".to_owned();
    empty.then(|| ShapeFault::value(argument.value.offset(), message, "say what to use instead"))
}

/// Two of the arguments that say how many there are.
fn repeated(kind: &str, block: &TfBlock<'_>) -> Option<ShapeFault> {
    let lifecycle = block.body.blocks("lifecycle", 0);
    let enabled = lifecycle.iter().find_map(|lifecycle| lifecycle.body.attribute("enabled"));
    let given = [block.body.attribute("count"), block.body.attribute("for_each"), enabled];
    let given: Vec<_> = given.into_iter().flatten().collect();
    let [first, second, ..] = &given[..] else { return None };
    let message = format!("a `{kind}` block has either `{}` or `{}`", first.name, second.name);
    Some(ShapeFault::value(second.offset, message, "keep one of the two"))
}

fn provisioner(block: &TfBlock<'_>) -> Vec<ShapeFault> {
    const REMOVED: [&str; 3] = ["chef", "habitat", "puppet"];
    let mut found = Vec::new();
    if let Some(name) = block.labels.first().filter(|name| REMOVED.contains(name)) {
        let message = format!("the provisioner `{name}` does not exist any more");
        found.push(ShapeFault::value(block.offset, message, "use another one, such as `local-exec`"));
    }
    let when = block.body.attribute("when").map(|when| when.value);
    let destroys = match when {
        Some(TfValue::Native(hcl_edit::expr::Expression::Variable(word))) => word.as_str() == "destroy",
        Some(other) => matches!(other.constant(), Some(Constant::Text(text)) if text == "destroy"),
        None => false,
    };
    if !destroys {
        return found;
    }
    let known = ["self", "path", "terraform", "tofu", "count", "each"];
    for argument in block.body.attributes() {
        if matches!(argument.name, "when" | "on_failure" | "connection" | "_") {
            continue;
        }
        let Some(names) = references(argument.value).filter(|names| !names.names_of_its_own) else { continue };
        if let Some(other) = names.roots.iter().find(|root| !known.contains(&root.as_str())) {
            let message = format!("`{}` refers to `{other}`, which is not known at the end", argument.name);
            let instead = "refer to `self`, `count.index` or `each.key` alone, or run the provisioner at the beginning";
            found.push(ShapeFault::value(argument.value.offset(), message, instead));
        }
    }
    found
}

fn provider_meta(block: &TfBlock<'_>) -> Vec<ShapeFault> {
    let computed = block.body.attributes().into_iter().filter(|argument| computed(argument.value));
    let fault = |argument: TfAttribute<'_>| {
        let message = format!("`{}` needs variables or functions", argument.name);
        ShapeFault::value(argument.value.offset(), message, "write the value itself")
    };
    computed.map(fault).collect()
}

fn import(block: &TfBlock<'_>) -> Option<ShapeFault> {
    match (block.body.attribute("id"), block.body.attribute("identity")) {
        (None, None) => Some(ShapeFault::missing(block.offset, "id", "an `import` block")),
        (Some(_), Some(identity)) => {
            let message = "an `import` block has either `id` or `identity`".to_owned();
            Some(ShapeFault::value(identity.offset, message, "keep one of the two"))
        }
        _ => None,
    }
}

fn moved(block: &TfBlock<'_>) -> Option<ShapeFault> {
    let is_module = |name: &str| {
        let steps = block.body.attribute(name)?.value.address()?;
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        Some(
            steps.len() > 1
                && steps.len().is_multiple_of(2)
                && steps.chunks(2).all(|pair| pair.first() == Some(&"module")),
        )
    };
    if is_module("from")? == is_module("to")? {
        return None;
    }
    let message = "`from` and `to` are not both modules, and not both resources".to_owned();
    Some(ShapeFault::value(block.offset, message, "move a resource to a resource, and a module to a module"))
}
