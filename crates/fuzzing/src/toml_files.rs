//! `serve.toml`, `modules.toml`, `mirror.toml` and `trust.toml`: what is wrong has its place in the text, and what is right
//! answers.

use std::ops::Range;

use tofu_oci_bridge::BridgeConfig;
use tofu_oci_mapper::ModuleMirrors;
use tofu_oci_mirror::RulesFile;
use tofu_oci_trust::Policy;
use tofu_oci_types::{ModuleAddr, Predecessors, ProviderAddr};

use crate::input::text_of;
use crate::seeds;

/// A key for every file that a policy names.
const KEY: &[u8] = include_bytes!("../../../testdata/trust/cosign/test-keys/ed25519.pub");

/// Reads the text as each of the files.
pub fn run(bytes: &[u8]) {
    let text = text_of(bytes);
    let provider: ProviderAddr = "registry.example.com/acme/widget".parse().expect("an address");
    let module: ModuleAddr = "registry.example.com/acme/network/aws".parse().expect("an address");
    match BridgeConfig::parse(text) {
        Ok(config) => {
            assert!(!config.providers.is_empty() || !config.modules.is_empty());
            assert!(config.providers.iter().all(|served| !served.include.is_empty()));
            for host in &config.hosts {
                assert!(config.has_providers_of(host) || config.has_modules_of(host));
            }
        }
        Err(error) => points(text, error.span.as_ref(), &error.to_string()),
    }
    match ModuleMirrors::parse(text, Predecessors::NONE) {
        Ok(mirrors) => {
            if let Some(mirror) = mirrors.of(&module) {
                assert!(mirror.is_for(&module));
                let _ = mirror.place(&module);
            }
        }
        Err(error) => points(text, error.span.as_ref(), &error.to_string()),
    }
    match RulesFile::parse(text) {
        Ok(file) => {
            for rule in &file.rules.allow {
                let (pattern, versions) = (rule.pattern.to_string(), rule.versions.to_string());
                assert_eq!(pattern.parse().as_ref(), Ok(&rule.pattern));
                assert_eq!(versions.parse().as_ref(), Ok(&rule.versions));
            }
        }
        Err(error) => points(text, error.span.as_ref(), &error.to_string()),
    }
    match Policy::parse(text).and_then(|file| file.resolve(|_| Ok(KEY.to_vec()))) {
        Ok(policy) => {
            let _ = policy.rule(&provider);
        }
        Err(error) => points(text, error.span.as_ref(), &error.to_string()),
    }
}

fn points(text: &str, span: Option<&Range<usize>>, problem: &str) {
    assert!(!problem.is_empty());
    assert!(span.is_none_or(|span| text.get(span.clone()).is_some()), "{span:?} is no place in {text:?}");
}

/// A file of each kind.
pub fn seeds() -> Vec<Vec<u8>> {
    seeds::of([
        "hosts = [\"a.example\"]\nhashes = [\"zh\", \"h1\"]\nproxies = [\"10.0.0.0/8\"]\ngrace = \"1h\"\n[[provider]]\ninclude = [\"a.example/acme/*\"]\nexclude = [\"a.example/acme/x\"]\nfrom = \"ghcr.io/acme/${namespace}/${type}\"\nupstream = [\"origin\"]\nmin_age = \"7d\"\nallow = [\"a.example/*/*@~> 1.0\"]\n[[client]]\nname = \"ci\"\ntoken_sha256 = \"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"\nproviders = [\"*/*/*\"]\n[links]\nlifetime = \"15m\"\nsecret = \"s\"\n[limits]\nconnections = 5\nheader_bytes = \"8KiB\"\n",
        "listen = [\"127.0.0.1:8080\"]\n[[module]]\ninclude = [\"a.example/*/*/*\"]\nfrom = \"ghcr.io/${namespace}/${name}/${target_system}\"\noci_locations = true\n",
        "[[module_mirror]]\ninclude = [\"registry.example.com/*/*/*\"]\nexclude = [\"registry.example.com/acme/old/*\"]\nrepository_template = \"ghcr.io/acme/modules/${namespace}/${name}/${target_system}\"\n",
        "to = \"ghcr.io/x\"\nsources = [\"a\"]\nmin_age = \"7d\"\ndeny = [\"*/*/*@< 2.0.0\"]\ngone = \"withdraw\"\n[[provider]]\naddress = \"a.example/b/c\"\nversions = \"~> 1.0\"\nlatest = 3\nplatforms = [\"linux_amd64\"]\n[[provider]]\npattern = \"a.example/*/*\"\n",
        "[[key]]\nname = \"acme\"\nfile = \"acme.pub\"\n[[rule]]\nproviders = [\"registry.example.com/acme/*\"]\nkeys = [\"acme\"]\nthreshold = 1\nunsigned = \"refuse\"\nmoved_tags = \"warn\"\n",
        "provider = 1\n",
    ])
}
