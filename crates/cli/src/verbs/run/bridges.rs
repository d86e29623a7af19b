//! The servers of a run: one for each bridged method, because two of them may map one address differently.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tofu_oci_archive::Limits;
use tofu_oci_bridge::{
    BaseUrl, Bridge, BridgeSettings, Catalog, CatalogOptions, ClientAccess, ClientRule, LinkOptions, Loopback,
    NewToken, OfferedBy, PackageOptions, Packages, Refusal, ServeError, ServedModulePlace, ServedPlace, ServedRelease,
    ServedSite, Server, SumsSigner, Visibility, ZipDelivery,
};
use tofu_oci_fetch::{RenamedReleases, Trust};
use tofu_oci_lockfile::LockFile;
use tofu_oci_mapper::config::Masked;
use tofu_oci_types::{Hostname, Platform, Predecessors, ProviderAddr, Scheme, Version};
use tokio::task::JoinSet;

use super::methods::{BridgedMethods, BridgedSources};
use super::shared::not_prepared;
use super::watched::Watched;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// How long a question is held while a registry fails. A command asks more than once for a provider, and each question is
/// held: one that fails again is not to cost the user half a minute.
const HOLD: Duration = Duration::from_secs(4);

const CLIENT: &str = "run";

/// The servers; they end when this is dropped.
pub(super) struct Bridges {
    servers: Vec<Arc<Bridge>>,
    modules: Option<Arc<Bridge>>,
    password: NewToken,
    authority: String,
    _running: JoinSet<()>,
}

impl Bridges {
    /// Starts them. Providers are for clients with the password, which is made here: the registries see the credentials
    /// of this user, and the machine may have others.
    pub(super) async fn start(
        methods: &BridgedMethods,
        sources: &BridgedSources,
        modules: Option<ServedModulePlace>,
        trust: &Trust,
        watched: &Arc<Watched>,
        scratch: &Path,
    ) -> Result<Self, Diagnostic> {
        let loopback = Loopback::new().map_err(|error| not_started(&error).code("io"))?;
        let cache = scratch.join("zips");
        std::fs::create_dir(&cache).map_err(|error| not_prepared(&error))?;
        let password = NewToken::generate();
        let (mut servers, mut running) = (Vec::new(), JoinSet::new());
        let starter = BridgeStarter { loopback: &loopback, trust, watched, cache: &cache };
        for (nth, include) in methods.served().enumerate() {
            let client = ClientRule {
                name: CLIENT.parse().expect("the name of a client"),
                token: password.digest.clone(),
                providers: include.clone(),
                modules: Vec::new(),
            };
            let offered = OfferedBy::Place(sources.open(nth, watched));
            // As for OpenTofu's own methods: the user of the command is the one who wrote them.
            let renamed = RenamedReleases::ByPolicy;
            // The command's own configuration excludes, by the very address, as for `install`.
            let place = ServedPlace { include, exclude: Vec::new(), offered, list: None, renamed };
            let access = ClientAccess::new(vec![client], LinkOptions::default(), Predecessors::default());
            let (server, bridge) = starter.bridge("", vec![place], Vec::new(), access).await?;
            running.spawn(server.serve(ServedSite::of(Arc::clone(&bridge)), std::future::pending()));
            servers.push(bridge);
        }
        let modules = match modules {
            Some(place) => {
                let access = ClientAccess::new(Vec::new(), LinkOptions::default(), Predecessors::default());
                let path = format!("{}/", NewToken::generate().token.expose());
                let (server, bridge) = starter.bridge(&path, Vec::new(), vec![place], access).await?;
                running.spawn(server.serve(ServedSite::below_its_path(Arc::clone(&bridge)), std::future::pending()));
                Some(bridge)
            }
            None => None,
        };
        Ok(Self { servers, modules, password, authority: loopback.authority().to_owned(), _running: running })
    }

    /// Where the registries of modules begin, if modules are mapped. Clients show a registry of modules the token of the host
    /// that an address names, which is the user's and stays so: the password is in the path.
    pub(super) fn modules_url(&self) -> Option<&BaseUrl> {
        self.modules.as_ref().map(|bridge| &bridge.settings.base)
    }

    /// Their certificate authority, as PEM.
    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// The addresses of the network mirrors, in the order of the methods.
    pub(super) fn urls(&self) -> impl Iterator<Item = String> {
        self.servers.iter().map(|bridge| bridge.settings.base.join("mirror/"))
    }

    /// The password for each server, as the token of its host. As user information in their addresses it would
    /// stand in the errors of the clients; and no credentials helper is asked for hosts that have a token.
    pub(super) fn tokens(&self) -> BTreeMap<Hostname, Masked> {
        let host = |bridge: &Arc<Bridge>| bridge.settings.base.authority().parse().expect("an address of this machine");
        self.servers.iter().map(|bridge| (host(bridge), Masked::new(self.password.token.expose()))).collect()
    }

    /// What went wrong: what places answered, releases that the trust policy refuses, and packages of which the lock file
    /// has no checksum.
    pub(super) async fn refused(
        &self,
        watched: &Watched,
        lock: &LockFile,
        advice: &dyn Fn(&ProviderAddr) -> String,
    ) -> Vec<Diagnostic> {
        let mut refused = watched.problems();
        let modules = self.modules.iter().flat_map(|bridge| bridge.catalog.modules().refusals());
        refused.extend(modules.map(|refusal| refused_module(&refusal)));
        for (address, version) in watched.releases() {
            for bridge in &self.servers {
                // The answer that the command got is still at hand.
                match bridge.catalog.release(&address, &version).await {
                    Ok(release) if lacks(lock, &release) => refused.push(not_locked(&release, &advice(&address))),
                    Err(refusal @ Refusal::Untrusted { .. }) => refused.push(untrusted(&refusal, &address, &version)),
                    _ => {}
                }
            }
        }
        refused
    }
}

/// What the servers of a run have in common.
struct BridgeStarter<'a> {
    loopback: &'a Loopback,
    trust: &'a Trust,
    watched: &'a Arc<Watched>,
    cache: &'a Path,
}

impl BridgeStarter<'_> {
    /// A server at a free port, and what it serves below `path`.
    async fn bridge(
        &self,
        path: &str,
        places: Vec<ServedPlace>,
        modules: Vec<ServedModulePlace>,
        access: ClientAccess,
    ) -> Result<(Server, Arc<Bridge>), Diagnostic> {
        let (trust, watched) = (self.trust.clone(), self.watched);
        let server = self.loopback.bind(Arc::clone(watched) as _).await;
        let server = server.map_err(|error: ServeError| not_started(&error).code(error.code()))?;
        let base = server.addresses().first().map(|address| format!("https://{address}/{path}"));
        let base = base.and_then(|base| base.parse().ok()).expect("the address of a port is a URL");
        let options = CatalogOptions { hold: HOLD, ..CatalogOptions::new(trust, Arc::clone(watched) as _) };
        let bridge = Arc::new(Bridge {
            catalog: Catalog::new(places, options).with_modules(modules),
            packages: Packages::new(PackageOptions {
                cache: self.cache.to_owned(),
                cache_bytes: u64::MAX,
                limits: Limits::default(),
                delivery: ZipDelivery::PassedOn,
                visibility: Visibility::Private,
            }),
            signer: SumsSigner::new(None),
            access,
            settings: BridgeSettings { base, hosts: Vec::new(), hashes: vec![Scheme::Zh], gives_way: false },
        });
        Ok((server, bridge))
    }
}

fn refused_module(refusal: &Refusal) -> Diagnostic {
    let diagnostic = Diagnostic::new(Exit::Fixable, refusal.for_operator()).code(refusal.code());
    diagnostic.hint("modules.toml says which repository a module is in: tofu-oci help modules")
}

/// Whether the lock file has checksums of the release, and none of the package for this platform.
fn lacks(lock: &LockFile, release: &ServedRelease) -> bool {
    let entry = lock.get(&release.address).filter(|entry| entry.version == release.version && !entry.hashes.is_empty());
    let package = release.packages.get(&Platform::current());
    entry.zip(package).is_some_and(|(entry, package)| !package.hashes.iter().any(|hash| entry.hashes.contains(hash)))
}

fn not_locked(release: &ServedRelease, lock: &str) -> Diagnostic {
    let ServedRelease { address, version, .. } = release;
    let text = format!("the lock file has no checksum of {address} {version} for {}", Platform::current());
    Diagnostic::new(Exit::Fixable, text)
        .code("lock-mismatch")
        .cause("it was made on another platform, and no signature that trust.toml demands covers this one")
        .hint(format!("lock every platform, and look at the difference: {lock}"))
}

fn untrusted(refusal: &Refusal, address: &ProviderAddr, version: &Version) -> Diagnostic {
    let verify = invocation::command(&format!("verify {address}@{version}"));
    let diagnostic = Diagnostic::new(Exit::Fixable, refusal.to_string()).code(refusal.code());
    diagnostic.hint(format!("`{verify}` says who has signed it"))
}

fn not_started(error: &(dyn std::error::Error + 'static)) -> Diagnostic {
    Diagnostic::of(Exit::Unexpected, error).about("the server on this machine cannot start")
}
