//! HCL 2's string templates, as people write them for addresses.
//!
//! ```text
//! text --hcl-edit--> its tree --tree.rs--> our tree --evaluate, with the values of names--> Value
//!
//! ghcr.io/acme/${namespace}-${type}                        names
//! %{ if hostname == "example.com" }a%{ else }b%{ endif }   conditions
//! ${ {"example.com" = "a"}[hostname] }                     objects, lists, operators
//! ```
//!
//! A template means here what it means to HCL's own library, or it is refused. On purpose, this crate refuses `for`,
//! splats, arithmetic beyond whole numbers, repeated keys and deep nesting (`not-supported`); one run reports one fault.
//!
//! Spec: HCL 2.20, hclsyntax specification; cty 1.18 for values. Measured cases: `testdata/hcl2`.

mod eval;
mod fault;
mod leading;
mod native;
mod pieces;
#[cfg(test)]
mod tests;
mod tree;
mod value;

use std::collections::BTreeSet;
use std::ops::Range;

pub use fault::TemplateFault;
pub use native::native_text;
pub use pieces::{NoPieces, TemplatePiece};
pub use value::{TemplateValue, Type};

use tree::Expr;

/// A template that can be evaluated.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    root: Expr,
}

/// A name whose value comes from outside the template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    pub name: String,
    /// Its bytes in the template.
    pub span: Range<usize>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// If its syntax is wrong, or beyond what this crate evaluates.
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        Ok(Self { source: text.to_owned(), root: tree::read(text)? })
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names in their order, each as often as it occurs.
    pub fn variables(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        self.root.names(&mut |name, span| found.push(Variable { name: name.to_owned(), span: span.clone() }));
        found
    }

    /// The names whose values can stand before the first `/` of the result; perhaps also one that cannot.
    pub fn names_before_slash(&self) -> BTreeSet<&str> {
        let mut names = BTreeSet::new();
        leading::names_before_slash(&self.root, &mut |name| {
            names.insert(name);
        });
        names
    }

    /// Evaluates the template. `scope` gives the values of names.
    ///
    /// A template of one interpolation alone gives that value, of whatever type; every other one gives a text.
    ///
    /// # Errors
    /// The first fault.
    pub fn evaluate(&self, scope: &dyn Fn(&str) -> Option<TemplateValue>) -> Result<TemplateValue, TemplateFault> {
        eval::eval(&self.root, scope)
    }
}
