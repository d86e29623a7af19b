//! `config snippet`.

use insta::assert_snapshot;

use crate::setup::Scene;

#[test]
fn the_blocks_are_disjoint_and_aligned() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'").text, @r#"
    exit code: 0
    ----- stdout -----
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${namespace}/${type}"
        include             = ["registry.example.com/*/*"]
      }
      direct {
        exclude = ["registry.example.com/*/*"]
      }
    }

    ----- stderr -----
    note: write it to [HOME]/.tofurc, which is not there yet
    note: with a provider_installation, OpenTofu no longer looks into terraform.d/plugins and the other implicit folders; add a filesystem_mirror for one that you need
    note: Terraform has no oci_mirror, and prints an error where it reads the file (~/.terraformrc, ~/.terraform.d); for Terraform, `tofu-oci install --vendor` puts providers where it looks
    "#);
    assert_snapshot!(scene.run("config snippet 'registry.example.com/acme/*' 'ghcr.io/acme/${type}' --json-form --quiet").text, @r#"
    exit code: 0
    ----- stdout -----
    {
      "provider_installation": {
        "oci_mirror": [
          {
            "repository_template": "ghcr.io/acme/${type}",
            "include": ["registry.example.com/acme/*"]
          }
        ],
        "direct": [
          {
            "exclude": ["registry.example.com/acme/*"]
          }
        ]
      }
    }

    ----- stderr -----
    "#);
}

/// What is printed is read by the very reader that decides where providers come from.
#[test]
fn what_is_printed_is_a_clean_configuration() {
    for form in ["", "--json-form"] {
        let scene = Scene::new();
        let line = format!("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${{namespace}}/${{type}}' {form}");
        let said = scene.run(&line).success();
        scene.home_file(".tofurc", &said.stdout);
        let checked = scene.run("config check");
        assert_eq!(checked.code, Some(0), "{}{}", said.stdout, checked.text);
        let resolved = scene.run("resolve registry.example.com/acme/widget").success();
        assert_eq!(resolved.stdout, "ghcr.io/acme/acme/widget\n", "one method alone is for it");
        let resolved = scene.run("resolve ghcr.io.oci.opentofu.org/acme/widget").success();
        assert_eq!(resolved.stdout, "ghcr.io/acme/opentofu-provider-widget\n", "the rest is left to direct");
    }
}

#[test]
fn the_methods_that_are_there_are_kept_apart_from_the_new_one() {
    let scene = Scene::new();
    let there = r#"provider_installation {
  filesystem_mirror {
    path = "/opt/mirror"
  }
  network_mirror {
    url     = "https://mirror.example.com/"
    include = ["example.net/*/*"]
  }
  oci_mirror {
    repository_template = "ghcr.io/old/${type}"
    include             = ["registry.example.com/acme/*"]
  }
  direct {
    exclude = ["example.net/*/*"]
  }
}
"#;
    scene.home_file(".tofurc", there);
    assert_snapshot!(scene.run("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'").text, @r#"
    exit code: 0
    ----- stdout -----
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${namespace}/${type}"
        include             = ["registry.example.com/*/*"]
      }
      filesystem_mirror {
        path    = "/opt/mirror"
        exclude = ["registry.example.com/*/*"]
      }
      network_mirror {
        url     = "https://mirror.example.com/"
        include = ["example.net/*/*"]
      }
      direct {
        exclude = ["example.net/*/*", "registry.example.com/*/*"]
      }
    }

    ----- stderr -----
    note: oci_mirror at [HOME]/.tofurc:9 is left out: it would be for no provider any more
    note: put it in place of the provider_installation at [HOME]/.tofurc:1: OpenTofu uses the first one alone. Its other methods are repeated here with the exclude that keeps them apart
    note: Terraform has no oci_mirror, and prints an error where it reads the file (~/.terraformrc, ~/.terraform.d); for Terraform, `tofu-oci install --vendor` puts providers where it looks
    "#);
    assert_eq!(std::fs::read_to_string(scene.context.home().join(".tofurc")).ok().as_deref(), Some(there));
}

#[test]
fn what_opentofu_would_refuse_is_refused_with_the_place_underlined() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("config snippet '*/acme/*' 'ghcr.io/acme/${type}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `*/acme/*` is not a pattern of providers: the host can be * only if the namespace and the type are * too
      --> ADDR-PATTERN:1:1
      |
    1 | */acme/*
      | ^^^^^^^^

    hint: write HOST/NAMESPACE/TYPE, HOST/NAMESPACE/*, HOST/*/* or */*/*; without a HOST it is registry.opentofu.org
    ");
    assert_snapshot!(scene.refuse("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${typ}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/acme/${typ}` mentions `typ` at column 16, which an address does not have
      --> REPOSITORY-TEMPLATE:1:16
      |
    1 | ghcr.io/acme/${typ}
      |                ^^^

    `ghcr.io/acme/${typ}` does not mention ${namespace}
      --> REPOSITORY-TEMPLATE:1:1
      |
    1 | ghcr.io/acme/${typ}
      | ^^^^^^^^^^^^^^^^^^^

    `ghcr.io/acme/${typ}` does not mention ${type}
      --> REPOSITORY-TEMPLATE:1:1
      |
    1 | ghcr.io/acme/${typ}
      | ^^^^^^^^^^^^^^^^^^^

    hint: write ${hostname}, ${namespace} or ${type}
    hint: write ${namespace} somewhere in it, or let `include` name exactly one namespace
    hint: write ${type} somewhere in it, or let `include` name exactly one type
    hint: the symbols are ${hostname}, ${namespace} and ${type}; what the pattern leaves open must be mentioned
    hint: quote pattern and template for your shell: 'ghcr.io/acme/${namespace}/${type}'
    ");
    assert_snapshot!(scene.refuse("config snippet 'registry.example.com/*/*' 'ghcr.io/ACME/${namespace}/${type}'"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `ghcr.io/ACME/${namespace}/${type}` gives no repository address: for example.com/example-namespace/example-type, `ghcr.io/ACME/example-namespace/example-type` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
      --> REPOSITORY-TEMPLATE:1:1
      |
    1 | ghcr.io/ACME/${namespace}/${type}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: write REGISTRY/PATH in lower case, without a scheme, a tag and a digest, such as ghcr.io/acme/${type}
    ");
}

#[test]
fn a_template_that_is_no_address_says_why() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("config snippet 'registry.example.com/acme/*' 'https://ghcr.io/acme/${type}'"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `https://ghcr.io/acme/${type}` gives no repository address: for example.com/example-namespace/example-type, `https://ghcr.io/acme/example-type` is not a repository address: it is written without a scheme such as https://
      --> REPOSITORY-TEMPLATE:1:1
      |
    1 | https://ghcr.io/acme/${type}
      | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: drop the scheme: 'ghcr.io/acme/${type}'
    "#);
    let said = scene.run("config snippet 'registry.example.com/acme/*' 'acme/${type}'").success();
    assert!(said.stderr.contains("warning: `acme` is taken for the registry's host name"), "{}", said.text);
}

#[test]
fn a_configuration_that_cannot_be_kept_is_warned_of_even_quietly() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "provider_instalation {\n}\n");
    assert_snapshot!(scene.run("config snippet --quiet 'registry.example.com/acme/*' 'ghcr.io/acme/${type}'").text, @r#"
    exit code: 0
    ----- stdout -----
    provider_installation {
      oci_mirror {
        repository_template = "ghcr.io/acme/${type}"
        include             = ["registry.example.com/acme/*"]
      }
      direct {
        exclude = ["registry.example.com/acme/*"]
      }
    }

    ----- stderr -----
    warning: the CLI configuration has an error, so what it says was left out of account
      hint: run `tofu-oci config check` first
    "#);
}

#[test]
fn methods_that_overlapped_before_are_kept_apart() {
    let scene = Scene::new();
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  network_mirror {\n    url = \"https://u:hunter2@mirror.example.com/?hunter2\"\n    include = [\"a.example/*/*\"]\n  }\n  direct {}\n}\n",
    );
    let said = scene.run("config snippet 'registry.example.com/acme/*' 'ghcr.io/acme/${type}'").success();
    assert!(said.stdout.contains("exclude = [\"registry.example.com/acme/*\", \"a.example/*/*\"]"), "{}", said.text);
    assert!(
        said.text.contains("direct at [HOME]/.tofurc:6 now excludes what a mirror before it is for"),
        "{}",
        said.text
    );
    scene.home_file(".tofurc", &said.stdout);
    let checked = scene.run("config check").text;
    assert!(!checked.contains("mirror-overlap"), "{checked}");
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  oci_mirror {\n    repository_template = \"ghcr.io/m/${namespace}/${type}\"\n    include = [\"a.example/*/*\"]\n    exclude = [\"a.example/x/*\"]\n  }\n  direct {}\n}\n",
    );
    let said = scene.run("config snippet 'registry.example.com/acme/*' 'ghcr.io/acme/${type}'").success();
    assert!(said.stderr.contains("note: a mirror excludes a part of what it includes"), "{}", said.text);
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  network_mirror {\n    url = \"https://u:hunter2@mirror.example.com/?hunter2\"\n    include = [\"a.example/*/*\"]\n  }\n  direct {}\n}\n",
    );
    let said = scene.run("resolve a.example/b/c --explain").success();
    assert!(
        said.stdout.contains("https://***@mirror.example.com/?***\n") && !said.text.contains("hunter2"),
        "{}",
        said.text
    );
    scene.home_file(
        ".tofurc",
        "provider_installation {\n  network_mirror {\n    url = \"https://u:hunter2@mirror.example.com/?hunter2\"\n  }\n}\n",
    );
    let said = scene.run("resolve a.example/b/c").success();
    assert_eq!(said.stdout, "https://***@mirror.example.com/?***\n");
    assert!(!said.text.contains("hunter2"), "{}", said.text);
}

#[test]
fn pattern_and_repository_swapped_are_put_in_their_order() {
    let scene = Scene::new();
    let said = scene.refuse("config snippet ghcr.io/acme/widget 'registry.example.com/acme/*'");
    let want = "hint: tofu-oci config snippet 'registry.example.com/acme/*' ghcr.io/acme/widget\n";
    assert!(said.contains(want), "{said}");
}
