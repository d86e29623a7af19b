//! What an interrupted `withdraw` leaves, and what the next run makes of it.

use insta::assert_snapshot;
use tofu_oci_testkit::{Behaviour, Deletion, ReferrersSupport, Registry};
use tofu_oci_types::Digest;

use crate::setup::{Said, Scene, WIDGET};

const WITHDRAW: &str = "withdraw REGISTRY/acme/widget:1.4.0 --reason broken --attempts 1";
const UNDO: &str = "withdraw REGISTRY/acme/widget:1.4.0 --undo --attempts 1";

/// A registry that deletes in this way, with widget 1.4.0.
fn published(deletion: Deletion) -> Scene {
    let behaviour = Behaviour { deletion, referrers: ReferrersSupport::Supported, ..Behaviour::default() };
    let scene = Scene::with(Registry::builder().behaviour(behaviour));
    scene.publish("1.4.0");
    scene
}

/// Ends the connection after the write of this number has taken effect, and before everything that follows, as if the program
/// had been killed. Whether it came so far.
fn killed(scene: &Scene, line: &str, at: usize) -> bool {
    scene.break_off_after(at);
    let said = scene.run(line);
    scene.registry.clear_faults();
    said.code != Some(0)
}

/// A version's tag is listed, and has no manifest: what another program's deletion left in registry:2.
fn half_withdrawn(deletion: Deletion) -> Scene {
    let scene = published(deletion);
    scene.publish("1.3.0");
    scene.run(WITHDRAW).success();
    scene.registry.put_tag("acme/widget", "1.4.0", &Digest::sha256(b"gone"));
    scene
}

fn tags(scene: &Scene) -> Vec<(String, String)> {
    scene.registry.tags("acme/widget")
}

#[test]
fn a_withdrawal_that_was_killed_lost_the_release() {
    let ways = [Deletion::Enabled, Deletion::ManifestsByTag];
    for (deletion, first, then) in ways.iter().flat_map(|way| [(way, WITHDRAW, UNDO), (way, UNDO, WITHDRAW)]) {
        let start = |line: &str| {
            let scene = published(*deletion);
            if line == UNDO {
                scene.run(WITHDRAW).success();
            }
            scene
        };
        // What undisturbed runs leave.
        let whole = start(first);
        let release = whole.tag("acme/widget", if first == UNDO { "withdrawn-1.4.0" } else { "1.4.0" });
        whole.run(first).success();
        let want = tags(&whole);
        whole.run(then).success();
        let want_then = tags(&whole);
        for at in 0.. {
            let case = format!("{deletion:?}, {first}, write {at}");
            let scene = start(first);
            if !killed(&scene, first, at) {
                assert!(at > 4, "{case}: there are more writes");
                break;
            }
            let named = tags(&scene).into_iter().filter(|(tag, _)| tag == "1.4.0" || tag == "withdrawn-1.4.0");
            let named: Vec<String> = named.map(|(_, digest)| digest).collect();
            assert!(named.contains(&release), "{case}: no tag names the release");
            assert!(scene.registry.manifest("acme/widget", &release).is_some(), "{case}: the release is gone");
            let said = scene.run(first);
            assert_eq!((said.code, tags(&scene)), (Some(0), want.clone()), "{case}\n{}", said.text);
            let said = scene.run(then);
            assert_eq!((said.code, tags(&scene)), (Some(0), want_then.clone()), "{case}, then {then}\n{}", said.text);
        }
    }
}

#[test]
fn a_version_that_was_withdrawn_in_part_was_listed_as_a_version() {
    let scene = half_withdrawn(Deletion::Enabled);
    assert_snapshot!(scene.run("versions REGISTRY/acme/widget").text, @"
    exit code: 0
    ----- stdout -----
    1.3.0

    ----- stderr -----
    note: [REGISTRY]/acme/widget: withdrawn by its publisher: 1.4.0 (broken)
    warning: the tag 1.4.0 in [REGISTRY]/acme/widget names no release: its withdrawal was interrupted, and `tofu init` fails if it chooses 1.4.0
      hint: `tofu-oci withdraw [REGISTRY]/acme/widget:1.4.0 --reason TEXT` finishes it; --undo instead of --reason TEXT brings the version back; either with --sign-key KEY if its notice is signed
    ");
    let said = scene.run("check REGISTRY/acme/widget");
    assert_eq!(said.code, Some(1), "{}", said.text);
    let finding = said.stdout.split("\n\n").find(|part| part.contains("[half-withdrawn]")).unwrap_or(&said.text);
    assert_snapshot!(finding, @"
    error[half-withdrawn] tag 1.4.0 (1.4.0)
      what      it names nothing, and withdrawn-1.4.0 keeps what was withdrawn
      why       A withdrawal was interrupted: OpenTofu still lists the version, chooses it where it is
                the newest, and then fails. If the tag names the withdrawn release, the rule is
                `withdrawn-version`.
      fix       finish it: `tofu-oci withdraw REPOSITORY:VERSION --reason TEXT`; or take it back:
                `tofu-oci withdraw REPOSITORY:VERSION --undo`; either with `--sign-key KEY` if its
                notice is signed
      spec      `tofu-oci help withdrawing`
    ");
    let said = scene.refuse(&format!("install {WIDGET}@1.4.0 --from REGISTRY/acme/widget --platform linux_amd64"));
    assert!(said.contains("1.4.0 was withdrawn") && said.contains("broken"), "{said}");
    scene.run(&format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64")).success();
}

#[test]
fn a_tag_without_a_manifest_stayed_for_ever() {
    for (line, want) in [(WITHDRAW, ["1.3.0", "withdrawn-1.4.0"]), (UNDO, ["1.3.0", "1.4.0"])] {
        let scene = half_withdrawn(Deletion::Enabled);
        scene.run(line).success();
        let named: Vec<String> = tags(&scene).into_iter().map(|(tag, _)| tag).collect();
        assert_eq!(named, want, "{line}");
        assert_ne!(scene.tag("acme/widget", want[1]), Digest::sha256(b"gone").to_string());
    }
    // The tag beside a version that came back.
    let scene = published(Deletion::Enabled);
    scene.registry.put_tag("acme/widget", "withdrawn-1.4.0", &Digest::sha256(b"gone"));
    scene.run(UNDO).success();
    assert_eq!(tags(&scene).len(), 1);
}

#[test]
fn a_version_whose_manifest_is_gone_was_said_to_be_there() {
    let scene = published(Deletion::Enabled);
    scene.publish("1.3.0");
    scene.registry.put_tag("acme/widget", "1.4.0", &Digest::sha256(b"gone"));
    assert_snapshot!(scene.refuse(WITHDRAW), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no manifest for its tag 1.4.0

    hint: the release is incomplete there; its publisher can push it again
    ");
    scene.run(&format!("push dist-1.4.0 REGISTRY/acme/widget --address {WIDGET}")).success();
    scene.run(WITHDRAW).success();
}

#[test]
fn a_module_that_was_withdrawn_in_part_was_listed() {
    let scene = Scene::deleting();
    for version in ["1.3.0", "1.4.0"] {
        scene.push_module("REGISTRY/acme/network", version, "");
    }
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason broken").success();
    scene.registry.put_tag("acme/network", "1.4.0", &Digest::sha256(b"gone"));
    assert_snapshot!(scene.run("module versions oci://REGISTRY/acme/network").text, @"
    exit code: 0
    ----- stdout -----
    1.3.0

    ----- stderr -----
    note: [REGISTRY]/acme/network: withdrawn by its publisher: 1.4.0 (broken)
    warning: the tag 1.4.0 in [REGISTRY]/acme/network names no release: its withdrawal was interrupted, and `tofu init` fails if it chooses 1.4.0
      hint: `tofu-oci withdraw [REGISTRY]/acme/network:1.4.0 --reason TEXT` finishes it; --undo instead of --reason TEXT brings the version back; either with --sign-key KEY if its notice is signed
    ");
    let said = scene.run("check REGISTRY/acme/network --module");
    assert!(said.stdout.contains("[half-withdrawn] tag 1.4.0"), "{}", said.text);
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason broken").success();
    assert_eq!(scene.tags_of("acme/network"), ["1.3.0", "withdrawn-1.4.0"]);
}

/// `withdraw` and `--undo` at the same time: one of them says that the other was faster, or both come one after the other.
#[test]
fn a_withdrawal_beside_its_undoing_blamed_the_operator() {
    for _ in 0..3 {
        let scene = published(Deletion::Enabled);
        scene.run(WITHDRAW).success();
        let release = scene.tag("acme/widget", "withdrawn-1.4.0");
        let both: Vec<Said> = std::thread::scope(|threads| {
            let runs = [UNDO, WITHDRAW, UNDO, WITHDRAW].map(|line| threads.spawn(|| scene.run(line)));
            runs.map(|run| run.join().expect("a run")).into_iter().collect()
        });
        for said in both.iter().filter(|said| said.code != Some(0)) {
            assert!(said.text.contains("another program has moved the tag"), "{}", said.text);
        }
        let names_it = |(_, digest): &(String, String)| *digest == release;
        assert!(tags(&scene).iter().any(names_it), "{:?}", tags(&scene));
        scene.run(UNDO).success();
        assert_eq!(scene.tag("acme/widget", "1.4.0"), release);
    }
}
