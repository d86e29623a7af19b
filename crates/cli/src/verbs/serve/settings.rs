//! What is served, by arguments or by a `serve.toml`; what an option changes of the settings.

use std::path::{Path, PathBuf};

use tofu_oci_bridge::{
    BridgeConfig, BridgeConfigError, BridgeConfigProblem, ModuleLocations, ServedModules, ServedProviders, TlsFiles,
    WrittenPlace,
};
use tofu_oci_fetch::RenamedReleases;
use tofu_oci_mirror::UpstreamUse;
use tofu_oci_types::{TextPosition, printable};

use super::trial;
use crate::args::ServeArgs;
use crate::diagnostic::{Diagnostic, settings_fault, settings_text};
use crate::excerpt::excerpt;
use crate::exit::Exit;
use crate::mistake;

/// The name of the settings in the current directory.
const SETTINGS_FILE: &str = "serve.toml";

/// The settings, and where they are written.
pub(super) struct Settings {
    pub(super) config: BridgeConfig,
    /// What the paths in them are relative to.
    pub(super) dir: PathBuf,
    /// The file and its text, if there is one.
    file: Option<(PathBuf, String)>,
}

impl Settings {
    /// Reads the arguments, and the file that they name.
    pub(super) fn asked(args: &ServeArgs) -> Result<Self, Diagnostic> {
        let mut settings = if args.from.is_some() || args.modules_from.is_some() {
            Self { config: of_places(args), dir: PathBuf::from("."), file: None }
        } else {
            Self::of_file(args)?
        };
        settings.change(args)?;
        Ok(settings)
    }

    fn of_file(args: &ServeArgs) -> Result<Self, Diagnostic> {
        let path = args.config.clone().unwrap_or_else(|| PathBuf::from(SETTINGS_FILE));
        if args.config.is_none() && path.symlink_metadata().is_err() {
            if args.show_key {
                return Err(Diagnostic::usage("no `--signing-key` names a key, and there is no serve.toml here")
                    .hint("name the key: tofu-oci serve --show-key --signing-key bridge-key.asc"));
            }
            return Err(Diagnostic::usage("`serve` needs to know what to serve, and there is no serve.toml here")
                .hint("name a place: tofu-oci serve --from 'REGISTRY/${hostname}/${namespace}/${type}'")
                .hint(
                    "or one of modules: tofu-oci serve --modules-from 'REGISTRY/${hostname}/${namespace}/${name}-${target_system}'",
                )
                .hint("or write a serve.toml: tofu-oci help serving"));
        }
        let hint = "serve.toml is looked for in the current directory; --config names another file";
        let text = settings_text(&path, "the settings", "settings-unreadable", hint)?;
        let config = BridgeConfig::parse(&text).map_err(|error| broken(&path, &text, &error))?;
        let dir = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(Self { config, dir, file: Some((path, text)) })
    }

    /// Options count more than the file. Their paths are relative to the current directory.
    fn change(&mut self, args: &ServeArgs) -> Result<(), Diagnostic> {
        let here = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let config = &mut self.config;
        if !args.listen.is_empty() {
            config.listen.clone_from(&args.listen);
        }
        if let Some(url) = &args.url {
            config.url = Some(url.parse().map_err(|error: tofu_oci_bridge::InvalidBaseUrl| {
                Diagnostic::of(Exit::Usage, &error).hint(error.instead())
            })?);
        }
        if !args.host.is_empty() {
            config.hosts.clone_from(&args.host);
        }
        if let (Some(certificate), Some(key)) = (&args.tls_cert, &args.tls_key) {
            config.tls = Some(TlsFiles { certificate: here(certificate), key: here(key) });
        }
        if let Some(dir) = &args.trial_tls {
            config.tls = Some(trial::files(&here(dir)));
        }
        config.plain_http |= args.clear_text;
        if args.sealed {
            config.upstreams = UpstreamUse::Sealed;
        }
        if let Some(key) = &args.signing_key {
            config.signing_key = Some(here(key));
        }
        if args.rename {
            config.providers.iter_mut().for_each(|served| served.renamed = RenamedReleases::Accept);
            config.modules.iter_mut().for_each(|served| served.renamed = RenamedReleases::Accept);
        }
        config.predecessors.extend_from_slice(&args.trust.predecessors.predecessor);
        if let Some(policy) = &args.trust.trust_policy {
            config.trust = Some(here(policy));
        }
        if let (Some(url), Some(_)) = (config.url.as_ref().filter(|url| !url.is_https()), &config.tls) {
            let problem = BridgeConfigProblem::PlainUrl { instead: url.over_tls() };
            return Err(Diagnostic::usage(problem.to_string()).code("settings-invalid").more_hints(problem.instead()));
        }
        match config.listen.iter().find(|address| !address.ip().to_canonical().is_loopback()) {
            Some(&address) if config.tls.is_none() && !config.plain_http => {
                let problem = BridgeConfigProblem::ClearText { address };
                Err(Diagnostic::usage(problem.to_string())
                    .code("settings-invalid")
                    .hint("add --tls-cert FILE --tls-key FILE; or --clear-text if a proxy in front speaks TLS")
                    .hint("to try it: --trial-tls DIR makes a certificate"))
            }
            _ => Ok(()),
        }
    }

    /// A place with its path, if it has one, relative to the current directory instead of the file.
    pub(super) fn located(&self, text: &str) -> String {
        let on_disk =
            ["oci:", "static:", "bundle:"].into_iter().find_map(|kind| Some((kind, text.strip_prefix(kind)?)));
        match (&self.file, on_disk) {
            (Some(_), Some((kind, path))) if !path.is_empty() => format!("{kind}{}", self.dir.join(path).display()),
            _ => text.to_owned(),
        }
    }

    /// Whether a file says what is served, and not the arguments.
    pub(super) fn is_of_file(&self) -> bool {
        self.file.is_some()
    }

    /// An error about a place of the file, with its line.
    pub(super) fn about(&self, place: &WrittenPlace, error: Diagnostic) -> Diagnostic {
        match &self.file {
            Some((path, text)) => {
                error.exiting(Exit::Usage).excerpt(excerpt(&path.display().to_string(), text, &place.span))
            }
            None => error.exiting(Exit::Usage),
        }
    }
}

fn of_places(args: &ServeArgs) -> BridgeConfig {
    let renamed = RenamedReleases::Refuse;
    let written = |text: &String| WrittenPlace { text: text.clone(), span: 0..0 };
    let providers = args.from.iter().map(|from| {
        let include = match args.include.as_slice() {
            [] => vec!["*/*/*".parse().expect("a pattern of every provider")],
            patterns => patterns.to_vec(),
        };
        ServedProviders { include, exclude: Vec::new(), from: written(from), pull: None, renamed }
    });
    let modules = args.modules_from.iter().map(|from| {
        let include = match args.include_modules.as_slice() {
            [] => vec!["*/*/*/*".parse().expect("a pattern of every module")],
            patterns => patterns.to_vec(),
        };
        let locations = if args.oci_locations { ModuleLocations::Oci } else { ModuleLocations::Archives };
        ServedModules { include, exclude: Vec::new(), from: written(from), pull: None, locations, renamed }
    });
    let mut config = BridgeConfig::serving(providers.collect());
    config.modules = modules.collect();
    config
}

/// The fault with its line, shown as errors of a trust policy are.
fn broken(path: &Path, text: &str, error: &BridgeConfigError) -> Diagnostic {
    let fault = error.to_string();
    let diagnostic = settings_fault(path, text, error.span.as_ref(), &fault);
    let diagnostic = match &error.span {
        Some(span) if error.problem.is_about_a_secret() => {
            let shown = path.display().to_string();
            let place = TextPosition::of(text, span.start);
            diagnostic.excerpt(format!("  --> {}:{place}\n", printable(&shown)))
        }
        _ => diagnostic,
    };
    diagnostic
        .code("settings-invalid")
        .more_hints(error.problem.instead().or_else(|| mistake::other_kind(&fault)))
        .hint("every setting of the file: tofu-oci help serve-settings")
}
