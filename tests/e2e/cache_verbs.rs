//! `cache info`, `cache prune` and `cache verify`.

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
    1 package (200.1 kB) as they came

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
    0 packages (0 B) as they came

    ----- stderr -----
    ");
    assert_eq!(install(&scene, "b"), 1);
    assert_snapshot!(day(scene.run("cache prune --unused-for 0").text), @"
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
    edit(&cached_data(&scene, "cache"));
    assert_eq!(json::check(&scene.run("cache verify --json")), ["cached-package", "cache-summary"]);
}

#[test]
fn without_a_cache_there_is_nothing_to_look_after() {
    let mut scene = caching();
    scene.context.env("TOFU_OCI_CACHE_DIR", "");
    assert_snapshot!(scene.run("cache prune").text, @r"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: there is no package cache

    hint: TOFU_OCI_CACHE_DIR names its folder; an empty value turns the cache off
    hint: without the variable it is in the cache folder of your user: tofu-oci help caching
    ");
}
