//! How often a run waits for its registry, counted without a clock: the registry answers requests in rounds, each when all
//! of its requests are there ([`Rounds`]).
//!
//! To the rounds come the connections. Plain HTTP is one round trip more (TCP), TLS two more. All of them are made
//! before the first answer: the first round waits for them, so that no later round needs a new one.

use tofu_oci_testkit::{
    Anonymous, Auth, Bearer, Fault, Login, Registry, RegistryBuilder, ReleaseFolder, Round, Rounds, Rule, TokenAddress,
};

use crate::setup::{Scene, WIDGET};

/// The repositories that a scene has.
const MOST: usize = 20;

/// So many repositories with the same release for one platform.
fn scene(registry: RegistryBuilder) -> Scene {
    let scene = Scene::with(registry);
    ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist oci:layout --address {WIDGET}")).success();
    for number in 0..MOST {
        scene.registry.put_layout(&format!("small{number}/widget"), &scene.path("layout"));
    }
    scene
}

/// A verb with so many addresses. The registry is named for plain HTTP, so that it is not asked whether it speaks TLS.
fn line(verb: &str, count: usize) -> String {
    let addresses: Vec<String> =
        (0..count).map(|number| format!("registry.example.com/small{number}/widget")).collect();
    format!("{verb} {} --from 'REGISTRY/${{namespace}}/${{type}}' --plain-http REGISTRY", addresses.join(" "))
}

/// Runs the program while the registry and its token server answer in these rounds.
#[track_caller]
fn check(scene: &Scene, line: &str, rounds: impl IntoIterator<Item = Round>) {
    let rounds = Rounds::new(rounds);
    let in_rounds = || Rule::on("*", "*").then(Fault::InRounds(rounds.clone()));
    scene.registry.clear_faults();
    scene.registry.clear_requests();
    scene.registry.fault(in_rounds());
    scene.registry.token_fault(in_rounds());
    scene.run(line).success();
    scene.registry.clear_faults();
    rounds.check();
}

/// The manifests that the program has kept, from the work folder.
const CACHE: &str = "../home/.cache/tofu-oci/manifests";

/// Removes what is there of these files and folders.
fn remove(scene: &Scene, names: &[&str]) {
    for path in names.iter().map(|name| scene.path(name)) {
        let removed = if path.is_dir() { std::fs::remove_dir_all(&path) } else { std::fs::remove_file(&path) };
        assert!(removed.is_ok() || !path.exists(), "{}", path.display());
    }
}

fn install(count: usize) -> String {
    line("install --platform linux_amd64", count)
}

#[test]
fn a_cold_install_takes_three_rounds_whatever_the_number_of_providers() {
    let scene = scene(Registry::builder());
    for count in [1, 5, 16] {
        remove(&scene, &[".terraform", ".terraform.lock.hcl", ".tofu-oci.pins.json", CACHE]);
        let tags = Round::of(count).with_connections(2 * count);
        let (indexes, leaves_and_packages) = (Round::of(count), Round::of(2 * count));
        check(&scene, &install(count), [tags, indexes, leaves_and_packages]);
    }
}

#[test]
fn a_token_server_adds_two_rounds() {
    for address in [TokenAddress::SameListener, TokenAddress::OwnListener] {
        let user = Login::new("somebody", "secret");
        let bearer = Bearer { anonymous: Anonymous::MayPull, address, ..Bearer::new(user) };
        let scene = scene(Registry::builder().auth(Auth::Bearer(bearer)));
        let (refused, tokens, tags, indexes) = (Round::of(16), Round::of(16), Round::of(16), Round::of(16));
        check(&scene, &install(16), [refused.with_connections(32), tokens, tags, indexes, Round::of(32)]);
    }
}

#[test]
fn a_locked_install_takes_two_rounds() {
    let scene = scene(Registry::builder());
    scene.run(&install(16)).success();
    // On another machine: the leaf, the package, and whether the publisher says something of the release.
    remove(&scene, &[".terraform", CACHE]);
    check(&scene, &install(16), [Round::of(16).with_connections(48), Round::of(48)]);
    // On this one the leaf is known.
    remove(&scene, &[".terraform"]);
    check(&scene, &install(16), [Round::of(16).with_connections(48), Round::of(32)]);
    // What is there and locked costs no request.
    check(&scene, &format!("{} --locked", install(16)), []);
}

#[test]
fn a_lock_of_twenty_providers_takes_three_rounds() {
    let scene = scene(Registry::builder());
    let tags = Round::of(20).with_connections(40);
    check(&scene, &line("lock", 20), [tags, Round::of(20), Round::of(40)]);
}

/// The bytes of the index, with another text.
fn change_index(scene: &Scene, change: impl Fn(&str) -> String) {
    let (media_type, bytes) = scene.registry.manifest("small0/widget", "1.4.0").expect("it was pushed");
    let changed = change(&String::from_utf8_lossy(&bytes));
    let digest = scene.registry.put_manifest("small0/widget", &media_type, changed);
    scene.registry.put_tag("small0/widget", "1.4.0", &digest);
}

/// The digest of the zip, as an index names it.
fn zip(scene: &Scene) -> String {
    let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip")).expect("written");
    tofu_oci_types::Digest::sha256(&zip).encoded().to_owned()
}

#[test]
fn a_package_that_the_index_alone_names_is_never_used() {
    let right = ReleaseFolder::new("widget", "1.4.0", &["linux_amd64"]);
    let other = right.packages()[0].clone().file("OTHER", "other bytes\n").build();
    for is_there in [false, true] {
        let scene = scene(Registry::builder());
        let (zip, wrong) = (zip(&scene), tofu_oci_types::Digest::sha256(&other));
        if is_there {
            scene.registry.put_blob("small0/widget", other.clone());
        }
        change_index(&scene, |index| index.replace(&format!("zh:{zip}"), &format!("zh:{}", wrong.encoded())));
        scene.run(&install(1)).success();
        let asked: Vec<_> = scene.registry.requests_to("GET", "/v2/small0/widget/blobs/*");
        let statuses: Vec<_> =
            asked.iter().map(|request| (request.path.contains(wrong.encoded()), request.status)).collect();
        assert_eq!(statuses, [(true, Some(if is_there { 200 } else { 404 })), (false, Some(200))]);
        let installed = scene.path(".terraform/providers/registry.example.com/small0/widget/1.4.0/linux_amd64");
        assert!(installed.join("LICENSE").exists() && !installed.join("OTHER").exists());
    }
}

#[test]
fn a_registry_that_refuses_several_requests_at_once_is_asked_again() {
    let scene = scene(Registry::builder());
    let slower = || Fault::Answer(tofu_oci_testkit::Answer::new(429).header("Retry-After", "0"));
    for path in ["/v2/*/blobs/*", "/v2/*/manifests/sha256:*"] {
        scene.registry.fault(Rule::on("GET", path).times(3).then(slower()));
    }
    scene.run(&install(3)).success();
}
