//! The text of a `mirror.toml`.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::PathBuf;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use tofu_oci_types::{Constraints, ModuleAddr, Platform, Predecessors, ProviderAddr};
use toml::{Spanned, Value};

use crate::attestations::AttestationRule;

use super::address::MirroredAddress;
use super::error::{RulesError, RulesProblem};
use super::min_age::MinAge;
use super::model::{DelistedPolicy, DenyRule, MirrorRules, ProviderRule, Providers, VersionRule};

/// A file of rules, and what else it says.
#[derive(Clone, Debug)]
pub struct RulesFile {
    pub rules: MirrorRules,
    /// The rules for modules: their own entries, and what the file says for both.
    pub modules: MirrorRules<ModuleAddr>,
    /// Where to, as written.
    pub to: Option<String>,
    /// Where modules go, as written.
    pub modules_to: Option<String>,
    /// From where, in order, as written; empty for the places of the CLI configuration.
    pub sources: Vec<String>,
    /// Where attestations of upstream releases are, for which providers.
    pub attestations: Vec<AttestationRule>,
    /// The trust policy, relative to the file.
    pub trust: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesDocument {
    #[serde(default)]
    provider: Vec<Spanned<ProviderTable>>,
    #[serde(default)]
    module: Vec<ModuleTable>,
    to: Option<String>,
    modules_to: Option<String>,
    sources: Option<Spanned<Vec<String>>>,
    #[serde(default)]
    source: Vec<SourceTable>,
    min_age: Option<Spanned<Value>>,
    #[serde(default)]
    allow: Vec<Spanned<String>>,
    #[serde(default)]
    deny: Vec<Spanned<String>>,
    trust: Option<PathBuf>,
    #[serde(default)]
    gone: DelistedPolicy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    attestations: Spanned<String>,
    #[serde(default)]
    providers: Vec<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProviderTable {
    address: Option<Spanned<String>>,
    pattern: Option<Spanned<String>>,
    versions: Option<Spanned<Value>>,
    latest: Option<usize>,
    platforms: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ModuleTable {
    address: Spanned<String>,
    versions: Option<Spanned<Value>>,
    latest: Option<usize>,
}

fn at(span: Range<usize>, problem: RulesProblem) -> RulesError {
    RulesError { span: Some(span), problem }
}

fn syntax(error: &toml::de::Error) -> RulesProblem {
    RulesProblem::Syntax { message: error.message().trim_end().replace('\n', "; ") }
}

/// What is wrong if the unknown field in these words of the parser is a member of the file `F` itself.
pub fn below_table<F: DeserializeOwned>(message: &str) -> Option<RulesProblem> {
    let (name, _) = message.strip_prefix("unknown field `")?.split_once('`')?;
    let is_unknown = |error: toml::de::Error| error.message().starts_with("unknown field");
    let is_of_file = !["provider", "module"].contains(&name)
        && !toml::from_str::<F>(&format!("{name:?} = 0")).is_err_and(is_unknown);
    is_of_file.then(|| RulesProblem::BelowTable { name: name.to_owned() })
}

/// Whether a `[[module]]` has a `pattern`.
fn has_module_pattern(file: &toml::Table) -> bool {
    let modules = file.get("module").and_then(Value::as_array);
    modules.is_some_and(|all| all.iter().any(|module| module.get("pattern").is_some()))
}

/// A length of time or a size as it is written, in quotes or as a number alone.
pub fn in_words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => other.type_str().to_owned(),
    }
}

impl RulesFile {
    /// Reads the text of a `mirror.toml`.
    ///
    /// # Errors
    /// What is wrong, with its place in the text: an unknown member, too, since it would be without effect.
    pub fn parse(text: &str) -> Result<Self, RulesError> {
        let document: RulesDocument = toml::from_str(text).map_err(|error| {
            let whole = text.parse::<toml::Table>().unwrap_or_default();
            let mut lists = ["provider", "module", "source"].into_iter();
            let problem = match lists.find(|name| whole.get(*name).is_some_and(Value::is_table)) {
                Some(name) => RulesProblem::OneTable { name },
                None if whole
                    .get("sources")
                    .and_then(Value::as_array)
                    .is_some_and(|all| all.iter().any(Value::is_table)) =>
                {
                    RulesProblem::SourceTables
                }
                None if error.message().starts_with("unknown field `pattern`") && has_module_pattern(&whole) => {
                    RulesProblem::PatternOfModules
                }
                None => below_table::<RulesDocument>(error.message()).unwrap_or_else(|| syntax(&error)),
            };
            RulesError { span: error.span(), problem }
        })?;
        if document.provider.is_empty() && document.module.is_empty() {
            return Err(RulesError { span: None, problem: RulesProblem::NoProvider });
        }
        let sources = match document.sources {
            Some(list) if list.get_ref().is_empty() => return Err(at(list.span(), RulesProblem::NoSources)),
            list => list.map(Spanned::into_inner).unwrap_or_default(),
        };
        let min_age = document.min_age.map(|written| {
            let age: Result<MinAge, _> = in_words(written.get_ref()).parse();
            age.map_err(|error| at(written.span(), RulesProblem::MinAge(error)))
        });
        let (min_age, gone) = (min_age.transpose()?.unwrap_or_default(), document.gone);
        if let Some(written) =
            document.allow.iter().chain(&document.deny).find(|written| has_plain_host(written.get_ref()))
        {
            return Err(at(written.span(), RulesProblem::PlainHost { pattern: written.get_ref().clone() }));
        }
        let (allow, allow_modules) = by_kind(&document.allow);
        let (deny, deny_modules) = by_kind(&document.deny);
        let providers = document.provider.into_iter().map(provider).collect::<Result<_, _>>()?;
        let modules = document.module.into_iter().map(module).collect::<Result<_, _>>()?;
        let attestations = document.source.into_iter().map(attestation_rule).collect::<Result<_, _>>()?;
        Ok(Self {
            rules: rules(providers, &allow, &deny, (min_age, gone))?,
            modules: rules(modules, &allow_modules, &deny_modules, (min_age, gone))?,
            to: document.to,
            modules_to: document.modules_to,
            sources,
            attestations,
            trust: document.trust,
        })
    }
}

fn rules<A: MirroredAddress>(
    providers: Vec<ProviderRule<A>>,
    allow: &[&Spanned<String>],
    deny: &[&Spanned<String>],
    (min_age, gone): (MinAge, DelistedPolicy),
) -> Result<MirrorRules<A>, RulesError> {
    let allow = allow.iter().map(|written| version_rule(written)).collect::<Result<_, _>>()?;
    let deny = deny.iter().map(|written| version_rule(written).map(DenyRule::from)).collect::<Result<_, _>>()?;
    Ok(MirrorRules { providers, allow, deny, min_age, gone, predecessors: Predecessors::default() })
}

/// Whether three parts begin with a name without a dot: a module whose host is missing looks like a provider of such a host.
fn has_plain_host(text: &str) -> bool {
    let parts: Vec<&str> = text.split('@').next().unwrap_or_default().split('/').collect();
    matches!(parts[..], [host, _, _] if host != "localhost" && !host.contains(['.', ':', '*']))
}

/// The entries for providers, and those for modules, which have a part more.
fn by_kind(list: &[Spanned<String>]) -> (Vec<&Spanned<String>>, Vec<&Spanned<String>>) {
    let parts = |text: &str| text.split('@').next().unwrap_or_default().split('/').count();
    list.iter().partition(|written| parts(written.get_ref()) != 4)
}

fn module(table: ModuleTable) -> Result<ProviderRule<ModuleAddr>, RulesError> {
    let ModuleTable { address, versions, latest } = table;
    let address = address_of(address.get_ref(), address.span())?;
    Ok(ProviderRule { versions: versions_of(versions)?, latest, ..ProviderRule::all_of(address) })
}

fn provider(table: Spanned<ProviderTable>) -> Result<ProviderRule, RulesError> {
    let whole = table.span();
    let ProviderTable { address, pattern, versions, latest, platforms } = table.into_inner();
    let providers = match (address, pattern) {
        (Some(written), None) => Providers::One(address_of(written.get_ref(), written.span())?),
        (None, Some(written)) => Providers::Matching(rule_pattern::<ProviderAddr>(&written)?),
        (None, None) => return Err(at(whole, RulesProblem::NoAddress)),
        (Some(_), Some(pattern)) => return Err(at(pattern.span(), RulesProblem::TwoAddresses)),
    };
    let versions = versions_of(versions)?;
    let platforms = match platforms {
        Some(list) if list.get_ref().is_empty() => return Err(at(list.span(), RulesProblem::NoPlatforms)),
        Some(list) => list.into_inner().iter().map(platform).collect::<Result<_, _>>()?,
        None => BTreeSet::new(),
    };
    Ok(ProviderRule { providers, versions, latest, platforms, locked: None })
}

fn versions_of(versions: Option<Spanned<Value>>) -> Result<Constraints, RulesError> {
    let Some(written) = versions else { return Ok(Constraints::any()) };
    let span = written.span();
    if written.get_ref().is_array() {
        return Err(at(span, RulesProblem::VersionList));
    }
    let text: Result<String, _> = written.into_inner().try_into();
    constraints(&text.map_err(|error| at(span.clone(), syntax(&error)))?, span)
}

fn attestation_rule(table: SourceTable) -> Result<AttestationRule, RulesError> {
    let SourceTable { attestations, providers } = table;
    let template = attestations.get_ref().parse();
    let template = template.map_err(|error| at(attestations.span(), RulesProblem::Attestations(error)))?;
    let providers = providers.iter().map(rule_pattern::<ProviderAddr>);
    Ok(AttestationRule { providers: providers.collect::<Result<_, _>>()?, at: template })
}

fn address_of<A: MirroredAddress>(text: &str, span: Range<usize>) -> Result<A, RulesError> {
    A::read(text).map_err(|problem| match text.split_once('@') {
        Some((address, versions)) => {
            at(span, RulesProblem::VersionInAddress { address: address.to_owned(), versions: versions.to_owned() })
        }
        None => at(span, problem),
    })
}

fn platform(written: &Spanned<String>) -> Result<Platform, RulesError> {
    written.get_ref().parse().map_err(|error| at(written.span(), RulesProblem::Platform(error)))
}

/// Reads the pattern of a provider or module, perhaps with `@CONSTRAINT`.
///
/// # Errors
/// What is wrong, with its place in the text.
pub fn version_rule<A: MirroredAddress>(written: &Spanned<String>) -> Result<VersionRule<A>, RulesError> {
    let (text, span) = (written.get_ref(), written.span());
    let (pattern, versions) = match text.split_once('@') {
        Some((pattern, versions)) => (pattern, constraints(versions, span.clone())),
        None => (text.as_str(), Ok(Constraints::any())),
    };
    let pattern = A::pattern(pattern).map_err(|problem| at(span, problem))?;
    Ok(VersionRule { pattern, versions: versions? })
}

/// Reads a pattern that names its host, or `*` for it.
///
/// # Errors
/// What is wrong, with its place in the text.
pub fn rule_pattern<A: MirroredAddress>(written: &Spanned<String>) -> Result<A::Pattern, RulesError> {
    A::pattern(written.get_ref()).map_err(|problem| at(written.span(), problem))
}

fn constraints(text: &str, span: Range<usize>) -> Result<Constraints, RulesError> {
    text.parse().map_err(|error| at(span, RulesProblem::Versions(error)))
}
