//! What can be wrong with a URI template.

use std::ops::Range;

use tofu_oci_types::masked_user;

/// A text that is no URI template, or none for providers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.text())]
pub struct InvalidUriTemplate {
    template: String,
    span: Range<usize>,
    kind: Kind,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Unclosed,
    Unopened,
    NoVariable,
    Operator,
    Modifier,
    SeveralVariables,
    Name,
    Percent,
    Literal,
    Empty,
    Url,
    Relative,
    NoName,
    UnknownVariable,
}

impl InvalidUriTemplate {
    pub(super) fn new(template: &str, span: Range<usize>, kind: Kind) -> Self {
        Self { template: template.to_owned(), span, kind }
    }

    /// A stable kebab-case name of the fault.
    pub fn code(&self) -> &'static str {
        match self.kind {
            Kind::Unclosed => "unclosed-expression",
            Kind::Unopened => "unopened-expression",
            Kind::NoVariable => "no-variable",
            Kind::Operator => "operator",
            Kind::Modifier => "modifier",
            Kind::SeveralVariables => "several-variables",
            Kind::Name => "bad-name",
            Kind::Percent => "bad-percent",
            Kind::Literal => "bad-character",
            Kind::Empty => "empty",
            Kind::Url => "url",
            Kind::Relative => "relative",
            Kind::NoName => "no-repository-name",
            Kind::UnknownVariable => "unknown-variable",
        }
    }

    /// The faulty place: bytes of the template.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The template as it was written.
    pub fn template(&self) -> &str {
        &self.template
    }

    fn text(&self) -> String {
        let Self { template, span, kind } = self;
        let column = template[..span.start].chars().count() + 1;
        let found = template[span.clone()].escape_debug();
        let problem = match kind {
            Kind::Empty => return "the template is empty".to_owned(),
            Kind::Unclosed => "`{` has no `}`".to_owned(),
            Kind::Unopened => "`}` has no `{`".to_owned(),
            Kind::NoVariable => "there is no name in `{}`".to_owned(),
            Kind::Operator => format!("the operator `{found}` is not supported, only plain names such as {{type}} are"),
            Kind::Modifier => format!("the modifier `{found}` is not supported, only plain names such as {{type}} are"),
            Kind::SeveralVariables => "each `{}` names one variable".to_owned(),
            Kind::Name => format!("`{found}` cannot be in a name"),
            Kind::Percent => "`%` must be followed by two hexadecimal digits".to_owned(),
            Kind::Literal => format!("`{found}` cannot be in a URI"),
            Kind::Url => {
                format!("`{found}` begins a URL, and a repository is written without, as REGISTRY/NAME")
            }
            Kind::Relative => "it begins without a registry, and a repository is written REGISTRY/NAME".to_owned(),
            Kind::NoName => "there is only a registry, and a repository is written REGISTRY/NAME".to_owned(),
            Kind::UnknownVariable => {
                format!("`{found}` is nothing that an address has: write {{namespace}} or {{type}}")
            }
        };
        let shown = masked_user(template);
        format!("`{}` is not a template for repositories: {problem}, at column {column}", shown.escape_debug())
    }
}
