//! Destinations and sources that say another address than the one that is mirrored.

use tofu_oci_testkit::{Fault, ReleaseFolder, Rule};

use super::{HOST, Mirrored, PLATFORMS, actions};

impl Mirrored {
    /// Publishes a release of a provider into a repository, whatever that one is kept for.
    fn put(&self, address: &str, version: &str, repository: &str) {
        let (_, provider_type) = address.rsplit_once('/').expect("an address");
        let folder = format!("dist-{provider_type}-{version}");
        ReleaseFolder::new(provider_type, version, &PLATFORMS[..2]).write_zips(&self.scene.path(&folder));
        let line = format!("push {folder} REGISTRY/{repository} --address {HOST}/{address} --rename");
        self.scene.run(&line).success();
    }
}

#[test]
fn a_repository_of_another_provider_takes_no_mirrored_version() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme-google/beta", "9.9.0", &PLATFORMS[..1]);
    mirrored.put("acme/google-beta", "1.0.0", "m/one");
    let said = mirrored.scene.run(&format!("mirror {HOST}/acme-google/beta --to REGISTRY/m/one --json"));
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("\"kept-for-another\""), "{}", said.text);
    assert_eq!(mirrored.tags("m/one").iter().filter(|tag| *tag != "first-seen").collect::<Vec<_>>(), ["1.0.0"]);
    // On purpose it goes, and says which provider it is of.
    let line = format!("mirror {HOST}/acme-google/beta --to REGISTRY/m/one --json --rename");
    mirrored.scene.run(&line).success();
    assert!(mirrored.tags("m/one").contains(&"9.9.0".to_owned()));
}

#[test]
fn a_later_run_brought_another_provider_into_a_repository_whose_releases_say_no_address() {
    let mirrored = Mirrored::new();
    let [first, second] = two_unnamed(&mirrored);
    let mirror = |line: &str| mirrored.scene.run(line);
    mirror(&first).success();
    let said = mirror(&second);
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("\"shared-repository\""), "{}", said.text);
    assert!(!mirrored.tags("m/one").contains(&"9.9.0".to_owned()));
    mirror(&first).success();
    mirror(&format!("{second} --rename")).success();
    assert!(mirrored.tags("m/one").contains(&"9.9.0".to_owned()));
    // From now on both are at home there.
    mirror(&second).success();
    mirror(&first).success();
}

#[test]
fn a_later_bundle_brought_another_provider_into_a_repository_whose_releases_say_no_address() {
    let mirrored = Mirrored::new();
    let scene = &mirrored.scene;
    for (address, version, name) in [("acme/google-beta", "1.0.0", "one"), ("acme-google/beta", "9.9.0", "two")] {
        let repository = format!("up/{name}");
        mirrored.put(address, version, &repository);
        scene.forget_address(&repository, version);
        scene.run(&format!("bundle create {name}.tar {HOST}/{address} --from REGISTRY/{repository}")).success();
    }
    scene.run("bundle load one.tar REGISTRY/m/one").success();
    let mirror = format!("mirror {HOST}/acme-google/beta --from bundle:two.tar --to REGISTRY/m/one");
    for line in ["bundle load two.tar REGISTRY/m/one", &mirror] {
        let said = scene.run(line);
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(said.text.contains("holds"), "{}", said.text);
    }
    assert!(!mirrored.tags("m/one").contains(&"9.9.0".to_owned()));
    scene.run("bundle load one.tar REGISTRY/m/one").success();
    scene.run("bundle load two.tar REGISTRY/m/one --rename").success();
    assert!(mirrored.tags("m/one").contains(&"9.9.0".to_owned()));
}

/// Two providers in repositories of their own, whose releases say no address, and the line that mirrors one of them to `m/one`.
fn two_unnamed(mirrored: &Mirrored) -> [String; 2] {
    [("acme/google-beta", "1.0.0", "up/one"), ("acme-google/beta", "9.9.0", "up/two")].map(
        |(address, version, from)| {
            mirrored.put(address, version, from);
            mirrored.scene.forget_address(from, version);
            format!("mirror {HOST}/{address} --from REGISTRY/{from} --to REGISTRY/m/one --json")
        },
    )
}

#[test]
fn a_run_that_broke_off_before_its_mark_left_the_repository_to_another_provider() {
    let mirrored = Mirrored::new();
    let [first, second] = two_unnamed(&mirrored);
    let marks = Rule::on("PUT", "/v2/m/one/manifests/first-seen").after(1).then(Fault::SetStatus(403));
    mirrored.scene.registry.fault(marks);
    assert_eq!(mirrored.scene.run(&first).code, Some(1));
    assert!(mirrored.tags("m/one").contains(&"1.0.0".to_owned()), "the release is there, and its mark is not");
    let said = mirrored.scene.run(&second);
    assert!(said.code == Some(1) && said.stdout.contains("\"shared-repository\""), "{}", said.text);
}

#[test]
fn a_run_that_was_refused_kept_the_repository_for_itself() {
    let mirrored = Mirrored::new();
    mirrored.put("acme/zap", "1.0.0", "up/zap");
    let mirror = |address: &str| {
        mirrored.scene.run(&format!("mirror {HOST}/{address} --from REGISTRY/up/zap --to REGISTRY/m/zap"))
    };
    assert_eq!(mirror("acme/zpa").code, Some(1));
    mirror("acme/zap").success();
}

#[test]
fn two_runs_at_once_brought_two_providers_into_one_repository_without_a_word() {
    let mirrored = Mirrored::new();
    let lines = two_unnamed(&mirrored);
    let codes = std::thread::scope(|scope| {
        let runs = lines.each_ref().map(|line| scope.spawn(|| mirrored.scene.run(line).code));
        runs.map(|run| run.join().expect("a run"))
    });
    assert!(codes.contains(&Some(1)), "{codes:?}");
}

#[test]
fn two_hosts_that_share_a_repository_pushed_equal_tags_at_once() {
    const OLD: &str = "old.example.test";
    let mirrored = Mirrored::new();
    for minor in 0..6 {
        mirrored.upstream.release("acme/zap", &format!("1.{minor}.0"), &PLATFORMS[..2]);
    }
    let hosts = mirrored.upstream.host_block(HOST) + &mirrored.upstream.host_block(OLD);
    mirrored.scene.context.write_home("cli.tfrc", hosts + "provider_installation {\n  direct {}\n}\n");
    let said = mirrored.mirror(&format!("{HOST}/acme/zap {OLD}/acme/zap --predecessor {HOST}={OLD} --json")).success();
    let did: Vec<_> = said.json().into_iter().filter(|line| line["event"] == "mirror").collect();
    let all = |action: &str| did.iter().filter(|line| line["action"] == action).count();
    assert_eq!((all("add"), did.len()), (6, 12), "{}", said.text);
}

#[test]
fn a_version_of_another_provider_is_not_taken_for_the_mirrored_one() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/google-beta", "1.0.0", &PLATFORMS[..2]);
    mirrored.put("acme-google/beta", "1.0.0", "m/one");
    for more in ["", "--plan"] {
        let said = mirrored.scene.run(&format!("mirror {HOST}/acme/google-beta --to REGISTRY/m/one --json {more}"));
        assert_eq!(said.code, Some(1), "{}", said.text);
        assert!(said.stdout.contains("\"kept-for-another\""), "{}", said.text);
    }
}

#[test]
fn a_source_that_says_another_address_is_not_mirrored() {
    let mirrored = Mirrored::new();
    mirrored.put("acme-google/beta", "9.9.0", "up/google-beta");
    let line = format!("mirror {HOST}/acme/google-beta --from REGISTRY/up/google-beta --to REGISTRY/m/own --json");
    let said = mirrored.scene.run(&line);
    assert_eq!(said.code, Some(1), "{}", said.text);
    assert!(said.stdout.contains("\"other-address\""), "{}", said.text);
    assert!(!mirrored.tags("m/own").contains(&"9.9.0".to_owned()));
    let said = mirrored.scene.run(&format!("{line} --rename")).success();
    assert_eq!(actions(&said)["google-beta 9.9.0"], "add", "{}", said.text);
}

#[test]
fn the_own_address_of_a_release_was_to_be_typed_without_the_rules() {
    let mirrored = Mirrored::new();
    mirrored.put("acme/zap", "1.0.0", "up/zap");
    let rules = "to = \"oci:m\"\nsources = [\"REGISTRY/up/zap\"]\n[[provider]]\naddress = \"acme/zap\"\n";
    mirrored.rules(&rules.replace("REGISTRY", mirrored.scene.registry.address()));
    let hint = format!("hint: by its own address: write address = \"{HOST}/acme/zap\" in mirror.toml\n");
    for line in ["mirror", "bundle create b.tar"] {
        let said = mirrored.scene.run(line);
        assert!(said.code == Some(1) && said.text.contains(&hint), "{}", said.text);
    }
}

#[test]
fn prune_leaves_versions_of_another_provider() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/google-beta", "1.0.0", &PLATFORMS[..1]);
    mirrored.upstream.release("acme-google/beta", "9.9.0", &PLATFORMS[..1]);
    let mirror = |address: &str, more: &str| {
        let to = format!("to = \"{}/m/one\"\ngone = \"withdraw\"\n", mirrored.scene.registry.address());
        mirrored.rules(&format!("{to}[[provider]]\naddress = \"HOST/{address}\"\n{more}\n"));
        mirrored.scene.run("mirror --rename --prune --json").success()
    };
    mirror("acme/google-beta", "");
    mirror("acme-google/beta", "");
    mirrored.upstream.release("acme-google/beta", "9.10.0", &PLATFORMS[..1]);
    // Its upstream does not list 1.0.0, which is the other one's; and its rules no longer name 9.9.0.
    let said = mirror("acme-google/beta", "latest = 1");
    assert_eq!(actions(&said).get("beta 1.0.0"), None, "{}", said.text);
    let tags = mirrored.tags("m/one");
    assert!(tags.contains(&"1.0.0".to_owned()), "{tags:?}");
    assert!(tags.contains(&"withdrawn-9.9.0".to_owned()), "{tags:?}");
}

#[test]
fn a_predecessor_shares_a_repository() {
    let mirrored = Mirrored::new();
    mirrored.upstream.release("acme/zap", "1.1.0", &PLATFORMS[..1]);
    let folder = mirrored.scene.path("dist");
    ReleaseFolder::new("zap", "1.0.0", &PLATFORMS[..1]).write_zips(&folder);
    mirrored.scene.run("push dist REGISTRY/m/zap --address old.example/acme/zap").success();
    let line = format!("mirror {HOST}/acme/zap --to REGISTRY/m/zap --json");
    assert_eq!(mirrored.scene.run(&line).code, Some(1));
    mirrored.scene.run(&format!("{line} --predecessor {HOST}=old.example")).success();
    assert!(mirrored.tags("m/zap").contains(&"1.1.0".to_owned()));
    // `push` knows the setting, too.
    ReleaseFolder::new("zap", "1.2.0", &PLATFORMS[..1]).write_zips(&mirrored.scene.path("dist-2"));
    let push = "push dist-2 REGISTRY/m/zap --address old.example/acme/zap";
    assert_eq!(mirrored.scene.run(push).code, Some(1));
    mirrored.scene.run(&format!("{push} --predecessor {HOST}=old.example")).success();
}
