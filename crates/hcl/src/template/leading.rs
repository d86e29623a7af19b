//! What the text before the first `/` of a result can hold.

use super::tree::{Expr, ExprKind};
use super::value::TemplateValue;

/// Calls `found` with every name whose value can stand before the first `/` of the text. It may name more than there
/// are. The result is whether a `/` has come for certain.
pub(super) fn names_before_slash<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a str)) -> bool {
    match &expr.kind {
        ExprKind::Literal(TemplateValue::String(text)) => text.contains('/'),
        ExprKind::Literal(_) => false,
        ExprKind::Template(parts) => parts.iter().any(|part| names_before_slash(part, found)),
        // What a condition asks for is not written out.
        ExprKind::Conditional { positive, negative, .. } => {
            let positive = names_before_slash(positive, found);
            names_before_slash(negative, found) && positive
        }
        // A key chooses, and only what it chooses is written out.
        ExprKind::Step { source, .. } => all_names(source, found),
        _ => all_names(expr, found),
    }
}

fn all_names<'a>(expr: &'a Expr, found: &mut dyn FnMut(&'a str)) -> bool {
    expr.names(&mut |name, _| found(name));
    false
}

#[cfg(test)]
mod tests {
    use crate::template::Template;

    #[track_caller]
    fn check(template: &str, want: &str) {
        let template = Template::parse(template).expect("a template");
        assert_eq!(template.names_before_slash().into_iter().collect::<Vec<_>>().join(" "), want);
    }

    #[test]
    fn the_text_before_the_slash_holds_what_is_written_out_there() {
        check("a.test/${x}", "");
        check("${x}/${y}", "x");
        check("${x}.${y}:5000/${z}", "x y");
        check("a.test${x}", "x");
        check("%{if x == \"b\"}a.test%{else}${y}%{endif}/${z}", "y");
        check("%{if x == \"b\"}a.test/b%{else}c.test/d%{endif}${z}", "");
        check("%{if x == \"b\"}a.test/b%{endif}${z}", "z");
        check("${x == \"b\" ? y : \"a.test\"}/${z}", "y");
        check("${(x)}/y", "x");
        check("${{\"b\" = \"a.test\"}[x]}/${y}", "");
        check("${{\"b\" = y}[x]}/${z}", "y");
        check("${x}", "x");
    }
}
