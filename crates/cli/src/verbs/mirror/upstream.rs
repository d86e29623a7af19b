//! Where the mirrored providers come from.

use std::path::Path;
use std::sync::Arc;

use tofu_oci_logins::Access;
use tofu_oci_mirror::{MirrorRules, Providers, providers_in_tree};
use tofu_oci_source::{BundleSource, Source};
use tofu_oci_types::{Event, Pattern, Place, ProviderAddr, Reporter};

use crate::args::{LookupArgs, MirrorArgs};
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::lookup::{Finder, ORIGIN, in_order, lookup_of};
use crate::verbs::context::Context;
use crate::verbs::install::finder;

/// The sources, in order; at least one.
pub(super) struct UpstreamSources {
    sources: Vec<NamedSource>,
    reporter: Arc<dyn Reporter>,
}

struct NamedSource {
    /// As it is written; `None` for the CLI configuration.
    text: Option<String>,
    finder: Finder,
}

impl UpstreamSources {
    /// The sources of the rules; without any, what `--from` or the CLI configuration says.
    pub(super) async fn open(context: &Context, args: &MirrorArgs, texts: &[String]) -> Result<Self, Diagnostic> {
        let open = async |lookup: &LookupArgs| finder(context, lookup, &args.carry.access, None, &[]).await;
        if texts.is_empty() {
            let access = args.carry.lookup.access(&args.carry.access.identity, None).await?;
            return Self::asked_for(context, args, access);
        }
        let reporter = Arc::clone(&context.reporter);
        let mut sources = Vec::with_capacity(texts.len());
        for text in texts {
            let finder = open(&lookup_of(text, &args.carry.lookup)).await.map_err(|error| {
                error
                    .cause(format!("`sources` of the rules names {text:?}"))
                    .hint("\"direct\" in `sources` is the host of each address")
            })?;
            sources.push(NamedSource { text: Some(text.clone()), finder });
        }
        Ok(Self { sources, reporter })
    }

    /// What `--from` or the CLI configuration says, asked as this user.
    pub(super) fn asked_for(context: &Context, args: &MirrorArgs, access: Access) -> Result<Self, Diagnostic> {
        let lookup = &args.carry.lookup;
        let finder = Finder::new(lookup, context.connector(&args.carry.access.network, access), None, &[])?;
        let source = NamedSource { text: lookup.from.clone(), finder };
        Ok(Self { sources: vec![source], reporter: Arc::clone(&context.reporter) })
    }

    /// What opens the destination.
    pub(super) fn connector(&self) -> &Connector {
        self.sources[0].finder.connector()
    }

    /// Where a provider comes from, when it goes to this place; `None` if it goes nowhere.
    pub(super) fn source(&self, address: &ProviderAddr, to: Option<&Place>) -> Result<Arc<dyn Source>, Diagnostic> {
        let open = |source: &NamedSource| match source.text.as_deref() {
            Some(ORIGIN) => source.finder.origin(address),
            _ => source.finder.upstream(address, to),
        };
        let label = |source: &NamedSource| source.text.clone().unwrap_or_default();
        let opened = self.sources.iter().map(|source| Ok((label(source), open(source)?)));
        Ok(in_order(opened.collect::<Result<_, Diagnostic>>()?))
    }

    /// The providers of the rules, each once, in the order of the rules.
    /// It fails if a pattern is for more than one provider and no source can list what it has.
    pub(super) async fn addresses(&self, rules: &MirrorRules) -> Result<Vec<ProviderAddr>, Diagnostic> {
        let mut addresses: Vec<ProviderAddr> = Vec::new();
        for rule in &rules.providers {
            let named = match &rule.providers {
                Providers::One(address) => vec![address.clone()],
                Providers::Matching(pattern) => self.matching(pattern).await?,
            };
            for address in named {
                if !addresses.contains(&address) {
                    addresses.push(address);
                }
            }
        }
        Ok(addresses)
    }

    async fn matching(&self, pattern: &Pattern) -> Result<Vec<ProviderAddr>, Diagnostic> {
        let texts = self.sources.iter().filter_map(|source| source.text.as_deref());
        let listing: Vec<ListedPlace<'_>> = texts.filter_map(ListedPlace::of).collect();
        if listing.is_empty() {
            return Err(Diagnostic::usage(format!("no source lists the providers that match `{pattern}`"))
                .code("pattern-without-list")
                .hint("a registry does not list its providers: write a [[provider]] with `address` for each")
                .hint("the sources oci:DIR, static:DIR and bundle:FILE list theirs"));
        }
        let mut found = Vec::new();
        for place in listing {
            let listed = place.providers().await?;
            found.extend(listed.into_iter().filter(|address| pattern.matches(address)));
        }
        if found.is_empty() {
            let text = format!("no source has a provider that matches `{pattern}`");
            self.reporter.event(&Event::warning("pattern-without-match", text));
        }
        Ok(found)
    }
}

/// A source that says which providers it has.
enum ListedPlace<'a> {
    /// A folder whose folders name them.
    Tree(&'a Path),
    Bundle(&'a Path),
}

impl<'a> ListedPlace<'a> {
    fn of(text: &'a str) -> Option<Self> {
        if let Some(file) = text.strip_prefix("bundle:") {
            return Some(Self::Bundle(Path::new(file)));
        }
        let dir = text.strip_prefix("oci:").or_else(|| text.strip_prefix("static:"))?;
        (!dir.contains("${")).then_some(Self::Tree(Path::new(dir)))
    }

    async fn providers(&self) -> Result<Vec<ProviderAddr>, Diagnostic> {
        match self {
            Self::Tree(dir) => providers_in_tree(dir).map_err(|error| {
                Diagnostic::usage(format!("the providers in {} cannot be listed", dir.display()))
                    .cause(error.to_string())
            }),
            Self::Bundle(file) => Ok(BundleSource::new(*file).providers().await?),
        }
    }
}
