//! A publisher's withdrawal among the attestations: heeded, carried, and by whom.

use serde_json::json;
use tofu_oci_testkit::LocalSigstore;

use super::attestations::{RULES, ZAP, demanding, provenance, verified, write};
use super::{HOST, Mirrored, TO, actions, summary};

/// A notice that withdraws acme/zap 1.0.0 as it lies at this tag of the destination.
fn withdrawal(mirrored: &Mirrored, sigstore: &LocalSigstore) -> Vec<u8> {
    notice(mirrored, sigstore, "it deletes state")
}

/// The same with another reason.
fn notice(mirrored: &Mirrored, sigstore: &LocalSigstore, reason: &str) -> Vec<u8> {
    let index = mirrored.scene.tag("m/acme/zap", "1.0.0");
    let subject = json!({
        "digest": { "sha256": index.trim_start_matches("sha256:") },
        "annotations": {
            "org.opentofu.provider.address": format!("{HOST}/acme/zap"),
            "org.opentofu.provider.version": "1.0.0",
        },
    });
    let predicate = json!({ "state": "withdrawn", "reason": reason, "supersedes": [] });
    sigstore.attest_with(&ZAP, tofu_oci_trust::NOTICE_PREDICATE, &[subject], &predicate)
}

/// A policy that names who attests, and 1.0.0 at the destination with its provenance; the notice that withdraws it lies beside that.
fn withdrawn() -> (Mirrored, LocalSigstore) {
    let (mirrored, sigstore) = demanding();
    write(&mirrored, "provenance.json", &provenance(&mirrored, &sigstore, &ZAP));
    mirrored.mirror("").success();
    write(&mirrored, "notice.json", &withdrawal(&mirrored, &sigstore));
    (mirrored, sigstore)
}

/// Demands that 1.0.0 at the destination is withdrawn by a notice that acme has signed, and by no other one.
#[track_caller]
fn is_withdrawn(mirrored: &Mirrored) {
    let said = mirrored.scene.run("verify REGISTRY/m/acme/zap:1.0.0");
    assert!(
        said.code == Some(1) && said.text.contains("it was withdrawn by acme release: it deletes state"),
        "{}",
        said.text
    );
    assert!(!said.text.contains("notice-not-counted") && !said.text.contains("does not count"), "{}", said.text);
}

/// The same of a version whose tag is gone: it is put back by hand.
#[track_caller]
fn is_withdrawn_when_it_is_back(mirrored: &Mirrored) {
    let registry = &mirrored.scene.registry;
    let index = mirrored.scene.tag("m/acme/zap", "withdrawn-1.0.0").parse().expect("a digest");
    registry.put_tag("m/acme/zap", "1.0.0", &index);
    registry.remove_tag("m/acme/zap", "withdrawn-1.0.0");
    is_withdrawn(mirrored);
}

#[test]
fn a_signed_withdrawal_of_a_version_that_stays_was_not_carried() {
    let (mirrored, _) = withdrawn();
    let said = mirrored.mirror("--plan").success();
    let kept = "kept, although it was withdrawn by acme release: it deletes state";
    assert!(said.stdout.contains(&format!("{kept}; it would get ")), "{}", said.text);
    verified(&mirrored, "REGISTRY/m/acme/zap");
    let said = mirrored.mirror("").success();
    assert!(said.stdout.contains(&format!("{kept}; it got ")), "{}", said.text);
    assert!(said.stdout.contains("\n1 kept although withdrawn; "), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "first-seen"]);
    is_withdrawn(&mirrored);
    mirrored.scene.registry.clear_requests();
    let again = mirrored.mirror("--json").success();
    assert_eq!(
        (actions(&again)["zap 1.0.0"].as_str(), &summary(&again)["bytes"]),
        ("gone", &json!(0)),
        "{}",
        again.text
    );
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
}

#[test]
fn an_unsigned_notice_came_in_the_place_of_the_signed_one() {
    let (mirrored, _) = withdrawn();
    mirrored.rules(&format!("gone = \"withdraw\"\n{RULES}"));
    let planned = mirrored.mirror("--plan --json").success();
    assert_eq!(actions(&planned)["zap 1.0.0"], "withdraw", "{}", planned.text);
    let said = mirrored.mirror("--json").success();
    let line = said.json().into_iter().find(|line| line["event"] == "mirror").expect("a line");
    assert_eq!((&line["action"], &line["signer"]), (&json!("withdraw"), &json!("acme release")), "{}", said.text);
    assert_eq!(line["decided_by"], "publisher", "{}", said.text);
    assert!(!said.text.contains("unsigned-notice"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen", "withdrawn-1.0.0"]);
    let said = mirrored.scene.refuse(&format!("install {HOST}/acme/zap@1.0.0 --from REGISTRY/m/acme/zap"));
    assert!(said.contains("it deletes state"), "{said}");
    // It stays away.
    mirrored.scene.registry.clear_requests();
    let said = mirrored.mirror("--json").success();
    assert_eq!(actions(&said)["zap 1.0.0"], "withdrawn-there", "{}", said.text);
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
    is_withdrawn_when_it_is_back(&mirrored);
}

/// The text of the notice is that of `mirror` itself: the publisher's word came back with the next run.
#[test]
fn a_withdrawal_in_the_words_of_mirror_came_and_went() {
    let (mirrored, sigstore) = withdrawn();
    let notice = notice(&mirrored, &sigstore, "example.com no longer lists this version");
    write(&mirrored, "notice.json", &notice);
    mirrored.rules(&format!("gone = \"withdraw\"\n{RULES}"));
    mirrored.mirror("").success();
    for _ in 0..2 {
        let said = mirrored.mirror("--json").success();
        assert_eq!(actions(&said)["zap 1.0.0"], "withdrawn-there", "{}", said.text);
    }
}

/// The connection to the destination ends after each write in turn: the next run finishes the withdrawal.
#[test]
fn a_withdrawal_by_a_notice_that_broke_off_was_taken_back() {
    for at in 0.. {
        let (mirrored, _) = withdrawn();
        mirrored.rules(&format!("gone = \"withdraw\"\n{RULES}"));
        mirrored.scene.break_off_after(at);
        let code = mirrored.scene.run(&format!("mirror {TO} --attempts 1 --jobs 1")).code;
        mirrored.scene.registry.clear_faults();
        mirrored.mirror("").success();
        assert_eq!(mirrored.tags("m/acme/zap"), ["first-seen", "withdrawn-1.0.0"], "{at}");
        is_withdrawn_when_it_is_back(&mirrored);
        if code == Some(0) {
            assert!(at > 2, "{at}: there are more writes");
            break;
        }
    }
}

#[test]
fn a_notice_for_a_bundle_or_a_tree_was_ignored_silently() {
    let (mirrored, _) = withdrawn();
    for (gone, to) in [("", "bundle:zap.tar"), ("gone = \"withdraw\"\n", "bundle:zap.tar"), ("", "static:tree")] {
        std::fs::rename(mirrored.scene.path("attestations/zap/1.0.0/notice.json"), mirrored.scene.path("n"))
            .expect("it is there");
        mirrored.rules(&format!("{gone}{RULES}"));
        let from = "--from 'REGISTRY/m/${namespace}/${type}'";
        mirrored.scene.run(&format!("mirror --to {to} {from}")).success();
        std::fs::rename(mirrored.scene.path("n"), mirrored.scene.path("attestations/zap/1.0.0/notice.json"))
            .expect("it is there");
        let said = mirrored.scene.run(&format!("mirror --to {to} {from}")).success();
        assert!(said.stderr.contains("zap/1.0.0/notice.json is not carried: "), "{to}: {}", said.text);
        if to.starts_with("bundle") {
            assert!(said.stdout.contains("kept, although it was withdrawn by acme release"), "{}", said.text);
            assert!(said.stderr.contains("zap.tar takes no notices\n"), "{}", said.text);
        }
    }
}

/// What lies in `m` is mirrored on to `n`, with a notice that withdraws it.
#[test]
fn a_notice_for_a_version_that_is_not_mirrored_yet_failed_each_run() {
    let (mirrored, _) = withdrawn();
    let on = "--from 'REGISTRY/m/${namespace}/${type}' --to 'REGISTRY/n/${namespace}/${type}'";
    let left = "left out: it was withdrawn by acme release: it deletes state";
    for arguments in ["--plan", "", ""] {
        let said = mirrored.scene.run(&format!("mirror {on} {arguments}")).success();
        assert!(said.stdout.contains(left), "{}", said.text);
    }
    assert_eq!(mirrored.tags("n/acme/zap"), ["first-seen"]);
    // Without a policy every notice counts, and nothing else is looked for.
    std::fs::remove_file(mirrored.scene.path("trust.toml")).expect("it is there");
    for arguments in ["--plan", "", ""] {
        let said = mirrored.scene.run(&format!("mirror {on} {arguments}")).success();
        assert!(said.stdout.contains("left out: it was withdrawn: it deletes state"), "{}", said.text);
    }
    assert_eq!(mirrored.tags("n/acme/zap"), ["first-seen"]);
}

#[test]
fn a_withdrawal_that_a_stranger_began_was_finished() {
    let (mirrored, sigstore) = demanding();
    mirrored.rules(&format!("gone = \"withdraw\"\n{RULES}"));
    write(&mirrored, "provenance.json", &provenance(&mirrored, &sigstore, &ZAP));
    mirrored.mirror("").success();
    let index = mirrored.scene.tag("m/acme/zap", "1.0.0").parse().expect("a digest");
    mirrored.scene.run("withdraw REGISTRY/m/acme/zap:1.0.0 --reason stranger").success();
    mirrored.scene.registry.put_tag("m/acme/zap", "1.0.0", &index);
    mirrored.mirror("");
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "first-seen", "withdrawn-1.0.0"]);
}

#[test]
fn without_a_policy_a_notice_by_anyone_took_a_version_away() {
    let (mirrored, sigstore) = demanding();
    std::fs::remove_file(mirrored.scene.path("trust.toml")).expect("the policy");
    mirrored.rules(&format!("gone = \"withdraw\"\n{RULES}"));
    mirrored.mirror("").success();
    write(&mirrored, "notice.json", &withdrawal(&mirrored, &sigstore));
    let said = mirrored.mirror("");
    assert!(said.text.contains("kept, although it was withdrawn"), "{}", said.text);
    assert_eq!(mirrored.tags("m/acme/zap"), ["1.0.0", "first-seen"]);
}
