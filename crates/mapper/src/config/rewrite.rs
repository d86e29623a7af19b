//! The CLI configuration that the command of `run` reads: the user's own, with other installation methods and `host`
//! blocks, as one file.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_hcl::{Duplicates, HclSyntax, HclValue, hcl1_string};
use tofu_oci_types::Hostname;

use super::written::{has, read_instead};
use super::{
    BlockAttribute, BlockKind, CliConfig, CliConfigReading, ConfigFile, ConfigFileState, ConfigSetting, Environment,
    MEASURED, Masked, RawBlock, RegistryProtocols, WrittenMethod, write_methods,
};

/// Settings of Terraform alone, which no reading holds. One file in which they are on suffices.
const CHECKPOINT: [&str; 2] = ["disable_checkpoint", "disable_checkpoint_signature"];

/// What a program gets that is not in the files.
#[derive(Clone, Debug, Default)]
pub struct RewrittenParts {
    /// In place of the installation methods of the files.
    pub methods: Vec<WrittenMethod>,
    /// The services of hosts, in place of the `host` blocks of the files for these hosts.
    pub hosts: BTreeMap<Hostname, BTreeMap<String, ConfigSetting>>,
    /// Tokens for hosts that the files have none for.
    pub tokens: BTreeMap<Hostname, Masked>,
}

/// What `OpenTofu` would read differently from what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReadBack {
    /// The `host` blocks.
    #[error("OpenTofu would read the services of hosts differently from what was written")]
    Services,
    #[error("OpenTofu would read the credentials differently from what was written")]
    Credentials,
    /// `provider_installation`.
    #[error("OpenTofu would read the installation methods differently from what was written")]
    Methods,
    /// `plugin_cache_dir`.
    #[error("OpenTofu would read the folder of the plugin cache differently from what was written")]
    PluginCache,
}

/// A file in the native syntax that says what the files say, with the replacement.
///
/// A single file in the native syntax keeps its other bytes. Of JSON, and of several files, every setting is
/// written again. Paths that count from the folder of a file become absolute, so that the text may lie anywhere.
///
/// # Errors
/// If a measured release would read the text as something else: as another host, token or method, or more of them.
pub fn rewrite(
    reading: &CliConfigReading,
    environment: &Environment,
    replacement: &RewrittenParts,
) -> Result<String, NotReadBack> {
    let RewrittenParts { methods, hosts, tokens } = replacement;
    let read: Vec<&ConfigFile> = reading.files.iter().filter(|file| file.state == ConfigFileState::Read).collect();
    let written_methods = write_methods(methods, HclSyntax::Native);
    // A second block for a host would be an error.
    let has_block = hosts.keys().any(|host| reading.config.hosts.contains_key(host));
    let mut text = match read.as_slice() {
        [file] if is_native(file) && !has_block => spliced(reading, environment, file, &written_methods),
        files => written(reading, environment, files, hosts) + &written_methods,
    };
    for (host, services) in hosts {
        text.push_str(&format!("\n{}", host_block(host, services)));
    }
    for (host, token) in tokens {
        let (host, token) = (hcl1_string(&host.display()), hcl1_string(token.expose()));
        text.push_str(&format!("\ncredentials {host} {{\n  token = {token}\n}}\n"));
    }
    check(&text, reading, environment, replacement).map(|()| text)
}

/// Holds what the releases read against what they are to read. Of a block that the files have twice they read different
/// values, so it compares the values of these as the one release reads them that the files were read as.
fn check(
    text: &str,
    reading: &CliConfigReading,
    environment: &Environment,
    replacement: &RewrittenParts,
) -> Result<(), NotReadBack> {
    let mut hosts = services_of(&reading.config);
    hosts.extend(&replacement.hosts);
    let folder = |block: &RawBlock| reading.files.get(block.file).map_or(Path::new(""), |file| &file.path);
    let mut blocks = HostBlocks::new();
    for block in raw_blocks(&reading.config) {
        let value = |attribute: &BlockAttribute| setting(attribute, environment, folder(block));
        let values = block.attributes.iter().map(|attribute| (attribute.name.clone(), value(attribute))).collect();
        blocks.insert((block.kind.name(), block.label.clone()), values);
    }
    for (host, token) in &replacement.tokens {
        let values = BTreeMap::from([("token".to_owned(), ConfigSetting::Text(token.expose().to_owned()))]);
        blocks.insert((BlockKind::Credentials.name(), Some(host.display())), values);
    }
    for release in MEASURED {
        let after = read_instead(text, environment, release).config;
        let is_same_release = release == reading.release;
        let found = services_of(&after);
        let has_services = found.keys().eq(hosts.keys())
            && hosts.iter().all(|(host, services)| {
                found.get(host) == Some(services) || !(is_same_release || replacement.hosts.contains_key(host))
            });
        let mut read = HostBlocks::new();
        for block in raw_blocks(&after) {
            let values = block.attributes.iter().map(|attribute| (attribute.name.clone(), attribute.value.clone()));
            read.insert((block.kind.name(), block.label.clone()), values.collect());
        }
        let has_methods = after.installation.as_ref().is_some_and(|found| has(found, &replacement.methods));
        let same = [
            (has_services, NotReadBack::Services),
            (read.keys().eq(blocks.keys()) && (read == blocks || !is_same_release), NotReadBack::Credentials),
            (has_methods, NotReadBack::Methods),
            (after.plugin_cache_dir == reading.config.plugin_cache_dir, NotReadBack::PluginCache),
        ];
        if let Some((_, part)) = same.into_iter().find(|(is_same, _)| !is_same) {
            return Err(part);
        }
    }
    Ok(())
}

/// The arguments of blocks, by the name and the label of the block.
type HostBlocks = BTreeMap<(&'static str, Option<String>), BTreeMap<String, ConfigSetting>>;

fn services_of(config: &CliConfig) -> BTreeMap<&Hostname, &BTreeMap<String, ConfigSetting>> {
    config.hosts.iter().map(|(host, block)| (host, &block.services)).collect()
}

fn raw_blocks(config: &CliConfig) -> impl Iterator<Item = &RawBlock> {
    let blocks = config.credentials.iter().chain(&config.credentials_helper).chain(&config.oci_credentials);
    blocks.chain(&config.oci_default_credentials)
}

fn is_native(file: &ConfigFile) -> bool {
    let document = tofu_oci_hcl::parse(&file.text, Duplicates::Allowed);
    document.is_ok_and(|document| document.syntax == HclSyntax::Native)
}

/// The text of the only file, with the methods and the absolute paths in their places.
fn spliced(reading: &CliConfigReading, environment: &Environment, file: &ConfigFile, methods: &str) -> String {
    let mut changes: Vec<_> = reading
        .config
        .oci_default_credentials
        .iter()
        .flat_map(|block| {
            block
                .attributes
                .iter()
                .filter(|attribute| attribute.name == FILES)
                .map(|attribute| (attribute.span.clone(), value(&absolute(attribute, environment, &file.path))))
        })
        .collect();
    let end = file.text.len();
    changes.push(match &reading.config.installation {
        Some(installation) => (installation.span.clone(), methods.trim_end().to_owned()),
        None => (end..end, format!("\n{methods}")),
    });
    changes.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = file.text.clone();
    for (span, with) in changes {
        text.replace_range(span, &with);
    }
    text
}

/// Every setting except the methods.
fn written(
    reading: &CliConfigReading,
    environment: &Environment,
    files: &[&ConfigFile],
    replaced: &BTreeMap<Hostname, BTreeMap<String, ConfigSetting>>,
) -> String {
    let config = &reading.config;
    let mut text = String::new();
    let mut line = |name: &str, value: String| text.push_str(&format!("{name} = {value}\n"));
    for name in CHECKPOINT {
        if files.iter().any(|file| is_on(file, name)) {
            line(name, "true".to_owned());
        }
    }
    if let Some(dir) = &config.plugin_cache_dir {
        line("plugin_cache_dir", hcl1_string(&dir.to_string_lossy()));
    }
    if config.plugin_cache_may_break_lock {
        line("plugin_cache_may_break_dependency_lock_file", "true".to_owned());
    }
    for (host, block) in config.hosts.iter().filter(|(host, _)| !replaced.contains_key(host)) {
        text.push_str(&host_block(host, &block.services));
    }
    for raw in raw_blocks(config) {
        let folder = reading.files.get(raw.file).map_or(Path::new(""), |file| &file.path);
        text.push_str(&block(raw, environment, folder));
    }
    let protocols = &config.registry_protocols;
    if *protocols != RegistryProtocols::default() {
        let (retries, seconds) = (protocols.retry_count, protocols.request_timeout_seconds);
        text.push_str(&format!(
            "registry_protocols {{\n  retry_count = {retries}\n  request_timeout_seconds = {seconds}\n}}\n"
        ));
    }
    text
}

fn host_block(host: &Hostname, services: &BTreeMap<String, ConfigSetting>) -> String {
    let services = value(&ConfigSetting::Map(services.clone()));
    format!("host {} {{\n  services = {services}\n}}\n", hcl1_string(&host.display()))
}

/// Whether a truth value at the top of a file is on.
fn is_on(file: &ConfigFile, name: &str) -> bool {
    let Ok(document) = tofu_oci_hcl::parse(&file.text, Duplicates::Allowed) else { return false };
    document.body.items.iter().any(|item| {
        let named = item.keys.first().is_some_and(|key| key.text == name);
        named && matches!(item.value, HclValue::Bool { value: true, .. })
    })
}

/// The argument with paths that count from the folder of the file.
const FILES: &str = "docker_style_config_files";

fn block(raw: &RawBlock, environment: &Environment, file: &Path) -> String {
    let label = raw.label.as_deref().map(|label| format!(" {}", hcl1_string(label))).unwrap_or_default();
    let argument = |attribute: &BlockAttribute| {
        format!("  {} = {}\n", hcl1_string(&attribute.name), value(&setting(attribute, environment, file)))
    };
    let arguments: String = raw.attributes.iter().map(argument).collect();
    format!("{}{label} {{\n{arguments}}}\n", raw.kind.name())
}

/// The value of an argument, wherever its text will lie.
fn setting(attribute: &BlockAttribute, environment: &Environment, file: &Path) -> ConfigSetting {
    match attribute.name.as_str() {
        FILES => absolute(attribute, environment, file),
        _ => attribute.value.clone(),
    }
}

/// The paths, absolute from the folder of `file`.
fn absolute(attribute: &BlockAttribute, environment: &Environment, file: &Path) -> ConfigSetting {
    let folder = file.parent().unwrap_or(Path::new(""));
    let path = |setting: &ConfigSetting| match setting {
        ConfigSetting::Text(path) if !path.is_empty() => {
            ConfigSetting::Text(environment.absolute(folder, Path::new(path)).to_string_lossy().into_owned())
        }
        other => other.clone(),
    };
    match &attribute.value {
        ConfigSetting::List(paths) => ConfigSetting::List(paths.iter().map(path).collect()),
        other => path(other),
    }
}

fn value(setting: &ConfigSetting) -> String {
    match setting {
        ConfigSetting::Bool(value) => value.to_string(),
        ConfigSetting::Number(digits) => digits.clone(),
        ConfigSetting::Text(text) => hcl1_string(text),
        ConfigSetting::List(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", ")),
        ConfigSetting::Map(members) => {
            let members = members.iter().map(|(name, member)| format!("{} = {}", hcl1_string(name), value(member)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
    }
}
