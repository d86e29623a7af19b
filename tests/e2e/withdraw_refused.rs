//! What `withdraw` and `deprecate` refuse, and how they say so.

use insta::assert_snapshot;
use tofu_oci_testkit::{Auth, Bearer, Behaviour, Deletion, Login, Registry, Rights};

use crate::setup::logins::encoded;
use crate::setup::{Scene, State, WIDGET};
use crate::words::refuse;

#[test]
fn a_notice_says_why() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `withdraw` needs a reason

    hint: say in one line why, and what to use instead: --reason 'deletes state; use 1.4.1'
    ");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0 --reason ''"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '' for '--reason <TEXT>': the text is empty

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0 --reason 'two\nlines'"), @r#"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'two\nlines' for '--reason <TEXT>': the text has a line break or another control character; it must be one line

    For more information, try '--help'.
    "#);
    assert_snapshot!(scene.refuse("deprecate REGISTRY/acme/widget:1.4.0"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `deprecate` needs a message

    hint: say in one line what to use instead: --message 'use 2.0.0; 1.x gets no more fixes'
    ");
}

#[test]
fn what_is_not_there_cannot_go() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.5.0 --reason broken"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget has no version 1.5.0

    hint: it has 1.4.0
    ");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/other:1.5.0 --reason broken"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository [REGISTRY]/acme/other

    hint: check the name; some registries also say this to those who may not read the repository
    ");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget --reason broken"), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `[REGISTRY]/acme/widget` names no version

    hint: write [REGISTRY]/acme/widget:VERSION, such as [REGISTRY]/acme/widget:1.4.0
    hint: `tofu-oci versions [REGISTRY]/acme/widget` lists what is there
    hint: `tofu-oci module versions oci://[REGISTRY]/acme/widget` lists those of a module
    ");
    assert_snapshot!(scene.refuse(&format!("withdraw {WIDGET}@1.4.0 --reason broken")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `registry.example.com/acme/widget@1.4.0` names a provider, and not where the release is

    hint: write tofu-oci withdraw registry.example.com/acme/widget@1.4.0 --reason broken --from REPOSITORY, or tofu-oci withdraw REPOSITORY:1.4.0 --reason broken
    ");
    assert_snapshot!(scene.refuse(&format!("deprecate {WIDGET} --from REGISTRY/acme/widget --message old")), @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `registry.example.com/acme/widget` names no version of a provider

    hint: with --from, write registry.example.com/acme/widget@VERSION, such as registry.example.com/acme/widget@1.4.0
    ");
    assert_snapshot!(scene.refuse("deprecate oci:nowhere:1.4.0 --message old"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: there is no repository oci:nowhere

    hint: check the name; an OCI image layout directory holds a file named oci-layout, and `tofu-oci pack DIST oci:DIR` makes one
    ");
}

#[test]
fn a_registry_that_deletes_nothing_says_so_before_anything_is_written() {
    let scene = Scene::published();
    let tags = scene.registry.tags("acme/widget");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").text, @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget does not let the tag 1.4.0 be deleted: it answered 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a tag, and 405: The operation is unsupported. (UNSUPPORTED) when asked to delete a manifest

    hint: the release stays as it is; ask the operator of the registry to turn deletion on
    hint: to warn those who choose the version instead: `tofu-oci deprecate [REGISTRY]/acme/widget:1.4.0 --message TEXT`
    ");
    assert_eq!(scene.registry.tags("acme/widget"), tags);
}

#[test]
fn a_login_that_may_only_read_withdraws_nothing() {
    let login = Login { rights: Rights::Pull, ..Login::new("ada", "correct-horse-battery") };
    let behaviour = Behaviour { deletion: Deletion::Tags, ..Behaviour::default() };
    let writer = Login::new("eve", "correct-horse-battery");
    let bearer = Bearer { users: vec![writer.clone(), login.clone()], ..Bearer::new(writer.clone()) };
    let scene = Scene::with(Registry::builder().behaviour(behaviour).auth(Auth::Bearer(bearer)));
    let use_login = |login: &Login| {
        let config = serde_json::json!({"auths": {scene.registry.address(): {"auth": encoded(login)}}});
        scene.context.write_home(".docker/config.json", config.to_string());
    };
    use_login(&writer);
    scene.publish("1.4.0");
    use_login(&login);
    let tags = scene.registry.tags("acme/widget");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").text, @r#"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: [REGISTRY]/acme/widget denied access: the login is right, and lacks the right to do this: authentication required (UNAUTHORIZED)
      cause: the credentials are those of auths "[REGISTRY]" in ~/.docker/config.json:1

    hint: ask the owner of [REGISTRY]/acme/widget for the right to read, and for a push to write; another login may have it
    hint: `withdraw` deletes a tag, so it needs the right to delete as well
    hint: `tofu-oci auth explain [REGISTRY]/acme/widget` shows every file, entry and helper, and what the registry answers
    "#);
    assert_eq!(scene.registry.tags("acme/widget"), tags);
    use_login(&writer);
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").success();
}

#[test]
fn a_withdrawn_version_was_called_missing() {
    let behaviour = Behaviour { deletion: Deletion::Tags, ..Behaviour::default() };
    let scene = Scene::with(Registry::builder().behaviour(behaviour));
    scene.publish("1.4.0");
    scene.publish("1.5.0");
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason 'deletes state'").success();
    scene.key("p256.pem");
    let missing = "error: [REGISTRY]/acme/widget has no version 1.4.0: it was withdrawn: deletes state\n";
    let undo = "hint: `tofu-oci withdraw [REGISTRY]/acme/widget:1.4.0 --undo` brings it back, with --sign-key KEY if its notice is signed\n";
    for line in ["copy", "copy --dry-run", "deprecate --message old", "sign --key p256.pem"] {
        let to = if line.starts_with("copy") { "oci:out" } else { "" };
        refuse(&scene, &format!("{line} REGISTRY/acme/widget:1.4.0 {to}"), &[missing, "hint: it has 1.5.0\n", undo]);
    }
    for line in ["versions", "show"] {
        let words = ["error: version 1.4.0 was withdrawn from [REGISTRY]/acme/widget\n", "cause: deletes state\n"];
        refuse(&scene, &format!("{line} REGISTRY/acme/widget:1.4.0"), &words);
    }
    for line in ["mirror --to oci:out", "bundle create b.tar"] {
        for version in ["1.4.0", "~>1.4.0"] {
            let said = scene.run(&format!("{line} {WIDGET}@{version} --from REGISTRY/acme/widget"));
            assert!(
                said.stdout.contains("registry.example.com/acme/widget 1.4.0 was withdrawn: deletes state\n"),
                "{}",
                said.text
            );
            assert_eq!(said.code, Some(1), "{}", said.text);
        }
    }
    let said = scene.run("check REGISTRY/acme/widget:1.4.0");
    assert!(said.stdout.contains("version 1.4.0 was withdrawn: deletes state; it has 1.5.0\n"), "{}", said.text);
    assert!(said.stdout.contains("checked as registry.example.com/acme/widget"), "{}", said.text);
}

#[test]
fn a_withdrawn_module_was_called_missing() {
    let scene = Scene::with_network();
    scene.run("withdraw REGISTRY/acme/network:1.4.0 --reason 'leaks keys'").success();
    let words = ["error: version 1.4.0 was withdrawn from [REGISTRY]/acme/network\n", "cause: leaks keys\n"];
    refuse(&scene, "module versions REGISTRY/acme/network:1.4.0", &words);
    let said =
        scene.run("module mirror 'oci://REGISTRY/acme/network?tag=1.4.0' --as r.example.test/a/n/aws --to oci:out");
    assert!(said.text.contains("version 1.4.0 was withdrawn from [REGISTRY]/acme/network\n"), "{}", said.text);
    assert!(said.stdout.contains("  cause: leaks keys\n"), "{}", said.text);
    for line in ["REGISTRY/acme/network:1.4.0", "'oci://REGISTRY/acme/network?tag=1.4.0' --module"] {
        let said = scene.run(&format!("check {line}"));
        assert!(said.stdout.contains("what      version 1.4.0 was withdrawn: leaks keys\n"), "{}", said.text);
        assert!(said.stdout.contains("1 module looked at\n"), "{}", said.text);
    }
}

#[test]
fn a_version_of_a_repository_that_is_not_there_was_called_missing() {
    let scene = Scene::published();
    for line in ["withdraw --reason x", "deprecate --message x", "copy oci:out --version 1.0.0"] {
        let at = if line.starts_with("copy") { "" } else { ":1.0.0" };
        let (verb, rest) = line.split_once(' ').expect("a verb");
        let words = ["error: there is no repository [REGISTRY]/acme/none\n"];
        refuse(&scene, &format!("{verb} REGISTRY/acme/none{at} {rest}"), &words);
    }
}

#[test]
fn the_tag_of_a_withdrawn_version_led_to_no_version() {
    let scene = Scene::published();
    let want =
        "withdraw [REGISTRY]/acme/widget:1.4.0 --undo` brings it back, with --sign-key KEY if its notice is signed\n";
    refuse(&scene, "withdraw REGISTRY/acme/widget:withdrawn-1.4.0 --undo --dry-run", &[want]);
}

#[test]
fn a_signed_notice_was_replaced_without_its_key() {
    let scene = Scene::deleting();
    scene.publish("1.4.0");
    scene.push_module("REGISTRY/acme/network", "1.4.0", "");
    scene.key("p256.pem");
    for place in ["REGISTRY/acme/widget:1.4.0", "REGISTRY/acme/network:1.4.0"] {
        for (verb, option) in [("deprecate", "message"), ("withdraw", "reason")] {
            scene.run(&format!("{verb} {place} --{option} old --sign-key p256.pem")).success();
            let said = scene.refuse(&format!("{verb} {place} --{option} other"));
            assert!(said.contains("has a signed notice, which only a signed one replaces"), "{said}");
            let said = scene.run(&format!("{verb} {place} --{option} old --json")).success();
            assert_eq!(said.json()[0]["unchanged"], true, "{}", said.text);
            scene.run(&format!("{verb} {place} --undo --sign-key p256.pem")).success();
            let before = State::of(&scene);
            let said = scene.run(&format!("{verb} {place} --undo --dry-run")).success();
            assert!(said.stdout.contains("nothing would be changed"), "{}", said.text);
            let said = scene.run(&format!("{verb} {place} --undo")).success();
            assert!(said.stdout.contains("nothing was changed"), "{}", said.text);
            assert_eq!(State::of(&scene), before, "{verb} {place}: a second notice was written");
            let said = scene.refuse(&format!("{verb} {place} --undo --{option} other"));
            assert!(said.contains("cannot be used with"), "{said}");
        }
    }
}
