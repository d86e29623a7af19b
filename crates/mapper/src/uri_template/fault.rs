//! What can be wrong with a URI template.

use std::ops::Range;

use tofu_oci_fault::Fault;
use tofu_oci_types::masked_user;

/// A text that is not a URI template for providers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[error("{}", self.text())]
#[fault(of = kind)]
pub struct InvalidUriTemplate {
    template: String,
    span: Range<usize>,
    kind: UriFaultKind,
}

/// The kinds of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Fault)]
#[fault(named)]
pub(super) enum UriFaultKind {
    UnclosedExpression,
    UnopenedExpression,
    NoVariable,
    Operator,
    Modifier,
    SeveralVariables,
    BadName,
    BadPercent,
    BadCharacter,
    Empty,
    Url,
    Relative,
    NoRepositoryName,
    UnknownVariable,
}

impl InvalidUriTemplate {
    pub(super) fn new(template: &str, span: Range<usize>, kind: UriFaultKind) -> Self {
        Self { template: template.to_owned(), span, kind }
    }

    /// The faulty bytes of the template.
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
            UriFaultKind::Empty => return "the template is empty".to_owned(),
            UriFaultKind::UnclosedExpression => "`{` has no `}`".to_owned(),
            UriFaultKind::UnopenedExpression => "`}` has no `{`".to_owned(),
            UriFaultKind::NoVariable => "there is no name in `{}`".to_owned(),
            UriFaultKind::Operator => {
                format!("the operator `{found}` is not supported, only plain names such as {{type}} are")
            }
            UriFaultKind::Modifier => {
                format!("the modifier `{found}` is not supported, only plain names such as {{type}} are")
            }
            UriFaultKind::SeveralVariables => "each `{}` names one variable".to_owned(),
            UriFaultKind::BadName => format!("`{found}` cannot be in a name"),
            UriFaultKind::BadPercent => "`%` must be followed by two hexadecimal digits".to_owned(),
            UriFaultKind::BadCharacter => format!("`{found}` cannot be in a URI"),
            UriFaultKind::Url => {
                format!("`{found}` begins a URL, and a repository is written without, as REGISTRY/NAME")
            }
            UriFaultKind::Relative => {
                "it begins without a registry, and a repository is written REGISTRY/NAME".to_owned()
            }
            UriFaultKind::NoRepositoryName => {
                "there is only a registry, and a repository is written REGISTRY/NAME".to_owned()
            }
            UriFaultKind::UnknownVariable => {
                format!("`{found}` is nothing that an address has: write {{namespace}} or {{type}}")
            }
        };
        let shown = masked_user(template);
        format!("`{}` is not a template for repositories: {problem}, at column {column}", shown.escape_debug())
    }
}
