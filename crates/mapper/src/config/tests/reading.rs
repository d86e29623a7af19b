//! What comes out of files that are fine.

use std::path::Path;

use insta::assert_debug_snapshot;
use tofu_oci_types::{ProviderAddr, TofuRelease};

use super::super::{ConfigFileState, ConfigSetting, Environment, Method, MethodKind, RegistryProtocols, read};
use super::{MemoryFiles, environment, read_text};
use crate::{MagicSuffix, MappedPlace, MethodCandidate, Selection};

const ALL: &str = r#"
plugin_cache_dir = "$HOME/cache"
plugin_cache_may_break_dependency_lock_file = true
disable_checkpoint = true

host "private.example" {
  services = {
    "providers.v1" = "https://other.example/v1/"
    "modules.v1"   = 5
  }
}
credentials "Private.example:443" {
  token = "hunter2"
}
credentials_helper "vault" {
  args = ["--token", "hunter2"]
}
oci_credentials "ghcr.io/acme" {
  username = "u"
  password = "hunter2"
}
oci_default_credentials {
  docker_style_config_files = ["/x/config.json"]
}
registry_protocols {
  retry_count             = 3
  request_timeout_seconds = "0x10"
}
tofu_oci {
  magic_suffix = "oci.example.com"
}
provider_installation {
  dev_overrides {
    "acme/gadget" = "./dev"
  }
  filesystem_mirror {
    path = "/m"
  }
  oci_mirror {
    repository_template = "ghcr.io/${hostname}/${namespace}/${type}"
    exclude             = ["example.com/*/*"]
  }
  network_mirror {
    url                  = "https://mirror.example/"
    include              = ["example.com/*/*"]
    download_retry_count = 4
    trust_all_hashes     = true
  }
  direct {
    include = ["nosuch.example/*/*"]
  }
}
"#;

fn user() -> (Environment, MemoryFiles) {
    let mut environment = environment();
    environment.vars.insert("HOME".to_owned(), "/home/u".to_owned());
    (environment, MemoryFiles::from([("/home/u/.tofurc", ALL), ("/home/u/cache/", "")]))
}

#[test]
fn every_setting_is_read() {
    let (environment, files) = user();
    let reading = read(&environment, &files, TofuRelease::V1_13);
    assert!(reading.problems.is_empty() && reading.unknown.is_empty(), "{:?} {:?}", reading.problems, reading.unknown);
    let config = reading.refuse().expect("nothing is wrong");
    assert_eq!(config.plugin_cache_dir.as_deref(), Some(Path::new("/home/u/cache")));
    assert!(config.plugin_cache_may_break_lock);
    let (host, services) = config.hosts.iter().next().expect("a host");
    assert_eq!(host.as_str(), "private.example");
    assert_eq!(services.services["providers.v1"].as_text(), Some("https://other.example/v1/"));
    assert_eq!(services.services["modules.v1"], ConfigSetting::Number("5".to_owned()));
    assert_eq!(config.credentials[0].label.as_deref(), Some("Private.example:443"));
    let token = config.credentials[0].attribute("token").expect("a token");
    assert_eq!(token.value.as_text(), Some("hunter2"));
    assert_eq!(ALL.get(token.span.clone()), Some("\"hunter2\""));
    let helper = config.credentials_helper.as_ref().expect("a helper");
    assert_eq!(helper.label.as_deref(), Some("vault"));
    assert!(
        matches!(&helper.attribute("args").expect("arguments").value, ConfigSetting::List(list) if list.len() == 2)
    );
    assert_eq!(config.oci_credentials[0].label.as_deref(), Some("ghcr.io/acme"));
    let span = config.oci_credentials[0].span.clone();
    assert!(ALL.get(span).is_some_and(|text| text.starts_with("oci_credentials") && text.ends_with('}')));
    assert!(config.oci_default_credentials.is_some());
    assert_eq!(config.registry_protocols, RegistryProtocols { retry_count: 3, request_timeout_seconds: 16 });
    assert_eq!(config.magic_suffix.as_ref().expect("a suffix").0.as_str(), "oci.example.com");
    let installation = config.installation.as_ref().expect("methods");
    assert_eq!(installation.dev_overrides[0].address.to_string(), "registry.opentofu.org/acme/gadget");
    assert_eq!(installation.dev_overrides[0].path, Path::new("/w/dev"));
    let labels: Vec<String> = installation.methods.iter().map(Method::label).collect();
    assert_eq!(
        labels,
        [
            "filesystem_mirror at /home/u/.tofurc:36",
            "oci_mirror at /home/u/.tofurc:39",
            "network_mirror at /home/u/.tofurc:43",
            "direct at /home/u/.tofurc:49"
        ]
    );
    let debug = format!("{reading:?}");
    assert!(!debug.contains("hunter2"), "{debug}");
}

#[test]
fn what_1_10_does_not_know_is_recorded_and_ignored() {
    let (environment, files) = user();
    let reading = read(&environment, &files, TofuRelease::V1_10);
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    let names: Vec<&str> = reading.unknown.iter().map(|unknown| unknown.name.as_str()).collect();
    assert_eq!(names, ["download_retry_count", "trust_all_hashes", "registry_protocols"]);
    assert_eq!(reading.config.registry_protocols, RegistryProtocols::default());
    let methods = &reading.config.installation.as_ref().expect("methods").methods;
    assert!(matches!(
        methods[2].kind,
        MethodKind::NetworkMirror { download_retry_count: None, trust_all_hashes: false, .. }
    ));
}

#[test]
fn every_method_says_where_it_looks() {
    let (environment, files) = user();
    let methods = read(&environment, &files, TofuRelease::V1_13).methods(&environment, &files);
    assert!(methods.explicit);
    let suffix = MagicSuffix::default();
    let ask = |address: &str| -> Vec<String> {
        let address: ProviderAddr = address.parse().expect("an address");
        let say = |candidate: &MethodCandidate<'_>| match &candidate.place {
            Some(Ok(place)) => format!("{:?}: {place}", candidate.selection),
            Some(Err(error)) => format!("{:?}: error: {error}", candidate.selection),
            None => format!("{:?}", candidate.selection),
        };
        methods.candidates(&address, &suffix).iter().map(say).collect()
    };
    assert_debug_snapshot!(ask("example.com/acme/widget"), @r#"
    [
        "All: the folder /m",
        "Excluded(0)",
        "Included(0): the network mirror https://mirror.example/",
        "NotIncluded",
    ]
    "#);
    assert_debug_snapshot!(ask("nosuch.example/acme/widget"), @r#"
    [
        "All: the folder /m",
        "All: oci ghcr.io/nosuch.example/acme/widget",
        "NotIncluded",
        "Included(0): the registry nosuch.example",
    ]
    "#);
    assert!(ask("terraform.io/builtin/terraform").is_empty());
}

#[test]
fn the_magic_suffix_is_a_place_of_direct_and_of_nothing_else() {
    let place = |text: &str, address: &str| {
        let files = MemoryFiles::from([("/home/u/.tofurc", text)]);
        let methods = read(&environment(), &files, TofuRelease::V1_13).methods(&environment(), &files);
        let suffix = MagicSuffix::default();
        let address: ProviderAddr = address.parse().expect("an address");
        let candidates = methods.candidates(&address, &suffix);
        candidates
            .iter()
            .filter_map(|candidate| candidate.place.clone()?.ok())
            .map(|place| place.to_string())
            .collect::<Vec<_>>()
    };
    let magic = "ghcr.io.oci.opentofu.org/acme/widget";
    assert_eq!(place("", magic), ["oci ghcr.io/acme/opentofu-provider-widget"]);
    assert_eq!(place("", "acme/widget"), ["the registry registry.opentofu.org"]);
    let airgapped = "provider_installation {\n  filesystem_mirror {\n    path = \"/m\"\n  }\n}\n";
    assert_eq!(place(airgapped, magic), ["the folder /m"]);
    let excluded = "provider_installation {\n  direct {\n    exclude = [\"ghcr.io.oci.opentofu.org/*/*\"]\n  }\n}\n";
    assert_eq!(place(excluded, magic), [""; 0]);
}

#[test]
fn several_files_become_one() {
    let files = MemoryFiles::from([
        (
            "/home/u/.tofurc",
            "plugin_cache_dir = \"/a\"\nregistry_protocols {\n  retry_count = 1\n}\nhost \"x.example\" {\n  services = {\n    a = \"1\"\n    b = \"1\"\n  }\n}\ncredentials \"x.example\" {\n  token = \"one\"\n}\n",
        ),
        (
            "/home/u/.terraform.d/a.tfrc",
            "plugin_cache_dir = \"/b\"\nregistry_protocols {\n  retry_count = 2\n  request_timeout_seconds = 2\n}\nhost \"x.example\" {\n  services = {\n    a = \"2\"\n  }\n}\ncredentials \"x.example\" {\n  token = \"two\"\n}\n",
        ),
        ("/home/u/.terraform.d/b.tfrc", "broken {"),
        (
            "/home/u/.terraform.d/c.tfrc.json",
            "{\"plugin_cache_may_break_dependency_lock_file\": true, \"credentials\": {\"y.example\": {\"token\": \"three\"}}, \"tofu_oci\": {\"magic_suffix\": \"m.example\"}}",
        ),
        ("/a/", ""),
        ("/b/", ""),
    ]);
    let reading = read(&environment(), &files, TofuRelease::V1_13);
    let states: Vec<ConfigFileState> = reading.files.iter().map(|file| file.state).collect();
    assert_eq!(states, [ConfigFileState::Read, ConfigFileState::Read, ConfigFileState::Dropped, ConfigFileState::Read]);
    assert_eq!(reading.problems.iter().map(|problem| problem.file).collect::<Vec<_>>(), [Some(2)]);
    let config = &reading.config;
    assert_eq!(config.plugin_cache_dir.as_deref(), Some(Path::new("/a")));
    assert!(config.plugin_cache_may_break_lock);
    assert_eq!(config.registry_protocols, RegistryProtocols { retry_count: 1, request_timeout_seconds: 2 });
    let host = config.hosts.values().next().expect("a host");
    assert_eq!(host.services.len(), 1);
    assert_eq!(host.services["a"].as_text(), Some("2"));
    let tokens: Vec<Option<&str>> = config
        .credentials
        .iter()
        .map(|block| block.attribute("token").and_then(|token| token.value.as_text()))
        .collect();
    assert_eq!(tokens, [Some("two"), Some("three")]);
    assert_eq!(config.magic_suffix.as_ref().expect("a suffix").0.as_str(), "m.example");
}

const TWO_HOSTS: &str = "host \"x.example\" {\n  services = {\n    a = \"1\"\n    b = \"1\"\n  }\n}\nhost \"x.example\" {\n  services = {\n    a = \"2\"\n  }\n}\n";

#[track_caller]
fn check_services(text: &str, release: TofuRelease, want: &[(&str, &str)]) {
    let reading = read_text(text, release);
    let host = reading.config.hosts.values().next().expect("a host");
    let services: Vec<_> =
        host.services.iter().map(|(name, value)| (name.as_str(), value.as_text().unwrap())).collect();
    assert_eq!(services, want, "{release}");
}

#[test]
fn a_host_written_twice_starts_afresh_in_1_10_alone() {
    check_services(TWO_HOSTS, TofuRelease::V1_10, &[("a", "2")]);
    check_services(TWO_HOSTS, TofuRelease::V1_12, &[("a", "2"), ("b", "1")]);
    check_services(TWO_HOSTS, TofuRelease::V1_13, &[("a", "2"), ("b", "1")]);
}

#[test]
fn a_service_that_hcl_1_has_no_value_for_drops_the_file() {
    for value in ["9223372036854775808", "1e999", "08"] {
        let text = format!("host \"x.example\" {{\n  services = {{\n    a = {value}\n  }}\n}}\n");
        let reading = read_text(&text, TofuRelease::V1_13);
        assert!(reading.config.hosts.is_empty(), "{value}");
        assert_eq!(reading.files[0].state, ConfigFileState::Dropped, "{value}");
        assert_eq!(&text[reading.problems[0].span.clone().expect("a place")], value);
    }
}

#[test]
fn credentials_written_twice_are_read_on() {
    let text = "credentials \"x.example\" {\n  token = \"one\"\n  more = 1\n}\ncredentials \"x.example\" {\n  token = \"two\"\n}\n";
    let reading = read_text(text, TofuRelease::V1_13);
    let [block] = &reading.config.credentials[..] else { panic!("one block") };
    let token = block.attribute("token").expect("a token");
    assert_eq!((token.value.as_text(), &text[token.span.clone()]), (Some("two"), "\"two\""));
    assert_eq!(block.attribute("more").expect("there").value, ConfigSetting::Number("1".to_owned()));
}

#[test]
fn variables_win() {
    let (mut environment, mut files) = user();
    files.add("/cache2/", "");
    let pairs = [
        ("TF_PLUGIN_CACHE_DIR", "/cache2"),
        ("TF_REGISTRY_DISCOVERY_RETRY", "7"),
        ("TF_REGISTRY_CLIENT_TIMEOUT", "-1"),
        ("TF_TOKEN_app_example_com", "hunter2"),
        ("TF_TOKEN_!", "hunter2"),
    ];
    environment.vars.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let reading = read(&environment, &files, TofuRelease::V1_13);
    assert!(reading.problems.is_empty(), "{:?}", reading.problems);
    let config = &reading.config;
    assert_eq!(config.plugin_cache_dir.as_deref(), Some(Path::new("/cache2")));
    assert_eq!(config.registry_protocols, RegistryProtocols { retry_count: 7, request_timeout_seconds: 16 });
    assert_eq!(config.tokens.len(), 1);
    assert_eq!(config.tokens[0].host.as_str(), "app.example.com");
    assert_eq!(config.tokens[0].token.expose(), "hunter2");
    for text in [format!("{reading:?}"), format!("{environment:?}"), config.tokens[0].token.to_string()] {
        assert!(!text.contains("hunter2"), "{text}");
    }
    let on = |value: &str| {
        let mut environment = super::environment();
        environment.vars.insert("TF_PLUGIN_CACHE_MAY_BREAK_DEPENDENCY_LOCK_FILE".to_owned(), value.to_owned());
        read(&environment, &MemoryFiles::default(), TofuRelease::V1_13).config.plugin_cache_may_break_lock
    };
    assert_eq!(["", "0", "1", "false"].map(on), [false, false, true, true]);
}

#[test]
fn a_repeated_argument_is_joined_or_refused() {
    let text = "provider_installation {\n  direct {\n    include = [\"a/b\"]\n    include = [\"c/d\"]\n  }\n}\n";
    let old = read_text(text, TofuRelease::V1_10);
    assert_eq!(old.config.installation.expect("methods").methods[0].include, ["a/b", "c/d"]);
    for release in [TofuRelease::V1_12, TofuRelease::V1_13] {
        let reading = read_text(text, release);
        assert!(reading.config.installation.is_none());
        assert_eq!(reading.refuse().expect_err("refused").code, "hcl1-parse");
    }
}

#[test]
fn a_method_with_an_unreadable_pattern_selects_nobody() {
    let text = "provider_installation {\n  direct {\n    include = [\"a/b\", \"x\"]\n  }\n}\n";
    let reading = read_text(text, TofuRelease::V1_13);
    let method = &reading.config.installation.as_ref().expect("methods").methods[0];
    let dropped = method.dropped.expect("it is dropped");
    assert_eq!(reading.problems[dropped].code, "include-pattern");
    let methods = reading.methods(&environment(), &MemoryFiles::default());
    assert!(methods.explicit && methods.list.is_empty());
    assert_eq!(Selection::All.is_in(), !Selection::NotIncluded.is_in());
    let place = MappedPlace::Filesystem { path: "/m".into() };
    assert!(place.repository().is_none());
}
