//! HCL 2's string templates, evaluated.
//!
//! ```text
//! text --lexer--> tokens --parser--> tree --evaluate, with the values of names--> Value
//!
//! ghcr.io/acme/${namespace}-${type}                        names
//! %{ if hostname == "example.com" }a%{ else }b%{ endif }   directives
//! ${ {"example.com" = "a"}[hostname] }                     expressions: operators, objects, lists, for, splats
//! ```
//!
//! The whole expression language except functions. Accepted texts, results and the code of the first fault are those of
//! HCL's own library. On purpose, this crate refuses more than 100 levels of nesting (or links of one chain), and
//! numbers beyond `10^4000`.
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
mod leading;
mod lexer;
mod literal;
mod number;
mod operate;
mod parser;
mod parts;
mod pieces;
mod scope;
#[cfg(test)]
mod tests;
mod token;
mod value;

use std::collections::BTreeSet;
use std::ops::Range;

pub use fault::TemplateFault;
pub use number::Number;
pub use pieces::{NoPieces, TemplatePiece};
pub use value::{TemplateValue, Type};

use ast::Expr;
use parser::TemplateParser;
use scope::TemplateScope;
use token::{TemplateToken, TemplateTokenKind};

/// A template that can be evaluated.
#[derive(Clone, Debug)]
pub struct Template {
    source: String,
    root: Expr,
}

/// The text of a file in the language's native syntax. As for HCL, its comments may hold any bytes.
///
/// # Errors
/// The text before the first other byte that is not UTF-8.
pub fn native_text(bytes: Vec<u8>) -> Result<String, String> {
    String::from_utf8(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(error.as_bytes());
        let in_sequence = format!("${{{text}");
        let mut tokens = lexer::tokens(&in_sequence).into_iter();
        let wrong = tokens.find_map(|TemplateToken { kind, span }| {
            let at = in_sequence[span.clone()].find('\u{fffd}')?;
            (!matches!(kind, TemplateTokenKind::Comment(_))).then(|| text[..span.start + at - 2].to_owned())
        });
        wrong.map_or_else(|| Ok(text.clone().into_owned()), Err)
    })
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

    /// The names from outside in their order, each as often as it occurs. Names that a `for` of the template binds are
    /// not among them.
    pub fn variables(&self) -> Vec<Variable> {
        let mut found = Vec::new();
        ast::free_names(&self.root, &mut Vec::new(), &mut |name, span| {
            found.push(Variable { name: name.to_owned(), span: span.clone() });
        });
        found
    }

    /// The names from outside whose values can stand before the first `/` of the result; perhaps also one that cannot.
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
    /// Converts a result to a text, as for a whole template: numbers and truth values are written out, null stays null.
    ///
    /// # Errors
    /// If it is a list or an object. The text says which.
    pub fn into_text(self) -> Result<Self, String> {
        self.into_type(&Type::String)
    }

    /// Converts a value to a type.
    ///
    /// # Errors
    /// If it cannot be of that type. The text says why.
    pub fn into_type(self, of: &Type) -> Result<Self, String> {
        convert::convert(self, of)
    }
}
