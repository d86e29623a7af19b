//! The configuration again, with other installation methods, as one file for a program that is started.

use std::collections::BTreeMap;
use std::path::Path;

use tofu_oci_hcl::{Duplicates, HclSyntax, HclValue};
use tofu_oci_types::Hostname;

use super::written::quoted;
use super::{
    BlockAttribute, CliConfigReading, ConfigFile, ConfigFileState, ConfigForm, ConfigSetting, Environment, RawBlock,
    RegistryProtocols, WrittenMethod, write_methods,
};

/// Settings of Terraform alone, which no reading holds. One file in which they are on suffices.
const CHECKPOINT: [&str; 2] = ["disable_checkpoint", "disable_checkpoint_signature"];

/// A file in the native syntax that says what the files say, with `methods` in place of their installation methods, and
/// with the services of `hosts` in place of those that their `host` blocks name.
///
/// A single file in the native syntax keeps its other bytes. Of JSON, and of several files, every setting is
/// written again. Paths that count from the folder of a file become absolute, so that the text may lie anywhere.
pub fn rewrite(
    reading: &CliConfigReading,
    environment: &Environment,
    methods: &[WrittenMethod],
    hosts: &BTreeMap<Hostname, BTreeMap<String, ConfigSetting>>,
) -> String {
    let read: Vec<&ConfigFile> = reading.files.iter().filter(|file| file.state == ConfigFileState::Read).collect();
    let methods = write_methods(methods, ConfigForm::Native);
    // A second block for a host would be an error.
    let has_block = hosts.keys().any(|host| reading.config.hosts.contains_key(host));
    let text = match read.as_slice() {
        [file] if is_native(file) && !has_block => spliced(reading, environment, file, &methods),
        files => written(reading, environment, files, hosts) + &methods,
    };
    hosts.iter().fold(text, |text, (host, services)| text + "\n" + &host_block(host, services))
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
        line("plugin_cache_dir", quoted(&dir.to_string_lossy()));
    }
    if config.plugin_cache_may_break_lock {
        line("plugin_cache_may_break_dependency_lock_file", "true".to_owned());
    }
    for (host, block) in config.hosts.iter().filter(|(host, _)| !replaced.contains_key(host)) {
        text.push_str(&host_block(host, &block.services));
    }
    let blocks = config.credentials.iter().chain(&config.credentials_helper).chain(&config.oci_credentials);
    for raw in blocks.chain(&config.oci_default_credentials) {
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
    format!("host {} {{\n  services = {services}\n}}\n", quoted(&host.display()))
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
    let label = raw.label.as_deref().map(|label| format!(" {}", quoted(label))).unwrap_or_default();
    let argument = |attribute: &BlockAttribute| {
        let setting = match attribute.name.as_str() {
            FILES => absolute(attribute, environment, file),
            _ => attribute.value.clone(),
        };
        format!("  {} = {}\n", quoted(&attribute.name), value(&setting))
    };
    let arguments: String = raw.attributes.iter().map(argument).collect();
    format!("{}{label} {{\n{arguments}}}\n", raw.kind.name())
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
        ConfigSetting::Text(text) => quoted(text),
        ConfigSetting::List(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", ")),
        ConfigSetting::Map(members) => {
            let members = members.iter().map(|(name, member)| format!("{} = {}", quoted(name), value(member)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
    }
}
