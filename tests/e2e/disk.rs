//! Disks that are full and places that cannot be written to. Tests may run as root, whom permissions do not bind:
//! a limit on file sizes and a path below a file hold for root too.

use insta::assert_snapshot;
use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::setup::{Scene, State, WIDGET};

const INSTALL: &str = "install registry.example.com/acme/widget --from REGISTRY/acme/widget --platform linux_amd64";

/// A release with a file of 3 MB that does not compress.
fn large() -> Scene {
    let scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 3_000_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene
}

/// The program with files limited to 1 MiB; to go beyond is an error and not a signal, as on a full disk.
#[cfg(unix)]
fn limited(scene: &Scene, line: &str) -> std::process::Command {
    let program = scene.command(line);
    let mut command = scene.context.command("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 2048 2>/dev/null; exec \"$0\" \"$@\""]);
    command.arg(program.get_program()).args(program.get_args());
    command
}

#[test]
#[cfg(unix)]
fn a_full_disk_while_installing() {
    let scene = large();
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    assert_snapshot!(scene.refuse_with(&mut limited(&scene, INSTALL)), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: cannot write into ./.terraform/providers/registry.example.com/acme/widget/1.4.0
      cause: File too large (os error [N])

    hint: free some space and run the same command again; nothing half-done was kept
    ");
    let packed = format!("{INSTALL} --into mirror --packed");
    assert_snapshot!(scene.refuse_with(&mut limited(&scene, &packed)), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the package of registry.example.com/acme/widget 1.4.0 for linux_amd64 cannot be installed
      cause: cannot write into mirror/registry.example.com/acme/widget
      cause: File too large (os error [N])

    hint: free some space and run the same command again; nothing half-done was kept
    ");
    scene.run(INSTALL).success();
}

#[test]
#[cfg(unix)]
fn a_full_disk_while_packing() {
    let scene = large();
    for layout in ["artifact", "image"] {
        let line = format!("pack dist oci:layout --address {WIDGET} --layout {layout}");
        let said = scene.output(&mut limited(&scene, &line));
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(said.stderr.contains("hint: free some space"), "{}", said.text);
        assert_eq!(State::of(&scene).temp(), Vec::<&str>::new());
        let left: Vec<String> = scene.context.files();
        assert!(!left.iter().any(|name| name.starts_with("layout/.tofu-oci-") && !name.ends_with("lock")), "{left:?}");
        scene.run(&line).success();
        std::fs::remove_dir_all(scene.path("layout")).expect("it was written");
    }
}

#[test]
fn a_place_below_a_file_cannot_be_written_to() {
    let scene = Scene::published();
    scene.context.write("file", "");
    assert_snapshot!(scene.refuse(&format!("{INSTALL} --into file/mirror")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create file/mirror/registry.example.com/acme/widget/1.4.0
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
    assert_snapshot!(scene.refuse(&format!("{INSTALL} --into file")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create file/registry.example.com/acme/widget/1.4.0
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
    assert_snapshot!(scene.refuse(&format!("pack dist oci:file/layout --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create file/layout
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:file/layout"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create file/layout
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
    scene.context.write(".terraform", "a file");
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create ./.terraform/providers/registry.example.com/acme/widget/1.4.0
      cause: Not a directory (os error [N])

    hint: a file lies where a folder is needed, or a folder where a file is; choose another place
    ");
}

#[test]
#[cfg(target_os = "linux")]
fn a_read_only_directory() {
    let scene = Scene::published();
    // No user can make a file there, not even root.
    assert_snapshot!(scene.refuse(&format!("{INSTALL} --into /proc/self/mirror")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create /proc/self/mirror/registry.example.com/acme/widget/1.4.0
      cause: No such file or directory (os error [N])

    hint: check the path; its parent folders must be there
    ");
    assert_snapshot!(scene.refuse(&format!("pack dist oci:/proc/self/layout --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot create /proc/self/layout
      cause: No such file or directory (os error [N])

    hint: check the path; its parent folders must be there
    ");
}

#[test]
fn a_lock_file_that_cannot_be_written_leaves_everything_as_it_was() {
    let scene = Scene::published();
    std::fs::create_dir(scene.path(".terraform.lock.hcl")).expect("the work folder is writable");
    assert_snapshot!(scene.refuse(INSTALL), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: cannot read ./.terraform.lock.hcl
      cause: Is a directory (os error [N])

    hint: it is a directory, and a file is read here
    ");
}

#[test]
fn a_directory_of_somebody_else_is_not_written_to() {
    let scene = Scene::published();
    scene.context.write("notes/thesis.txt", "text");
    assert_snapshot!(scene.refuse(&format!("pack dist oci:notes --address {WIDGET}")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:notes is not usable: the folder is not empty and not an OCI image layout

    hint: name a folder that is an OCI image layout, or to write one, a new or empty folder
    ");
    assert_snapshot!(scene.refuse("copy REGISTRY/acme/widget oci:notes"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: oci:notes is not usable: the folder is not empty and not an OCI image layout

    hint: name a folder that is an OCI image layout, or to write one, a new or empty folder
    ");
}

#[test]
#[cfg(target_os = "linux")]
fn an_install_into_a_closed_pipe_is_done_to_its_end() {
    let scene = Scene::published();
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    let said = scene.command(&format!("{INSTALL} --json")).stdout(writer).output().expect("the program runs");
    assert_eq!((said.status.code(), String::from_utf8_lossy(&said.stderr).as_ref()), (Some(0), ""));
    assert!(scene.context.read(".terraform.lock.hcl").contains("\"1.4.0\""), "the lock file is written all the same");
    assert!(scene.run(INSTALL).stdout.contains("lock file .terraform.lock.hcl unchanged"));
}

#[test]
#[cfg(target_os = "linux")]
fn output_that_cannot_be_written_is_unexpected_and_a_closed_pipe_is_quiet() {
    let scene = Scene::published();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("it is a device of Linux");
    let status = scene.command("versions REGISTRY/acme/widget").stdout(full).status().expect("the program runs");
    assert_eq!(status.code(), Some(3));
    let (reader, writer) = std::io::pipe().expect("a pipe can be made");
    drop(reader);
    let said = scene.command("versions REGISTRY/acme/widget").stdout(writer).output().expect("the program runs");
    assert_eq!(said.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&said.stderr), "");
}
