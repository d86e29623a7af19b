//! A publisher that withdraws a version in the repository from which it is mirrored.

use serde_json::json;

use super::{HOST, Mirrored, actions, summary};
use crate::setup::Said;

const RULES: &str = "[[provider]]\naddress = \"HOST/acme/zap\"\n";
const WITHDRAW: &str = "withdraw REGISTRY/m/acme/zap:1.0.0 --reason 'it deletes state'";

/// acme/zap 1.0.0 and 1.1.0 in `m`, signed by a key that the policy names, and mirrored to `n`; then 1.0.0 is withdrawn in `m`.
fn withdrawn_in_source(gone: &str, signed: &str) -> Mirrored {
    let mirrored = Mirrored::with_zap();
    mirrored.rules(&format!("{gone}{RULES}"));
    mirrored.mirror("").success();
    for key in ["p256.pem", "p256.pub"] {
        mirrored.scene.key(key);
    }
    for version in ["1.0.0", "1.1.0"] {
        mirrored.scene.run(&format!("sign REGISTRY/m/acme/zap:{version} --key p256.pem")).success();
    }
    let policy = format!(
        "[[key]]\nname = \"acme\"\nfile = \"p256.pub\"\n\n[[rule]]\nproviders = [\"{HOST}/acme/zap\"]\nkeys = [\"acme\"]\n"
    );
    mirrored.scene.context.write("trust.toml", policy);
    on(&mirrored, "").success();
    assert_eq!(mirrored.tags("n/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
    mirrored.scene.run(&format!("{WITHDRAW} {signed}")).success();
    mirrored
}

/// Mirrors `m` on to `n`.
fn on(mirrored: &Mirrored, more: &str) -> Said {
    let ends = "--from 'REGISTRY/m/${namespace}/${type}' --to 'REGISTRY/n/${namespace}/${type}'";
    mirrored.scene.run(&format!("mirror {ends} {more}"))
}

#[track_caller]
fn changes_nothing(mirrored: &Mirrored, action: Option<&str>) {
    mirrored.scene.registry.clear_requests();
    let again = on(mirrored, "--json").success();
    assert_eq!(
        (actions(&again).get("zap 1.0.0").map(String::as_str), &summary(&again)["bytes"]),
        (action, &json!(0)),
        "{}",
        again.text
    );
    let asked = mirrored.scene.conversation();
    assert!(asked.iter().all(|line| line.starts_with("GET ") || line.starts_with("HEAD ")), "{asked:#?}");
}

#[test]
fn a_signed_withdrawal_in_the_source_was_called_no_longer_listed() {
    let mirrored = withdrawn_in_source("", "--sign-key p256.pem");
    let kept = "kept, although it was withdrawn by acme: it deletes state";
    let said = on(&mirrored, "--plan").success();
    assert!(said.stdout.contains(&format!("{kept}; it would get ")), "{}", said.text);
    let said = on(&mirrored, "").success();
    assert!(said.stdout.contains(&format!("{kept}; it got ")), "{}", said.text);
    assert_eq!(mirrored.tags("n/acme/zap"), ["1.0.0", "1.1.0", "first-seen"]);
    let said = mirrored.scene.run("verify REGISTRY/n/acme/zap:1.0.0");
    assert!(said.text.contains("it was withdrawn by acme: it deletes state"), "{}", said.text);
    changes_nothing(&mirrored, Some("gone"));
}

#[test]
fn an_unsigned_notice_of_mirror_came_in_the_place_of_the_one_that_the_source_has() {
    let mirrored = withdrawn_in_source("gone = \"withdraw\"\n", "--sign-key p256.pem");
    assert_eq!(actions(&on(&mirrored, "--plan --json").success())["zap 1.0.0"], "withdraw");
    let said = on(&mirrored, "--json").success();
    let line = said.json().into_iter().find(|line| line["action"] == "withdraw").expect("a line");
    assert_eq!((&line["signer"], &line["decided_by"]), (&json!("acme"), &json!("publisher")), "{}", said.text);
    assert!(!said.text.contains("unsigned-notice"), "{}", said.text);
    assert_eq!(mirrored.tags("n/acme/zap"), ["1.1.0", "first-seen", "withdrawn-1.0.0"]);
    let said = mirrored.scene.refuse(&format!("install {HOST}/acme/zap@1.0.0 --from REGISTRY/n/acme/zap"));
    assert!(said.contains("it deletes state"), "{said}");
    changes_nothing(&mirrored, None);
}

/// The connection to the destination ends after each write in turn: the next run finishes the withdrawal.
#[test]
fn a_withdrawal_of_the_source_that_broke_off_was_finished_by_another_notice() {
    for at in 0.. {
        let mirrored = withdrawn_in_source("gone = \"withdraw\"\n", "--sign-key p256.pem");
        mirrored.scene.break_off_after(at);
        let code = on(&mirrored, "--attempts 1 --jobs 1").code;
        mirrored.scene.registry.clear_faults();
        on(&mirrored, "").success();
        assert_eq!(mirrored.tags("n/acme/zap"), ["1.1.0", "first-seen", "withdrawn-1.0.0"], "{at}");
        let said = mirrored.scene.refuse(&format!("install {HOST}/acme/zap@1.0.0 --from REGISTRY/n/acme/zap"));
        assert!(said.contains("it deletes state"), "{at}: {said}");
        if code == Some(0) {
            assert!(at > 2, "{at}: there are more writes");
            break;
        }
    }
}

/// Whoever may write to the source may remove a tag; that a version was withdrawn by its publisher is more.
#[test]
fn an_unsigned_withdrawal_of_the_source_is_a_version_that_it_no_longer_lists() {
    let mirrored = withdrawn_in_source("", "");
    let said = on(&mirrored, "").success();
    assert!(said.stdout.contains("kept, although its place no longer lists it"), "{}", said.text);
    changes_nothing(&mirrored, Some("gone"));
}

/// A stranger with a key of its own kept a version in the mirror that the source had taken away.
#[test]
fn without_a_policy_a_signed_withdrawal_took_away_less_than_an_unsigned_one() {
    let mirrored = withdrawn_in_source("gone = \"withdraw\"\n", "--sign-key p256.pem");
    std::fs::remove_file(mirrored.scene.path("trust.toml")).expect("the policy");
    let said = on(&mirrored, "--json").success();
    let line = said.json().into_iter().find(|line| line["action"] == "withdraw").expect("a line");
    assert_eq!((&line["decided_by"], line.get("signer")), (&json!("place"), None), "{}", said.text);
    assert_eq!(mirrored.tags("n/acme/zap"), ["1.1.0", "first-seen", "withdrawn-1.0.0"]);
}

/// What `mirror` cannot carry, `copy` does.
#[test]
fn an_undo_in_the_source_is_carried_by_copy() {
    let mirrored = withdrawn_in_source("gone = \"withdraw\"\n", "--sign-key p256.pem");
    on(&mirrored, "").success();
    mirrored.scene.run("withdraw REGISTRY/m/acme/zap:1.0.0 --undo --sign-key p256.pem").success();
    mirrored.scene.run("copy REGISTRY/m/acme/zap:1.0.0 REGISTRY/n/acme/zap:1.0.0").success();
    mirrored.scene.run(&format!("install {HOST}/acme/zap@1.0.0 --from REGISTRY/n/acme/zap")).success();
}

#[test]
fn a_withdrawal_of_the_source_for_a_tree_was_called_one_of_another_release() {
    let mirrored = withdrawn_in_source("", "--sign-key p256.pem");
    mirrored.scene.run("withdraw REGISTRY/m/acme/zap:1.0.0 --undo --sign-key p256.pem").success();
    let to_tree = "mirror --from 'REGISTRY/m/${namespace}/${type}' --to static:tree";
    mirrored.scene.run(to_tree).success();
    mirrored.scene.run(&format!("{WITHDRAW} --sign-key p256.pem")).success();
    let said = mirrored.scene.run(to_tree).success();
    assert!(said.stderr.contains("is not carried: ") && said.stderr.contains("takes no notices\n"), "{}", said.text);
}

#[test]
fn a_withdrawal_of_the_source_for_a_bundle_is_reported() {
    let mirrored = withdrawn_in_source("", "--sign-key p256.pem");
    mirrored.scene.run("withdraw REGISTRY/m/acme/zap:1.0.0 --undo --sign-key p256.pem").success();
    let to_bundle = "mirror --from 'REGISTRY/m/${namespace}/${type}' --to bundle:zap.tar";
    mirrored.scene.run(to_bundle).success();
    mirrored.scene.run(&format!("{WITHDRAW} --sign-key p256.pem")).success();
    let said = mirrored.scene.run(to_bundle).success();
    assert!(said.stdout.contains("kept, although it was withdrawn by acme: it deletes state"), "{}", said.text);
    assert!(said.stderr.contains("is not carried: ") && said.stderr.contains("takes no notices"), "{}", said.text);
}
