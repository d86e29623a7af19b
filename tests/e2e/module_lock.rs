//! `module lock`: calls of modules that are pinned, verified, upgraded and refused.

use insta::assert_snapshot;

use crate::json::check;
use crate::setup::Scene;

impl Scene {
    /// Publishes a version of a module at `REGISTRY/acme/network`.
    pub(crate) fn network(&self, version: &str) {
        let folder = format!("network-{version}");
        self.context.write(&format!("{folder}/main.tf"), format!("# {version}\n"));
        self.run(&format!("module push {folder} REGISTRY/acme/network --version {version}")).success();
    }

    /// With two versions of a module.
    pub(crate) fn with_networks() -> Self {
        let scene = Self::new();
        scene.network("1.4.0");
        scene.network("1.5.0");
        scene
    }

    /// Writes a file of the configuration in `live`; `REGISTRY` in it means the registry.
    pub(crate) fn configuration(&self, name: &str, text: &str) {
        self.context.write(&format!("live/{name}"), text.replace("REGISTRY", self.registry.address()));
    }

    /// A file of the configuration, with registry and digests made equal.
    pub(crate) fn live(&self, name: &str) -> String {
        self.shown(&format!("live/{name}")).replace(self.registry.address(), "REGISTRY")
    }

    /// The digest of a version of the module.
    pub(crate) fn digest_of(&self, version: &str) -> String {
        self.tag("acme/network", version)
    }

    /// Moves a tag of the module to another version.
    pub(crate) fn move_tag(&self, tag: &str, to: &str) {
        let digest = self.digest_of(to).parse().expect("a digest");
        self.registry.put_tag("acme/network", tag, &digest);
    }

    pub(crate) fn lock(&self, options: &str) -> crate::setup::Said {
        self.run(&format!("module lock live {options}"))
    }
}

/// A call with this source and what follows it on the line.
pub(crate) fn call(name: &str, source: &str, after: &str) -> String {
    format!("module \"{name}\" {{\n  source = \"{source}\"{after}\n}}\n")
}

#[test]
fn calls_are_pinned_once_and_the_second_run_changes_nothing() {
    let scene = Scene::with_networks();
    let local = call("dns", "./dns", "");
    let all = call("network", "oci://REGISTRY/acme/network?tag=1.4.0", " # ask Bob") + &local;
    scene.configuration("main.tf", &(all + &call("git", "git::https://x.example/a.git", "")));
    let json = r#"{"module": {"more": {"source": "oci://REGISTRY/acme/network//sub?tag=1.5.0"}, "v": {"source": "${var.x}"}}}"#;
    scene.configuration("dns/more.tf.json", json);
    assert_snapshot!(scene.lock("").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:2:12: module.network: pinned to 1.4.0 of [REGISTRY]/acme/network
      manifest sha256:[DIGEST]
    live/dns/more.tf.json:1:32: module.more: pinned to 1.5.0 of [REGISTRY]/acme/network
      manifest sha256:[DIGEST]
    wrote live/main.tf, live/dns/more.tf.json: 2 of 2 calls changed

    ----- stderr -----
    warning: live/dns/more.tf.json:1:102: module.v: the source is an expression, so it was not looked at
      hint: write the source as a string in quotes to have it pinned
    ");
    assert_snapshot!(scene.live("main.tf"), @r#"
    module "network" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.4.0 # ask Bob
    }
    module "dns" {
      source = "./dns"
    }
    module "git" {
      source = "git::https://x.example/a.git"
    }
    "#);
    assert_snapshot!(scene.live("dns/more.tf.json"), @r#"{"module": {"more": {"//": "1.5.0", "source": "oci://REGISTRY/acme/network//sub?digest=sha256:[DIGEST]"}, "v": {"source": "${var.x}"}}}"#);
    assert!(scene.context.read("live/main.tf").contains(&scene.digest_of("1.4.0")));
    let before = crate::setup::State::of(&scene);
    assert_snapshot!(scene.lock("").text, @"
    exit code: 0
    ----- stdout -----
    all 2 modules from OCI repositories are pinned; nothing was changed

    ----- stderr -----
    warning: live/dns/more.tf.json:1:186: module.v: the source is an expression, so it was not looked at
      hint: write the source as a string in quotes to have it pinned
    ");
    assert_snapshot!(scene.lock("--check").text, @"
    exit code: 0
    ----- stdout -----
    all 2 modules from OCI repositories are pinned

    ----- stderr -----
    warning: live/dns/more.tf.json:1:186: module.v: the source is an expression, so it was not looked at
      hint: write the source as a string in quotes to have it pinned
    ");
    assert_snapshot!(scene.lock("--upgrade --dry-run").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:2:12: module.network: 1.4.0 -> 1.5.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 1.5.0
    would write live/main.tf: 1 of 2 calls changed

    ----- stderr -----
    warning: live/dns/more.tf.json:1:186: module.v: the source is an expression, so it was not looked at
      hint: write the source as a string in quotes to have it pinned
    ");
    assert_eq!(crate::setup::State::of(&scene), before);
}

#[test]
fn check_names_each_call_that_is_not_pinned_or_whose_pin_does_not_hold() {
    let scene = Scene::with_networks();
    scene.network("1.6.0");
    scene.network("1.7.0");
    let pinned = |name: &str, version: &str, note: &str| {
        call(name, &format!("oci://REGISTRY/acme/network?digest={}", scene.digest_of(version)), &format!(" # {note}"))
    };
    let gone = format!("sha256:{}", "0".repeat(64));
    let text = [
        call("free", "oci://REGISTRY/acme/network?tag=1.4.0", ""),
        pinned("good", "1.4.0", "1.4.0"),
        pinned("moved", "1.4.0", "1.5.0"),
        call("gone", &format!("oci://REGISTRY/acme/network?digest={gone}"), " # 1.4.0"),
        call("lost", &format!("oci://REGISTRY/acme/network?digest={gone}"), ""),
        pinned("unmet", "1.4.0", "1.4.0 (~> 1.5.0)"),
        pinned("withdrawn", "1.6.0", "1.6.0"),
        pinned("untagged", "1.7.0", "1.7.0"),
        call("wrong", "oci://REGISTRY/acme/network?tag=1&digest=2", ""),
        pinned("unread", "1.4.0", "1.4.0 (~> 1.x)"),
        call("missing", "oci://REGISTRY/acme/network?tag=9.9.9", ""),
    ];
    scene.configuration("main.tf", &text.concat());
    scene.move_tag("withdrawn-1.6.0", "1.6.0");
    scene.registry.remove_tag("acme/network", "1.6.0");
    scene.registry.remove_tag("acme/network", "1.7.0");
    let before = crate::setup::State::of(&scene);
    assert_snapshot!(scene.lock("--check").text, @"
    exit code: 1
    ----- stdout -----
    live/main.tf:2:12: module.free: oci://[REGISTRY]/acme/network?tag=1.4.0 is not pinned to a digest (module-not-pinned)
    live/main.tf:8:12: module.moved: the tag 1.5.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST] (module-tag-moved)
    live/main.tf:11:12: module.gone: the tag 1.4.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST] (module-tag-moved)
    live/main.tf:14:12: module.lost: [REGISTRY]/acme/network has no manifest sha256:[DIGEST] (digest-not-found)
    live/main.tf:17:12: module.unmet: the constraint `~> 1.5.0` does not admit 1.4.0 of [REGISTRY]/acme/network (module-constraint-unmet)
    live/main.tf:20:12: module.withdrawn: 1.6.0 was withdrawn (module-withdrawn)
    live/main.tf:23:12: module.untagged: the repository has the package, and no tag 1.7.0 any more (module-tag-gone)
    live/main.tf:26:12: module.wrong: `oci://[REGISTRY]/acme/network?tag=1&digest=2` is not a module in an OCI repository: `2` is not a sha256 or sha512 digest (invalid-digest)
    live/main.tf:29:12: module.unread: `~> 1.x` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any (invalid-constraints)
    live/main.tf:32:12: module.missing: [REGISTRY]/acme/network has no tag 9.9.9 (tag-not-found)

    ----- stderr -----
    error: 10 calls of modules are not as `tofu-oci module lock` leaves them

    hint: pin what is not pinned: tofu-oci module lock live; commit the files
    hint: `tofu-oci module lock live` says what to do about the other calls
    ");
    let said = scene.lock("--check --json");
    check(&said);
    assert_snapshot!(said.text, @r#"
    exit code: 1
    ----- stdout -----
    {"event":"module-problem","code":"module-not-pinned","path":"live/main.tf","line":2,"column":12,"module":"free","source":"oci://[REGISTRY]/acme/network?tag=1.4.0","text":"oci://[REGISTRY]/acme/network?tag=1.4.0 is not pinned to a digest","hints":[]}
    {"event":"module-problem","code":"module-tag-moved","path":"live/main.tf","line":8,"column":12,"module":"moved","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"the tag 1.5.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST]","hints":["a version was replaced, or the comment names another one; ask its publisher why","to accept what it names now: tofu-oci module lock live --accept-moved"]}
    {"event":"module-problem","code":"module-tag-moved","path":"live/main.tf","line":11,"column":12,"module":"gone","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"the tag 1.4.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST]","hints":["a version was replaced, or the comment names another one; ask its publisher why","to accept what it names now: tofu-oci module lock live --accept-moved"]}
    {"event":"module-problem","code":"digest-not-found","path":"live/main.tf","line":14,"column":12,"module":"lost","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"[REGISTRY]/acme/network has no manifest sha256:[DIGEST]","hints":["it has the versions 1.5.0, 1.4.0","name one in the source, such as ?tag=1.5.0"]}
    {"event":"module-problem","code":"module-constraint-unmet","path":"live/main.tf","line":17,"column":12,"module":"unmet","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"the constraint `~> 1.5.0` does not admit 1.4.0 of [REGISTRY]/acme/network","hints":["correct the constraint in the comment, or take the newest version that it admits: tofu-oci module lock live --upgrade"]}
    {"event":"module-problem","code":"module-withdrawn","path":"live/main.tf","line":20,"column":12,"module":"withdrawn","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"1.6.0 was withdrawn","hints":["take a newer version: tofu-oci module lock live --upgrade"]}
    {"event":"module-problem","code":"module-tag-gone","path":"live/main.tf","line":23,"column":12,"module":"untagged","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"the repository has the package, and no tag 1.7.0 any more","hints":["ask its publisher: a registry may delete a package that has no tag"]}
    {"event":"module-problem","code":"invalid-digest","path":"live/main.tf","line":26,"column":12,"module":"wrong","source":"oci://[REGISTRY]/acme/network?tag=1&digest=2","text":"`oci://[REGISTRY]/acme/network?tag=1&digest=2` is not a module in an OCI repository: `2` is not a sha256 or sha512 digest","hints":["OpenTofu refuses this source; correct it"]}
    {"event":"module-problem","code":"invalid-constraints","path":"live/main.tf","line":29,"column":12,"module":"unread","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","text":"`~> 1.x` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any","hints":["the comment of a pin reads: # 1.4.0 (~> 1.4)"]}
    {"event":"module-problem","code":"tag-not-found","path":"live/main.tf","line":32,"column":12,"module":"missing","source":"oci://[REGISTRY]/acme/network?tag=9.9.9","text":"[REGISTRY]/acme/network has no tag 9.9.9","hints":["it has the versions 1.5.0, 1.4.0","name one in the source, such as ?tag=1.5.0"]}
    {"event":"module-pin","outcome":"kept","path":"live/main.tf","line":5,"column":12,"module":"good","place":"[REGISTRY]/acme/network","version":"1.4.0","tag":"1.4.0","from":null,"digest":"sha256:[DIGEST]","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","comment":"1.4.0","signers":[]}
    {"event":"module-lock","outcome":"not-locked","calls":11,"changed":1,"problems":10,"others":0,"files":[]}
    {"event":"error","code":"module-lock-outdated","text":"10 calls of modules are not as `tofu-oci module lock` leaves them","causes":[],"hints":["pin what is not pinned: tofu-oci module lock live; commit the files","`tofu-oci module lock live` says what to do about the other calls"]}

    ----- stderr -----
    error: 10 calls of modules are not as `tofu-oci module lock` leaves them

    hint: pin what is not pinned: tofu-oci module lock live; commit the files
    hint: `tofu-oci module lock live` says what to do about the other calls
    "#);
    assert_snapshot!(scene.lock("").text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    warning: live/main.tf:20:12: module.withdrawn: 1.6.0 was withdrawn
      hint: take a newer version: tofu-oci module lock live --upgrade
    warning: live/main.tf:23:12: module.untagged: the repository has the package, and no tag 1.7.0 any more
      hint: ask its publisher: a registry may delete a package that has no tag
    error: the tag 1.5.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST]
      --> live/main.tf:8:12
      |
    8 |   source = "oci://[REGISTRY]/acme/network?digest=sha256:b93c380cfc56dbedb60110d325924af8a23dd30…
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      cause: also live/main.tf:11:12: the tag 1.4.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST]
      cause: also live/main.tf:14:12: [REGISTRY]/acme/network has no manifest sha256:[DIGEST]
      cause: also live/main.tf:17:12: the constraint `~> 1.5.0` does not admit 1.4.0 of [REGISTRY]/acme/network
      cause: also live/main.tf:26:12: `oci://[REGISTRY]/acme/network?tag=1&digest=2` is not a module in an OCI repository: `2` is not a sha256 or sha512 digest
      cause: also live/main.tf:29:12: `~> 1.x` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any
      cause: also live/main.tf:32:12: [REGISTRY]/acme/network has no tag 9.9.9

    hint: a version was replaced, or the comment names another one; ask its publisher why
    hint: to accept what it names now: tofu-oci module lock live --accept-moved
    hint: no file was changed
    "#);
    assert_eq!(crate::setup::State::of(&scene), before, "nothing is written if one call is refused");
}

#[test]
fn a_tag_that_has_moved_is_refused_until_it_is_accepted() {
    let scene = Scene::with_networks();
    scene.move_tag("main", "1.4.0");
    let text =
        call("v", "oci://REGISTRY/acme/network?tag=1.4.0", "") + &call("m", "oci://REGISTRY/acme/network?tag=main", "");
    scene.configuration("main.tf", &text);
    scene.lock("").success();
    assert_snapshot!(scene.live("main.tf"), @r#"
    module "v" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.4.0
    }
    module "m" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # tag=main
    }
    "#);
    scene.move_tag("main", "1.5.0");
    // A tag that is no version moves: the pin stays.
    assert_snapshot!(scene.lock("--check").text, @"
    exit code: 0
    ----- stdout -----
    all 2 modules from OCI repositories are pinned

    ----- stderr -----
    note: live/main.tf:5:12: module.m: tag=main names sha256:[DIGEST] now; the pin stays
      hint: to follow the tag: tofu-oci module lock live --upgrade
    ");
    scene.move_tag("1.4.0", "1.5.0");
    assert_snapshot!(scene.lock("").text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    note: live/main.tf:5:12: module.m: tag=main names sha256:[DIGEST] now; the pin stays
      hint: to follow the tag: tofu-oci module lock live --upgrade
    error: the tag 1.4.0 of [REGISTRY]/acme/network names sha256:[DIGEST] now, not the pinned sha256:[DIGEST]
      --> live/main.tf:2:12
      |
    2 |   source = "oci://[REGISTRY]/acme/network?digest=sha256:b93c380cfc56dbedb60110d325924af8a23dd30…
      |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

    hint: a version was replaced, or the comment names another one; ask its publisher why
    hint: to accept what it names now: tofu-oci module lock live --accept-moved
    hint: no file was changed
    "#);
    assert_snapshot!(scene.lock("--accept-moved").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:2:12: module.v: 1.4.0 of [REGISTRY]/acme/network is another package now
      manifest sha256:[DIGEST]
    live/main.tf:5:12: module.m: tag=main of [REGISTRY]/acme/network is another package now
      manifest sha256:[DIGEST]
    wrote live/main.tf: 2 of 2 calls changed

    ----- stderr -----
    ");
    scene.lock("--check").success();
    assert_eq!(scene.context.read("live/main.tf").matches(&scene.digest_of("1.5.0")).count(), 2);
}

#[test]
fn an_upgrade_takes_the_newest_version_that_the_comment_admits() {
    let scene = Scene::with_networks();
    scene.network("2.0.0");
    scene.network("3.0.0-rc.1");
    let text = [
        call("chosen", "oci://REGISTRY/acme/network", " # ~> 1.4"),
        call("exact", "oci://REGISTRY/acme/network?tag=1.4.0", ""),
        call("minor", "oci://REGISTRY/acme/network?tag=1.4.0", " # (~> 1.4) # not 2"),
        call("early", "oci://REGISTRY/acme/network?tag=3.0.0-rc.1", ""),
    ];
    scene.configuration("main.tf", &text.concat());
    scene.lock("").success();
    assert_snapshot!(scene.live("main.tf"), @r#"
    module "chosen" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.5.0 (~> 1.4)
    }
    module "exact" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.4.0
    }
    module "minor" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.4.0 (~> 1.4) # not 2
    }
    module "early" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 3.0.0-rc.1
    }
    "#);
    scene.run("deprecate REGISTRY/acme/network:2.0.0 --message old").success();
    assert_snapshot!(scene.lock("--upgrade --dry-run").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:5:12: module.exact: 1.4.0 -> 2.0.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 2.0.0
    live/main.tf:8:12: module.minor: 1.4.0 -> 1.5.0 of [REGISTRY]/acme/network
      - oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]
      + oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST] # 1.5.0 (~> 1.4)
    would write live/main.tf: 2 of 4 calls changed

    ----- stderr -----
    warning: live/main.tf:5:12: module.exact: 2.0.0 is deprecated: old
      hint: no newer version is admitted: change the constraint in the comment, or ask its publisher
    ");
    let said = scene.lock("--upgrade --json").success();
    check(&said);
    assert_snapshot!(said.text, @r#"
    exit code: 0
    ----- stdout -----
    {"event":"message","level":"warning","code":"module-deprecated","text":"live/main.tf:5:12: module.exact: 2.0.0 is deprecated: old","hint":"no newer version is admitted: change the constraint in the comment, or ask its publisher"}
    {"event":"module-pin","outcome":"kept","path":"live/main.tf","line":2,"column":12,"module":"chosen","place":"[REGISTRY]/acme/network","version":"1.5.0","tag":"1.5.0","from":null,"digest":"sha256:[DIGEST]","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","comment":"1.5.0 (~> 1.4)","signers":[]}
    {"event":"module-pin","outcome":"upgraded","path":"live/main.tf","line":5,"column":12,"module":"exact","place":"[REGISTRY]/acme/network","version":"2.0.0","tag":"2.0.0","from":"1.4.0","digest":"sha256:[DIGEST]","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","comment":"2.0.0","signers":[]}
    {"event":"module-pin","outcome":"upgraded","path":"live/main.tf","line":8,"column":12,"module":"minor","place":"[REGISTRY]/acme/network","version":"1.5.0","tag":"1.5.0","from":"1.4.0","digest":"sha256:[DIGEST]","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","comment":"1.5.0 (~> 1.4)","signers":[]}
    {"event":"module-pin","outcome":"kept","path":"live/main.tf","line":11,"column":12,"module":"early","place":"[REGISTRY]/acme/network","version":"3.0.0-rc.1","tag":"3.0.0-rc.1","from":null,"digest":"sha256:[DIGEST]","source":"oci://[REGISTRY]/acme/network?digest=sha256:[DIGEST]","comment":"3.0.0-rc.1","signers":[]}
    {"event":"module-lock","outcome":"written","calls":4,"changed":2,"problems":0,"others":0,"files":["live/main.tf"]}

    ----- stderr -----
    "#);
    assert_snapshot!(scene.live("main.tf"), @r#"
    module "chosen" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.5.0 (~> 1.4)
    }
    module "exact" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 2.0.0
    }
    module "minor" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.5.0 (~> 1.4) # not 2
    }
    module "early" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 3.0.0-rc.1
    }
    "#);
    assert_snapshot!(scene.lock("--upgrade").text, @"
    exit code: 0
    ----- stdout -----
    all 4 modules from OCI repositories are pinned; nothing was changed

    ----- stderr -----
    warning: live/main.tf:5:12: module.exact: 2.0.0 is deprecated: old
      hint: no newer version is admitted: change the constraint in the comment, or ask its publisher
    ");
}

#[test]
fn a_digest_without_a_comment_gets_its_version() {
    let scene = Scene::with_networks();
    let source = format!("oci://REGISTRY/acme/network?digest={}", scene.digest_of("1.4.0"));
    scene.configuration("main.tf", &call("network", &source, ""));
    scene.lock("--check").success();
    assert_snapshot!(scene.lock("").text, @"
    exit code: 0
    ----- stdout -----
    live/main.tf:2:12: module.network: its digest is 1.4.0 of [REGISTRY]/acme/network
      manifest sha256:[DIGEST]
    wrote live/main.tf: 1 of 1 calls changed

    ----- stderr -----
    ");
    assert_snapshot!(scene.live("main.tf"), @r#"
    module "network" {
      source = "oci://REGISTRY/acme/network?digest=sha256:[DIGEST]" # 1.4.0
    }
    "#);
    scene.configuration("main.tf", &call("network", &source, " # ask Bob"));
    scene.registry.remove_tag("acme/network", "1.4.0");
    assert_snapshot!(scene.lock("").text, @"
    exit code: 0
    ----- stdout -----
    the one module from an OCI repository is pinned; nothing was changed

    ----- stderr -----
    note: live/main.tf:2:12: module.network: no tag of a version names the pinned package, so the source has no version beside it
    ");
}
