//! Text of the user's own files, folders and arguments does nothing to a terminal, a log or a CI system.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;

use crate::setup::hostile::{HOSTILE, VERBS, harmless};
use crate::setup::{Scene, WIDGET, copy};

/// A name for a file or folder: all that is hostile, except `/` and what a command line of these tests splits at.
fn name() -> String {
    HOSTILE.replace('/', "_")
}

/// Every verb that reads files of the work folder.
const LOCAL: [&str; 17] = [
    "install --from REGISTRY/acme/widget --platform linux_amd64 --attempts 1",
    "install --from REGISTRY/acme/widget --platform linux_amd64 --packed --attempts 1",
    "install registry.example.com/acme/widget --platform linux_amd64 --attempts 1",
    "lock --from REGISTRY/acme/widget --attempts 1",
    "lock --from REGISTRY/acme/widget --check --attempts 1",
    "verify registry.example.com/acme/widget --from REGISTRY/acme/widget --attempts 1",
    "verify registry.example.com/acme/widget --from REGISTRY/acme/widget --accept --attempts 1",
    "check .terraform.lock.hcl",
    "check .terraform.lock.hcl --format sarif",
    "check .terraform.lock.hcl --format junit",
    "providers",
    "config check",
    "config snippet registry.example.com/*/* 'ghcr.io/acme/${namespace}/${type}'",
    "resolve registry.example.com/acme/widget --explain --attempts 1",
    "auth explain REGISTRY/acme/widget",
    "versions REGISTRY/acme/widget --attempts 1",
    "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget --attempts 1",
];

impl Scene {
    #[track_caller]
    fn every_local_verb(&self) -> String {
        LOCAL.iter().map(|line| self.harmless(line)).collect()
    }
}

#[test]
fn no_lock_file_acts_on_a_terminal() {
    let texts = [
        format!("provider \"{HOSTILE}\" {{\n}}\n"),
        format!("{HOSTILE} \"x\" {{\n}}\n"),
        format!("provider \"{WIDGET}\" {{\n  version = \"{HOSTILE}\"\n}}\n"),
        format!("provider \"{WIDGET}\" {{\n  version = \"1.4.0\"\n  constraints = \"\\u001b[2J\\n::error::x\"\n}}\n"),
        format!(
            "provider \"{WIDGET}\" {{\n  version = \"1.4.0\"\n  hashes = [\n    \"zh:\\u001b[2J\\n::error::x\",\n  ]\n}}\n"
        ),
        format!("# {}\n\nprovider \"{WIDGET}\" {{\n  version = \"1.3.0\"\n}}\n", HOSTILE.replace('\n', "\n# ")),
        format!("/*\n::error::x\n{HOSTILE}\n*/\nprovider \"{WIDGET}\" {{\n  version = \"1.4.0\"\n}}\n"),
        format!("\u{feff}\r\n\u{2028}{HOSTILE}"),
    ];
    for text in texts {
        let scene = Scene::published().armed();
        // A verb may write the file anew.
        for line in LOCAL {
            scene.context.write(".terraform.lock.hcl", &text);
            scene.harmless(line);
        }
    }
}

#[test]
fn no_configuration_acts_on_a_terminal() {
    let escaped = "\\u001b[2J\\n::error::x\\u202e";
    let texts = [
        format!("terraform {{\n  required_providers {{\n    w = {{ source = \"{escaped}\" }}\n  }}\n}}\n"),
        format!(
            "terraform {{\n  required_providers {{\n    w = {{ source = \"{WIDGET}\", version = \"{escaped}\" }}\n  }}\n}}\n"
        ),
        format!("terraform {{\n  required_version = \"{escaped}\"\n  backend \"{escaped}\" {{}}\n}}\n"),
        format!("module \"{escaped}\" {{\n  source = \"{escaped}\"\n  version = \"{escaped}\"\n}}\n"),
        format!(
            "module \"m\" {{\n  source = \"./{escaped}\"\n}}\nresource \"{escaped}_x\" \"y\" {{\n  provider = {escaped}\n}}\n"
        ),
        format!("provider \"{escaped}\" {{\n  alias = \"{escaped}\"\n}}\n{HOSTILE}"),
        HOSTILE.to_owned(),
    ];
    for text in texts {
        let scene = Scene::published().armed();
        scene.context.write("main.tf", &text);
        let json = json!({"module": {HOSTILE: {"source": HOSTILE}}, "provider": {HOSTILE: {}}, HOSTILE: HOSTILE});
        scene.context.write("more.tf.json", json.to_string());
        scene.every_local_verb();
        scene.context.write("more.tf.json", "{}");
        scene.every_local_verb();
    }
}

#[test]
fn no_trust_policy_and_no_pin_acts_on_a_terminal() {
    let escaped = "\\u001B[2J\\n::error::x\\u202E";
    let key = "[[key]]\nname = \"NAME\"\nfile = \"FILE\"\n[[rule]]\nproviders = [\"P\"]\nkeys = [\"NAME\"]\n";
    let texts = [
        key.replace("NAME", escaped).replace("FILE", "x").replace("\"P\"", "\"*/*/*\""),
        key.replace("NAME", "n").replace("FILE", escaped).replace("\"P\"", "\"*/*/*\""),
        key.replace("NAME", "n").replace("FILE", "x").replace("\"P\"", &format!("\"{escaped}\"")),
        format!("\"{escaped}\" = 1\n"),
        format!("unsigned = \"{escaped}\"\n"),
        HOSTILE.to_owned(),
    ];
    for text in texts {
        let scene = Scene::published().armed();
        scene.context.write("trust.toml", &text);
        scene.every_local_verb();
    }
    let scene = Scene::published().armed();
    let honest = std::fs::read_to_string(scene.path("trust.toml")).expect("it was written");
    scene.context.write("trust.toml", honest.replace("acme-release", escaped).replace("\"allow\"", "\"refuse\""));
    scene.sign("acme/widget", WIDGET, "1.4.0");
    let said = scene.every_local_verb();
    assert!(said.contains("\\u{1b}[2J\\n::error::x"), "the name of a key is shown:\n{said}");
    for entry in std::fs::read_dir(scene.path(".")).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.contains("pins") || name.contains("trust.lock") {
            scene.context.write(&name, HOSTILE);
            scene.every_local_verb();
        }
    }
}

#[test]
fn no_file_of_the_home_folder_acts_on_a_terminal() {
    let escaped = "\\u001b[2J\\n::error::x\\u202e";
    let config = |text: String| vec![(".tofurc", text)];
    let docker = |value: serde_json::Value| vec![(".docker/config.json", value.to_string())];
    let files = [
        config(HOSTILE.to_owned()),
        config(format!(
            "provider_installation {{\n  oci_mirror {{\n    repository_template = \"{escaped}\"\n    include = [\"{escaped}\"]\n  }}\n}}\n"
        )),
        config(format!(
            "provider_installation {{\n  filesystem_mirror {{\n    path = \"/{escaped}\"\n  }}\n  network_mirror {{\n    url = \"https://{escaped}/\"\n  }}\n}}\n"
        )),
        config(format!(
            "oci_credentials \"REGISTRY\" {{\n  username = \"{escaped}\"\n  password = \"pass-word\"\n}}\n"
        )),
        config(format!(
            "oci_credentials \"{escaped}\" {{\n  docker_credentials_helper = \"{escaped}\"\n}}\n\"{escaped}\" \"{escaped}\" {{}}\n"
        )),
        config(format!(
            "oci_default_credentials {{\n  docker_style_config_files = [\"/{escaped}\"]\n}}\ntofu_oci {{\n  magic_suffix = \"{escaped}\"\n}}\n"
        )),
        config(format!(
            "plugin_cache_dir = \"/{escaped}\"\nhost \"{escaped}\" {{\n  services = {{ \"{escaped}\" = \"{escaped}\" }}\n}}\n"
        )),
        config(format!(
            "provider_installation {{\n  dev_overrides {{\n    \"{WIDGET}\" = \"/{escaped}\"\n  }}\n  direct {{}}\n}}\n"
        )),
        docker(json!({"auths": {HOSTILE: {"auth": HOSTILE}, format!("https://{HOSTILE}/v1/"): {"auth": "eDp5"}}})),
        docker(json!({"auths": {"REGISTRY": {"auth": HOSTILE}}})),
        docker(json!({"auths": {"REGISTRY": {"username": HOSTILE, "password": "pass-word"}}})),
        docker(json!({"credHelpers": {"REGISTRY": HOSTILE, HOSTILE: HOSTILE}, "credsStore": HOSTILE})),
        docker(json!({HOSTILE: HOSTILE, "auths": HOSTILE})),
        vec![(".docker/config.json", HOSTILE.to_owned()), (".dockercfg", format!("{{\"{HOSTILE}\""))],
    ];
    for written in files {
        let scene = Scene::published().armed();
        for (name, text) in written {
            scene.context.write_home(name, text.replace("REGISTRY", scene.registry.address()));
        }
        scene.every_local_verb();
        scene.harmless("login REGISTRY");
        scene.harmless("logout REGISTRY");
    }
}

#[test]
fn no_name_of_a_folder_acts_on_a_terminal() {
    let hostile = name();
    let bytes = [hostile.as_bytes(), b"\xff\xfe"].concat();
    for folder in [OsStr::new(&hostile), OsStr::from_bytes(&bytes)] {
        let scene = Scene::published().armed();
        scene.run("copy REGISTRY/acme/widget oci:layout --version 1.4.0").success();
        let all = scene.path("");
        let inner = scene.context.home().join(folder);
        copy(&all, &inner);
        let mut said = String::new();
        for line in LOCAL.iter().chain(&VERBS) {
            let line = line.replace("REGISTRY", scene.registry.address());
            let place = line.replace("AT", "oci:layout");
            said += &scene.harmless_with(&line, &|command| {
                command.current_dir(&inner).args(crate::setup::words(&place));
            });
            // Named from outside, too.
            let Some(verb) =
                ["install", "lock", "verify", "providers", "config check"].iter().find(|one| line.starts_with(**one))
            else {
                continue;
            };
            said += &scene.harmless_with(&line, &|command| {
                let rest = place.strip_prefix(verb).expect("it starts so");
                command.args(crate::setup::words(verb)).arg("--chdir").arg(&inner).args(crate::setup::words(rest));
            });
        }
        assert!(said.contains("\\u{1b}[2J"), "{said}");
        for arguments in [
            vec![OsStr::new("push"), folder, OsStr::new("oci:layout"), OsStr::new("--address"), OsStr::new(WIDGET)],
            vec![OsStr::new("check"), folder],
            vec![OsStr::new("install"), OsStr::new("--into"), folder],
            vec![OsStr::new("sign"), OsStr::new("oci:layout:1.4.0"), OsStr::new("--key"), folder],
        ] {
            scene.harmless_with("a folder as an argument", &|command| {
                command.current_dir(scene.context.home()).args(&arguments);
            });
        }
    }
}

#[test]
fn no_file_of_a_dist_folder_acts_on_a_terminal() {
    let scene = Scene::new().armed();
    let push = "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget";
    std::fs::write(scene.path("dist").join(name()), "x").expect("a name that the system takes");
    std::fs::write(scene.path("dist").join(format!("terraform-provider-widget_1.4.0_{}.zip", &name()[..40])), "x")
        .expect("the same");
    scene.harmless(push);
    scene.context.write("dist/terraform-provider-widget_1.4.0_SHA256SUMS", format!("{}  {HOSTILE}\n", "0".repeat(64)));
    scene.harmless(push);
    scene.context.write(
        "dist/terraform-provider-widget_1.4.0_manifest.json",
        json!({"version": HOSTILE, HOSTILE: HOSTILE}).to_string(),
    );
    scene.harmless(push);
    scene.context.write(
        "dist/artifacts.json",
        json!([{"name": HOSTILE, "path": HOSTILE, "goos": HOSTILE, "type": "Archive"}]).to_string(),
    );
    scene.harmless(push);
}

#[test]
fn no_index_of_an_image_layout_acts_on_a_terminal() {
    for text in [
        HOSTILE.to_owned(),
        json!({"schemaVersion": 2, "manifests": [{"mediaType": HOSTILE, "digest": HOSTILE, "size": 1}]}).to_string(),
        json!({"schemaVersion": 2, "manifests": [{
            "mediaType": HOSTILE, "digest": format!("sha256:{}", "0".repeat(64)), "size": 1,
            "annotations": {"org.opencontainers.image.ref.name": HOSTILE, HOSTILE: HOSTILE},
        }]})
        .to_string(),
    ] {
        let scene = Scene::published().armed();
        scene.run("copy REGISTRY/acme/widget oci:layout --version 1.4.0").success();
        scene.context.write("layout/index.json", &text);
        for verb in VERBS {
            scene.harmless(&verb.replace("AT", "oci:layout"));
        }
        scene.context.write("layout/oci-layout", &text);
        for verb in VERBS {
            scene.harmless(&verb.replace("AT", "oci:layout"));
        }
    }
}

/// A value that no option takes is quoted by the parser of arguments, which knows nothing of lines.
#[test]
fn no_variable_that_stands_for_an_option_acts_on_a_terminal() {
    let scene = Scene::published().armed();
    for name in [
        "TOFU_OCI_TIMEOUT",
        "TOFU_OCI_PLAIN_HTTP",
        "TOFU_OCI_TOKEN_HOST",
        "TOFU_OCI_PREDECESSOR",
        "TOFU_OCI_PRIVATE_HOST",
        "TOFU_OCI_MAGIC_SUFFIX",
        "TOFU_OCI_FROM",
        "TOFU_OCI_TRUST_POLICY",
        "TOFU_OCI_CA_FILE",
        "TOFU_OCI_CLIENT_CERT",
    ] {
        for value in [HOSTILE.to_owned(), format!("x.example,{HOSTILE}")] {
            scene.harmless_with("install registry.example.com/acme/widget --attempts 1", &|command| {
                command.env(name, &value);
            });
        }
    }
}

#[test]
fn no_argument_acts_on_a_terminal() {
    let scene = Scene::published().armed();
    let hostile = HOSTILE.replace('\'', "");
    let verbs = [
        "versions",
        "copy",
        "install",
        "lock",
        "verify",
        "check",
        "resolve",
        "sign",
        "push",
        "pack",
        "providers",
        "login",
        "logout",
        "config check",
        "config snippet",
        "config add",
        "config remove",
        "auth explain",
        "nonsense",
    ];
    for verb in verbs {
        for arguments in [
            vec![hostile.clone()],
            vec![hostile.clone(), hostile.clone()],
            vec![WIDGET.to_owned(), "--from".to_owned(), hostile.clone()],
            vec![format!("--{hostile}")],
            vec![format!("--chdir={hostile}")],
            vec![format!("--platform={hostile}"), format!("--timeout={hostile}"), format!("--plain-http={hostile}")],
            vec!["x.example/y".to_owned(), format!("--address={hostile}"), format!("--version={hostile}")],
            vec![format!("--platform=linux_amd64,{hostile}")],
            vec![format!("{WIDGET}@{hostile}")],
            vec![format!("oci:{hostile}"), format!("oci:{hostile}:1.4.0")],
        ] {
            scene.harmless_with(verb, &|command| {
                command.args(crate::setup::words(verb)).args(&arguments);
            });
        }
    }
}

#[test]
fn no_variable_acts_on_a_terminal() {
    let scene = Scene::published().armed();
    let variables = ["FROM", "TIMEOUT", "PLAIN_HTTP", "CA_FILE", "PRIVATE_HOST", "MAGIC_SUFFIX", "ATTEMPTS"];
    let wrapped = format!("{} ::error::x ##[error]y", "w ".repeat(100));
    for value in [HOSTILE, &wrapped, "x\nerror: forged"] {
        for name in variables.map(|name| format!("TOFU_OCI_{name}")) {
            let mut said = String::new();
            for verb in ["versions", "install"] {
                said += &scene.harmless_with(verb, &|command| {
                    command.args([verb, WIDGET]).env(&name, value);
                });
            }
            // Help is never JSON.
            for option in ["--help", "-h"] {
                let mut command = scene.command(&format!("install {option}"));
                let help = scene.output(command.env(&name, value).env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1"));
                harmless(&name, &help.stdout);
                said += &help.stdout;
            }
            assert!(!said.contains("\nerror: forged"), "{name}: {said}");
        }
    }
}
