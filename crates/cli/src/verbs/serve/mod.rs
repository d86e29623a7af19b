//! `serve`.

mod chosen_hosts;
mod keys;
mod log_file;
mod module_places;
mod one_to_one;
mod open;
mod places;
mod settings;
mod start;
mod trial;
mod upstream;

use std::path::Path;
use std::sync::Arc;

use tofu_oci_bridge::{
    Bridge, BridgeSettings, Catalog, CatalogOptions, PackageOptions, Packages, ServedSite, Server, ServerCertificates,
    ServerOptions, TlsFiles, Visibility,
};

use tofu_oci_disk::{make_private_folder, require_own_folder};
use tofu_oci_types::Scheme;

use super::context::Context;
use super::stop::StoppedBy;
use crate::args::ServeArgs;
use crate::diagnostic::Diagnostic;
use crate::environment::cache_folder;
use crate::exit::Exit;
use settings::Settings;

/// Serves until the user or the system stops it; or says what it would serve, or makes what it needs.
pub(crate) async fn serve(context: &Context, args: &ServeArgs) -> Result<Exit, Diagnostic> {
    if args.new_token {
        keys::print_token(context);
        return Ok(Exit::Done);
    }
    if let Some(file) = &args.new_key {
        keys::make(context, file)?;
        return Ok(Exit::Done);
    }
    if args.show_key {
        keys::show(context, args)?;
        return Ok(Exit::Done);
    }
    let settings = Settings::asked(args)?;
    chosen_hosts::refuse(&settings)?;
    one_to_one::refuse(context, &settings)?;
    let signer = keys::signer(&settings)?;
    let opened = places::open(context, args, &settings).await?;
    let authority = args.trial_tls.as_deref().map(|dir| trial::authority(dir, &settings.config)).transpose()?;
    let certificates = settings.config.tls.as_ref().map(|tls| certificates(&settings.dir, tls)).transpose()?;
    let access = keys::access(&settings)?;
    start::warn(context, &settings, &signer);
    if args.check_config {
        log_file::check(&settings)?;
        cache(&settings)?;
        start::print_settings(context, &settings);
        return Ok(Exit::Done);
    }
    let cache = cache(&settings)?;
    make_private_folder(&cache).map_err(|error| {
        Diagnostic::usage(format!("the cache {} cannot be made", cache.display())).io_hint("write", &cache, &error)
    })?;
    let config = &settings.config;
    let visibility = if access.is_restricted() { Visibility::Private } else { Visibility::Public };
    let mut packages = Packages::new(PackageOptions {
        cache,
        cache_bytes: config.cache.size,
        limits: places::limits(),
        delivery: config.delivery,
        visibility,
    });
    if !config.hosts.is_empty() || config.hashes.contains(&Scheme::H1) {
        packages = packages.learning(Arc::clone(&context.reporter));
    }
    let options = CatalogOptions {
        fresh: config.cache.metadata,
        ..CatalogOptions::new(opened.trust, Arc::clone(&context.reporter))
    };
    let (log, log_path) = log_file::open(&settings)?;
    if let Some(path) = log_path {
        context.stop.ignore_hangups();
        log_file::reopen_at_hangup(path, log.clone(), Arc::clone(&context.reporter));
    }
    let server = Server::bind(ServerOptions {
        listen: config.listen.clone(),
        listen_metrics: config.listen_metrics,
        certificates: certificates.map(Arc::new),
        limits: config.limits.clone(),
        proxies: config.proxies.clone(),
        grace: config.grace,
        log,
        reporter: Arc::clone(&context.reporter),
    })
    .await
    .map_err(|error| Diagnostic::fault(&error))?;
    let bound = server.addresses();
    let base = config.base_url(bound.first().copied().unwrap_or(tofu_oci_bridge::BridgeConfig::DEFAULT_LISTEN));
    let settings_of_bridge =
        BridgeSettings { base, hosts: places::own_hosts(config), hashes: config.hashes.clone(), gives_way: true };
    start::announce(context, config, &settings_of_bridge.base, &server, authority.as_deref());
    let bridge = Arc::new(Bridge {
        catalog: Catalog::new(opened.places, options).with_modules(opened.modules),
        packages,
        signer,
        access,
        settings: settings_of_bridge,
    });
    let mut by = StoppedBy::Interrupt;
    server.serve(ServedSite::of(bridge), async { by = context.stop.asked().await }).await;
    match by {
        StoppedBy::Termination => Ok(Exit::Done),
        StoppedBy::Interrupt => Ok(Exit::Interrupted),
    }
}

fn certificates(dir: &Path, tls: &TlsFiles) -> Result<ServerCertificates, Diagnostic> {
    let files = TlsFiles { certificate: dir.join(&tls.certificate), key: dir.join(&tls.key) };
    ServerCertificates::of_files(files).map_err(|error| Diagnostic::fault(&error))
}

/// The folder of converted packages. It fails if others could put files there: what is in it is served.
fn cache(settings: &Settings) -> Result<std::path::PathBuf, Diagnostic> {
    let named = settings.config.cache.dir.as_ref().map(|dir| settings.dir.join(dir));
    let otherwise = "name another one: `dir` in the [cache] of serve.toml";
    let dir = named.or_else(|| cache_folder("serve")).ok_or_else(|| {
        Diagnostic::usage("there is no folder for the cache: HOME is not set")
            .hint("name one: `dir` in the [cache] of serve.toml")
    })?;
    require_own_folder(&dir).map_err(|fault| {
        Diagnostic::usage(format!("the cache {} is not used: {fault}", dir.display()))
            .code("cache-not-used")
            .hint(fault.hint(otherwise))
    })?;
    Ok(dir)
}
