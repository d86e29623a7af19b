//! Namespaces with an underscore: Terraform 1.16 takes them, OpenTofu does not.

use insta::assert_snapshot;

use crate::serve::Serving;
use crate::setup::Scene;

const ADDRESS: &str = "app.example.com/openai_inc/widget";

fn published() -> Scene {
    let scene = Scene::with_dist();
    scene.run(&format!("push dist REGISTRY/openai_inc/widget --address {ADDRESS}")).success();
    scene.context.write(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = { source = \"app.example.com/openai_inc/widget\" }\n  }\n}\n",
    );
    scene
}

#[test]
fn push_and_check_say_that_opentofu_cannot_install_it() {
    let scene = Scene::with_dist();
    assert_snapshot!(scene.run(&format!("push dist REGISTRY/openai_inc/widget --address {ADDRESS}")).text, @"
    exit code: 0
    ----- stdout -----
    pushed app.example.com/openai_inc/widget 1.4.0 to [REGISTRY]/openai_inc/widget:1.4.0
      index sha256:[DIGEST]
      darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
      linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
      sent 3.7 kB (7 new, 0 present)

    ----- stderr -----
    warning: `app.example.com/openai_inc/widget` is not a provider address of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept
      hint: for both, push it with --address and a namespace without underscores
    widget 1.4.0 darwin_arm64: pushed (324 B)
    widget 1.4.0 linux_amd64: pushed (323 B)
    ");
    let checked = scene.run("check REGISTRY/openai_inc/widget:1.4.0");
    assert_eq!(checked.text.matches("namespace-underscore").count(), 1, "{}", checked.text);
}

#[test]
fn terraform_gets_it_by_every_way_that_is_for_terraform() {
    let scene = published();
    let from = "--from 'REGISTRY/${namespace}/${type}'";
    scene.run(&format!("install {from} --vendor")).success();
    assert!(scene.path("terraform.d/plugins/app.example.com/openai_inc/widget/1.4.0").is_dir());
    scene.run(&format!("install {ADDRESS}@1.4.0 {from} --into mirror --packed")).success();
    scene.run(&format!("mirror --from-config . {from} --to 'REGISTRY/carried/${{namespace}}/${{type}}'")).success();
    scene.run(&format!("versions {ADDRESS} --from 'REGISTRY/carried/${{namespace}}/${{type}}'")).success();
    scene.run(&format!("bundle create carried.tar --from-config . {from}")).success();
    let run = "run --template 'REGISTRY/${namespace}/${type}' --include 'app.example.com/*/*' --";
    let ask = "url=$(sed -n 's/^ *url *= \"\\(.*\\)\"/\\1/p' \"$TF_CLI_CONFIG_FILE\")
        token=$(sed -n 's/^ *token *= \"\\(.*\\)\"/\\1/p' \"$TF_CLI_CONFIG_FILE\")
        curl -sS --noproxy '*' --cacert \"${SSL_CERT_DIR%%:*}/ca.pem\" -H \"Authorization: Bearer $token\" \\
            \"${url}app.example.com/openai_inc/widget/index.json\"";
    scene.context.write("ask.sh", ask);
    assert_eq!(scene.run(&format!("{run} sh ask.sh")).success().stdout, r#"{"versions":{"1.4.0":{}}}"#);
}

#[test]
fn a_bridge_serves_it_and_keeps_it_apart_from_others() {
    let scene = published();
    let place =
        "[[provider]]\ninclude = [\"app.example.com/openai_inc/*\"]\nfrom = \"REGISTRY/${namespace}/${type}\"\n";
    let serving = Serving::with(&scene, place);
    assert_eq!(
        serving.get("/mirror/app.example.com/openai_inc/widget/index.json").text(),
        r#"{"versions":{"1.4.0":{}}}"#
    );
}

#[test]
fn what_opentofu_does_is_done_as_opentofu_does_it() {
    let scene = published();
    let from = "--from 'REGISTRY/${namespace}/${type}'";
    assert_snapshot!(scene.refuse(&format!("install {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `app.example.com/openai_inc/widget` is not a provider address of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept

    hint: for Terraform: tofu-oci install --vendor, tofu-oci install --into DIR, or tofu-oci run -- terraform init
    ");
    assert_snapshot!(scene.refuse(&format!("lock {ADDRESS} {from}")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `app.example.com/openai_inc/widget` is not a provider address of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept

    hint: for Terraform: tofu-oci install --vendor, tofu-oci install --into DIR, or tofu-oci run -- terraform init
    ");
    assert_snapshot!(scene.run("providers").text, @"
    exit code: 1
    ----- stdout -----
    Providers required by configuration:
    .
    └── provider[app.example.com/openai_inc/widget]

    Modules:

    root module
      widget = app.example.com/openai_inc/widget, required at main.tf:3:5
        widget: no provider block: it runs with an empty configuration

    Providers:

    app.example.com/openai_inc/widget
      local names:   widget
      needed by:     the configuration
      locked:        no version
      place:         app.example.com, by direct (implicit)

    ----- stderr -----
    error: OpenTofu refuses this configuration
      cause: main.tf:3:5: `app.example.com/openai_inc/widget` is not a provider address of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept

    hint: main.tf:3:5: publish the provider under a namespace without an underscore, or use Terraform
    ");
    assert_snapshot!(scene.run("config snippet 'app.example.com/openai_inc/*' 'ghcr.io/acme/${namespace}/${type}'").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `app.example.com/openai_inc/*` is not a pattern of providers of OpenTofu: its namespace has an underscore, which Terraform 1.16 and later accept
      --> ADDR-PATTERN:1:1
      |
    1 | app.example.com/openai_inc/*
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write HOST/NAMESPACE/TYPE, HOST/NAMESPACE/*, HOST/*/* or */*/*; without a HOST it is registry.opentofu.org
    ");
    // A lock file that Terraform wrote is not thinned out in silence.
    scene.context.write(
        ".terraform.lock.hcl",
        format!("provider \"{ADDRESS}\" {{\n  version = \"1.4.0\"\n  hashes = [\"zh:{}\"]\n}}\n", "0".repeat(64)),
    );
    scene.context.write(
        "main.tf",
        "terraform {\n  required_providers {\n    widget = { source = \"registry.example.com/acme/widget\" }\n  }\n}\n",
    );
    let said = scene.refuse(&format!("install {from}"));
    assert!(said.contains(ADDRESS), "{said}");
}
