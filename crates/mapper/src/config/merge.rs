//! Joins several files into one configuration, and reports problems of the whole.
//!
//! Spec: `OpenTofu` 1.12, cliconfig, `Merge` and `Validate`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tofu_oci_types::{Hostname, quoted};

use super::reader::ReadingNotes;
use super::settings::FileSettings;
use super::{
    CliConfig, CliConfigProblem, ConfigFile, ConfigFiles, ConfigSetting, Effect, Environment, HostBlock, Installation,
    Os, RawBlock, RegistryProtocols, TextPlace, Topic, sources, variables,
};
use crate::MagicSuffix;

/// What the files say, in the order of reading.
#[derive(Default)]
pub(super) struct MergedConfig {
    plugin_cache_dir: Option<(String, Option<TextPlace>)>,
    may_break_lock: bool,
    hosts: BTreeMap<String, HostBlock>,
    credentials: Vec<RawBlock>,
    credentials_helpers: Vec<RawBlock>,
    retry_count: Option<i64>,
    request_timeout_seconds: Option<i64>,
    installations: Vec<Installation>,
    oci_defaults: Vec<RawBlock>,
    oci_credentials: Vec<RawBlock>,
    magic_suffix: Option<(MagicSuffix, TextPlace)>,
}

impl MergedConfig {
    /// Adds the next file.
    pub(super) fn add(
        &mut self,
        settings: FileSettings,
        installations: Vec<Installation>,
        oci_defaults: Vec<RawBlock>,
        oci_credentials: Vec<RawBlock>,
    ) {
        // The first cache folder that is not empty counts, and so does the first timeout; of maps the last member.
        if self.plugin_cache_dir.is_none() {
            let given = settings.plugin_cache_dir.filter(|(dir, _)| !dir.is_empty());
            self.plugin_cache_dir = given.map(|(dir, at)| (dir, Some(at)));
        }
        self.may_break_lock |= settings.may_break_lock;
        for (label, host) in settings.hosts {
            self.hosts.insert(label, host);
        }
        merge_blocks(&mut self.credentials, settings.credentials);
        merge_blocks(&mut self.credentials_helpers, settings.credentials_helpers);
        self.retry_count = self.retry_count.or(settings.retry_count);
        self.request_timeout_seconds = self.request_timeout_seconds.or(settings.request_timeout_seconds);
        self.installations.extend(installations);
        self.oci_defaults.extend(oci_defaults);
        self.oci_credentials.extend(oci_credentials);
        self.magic_suffix = self.magic_suffix.take().or(settings.magic_suffix);
    }

    /// Applies the variables, and checks everything together.
    pub(super) fn finish(
        mut self,
        environment: &Environment,
        files: &dyn ConfigFiles,
        read: &[ConfigFile],
        findings: &mut ReadingNotes,
    ) -> CliConfig {
        if let Some(dir) = environment.var("TF_PLUGIN_CACHE_DIR") {
            self.plugin_cache_dir = Some((dir.to_owned(), None));
        }
        self.may_break_lock |= variables::is_on(environment, "TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE");
        self.validate(findings);
        if let Some((dir, at)) = &self.plugin_cache_dir {
            check_cache(environment, files, dir, at.as_ref(), findings);
        }
        let usual = RegistryProtocols::default();
        let number = |name, file: Option<i64>, usual| variables::positive(environment, name).or(file).unwrap_or(usual);
        let registry_protocols = RegistryProtocols {
            retry_count: number("TF_REGISTRY_DISCOVERY_RETRY", self.retry_count, usual.retry_count),
            request_timeout_seconds: number(
                "TF_REGISTRY_CLIENT_TIMEOUT",
                self.request_timeout_seconds,
                usual.request_timeout_seconds,
            ),
        };
        let mut installation = self.installations.into_iter().next();
        if let Some(installation) = &mut installation {
            sources::check(installation, read, findings);
        }
        let host = |(label, host): (String, HostBlock)| Some((label.parse::<Hostname>().ok()?, host));
        CliConfig {
            installation,
            plugin_cache_dir: self
                .plugin_cache_dir
                .map(|(dir, _)| environment.absolute(&environment.working_dir, Path::new(&dir))),
            plugin_cache_may_break_lock: self.may_break_lock,
            hosts: self.hosts.into_iter().filter_map(host).collect(),
            credentials: self.credentials.into_iter().filter(has_host).collect(),
            credentials_helper: self.credentials_helpers.into_iter().next(),
            oci_credentials: self.oci_credentials,
            oci_default_credentials: self.oci_defaults.into_iter().next(),
            registry_protocols,
            tokens: variables::tokens(environment),
            magic_suffix: self.magic_suffix,
        }
    }

    /// Reports problems that need all files.
    fn validate(&mut self, findings: &mut ReadingNotes) {
        for (label, host) in &self.hosts {
            check_host("host", label, &host.at, findings);
        }
        for block in &self.credentials {
            let at = TextPlace { file: block.file, span: block.span.clone() };
            check_host("credentials", block.label.as_deref().unwrap_or_default(), &at, findings);
            let nested = block.attributes.iter().find(|attribute| crashes(&attribute.value));
            if let Some(attribute) = nested.filter(|_| has_host(block)) {
                let at = TextPlace { file: block.file, span: attribute.span.clone() };
                let message = format!("{} holds a block, and OpenTofu crashes on it", attribute.name);
                let problem = at_place(CliConfigProblem::load("opentofu-crash", message), &at);
                findings.push(problem.instead("write token = \"…\"").effect(Effect::Crash).ours());
            }
        }
        if let Some(second) = self.credentials_helpers.get(1) {
            let at = TextPlace { file: second.file, span: second.span.clone() };
            findings.push(twice("two-helpers", "credentials_helper", &at));
        }
        if let Some(second) = self.installations.get(1) {
            let at = TextPlace { file: second.file, span: second.name_span.clone() };
            let problem = twice("two-blocks", "provider_installation", &at);
            findings.push(problem.instead("put all methods into one block, the first to be asked first"));
        }
        if let Some(second) = self.oci_defaults.get(1) {
            let at = TextPlace { file: second.file, span: second.span.clone() };
            let problem = twice("duplicate-block", "oci_default_credentials", &at);
            // `OpenTofu` reports it later, with its first request to a registry.
            findings.push(problem.topic(Topic::RegistryCredentials).effect(Effect::Crash));
        }
        let mut seen = BTreeSet::new();
        self.oci_credentials.retain(|block| {
            let label = block.label.clone().unwrap_or_default();
            let is_new = seen.insert(label.clone());
            if !is_new {
                let at = TextPlace { file: block.file, span: block.span.clone() };
                let name = format!("oci_credentials for {label}");
                findings.push(twice("duplicate-block", &name, &at).topic(Topic::RegistryCredentials));
            }
            is_new
        });
    }
}

/// A block of a later file replaces one of the same label.
fn merge_blocks(known: &mut Vec<RawBlock>, blocks: Vec<RawBlock>) {
    for block in blocks {
        match known.iter_mut().find(|known| known.label == block.label) {
            Some(earlier) => *earlier = block,
            None => known.push(block),
        }
    }
}

/// Whether `OpenTofu` cannot convert a value of credentials: a block outside a list.
fn crashes(value: &ConfigSetting) -> bool {
    match value {
        ConfigSetting::Map(_) => true,
        ConfigSetting::List(list) => list.iter().any(|item| match item {
            ConfigSetting::Map(map) => map.values().any(crashes),
            item => crashes(item),
        }),
        _ => false,
    }
}

fn has_host(block: &RawBlock) -> bool {
    block.label.as_deref().is_some_and(|label| label.parse::<Hostname>().is_ok())
}

fn at_place(problem: CliConfigProblem, at: &TextPlace) -> CliConfigProblem {
    CliConfigProblem { file: Some(at.file), span: Some(at.span.clone()), ..problem }
}

fn twice(code: &str, name: &str, at: &TextPlace) -> CliConfigProblem {
    let problem = CliConfigProblem::load(code, format!("{name} is given a second time"));
    at_place(problem, at).instead("leave one of them out").effect(Effect::FirstUsed)
}

fn check_host(kind: &str, label: &str, at: &TextPlace, findings: &mut ReadingNotes) {
    let Err(error) = label.parse::<Hostname>() else { return };
    let code = "invalid-host-label";
    let problem = at_place(CliConfigProblem::load(code, error.to_string()), at);
    let problem = problem.instead(format!("write {kind} \"registry.example.com\"")).effect(Effect::EntryIgnored);
    findings.push(if error.passes_opentofu() { problem.kept_by_opentofu() } else { problem });
}

/// `OpenTofu` looks for the folder in the one where it was started, and uses it below the working directory.
fn check_cache(
    environment: &Environment,
    files: &dyn ConfigFiles,
    dir: &str,
    at: Option<&TextPlace>,
    findings: &mut ReadingNotes,
) {
    let path = environment.absolute(&environment.launch_dir, Path::new(dir));
    if files.exists(&path) {
        return;
    }
    let (origin, or) = match at {
        Some(_) => ("plugin_cache_dir", "leave plugin_cache_dir out"),
        None => ("TF_PLUGIN_CACHE_DIR", "unset TF_PLUGIN_CACHE_DIR"),
    };
    let make = |path: &Path| {
        let option = if environment.os == Os::Windows { "" } else { "-p " };
        format!("mkdir {option}{}", quoted(&path.to_string_lossy()))
    };
    let message = format!("{origin} names {}, which is not there", path.display());
    let home = dir.strip_prefix("~/").zip(environment.home.as_ref());
    let instead = match home {
        Some((rest, home)) => {
            let path = home.join(rest);
            format!("write \"{}\", for ~ is not expanded; and create the folder: {}", path.display(), make(&path))
        }
        None => format!("create the folder, {}; or {or}", make(&path)),
    };
    let problem = CliConfigProblem::load("plugin-cache-dir", message).instead(instead).effect(Effect::KeptAnyway);
    findings.push(match at {
        Some(at) => at_place(problem, at),
        None => problem,
    });
}
