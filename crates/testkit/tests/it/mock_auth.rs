//! The scripted registry with its token servers.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use tofu_oci_testkit::{ArrivalKind, Certificates, MockAuth, MockReleases, MockScript, MockSite, ShownLogin};

use crate::wire::{Reply, send_tls};

const REPOSITORY: &str = "/v2/a/b/tags/list";

struct Mock(MockAuth, Certificates);

/// A mock whose script says `{port}` for its own port.
fn mock(script: &Value) -> Mock {
    let certificates = Certificates::generate();
    let site = MockSite::open(&certificates);
    let script: MockScript = serde_json::from_str(&script.to_string().replace("{port}", site.port())).unwrap();
    Mock(site.serve(script, &MockReleases::of(&["widget"]), BTreeMap::new(), &[]), certificates)
}

impl Mock {
    fn ask(&self, path: &str, authorization: &str) -> Reply {
        let headers = [("Authorization", authorization)];
        let headers = if authorization.is_empty() { &[][..] } else { &headers[..] };
        send_tls(self.0.address(), self.1.ca_pem(), None, path, headers).unwrap()
    }
}

#[track_caller]
fn check(script: &Value, authorization: &str, want: u16) {
    assert_eq!(mock(script).ask(REPOSITORY, authorization).status, want);
}

#[test]
fn a_script_says_who_is_let_in() {
    const LOGIN: &str = "Basic dTpw";
    check(&json!({}), "", 401);
    check(&json!({}), LOGIN, 200);
    check(&json!({}), "Bearer t", 401);
    check(&json!({"accept": []}), LOGIN, 401);
    check(&json!({"accept": ["u:p"]}), LOGIN, 200);
    check(&json!({"challenge": "none"}), "", 200);
    check(&json!({"open": ["tags"]}), "", 200);
    check(&json!({"challenge": "bearer"}), LOGIN, 401);
    check(&json!({"challenge": "bearer"}), "Bearer t", 200);
    check(&json!({"www": ["Negotiate", "basic"]}), LOGIN, 200);
    check(&json!({"status": {"tags": 403}}), "", 403);
    check(&json!({"once": "tags"}), LOGIN, 401);
}

#[test]
fn challenges_are_the_scripts() {
    let line = |script: Value| mock(&script).ask(REPOSITORY, "").header("www-authenticate").to_owned();
    let bearer = "Bearer realm=\"https://auth.example.test:5001/token\",service=\"svc\"";
    assert_eq!(line(json!({"challenge": "bearer"})), format!("{bearer},scope=\"repository:a/b:pull\""));
    assert_eq!(line(json!({"challenge": "bearer", "scope": null})), bearer);
    assert_eq!(line(json!({"www": ["X {name}"]})), "X a/b");
    assert_eq!(line(json!({"status": {"tags": 401}, "bare401": 1})), "");
}

#[test]
fn what_arrived_is_remembered_by_kind() {
    let target = "https://127.0.0.1:{port}/t2";
    let mock = mock(&json!({"challenge": "bearer", "once": "tags", "token": {"redirect": target}}));
    mock.ask("/v2/", "");
    let token = mock.ask("/t?scope=x", "Basic dTpw");
    let location = target.replace("127.0.0.1:{port}", mock.0.address()) + "?scope=x";
    assert_eq!((token.status, token.header("location")), (302, location.as_str()));
    let header = format!("Bearer {}", mock.ask("/t2?scope=x", "").json()["token"].as_str().unwrap());
    // The first good token is refused once, and is dead from then on.
    assert_eq!([1, 2].map(|_| mock.ask(REPOSITORY, &header).status), [401, 401]);
    assert_eq!(mock.ask(REPOSITORY, "Bearer another").status, 200);
    let arrivals = mock.0.arrivals();
    let kinds: Vec<ArrivalKind> = arrivals.iter().map(|arrival| arrival.kind).collect();
    assert_eq!(
        kinds,
        [
            ArrivalKind::Ping,
            ArrivalKind::Token,
            ArrivalKind::TokenTarget,
            ArrivalKind::Tags,
            ArrivalKind::Tags,
            ArrivalKind::Tags
        ]
    );
    assert_eq!(
        (&arrivals[1].shown, &arrivals[1].scopes),
        (&ShownLogin::Basic("u:p".to_owned()), &vec!["x".to_owned()])
    );
    assert_eq!(mock.0.issued().len(), 1);
}

#[test]
fn a_word_that_nobody_knows_is_named() {
    let error = |script| serde_json::from_value::<MockScript>(script).unwrap_err().to_string();
    assert!(error(json!({"chalenge": "basic"})).contains("unknown field `chalenge`"));
    assert!(error(json!({"token": {"stauts": 1}})).contains("unknown field `stauts`"));
    assert!(error(json!({"open": ["tag"]})).contains("unknown variant `tag`"));
}
