//! Repository templates, `ghcr.io/acme/${namespace}/${type}`: what they give for an address, and the URI template that
//! a host publishes.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use tofu_oci_hcl::template::{NoPieces, Template, TemplateFault, TemplatePiece, TemplateValue};
use tofu_oci_types::{Hostname, ModuleAddr, ProviderAddr, RegistryHost, RepositoryRef};

use crate::place::{OciPlace, PlaceRule};
use crate::symbol::{Symbol, TemplateAddress};
use crate::uri_template::UriTemplate;
use crate::{MapError, Pattern, TemplateError, error};
use crate::{Prefix, parse_prefix};

/// An HCL 2 string template that makes a repository address of the address of a provider, or of a module.
///
/// The symbols of the address (`${hostname}`, `${namespace}` and `${type}`), conditions, `%{if}`, objects and lists,
/// operators, the escapes `$${` and `%%{`, and the strip markers `${~ ~}`: no functions, which `OpenTofu` does not offer
/// there, and no `for`. A text without any symbol is a template that always gives itself.
///
/// [`RepositoryTemplate::check`] reads the template of an `oci_mirror` block as `OpenTofu` does, with its `include`
/// patterns. `FromStr` reads one that means itself, where no pattern limits what it is used for.
///
/// Spec: `OpenTofu` 1.12, cliconfig, `oci_mirror` `repository_template`; measured on 1.10 to 1.13.
#[derive(Clone, Debug)]
pub struct RepositoryTemplate<A = ProviderAddr> {
    template: Template,
    of: PhantomData<fn(&A)>,
}

/// A template that makes a repository address of the address of a module.
pub type ModuleTemplate = RepositoryTemplate<ModuleAddr>;

impl RepositoryTemplate {
    /// Reads the template of an `oci_mirror` block. `include` holds the patterns as they were written.
    ///
    /// In order, each step only where those before it found nothing: the text must not be empty; its syntax must be
    /// right; it must mention no other name than those of [`Symbol`], and each of these for which `include` does not
    /// name exactly one value (a wildcard beside it does not count); it must give a text for
    /// `example.com/example-namespace/example-type`; and that text must be a repository, or a registry alone, which
    /// fails later. Where a pattern is none, the method is of no use, and nothing is checked
    /// after the names.
    ///
    /// # Errors
    /// What `OpenTofu` reports at once, in its order; of the faults of HCL the first.
    pub fn check(text: &str, include: &[String]) -> Result<Self, Vec<TemplateError>> {
        let template = Self::read(text)?;
        let mut errors = template.unknown_symbols();
        let Ok(patterns) = include.iter().map(|text| text.parse()).collect::<Result<Vec<Pattern>, _>>() else {
            return if errors.is_empty() { Ok(template) } else { Err(errors) };
        };
        let present = template.symbols();
        for symbol in ProviderAddr::OF.symbols().iter().copied().filter(|symbol| !present.contains(symbol)) {
            let literals: BTreeSet<&str> =
                patterns.iter().filter_map(|pattern| ProviderAddr::literal(pattern, symbol)).collect();
            if literals.len() != 1 {
                errors.push(TemplateError::MissingSymbol { template: text.to_owned(), symbol });
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let sample = template.sample()?;
        parse_prefix(&sample).map_err(|fault| {
            vec![TemplateError::NotARepository { template: text.to_owned(), fault, of: ProviderAddr::OF }]
        })?;
        Ok(template)
    }

    /// The same repositories as a URI template that the owner of `host` can publish as `oci-providers.v1`. `None` if a URI
    /// template cannot say it, as with a condition on the namespace, or if the registry is on this machine: for a client
    /// that would be another one.
    ///
    /// Spec: seed 002 (RFC), "OCI Registry as an implementation detail of `direct` installation"; RFC 6570, level 1.
    pub fn uri_template(&self, host: &Hostname) -> Option<UriTemplate> {
        let value = |name: &str| {
            let text = match ProviderAddr::OF.symbol(name)? {
                Symbol::Hostname => host.as_str().to_owned(),
                _ => format!("{{{name}}}"),
            };
            Some(TemplateValue::String(text))
        };
        let Ok(TemplateValue::String(text)) = self.template.evaluate(&value).ok()?.into_text() else { return None };
        let template = UriTemplate::for_providers(&text).ok()?;
        // A name that is asked for in a condition, and not written out, is not in the result.
        let mut written: Vec<&str> = template.variables().collect();
        let all = self.template.variables();
        let mut named: Vec<&str> = all.iter().map(|variable| variable.name.as_str()).collect();
        named.retain(|name| ProviderAddr::OF.symbol(name) != Some(Symbol::Hostname));
        written.sort_unstable();
        named.sort_unstable();
        let sample: ProviderAddr = format!("{host}/example-namespace/example-type").parse().ok()?;
        let repository = template.repository(&sample).ok()?.repository;
        let registry: RegistryHost = repository.registry().parse().ok()?;
        (written == named && !registry.is_loopback()).then_some(template)
    }
}

impl<A: TemplateAddress> RepositoryTemplate<A> {
    /// A template whose result need not be a repository address, such as that of an `oci:DIR` place.
    ///
    /// # Errors
    /// Everything that `FromStr` refuses but [`TemplateError::NotARepository`]; the first of several errors.
    pub fn parse_loose(input: &str) -> Result<Self, TemplateError> {
        Self::sound(input).map(|(template, _)| template).map_err(first)
    }

    /// A template that mentions only symbols and gives a text, and that text for the sample address.
    fn sound(text: &str) -> Result<(Self, String), Vec<TemplateError>> {
        let template = Self::read(text)?;
        let unknown = template.unknown_symbols();
        if !unknown.is_empty() {
            return Err(unknown);
        }
        let sample = template.sample()?;
        Ok((template, sample))
    }

    fn read(text: &str) -> Result<Self, Vec<TemplateError>> {
        if text.is_empty() {
            return Err(vec![TemplateError::Empty { of: A::OF }]);
        }
        match Template::parse(text) {
            Ok(template) => Ok(Self { template, of: PhantomData }),
            Err(fault) => Err(vec![TemplateError::Hcl { template: text.to_owned(), fault, of: A::OF }]),
        }
    }

    fn unknown_symbols(&self) -> Vec<TemplateError> {
        let variables = self.template.variables().into_iter();
        variables
            .filter(|variable| A::OF.symbol(&variable.name).is_none())
            .map(|variable| TemplateError::UnknownSymbol {
                template: self.as_str().to_owned(),
                symbol: variable.name,
                span: variable.span,
                of: A::OF,
            })
            .collect()
    }

    /// The text for the sample address.
    fn sample(&self) -> Result<String, Vec<TemplateError>> {
        let text = self.as_str();
        let known = |name: &str| A::OF.symbol(name).map(|symbol| TemplateValue::String(symbol.sample().to_owned()));
        let value = self.template.evaluate(&known);
        let value = value.map_err(|fault| vec![TemplateError::Hcl { template: text.to_owned(), fault, of: A::OF }])?;
        match value.into_text() {
            Ok(TemplateValue::String(sample)) => Ok(sample),
            Ok(TemplateValue::Null) => Err(vec![TemplateError::NullResult { template: text.to_owned() }]),
            Ok(_) => Err(vec![TemplateError::NotAString { template: text.to_owned(), found: "nothing".to_owned() }]),
            Err(found) => Err(vec![TemplateError::NotAString { template: text.to_owned(), found }]),
        }
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        self.template.source()
    }

    /// The symbols that the template mentions, also in conditions.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.template.variables().iter().filter_map(|variable| A::OF.symbol(&variable.name)).collect()
    }

    /// The symbols on which the registry depends, for addresses of these patterns: a client that asks for one
    /// chooses their values, and with them the host. The values that every pattern names are not among them.
    pub fn open_in_registry(&self, include: &[A::Pattern]) -> BTreeSet<Symbol> {
        let symbols = self.template.names_before_slash().into_iter().filter_map(|name| A::OF.symbol(name));
        symbols.filter(|symbol| include.iter().any(|pattern| A::literal(pattern, *symbol).is_none())).collect()
    }

    /// What the text consists of, with these values of symbols; see [`Template::pieces`].
    pub(crate) fn pieces(&self, known: &dyn Fn(&str) -> Option<TemplateValue>) -> Result<Vec<TemplatePiece>, NoPieces> {
        self.template.pieces(known)
    }

    /// The symbols that conditions compare with texts, each with the text.
    pub(crate) fn cases(&self) -> Vec<(Symbol, &str)> {
        let symbol = |(name, text)| Some((A::OF.symbol(name)?, text));
        self.template.cases().into_iter().filter_map(symbol).collect()
    }

    /// The template with `/` for each text between two symbols; `None` if it is not made of text and symbols alone.
    pub(crate) fn parted(&self) -> Option<String> {
        let mut parted = String::new();
        let pieces = self.pieces(&|_| None).ok().filter(|_| self.cases().is_empty())?;
        for (number, piece) in pieces.iter().enumerate() {
            let is_between = number > 0 && number + 1 < pieces.len();
            match piece {
                TemplatePiece::Name(name) => {
                    let follows = number > 0 && matches!(pieces[number - 1], TemplatePiece::Name(_));
                    parted.push_str(if follows { "/" } else { "" });
                    parted.push_str(&format!("${{{name}}}"));
                }
                TemplatePiece::Text(text) if is_between && !text.contains('/') => parted.push('/'),
                TemplatePiece::Text(text) => parted.push_str(text),
            }
        }
        Some(parted)
    }

    /// The text for `address`. No part of an address contains `/` or `\`, and none is `.` or `..`.
    ///
    /// # Errors
    /// If the template has no result for this address, or one that is not a text.
    pub fn render(&self, address: &A) -> Result<String, MapError> {
        let null = || MapError::TemplateNull { address: address.to_string(), rule: self.rule() };
        let broken = |fault: TemplateFault| {
            if fault.null {
                return null();
            }
            MapError::TemplateEval { address: address.to_string(), rule: self.rule(), fault: Box::new(fault) }
        };
        let known =
            |name: &str| A::OF.symbol(name).map(|symbol| TemplateValue::String(address.part(symbol).to_owned()));
        match self.template.evaluate(&known).map_err(broken)?.into_text() {
            Ok(TemplateValue::String(text)) => Ok(text),
            Ok(_) => Err(null()),
            Err(found) => Err(MapError::TemplateNotAString { address: address.to_string(), rule: self.rule(), found }),
        }
    }

    /// The repository for `address`.
    ///
    /// # Errors
    /// When there is no text for this address, or it is not a repository address, or a registry alone.
    pub fn apply(&self, address: &A) -> Result<RepositoryRef, MapError> {
        let text = self.render(address)?;
        match parse_prefix(&text) {
            Ok(Prefix::Repository(repository)) => Ok(repository),
            Ok(Prefix::Registry(registry)) => {
                Err(MapError::EmptyRepository { address: address.to_string(), rule: self.rule(), registry })
            }
            Err(source) => {
                let symbols = self.symbols();
                // A port is valid if the hostname is the registry: then the whole address parses.
                let used: Vec<&str> =
                    symbols.iter().map(|symbol| address.part(*symbol)).filter(|part| text.contains(part)).collect();
                Err(error::not_a_repository(address, &text, &used, self.rule(), source))
            }
        }
    }

    /// The repository for `address` together with the rule.
    ///
    /// # Errors
    /// As [`RepositoryTemplate::apply`].
    pub fn place(&self, address: &A) -> Result<OciPlace, MapError> {
        Ok(OciPlace { repository: self.apply(address)?, rule: self.rule() })
    }

    /// The rule for messages.
    pub fn rule(&self) -> PlaceRule {
        PlaceRule::OciMirror { template: self.as_str().to_owned() }
    }
}

fn first(errors: Vec<TemplateError>) -> TemplateError {
    errors.into_iter().next().expect("a template that is refused has an error")
}

impl<A: TemplateAddress> FromStr for RepositoryTemplate<A> {
    type Err = TemplateError;

    fn from_str(input: &str) -> Result<Self, TemplateError> {
        let (template, sample) = Self::sound(input).map_err(first)?;
        match RepositoryRef::from_opentofu(&sample) {
            Ok(_) => Ok(template),
            Err(fault) => Err(TemplateError::NotARepository { template: input.to_owned(), fault, of: A::OF }),
        }
    }
}

impl<A: TemplateAddress> PartialEq for RepositoryTemplate<A> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl<A: TemplateAddress> Eq for RepositoryTemplate<A> {}

impl<A: TemplateAddress> fmt::Display for RepositoryTemplate<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
