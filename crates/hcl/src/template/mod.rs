//! HCL 2's string templates, worked out.
//!
//! ```text
//! text --lexer--> tokens --parser--> tree --evaluate, with the values of names--> Value
//!
//! ghcr.io/acme/${namespace}-${type}                        names
//! %{ if hostname == "example.com" }a%{ else }b%{ endif }   directives
//! ${ {"example.com" = "a"}[hostname] }                     expressions: operators, objects, lists, for, splats
//! ```
//!
//! Everything of the expression language but functions: none can be called. What is accepted, what comes out and the
//! code of the first fault are those of HCL's own library. Different on purpose: more than 100 levels of nesting (or
//! links of one chain) are refused, and so are numbers beyond `10^4000`.
//!
//! Spec: HCL 2.20, hclsyntax specification; cty 1.18 for values. Measured cases: `testdata/hcl2`.

mod access;
mod ast;
mod collection;
mod convert;
mod eval;
mod expression;
mod fault;
mod iterate;
mod lexer;
mod literal;
mod number;
mod operate;
mod parser;
mod parts;
mod scope;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::ops::Range;

pub use fault::TemplateFault;
pub use number::Number;
pub use value::{TemplateValue, Type};

use ast::Expr;
use parser::TemplateParser;
use scope::TemplateScope;
use token::TemplateTokenKind;

/// A template that can be evaluated.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    root: Expr,
}

/// A name that a template takes its value of from outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// Where it stands, in bytes.
    pub span: Range<usize>,
}

impl Template {
    /// Reads a template.
    ///
    /// # Errors
    /// The faults of its syntax, all that HCL reports.
    pub fn parse(text: &str) -> Result<Self, TemplateFault> {
        let tokens = lexer::tokens(text);
        let misplaced = lexer::misplaced(text, &tokens);
        let mut parser = TemplateParser::new(text, tokens);
        let root = parser.template(TemplateTokenKind::End, None, false);
        let mut faults = misplaced;
        faults.append(&mut parser.faults);
        match TemplateFault::first(faults) {
            Some(fault) => Err(fault),
            None => Ok(Self { source: text.to_owned(), root }),
        }
    }

    /// The text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The names in the order in which they stand, each as often as it stands there. A name that a `for` of the
    /// template itself binds is none of them.
    pub fn variables(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        ast::free_names(&self.root, &mut Vec::new(), &mut |name, span| {
            found.push(Variable { name: name.to_owned(), span: span.clone() });
        });
        found
    }

    /// Works the template out. `scope` gives the values of names.
    ///
    /// A template of one interpolation alone gives that value, of whatever type; every other one gives a text.
    ///
    /// # Errors
    /// The faults of the evaluation, all that HCL reports.
    pub fn evaluate(&self, scope: &dyn Fn(&str) -> Option<TemplateValue>) -> Result<TemplateValue, TemplateFault> {
        let mut faults = Vec::new();
        let value = eval::eval(&self.root, &TemplateScope::Root(scope), &mut faults);
        match TemplateFault::first(faults) {
            Some(fault) => Err(fault),
            None => Ok(value),
        }
    }
}

impl TemplateValue {
    /// Brings a result to a text, as is done with the result of a whole template: numbers and truth values are
    /// written out, null stays null.
    ///
    /// # Errors
    /// When it is a list or an object. The text says which.
    pub fn into_text(self) -> Result<Self, String> {
        convert::convert(self, &Type::String)
    }
}
