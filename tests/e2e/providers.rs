//! `providers`.

use std::path::Path;

use insta::assert_snapshot;

use crate::setup::{Scene, copy};

/// The folder of a configuration in `testdata/configurations`, copied into the work folder.
fn configuration(scene: &Scene, name: &str) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/configurations").join(name);
    copy(&from, &scene.path(name));
}

fn write(scene: &Scene, name: &str, text: &str) {
    let path = scene.path(name);
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder in the work folder");
    std::fs::write(path, text).expect("a file in the work folder");
}

#[test]
fn the_tree_of_a_configuration_with_modules() {
    let scene = Scene::new();
    configuration(&scene, "platform");
    assert_snapshot!(scene.run("providers --chdir platform --from 'ghcr.io/acme/mirror/${namespace}/${type}'").text, @"
    exit code: 0
    ----- stdout -----
    Providers required by configuration:
    .
    ├── provider[registry.example.test/acme/cloud] ~> 2.1
    ├── provider[registry.example.test/acme/widget] >= 1.0.0, < 2.0.0
    ├── provider[registry.example.test/security/vault] ~> 0.9.2
    ├── module.app
    │   ├── provider[registry.example.test/acme/cloud] >= 2.1.3
    │   ├── provider[registry.example.test/acme/widget]
    │   └── module.database
    │       ├── provider[registry.example.test/acme/cloud]
    │       └── provider[registry.example.test/acme/random] ~> 3.6
    ├── module.logs
    │   └── provider[registry.example.test/acme/cloud] < 3.0.0
    └── module.network
        └── provider[registry.example.test/acme/cloud] >= 2.0.0

    Providers required by state:

        provider[registry.example.test/acme/cloud]

        provider[registry.example.test/acme/queue]

        provider[registry.example.test/acme/random]

    Modules:

    root module
      cloud = registry.example.test/acme/cloud ~> 2.1, required at platform/main.tf:3:5
        cloud: the provider block at platform/main.tf:17:1
        cloud.south: the provider block at platform/main.tf:21:1
      widget = registry.example.test/acme/widget >= 1.0.0, < 2.0.0, required at platform/main.tf:7:5
        widget: the provider block at platform/main.tf:26:1
      secrets = registry.example.test/security/vault ~> 0.9.2, required at platform/versions_override.tf:4:5
        secrets: no provider block: it runs with an empty configuration

    module.app (./modules/app), called at platform/main.tf:39:14
      place: the folder platform/modules/app
      cloud = registry.example.test/acme/cloud >= 2.1.3, required at platform/modules/app/main.tf:3:5
        cloud: passed `cloud` at platform/main.tf:43:5: the provider block at platform/main.tf:17:1
        cloud.replica: passed `cloud.south` at platform/main.tf:44:5: the provider block at platform/main.tf:21:1 (demanded by `configuration_aliases`)
      zone = registry.example.test/acme/widget, required at platform/modules/app/main.tf:8:5
        zone: passed `widget` at platform/main.tf:45:5: the provider block at platform/main.tf:26:1

    module.app.module.database (./database), called at platform/modules/app/main.tf:29:14
      place: the folder platform/modules/app/database
      cloud = registry.example.test/acme/cloud, required at platform/modules/app/database/main.tf:3:5
        cloud: passed `cloud.replica` at platform/modules/app/main.tf:33:5: the provider block at platform/main.tf:21:1
      random = registry.example.test/acme/random ~> 3.6, required at platform/modules/app/database/main.tf:6:5
        random: no provider block: it runs with an empty configuration

    module.logs (git::https://git.example.test/modules/logs.git?ref=v1.2.0), called at platform/main.tf:50:12
      place: the git repository of its source
      cloud = registry.example.test/acme/cloud < 3.0.0, required at platform/.terraform/modules/logs/main.tf:3:5
        cloud: inherited from root module: the provider block at platform/main.tf:17:1

    module.network (./modules/network), called at platform/main.tf:35:12
      place: the folder platform/modules/network
      cloud = registry.example.test/acme/cloud >= 2.0.0, required at platform/modules/network/main.tf:3:5
        cloud: inherited from root module: the provider block at platform/main.tf:17:1

    Providers:

    registry.example.test/acme/cloud
      versions:      >= 2.0.0, ~> 2.1, >= 2.1.3, < 3.0.0
      local names:   cloud
      aliases:       cloud.replica, cloud.south
      needed by:     the configuration and the state
      locked:        2.1.7
      place:         ghcr.io/acme/mirror/acme/cloud, by the repository template `ghcr.io/acme/mirror/${namespace}/${type}`

    registry.example.test/acme/queue
      needed by:     the state alone
      locked:        no version
      place:         ghcr.io/acme/mirror/acme/queue, by the repository template `ghcr.io/acme/mirror/${namespace}/${type}`

    registry.example.test/acme/random
      versions:      ~> 3.6
      local names:   random
      needed by:     the configuration and the state
      locked:        3.6.2
      place:         ghcr.io/acme/mirror/acme/random, by the repository template `ghcr.io/acme/mirror/${namespace}/${type}`

    registry.example.test/acme/widget
      versions:      >= 1.0.0, < 2.0.0
      local names:   widget, zone
      needed by:     the configuration
      locked:        1.0.0
      place:         ghcr.io/acme/mirror/acme/widget, by the repository template `ghcr.io/acme/mirror/${namespace}/${type}`

    registry.example.test/security/vault
      versions:      ~> 0.9.2
      local names:   secrets
      needed by:     the configuration
      locked:        0.9.5
      place:         ghcr.io/acme/mirror/security/vault, by the repository template `ghcr.io/acme/mirror/${namespace}/${type}`

    ----- stderr -----
    ");
}

#[test]
fn json_names_modules_state_and_providers() {
    let scene = Scene::new();
    configuration(&scene, "platform");
    let said =
        scene.run("providers --chdir platform --from 'ghcr.io/acme/mirror/${namespace}/${type}' --json").success();
    let events: Vec<String> = said.json().iter().map(|line| line["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(
        events.join(" "),
        "module module module module module state provider provider provider provider provider"
    );
    let line = |number: usize| said.json()[number].to_string();
    assert_snapshot!(line(3), @r#"{"event":"module","key":"logs","path":"module.logs","source":"git::https://git.example.test/modules/logs.git?ref=v1.2.0","folder":"platform/.terraform/modules/logs","called":{"path":"platform/main.tf","line":50,"column":12},"comes_from":{"kind":"git","place":null,"tag":null,"digest":null,"pinned":null,"mapped_by":null,"reason":null},"requires":[{"local_name":"cloud","address":"registry.example.test/acme/cloud","constraints":"< 3.0.0","configuration_aliases":[],"explicit":true,"declared":{"path":"platform/.terraform/modules/logs/main.tf","line":3,"column":5}}],"uses":[{"local_name":"cloud","alias":null,"address":"registry.example.test/acme/cloud","kind":"resource","by":"cloud_log.all","declared":{"path":"platform/.terraform/modules/logs/main.tf","line":10,"column":1}}],"configurations":[{"local_name":"cloud","alias":null,"address":"registry.example.test/acme/cloud","origin":"inherited","from":"","block":{"path":"platform/main.tf","line":17,"column":1},"block_module":""}]}"#);
    assert_snapshot!(line(5), @r#"{"event":"state","outcome":"read","path":"platform/terraform.tfstate","backend":null,"providers":[{"address":"registry.example.test/acme/cloud","modules":["","module.app"]},{"address":"registry.example.test/acme/queue","modules":["module.queue"]},{"address":"registry.example.test/acme/random","modules":["module.app.module.database"]}]}"#);
    assert_snapshot!(line(7), @r#"{"event":"provider","address":"registry.example.test/acme/queue","constraints":"","local_names":[],"aliases":[],"in_configuration":false,"in_state":true,"locked":null,"place":"ghcr.io/acme/mirror/acme/queue","rule":"the repository template `ghcr.io/acme/mirror/${namespace}/${type}`","reason":null}"#);
}

#[test]
fn a_provider_without_a_place_does_not_hide_the_tree() {
    let scene = Scene::new();
    configuration(&scene, "provider-type");
    assert_snapshot!(scene.run("providers --chdir provider-type").text, @"
    exit code: 0
    ----- stdout -----
    Providers required by configuration:
    .
    └── provider[registry.opentofu.org/hashicorp/aws]

    Modules:

    root module
      aws = registry.opentofu.org/hashicorp/aws, implied at provider-type/main.tf:1:1
        aws: the provider block at provider-type/main.tf:1:1

    Providers:

    registry.opentofu.org/hashicorp/aws
      local names:   aws
      needed by:     the configuration
      locked:        no version
      place:         registry.opentofu.org, by direct (implicit)

    ----- stderr -----
    ");
}

#[test]
fn what_opentofu_refuses_is_one_error_with_every_place() {
    let scene = Scene::new();
    configuration(&scene, "module-providers-alias-versions");
    assert_snapshot!(scene.refuse("providers --chdir module-providers-alias-versions"), @r#"
    exit code: 1
    ----- stdout -----
    Providers required by configuration:
    .
    ├── provider[registry.opentofu.org/hashicorp/aws] 0.124.0
    └── module.my_mod
        └── provider[registry.opentofu.org/hashicorp/aws] >= 0.1.0

    Modules:

    root module
      aws = registry.opentofu.org/hashicorp/aws 0.124.0, implied at module-providers-alias-versions/main.tf:1:1
        aws.default: the provider block at module-providers-alias-versions/main.tf:1:1

    module.my_mod (./mod), called at module-providers-alias-versions/main.tf:8:12
      place: the folder module-providers-alias-versions/mod
      aws = registry.opentofu.org/hashicorp/aws >= 0.1.0, implied at module-providers-alias-versions/mod/mod.tf:1:1
        aws.foo: the provider block at module-providers-alias-versions/mod/mod.tf:1:1

    Providers:

    registry.opentofu.org/hashicorp/aws
      versions:      >= 0.1.0, 0.124.0
      local names:   aws
      aliases:       aws.default, aws.foo
      needed by:     the configuration
      locked:        no version
      place:         registry.opentofu.org, by direct (implicit)

    ----- stderr -----
    warning: module-providers-alias-versions/main.tf:4:3: `version` in a provider block is deprecated; it counts as `0.124.0`
      hint: put `version = "0.124.0"` into the entry `aws` of `required_providers`
    warning: module-providers-alias-versions/mod/mod.tf:2:3: `version` in a provider block is deprecated; it counts as `>= 0.1.0`
      hint: put `version = ">= 0.1.0"` into the entry `aws` of `required_providers`
    error: OpenTofu refuses this configuration
      cause: module-providers-alias-versions/main.tf:10:5: module `my_mod` has a configuration `aws.foo` of its own; it takes no other

    hint: module-providers-alias-versions/main.tf:10:5: remove this entry, or the provider block in the module
    "#);
}

#[test]
fn modules_that_were_not_fetched_and_states_elsewhere_are_named() {
    let scene = Scene::new();
    write(
        &scene,
        "main.tf",
        "terraform {\n  backend \"s3\" {}\n}\nmodule \"far\" {\n  source  = \"registry.example.com/acme/far/cloud\"\n  version = \"1.0.0\"\n}\n",
    );
    assert_snapshot!(scene.run("providers").text, @"
    exit code: 0
    ----- stdout -----
    Providers required by configuration:
    .

    Modules:

    root module
      needs no provider

    module.far (registry.example.com/acme/far/cloud), called at main.tf:5:13
      place: the registry registry.example.com
      not looked into

    ----- stderr -----
    warning: module.far (registry.example.com/acme/far/cloud) is not installed, so its providers are not known
      hint: run `tofu get` or `terraform get` first
    warning: the state is kept by the backend `s3` (main.tf:2:3) and was not looked into
      hint: `tofu providers` shows the providers that it names
    ");
}

#[test]
fn a_configuration_that_cannot_be_read() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no configuration in .

    hint: name the directory of the configuration: --chdir DIR
    ");
    assert_snapshot!(scene.refuse("providers --chdir none"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no directory none

    hint: --chdir names the directory that holds the configuration and its lock file
    ");
    write(&scene, "main.tf", "terraform {\n  required_providers {\n    w = { source = \"a/b/c/d\" }\n  }\n}\n");
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./main.tf:3:20: `a/b/c/d` is not a provider address: it must read [HOST/]NAMESPACE/TYPE

    hint: write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE, without a scheme such as https://
    ");
    write(&scene, "main.tf", "module \"m\" {\n  source = \"./m\"\n}\n");
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./main.tf:2:12: the module's folder `./m` is not there

    hint: check the module's `source`, or put its folder there
    ");
    write(&scene, "m/main.tf", "module \"back\" {\n  source = \"../m\"\n}\n");
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./m/main.tf:2:12: the module calls itself: `./m` calls `./m`

    hint: remove one of the calls: no program can follow them to an end
    ");
    write(&scene, "main.tf", "# nothing\n");
    write(&scene, "terraform.tfstate", "{\"version\": 3}");
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: ./terraform.tfstate:1:13: the state file has version 3; version 4 is read, which OpenTofu and Terraform 0.12 and later write

    hint: let `tofu state pull` or `terraform state pull` write it anew, or move the file away
    ");
}

#[test]
fn the_data_directory_and_the_workspace_are_those_of_the_environment() {
    let scene = Scene::new();
    write(&scene, "main.tf", "module \"far\" {\n  source = \"acme/far/cloud\"\n}\n");
    write(&scene, "data/modules/modules.json", r#"{"Modules": [{"Key": "far", "Source": "x", "Dir": "data/far"}]}"#);
    write(&scene, "data/far/main.tf", "resource \"zap_x\" \"y\" {}\n");
    write(
        &scene,
        "terraform.tfstate.d/blue/terraform.tfstate",
        r#"{"version": 4, "resources": [{"mode": "data", "type": "b_x", "name": "b", "provider": "provider[\"example.com/acme/b\"]"}]}"#,
    );
    let mut command = scene.command("providers --from 'oci:mirror/${namespace}/${type}'");
    command.env("TF_DATA_DIR", "data").env("TF_WORKSPACE", "blue");
    assert_snapshot!(scene.output(&mut command).text, @"
    exit code: 0
    ----- stdout -----
    Providers required by configuration:
    .
    └── module.far
        └── provider[registry.opentofu.org/hashicorp/zap]

    Providers required by state:

        provider[example.com/acme/b]

    Modules:

    root module
      needs no provider

    module.far (acme/far/cloud), called at main.tf:2:12
      place: the registry registry.opentofu.org
      zap = registry.opentofu.org/hashicorp/zap, implied at data/far/main.tf:1:1
        zap: no provider block: it runs with an empty configuration

    Providers:

    example.com/acme/b
      needed by:     the state alone
      locked:        no version
      place:         oci:mirror/acme/b, by the repository template `oci:mirror/${namespace}/${type}`

    registry.opentofu.org/hashicorp/zap
      local names:   zap
      needed by:     the configuration
      locked:        no version
      place:         oci:mirror/hashicorp/zap, by the repository template `oci:mirror/${namespace}/${type}`

    ----- stderr -----
    ");
}

#[test]
fn a_file_that_cannot_be_read_has_the_advice_that_fits() {
    let scene = Scene::new();
    scene.context.write("main.tf", "");
    scene.context.write("terraform.tfstate", "{\"version\": 4, ");
    let said = scene.refuse("providers");
    assert!(said.contains("hint: let `tofu state pull`"), "{said}");
    scene.context.write(
        "main.tf",
        "terraform {\n  required_providers {\n    a = { source = \"https://a.example/b/c\" }\n  }\n}\n",
    );
    let said = scene.refuse("providers");
    assert!(
        said.contains("hint: write NAMESPACE/TYPE or HOST/NAMESPACE/TYPE, without a scheme such as https://\n"),
        "{said}"
    );
}

#[test]
fn a_modules_address_is_shown_without_its_secrets() {
    let scene = Scene::new();
    let source = "git::https://oauth2:hunter2@git.example/x.git?ref=v1&access_token=hunter2";
    scene.context.write("main.tf", format!("module \"m\" {{\n  source = \"{source}\"\n}}\n"));
    for line in ["providers", "providers --json", "install"] {
        let said = scene.run(line);
        assert!(said.text.contains("git::https://***@git.example/x.git?ref=v1&access_token=***"), "{}", said.text);
        assert!(!said.text.contains("hunter2"), "{}", said.text);
    }
    for place in ["https://u:hunter2@a.example/b", "u:hunter2@a.example/b"] {
        let said = scene.refuse(&format!("versions {place}"));
        assert!(!said.contains("hunter2"), "{said}");
    }
}

#[test]
fn a_lock_file_that_does_not_parse() {
    let scene = Scene::new();
    scene.context.write("main.tf", "");
    scene.context.write(".terraform.lock.hcl", "provider \"x\" {\n");
    assert_snapshot!(scene.refuse("providers"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: ./.terraform.lock.hcl:1:16: the file does not parse: invalid block body; expected `}`, newline or identifier

    hint: correct the file by hand, or restore it from version control; nothing was changed
    ");
}
