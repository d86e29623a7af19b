//! `help TOPIC`, `man` and what messages say about them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;

use crate::setup::Scene;
use crate::words::refuse;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every text of a folder that people read, or that prints what they read.
fn texts(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder of the workspace").flatten() {
        let path = entry.path();
        if path.is_dir() {
            texts(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs" || ending == "md") {
            found.push(std::fs::read_to_string(&path).expect("a source"));
        }
    }
}

/// What follows `tofu-oci help` up to the next mark or space for words that stand for a name.
fn topics_named() -> BTreeSet<String> {
    let mut all = Vec::new();
    for folder in ["crates", "docs"] {
        texts(&root().join(folder), &mut all);
    }
    all.push(std::fs::read_to_string(root().join("README.md")).expect("the README"));
    let mut named = BTreeSet::new();
    for text in all {
        // A comment or a text that is broken at the end of a line goes on.
        let text = text.replace("///", " ").replace("//!", " ").replace("\\\n", " ");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for rest in text.split("tofu-oci help ").skip(1) {
            let end =
                rest.find(|one: char| !(one.is_ascii_alphanumeric() || one == '-' || one == ' ')).unwrap_or(rest.len());
            let words =
                rest[..end].split(' ').take_while(|word| !word.is_empty() && !word.contains(char::is_uppercase));
            // A sentence that goes on is no topic of several words.
            let words: Vec<&str> =
                words.take(if rest.starts_with("check ") || rest.starts_with("error ") { 2 } else { 1 }).collect();
            if words.concat().chars().any(char::is_alphabetic) {
                named.insert(words.join(" "));
            }
        }
    }
    named
}

#[test]
fn every_topic_that_a_message_names_exists() {
    let scene = Scene::new();
    let named = topics_named();
    assert!(named.len() > 8 && named.contains("trust") && named.contains("json"), "{named:?}");
    for topic in named.iter().filter(|topic| *topic != "error" && *topic != "topic" && *topic != "verb") {
        let said = scene.run(&format!("help {topic}"));
        assert_eq!(said.code, Some(0), "tofu-oci help {topic}: {}", said.text);
        assert!(said.stdout.lines().count() > 3, "{}", said.text);
    }
}

#[test]
fn no_message_points_at_a_file_that_a_binary_does_not_have() {
    let scene = Scene::new();
    let pages = ["start", "how-to", "concepts", "reference"].map(|folder| format!("docs/{folder}/"));
    for line in ["-h", "--help", "check --help", "install --help", "push --help", "verify --help", "help rules"] {
        let said = scene.run(line).success();
        assert!(!pages.iter().any(|page| said.stdout.contains(page)), "{line}: {}", said.text);
    }
}

#[test]
fn the_topics_are_listed() {
    assert_snapshot!(Scene::new().run("help").text, @"
    exit code: 0
    ----- stdout -----
    Usage: tofu-oci help TOPIC

    Start:
      getting             how to get tofu-oci onto a machine
      tutorial            from nothing to a provider published, installed, verified, served and mirrored
      guide               a walk through five modules and a local registry
      coming-from         if you use oras, boring-registry, Artifactory or `terraform providers mirror`

    How to:
      publishing          push a release: inputs, signing, what is checked
      provider-docs       documentation beside a release: publish, read, compare, serve it
      withdrawing         take a version back, warn of one, replace one
      fewer-bytes         smaller packages beside the zips
      installing          where packages go, Terraform, sites without network
      locking             a lock file with every platform
      verifying           look at signatures, demand them, use cosign and openssl
      keyless             sign as a CI job, attach attestations and SBOMs, see who built it
      promoting           two approvers sign a release, and the policy counts them
      checking            how to use `tofu-oci check`, and what it predicts
      error-texts         what OpenTofu and Terraform print, and what to do here
      caching             packages that projects share, disk space, images for CI
      mirroring           providers of others in your own registry, by rules
      bundles             one file for a site without network, files for a web server
      running             terraform, tofu and terragrunt with providers from OCI repositories
      serving             a network mirror and registry out of repositories, for Terraform and every OpenTofu
      module-publishing   push, sign, withdraw and copy a module; what stays out
      module-fetching     a module in a folder, from repositories, registries and git
      module-pinning      the digest of each module in the configuration
      module-mirroring    modules of others in your own registry, with those that they call
      registries          what each registry needs and cannot do

    Concepts:
      modules             modules in OCI repositories, and where those of registries are
      layouts             what a release is in a repository
      configuration       the CLI configuration: where a provider comes from
      lock-file           what the lines of the lock file are worth
      trust               signatures, and what is never undone
      credentials         which login is used for which repository
      comparison          tofu-oci beside other ways to distribute providers

    Reference:
      verbs               every verb with its arguments and options
      names               how versions and places are written
      requirements        which providers and modules a configuration requires
      trust-policy        every member of trust.toml, notices, releases with another address
      pins                what .tofu-oci.pins.json remembers
      openpgp             OpenPGP signatures of SHA256SUMS
      config-findings     every finding of `tofu-oci config check`
      credential-sources  files, blocks, helpers and tokens, and what is sent to whom
      differences         what tofu-oci decides otherwise than OpenTofu, and why
      network             certificates, proxies, retries, time limits, size limits
      serve-settings      every setting of `tofu-oci serve`, and what it verifies
      serve-operation     metrics, logs, signals and failures of `tofu-oci serve`
      rules               every rule of `tofu-oci check`
      errors              every code of errors, warnings and notes
      exit-codes          what the exit codes mean
      environment         every environment variable
      json                the JSON lines of --json
      registry-access     the options by which verbs reach a registry

    Also:
      VERB                everything about a verb; `tofu-oci -h` lists them
      check RULE          one rule of `tofu-oci check`
      error CODE          one code of an error, a warning, a note or a finding

    ----- stderr -----
    ");
}

#[test]
fn one_rule_is_explained() {
    assert_snapshot!(Scene::new().run("help check second-spelling-tag").text, @"
    exit code: 0
    ----- stdout -----
    `second-spelling-tag`

    warning: a second spelling of a version whose canonical tag is there too, such as `1.0` beside
    `1.0.0`.

    It changes nothing as long as the canonical tag is there. When that one is deleted, the version is
    still listed and can no longer be had.

      - What to do: delete the tag.
      - Where it follows from: OpenTofu 1.12, internal/getproviders/oci_registry_mirror_source.go,
        AvailableVersions.

    ----- stderr -----
    ");
}

#[test]
fn one_code_is_explained() {
    assert_snapshot!(Scene::new().run("help error private-host").text, @"
    exit code: 0
    ----- stdout -----
    `private-host`

      - what happened: a registry, document or module leads to this machine or a private network
      - what to do: if that is intended, allow it with `--private-host HOST`

    ----- stderr -----
    ");
    // Codes of other pages too.
    for code in ["platform-not-offered", "unsigned", "empty-installation"] {
        Scene::new().run(&format!("help error {code}")).success();
    }
}

#[test]
fn a_code_that_ends_several_verbs_spoke_of_one_of_them() {
    let said = Scene::new().run("help error other-platform").success().stdout;
    assert_eq!(said.matches("what to do:").count(), 1, "{said}");
    assert!(said.contains("of a release of your own: ") && said.contains("was installed: "), "{said}");
}

#[test]
fn the_page_about_verbs_is_what_the_program_declares() {
    let page = std::fs::read_to_string(root().join("docs/reference/verbs.md")).expect("the page");
    assert!(!page.contains("events-by-verb)): ."), "a verb is in no row of `Events by verb` in json.md");
    assert_eq!(Scene::new().run("help verbs --markdown").success().stdout, page, "`cargo xtask fixtures` writes it");
}

#[test]
fn the_schema_of_the_json_lines_is_in_the_program() {
    let scene = Scene::new();
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).expect("JSON");
    let page = std::fs::read_to_string(root().join("docs/reference/json.schema.json")).expect("the schema");
    assert_eq!(read(&scene.run("help json --schema").success().stdout), read(&page));
    assert_snapshot!(scene.run("help trust --schema").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --schema prints the schema of the JSON lines, and of nothing else

    hint: write it as: tofu-oci help json --schema
    ");
}

#[test]
fn the_help_of_a_verb_is_its_help_option() {
    let scene = Scene::new();
    for verb in ["push", "config check", "help"] {
        assert_eq!(scene.run(&format!("help {verb}")).stdout, scene.run(&format!("{verb} --help")).stdout, "{verb}");
    }
}

#[test]
fn a_page_was_found_by_its_exact_name_alone() {
    let scene = Scene::new();
    let same = |one: &str, other: &str| {
        assert_eq!(scene.run(&format!("help {one}")).success().text, scene.run(&format!("help {other}")).text);
    };
    same("TRUST", "trust");
    same("run.md", "running");
    same("docs/how-to/mirror.md", "mirroring");
    same("Push", "push");
    same("install.md", "install");
    let hints = |topic: &str| {
        let said = scene.run(&format!("help {topic}"));
        assert_eq!(said.code, Some(2), "{}", said.text);
        said.stderr.lines().filter_map(|line| line.strip_prefix("hint: ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_snapshot!(hints("signing").join("\n"), @"
    `tofu-oci help publishing`: push a release: inputs, signing, what is checked
    `tofu-oci help verifying`: look at signatures, demand them, use cosign and openssl
    all topics: tofu-oci help
    ");
    assert_eq!(
        hints("air-gap")[0],
        "`tofu-oci help bundles`: one file for a site without network, files for a web server"
    );
    assert_eq!(hints("TofuRC")[0], "`tofu-oci help configuration`: the CLI configuration: where a provider comes from");
}

#[test]
fn a_wrong_topic_gets_a_suggestion() {
    let scene = Scene::new();
    let said: Vec<String> = ["help trst", "help unsigned", "help check usigned", "help error no-such-code"]
        .iter()
        .map(|line| scene.run(line).text)
        .collect();
    assert_snapshot!(said.join("\n"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no help topic `trst`

    hint: did you mean: tofu-oci help trust
    hint: all topics: tofu-oci help

    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no help topic `unsigned`

    hint: it is a rule: tofu-oci help check unsigned
    hint: all topics: tofu-oci help

    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no rule `usigned`

    hint: did you mean: tofu-oci help check unsigned
    hint: all rules: tofu-oci help rules

    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: no page explains the code `no-such-code`

    hint: did you mean: tofu-oci help error no-such-file
    hint: all codes: tofu-oci help errors
    ");
}

#[test]
fn a_code_with_a_detail_had_no_page() {
    let scene = Scene::new();
    for (code, page) in [("registry-status:404", "registry-status"), ("unknown-symbol:foo", "unknown-symbol")] {
        let said = scene.run(&format!("help error {code}"));
        assert_eq!(said.text, scene.run(&format!("help error {page}")).success().text, "{code}");
    }
}

#[test]
fn a_code_with_a_few_equal_letters_was_taken_for_the_one_that_was_meant() {
    assert!(!Scene::new().refuse("help error nothing").contains("did you mean"));
}

#[test]
fn man_pages_are_the_same_bytes_each_time() {
    let scene = Scene::new();
    assert!(scene.run("man pages").success().stdout.ends_with(" pages to pages\n"));
    // An empty variable and a set one change nothing.
    let mut command = scene.command("man again");
    command.env("TOFU_OCI_FROM", "").env("TOFU_OCI_TIMEOUT", "5m");
    assert_eq!(scene.output(&mut command).code, Some(0));
    let mut names: Vec<String> = std::fs::read_dir(scene.path("pages"))
        .expect("the folder is written")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    assert!(
        names.contains(&"tofu-oci.1".to_owned()) && names.contains(&"tofu-oci-config-check.1".to_owned()),
        "{names:?}"
    );
    for name in &names {
        let page = std::fs::read_to_string(scene.path("pages").join(name)).expect("a page");
        assert_eq!(page, std::fs::read_to_string(scene.path("again").join(name)).expect("a page"), "{name}");
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
    }
    let install = std::fs::read_to_string(scene.path("pages/tofu-oci-install.1")).expect("a page");
    for text in ["Trust the certificates of this PEM file", "  tofu\\-oci install \\-\\-from", "TOFU_OCI_CA_FILE"] {
        assert!(install.contains(text), "{text} in\n{install}");
    }
    // A second run replaces them.
    scene.run("man pages").success();
}

#[cfg(unix)]
#[test]
fn a_link_in_the_folder_for_man_pages_leads_nowhere() {
    let scene = Scene::new();
    scene.context.write("victim", "as it was");
    std::fs::create_dir(scene.path("man")).expect("it is ours");
    std::os::unix::fs::symlink(scene.path("victim"), scene.path("man/tofu-oci.1")).expect("it is ours");
    scene.run("man man").success();
    assert_eq!(std::fs::read_to_string(scene.path("victim")).expect("it is there"), "as it was");
    assert!(std::fs::read_to_string(scene.path("man/tofu-oci.1")).expect("it is there").starts_with(".ie"));
}

#[test]
fn a_folder_for_man_pages_that_cannot_be_written_is_named() {
    let scene = Scene::new();
    scene.context.write("file", "x");
    assert_snapshot!(scene.run("man file/man1").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot write file/man1: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
}

#[test]
fn a_rule_behind_another_word_was_not_recognised() {
    let scene = Scene::new();
    refuse(&scene, "help rule unsigned", &["hint: it is a rule: tofu-oci help check unsigned\n"]);
    refuse(&scene, "help code tag-not-found", &["hint: it is a code: tofu-oci help error tag-not-found\n"]);
}

/// The policy's own word had no hint, well or badly spelled.
#[test]
fn the_word_identity_leads_to_the_pages_about_it() {
    let scene = Scene::new();
    for word in ["identity", "identty", "sigstor", "tuf", "trust-root"] {
        let said = scene.refuse(&format!("help {word}"));
        assert!(said.contains("hint: `tofu-oci help trust-policy`: "), "{said}");
        assert!(said.contains("hint: `tofu-oci help keyless`: "), "{said}");
    }
    let said = scene.refuse("help logn");
    assert!(said.contains("did you mean: tofu-oci help login\n"), "{said}");
}
