//! What can be wrong with a rule, and with an address under a rule.

use std::ops::Range;

use tofu_oci_fault::Fault;
use tofu_oci_hcl::template::TemplateFault;
use tofu_oci_types::{InvalidRepositoryRef, RepositoryRef, masked_user};

use crate::PlaceRule;
use crate::symbol::{Symbol, TemplateAddress, TemplateOf};

/// Why an address has no place under the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Fault)]
#[non_exhaustive]
pub enum MapError {
    /// the host of the address is the reserved suffix alone
    #[error("{address} names no registry before .{suffix}")]
    #[fault(
        "no-registry-before-suffix",
        todo = "write the registry before the suffix: \
            `ghcr.io.oci.opentofu.org/acme/widget`"
    )]
    NothingBeforeSuffix { address: String, suffix: String },
    /// The address has characters that a repository name cannot have.
    ///
    /// Spec: seed 002 (RFC), "Provider Source Addresses with Unsupported Unicode Characters".
    #[error(
        "requested {} address {address} contains characters that are not valid in an OCI distribution \
         repository name, so this {} cannot be installed from an OCI repository as {repository}",
        of.noun(),
        of.noun()
    )]
    #[fault(code = "invalid-repository-address")]
    UnsupportedCharacters { address: String, repository: String, rule: PlaceRule, of: TemplateOf },
    /// the rule gives a text that is not a repository
    #[error("{rule} gives no repository for {address}")]
    #[fault("invalid-repository-address", todo = "correct the template; a repository is `REGISTRY/PATH` in lower case")]
    InvalidRepository {
        address: String,
        rule: PlaceRule,
        #[source]
        source: InvalidRepositoryRef,
    },
    /// the template gives null for the address
    #[error("{rule} gives null for {address}")]
    #[fault("template-null", todo = "give the template a value for every address that it is for")]
    TemplateNull { address: String, rule: PlaceRule },
    /// the template fails for the address, or gives a list or an object
    #[error("{rule} cannot be worked out for {address}: {fault}")]
    #[fault("template-eval", todo = "correct the expression; the error shows it")]
    TemplateEval { address: String, rule: PlaceRule, fault: Box<TemplateFault> },
    #[error("{rule} gives no text for {address}: {found}")]
    #[fault(code = "template-eval")]
    TemplateNotAString { address: String, rule: PlaceRule, found: String },
    /// the template gives an empty text for the address
    #[error("{rule} gives only the registry {registry} for {address}, and no repository in it")]
    #[fault("empty-repository", todo = "correct the template")]
    EmptyRepository { address: String, rule: PlaceRule, registry: String },
    #[error("{first} and {second} would both come from {place}")]
    #[fault(code = "same-place")]
    SamePlace { first: String, second: String, place: String },
}

/// A text that is not a usable repository template. Columns count characters from 1.
///
/// Spec: `OpenTofu` 1.12, cliconfig, `oci_mirror` `repository_template` (an HCL 2 string template).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    #[error("the repository template is empty")]
    Empty { of: TemplateOf },
    #[error("`{}` is not a repository template: {fault}, at column {}", in_one_line(template), column(template, fault.span.start))]
    Hcl { template: String, fault: TemplateFault, of: TemplateOf },
    /// A symbol that an address does not have.
    #[error(
        "`{}` mentions `{symbol}` at column {}, which an address does not have",
        in_one_line(template),
        column(template, span.start)
    )]
    UnknownSymbol {
        template: String,
        symbol: String,
        /// Its bytes in the template.
        span: Range<usize>,
        of: TemplateOf,
    },
    /// A missing symbol, without which providers of several hosts, namespaces or types get the same repository.
    #[error(
        "`{}` does not mention ${{{}}}",
        in_one_line(template),
        symbol.name()
    )]
    MissingSymbol { template: String, symbol: Symbol },
    /// The result is a list or an object.
    #[error("`{}` gives no text: {found}", in_one_line(template))]
    NotAString { template: String, found: String },
    #[error("`{}` gives null instead of a repository address", in_one_line(template))]
    NullResult { template: String },
    #[error("`{}` gives no repository address: for {}, {fault}", in_one_line(template), of.sample())]
    NotARepository {
        template: String,
        /// What is wrong with the result for an example address.
        fault: InvalidRepositoryRef,
        of: TemplateOf,
    },
}

impl TemplateError {
    /// The template to write in its place, if what is wrong is a scheme such as `oci://` before the registry.
    pub fn without_scheme(&self) -> Option<&str> {
        match self {
            Self::NotARepository { template, .. } => template.split_once("://").map(|(_, rest)| rest),
            _ => None,
        }
        .filter(|rest| !rest.is_empty() && !rest.contains('@'))
    }

    /// The template that was probably meant: `{type}` and `$type` are plain text.
    fn meant(&self) -> Option<String> {
        match self {
            Self::NotARepository { template, of, .. } | Self::Hcl { template, of, .. } => of.meant(template),
            Self::MissingSymbol { template, .. } => TemplateOf::Providers.meant(template),
            _ => None,
        }
    }

    /// What to write in its place, as the beginning of a sentence.
    pub fn instead(&self) -> String {
        if let Some(rest) = self.without_scheme() {
            return format!("write \"{rest}\", without the scheme");
        }
        if let Some(meant) = self.meant() {
            return format!("a part of the address is written with $ and braces: {}", masked_user(&meant));
        }
        match self {
            Self::Hcl { fault, of, .. } => match &fault.instead {
                Some(instead) => return format!("write {instead}"),
                None => return format!("write plain text with {}", of.listed("and")),
            },
            Self::UnknownSymbol { of, .. } => return format!("write {}", of.listed("or")),
            Self::MissingSymbol { symbol, .. } => {
                let name = symbol.name();
                return format!("write ${{{name}}} somewhere in it, or let `include` name exactly one {name}");
            }
            Self::NotAString { .. } | Self::NullResult { .. } => "write a template that always gives a text",
            Self::Empty { of } | Self::NotARepository { of, .. } => {
                let example = of.example();
                return format!("write REGISTRY/PATH in lower case, without scheme, tag and digest, such as {example}");
            }
        }
        .to_owned()
    }

    /// Whether `OpenTofu` may take it: it evaluates more than this program.
    pub fn passes_opentofu(&self) -> bool {
        matches!(self, Self::Hcl { fault, .. } if fault.code == TemplateFault::NOT_SUPPORTED)
    }

    /// A stable kebab-case name of the fault: that of the measured cases, with `hcl:` before what HCL itself reports.
    pub fn code(&self) -> String {
        match self {
            Self::Empty { .. } => "template-required".to_owned(),
            Self::Hcl { fault, .. } => format!("hcl:{}", fault.code),
            Self::UnknownSymbol { symbol, .. } => format!("unknown-symbol:{symbol}"),
            Self::MissingSymbol { symbol, .. } => format!("missing-{}", symbol.name()),
            Self::NotAString { .. } => "not-a-string".to_owned(),
            Self::NullResult { .. } => "null-result".to_owned(),
            Self::NotARepository { .. } => "invalid-repository-address".to_owned(),
        }
    }

    /// The faulty bytes of the template's text; all of it if no part is more at fault than another.
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Empty { .. } => 0..0,
            Self::Hcl { fault, .. } => fault.span.clone(),
            Self::UnknownSymbol { span, .. } => span.clone(),
            Self::MissingSymbol { template, .. }
            | Self::NotAString { template, .. }
            | Self::NullResult { template }
            | Self::NotARepository { template, .. } => 0..template.len(),
        }
    }
}

/// A template without user information; one of a heredoc or with escapes so that a message stays in its line.
fn in_one_line(template: &str) -> String {
    masked_user(template).replace('\r', "\\r").replace('\n', "\\n").replace('\t', "\\t")
}

/// The column of a byte position, in characters from 1.
fn column(text: &str, offset: usize) -> usize {
    text.char_indices().take_while(|(position, _)| *position < offset).count() + 1
}

/// Reads the result of a rule for an address. `used` are the address's parts that went into the repository's name.
pub(crate) fn repository<A: TemplateAddress>(
    address: &A,
    text: &str,
    used: &[&str],
    rule: PlaceRule,
) -> Result<RepositoryRef, MapError> {
    text.parse().map_err(|source| not_a_repository(address, text, used, rule, source))
}

/// The error for a text that is not a repository address, depending on whether the address or the rule is at fault.
pub(crate) fn not_a_repository<A: TemplateAddress>(
    address: &A,
    text: &str,
    used: &[&str],
    rule: PlaceRule,
    source: InvalidRepositoryRef,
) -> MapError {
    let in_grammar = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '.' | '-' | '_');
    let address = address.to_string();
    if used.iter().all(|part| part.chars().all(in_grammar)) {
        MapError::InvalidRepository { address, rule, source }
    } else {
        MapError::UnsupportedCharacters { address, repository: text.to_owned(), rule, of: A::OF }
    }
}
