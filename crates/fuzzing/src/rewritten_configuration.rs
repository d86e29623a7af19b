//! A CLI configuration, rewritten for a program that is started: the lines before `---` are a host, the name and the value of
//! a service that its discovery document gives, and a token; what follows is the file of the user. What comes out names no
//! host that neither of them names.

use std::collections::{BTreeMap, BTreeSet};

use tofu_oci_mapper::config::{
    CliConfig, ConfigSetting, MEASURED, Masked, RewrittenParts, WrittenMethod, read, rewrite,
};
use tofu_oci_types::Hostname;

use crate::cli_configuration::{InMemory, environment};
use crate::input::text_of;
use crate::seeds;

/// Rewrites the file.
pub fn run(bytes: &[u8]) {
    let (head, main) = text_of(bytes).split_once("\n---\n").unwrap_or(("asked.example", text_of(bytes)));
    let mut lines = head.split('\n').map(str::to_owned);
    let mut line = || lines.next().unwrap_or_default();
    let (host, name, value, token) = (line(), line(), line(), line());
    let Ok(host) = host.parse::<Hostname>() else { return };
    let services = [(name, value.clone()), ("modules.v1".to_owned(), "https://127.0.0.1:1/".to_owned())];
    let services = services.map(|(name, value)| (name, ConfigSetting::Text(value)));
    let environment = environment();
    for release in MEASURED {
        let before = read(&environment, &InMemory { main: main.as_bytes(), listed: None }, release);
        let replacement = RewrittenParts {
            methods: vec![WrittenMethod::FilesystemMirror {
                path: value.clone(),
                include: vec!["registry.example.com/*/*".to_owned()],
                exclude: Vec::new(),
            }],
            hosts: BTreeMap::from([(host.clone(), BTreeMap::from(services.clone()))]),
            tokens: BTreeMap::from([(host.clone(), Masked::new(token.clone()))]),
        };
        let Ok(text) = rewrite(&before, &environment, &replacement) else { continue };
        let mut wanted = named(&before.config);
        wanted.extend([("host", host.display()), ("credentials", host.display())]);
        for other in MEASURED {
            let after = read(&environment, &InMemory { main: text.as_bytes(), listed: None }, other);
            let found = named(&after.config);
            assert!(found.is_subset(&wanted), "{:?}: {text}", found.difference(&wanted));
        }
    }
}

/// The hosts that a configuration has a block for.
fn named(config: &CliConfig) -> BTreeSet<(&'static str, String)> {
    let hosts = config.hosts.keys().map(|host| ("host", host.display()));
    let credentials = config.credentials.iter().filter_map(|block| block.label.clone());
    hosts.chain(credentials.map(|label| ("credentials", label))).collect()
}

/// CLI configurations that were measured, below what a stranger would like to write.
pub fn seeds() -> Vec<Vec<u8>> {
    const ASKED: [&str; 3] = [
        "asked.example\nproviders.v1\nhttps://asked.example/v1/\ntoken",
        "asked.example:8443\na${\n\" }\n}\nhost \"victim.example\" {\n",
        "b\u{fc}cher.example\n%{if true}\nhttps://a/${b}\n$${c}",
    ];
    let mut files = seeds::contents("cli-config", ".tfrc");
    files.truncate(20);
    let of = |file: Vec<u8>| ASKED.map(|asked| [asked.as_bytes(), b"\n---\n", file.as_slice()].concat());
    files.into_iter().flat_map(of).collect()
}
