//! What `withdraw` and `deprecate` refuse, and how they say so.

use insta::assert_snapshot;
use tofu_oci_testkit::{Auth, Bearer, Behaviour, Deletion, Login, Registry, Rights};

use crate::setup::logins::encoded;
use crate::setup::{Scene, WIDGET};

#[test]
fn a_notice_says_why() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0"), @"");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0 --reason ''"), @"");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.4.0 --reason 'two\nlines'"), @"");
    assert_snapshot!(scene.refuse("deprecate REGISTRY/acme/widget:1.4.0"), @"");
}

#[test]
fn what_is_not_there_cannot_go() {
    let scene = Scene::published();
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget:1.5.0 --reason broken"), @"");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/other:1.5.0 --reason broken"), @"");
    assert_snapshot!(scene.refuse("withdraw REGISTRY/acme/widget --reason broken"), @"");
    assert_snapshot!(scene.refuse(&format!("withdraw {WIDGET}@1.4.0 --reason broken")), @"");
    assert_snapshot!(scene.refuse(&format!("deprecate {WIDGET} --from REGISTRY/acme/widget --message old")), @"");
    assert_snapshot!(scene.refuse("deprecate oci:nowhere:1.4.0 --message old"), @"");
}

#[test]
fn a_registry_that_deletes_nothing_says_so_before_anything_is_written() {
    let scene = Scene::published();
    let tags = scene.registry.tags("acme/widget");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").text, @"");
    assert_eq!(scene.registry.tags("acme/widget"), tags);
}

#[test]
fn a_login_that_may_only_read_withdraws_nothing() {
    let login = Login { rights: Rights::Pull, ..Login::new("ada", "correct-horse-battery") };
    let behaviour = Behaviour { deletion: Deletion::Tags, ..Behaviour::default() };
    let writer = Login::new("eve", "correct-horse-battery");
    let bearer = Bearer { users: vec![writer.clone(), login.clone()], ..Bearer::new(writer.clone()) };
    let scene = Scene::with(Registry::builder().behaviour(behaviour).auth(Auth::Bearer(bearer)));
    let log_in = |login: &Login| {
        let config = serde_json::json!({"auths": {scene.registry.address(): {"auth": encoded(login)}}});
        scene.context.write_home(".docker/config.json", config.to_string());
    };
    log_in(&writer);
    scene.publish("1.4.0");
    log_in(&login);
    let tags = scene.registry.tags("acme/widget");
    assert_snapshot!(scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").text, @"");
    assert_eq!(scene.registry.tags("acme/widget"), tags);
    log_in(&writer);
    scene.run("withdraw REGISTRY/acme/widget:1.4.0 --reason broken").success();
}
