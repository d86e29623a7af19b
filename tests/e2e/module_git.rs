//! `module pull` of git repositories: real ones on this machine, and addresses that must not reach the program git.

use std::process::Command;

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_testkit::{Answer, WebServer};

use crate::setup::{Said, Scene};

impl Scene {
    /// Runs git in a folder, without a user of its own.
    #[track_caller]
    pub(crate) fn git(&self, folder: &str, line: &str) -> String {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=x", "-c", "user.email=x@example.test", "-c", "protocol.file.allow=always"]);
        command.args(line.split(' ')).current_dir(self.path(folder));
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
        let output = command.output().expect("git is installed");
        assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// A repository of these files, with the tag `v1`.
    pub(crate) fn repository(&self, name: &str, files: &[(&str, &str)]) {
        for (file, content) in files {
            self.context.write(&format!("{name}/{file}"), content);
        }
        self.git(name, "init -q -b main");
        self.commit(name);
        self.git(name, "tag v1");
    }

    pub(crate) fn commit(&self, name: &str) {
        self.git(name, "add -A");
        self.git(name, "commit -q -m x");
    }

    fn pull_git(&self, name: &str, rest: &str) -> Said {
        let address = format!("git::file://{}{rest}", self.path(name).display());
        self.output(self.command("module pull").arg(address).arg("out"))
    }
}

#[test]
fn a_tag_a_branch_and_a_commit_are_pulled() {
    let scene = Scene::new();
    scene.repository("repo", &[("main.tf", "# 1\n"), ("dns/main.tf", "# dns\n")]);
    let first = scene.git("repo", "rev-parse HEAD");
    scene.context.write("repo/main.tf", "# 2\n");
    scene.commit("repo");
    for (rest, want) in [
        (String::new(), "# 2\n"),
        ("?ref=v1".to_owned(), "# 1\n"),
        ("?ref=main&depth=1".to_owned(), "# 2\n"),
        (format!("?ref={first}"), "# 1\n"),
        (format!("?ref={}", &first[..9]), "# 1\n"),
        ("//dns?ref=v1".to_owned(), "# dns\n"),
    ] {
        let said = scene.output(
            scene.command("module pull --force").arg(format!("git::{}{rest}", scene.path("repo").display())).arg("out"),
        );
        said.success();
        assert_eq!(scene.context.read("out/main.tf"), want, "{rest}");
        assert!(!scene.path("out/.git").exists());
    }
    let json = scene.output(
        scene.command("module pull --json").arg(format!("git::{}?ref=v1", scene.path("repo").display())).arg("json"),
    );
    crate::json::check(&json);
    assert_eq!(json.json().last().expect("a line")["commit"], Value::from(first));
}

/// A git before 2.29 does not know the option.
#[cfg(unix)]
#[test]
fn a_git_without_object_formats_pulls_what_is_named_by_sha1() {
    use std::os::unix::fs::PermissionsExt;
    let scene = Scene::new();
    scene.repository("repo", &[("main.tf", "# 1\n")]);
    let path = std::env::var("PATH").expect("a PATH");
    let script =
        format!("#!/bin/sh\ncase \"$*\" in *--object-format*) exit 129;; esac\nPATH='{path}' exec git \"$@\"\n");
    scene.context.write("bin/git", script);
    std::fs::set_permissions(scene.path("bin/git"), PermissionsExt::from_mode(0o755)).expect("it was written");
    let address = format!("git::file://{}", scene.path("repo").display());
    let mut command = scene.command("module pull");
    command.arg(address).arg("out").env("PATH", format!("{}:{path}", scene.path("bin").display()));
    scene.output(&mut command).success();
    assert_eq!(scene.context.read("out/main.tf"), "# 1\n");
}

#[test]
fn a_repository_whose_objects_are_named_by_sha256_is_pulled() {
    let scene = Scene::new();
    scene.context.write("repo/main.tf", "# 1\n");
    scene.git("repo", "init -q -b main --object-format=sha256");
    scene.commit("repo");
    scene.git("repo", "tag v1");
    let commit = scene.git("repo", "rev-parse HEAD");
    assert_eq!(commit.len(), 64);
    for reference in ["v1", "main", commit.as_str(), &commit[..12]] {
        let address = format!("git::{}?ref={reference}", scene.path("repo").display());
        let said = scene.output(scene.command("module pull --force --json").arg(address).arg("out")).success();
        assert_eq!(said.json().last().expect("a line")["commit"], Value::from(commit.clone()));
    }
}

#[test]
fn what_a_repository_lacks_is_one_error_and_leaves_nothing() {
    let scene = Scene::new();
    scene.repository("repo", &[("main.tf", "")]);
    for rest in ["?ref=nope", "//nope", "?ref=0123456789012345678901234567890123456789", "/none.git"] {
        let said = scene.pull_git("repo", rest);
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert_eq!(said.stderr.matches("error:").count(), 1, "{}", said.text);
        assert!(!scene.path("out").exists(), "{}", said.text);
    }
    let left: Vec<_> = std::fs::read_dir(scene.path("")).expect("a folder").flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with(".tofu-oci")), "{left:?}");
}

#[test]
fn submodules_are_part_of_the_package() {
    let scene = Scene::new();
    scene.repository("inner", &[("inner.tf", "# inner\n")]);
    scene.repository("repo", &[("main.tf", "")]);
    scene.git("repo", "submodule --quiet add ../inner vendored/inner");
    scene.commit("repo");
    scene.pull_git("repo", "").success();
    assert_eq!(scene.context.read("out/vendored/inner/inner.tf"), "# inner\n");
    assert!(!scene.path("out/vendored/inner/.git").exists());
}

#[test]
fn a_submodule_that_must_not_be_fetched_ends_the_pull() {
    let scene = Scene::new();
    scene.repository("inner", &[("inner.tf", "")]);
    scene.repository("repo", &[("main.tf", "")]);
    scene.git("repo", "submodule --quiet add ../inner inner");
    for address in ["ext::sh -c touch% owned", "-x", "http://example.test/a.git", "ssh://-oProxyCommand=touch/x"] {
        let modules = format!("[submodule \"inner\"]\n\tpath = inner\n\turl = {address}\n");
        scene.context.write("repo/.gitmodules", modules);
        scene.commit("repo");
        let said = scene.pull_git("repo", "");
        assert!(said.stderr.contains("its submodule `inner` cannot be fetched"), "{}", said.text);
        assert!(!scene.path("out").exists() && !scene.path("owned").exists());
    }
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_of_the_repository_is_refused_and_hooks_are_not_run() {
    use std::os::unix::fs::symlink;
    let scene = Scene::new();
    scene.repository("repo", &[("main.tf", "# m\n")]);
    symlink("main.tf", scene.path("repo/link.tf")).expect("a link");
    scene.commit("repo");
    let hook = format!("#!/bin/sh\ntouch {}\n", scene.path("owned").display());
    scene.context.write("template/hooks/post-checkout", hook);
    scene.git("template", "init -q -b main");
    std::process::Command::new("chmod")
        .args(["+x", "template/hooks/post-checkout"])
        .current_dir(scene.path(""))
        .status()
        .expect("chmod");
    let address = format!("git::file://{}", scene.path("repo").display());
    let mut command = scene.command("module pull");
    command.env("GIT_TEMPLATE_DIR", scene.path("template"));
    command.env("GIT_DIR", scene.path("template/.git"));
    scene.output(command.arg(address).arg("out")).success();
    assert_eq!(scene.context.read("out/link.tf"), "# m\n");
    assert!(!scene.path("owned").exists());
    symlink("../../etc/passwd", scene.path("repo/dead.tf")).expect("a link");
    scene.commit("repo");
    let said = scene
        .output(scene.command("module pull").arg(format!("git::file://{}", scene.path("repo").display())).arg("other"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(!scene.path("other").exists());
}

#[test]
fn addresses_that_could_be_options_never_reach_git() {
    let scene = Scene::new();
    for address in [
        "git::ext::sh -c touch% owned",
        "git::ssh://-oProxyCommand=touch/owned",
        "git::https://example.test/a.git?ref=--upload-pack=touch",
        "git::https://example.test/a.git?sshkey=c2VjcmV0",
        "ssh://git@example.test/a.git",
    ] {
        let mut command = scene.command("module pull");
        // Without programs: git would be missed.
        let said = scene.output(command.env("PATH", "/nonexistent").arg(address).arg("out"));
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(!said.text.contains("c2VjcmV0"), "{}", said.text);
    }
    let mut command = scene.command("module pull git::https://u:hunter2@example.test/a.git out");
    assert_snapshot!(scene.output(command.env("PATH", "/nonexistent")).text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: no module can be fetched from git::https://***@example.test/a.git
      cause: the program git cannot be run: git is not on the PATH

    hint: install git; modules in git repositories need it
    ");
}

const BASE: &str = "/v1/modules/acme/network/aws";

#[test]
fn a_registry_may_name_a_repository_of_git_that_is_as_far_away_as_itself() {
    let mut scene = Scene::new();
    let web = WebServer::start(&[]);
    scene.context.write("ca.pem", web.ca_pem().expect("it speaks TLS"));
    scene.context.env("TOFU_OCI_CA_FILE", "ca.pem");
    let services = format!("{{ \"modules.v1\" = \"{}/v1/modules/\" }}", web.origin());
    scene.context.write_home(".tofurc", format!("host \"registry.example.test\" {{\n  services = {services}\n}}\n"));
    let versions: Vec<String> = (0..9).map(|minor| format!("{{\"version\":\"1.{minor}.0\"}}")).collect();
    let versions = format!("{{\"modules\":[{{\"versions\":[{}]}}]}}", versions.join(","));
    web.page(&format!("{BASE}/versions"), Answer::new(200).body(versions));
    let pull = |minor: usize, location: &str| {
        let body = format!("{{\"location\":\"{location}\"}}");
        web.page(&format!("{BASE}/1.{minor}.0/download"), Answer::new(200).body(body));
        scene.run(&format!("module pull registry.example.test/acme/network/aws@1.{minor}.0 out"))
    };
    scene.repository("repo", &[("main.tf", "")]);
    let local = format!("git::file://{}", scene.path("repo").display());
    for (minor, location) in [
        local.as_str(),
        "git::/srv/a.git",
        "git::http://example.test/a.git",
        "git::git://example.test/a.git",
        "git::https://example.test/a.git?ref=-x",
    ]
    .into_iter()
    .enumerate()
    {
        let said = pull(minor, location);
        assert_eq!(said.code, Some(1), "{location} {}", said.text);
        assert!(said.stderr.contains("cannot be fetched from where"), "{location} {}", said.text);
    }
    let port = web.origin().rsplit(':').next().expect("a port").to_owned();
    let said = pull(8, &format!("git::https://127.0.0.1:{port}/a.git?ref=v1"));
    assert!(said.stderr.contains("git says: "), "{}", said.text);
    assert!(!scene.path("out").exists());
}

/// What a commit holds beside its files: git itself writes no `.git` of a commit, and knows no other program.
#[test]
fn a_commit_with_another_repository_in_it_was_taken_over() {
    let scene = Scene::new();
    scene.repository("hg", &[("main.tf", ""), ("a/.HG/hgrc", "[hooks]\n")]);
    let bare = [("x/HEAD", "ref: refs/heads/x\n"), ("x/config", ""), ("x/objects/a", ""), ("x/refs/b", "")];
    scene.repository("bare", &[&[("main.tf", "")][..], &bare].concat());
    scene.repository("plain", &[("main.tf", "")]);
    // A tree that git does not make itself.
    let blob = scene.git("plain", "rev-parse HEAD:main.tf");
    let list = format!("100644 blob {blob}\t.git\n100644 blob {blob}\tmain.tf\n");
    scene.context.write("tree.txt", list);
    let tree = std::fs::File::open(scene.path("tree.txt")).expect("it was written");
    let tree = Command::new("git")
        .arg("mktree")
        .current_dir(scene.path("plain"))
        .stdin(tree)
        .output()
        .expect("git is installed");
    let tree = String::from_utf8(tree.stdout).expect("a digest");
    let commit = scene.git("plain", &format!("commit-tree -m x {}", tree.trim()));
    scene.git("plain", &format!("update-ref refs/heads/main {commit}"));
    for (name, text) in
        [("hg", "a/.HG"), ("bare", "a part of a repository of version control"), ("plain", "invalid path '.git'")]
    {
        let said = scene.pull_git(name, "");
        assert_eq!(said.code, Some(1), "{name}: {}", said.text);
        assert!(said.text.contains(text), "{name}: {}", said.text);
        assert!(!scene.path("out").exists(), "{name}");
    }
}
