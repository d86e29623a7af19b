//! The symbols of templates, and the addresses that have them; what was meant by a wrong one.

use std::fmt;
use std::str::FromStr;

use tofu_oci_types::{Hostname, ModuleAddr, ModulePattern, Pattern, Predecessors, ProviderAddr};

/// A part of an address that a template can mention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Symbol {
    /// `${hostname}`, in comparison form and with its port.
    Hostname,
    /// `${namespace}`.
    Namespace,
    /// `${type}`, of providers.
    Type,
    /// `${name}`, of modules.
    Name,
    /// `${target_system}`, of modules.
    TargetSystem,
}

impl Symbol {
    /// The name inside `${}`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Hostname => "hostname",
            Self::Namespace => "namespace",
            Self::Type => "type",
            Self::Name => "name",
            Self::TargetSystem => "target_system",
        }
    }

    /// Its value for the sample address.
    pub(crate) fn sample(self) -> &'static str {
        match self {
            Self::Hostname => "example.com",
            Self::Namespace => "example-namespace",
            Self::Type => "example-type",
            Self::Name => "example-name",
            Self::TargetSystem => "example",
        }
    }
}

/// What the addresses are that a template makes repositories of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TemplateOf {
    Providers,
    Modules,
}

impl TemplateOf {
    /// The symbols that the addresses have.
    pub fn symbols(self) -> &'static [Symbol] {
        match self {
            Self::Providers => &[Symbol::Hostname, Symbol::Namespace, Symbol::Type],
            Self::Modules => &[Symbol::Hostname, Symbol::Namespace, Symbol::Name, Symbol::TargetSystem],
        }
    }

    /// The sample address that checks a template.
    ///
    /// Spec: `OpenTofu` 1.12, cliconfig, the sample symbols of `oci_mirror`.
    pub(crate) fn sample(self) -> &'static str {
        match self {
            Self::Providers => "example.com/example-namespace/example-type",
            Self::Modules => "example.com/example-namespace/example-name/example",
        }
    }

    /// The template that was probably meant by a text that names parts of the address in another way: `{type}`, `$type`,
    /// `$(type)`, `<type>` or `%type%`. `None` if it names none so.
    pub fn meant(self, text: &str) -> Option<String> {
        let mut meant = text.to_owned();
        for symbol in self.symbols() {
            let (name, kept) = (symbol.name(), format!("\u{0}{}\u{1}", symbol.name()));
            meant = meant.replace(&format!("${{{name}}}"), &kept);
            for form in ["{{@}}", "%{@}", "{@}", "$(@)", "<@>", "%@%"] {
                meant = meant.replace(&form.replace('@', name), &kept);
            }
            let mut parts = meant.split(&format!("${name}")).map(str::to_owned).collect::<Vec<_>>().into_iter();
            let first = parts.next().unwrap_or_default();
            meant = parts.fold(first, |before, after| {
                let is_longer = after.starts_with(|next: char| next.is_ascii_alphanumeric() || next == '_');
                let name = if is_longer { format!("${name}") } else { kept.clone() };
                before + &name + &after
            });
        }
        let meant = meant.replace('\u{0}', "${").replace('\u{1}', "}");
        (meant != text).then_some(meant)
    }

    /// One of them, for messages.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Providers => "provider",
            Self::Modules => "module",
        }
    }

    pub(crate) fn symbol(self, name: &str) -> Option<Symbol> {
        self.symbols().iter().copied().find(|symbol| symbol.name() == name)
    }

    /// A template, for advice.
    pub(crate) fn example(self) -> &'static str {
        match self {
            Self::Providers => "ghcr.io/acme/${namespace}/${type}",
            Self::Modules => "ghcr.io/acme/${namespace}/${name}-${target_system}",
        }
    }

    /// The symbols, for advice, the last one after this word.
    pub(crate) fn listed(self, word: &str) -> String {
        let names: Vec<String> = self.symbols().iter().map(|symbol| format!("${{{}}}", symbol.name())).collect();
        match names.split_last() {
            Some((last, others)) => format!("{} {word} {last}", others.join(", ")),
            None => String::new(),
        }
    }
}

/// An address whose parts a template can mention.
pub trait TemplateAddress: fmt::Display + FromStr + Clone + PartialEq {
    /// The patterns of such addresses.
    type Pattern;

    /// What it is the address of.
    const OF: TemplateOf;

    /// Its host.
    fn hostname(&self) -> &Hostname;

    /// A part of it; empty if such an address does not have it.
    fn part(&self, symbol: Symbol) -> &str;

    /// A part of a pattern; `None` for a wildcard.
    fn literal(pattern: &Self::Pattern, symbol: Symbol) -> Option<&str>;

    /// Whether two addresses count as one.
    fn is_same(&self, other: &Self, predecessors: &Predecessors) -> bool;
}

impl TemplateAddress for ProviderAddr {
    type Pattern = Pattern;

    const OF: TemplateOf = TemplateOf::Providers;

    fn hostname(&self) -> &Hostname {
        self.hostname()
    }

    fn part(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Hostname => self.hostname().as_str(),
            Symbol::Namespace => self.namespace(),
            Symbol::Type => self.provider_type(),
            Symbol::Name | Symbol::TargetSystem => "",
        }
    }

    fn literal(pattern: &Pattern, symbol: Symbol) -> Option<&str> {
        match symbol {
            Symbol::Hostname => pattern.hostname().map(Hostname::as_str),
            Symbol::Namespace => pattern.namespace(),
            Symbol::Type => pattern.provider_type(),
            Symbol::Name | Symbol::TargetSystem => None,
        }
    }

    fn is_same(&self, other: &Self, predecessors: &Predecessors) -> bool {
        predecessors.same_provider(self, other)
    }
}

impl TemplateAddress for ModuleAddr {
    type Pattern = ModulePattern;

    const OF: TemplateOf = TemplateOf::Modules;

    fn hostname(&self) -> &Hostname {
        self.hostname()
    }

    fn part(&self, symbol: Symbol) -> &str {
        match symbol {
            Symbol::Hostname => self.hostname().as_str(),
            Symbol::Namespace => self.namespace(),
            Symbol::Name => self.name(),
            Symbol::TargetSystem => self.target(),
            Symbol::Type => "",
        }
    }

    fn literal(pattern: &ModulePattern, symbol: Symbol) -> Option<&str> {
        match symbol {
            Symbol::Hostname => pattern.hostname().map(Hostname::as_str),
            Symbol::Namespace => pattern.namespace(),
            Symbol::Name => pattern.name(),
            Symbol::TargetSystem => pattern.target(),
            Symbol::Type => None,
        }
    }

    fn is_same(&self, other: &Self, predecessors: &Predecessors) -> bool {
        predecessors.same_module(self, other)
    }
}
