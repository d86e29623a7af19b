//! What can be wrong with a rule, and with an address under a rule.

use tofu_oci_types::{InvalidRepositoryRef, ProviderAddr, RepositoryRef};

use crate::Rule;

/// Why an address has no place under the rules.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapError {
    /// No rule speaks about the address.
    #[error("no rule says where {address} is: its hostname does not end in .{suffix}, and no repository was given")]
    NoRule {
        /// The address asked for.
        address: Box<ProviderAddr>,
        /// The magic suffix that was looked for.
        suffix: String,
    },
    /// The hostname is the magic suffix itself, so that no registry remains.
    #[error("{address} names no registry before .{suffix}")]
    NothingBeforeSuffix {
        /// The address asked for.
        address: Box<ProviderAddr>,
        /// The magic suffix.
        suffix: String,
    },
    /// The address has characters that a repository name cannot have.
    ///
    /// Spec: seed 002 (RFC), "Provider Source Addresses with Unsupported Unicode Characters".
    #[error(
        "requested provider address {address} contains characters that are not valid in an OCI distribution \
         repository name, so this provider cannot be installed from an OCI repository as {repository}"
    )]
    UnsupportedCharacters {
        /// The address asked for.
        address: Box<ProviderAddr>,
        /// What the rule made of it.
        repository: String,
        /// The rule.
        rule: Rule,
    },
    /// The rule made something else than a repository address.
    #[error("{rule} gives no repository for {address}")]
    InvalidRepository {
        /// The address asked for.
        address: Box<ProviderAddr>,
        /// The rule.
        rule: Rule,
        /// What is wrong with the result.
        #[source]
        source: InvalidRepositoryRef,
    },
    /// Two of the addresses that are wanted at once fall onto one repository.
    #[error("{first} and {second} would both come from {place}")]
    SamePlace {
        /// One of the addresses.
        first: Box<ProviderAddr>,
        /// The other.
        second: Box<ProviderAddr>,
        /// The place that both are mapped to.
        place: String,
    },
}

/// A text that is no usable repository template. Columns count characters from 1.
///
/// Spec: `OpenTofu` 1.12, cliconfig, `oci_mirror` `repository_template` (an HCL 2 string template).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// Nothing was given.
    #[error("the repository template is empty")]
    Empty,
    /// HCL's template syntax is broken.
    #[error("`{template}` is not a template: {problem}, at column {column}")]
    Syntax {
        /// What was given.
        template: String,
        /// Where it breaks.
        column: usize,
        /// What is wrong there.
        problem: String,
    },
    /// A symbol that an address does not have.
    #[error(
        "`{template}` mentions `{symbol}` at column {column}, which an address does not have: write ${{hostname}}, ${{namespace}} or ${{type}}"
    )]
    UnknownSymbol {
        /// What was given.
        template: String,
        /// The symbol.
        symbol: String,
        /// Where it stands.
        column: usize,
    },
    /// An expression of HCL that this program does not work out.
    #[error("`{template}` has {what} at column {column}, which is not supported here: {instead}")]
    Unsupported {
        /// What was given.
        template: String,
        /// The kind of expression, with its article.
        what: &'static str,
        /// Where it stands.
        column: usize,
        /// What to write.
        instead: &'static str,
    },
    /// With an example address in its place the result is no repository address.
    #[error("`{template}` gives no repository address")]
    NotARepository {
        /// What was given.
        template: String,
        /// What is wrong with the result for an example address.
        #[source]
        source: InvalidRepositoryRef,
    },
}

impl TemplateError {
    /// A stable kebab-case name of the fault.
    pub fn code(&self) -> String {
        match self {
            Self::Empty => "template-required".to_owned(),
            Self::Syntax { .. } => "hcl-parse".to_owned(),
            Self::UnknownSymbol { symbol, .. } => format!("unknown-symbol:{symbol}"),
            Self::Unsupported { .. } => "unsupported-expression".to_owned(),
            Self::NotARepository { .. } => "invalid-repository-address".to_owned(),
        }
    }

    /// What of the template's text is at fault, in bytes.
    pub fn span(&self) -> std::ops::Range<usize> {
        0..0
    }
}

/// Reads what a rule made of an address. `used` are the address's parts that went into the repository's name.
pub(crate) fn repository(
    address: &ProviderAddr,
    text: &str,
    used: &[&str],
    rule: Rule,
) -> Result<RepositoryRef, MapError> {
    let in_grammar = |character: char| matches!(character, 'a'..='z' | '0'..='9' | '.' | '-' | '_');
    text.parse().map_err(|source| {
        let address = Box::new(address.clone());
        if used.iter().all(|part| part.chars().all(in_grammar)) {
            MapError::InvalidRepository { address, rule, source }
        } else {
            MapError::UnsupportedCharacters { address, repository: text.to_owned(), rule }
        }
    })
}
