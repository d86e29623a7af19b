//! `cache info`, `cache prune` and `cache verify`.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::cache::{cached_data, caching, data, edit, install, line};
use crate::json;

#[test]
fn the_cache_is_shown_thinned_out_and_verified() {
    let scene = caching();
    assert_snapshot!(scene.run("cache info").text, @"
    exit code: 0
    ----- stdout -----
    0 packages (0 B) in [WORK]/cache/packages-v1

    ----- stderr -----
    ");
    install(&scene, "a");
    let today = tofu_oci_types::Moment::from(std::time::SystemTime::now()).day();
    let day = |text: String| text.replace(&today, "[TODAY]");
    assert_snapshot!(day(scene.run("cache info").text), @"
    exit code: 0
    ----- stdout -----
    package                                             size      last used
    registry.example.com/acme/widget 1.4.0 linux_amd64  200.1 kB  [TODAY]

    1 package (200.1 kB) in [WORK]/cache/packages-v1

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("cache verify").text, @"
    exit code: 0
    ----- stdout -----
    1 package (200.1 kB) intact

    ----- stderr -----
    ");
    assert_snapshot!(day(scene.run("cache prune --max-size 1KB --dry-run").text), @"
    exit code: 0
    ----- stdout -----
    package                                             size      last used
    registry.example.com/acme/widget 1.4.0 linux_amd64  200.1 kB  [TODAY]

    1 package (200.1 kB) would be removed, 0 packages (0 B) would be left

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("cache prune --max-size 1GB").text, @"
    exit code: 0
    ----- stdout -----
    0 packages (0 B) removed, 1 package (200.1 kB) left

    ----- stderr -----
    ");
    assert_snapshot!(scene.run("cache prune").text, @"
    exit code: 0
    ----- stdout -----
    0 packages (0 B) removed, 1 package (200.1 kB) left

    ----- stderr -----
    ");
    edit(&cached_data(&scene, "cache"));
    assert_snapshot!(scene.run("cache verify").text, @"
    exit code: 1
    ----- stdout -----
    damaged, and removed: registry.example.com/acme/widget 1.4.0 linux_amd64
      [WORK]/cache/packages-v1/content/h1-sfnbjekcoXcBc5Y_8NczkzXcCNoz8Lnq3Cj1twz67Ho/files/data.bin
    0 packages (0 B) intact

    ----- stderr -----
    ");
    assert_eq!(install(&scene, "b"), 1);
    assert_snapshot!(day(scene.run("cache prune --max-size 0").text), @"
    exit code: 0
    ----- stdout -----
    package                                             size      last used
    registry.example.com/acme/widget 1.4.0 linux_amd64  200.1 kB  [TODAY]

    1 package (200.1 kB) removed, 0 packages (0 B) left

    ----- stderr -----
    ");
    let left = scene.context.files().into_iter().filter(|name| name.starts_with("cache/"));
    let left: Vec<_> = left.filter(|name| !name.starts_with("cache/packages-v1/files/")).collect();
    assert_eq!(left, [""; 0], "what leads to no package goes too");
    assert!(data(&scene, "b").exists());
}

#[test]
fn every_json_line_is_documented() {
    let scene = caching();
    assert_eq!(json::check(&scene.run("cache info --json").success()), ["cache"]);
    install(&scene, "a");
    let said = scene.run(&format!("{} --json", line("b")));
    assert_eq!(json::check(&said), ["finished", "installed", "lock"]);
    assert_eq!(json::check(&scene.run("cache info --json")), ["cached-package", "cache"]);
    assert_eq!(
        json::check(&scene.run("cache prune --max-size 0 --dry-run --json")),
        ["cached-package", "cache-summary"]
    );
    let intact = scene.run("cache verify --json").success();
    assert_eq!(json::check(&intact), ["cache-summary"]);
    let summary = intact.json().remove(0);
    assert_eq!((&summary["outcome"], &summary["packages"], &summary["left"]), (&"intact".into(), &0.into(), &1.into()));
    edit(&cached_data(&scene, "cache"));
    let damaged = scene.run("cache verify --json");
    assert_eq!(json::check(&damaged), ["cached-package", "cache-summary"]);
    assert_eq!(damaged.json()[1]["outcome"], "damaged");
}

#[test]
fn without_a_cache_there_is_nothing_to_look_after() {
    let mut scene = caching();
    scene.context.env("TOFU_OCI_CACHE_DIR", "");
    assert_snapshot!(scene.run("cache prune").text, @r"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: TOFU_OCI_CACHE_DIR is empty: the package cache is off

    hint: set it to the folder of a cache, or unset it for the usual one: tofu-oci help caching
    ");
}

#[test]
fn the_error_about_a_cache_that_cannot_be_used_says_why() {
    let scene = caching();
    scene.run("cache info").success();
    fs::set_permissions(scene.path("cache/packages-v1"), fs::Permissions::from_mode(0o777)).unwrap();
    for verb in ["info", "prune", "verify"] {
        let said = scene.run(&format!("cache {verb}"));
        assert_eq!(said.code, Some(1), "{}", said.text);
        let start = "error: the package cache in [WORK]/cache is not used: ";
        assert!(said.text.contains(start) && said.text.contains("others may write to it"), "{}", said.text);
        assert!(said.text.contains("hint: make that folder yours alone"), "{}", said.text);
        assert_eq!(said.text.matches("is not used").count(), 1, "it is not said twice: {}", said.text);
        assert!(!said.text.contains("--no-cache"), "`cache` has no such option: {}", said.text);
    }
    let error = scene.run("cache info --json").json().remove(0);
    assert_eq!((&error["event"], &error["code"]), (&"error".into(), &"cache-not-used".into()));
}

#[test]
fn a_relative_cache_folder_is_refused() {
    let mut scene = caching();
    let cases = [
        ("TOFU_OCI_CACHE_DIR", "cache", "cache info", "[WORK]/cache"),
        ("TOFU_OCI_CACHE_DIR", "~/cache", &line("a"), "[HOME]/cache"),
        ("TOFU_OCI_CACHE_DIR", "~bob/cache", &line("a"), "/PATH"),
        ("TOFU_OCI_CACHE_LOWER", "lower", &line("a"), "[WORK]/lower"),
    ];
    for (variable, value, words, meant) in cases {
        let usual = scene.path("cache").display().to_string();
        scene.context.env("TOFU_OCI_CACHE_DIR", usual).env(variable, value);
        let said = format!(
            "error: {variable} names {value}, which is not an absolute path\n\n\
             hint: write an absolute path: {variable}={meant}\n"
        );
        let run = scene.run(words);
        assert_eq!((run.code, run.text.contains(&said)), (Some(2), true), "{}", run.text);
    }
    scene.run(&format!("{} --no-cache", line("a"))).success();
    assert!(!scene.path("cache").exists());
}

#[test]
fn what_is_shared_by_hard_links_goes_by_size_alone() {
    let scene = caching();
    install(&scene, "a");
    // As in a project on a file system that cannot share blocks.
    fs::hard_link(cached_data(&scene, "cache"), scene.path("linked")).unwrap();
    assert_snapshot!(scene.run("cache prune --unused-for 0").text, @"
    exit code: 0
    ----- stdout -----
    0 packages (0 B) removed, 1 package (200.1 kB) left

    ----- stderr -----
    ");
    let by_size = scene.run("cache prune --max-size 0 --dry-run").success();
    assert!(by_size.text.contains("1 package (200.1 kB) would be removed, 0 packages (0 B) would be left"));
    fs::remove_file(scene.path("linked")).unwrap();
    fs::remove_dir_all(scene.path("a")).unwrap();
    let by_age = scene.run("cache prune --unused-for 0").success();
    assert!(by_age.text.contains("1 package (200.1 kB) removed, 0 packages (0 B) left"), "{}", by_age.text);
}
