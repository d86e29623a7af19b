//! `ch:` lines: a package must match at least one of the recorded checksums, and a manifest binds if a rule says so.

use insta::assert_snapshot;

use crate::setup::{Scene, WIDGET};

const LOCK: &str = ".terraform.lock.hcl";
const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";
const ELSEWHERE: &str = "install registry.example.com/acme/widget --from REGISTRY/mirror/widget --platform linux_amd64";
const REQUIRED: &str = "[[rule]]\nproviders = [\"*/*/*\"]\nmanifest_checksums = \"required\"\n";
const OTHER_CH: &str = "ch:sha256:0000000000000000000000000000000000000000000000000000000000000000";

/// Widget 1.4.0, installed from one registry, and the same package published as images in another one.
fn scene() -> Scene {
    let scene = Scene::published();
    scene.run(&format!("push dist REGISTRY/mirror/widget --address {WIDGET} --layout image")).success();
    scene.run(INSTALL).success();
    scene.registry.clear_requests();
    scene
}

fn lines(scene: &Scene, scheme: &str) -> Vec<String> {
    let of = |line: &&str| line.trim_start().starts_with(&format!("\"{scheme}:"));
    scene.context.read(LOCK).lines().filter(of).map(|line| line.trim().to_owned()).collect()
}

fn gone(scene: &Scene) {
    std::fs::remove_dir_all(scene.path(".terraform")).expect("it was installed");
}

/// Leaves only the lines of these schemes, and writes another manifest in place of the recorded one.
fn rewrite(scene: &Scene, schemes: &[&str]) {
    let text = scene.context.read(LOCK);
    let kept = |line: &&str| match line.trim().strip_prefix('"').and_then(|line| line.split_once(':')) {
        Some((scheme, _)) => schemes.contains(&scheme),
        None => true,
    };
    let other = |line: &str| if line.contains("\"ch:") { format!("    \"{OTHER_CH}\",") } else { line.to_owned() };
    let text: Vec<String> = text.lines().filter(kept).map(other).collect();
    scene.context.write(LOCK, text.join("\n") + "\n");
}

#[test]
fn the_same_package_of_another_registry_is_kept_or_installed_and_its_manifest_recorded_then() {
    let scene = scene();
    for installed in [true, false] {
        if !installed {
            gone(&scene);
        }
        let said = scene.run(ELSEWHERE);
        assert_eq!(said.code, Some(0), "{}", said.text);
        assert_eq!(
            said.stderr.contains("warning: "),
            !installed,
            "what is in its place is not asked for: {}",
            said.text
        );
        let manifests = if installed { 1 } else { 2 };
        assert_eq!((lines(&scene, "ch").len(), lines(&scene, "zh").len()), (manifests, 1), "the old line stays");
    }
    let scene = self::scene();
    gone(&scene);
    assert_snapshot!(scene.run(ELSEWHERE).text, @r#"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      .terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file .terraform.lock.hcl updated
      registry.example.com/acme/widget 1.4.0: 1 checksum added

    ----- stderr -----
    warning: [REGISTRY]/mirror/widget has registry.example.com/acme/widget 1.4.0 linux_amd64 under ch:sha256:[DIGEST], and the lock file names ch:sha256:[DIGEST]
      hint: the contents are the locked ones, so the new line is added; manifest_checksums = "required" in a rule of trust.toml refuses other manifests
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (188 B)
    "#);
}

#[test]
fn a_required_manifest_is_demanded_whatever_the_contents_are() {
    let scene = scene();
    for installed in [true, false] {
        if !installed {
            gone(&scene);
        }
        scene.context.write("trust.toml", REQUIRED);
        let text = scene.refuse(ELSEWHERE);
        assert!(text.contains("manifest_checksums = \"required\""), "{text}");
        std::fs::remove_file(scene.path("trust.toml")).expect("the policy");
    }
    scene.context.write("trust.toml", REQUIRED);
    assert_snapshot!(scene.refuse(ELSEWHERE), @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 for linux_amd64 is not the package that was locked: the lock file names the manifest ch:sha256:[DIGEST], but the release has ch:sha256:[DIGEST]
      cause: a rule of the policy says manifest_checksums = "required", so equal contents are not enough
      cause: it came from [REGISTRY]/mirror/widget

    hint: nothing of it was installed: either the repository or the lock file is not what it was
    hint: if the package was replaced on purpose, remove the provider's block from the lock file
    "#);
    scene.run(INSTALL).success();
    // Every init drops these lines: without them nothing is demanded.
    rewrite(&scene, &["h1", "zh"]);
    scene.run(ELSEWHERE).success();
}

#[test]
fn manifests_alone_bind() {
    let scene = scene();
    rewrite(&scene, &["ch"]);
    for installed in [true, false] {
        if !installed {
            gone(&scene);
        }
        let text = scene.refuse(INSTALL);
        assert!(text.contains("the lock file names the manifest ch:"), "{text}");
    }
}

#[test]
fn a_package_without_any_matching_line_is_refused() {
    let zeros = "0".repeat(64);
    let wrong = [
        format!("h1:{}=", "A".repeat(43)),
        // Perhaps that of another platform.
        format!("zh:{zeros}"),
    ];
    for wrong in wrong {
        let scene = scene();
        gone(&scene);
        rewrite(&scene, &["ch"]);
        let text = scene.context.read(LOCK).replace("  hashes = [\n", &format!("  hashes = [\n    \"{wrong}\",\n"));
        scene.context.write(LOCK, text);
        for line in [INSTALL, ELSEWHERE] {
            let text = scene.refuse(line);
            assert!(text.contains("is not the package that was locked"), "{text}");
        }
    }
}

#[test]
fn lock_adds_the_manifests_of_another_registry() {
    let scene = scene();
    crate::lock_all::require(&scene, &[("widget", "~> 1.4")]);
    let lock = "lock --from 'REGISTRY/${namespace}/${type}'";
    scene.run(lock).success();
    assert_eq!(lines(&scene, "ch").len(), 2);
    let text = scene.context.read(LOCK);
    let elsewhere = "lock --from REGISTRY/mirror/widget";
    assert_eq!(scene.run(&format!("{elsewhere} --check")).code, Some(0), "only ch: lines are missing");
    assert_eq!(scene.context.read(LOCK), text);
    let said = scene.run(elsewhere);
    assert!(said.stdout.contains("2 ch: lines added"), "{}", said.text);
    let warning = "registry.example.com/acme/widget 1.4.0 under other manifests than the lock file names, for darwin_arm64, linux_amd64\n";
    assert!(said.stderr.contains(warning), "{}", said.text);
    assert_eq!((lines(&scene, "ch").len(), lines(&scene, "zh").len()), (4, 2), "what was there stays");
    assert!(!scene.run(elsewhere).stderr.contains("warning"), "the lines are there now");
    scene.context.write(LOCK, &text);
    scene.context.write("trust.toml", REQUIRED);
    let text = scene.refuse(elsewhere);
    assert!(text.contains("is not the package that was locked"), "{text}");
}

#[test]
fn an_unknown_value_is_refused() {
    let scene = scene();
    scene.context.write("trust.toml", REQUIRED.replace("required", "sometimes"));
    assert_snapshot!(scene.refuse(INSTALL), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unknown variant `sometimes`, expected one of `required`, `optional`, `off`
      --> trust.toml:3:22
      |
    3 | manifest_checksums = "sometimes"
      |                      ^^^^^^^^^^^

    hint: every member of the file: tofu-oci help trust-policy
    "#);
}
