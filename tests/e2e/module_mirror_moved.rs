//! `module mirror` when a source is no longer what it was, or a repository is kept for another module.

use insta::assert_snapshot;

use crate::module_mirror::{TO, Upstream, call};
use crate::setup::{Said, Scene};

const NET: &str = "registry.example.com/acme/net/aws";

fn git(scene: &Scene, line: &str) -> String {
    let mut command = std::process::Command::new("git");
    command.args(["-c", "user.name=x", "-c", "user.email=x@example.test"]).args(line.split(' '));
    command.current_dir(scene.path("repo")).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null");
    let output = command.output().expect("git is installed");
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(scene: &Scene, text: &str) -> String {
    scene.context.write("repo/main.tf", text);
    git(scene, "add .");
    git(scene, "commit -q -m x");
    git(scene, "rev-parse HEAD")
}

/// A repository of git with the tag `v1.4.0`, which is mirrored.
fn mirrored() -> Upstream {
    let upstream = Upstream::start();
    upstream.scene.context.write("repo/main.tf", "");
    git(&upstream.scene, "init -q -b main");
    commit(&upstream.scene, "# 1\n");
    git(&upstream.scene, "tag v1.4.0");
    of_git(&upstream, "v1.4.0", NET).success();
    upstream
}

fn of_git(upstream: &Upstream, reference: &str, address: &str) -> Said {
    let repo = upstream.scene.path("repo");
    upstream.mirror(&format!("'git::file://{}?ref={reference}' --as {address}", repo.display()))
}

/// The report without digests, commits and folders.
fn shown(upstream: &Upstream, said: &Said) -> String {
    let folder = upstream.scene.path("repo").display().to_string();
    let mut text = upstream.text(said).replace(&folder, "/repo");
    for commit in git(&upstream.scene, "rev-list --all").lines() {
        text = text.replace(commit, "[COMMIT]");
    }
    text
}

#[test]
fn a_tag_of_git_that_has_moved_is_named_and_the_published_version_stays() {
    let upstream = mirrored();
    let scene = &upstream.scene;
    let there = scene.tag("mirror/acme/net-aws", "1.4.0");
    let first = git(scene, "rev-parse HEAD");
    let second = commit(scene, "# 2\n");
    git(scene, "tag -f v1.4.0");
    assert_snapshot!(shown(&upstream, &of_git(&upstream, "v1.4.0", NET)), @"
    exit code: 1
    ----- stdout -----
    module                             version  report
    registry.example.com/acme/net/aws  1.4.0    failed

    git::file://[WORK]/repo?ref=v1.4.0 names the commit [COMMIT] now, and [REGISTRY]/mirror/acme/net-aws has registry.example.com/acme/net/aws 1.4.0 of [COMMIT], which stays
      hint: if the change is meant, mirror it as another version: --as registry.example.com/acme/net/aws@NEWVERSION
      hint: the tag of a version must never move: ask its publisher what happened

    1 failed; 0 B sent

    ----- stderr -----
    ");
    let json = of_git(&upstream, "v1.4.0", &format!("{NET} --plan --json"));
    assert_eq!((json.code, json.json()[0]["code"].clone()), (Some(1), "module-ref-moved".into()), "{}", json.text);
    assert_eq!(there, scene.tag("mirror/acme/net-aws", "1.4.0"));
    of_git(&upstream, "v1.4.0", &format!("{NET}@1.4.1")).success();
    scene.tag("mirror/acme/net-aws", "1.4.1");
    // An annotated tag is its commit, and a commit is itself.
    git(scene, &format!("tag -f -a -m x v1.4.0 {first}"));
    assert!(of_git(&upstream, "v1.4.0", NET).success().stdout.contains("1 there already"));
    assert!(of_git(&upstream, &first[..9], &format!("{NET}@1.4.0")).success().stdout.contains("1 there already"));
    assert_eq!(of_git(&upstream, &second, &format!("{NET}@1.4.0")).code, Some(1));
}

#[test]
fn a_branch_of_git_that_has_moved_is_named() {
    let upstream = mirrored();
    let address = format!("{NET}@2.0.0");
    of_git(&upstream, "main", &address).success();
    assert!(of_git(&upstream, "main", &address).success().stdout.contains("1 there already"));
    commit(&upstream.scene, "# 2\n");
    let said = of_git(&upstream, "main", &address);
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains(&format!("--as {NET}@NEWVERSION")), "{}", said.text);
}

#[test]
fn what_is_there_stays_if_its_git_repository_cannot_be_asked() {
    let upstream = mirrored();
    git(&upstream.scene, "tag -d v1.4.0");
    let repo = upstream.scene.path("repo").display().to_string();
    let line = format!("module mirror 'git::file://{repo}?ref=v1.4.0' --as {NET} --to '{TO}'");
    let said = upstream.scene.run(&line).success();
    assert!(said.stdout.contains("1 there already"), "{}", said.text);
    assert!(said.stderr.contains("the destination has it, and it stays as it is"), "{}", said.text);
}

#[test]
fn a_repository_that_holds_one_module_takes_no_other_in_a_later_run() {
    let upstream = mirrored();
    let scene = &upstream.scene;
    let source = format!("'git::file://{}?ref=v1.4.0'", scene.path("repo").display());
    let mirror = |address: &str| {
        scene.run(&format!("module mirror {source} --as {address} --to REGISTRY/one --no-nested --quiet"))
    };
    mirror(NET).success();
    let (_, manifest) = scene.registry.manifest("one", &scene.tag("one", "1.4.0")).expect("a manifest");
    let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    assert_eq!(manifest["annotations"]["org.opentofu.module.address"], NET);
    mirror(NET).success();
    assert_snapshot!(mirror("registry.example.com/acme/dns/aws").text, @"
    exit code: 1
    ----- stdout -----
    module                             version  report
    registry.example.com/acme/dns/aws  1.4.0    failed

    registry.example.com/acme/dns/aws 1.4.0: [REGISTRY]/one has 1.4.0 as registry.example.com/acme/net/aws, and not as registry.example.com/acme/dns/aws
      hint: name another repository, or another version: --as registry.example.com/acme/dns/aws@NEWVERSION

    1 failed; 0 B sent

    ----- stderr -----
    ");
    let newer = mirror("registry.example.com/acme/dns/aws@1.5.0");
    assert!(newer.code == Some(1) && newer.stdout.contains("a repository holds one module"), "{}", newer.text);
    // A copy says what its publisher packed, and may have another address.
    let copy =
        "module mirror 'oci://REGISTRY/one?tag=1.4.0' --as registry.example.com/acme/dns/aws --no-nested --quiet";
    for want in ["1 added", "1 there already"] {
        let said = scene.run(&format!("{copy} --to REGISTRY/two")).success();
        assert!(said.stdout.contains(want), "{}", said.text);
    }
}

/// A module in the repository `from` that says it is `address`, copied as acme/dns/aws to `to`.
fn copied(scene: &Scene, address: &str) {
    scene.context.write("net/main.tf", "# 1\n");
    let said = if address.is_empty() { String::new() } else { format!("--annotation {ADDRESS_KEY}={address}") };
    scene.run(&format!("module push net REGISTRY/from --version 1.4.0 {said}")).success();
    scene.run(&format!("{COPY} --to '{TO}'")).success();
}

const ADDRESS_KEY: &str = "org.opentofu.module.address";
const DNS: &str = "registry.example.com/acme/dns/aws";
const COPY: &str =
    "module mirror 'oci://REGISTRY/from?tag=1.4.0' --as registry.example.com/acme/dns/aws --no-nested --quiet";

#[test]
fn a_source_that_is_down_is_not_taken_for_another_module() {
    let upstream = Upstream::start();
    let scene = &upstream.scene;
    copied(scene, NET);
    let line = COPY.replace("REGISTRY/from", "REGISTRY/gone");
    let said = scene.run(&format!("{line} --to '{TO}' --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert_ne!(said.json()[0]["code"], "shared-repository", "{}", said.text);
}

#[test]
fn a_package_that_was_replaced_has_changed_whatever_module_it_says_it_is() {
    let upstream = Upstream::start();
    let scene = &upstream.scene;
    copied(scene, NET);
    scene.context.write("net/main.tf", "# 2\n");
    let push = format!("module push net REGISTRY/from --version 1.4.0 --annotation {ADDRESS_KEY}={NET}");
    scene.run(&format!("{push} --replace-tag")).success();
    let said = scene.run(&format!("{COPY} --to '{TO}' --json"));
    assert_eq!(said.json()[0]["code"], "upstream-changed", "{}", said.text);
}

#[test]
fn the_same_files_with_other_annotations_are_the_same_module() {
    let upstream = Upstream::start();
    let scene = &upstream.scene;
    copied(scene, "");
    scene.run("module push net REGISTRY/from --version 1.4.0 --annotation a=b --replace-tag").success();
    let said = scene.run(&format!("{COPY} --to '{TO}'")).success();
    assert!(said.stdout.contains("1 there already"), "{}", said.text);
}

#[test]
fn a_copy_that_does_not_say_which_module_it_is_stays_out_of_the_repository_of_another() {
    let upstream = mirrored();
    let scene = &upstream.scene;
    scene.context.write("net/main.tf", "# 1\n");
    scene.run("module push net REGISTRY/from --version 1.4.0").success();
    let source = format!("'git::file://{}?ref=v1.4.0'", scene.path("repo").display());
    scene.run(&format!("module mirror {source} --as {NET} --to REGISTRY/one --no-nested")).success();
    let copy = |address: &str| COPY.replace(&format!("--as {DNS}"), &format!("--as {address}@1.5.0 --to REGISTRY/one"));
    let said = scene.run(&copy(DNS));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains(&format!("{DNS} does not go there")), "{}", said.text);
    // Of the module itself a copy may go there.
    scene.run(&copy(NET)).success();
}

#[test]
fn a_copy_that_says_another_address_does_not_lock_its_repository() {
    let upstream = mirrored();
    let scene = &upstream.scene;
    copied(scene, NET);
    of_git(&upstream, "v1.4.0", &format!("{DNS}@1.5.0")).success();
    scene.tag("mirror/acme/dns-aws", "1.5.0");
}

fn tags_of(scene: &Scene) -> Vec<String> {
    scene.registry.tags("one").into_iter().map(|(tag, _)| tag).collect()
}

#[test]
fn a_later_run_put_another_module_beside_copies_that_do_not_say_which_module_they_are() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "# 1\n");
    for repository in ["from", "other"] {
        scene.run(&format!("module push net REGISTRY/{repository} --version 1.4.0")).success();
    }
    let copy = |from: &str, address: &str, more: &str| {
        let source = format!("'oci://REGISTRY/{from}?tag=1.4.0' --as {address}");
        scene.run(&format!("module mirror {source} --to REGISTRY/one --no-nested --quiet {more}"))
    };
    copy("from", DNS, "").success();
    let said = copy("other", &format!("{NET}@1.5.0"), "");
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.text.contains(&format!("one holds {DNS}")), "{}", said.text);
    assert_eq!(tags_of(&scene), ["1.4.0", "first-seen"]);
    let said = copy("other", &format!("{NET}@1.4.0"), "");
    assert!(
        said.code == Some(1) && said.text.contains(&format!("one holds {DNS}")),
        "taken for its own: {}",
        said.text
    );
    // The module itself goes on, and what belongs there on purpose goes beside it.
    assert!(copy("from", DNS, "").success().stdout.contains("1 there already"));
    copy("from", &format!("{DNS}@1.6.0"), "").success();
    copy("other", &format!("{NET}@1.5.0"), "--rename").success();
    copy("other", &format!("{NET}@1.7.0"), "").success();
    // Nothing takes the record for a version.
    for line in ["check REGISTRY/one", "module versions oci://REGISTRY/one"] {
        let said = scene.run(line).success();
        assert!(!said.text.contains("first-seen"), "{}", said.text);
    }
}

#[test]
fn a_refused_copy_left_a_record_in_the_repository_of_a_provider() {
    let scene = Scene::published();
    scene.context.write("net/main.tf", "# 1\n");
    scene.run("module push net REGISTRY/from --version 1.4.0").success();
    assert_ne!(scene.run(&format!("{COPY} --to REGISTRY/acme/widget")).code, Some(0));
    assert!(!scene.registry.tags("acme/widget").iter().any(|(tag, _)| tag == "first-seen"));
}

#[test]
fn a_run_that_broke_off_before_its_record_writes_it_when_it_is_run_again() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "# 1\n");
    for repository in ["from", "one"] {
        scene.run(&format!("module push net REGISTRY/{repository} --version 1.4.0")).success();
    }
    scene.run(&format!("{COPY} --to REGISTRY/one --plan")).success();
    assert_eq!(tags_of(&scene), ["1.4.0"]);
    scene.run(&format!("{COPY} --to REGISTRY/one")).success();
    assert_eq!(tags_of(&scene), ["1.4.0", "first-seen"]);
}

#[test]
fn a_later_run_with_another_mapping_put_another_module_into_the_repository() {
    let scene = Scene::new();
    scene.context.write("net/main.tf", "# 1\n");
    scene.run(&format!("module push net REGISTRY/from --version 1.4.0 --annotation {ADDRESS_KEY}={DNS}")).success();
    scene.run("module push net REGISTRY/other --version 1.5.0").success();
    scene.run(&format!("{COPY} --to REGISTRY/one")).success();
    // Now acme/dns/aws would go elsewhere.
    let mirror = |include: &str, repository: &str| {
        format!("[[module_mirror]]\ninclude = [\"{include}\"]\nrepository_template = \"REGISTRY/{repository}\"\n")
    };
    let rules = mirror(DNS, "two") + &mirror(NET, "one");
    scene.context.write("modules.toml", rules.replace("REGISTRY", scene.registry.address()));
    let line = format!("module mirror 'oci://REGISTRY/other?tag=1.5.0' --as {NET} --modules modules.toml --no-nested");
    let said = scene.run(&line);
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains(&format!("one holds {DNS}")), "{}", said.text);
    assert_eq!(tags_of(&scene), ["1.4.0"]);
}

#[test]
fn two_places_for_modules_are_one_too_many() {
    let upstream = Upstream::start();
    upstream.scene.context.write("modules.toml", "");
    upstream.scene.context.write("infra/main.tf", call("own", "./own", ""));
    upstream.scene.context.write("infra/own/main.tf", "");
    let line = format!("module mirror --from-config infra --to '{TO}'");
    assert_snapshot!(upstream.scene.run(&format!("{line} --modules modules.toml")).text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: --to and --modules both say where modules go

    hint: omit one of them
    ");
    upstream.scene.run(&line).success();
}
