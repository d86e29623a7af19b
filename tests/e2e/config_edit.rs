//! `config add` and `config remove`.

use insta::assert_snapshot;

use crate::setup::Scene;

const REMOVE: &str = "config remove 'registry.example.com/acme/*'";

const ADD: &str = "config add 'registry.example.com/acme/*' 'ghcr.io/acme/${type}'";

#[test]
fn the_file_is_made_and_taken_back() {
    let scene = Scene::new();
    let file = || scene.home_text(".tofurc");
    scene.run(&format!("{ADD} --dry-run")).success();
    assert_eq!(file(), None);
    assert_snapshot!(scene.run(ADD).text, @r#"
    exit code: 0
    ----- stdout -----
    @@ -0,0 +1,9 @@
    +provider_installation {
    +  oci_mirror {
    +    repository_template = "ghcr.io/acme/${type}"
    +    include             = ["registry.example.com/acme/*"]
    +  }
    +  direct {
    +    exclude = ["registry.example.com/acme/*"]
    +  }
    +}
    wrote [HOME]/.tofurc

    ----- stderr -----
    note: with a provider_installation, OpenTofu no longer looks into terraform.d/plugins and the other implicit folders; add a filesystem_mirror for one that you need
    "#);
    let written = file();
    assert_snapshot!(scene.run(ADD).text, @"
    exit code: 0
    ----- stdout -----
    [HOME]/.tofurc stays as it is: it says so already

    ----- stderr -----
    ");
    assert_eq!(file(), written);
    scene.run("config check").success();
}

/// It left a file without a byte.
#[test]
fn a_file_in_which_nothing_is_left_goes() {
    let scene = Scene::new();
    let file = || scene.home_text(".tofurc");
    scene.run(ADD).success();
    scene.run(&format!("{REMOVE} --dry-run")).success();
    assert!(file().is_some());
    let said = scene.run(REMOVE).success();
    assert!(said.text.contains("\nremoved [HOME]/.tofurc, because nothing else was in it\n"), "{}", said.text);
    assert_eq!(file(), None);
    scene.home_file(".tofurc", "# mine\n");
    scene.run(ADD).success();
    scene.run(REMOVE).success();
    assert_eq!(file().as_deref(), Some("# mine\n"));
}

/// Real OpenTofu complains of a file that is not there if a variable names it, and a link belongs to its maker.
#[cfg(unix)]
#[test]
fn an_empty_file_that_is_named_or_linked_stays() {
    let scene = Scene::new();
    let home = scene.context.home();
    std::os::unix::fs::symlink("dotfiles", home.join(".tofurc")).expect("a link");
    std::fs::write(home.join("dotfiles"), "").expect("a file");
    scene.run(ADD).success();
    scene.run(REMOVE).success();
    assert!(home.join(".tofurc").is_symlink());
    assert_eq!(scene.home_text("dotfiles").as_deref(), Some(""));
    for line in [ADD, REMOVE] {
        let mut command = scene.command(line);
        command.env("TF_CLI_CONFIG_FILE", home.join("ci.tofurc"));
        assert!(command.output().expect("a run").status.success());
    }
    assert_eq!(scene.home_text("ci.tofurc").as_deref(), Some(""));
}

/// `config add` wrote them, and `config check` refused them then.
#[test]
fn a_template_that_config_check_refuses_is_not_written() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("config add registry.example.com/acme/widget ghcr.io").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the template gives `ghcr.io`, which names no repository
      --> REPOSITORY-TEMPLATE:1:1
      |
    1 | ghcr.io
      | ^^^^^^^

    hint: write a path after the registry, such as ghcr.io/acme/${namespace}/${type}
    ");
    for (template, want) in [("GHCR.io/x", "hint: write ghcr.io in the template"), ("ghcr.io:99999/x", "has no port")] {
        let said = scene.refuse(&format!("config add registry.example.com/acme/widget {template}"));
        assert!(said.contains(want), "{said}");
    }
    assert_eq!(scene.home_text(".tofurc"), None);
}

#[test]
fn arguments_that_are_swapped_are_refused_with_what_to_type() {
    let scene = Scene::new();
    for (typed, want) in [
        ("ghcr.io/acme/x registry.example.com/acme/widget", "registry.example.com/acme/widget ghcr.io/acme/x"),
        (
            "'ghcr.io/acme/${type}' 'registry.example.com/acme/*'",
            "'registry.example.com/acme/*' 'ghcr.io/acme/${type}'",
        ),
        ("'r.test/acme/${type}' registry.example.com/acme/x", "registry.example.com/acme/x 'r.test/acme/${type}'"),
    ] {
        let said = scene.refuse(&format!("config add {typed}"));
        assert!(said.contains(&format!("hint: tofu-oci config add {want}\n")), "{said}");
    }
    scene.run("config add ghcr.io/acme/x ghcr.io/acme/x").success();
}

/// Of a pattern that was not there, `config remove` said nothing but where it comes from; of a wider one, wrongly so.
#[test]
fn a_pattern_that_is_not_there_names_the_nearest() {
    let scene = Scene::new();
    scene.run(ADD).success();
    let before = scene.home_text(".tofurc");
    for pattern in ["registry.example.com/*/*", "registry.example.com/acmee/*", "registry.example.com/acme/x"] {
        let said = scene.run(&format!("config remove '{pattern}'")).success();
        assert!(said.stdout.contains(&format!("{pattern} is not there")), "{}", said.text);
        let hint = "did you mean registry.example.com/acme/*: tofu-oci config remove 'registry.example.com/acme/*'\n";
        assert!(said.stderr.contains(hint), "{}", said.text);
        let part = "; other methods are for registry.example.com/acme/*\n";
        assert_eq!(said.stderr.contains(part), pattern.ends_with("/*/*"), "{}", said.text);
    }
    assert_eq!(scene.home_text(".tofurc"), before);
    let said = scene.run("config remove 'other.test/b/*'").success();
    assert!(!said.stderr.contains("did you mean"), "{}", said.text);
}

/// The second line of a string in a comment may be the rest of a token.
#[test]
fn a_token_over_two_lines_of_a_comment_is_not_shown() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "/*\ncredentials \"h.test\" {\n  token = \"one\n  hunter2\"\n}\n*/\n");
    let said = scene.run(ADD).success();
    assert!(said.text.contains("\n ***\n }\n"), "{}", said.text);
    assert!(!said.text.contains("hunter2"), "{}", said.text);
}

#[test]
fn a_token_beside_the_block_is_kept_and_not_shown() {
    let scene = Scene::new();
    let there =
        "credentials \"h.test\" {\n  token = \"s3cr3t\"\n}\nprovider_installation {\n  # of the team\n  direct {}\n}\n";
    scene.home_file(".tofurc", there);
    assert_snapshot!(scene.run(ADD).text, @r#"
    exit code: 0
    ----- stdout -----
    @@ -2,6 +2,12 @@
       token = ***
     }
     provider_installation {
    +  oci_mirror {
    +    repository_template = "ghcr.io/acme/${type}"
    +    include             = ["registry.example.com/acme/*"]
    +  }
       # of the team
    -  direct {}
    +  direct {
    +    exclude = ["registry.example.com/acme/*"]
    +  }
     }
    wrote [HOME]/.tofurc

    ----- stderr -----
    "#);
    let file = scene.home_text(".tofurc").expect("a file");
    assert!(file.contains("s3cr3t") && file.contains("# of the team"), "{file}");
}

#[test]
fn a_file_with_an_error_or_as_json_stays() {
    let scene = Scene::new();
    for (text, want) in [("provider_installation {\n", "hcl1-parse"), ("{\"provider_installation\": {}}", "is JSON")] {
        scene.home_file(".tofurc", text);
        let said = scene.refuse(ADD);
        assert!(said.contains(want), "{said}");
        assert_eq!(scene.home_text(".tofurc").as_deref(), Some(text));
    }
}

#[test]
fn a_cache_folder_that_is_not_there_was_answered_without_its_command() {
    let scene = Scene::new();
    scene.home_file(".tofurc", "plugin_cache_dir = \"/no/such\"\n");
    let said = scene.refuse(ADD);
    assert!(said.contains("= instead: create the folder, mkdir -p /no/such; or leave plugin_cache_dir out"), "{said}");
}

/// A file that is linked into a repository of dotfiles stays a link.
#[cfg(unix)]
#[test]
fn a_link_is_followed_and_a_named_file_is_made() {
    let scene = Scene::new();
    let home = scene.context.home();
    std::fs::write(home.join("dotfiles"), "# mine\n").expect("a file");
    std::os::unix::fs::symlink("dotfiles", home.join(".tofurc")).expect("a link");
    scene.run(ADD).success();
    assert!(home.join(".tofurc").is_symlink());
    let text = scene.home_text("dotfiles").expect("a file");
    assert!(text.starts_with("# mine\n\nprovider_installation {\n"), "{text}");
    let named = home.join("ci.tofurc");
    let mut command = scene.command(ADD);
    command.env("TF_CLI_CONFIG_FILE", &named);
    assert!(command.output().expect("a run").status.success());
    assert!(named.is_file());
}

#[cfg(unix)]
#[test]
fn two_at_once_both_count() {
    let scene = Scene::new();
    let runs: Vec<_> = (0..6)
        .map(|nth| {
            let line = format!("config add 'registry.example.com/n{nth}/*' 'ghcr.io/n{nth}/${{type}}'");
            scene.command(&line).stdout(std::process::Stdio::null()).spawn().expect("a run")
        })
        .collect();
    for mut run in runs {
        assert!(run.wait().expect("an end").success());
    }
    let text = scene.home_text(".tofurc").expect("a file");
    for nth in 0..6 {
        assert_eq!(text.matches(&format!("ghcr.io/n{nth}/")).count(), 1, "{text}");
    }
    scene.run("config check").success();
}

/// The removal deleted the user's own line, and the providers came from their origin without a word.
#[test]
fn a_mirror_that_was_there_before_serves_again_after_a_removal() {
    let scene = Scene::new();
    let there = "provider_installation {\n  oci_mirror {\n    repository_template = \"r.test/${namespace}/${type}\"\n    include = [\n      \"registry.example.com/acme/*\", # team acme\n      \"registry.example.com/other/*\",\n    ]\n  }\n  direct {\n    exclude = [\"registry.example.com/acme/*\", \"registry.example.com/other/*\"]\n  }\n}\n";
    scene.home_file(".tofurc", there);
    scene.run(ADD).success();
    let said = scene.run("config remove 'registry.example.com/acme/*'").success();
    assert_eq!(scene.home_text(".tofurc").as_deref(), Some(there));
    let note = "note: registry.example.com/acme/* comes from r.test/${namespace}/${type}\n";
    assert!(said.stderr.contains(note), "{}", said.text);
    let said = scene.run("config remove 'registry.example.com/none/*'").success();
    assert!(said.stdout.contains("registry.example.com/none/* is not there"), "{}", said.text);
}

#[test]
fn terraform_is_named_where_it_reads_the_file_too() {
    let scene = Scene::new();
    scene.home_file(".terraformrc", "# mine\n");
    let said = scene.run(&format!("{ADD} --dry-run")).success();
    assert!(said.stderr.starts_with("warning: Terraform reads "), "{}", said.text);
    assert_eq!(scene.home_text(".terraformrc").as_deref(), Some("# mine\n"));
}
