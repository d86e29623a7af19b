//! The package cache: shared by projects, checked before each use, thinned out, verified.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::setup::{Scene, WIDGET};

const FOLDER: &str = ".terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64";
/// Large enough that its checksum is remembered.
const LARGE: usize = 200_000;

/// A release with a large file, projects `a` to `d`, and a cache in the work folder.
pub(crate) fn caching() -> Scene {
    let mut scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", LARGE);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    for project in ["a", "b", "c", "d"] {
        fs::create_dir(scene.path(project)).expect("a file of this test");
    }
    name_cache(&mut scene, "cache");
    scene
}

fn name_cache(scene: &mut Scene, name: &str) {
    let dir = scene.path(name).display().to_string();
    scene.context.env("TOFU_OCI_CACHE_DIR", dir);
}

pub(crate) fn line(project: &str) -> String {
    format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64 --chdir {project}")
}

/// Installs into a project; how often the package was fetched for that.
#[track_caller]
pub(crate) fn install(scene: &Scene, project: &str) -> usize {
    scene.registry.clear_requests();
    scene.run(&line(project)).success();
    fetched(scene)
}

/// How often the package was fetched. It is the only large blob.
fn fetched(scene: &Scene) -> usize {
    let zip = fs::read_dir(scene.path("dist"))
        .expect("a file of this test")
        .map(|entry| entry.expect("a file of this test").path());
    let zip = zip.into_iter().find(|path| path.extension().is_some_and(|end| end == "zip")).expect("a zip");
    let digest = tofu_oci_types::Digest::sha256(&fs::read(zip).expect("a file of this test")).to_string();
    let is_package = |line: &str| line.starts_with("GET ") && line.contains(&digest);
    scene.registry.requests().iter().filter(|request| is_package(&request.line())).count()
}

pub(crate) fn data(scene: &Scene, project: &str) -> PathBuf {
    scene.path(project).join(FOLDER).join("data.bin")
}

/// The cached file that the projects share.
pub(crate) fn cached_data(scene: &Scene, cache: &str) -> PathBuf {
    let content = scene.path(cache).join("packages-v1/content");
    let mut packages =
        fs::read_dir(content).expect("a file of this test").map(|entry| entry.expect("a file of this test").path());
    packages.next().expect("a package").join("files/data.bin")
}

/// Whether files here can share their blocks. Then each project has a file of its own.
fn has_reflinks(folder: &Path) -> bool {
    fs::write(folder.join("one"), "x").expect("a file of this test");
    let mut command = Command::new("cp");
    command.arg("--reflink=always").args([folder.join("one"), folder.join("other")]).stderr(Stdio::null());
    let cloned = command.status().is_ok_and(|status| status.success());
    for name in ["one", "other"] {
        let _ = fs::remove_file(folder.join(name));
    }
    cloned
}

/// Changes a byte of a file in place, and puts its time of modification back.
pub(crate) fn edit(file: &Path) {
    let before = fs::metadata(file).expect("a file of this test");
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).expect("a file of this test");
    let mut bytes = fs::read(file).expect("a file of this test");
    bytes[0] ^= 1;
    fs::write(file, bytes).expect("a file of this test");
    fs::File::options()
        .append(true)
        .open(file)
        .expect("a file of this test")
        .set_modified(before.modified().expect("a file of this test"))
        .expect("a file of this test");
    assert_eq!(fs::metadata(file).expect("a file of this test").ino(), before.ino());
}

#[test]
fn a_second_project_shares_the_files_of_the_first_and_fetches_nothing() {
    let scene = caching();
    assert_eq!(install(&scene, "a"), 1);
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(&line("b")).text, @"
    exit code: 0
    ----- stdout -----
    installed from the package cache: registry.example.com/acme/widget 1.4.0 linux_amd64
      b/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file b/.terraform.lock.hcl created

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed from cache
    ");
    assert_eq!(fetched(&scene), 0);
    let inode = |path: PathBuf| fs::metadata(path).unwrap().ino();
    if !has_reflinks(&scene.path("")) {
        let cached = inode(cached_data(&scene, "cache"));
        assert_eq!([inode(data(&scene, "a")), inode(data(&scene, "b"))], [cached; 2]);
        assert_eq!(fs::metadata(data(&scene, "b")).unwrap().permissions().mode() & 0o777, 0o444);
    }
    for name in [".terraform.lock.hcl", ".tofu-oci.pins.json"] {
        assert_eq!(scene.context.read(&format!("a/{name}")), scene.context.read(&format!("b/{name}")), "{name}");
    }
    let json = scene.run(&format!("{} --json", line("c"))).success().json();
    let installed = json.iter().find(|line| line["event"] == "installed").expect("a line");
    assert_eq!((&installed["outcome"], &installed["from_cache"]), (&"installed".into(), &true.into()));
}

#[test]
fn what_is_edited_in_one_project_does_not_reach_another() {
    let scene = caching();
    install(&scene, "a");
    let good = fs::read(data(&scene, "a")).unwrap();
    edit(&data(&scene, "a"));
    scene.registry.clear_requests();
    let said = scene.run(&line("b"));
    assert_eq!(fs::read(data(&scene, "b")).unwrap(), good);
    if !has_reflinks(&scene.path("")) {
        assert_snapshot!(said.text, @"
        exit code: 0
        ----- stdout -----
        installed registry.example.com/acme/widget 1.4.0 linux_amd64
          b/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
        lock file b/.terraform.lock.hcl created

        ----- stderr -----
        warning: [WORK]/cache/packages-v1/content/h1-sfnbjekcoXcBc5Y_8NczkzXcCNoz8Lnq3Cj1twz67Ho/files/data.bin has changed since it came into the package cache: the package is removed from the cache and fetched anew
          hint: a program has written to it, perhaps in a project that shares the file by a hard link
        registry.example.com/acme/widget 1.4.0 linux_amd64: installed (200.4 kB)
        ");
        assert_eq!(fetched(&scene), 1);
    }
    assert_ne!(fs::read(data(&scene, "a")).unwrap(), good, "it is not this program's to change");
    assert_eq!(install(&scene, "c"), 0);
    assert_eq!(fs::read(data(&scene, "c")).unwrap(), good);
}

#[test]
fn what_is_edited_in_a_project_is_found_there() {
    let scene = caching();
    install(&scene, "a");
    scene.run(&format!("{} --locked", line("a"))).success();
    edit(&data(&scene, "a"));
    assert_snapshot!(scene.run(&format!("{} --locked", line("a"))).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    warning: [WORK]/cache/packages-v1/content/h1-sfnbjekcoXcBc5Y_8NczkzXcCNoz8Lnq3Cj1twz67Ho/files/data.bin has changed since it came into the package cache: the package is removed from the cache and fetched anew
      hint: a program has written to it, perhaps in a project that shares the file by a hard link
    error: a/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 has other contents than registry.example.com/acme/widget 1.4.0

    hint: delete a/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64 and run the same command again
    ");
}

/// A deletion explains a change of a file's status, but no edit that was found before it.
#[test]
fn an_edit_that_was_found_was_forgotten_when_a_project_or_the_cached_package_was_deleted() {
    for finds in ["install", "cache verify"] {
        let scene = caching();
        if has_reflinks(&scene.path("")) {
            return;
        }
        install(&scene, "a");
        install(&scene, "b");
        let good = fs::read(data(&scene, "a")).unwrap();
        edit(&data(&scene, "a"));
        fs::set_permissions(data(&scene, "a"), fs::Permissions::from_mode(0o444)).unwrap();
        let found = if finds == "install" { scene.run(&line("a")) } else { scene.run(finds) };
        assert!(found.text.starts_with("exit code: 1"), "{}", found.text);
        fs::remove_dir_all(scene.path("a/.terraform")).unwrap();
        install(&scene, "a");
        assert_eq!(fs::read(data(&scene, "a")).unwrap(), good, "{finds}");
        let shared = scene.run(&format!("{} --locked", line("b"))).text;
        assert!(shared.contains("has other contents than registry.example.com/acme/widget 1.4.0"), "{shared}");
    }
}

#[test]
fn twenty_runs_at_once_fetch_a_package_once() {
    let scene = caching();
    scene.registry.clear_requests();
    let projects: Vec<String> = (0..20).map(|number| format!("p{number}")).collect();
    let start = |project: &String| {
        fs::create_dir(scene.path(project)).unwrap();
        let mut command = scene.command(&line(project));
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
    };
    let children: Vec<_> = projects.iter().map(start).collect();
    for child in children {
        let output = child.wait_with_output().expect("it ends");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    assert_eq!(fetched(&scene), 1);
    let first = fs::read(data(&scene, "p0")).unwrap();
    assert!(projects.iter().all(|project| fs::read(data(&scene, project)).unwrap() == first));
}

#[test]
fn a_project_survives_the_removal_of_the_cache_and_the_cache_that_of_projects() {
    let scene = caching();
    install(&scene, "a");
    fs::remove_dir_all(scene.path("a")).unwrap();
    fs::create_dir(scene.path("a")).unwrap();
    assert_eq!(install(&scene, "a"), 0);
    fs::remove_dir_all(scene.path("cache")).unwrap();
    scene.registry.clear_requests();
    assert_snapshot!(scene.run(&format!("{} --locked", line("a"))).text, @"
    exit code: 0
    ----- stdout -----
    already installed registry.example.com/acme/widget 1.4.0 linux_amd64
      a/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file a/.terraform.lock.hcl unchanged

    ----- stderr -----
    registry.example.com/acme/widget 1.4.0 linux_amd64: already installed
    ");
    assert_eq!(scene.conversation(), [""; 0]);
    assert_eq!(install(&scene, "b"), 1);
}

#[test]
fn without_a_cache_every_project_fetches() {
    let mut scene = caching();
    for project in ["a", "b"] {
        scene.registry.clear_requests();
        scene.run(&format!("{} --no-cache", line(project))).success();
        assert_eq!(fetched(&scene), 1);
    }
    scene.context.env("TOFU_OCI_CACHE_DIR", "");
    assert_eq!(install(&scene, "c"), 1);
    assert!(!scene.path("cache").exists());
    name_cache(&mut scene, "cache");
    scene.run(&format!("{} --dry-run", line("d"))).success();
    assert!(!scene.path("cache").exists(), "it writes nothing");
    fs::remove_dir_all(scene.path("c/.terraform")).unwrap();
    assert_eq!(install(&scene, "c"), 1);
    let planned = scene.run(&format!("{} --dry-run --json", line("d"))).success().json();
    assert_eq!(planned.iter().find(|line| line["event"] == "planned").expect("a line")["download"], 0);
}

#[test]
fn a_cache_that_cannot_be_used_is_reported_once_and_fails_nothing() {
    let scene = caching();
    fs::create_dir_all(scene.path("cache/packages-v1/locks")).unwrap();
    fs::set_permissions(scene.path("cache/packages-v1"), fs::Permissions::from_mode(0o777)).unwrap();
    assert_snapshot!(scene.run(&line("a")).text, @"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      a/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file a/.terraform.lock.hcl created

    ----- stderr -----
    warning: the package cache in [WORK]/cache is not used: [WORK]/cache/packages-v1 belongs to another user, or others may write to it
      hint: make that folder yours alone (chmod go-w), or set TOFU_OCI_CACHE_DIR to another folder; an empty TOFU_OCI_CACHE_DIR turns the cache off
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (200.4 kB)
    ");
    fs::set_permissions(scene.path("cache/packages-v1"), fs::Permissions::from_mode(0o755)).unwrap();
    scene.context.write("cache/packages-v1/scratch", "in the way");
    assert_snapshot!(scene.run(&line("b")).text, @r#"
    exit code: 0
    ----- stdout -----
    installed registry.example.com/acme/widget 1.4.0 linux_amd64
      b/.terraform/providers/registry.example.com/acme/widget/1.4.0/linux_amd64
    lock file b/.terraform.lock.hcl created

    ----- stderr -----
    warning: the package cache in [WORK]/cache is not used: [WORK]/cache/packages-v1/scratch: not a directory
      hint: set TOFU_OCI_CACHE_DIR to another folder; an empty TOFU_OCI_CACHE_DIR turns the cache off
    registry.example.com/acme/widget 1.4.0 linux_amd64: installed (200.4 kB)
    "#);
}

/// Which folder is on another file system depends on the machine.
#[test]
fn a_cache_on_another_file_system_gives_copies() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let mut scene = caching();
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(&scene.path("")) {
        return;
    }
    scene.context.env("TOFU_OCI_CACHE_DIR", elsewhere.path().display().to_string());
    assert_eq!(install(&scene, "a"), 1);
    assert_eq!(install(&scene, "b"), 0);
    let installed = fs::metadata(data(&scene, "b")).unwrap();
    assert_eq!((installed.nlink(), installed.mode() & 0o777), (1, 0o644));
    assert_eq!(fs::read(data(&scene, "a")).unwrap(), fs::read(data(&scene, "b")).unwrap());
}

#[test]
fn a_lower_cache_serves_and_stays_as_it_is() {
    let mut scene = caching();
    name_cache(&mut scene, "lower");
    install(&scene, "a");
    let lower = scene.path("lower").display().to_string();
    scene.context.env("TOFU_OCI_CACHE_LOWER", lower);
    name_cache(&mut scene, "cache");
    let files = |scene: &Scene| scene.context.files().into_iter().filter(|name| name.starts_with("lower/")).count();
    let before = files(&scene);
    assert_eq!(install(&scene, "b"), 0);
    assert_eq!(files(&scene), before);
    let shown = scene.run("cache info").text;
    assert!(shown.contains("\n1 package (200.1 kB) in [WORK]/cache/packages-v1\n"), "its next project links: {shown}");
    assert!(shown.contains("\nbelow it, read only: [WORK]/lower/packages-v1\n"), "{shown}");
}

#[test]
fn a_cached_package_needs_the_signature_that_the_policy_demands() {
    let scene = caching();
    install(&scene, "a");
    scene.trust("");
    let refused = scene.refuse(&format!("{} --trust-policy trust.toml", line("b")));
    assert_snapshot!(refused, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 is not trusted: it is not signed
      cause: it came from [REGISTRY]/acme/widget
      cause: trust.toml:10, the rule for registry.example.com/*/*, demands a signature by acme-release

    hint: its publisher signs it: tofu-oci sign [REGISTRY]/acme/widget:1.4.0 --key KEY
    hint: `tofu-oci verify registry.example.com/acme/widget@1.4.0 --from [REGISTRY]/acme/widget --chdir b --trust-policy trust.toml` shows every signature, and why it does not count
    ");
}
