//! `config snippet`.

use insta::assert_snapshot;

use crate::setup::Scene;

#[test]
fn the_blocks_are_disjoint_and_aligned() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${namespace}/${type}'").text, @r#"
    "#);
    assert_snapshot!(scene.run("config snippet 'registry.example.com/acme/*' 'ghcr.io/acme/${type}' --json-form --quiet").text, @r#"
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
    "#);
    assert_eq!(std::fs::read_to_string(scene.context.home().join(".tofurc")).ok().as_deref(), Some(there));
}

#[test]
fn what_opentofu_would_refuse_is_refused_with_the_place_underlined() {
    let scene = Scene::new();
    assert_snapshot!(scene.refuse("config snippet '*/acme/*' 'ghcr.io/acme/${type}'"), @"
    ");
    assert_snapshot!(scene.refuse("config snippet 'registry.example.com/*/*' 'ghcr.io/acme/${typ}'"), @"
    ");
    assert_snapshot!(scene.refuse("config snippet 'registry.example.com/*/*' 'ghcr.io/ACME/${namespace}/${type}'"), @"
    ");
}
