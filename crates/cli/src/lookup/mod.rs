//! Where providers are: what `--from` says; otherwise what the CLI configuration says, as `OpenTofu` reads it.
//!
//! ```text
//! --from TEXT          -> From                  one end, a template of ends, or a place of many providers
//! the user's files     -> ConfiguredMethods                           --candidates--> links --> Chain
//! ```
//!
//! With `--from` no file of the user is read. Without it one that has an error ends the verb: `OpenTofu` would go on
//! without what it cannot read, and ask the origin for what was meant to come from a mirror.

mod configuration;
mod upstream;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use tofu_oci_explain::providers::root_cause;
use tofu_oci_installer::PluginCache;
use tofu_oci_mapper::config::{Method, MethodKind};
use tofu_oci_mapper::{MapError, MappedPlace};
use tofu_oci_source::{
    BundleSource, ConfiguredMethods, FolderSource, HostedPlace, MethodOpener, OciSource, Source, SourceError,
};
use tofu_oci_store::{CachedStore, DirStore, ManifestFiles, ReadStore};
use tofu_oci_types::{Constraints, Place, Predecessors, ProviderAddr};

use crate::args::LookupArgs;
use crate::connect::Connector;
use crate::diagnostic::Diagnostic;
use crate::ends::{End, From, shown};
use crate::environment::{cache_folder, plugin_cache_variable};
use crate::exit::Exit;

use configuration::no_method;
pub(crate) use configuration::{configured, refuse};
pub(crate) use upstream::{ORIGIN, in_order, lookup_of};

/// Finds the places of addresses and opens them.
pub(crate) struct Finder {
    rules: Arc<Rules>,
    connector: Connector,
    opener: OnceLock<MethodOpener>,
    many: OnceLock<Arc<dyn Source>>,
}

enum Rules {
    /// `--from`, as it was written.
    From {
        from: From,
        text: String,
    },
    Configured(Box<ConfiguredMethods>),
}

/// One place of an address, and why there.
pub(crate) struct FoundPlace {
    pub(crate) place: String,
    pub(crate) rule: String,
}

impl FoundPlace {
    /// The place that a method gives by itself.
    fn of(method: &Method, place: &MappedPlace) -> Self {
        match place {
            MappedPlace::Oci(oci) => Self::by(method, oci.rule.to_string(), place.address()),
            _ => Self { place: place.address(), rule: method.label() },
        }
    }

    /// A place by a rule, which a method of a file has.
    fn by(method: &Method, rule: String, place: String) -> Self {
        let rule = if method.file.is_some() { format!("{rule}, {}", method.label()) } else { rule };
        Self { place, rule }
    }
}

/// The places of an address, in the order of asking.
pub(crate) struct Places {
    pub(crate) found: Vec<FoundPlace>,
    /// Methods that are for the address and lead nowhere: an installation stops at them.
    pub(crate) failed: Vec<String>,
}

impl Finder {
    /// What the arguments and the user's files say. `not_asked` are folders that are written to, and therefore not
    /// looked into.
    pub(crate) fn new(
        lookup: &LookupArgs,
        connector: Connector,
        chdir: Option<&Path>,
        not_asked: &[PathBuf],
    ) -> Result<Self, Diagnostic> {
        let rules = if let Some(text) = &lookup.from {
            Rules::From { from: From::parse(text)?, text: text.clone() }
        } else {
            let configured = configured(connector.config(chdir)?, lookup, not_asked)?;
            refuse(&configured, connector.access())?;
            Rules::Configured(Box::new(configured))
        };
        Ok(Self { rules: Arc::new(rules), connector, opener: OnceLock::new(), many: OnceLock::new() })
    }

    /// A finder for another question: it does not know what a place has listed, and shares what hosts publish and their tokens.
    pub(crate) fn anew(&self) -> Result<Self, Diagnostic> {
        let opener = match &*self.rules {
            Rules::From { from: From::Many(Place::NetworkMirror(_)), .. } => Some(self.opener(&self.without_rules()?)?),
            Rules::From { .. } => None,
            Rules::Configured(configured) => Some(self.opener(configured)?),
        };
        Ok(Self {
            rules: Arc::clone(&self.rules),
            connector: self.connector.clone(),
            opener: opener.map(|opener| OnceLock::from(opener.anew())).unwrap_or_default(),
            many: OnceLock::new(),
        })
    }

    /// What the user's files say about clients. With `--from` their methods do not count.
    fn without_rules(&self) -> Result<ConfiguredMethods, Diagnostic> {
        configured(self.connector.config(None)?, &LookupArgs::default(), &[])
    }

    fn opener(&self, configured: &ConfiguredMethods) -> Result<&MethodOpener, Diagnostic> {
        if let Some(opener) = self.opener.get() {
            return Ok(opener);
        }
        let opener = MethodOpener::new(configured, self.connector.client()?, self.connector.host_tokens()?)
            .with_manifests(kept_manifests());
        Ok(self.opener.get_or_init(|| opener))
    }

    /// The CLI configuration, where it decides.
    pub(crate) fn configured(&self) -> Option<&ConfiguredMethods> {
        match &*self.rules {
            Rules::From { .. } => None,
            Rules::Configured(configured) => Some(configured),
        }
    }

    /// What opened the ends; for a verb that goes another way after all.
    pub(crate) fn into_connector(self) -> Connector {
        self.connector
    }

    /// The plugin cache that the user wants. The variables count with `--from` too, the file does not.
    /// It is never made: the CLI configuration has been refused already if it is not there.
    pub(crate) fn cache(&self, dir: &Path) -> Result<Option<PluginCache>, Diagnostic> {
        let Some(configured) = self.configured() else { return plugin_cache_variable(dir) };
        let config = &configured.reading.config;
        let may_break_lock = config.plugin_cache_may_break_lock;
        Ok(config.plugin_cache_dir.clone().map(|dir| PluginCache { dir, may_break_lock }))
    }

    /// Every place that `address` may come from; at least one. A host may be asked for its services.
    /// It fails if no rule speaks about the address, or one gives no repository for it.
    pub(crate) async fn places(&self, address: &ProviderAddr) -> Result<Places, Diagnostic> {
        match &*self.rules {
            Rules::From { from, text } => {
                Ok(Places { found: vec![from_place(from, text, address)?], failed: Vec::new() })
            }
            Rules::Configured(configured) => self.configured_places(configured, address).await,
        }
    }

    /// The place or places of `address`, opened.
    pub(crate) fn source(&self, address: &ProviderAddr) -> Result<Arc<dyn Source>, Diagnostic> {
        let opened = match &*self.rules {
            Rules::From { from: From::Many(place), .. } => self.many(place, address),
            Rules::From { from, .. } => from.end(address).and_then(|end| {
                let store: Arc<dyn ReadStore> = match &end {
                    // A package that is installed and locked does not need a folder that is gone.
                    End::Layout(dir) => Arc::new(DirStore::open_later(dir)),
                    End::Registry(_) => match kept_manifests() {
                        Some(files) => Arc::new(CachedStore::new(self.connector.source(&end)?, files)),
                        None => self.connector.source(&end)?,
                    },
                };
                Ok(Arc::new(OciSource::new(store)) as Arc<dyn Source>)
            }),
            Rules::Configured(configured) => self.chain(configured, address),
        };
        opened.map_err(|diagnostic| diagnostic.about(&address.to_string()))
    }

    /// A place with many providers, opened once.
    fn many(&self, place: &Place, address: &ProviderAddr) -> Result<Arc<dyn Source>, Diagnostic> {
        if let Some(source) = self.many.get() {
            return Ok(Arc::clone(source));
        }
        let source: Arc<dyn Source> = match place {
            Place::Bundle(file) => Arc::new(BundleSource::new(file)),
            Place::NetworkMirror(url) => {
                let configured = self.without_rules()?;
                let (url, download_retry_count) = (url.clone(), None);
                let place = Ok(MappedPlace::NetworkMirror { url: url.clone() });
                let kind = MethodKind::NetworkMirror { url, download_retry_count, trust_all_hashes: false };
                let method = Method::of_option(kind, "--from");
                self.opener(&configured)?.link(&configured, &method, &place, address).source
            }
            Place::Folder(dir) => Arc::new(FolderSource::tree(dir, |_| true)),
            _ => unreachable!("`From::parse` makes no other place"),
        };
        Ok(Arc::clone(self.many.get_or_init(|| source)))
    }

    /// The methods that are for `address`, in their order, as one source.
    fn chain(&self, configured: &ConfiguredMethods, address: &ProviderAddr) -> Result<Arc<dyn Source>, Diagnostic> {
        if address.is_builtin() {
            return Err(no_method(configured, address));
        }
        let chain = self.opener(configured)?.chain(configured, address);
        for link in chain.links() {
            tracing::info!(%address, method = link.label, place = %link.source.place(), "where to look");
        }
        Ok(Arc::new(chain))
    }

    /// The same without any request: a host that `direct` leads to is its own place.
    pub(crate) fn places_unasked(&self, address: &ProviderAddr) -> Result<Vec<FoundPlace>, Diagnostic> {
        let configured = match &*self.rules {
            Rules::From { from, text } => return Ok(vec![from_place(from, text, address)?]),
            Rules::Configured(configured) => configured,
        };
        let mut found = Vec::new();
        for candidate in configured.candidates(address) {
            let Some(place) = candidate.place else { continue };
            let label = candidate.method.label();
            let place = place.map_err(|error| {
                Diagnostic::of(Exit::Fixable, &error).code(error.code()).cause(format!("by {label}"))
            })?;
            found.push(FoundPlace::of(candidate.method, &place));
        }
        if found.is_empty() { Err(no_method(configured, address)) } else { Ok(found) }
    }

    async fn configured_places(
        &self,
        configured: &ConfiguredMethods,
        address: &ProviderAddr,
    ) -> Result<Places, Diagnostic> {
        let (mut found, mut failed) = (Vec::new(), Vec::new());
        let mut first = None;
        for candidate in configured.candidates(address) {
            let Some(place) = candidate.place else { continue };
            let label = candidate.method.label();
            let place = place.map_err(|error| {
                Diagnostic::of(Exit::Fixable, &error)
                    .code(error.code())
                    .cause(format!("by {label}"))
                    .hint("exclude the provider from this method, or change the template so that it gives a repository")
            })?;
            let asked = match &place {
                MappedPlace::Oci(oci) => {
                    let admitted = self.opener(configured)?.admit(candidate.method, oci, address);
                    admitted.map(|()| FoundPlace::of(candidate.method, &place)).map_err(SourceError::from)
                }
                MappedPlace::Direct { .. } => {
                    let hosted = self.opener(configured)?.direct(configured, address).hosted(address).await;
                    hosted.map(|hosted| match hosted {
                        HostedPlace::Registry(_) => {
                            let host = address.hostname().display();
                            FoundPlace::by(candidate.method, format!("providers.v1 of {host}"), host)
                        }
                        HostedPlace::Repository(oci) => FoundPlace::of(candidate.method, &MappedPlace::Oci(oci)),
                    })
                }
                _ => Ok(FoundPlace::of(candidate.method, &place)),
            };
            match asked {
                Ok(place) => found.push(place),
                Err(error) => {
                    failed.push(format!("{label}: {}", root_cause(&error)));
                    first.get_or_insert_with(|| Diagnostic::from(error));
                }
            }
        }
        if found.is_empty() {
            return Err(first.unwrap_or_else(|| no_method(configured, address)));
        }
        Ok(Places { found, failed })
    }

    /// The repositories that the methods give an address, each with what to do if it holds another provider. A host
    /// that does not say where its providers are gives none; that is reported when it is asked for versions.
    async fn repositories(
        &self,
        configured: &ConfiguredMethods,
        address: &ProviderAddr,
    ) -> Result<Vec<(String, &'static str)>, Diagnostic> {
        let mut repositories = Vec::new();
        for place in configured.candidates(address).into_iter().filter_map(|candidate| candidate.place?.ok()) {
            let (repository, hint) = match place {
                MappedPlace::Oci(oci) => (oci.repository, MIRROR_TEMPLATE),
                MappedPlace::Direct { .. } => {
                    let direct = self.opener(configured)?.direct(configured, address);
                    // A registry keeps its providers apart.
                    let Ok(HostedPlace::Repository(oci)) = direct.hosted(address).await else { continue };
                    (oci.repository, HOST_TEMPLATE)
                }
                _ => continue,
            };
            repositories.push((repository.to_string(), hint));
        }
        Ok(repositories)
    }

    /// Refuses rules that send two of these addresses to one repository: it holds one provider, under the hosts that count as
    /// one.
    pub(crate) async fn tell_apart(
        &self,
        wanted: &[(ProviderAddr, Constraints)],
        predecessors: &Predecessors,
    ) -> Result<(), Diagnostic> {
        let mut seen: HashMap<String, &ProviderAddr> = HashMap::new();
        if wanted.len() < 2 || matches!(&*self.rules, Rules::From { from: From::Many(_), .. }) {
            return Ok(());
        }
        for (address, _) in wanted {
            let places = match &*self.rules {
                Rules::From { from, .. } => vec![(from.end(address)?.to_string(), FROM_TEMPLATE)],
                Rules::Configured(configured) => self.repositories(configured, address).await?,
            };
            for (place, hint) in places {
                match seen.insert(place.clone(), address) {
                    Some(other) if !predecessors.same_provider(other, address) => {
                        return Err(same_place(other, address, place, hint));
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }
}

/// The manifests that earlier runs have read; `None` if the environment names no cache folder.
fn kept_manifests() -> Option<ManifestFiles> {
    Some(ManifestFiles::new(&cache_folder("manifests")?))
}

fn same_place(first: &ProviderAddr, second: &ProviderAddr, place: String, hint: &'static str) -> Diagnostic {
    let same = MapError::SamePlace { first: first.to_string(), second: second.to_string(), place };
    let diagnostic = Diagnostic::of(Exit::Usage, &same).code(same.code());
    let (one, two) = (first.hostname(), second.hostname());
    if *first != second.under(one.clone()) {
        return diagnostic.hint(hint);
    }
    let pair = format!("{}={}", two.display(), one.display());
    diagnostic
        .hint(if hint == FROM_TEMPLATE { FROM_TEMPLATE_OF_HOSTS } else { hint })
        .hint(format!("if the hosts share the repository: --predecessor {pair}"))
}

fn from_place(from: &From, text: &str, address: &ProviderAddr) -> Result<FoundPlace, Diagnostic> {
    let rule = match from {
        From::One(_) => "--from".to_owned(),
        From::Many(place) => return Ok(FoundPlace { place: shown(place), rule: "--from".to_owned() }),
        From::Repositories(_) | From::Layouts(_) => format!("the repository template `{text}`"),
    };
    Ok(FoundPlace { place: from.end(address)?.to_string(), rule })
}

const FROM_TEMPLATE: &str = "give a template: --from 'REGISTRY/${namespace}/${type}'";
const FROM_TEMPLATE_OF_HOSTS: &str = "give a template: --from 'REGISTRY/${hostname}/${namespace}/${type}'";
const MIRROR_TEMPLATE: &str =
    "write a repository_template that tells them apart: REGISTRY/${hostname}/${namespace}/${type}";
const HOST_TEMPLATE: &str = "the host must publish a template for oci-providers.v1 with {namespace} and {type}; until \
                             then, write an oci_mirror for one of the two";
