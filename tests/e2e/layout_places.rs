//! One image layout directory, named by several paths: it is one place for pins.

use std::process::Command;

use crate::setup::{Said, Scene};

const ADDRESS: &str = "registry.example.com/acme/widget";
const PINS: &str = ".tofu-oci.pins.json";

/// A folder `project` with a layout of widget 1.4.0 in it and one beside it.
fn layouts() -> Scene {
    let scene = Scene::with_dist();
    for layout in ["project/lay", "beside"] {
        std::fs::create_dir_all(scene.path("project/sub")).expect("a folder");
        scene.run(&format!("pack dist oci:{layout} --address {ADDRESS}")).success();
    }
    scene
}

/// Runs the program in a folder.
fn run_in(scene: &Scene, folder: &str, line: &str) -> Said {
    let mut command: Command = scene.command(line);
    command.current_dir(scene.path(folder));
    scene.output(&mut command)
}

/// Accepts the release by the first path, lets the pin name another index, and looks at it by each path. A path comes
/// with the folder that the program runs in, and its `--chdir`.
#[track_caller]
fn check(scene: &Scene, pins: &str, place: &str, paths: &[(&str, &str, String)]) {
    let line = |dir: &str, path: &str| format!("verify {ADDRESS}@1.4.0 --from oci:{path} --chdir {dir}");
    let (folder, dir, path) = &paths[0];
    run_in(scene, folder, &format!("{} --accept", line(dir, path))).success();
    let text = scene.context.read(pins);
    assert!(text.contains(&format!("\"place\": \"{place}\"")), "{text}");
    let index = text.find("\"index\": \"sha256:").expect("an index") + 10;
    scene.context.write(pins, text.replace(&text[index..index + 71], &format!("sha256:{}", "0".repeat(64))));
    for (folder, dir, path) in paths {
        let said = run_in(scene, folder, &line(dir, path));
        assert!(said.text.contains("refused (moved-tag)"), "{path}: {}", said.text);
    }
    for (folder, dir, path) in paths {
        run_in(scene, folder, &format!("{} --accept", line(dir, path))).success();
        assert_eq!(scene.context.read(pins), text, "{path}: one pin, in one spelling");
    }
}

#[test]
fn a_moved_tag_is_noticed_however_the_path_of_a_layout_is_written() {
    let scene = layouts();
    let absolute = |name: &str| scene.path(name).display().to_string();
    let pins = format!("project/{PINS}");
    let paths = [
        ("project", ".", "lay".to_owned()),
        ("project", ".", absolute("project/lay")),
        ("project", ".", "../project/lay".to_owned()),
        (".", "project", "project/lay".to_owned()),
        ("project/sub", "..", "../lay".to_owned()),
    ];
    check(&scene, &pins, "oci:lay", &paths);
    std::fs::remove_file(scene.path(&pins)).expect("the pins");
    let paths = [
        ("project", ".", absolute("beside")),
        ("project", ".", "../beside".to_owned()),
        (".", "project", "beside".to_owned()),
    ];
    check(&scene, &pins, "oci:../beside", &paths);
}

#[cfg(unix)]
#[test]
fn a_project_that_is_reached_through_a_link_is_one_project() {
    let scene = layouts();
    std::os::unix::fs::symlink(scene.path("project"), scene.path("linked")).expect("a link");
    let absolute = |name: &str| scene.path(name).display().to_string();
    let paths = [
        ("project", ".", absolute("linked/lay")),
        ("project", ".", "lay".to_owned()),
        (".", "linked", "linked/lay".to_owned()),
        (".", "linked", "project/lay".to_owned()),
    ];
    check(&scene, &format!("project/{PINS}"), "oci:lay", &paths);
}

/// The link is what the user names: what it leads to is another release if it is turned.
#[cfg(unix)]
#[test]
fn a_link_that_is_turned_to_another_layout_is_a_moved_tag() {
    let scene = layouts();
    let link = scene.path("project/current");
    std::os::unix::fs::symlink("lay", &link).expect("a link");
    let verify = format!("verify {ADDRESS}@1.4.0 --from oci:current");
    run_in(&scene, "project", &format!("{verify} --accept")).success();
    scene.dist("other", "1.4.0");
    let dist = scene.path("other");
    let zip = std::fs::read_dir(&dist).expect("a folder").filter_map(Result::ok);
    let zip = zip.map(|entry| entry.path()).find(|path| path.extension().is_some_and(|ending| ending == "zip"));
    std::fs::remove_file(zip.expect("a zip")).expect("one platform less");
    scene.run(&format!("pack other oci:project/turned --address {ADDRESS}")).success();
    std::fs::remove_file(&link).expect("the link");
    std::os::unix::fs::symlink("turned", &link).expect("a link");
    let said = run_in(&scene, "project", &verify);
    assert!(said.text.contains("refused (moved-tag)"), "{}", said.text);
}
