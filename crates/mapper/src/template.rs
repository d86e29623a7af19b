//! Repository templates: `ghcr.io/acme/${namespace}-${type}`.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use hcl_edit::Span as _;
use hcl_edit::expr::Expression;
use hcl_edit::template::{Element, Strip, Template};
use tofu_oci_types::{ProviderAddr, RepositoryRef};

use crate::place::{OciPlace, Rule};
use crate::{MapError, TemplateError, error};

/// An HCL string template that makes a repository address of a provider address.
///
/// Plain interpolations `${hostname}`, `${namespace}` and `${type}`, the escapes `$${` and `%%{`, quoted strings and
/// parentheses inside an interpolation, and the strip markers `${~ ~}`. Everything else of HCL's expression language
/// is refused where it stands. A text without any symbol is a template that always gives itself.
///
/// Spec: `OpenTofu` 1.12, cliconfig, `oci_mirror` `repository_template`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryTemplate {
    source: String,
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Symbol(Symbol),
}

/// A part of an address that a template can mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// `${hostname}`, in comparison form and with its port.
    Hostname,
    /// `${namespace}`.
    Namespace,
    /// `${type}`.
    Type,
}

impl Symbol {
    /// Every symbol.
    pub const ALL: [Self; 3] = [Self::Hostname, Self::Namespace, Self::Type];

    /// The name inside `${}`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hostname => "hostname",
            Self::Namespace => "namespace",
            Self::Type => "type",
        }
    }

    /// What stands for it in a provider's address.
    pub fn of(self, address: &ProviderAddr) -> &str {
        match self {
            Self::Hostname => address.hostname().as_str(),
            Self::Namespace => address.namespace(),
            Self::Type => address.provider_type(),
        }
    }
}

impl RepositoryTemplate {
    /// A template whose result need not be a repository address, such as that of an `oci:DIR` place.
    ///
    /// # Errors
    /// Everything that `FromStr` refuses but [`TemplateError::NotARepository`].
    pub fn parse_loose(input: &str) -> Result<Self, TemplateError> {
        if input.is_empty() {
            return Err(TemplateError::Empty);
        }
        let template = Template::from_str(input).map_err(|error| TemplateError::Syntax {
            template: input.to_owned(),
            column: error.location().column(),
            problem: error.message().replace('\n', ", "),
        })?;
        let parts = Reader { input }.template(&template)?;
        Ok(Self { source: input.to_owned(), parts })
    }

    /// A template of an `oci_mirror` block with its `include` patterns, checked as `OpenTofu` checks it.
    ///
    /// # Errors
    /// All that `OpenTofu` reports at once.
    pub fn check(text: &str, include: &[String]) -> Result<Self, Vec<TemplateError>> {
        let _ = include;
        text.parse().map_err(|error| vec![error])
    }

    /// Whether the template was let through although two providers that `include` admits may share a repository.
    pub fn hole(&self) -> bool {
        false
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.source
    }

    /// The symbols that the template mentions.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.parts
            .iter()
            .filter_map(|part| match part {
                Part::Symbol(symbol) => Some(*symbol),
                Part::Literal(_) => None,
            })
            .collect()
    }

    /// The text for `address`. No part of an address contains `/` or `\`, and none is `.` or `..`.
    pub fn render(&self, address: &ProviderAddr) -> String {
        self.fill(|symbol| symbol.of(address))
    }

    /// The repository for `address`.
    ///
    /// # Errors
    /// When the text for this address is no repository address.
    pub fn apply(&self, address: &ProviderAddr) -> Result<RepositoryRef, MapError> {
        let symbols = self.symbols();
        let used: Vec<&str> = symbols.iter().map(|symbol| symbol.of(address)).collect();
        // A port is fine where the hostname is the registry: then the whole address parses.
        error::repository(address, &self.render(address), &used, self.rule())
    }

    /// The repository for `address` together with the rule.
    ///
    /// # Errors
    /// As [`RepositoryTemplate::apply`].
    pub fn place(&self, address: &ProviderAddr) -> Result<OciPlace, MapError> {
        Ok(OciPlace { repository: self.apply(address)?, rule: self.rule() })
    }

    /// The rule for messages.
    pub fn rule(&self) -> Rule {
        Rule::OciMirror { template: self.source.clone() }
    }

    fn fill<'a>(&'a self, value: impl Fn(Symbol) -> &'a str) -> String {
        self.parts
            .iter()
            .map(|part| match part {
                Part::Literal(text) => text.as_str(),
                Part::Symbol(symbol) => value(*symbol),
            })
            .collect()
    }
}

impl FromStr for RepositoryTemplate {
    type Err = TemplateError;

    fn from_str(input: &str) -> Result<Self, TemplateError> {
        let template = Self::parse_loose(input)?;
        let example = template.fill(|symbol| match symbol {
            Symbol::Hostname => "example.com",
            Symbol::Namespace => "example-namespace",
            Symbol::Type => "example-type",
        });
        match example.parse::<RepositoryRef>() {
            Ok(_) => Ok(template),
            Err(source) => Err(TemplateError::NotARepository { template: input.to_owned(), source }),
        }
    }
}

impl fmt::Display for RepositoryTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

/// Reads a parsed template into parts, or says which piece of it is not supported.
struct Reader<'a> {
    input: &'a str,
}

impl Reader<'_> {
    fn template(&self, template: &Template) -> Result<Vec<Part>, TemplateError> {
        let mut parts = Vec::new();
        let mut strip_next = false;
        for element in template {
            match element {
                Element::Literal(literal) => {
                    let text = literal.as_str();
                    let text = if strip_next { text.trim_start() } else { text };
                    strip_next = false;
                    parts.push(Part::Literal(text.to_owned()));
                }
                Element::Interpolation(interpolation) => {
                    if matches!(interpolation.strip, Strip::Start | Strip::Both)
                        && let Some(Part::Literal(text)) = parts.last_mut()
                    {
                        text.truncate(text.trim_end().len());
                    }
                    strip_next = matches!(interpolation.strip, Strip::End | Strip::Both);
                    parts.extend(self.expression(&interpolation.expr)?);
                }
                Element::Directive(directive) => {
                    return Err(self.unsupported("a directive", directive.span(), PER_CASE));
                }
            }
        }
        Ok(parts)
    }

    fn expression(&self, expression: &Expression) -> Result<Vec<Part>, TemplateError> {
        let what = match expression {
            Expression::Variable(name) => {
                return match Symbol::ALL.into_iter().find(|symbol| symbol.name() == name.as_str()) {
                    Some(symbol) => Ok(vec![Part::Symbol(symbol)]),
                    None => Err(TemplateError::UnknownSymbol {
                        template: self.input.to_owned(),
                        symbol: name.as_str().to_owned(),
                        column: self.column(name.span()),
                    }),
                };
            }
            Expression::String(text) => return Ok(vec![Part::Literal(text.value().clone())]),
            Expression::Parenthesis(inner) => return self.expression(inner.inner()),
            Expression::StringTemplate(_) => "a template inside a template",
            Expression::HeredocTemplate(_) => "a heredoc",
            Expression::Null(_) => "null",
            Expression::Bool(_) => "a boolean",
            Expression::Number(_) => "a number",
            Expression::Array(_) => "a list",
            Expression::Object(_) => "an object",
            Expression::Conditional(_) => "a condition",
            Expression::FuncCall(_) => "a function call",
            Expression::Traversal(_) => "an index",
            Expression::UnaryOp(_) | Expression::BinaryOp(_) => "an operator",
            Expression::ForExpr(_) => "a for expression",
        };
        let instead = match expression {
            Expression::Conditional(_) | Expression::Traversal(_) => PER_CASE,
            _ => PLAIN,
        };
        Err(self.unsupported(what, expression.span(), instead))
    }

    fn unsupported(
        &self,
        what: &'static str,
        span: Option<std::ops::Range<usize>>,
        instead: &'static str,
    ) -> TemplateError {
        TemplateError::Unsupported { template: self.input.to_owned(), what, column: self.column(span), instead }
    }

    /// The column of a byte position, in characters from 1.
    fn column(&self, span: Option<std::ops::Range<usize>>) -> usize {
        let start = span.map_or(0, |span| span.start);
        self.input.char_indices().take_while(|(position, _)| *position < start).count() + 1
    }
}

const PLAIN: &str = "write plain text, ${hostname}, ${namespace} and ${type}";
const PER_CASE: &str = "write one template for each case, from plain text, ${hostname}, ${namespace} and ${type}";

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn address(text: &str) -> ProviderAddr {
        text.parse().expect("an address")
    }

    #[track_caller]
    fn check(template: &str, addr: &str, want: &str) {
        let template: RepositoryTemplate = template.parse().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(template.apply(&address(addr)).expect("a repository").to_string(), want);
    }

    #[track_caller]
    fn refusal(template: &str) -> String {
        template.parse::<RepositoryTemplate>().expect_err("must be refused").to_string()
    }

    #[test]
    fn fills_in_the_symbols() {
        check("ghcr.io/x/${namespace}-${type}", "example.com/foo/bar", "ghcr.io/x/foo-bar");
        check("ghcr.io/x/${ namespace }/${(type)}", "example.com/foo/bar", "ghcr.io/x/foo/bar");
        check("${hostname}/${namespace}/${type}", "example.com:5000/foo/bar", "example.com:5000/foo/bar");
        check("${\"ghcr.io\"}/${type}", "example.com/foo/bar", "ghcr.io/bar");
        check("ghcr.io/x/ ${~ type ~} ", "example.com/foo/bar", "ghcr.io/x/bar");
        check("ghcr.io/acme/widget", "example.com/foo/bar", "ghcr.io/acme/widget");
        check("ghcr.io/${hostname}/${type}", "испытание.com/foo/bar", "ghcr.io/xn--80akhbyknj4f.com/bar");
    }

    #[test]
    fn an_escape_is_plain_text_and_so_no_repository() {
        let template = RepositoryTemplate::parse_loose("oci/$${type}/${type}").expect("a template");
        assert_eq!(template.render(&address("a/b")), "oci/${type}/b");
        assert_snapshot!(refusal("ghcr.io/$${type}"), @"`ghcr.io/$${type}` gives no repository address");
    }

    #[test]
    fn a_loose_template_may_be_a_path() {
        let template =
            RepositoryTemplate::parse_loose("./mirror/${hostname}/${namespace}/${type}").expect("a template");
        assert_eq!(template.render(&address("localhost:5000/a/b")), "./mirror/localhost:5000/a/b");
        assert_eq!(template.symbols().len(), 3);
        assert!(RepositoryTemplate::parse_loose("").is_err());
    }

    #[test]
    fn says_where_and_what_to_write() {
        assert_snapshot!(refusal(""), @"the repository template is empty");
        assert_snapshot!(refusal("ghcr.io/ü/${version}"), @"`ghcr.io/ü/${version}` mentions `version` at column 13, which an address does not have: write ${hostname}, ${namespace} or ${type}");
        assert_snapshot!(refusal("ghcr.io/${upper(type)}"), @"`ghcr.io/${upper(type)}` has a function call at column 11, which is not supported here: write plain text, ${hostname}, ${namespace} and ${type}");
        assert_snapshot!(refusal("ghcr.io/%{if true}a%{endif}"), @"`ghcr.io/%{if true}a%{endif}` has a directive at column 9, which is not supported here: write one template for each case, from plain text, ${hostname}, ${namespace} and ${type}");
        assert_snapshot!(refusal("ghcr.io/${type == \"a\" ? \"b\" : type}"), @r#"`ghcr.io/${type == "a" ? "b" : type}` has a condition at column 11, which is not supported here: write one template for each case, from plain text, ${hostname}, ${namespace} and ${type}"#);
        assert_snapshot!(refusal("ghcr.io/${hostname + 1}"), @"`ghcr.io/${hostname + 1}` has an operator at column 11, which is not supported here: write plain text, ${hostname}, ${namespace} and ${type}");
        assert_snapshot!(refusal("ghcr.io/${type"), @"`ghcr.io/${type` is not a template: expected `}`, at column 15");
        assert_snapshot!(refusal("ghcr.io/${}"), @r#"`ghcr.io/${}` is not a template: invalid expression; expected `"`, `[`, `{`, `-`, `!`, `(`, `_`, `<`, letter or digit, at column 11"#);
        assert_snapshot!(refusal("https://ghcr.io/${type}"), @"`https://ghcr.io/${type}` gives no repository address");
        assert_snapshot!(refusal("ghcr.io/${type}:latest"), @"`ghcr.io/${type}:latest` gives no repository address");
    }

    #[test]
    fn characters_that_no_repository_has_give_the_error_of_the_rfc() {
        let template: RepositoryTemplate =
            "ghcr.io/examplecom-otf-providers/${namespace}-${type}".parse().expect("a template");
        let error = template.apply(&address("example.com/foo/ほげ")).expect_err("must be refused");
        assert_snapshot!(error, @"requested provider address example.com/foo/ほげ contains characters that are not valid in an OCI distribution repository name, so this provider cannot be installed from an OCI repository as ghcr.io/examplecom-otf-providers/foo-ほげ");
    }

    #[test]
    fn a_result_that_is_too_long_is_the_templates_fault() {
        let template: RepositoryTemplate = "ghcr.io/${type}".parse().expect("a template");
        let error = template.apply(&address(&format!("a/{}", "b".repeat(300)))).expect_err("must be refused");
        assert!(matches!(error, MapError::InvalidRepository { .. }), "{error}");
    }
}
