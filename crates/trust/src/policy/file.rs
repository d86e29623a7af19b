//! The text of a policy.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tofu_oci_types::Pattern;
use toml::{Spanned, Value};

use super::error::{PolicyError, PolicyProblem};
use super::identity::{IdentityEntry, IdentityTable};
use super::key::{KeyMaterial, NamedKey};
use super::module_pattern::ModulePlacePattern;
use super::rule::{Action, ExpiredKeys, FileRule, ManifestChecksums, RuleOrigin, TrustRule, Unsigned};
use super::rules::Policy;
use crate::{DemandedBuild, DistinctKeys, KeyId, PROVENANCE_PREDICATE};

/// What a policy file is usually called.
const FILE_NAME: &str = "trust.toml";

impl Policy {
    /// Reads the text of a `trust.toml`. Its keys are read by [`PolicyFile::resolve`].
    ///
    /// # Errors
    /// What is wrong, with its place in the text: an unknown member, too, since a misread rule protects no one.
    pub fn parse(text: &str) -> Result<PolicyFile, PolicyError> {
        parse(text)
    }
}

/// A policy whose keys have not been read yet.
#[derive(Clone, Debug)]
pub struct PolicyFile {
    keys: Vec<PolicyKeyEntry>,
    identities: Vec<IdentityEntry>,
    rules: Vec<RuleEntry>,
}

#[derive(Clone, Debug)]
struct PolicyKeyEntry {
    name: String,
    content: KeySource,
    /// The place of the name in the text.
    named: Range<usize>,
    /// The place of the content in the text.
    span: Range<usize>,
}

#[derive(Clone, Debug)]
enum KeySource {
    File(PathBuf),
    Pem(String),
}

#[derive(Clone, Debug)]
struct RuleEntry {
    rule: FileRule,
    keys: Vec<Spanned<String>>,
    threshold: Option<Spanned<u64>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyDocument {
    #[serde(default)]
    key: Vec<Spanned<KeyTable>>,
    #[serde(default)]
    identity: Vec<IdentityTable>,
    #[serde(default)]
    rule: Vec<Spanned<RuleTable>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyTable {
    name: Spanned<String>,
    file: Option<Spanned<PathBuf>>,
    pem: Option<Spanned<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleTable {
    providers: Option<Spanned<Vec<Spanned<String>>>>,
    modules: Option<Spanned<Vec<Spanned<String>>>>,
    #[serde(default)]
    keys: Vec<Spanned<String>>,
    threshold: Option<Spanned<u64>>,
    predicate_types: Option<Spanned<Vec<String>>>,
    slsa: Option<Spanned<DemandedBuild>>,
    unsigned: Option<Action>,
    unnamed: Option<Action>,
    moved_tags: Option<Action>,
    expired_keys: Option<ExpiredKeys>,
    manifest_checksums: Option<ManifestChecksums>,
}

fn at(span: Range<usize>, problem: PolicyProblem) -> PolicyError {
    PolicyError { span: Some(span), problem }
}

/// What was meant by a text that is not a policy file; `written` is what the parser points at.
fn instead_of(text: &str, written: &str, message: &str) -> Option<String> {
    let whole = text.parse::<toml::Table>().unwrap_or_default();
    if let Some(name) =
        ["key", "identity", "rule"].into_iter().find(|name| whole.get(*name).is_some_and(Value::is_table))
    {
        return Some(format!("write [[{name}]], with two brackets"));
    }
    if message.starts_with("unknown field `identit") && message.contains("`keys`") {
        return Some("the name of an [[identity]] stands in `keys`, as that of a [[key]] does".to_owned());
    }
    match (message.split_once(", expected ")?, written) {
        (("unknown field `keys`", _), _) => Some("write [[key]]".to_owned()),
        (("unknown field `identities`", _), _) => Some("write [[identity]]".to_owned()),
        (("unknown field `rules`", _), _) => Some("write [[rule]]".to_owned()),
        ((found, "a sequence"), written) if found.starts_with("invalid type: string") => {
            Some(format!("write [{written}], a list"))
        }
        ((found, "a string"), written) if found.starts_with("invalid type: integer") => {
            Some(format!("write {written:?}, in quotes"))
        }
        _ => None,
    }
}

fn parse(text: &str) -> Result<PolicyFile, PolicyError> {
    let document: PolicyDocument = toml::from_str(text).map_err(|error| {
        let message = error.message().trim_end().replace('\n', "; ");
        let instead = instead_of(text, error.span().and_then(|span| text.get(span)).unwrap_or_default(), &message);
        PolicyError { span: error.span(), problem: PolicyProblem::Syntax { message, instead } }
    })?;
    let mut names = BTreeSet::new();
    let keys: Vec<PolicyKeyEntry> = document
        .key
        .into_iter()
        .map(|table| {
            let entry = key(table)?;
            if names.insert(entry.name.clone()) {
                return Ok(entry);
            }
            Err(at(entry.named, PolicyProblem::DuplicateName { name: entry.name }))
        })
        .collect::<Result<_, _>>()?;
    let identities = document.identity.iter().map(IdentityEntry::read).collect::<Result<Vec<_>, _>>()?;
    if let Some(twice) = identities.iter().find(|identity| !names.insert(identity.name.clone())) {
        return Err(at(twice.named.clone(), PolicyProblem::DuplicateName { name: twice.name.clone() }));
    }
    if let Some(span) = document.rule.iter().find_map(|table| build_of_releases(table.get_ref(), &identities)) {
        let problem = "cannot be met: `release = true` is GitHub's word for a release, which says nothing of its build";
        return Err(at(span, PolicyProblem::Build { member: "slsa", problem, written: None }));
    }
    let written = || {
        let keys = keys.iter().map(|key| (&key.name, &key.named));
        keys.chain(identities.iter().map(|identity| (&identity.name, &identity.named)))
    };
    let rules = document.rule.into_iter().map(|table| rule(text, table)).collect::<Result<Vec<_>, _>>()?;
    for wanted in rules.iter().flat_map(|rule| &rule.keys) {
        if !names.contains(wanted.get_ref()) {
            let problem = PolicyProblem::UnknownKey {
                name: wanted.get_ref().clone(),
                known: written().map(|(name, _)| name.clone()).collect(),
            };
            return Err(at(wanted.span(), problem));
        }
    }
    let used: BTreeSet<&str> = rules.iter().flat_map(|rule| &rule.keys).map(|name| name.get_ref().as_str()).collect();
    if let Some((name, span)) = written().find(|(name, _)| !used.contains(name.as_str())) {
        return Err(at(span.clone(), PolicyProblem::UnusedKey { name: name.clone() }));
    }
    Ok(PolicyFile { keys, identities, rules })
}

fn key(table: Spanned<KeyTable>) -> Result<PolicyKeyEntry, PolicyError> {
    let KeyTable { name, file, pem } = table.into_inner();
    let named = name.span();
    let name = name.into_inner();
    if name.trim().is_empty() {
        return Err(at(named, PolicyProblem::NoName));
    }
    match (file, pem) {
        (Some(file), None) => {
            let span = file.span();
            Ok(PolicyKeyEntry { name, content: KeySource::File(file.into_inner()), named, span })
        }
        (None, Some(pem)) => {
            let span = pem.span();
            Ok(PolicyKeyEntry { name, content: KeySource::Pem(pem.into_inner()), named, span })
        }
        (None, None) => Err(at(named, PolicyProblem::NoContent { name })),
        (Some(_), Some(pem)) => Err(at(pem.span(), PolicyProblem::TwoContents { name })),
    }
}

/// The place of a demand for a build in a rule whose identities are all for GitHub's immutable releases.
fn build_of_releases(table: &RuleTable, identities: &[IdentityEntry]) -> Option<Range<usize>> {
    let slsa = table.slsa.as_ref()?;
    let is_of_releases = |name: &Spanned<String>| {
        identities.iter().any(|identity| identity.name == *name.get_ref() && identity.is_of_releases())
    };
    (!table.keys.is_empty() && table.keys.iter().all(is_of_releases)).then(|| slsa.span())
}

fn rule(text: &str, table: Spanned<RuleTable>) -> Result<RuleEntry, PolicyError> {
    let (whole, line) = (table.span(), line(text, table.span().start));
    let table = table.into_inner();
    // A list without a pattern is a mistake, also beside the other one.
    let lists = [&table.providers, &table.modules];
    if let Some(empty) = lists.into_iter().flatten().find(|list| list.get_ref().is_empty()) {
        return Err(at(empty.span(), PolicyProblem::NoProviders));
    }
    if lists.into_iter().flatten().next().is_none() {
        return Err(at(whole, PolicyProblem::NoProviders));
    }
    let written = |list: &Option<Spanned<Vec<Spanned<String>>>>| {
        list.as_ref().map(|list| list.get_ref().clone()).unwrap_or_default()
    };
    let pattern = |written: &Spanned<String>| {
        let parsed = written.get_ref().parse().map_err(|error| at(written.span(), PolicyProblem::Pattern(error)))?;
        if written.get_ref().matches('/').count() < 2 {
            return Err(at(written.span(), PolicyProblem::NoHost { pattern: written.get_ref().clone() }));
        }
        Ok(parsed)
    };
    let module = |written: &Spanned<String>| {
        written.get_ref().parse().map_err(|error| at(written.span(), PolicyProblem::ModulePlacePattern(error)))
    };
    let (providers, modules) = (written(&table.providers), written(&table.modules));
    let patterns = providers.iter().map(pattern).collect::<Result<Vec<Pattern>, _>>()?;
    let module_patterns = modules.iter().map(module).collect::<Result<Vec<ModulePlacePattern>, _>>()?;
    let providers = providers.into_iter().chain(modules).map(Spanned::into_inner).collect();
    let usual = TrustRule::default();
    if let Some((slsa, (member, problem))) =
        table.slsa.as_ref().and_then(|slsa| Some((slsa, slsa.get_ref().problem()?)))
    {
        let written = slsa.get_ref().source.clone().filter(|_| member == "slsa.source");
        return Err(at(slsa.span(), PolicyProblem::Build { member, problem, written }));
    }
    if let Some(list) = &table.predicate_types
        && let Some(written) = list.get_ref().iter().find(|one| !is_uri(one))
    {
        return Err(at(list.span(), PolicyProblem::PredicateType { written: written.clone() }));
    }
    let predicate_types = match table.predicate_types {
        Some(list) if list.get_ref().is_empty() => return Err(at(list.span(), PolicyProblem::NoPredicateTypes)),
        Some(list) if table.slsa.is_some() && !list.get_ref().iter().any(|one| one == PROVENANCE_PREDICATE) => {
            return Err(at(list.span(), PolicyProblem::NoProvenance));
        }
        Some(list) => list.into_inner(),
        None if table.slsa.is_some() => vec![PROVENANCE_PREDICATE.to_owned()],
        None => usual.predicate_types,
    };
    if let Some(threshold) = table.threshold.as_ref().filter(|threshold| *threshold.get_ref() == 0) {
        return Err(at(threshold.span(), PolicyProblem::NoThreshold));
    }
    let unsigned = match table.unsigned {
        Some(action) => Unsigned::Said(action),
        None if table.keys.is_empty() => usual.unsigned,
        None => Unsigned::ByDefault(Action::Refuse),
    };
    let rule = TrustRule {
        origin: RuleOrigin::File { path: PathBuf::from(FILE_NAME), line, providers },
        keys: Vec::new(),
        threshold: 1,
        predicate_types,
        build: table.slsa.map(Spanned::into_inner),
        unsigned,
        unnamed: table.unnamed.unwrap_or(usual.unnamed),
        moved_tags: table.moved_tags.unwrap_or(usual.moved_tags),
        expired_keys: table.expired_keys.unwrap_or(usual.expired_keys),
        manifest_checksums: table.manifest_checksums.unwrap_or(usual.manifest_checksums),
    };
    Ok(RuleEntry {
        rule: FileRule { patterns, modules: module_patterns, rule },
        keys: table.keys,
        threshold: table.threshold,
    })
}

fn line(text: &str, offset: usize) -> usize {
    text.as_bytes().iter().take(offset).filter(|byte| **byte == b'\n').count() + 1
}

impl PolicyFile {
    /// Reads the keys. `read` is given the paths as they are written, and knows what they are relative to.
    ///
    /// # Errors
    /// A key that cannot be read or used, and a threshold above the number of distinct keys.
    pub fn resolve(self, read: impl Fn(&Path) -> Result<Vec<u8>, io::Error>) -> Result<Policy, PolicyError> {
        let keys = self.keys.into_iter().map(|entry| load(entry, &read));
        let mut roots = BTreeMap::new();
        let identities = self.identities.into_iter().map(|entry| entry.load(&read, &mut roots));
        let keys = keys.chain(identities).collect::<Result<Vec<_>, _>>()?;
        let rules = self.rules.into_iter().map(|entry| complete(entry, &keys)).collect::<Result<_, _>>()?;
        Ok(Policy { rules, ..Policy::default() })
    }
}

fn load(entry: PolicyKeyEntry, read: &impl Fn(&Path) -> Result<Vec<u8>, io::Error>) -> Result<NamedKey, PolicyError> {
    let PolicyKeyEntry { name, content, span, .. } = entry;
    let bytes = match content {
        // A line alone is the name of a file.
        KeySource::Pem(text) if !text.contains("-----BEGIN") && text.lines().count() == 1 => {
            return Err(at(span, PolicyProblem::NotPem { name, text }));
        }
        KeySource::Pem(pem) => pem.into_bytes(),
        KeySource::File(path) => {
            read(&path).map_err(|source| at(span.clone(), PolicyProblem::KeyFile { path, source }))?
        }
    };
    match KeyMaterial::parse(&bytes) {
        Ok(material) => Ok(NamedKey { name, material }),
        Err(source) => Err(at(span, PolicyProblem::Key { name, source })),
    }
}

/// Gives a rule its keys. A threshold counts keys, not names.
fn complete(entry: RuleEntry, keys: &[NamedKey]) -> Result<FileRule, PolicyError> {
    let RuleEntry { mut rule, keys: named, threshold } = entry;
    let is_named = |key: &&NamedKey| named.iter().any(|name| *name.get_ref() == key.name);
    rule.rule.keys = keys.iter().filter(is_named).cloned().collect();
    let distinct = rule.rule.distinct_keys();
    if let Some(threshold) = threshold {
        let (written, count) = (*threshold.get_ref(), distinct.count());
        rule.rule.threshold = usize::try_from(written).ok().filter(|wanted| *wanted <= count).ok_or_else(|| {
            let problem = match in_two_forms(&rule.rule.keys, &distinct) {
                Some((one, other)) if one.material.identity().and(other.material.identity()).is_some() => {
                    PolicyProblem::SameOwner { one: one.name.clone(), other: other.name.clone() }
                }
                Some((one, other)) => PolicyProblem::SameKey { one: one.name.clone(), other: other.name.clone() },
                None => PolicyProblem::Threshold { threshold: written, keys: count },
            };
            at(threshold.span(), problem)
        })?;
    }
    Ok(rule)
}

/// Whether a text begins with a scheme, as every type of a statement does.
fn is_uri(text: &str) -> bool {
    text.split_once(':').is_some_and(|(scheme, rest)| {
        let is_of_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme.bytes().all(is_of_scheme)
            && !rest.is_empty()
    })
}

/// Two key files that hold one key in two forms, which have two ids.
fn in_two_forms<'a>(keys: &'a [NamedKey], distinct: &DistinctKeys) -> Option<(&'a NamedKey, &'a NamedKey)> {
    let ids = |key: &NamedKey| key.material.ids();
    let same = |one: &KeyId, other: &KeyId| one != other && distinct.same(one, other);
    let mut pairs =
        keys.iter().enumerate().flat_map(|(nth, one)| keys[nth + 1..].iter().map(move |other| (one, other)));
    pairs.find(|(one, other)| ids(one).iter().any(|one| ids(other).iter().any(|other| same(one, other))))
}
