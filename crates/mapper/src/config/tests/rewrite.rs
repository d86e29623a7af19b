//! What a rewritten configuration says: the same as before, except the installation methods.

use std::collections::BTreeMap;

use insta::assert_snapshot;

use super::super::{
    CliConfig, ConfigSetting, Environment, Masked, Method, RewrittenParts, WrittenMethod, read, rewrite,
};
use super::{MemoryFiles, environment};
use tofu_oci_types::TofuRelease;

/// The methods with every `oci_mirror` as a network mirror, numbered in their order.
fn bridged(methods: &[Method]) -> Vec<WrittenMethod> {
    let mut nth = 0;
    let method = |method: &Method| match WrittenMethod::of(method)? {
        WrittenMethod::OciMirror { include, exclude, .. } => {
            nth += 1;
            let url = format!("https://run:secret@127.0.0.1:{nth}/mirror/");
            Some(WrittenMethod::NetworkMirror { url, include, exclude, retries: None, trust_all_hashes: false })
        }
        other => Some(other),
    };
    methods.iter().filter_map(method).collect()
}

/// Everything but the methods, places left out.
fn settings(config: &CliConfig) -> String {
    let blocks = config.credentials.iter().chain(&config.credentials_helper).chain(&config.oci_credentials);
    let blocks = blocks.chain(&config.oci_default_credentials).map(|block| {
        let attributes = block.attributes.iter().map(|attribute| format!("{} {:?}", attribute.name, attribute.value));
        format!("{:?} {:?} {}", block.kind, block.label, attributes.collect::<Vec<_>>().join(" "))
    });
    let hosts = config.hosts.iter().map(|(host, block)| format!("{} {:?}", host.as_str(), block.services));
    let rest = (&config.plugin_cache_dir, config.plugin_cache_may_break_lock, config.registry_protocols);
    [blocks.collect::<Vec<_>>(), hosts.collect(), vec![format!("{rest:?}")]].concat().join("\n")
}

/// Rewrites the files, reads the text back, and returns it.
#[track_caller]
fn check<const N: usize>(files: [(&str, &str); N]) -> String {
    let files = MemoryFiles::from(files);
    let before = read(&environment(), &files, TofuRelease::V1_13);
    assert_eq!(before.problems, [], "the files are sound");
    let methods = before.methods(&environment(), &files);
    let wanted = bridged(&methods.list);
    let replacement = RewrittenParts { methods: wanted.clone(), ..RewrittenParts::default() };
    let text = rewrite(&before, &environment(), &replacement).expect("it is read back");
    let mut moved = MemoryFiles::from([("/tmp/run/cli.tfrc", text.as_str())]);
    moved.add("/w/cache/", "");
    let vars = BTreeMap::from([("TF_CLI_CONFIG_FILE".to_owned(), "/tmp/run/cli.tfrc".to_owned())]);
    for release in super::super::MEASURED {
        let after = read(&Environment { vars: BTreeMap::clone(&vars), ..environment() }, &moved, release);
        assert_eq!(after.problems, [], "{text}");
        let list = after.methods(&environment(), &moved).list;
        assert_eq!(list.iter().filter_map(WrittenMethod::of).count(), wanted.len(), "{text}");
        if release == TofuRelease::V1_13 {
            assert_eq!(list.iter().filter_map(WrittenMethod::of).collect::<Vec<_>>(), wanted, "{text}");
            let absolute = |text: String| text.replace("\"creds/docker.json", "\"/home/u/creds/docker.json");
            assert_eq!(settings(&after.config), absolute(settings(&before.config)), "{text}");
        }
    }
    assert!(!text.contains("oci_mirror"), "{text}");
    text
}

#[test]
fn one_native_file_keeps_its_other_bytes() {
    let text = check([(
        "/home/u/.tofurc",
        r#"# mine
disable_checkpoint = true
credentials "app.example.com" { token = "a\"b" } // a comment
credentials "b.example.com" {
  token = <<EOT
provider_installation { oci_m }
EOT
}
provider_installation {
  filesystem_mirror {
    path    = "/srv/providers"
    include = ["example.com/*/*"]
  }
  # moved
  oci_mirror {
    repository_template = "ghcr.io/acme/${namespace}/${type}"
    include = ["registry.example.com/*/*"]
    exclude = ["registry.example.com/acme/*"]
  }
  oci_mirror {
    repository_template = "ghcr.io/other/${namespace}${"-"}${type}"
    include = ["registry.example.com/acme/*"]
  }
  direct { exclude = ["registry.example.com/*/*"] }
}
oci_default_credentials { docker_style_config_files = ["creds/docker.json", "/etc/docker.json"] }
"#,
    )]);
    assert_snapshot!(text, @r#"
    # mine
    disable_checkpoint = true
    credentials "app.example.com" { token = "a\"b" } // a comment
    credentials "b.example.com" {
      token = <<EOT
    provider_installation { oci_m }
    EOT
    }
    provider_installation {
      filesystem_mirror {
        path    = "/srv/providers"
        include = ["example.com/*/*"]
      }
      network_mirror {
        url     = "https://run:secret@127.0.0.1:1/mirror/"
        include = ["registry.example.com/*/*"]
        exclude = ["registry.example.com/acme/*"]
      }
      network_mirror {
        url     = "https://run:secret@127.0.0.1:2/mirror/"
        include = ["registry.example.com/acme/*"]
      }
      direct {
        exclude = ["registry.example.com/*/*"]
      }
    }
    oci_default_credentials { docker_style_config_files = ["/home/u/creds/docker.json", "/etc/docker.json"] }
    "#);
}

#[test]
fn json_is_written_again() {
    let text = check([
        (
            "/home/u/.tofurc",
            r#"{
  "plugin_cache_dir": "/w/cache",
  "disable_checkpoint": true,
  "host": {"h.example.com": {"services": {"providers.v1": "https://h.example.com/p/"}}},
  "credentials": {"app.example.com": {"token": "t${x}\\\""}},
  "credentials_helper": {"vault": {"args": ["--host", "a b"]}},
  "oci_credentials": {"ghcr.io/acme": {"username": "u", "password": "p"}},
  "registry_protocols": {"retry_count": 3},
  "provider_installation": {
    "oci_mirror": [{"repository_template": "ghcr.io/acme/${namespace}/${type}", "include": ["a.example.com/*/*"]}],
    "direct": [{"exclude": ["a.example.com/*/*"]}]
  }
}"#,
        ),
        ("/w/cache/", ""),
    ]);
    assert_snapshot!(text, @r#"
    disable_checkpoint = true
    plugin_cache_dir = "/w/cache"
    host "h.example.com" {
      services = { "providers.v1" = "https://h.example.com/p/" }
    }
    credentials "app.example.com" {
      "token" = "t${x}\\\""
    }
    credentials_helper "vault" {
      "args" = ["--host", "a b"]
    }
    oci_credentials "ghcr.io/acme" {
      "password" = "p"
      "username" = "u"
    }
    registry_protocols {
      retry_count = 3
      request_timeout_seconds = 10
    }
    provider_installation {
      network_mirror {
        url     = "https://run:secret@127.0.0.1:1/mirror/"
        include = ["a.example.com/*/*"]
      }
      direct {
        exclude = ["a.example.com/*/*"]
      }
    }
    "#);
}

#[test]
fn several_files_are_merged_as_the_clients_merge_them() {
    let text = check([
        (
            "/home/u/.tofurc",
            "plugin_cache_dir = \"/w/cache\"\ncredentials \"a.example.com\" { token = \"main\" }\noci_default_credentials { docker_style_config_files = [\"creds/docker.json\"] }\n",
        ),
        ("/home/u/.terraform.d/credentials.tfrc.json", r#"{"credentials": {"a.example.com": {"token": "later"}}}"#),
        (
            "/home/u/.terraform.d/oci.tfrc",
            "provider_installation {\n  oci_mirror {\n    repository_template = \"ghcr.io/acme/${namespace}/${type}\"\n    include = [\"a.example.com/*/*\"]\n  }\n  direct {}\n}\n",
        ),
        ("/w/cache/", ""),
    ]);
    assert_snapshot!(text, @r#"
    plugin_cache_dir = "/w/cache"
    credentials "a.example.com" {
      "token" = "later"
    }
    oci_default_credentials {
      "docker_style_config_files" = ["/home/u/creds/docker.json"]
    }
    provider_installation {
      network_mirror {
        url     = "https://run:secret@127.0.0.1:1/mirror/"
        include = ["a.example.com/*/*"]
      }
      direct {
      }
    }
    "#);
}

#[test]
fn without_a_file_the_methods_are_the_whole_text() {
    let reading = read(&environment(), &MemoryFiles::default(), TofuRelease::V1_13);
    let direct = WrittenMethod::Direct { include: Vec::new(), exclude: Vec::new(), retries: None };
    let replacement = RewrittenParts { methods: vec![direct], ..RewrittenParts::default() };
    assert_snapshot!(rewrite(&reading, &environment(), &replacement).unwrap(), @"
    provider_installation {
      direct {
      }
    }
    ");
}

/// Texts with which a value ends its string, its block or the file.
const HOSTILE: [&str; 8] = [
    "${",
    "a${b",
    "\" }\n}\nhost \"victim.example\" {\n  services = { \"providers.v1\" = \"https://evil.example/\" }\n}\n",
    "x${ \" = \"\" }\n}\nhost \"victim.example\" {\n  services = { \"a\" = \"https://evil.example/ }",
    "${\\\"}",
    "%{ if true }",
    "\0\u{1b}\u{2028}\n",
    "\u{e123}${\u{fffd}}",
];

#[test]
fn a_service_with_an_unclosed_interpolation_opens_no_block_for_another_host() {
    let files = MemoryFiles::from([("/home/u/.tofurc", "credentials \"victim.example\" {\n  token = \"s\"\n}\n")]);
    let reading = read(&environment(), &files, TofuRelease::V1_13);
    for (nth, first) in HOSTILE.iter().enumerate() {
        for second in HOSTILE {
            let text = |text: &str| ConfigSetting::Text(text.to_owned());
            let inner =
                ConfigSetting::Map(BTreeMap::from([(second.to_owned(), ConfigSetting::List(vec![text(first)]))]));
            let services = BTreeMap::from([
                (format!("{first}{nth}"), text(second)),
                ("modules.v1".to_owned(), text("https://127.0.0.1:1/")),
                (format!("z{second}"), inner),
            ]);
            let replacement = RewrittenParts {
                methods: vec![WrittenMethod::FilesystemMirror {
                    path: (*first).to_owned(),
                    include: vec!["registry.example.com/*/*".to_owned()],
                    exclude: Vec::new(),
                }],
                hosts: BTreeMap::from([("asked.example".parse().unwrap(), services)]),
                tokens: BTreeMap::from([("127.0.0.1:1".parse().unwrap(), Masked::new(format!("{first}{second}")))]),
            };
            // It was written and read back, or this would be an error.
            let text = rewrite(&reading, &environment(), &replacement).unwrap();
            assert!(!text.lines().any(|line| line.starts_with("host \"victim")), "{text}");
        }
    }
}

#[test]
fn what_would_be_read_as_something_else_is_refused() {
    let reading = read(&environment(), &MemoryFiles::default(), TofuRelease::V1_13);
    let check = |services: &str| {
        let services =
            BTreeMap::from([(services.to_owned(), ConfigSetting::Number("1 }\n}\nhost \"b\" {\n".to_owned()))]);
        let hosts = BTreeMap::from([("a.example".parse().unwrap(), services)]);
        rewrite(&reading, &environment(), &RewrittenParts { hosts, ..RewrittenParts::default() })
            .unwrap_err()
            .to_string()
    };
    assert_eq!(check("modules.v1"), "OpenTofu would read the services of hosts differently from what was written");
}

#[test]
fn a_host_that_the_files_have_twice_stays_as_it_is() {
    check([(
        "/home/u/.tofurc",
        "host \"a.example\" {\n  services = { \"a.v1\" = \"/a/\" }\n}\nhost \"a.example\" {\n  services = { \"b.v1\" = \"/b/\" }\n}\n",
    )]);
}
