//! Who may ask, and what a registry, a log and another client learn of it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tofu_oci_testkit::{Auth, Bearer, Fault, Registry, Rule};
use tofu_oci_types::Digest;

use super::{Serving, WIDGET_PATH, archive};
use crate::setup::logins::{PASSWORD, ada, encoded};
use crate::setup::schema::check_line;
use crate::setup::{Scene, WIDGET};

const CI: &str = "ci-token-0123456789abcdef0123456789abcdef0123";
const GUEST: &str = "guest-token-0123456789abcdef0123456789abcde";

/// Two clients, of which one may see widget.
fn clients() -> String {
    let entry = |name: &str, token: &str, providers: &str| {
        format!(
            "[[client]]\nname = \"{name}\"\ntoken_sha256 = \"{}\"\nproviders = [\"{providers}\"]\n",
            Digest::sha256(token.as_bytes()).encoded()
        )
    };
    entry("ci", CI, "registry.example.com/acme/*") + &entry("guest", GUEST, "registry.example.com/guests/*")
}

/// A registry that only ada can use, and a bridge that may use it for its own clients.
fn closed(auth: Auth) -> (Scene, Serving) {
    let scene = Scene::with(Registry::builder().auth(auth));
    let config = format!("{{\"auths\": {{\"{}\": {{\"auth\": \"{}\"}}}}}}", scene.registry.address(), encoded(&ada()));
    scene.context.write_home(".docker/config.json", config);
    scene.dist("dist", "1.4.0");
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene.registry.clear_requests();
    let serving = Serving::start(&scene, "", &clients());
    (scene, serving)
}

fn bearer(token: &str) -> String {
    format!("Bearer {token}")
}

#[test]
fn a_token_opens_what_its_client_may_see_and_nothing_else() {
    let (scene, serving) = closed(Auth::Basic(ada()));
    let index = format!("{WIDGET_PATH}/index.json");
    let basic = |user: &str, token: &str| format!("Basic {}", STANDARD.encode(format!("{user}:{token}")));
    for (authorization, opens) in [
        (bearer(CI), true),
        (basic("ci", CI), true),
        (bearer(GUEST), false),
        (bearer("wrong"), false),
        (basic("ci", "wrong"), false),
        ("Nonsense".to_owned(), false),
        (String::new(), false),
    ] {
        let headers = [("Authorization", authorization.as_str())];
        let headers = if authorization.is_empty() { &[][..] } else { &headers };
        for path in [&index, &format!("{WIDGET_PATH}/1.4.0.json"), &archive("linux_amd64")] {
            let got = serving.send("GET", path, headers);
            assert_eq!(got.status == 200, opens, "{authorization}: {path}: {} {}", got.status, got.text());
            assert!(opens || matches!(got.status, 401 | 403 | 404), "{authorization}: {path}: {}", got.status);
        }
    }
    // What is in the cache by now is not for the guest either.
    assert_ne!(serving.send("GET", &index, &[("Authorization", &bearer(GUEST))]).status, 200);
    for request in scene.registry.requests() {
        if let Some(shown) = request.header("authorization") {
            assert_eq!(shown, ada().basic_header(), "a client's credential went to the registry");
        }
    }
}

#[test]
fn an_archive_is_fetched_by_its_signed_link_without_a_token() {
    let (_scene, serving) = closed(Auth::Basic(ada()));
    let path = format!("{WIDGET_PATH}/1.4.0.json");
    let listed = serving.send("GET", &path, &[("Authorization", &bearer(CI))]).json();
    let link = |platform: &str| {
        let url = listed["archives"][platform]["url"].as_str().unwrap_or_default();
        format!("{WIDGET_PATH}/{url}")
    };
    let (linux, darwin) = (link("linux_amd64"), link("darwin_arm64"));
    let got = serving.get(&linux);
    assert!(got.status == 200 && got.is_whole, "{} {}", got.status, got.text());
    assert_eq!(serving.send("HEAD", &linux, &[]).status, 200);
    // The link of one archive does not open another, and does not survive a change.
    assert_eq!(serving.get(&linux.replace("linux_amd64.zip", "darwin_arm64.zip")).status, 403);
    let (folder, file) = (darwin.split("/~").next().unwrap_or_default(), darwin.rsplit('/').next().unwrap_or_default());
    assert!(matches!(serving.get(&format!("{folder}/{file}")).status, 401 | 403));
    let changed = linux.replace("/~", "/~9");
    assert_ne!(changed, linux);
    assert_eq!(serving.get(&changed).status, 403);
}

#[test]
fn the_log_line_of_a_link_below_a_path_named_no_client() {
    let (scene, serving) = closed(Auth::Basic(ada()));
    drop(serving);
    let serving = Serving::start(&scene, "url = \"https://bridge.example/tofu/\"\n", &clients());
    let path = format!("/tofu{WIDGET_PATH}");
    let listed = serving.send("GET", &format!("{path}/1.4.0.json"), &[("Authorization", &bearer(CI))]).json();
    let url = listed["archives"]["linux_amd64"]["url"].as_str().unwrap_or_default().to_owned();
    let link = url.strip_prefix("https://bridge.example").map_or_else(|| format!("{path}/{url}"), str::to_owned);
    let got = serving.get(&link);
    assert!(got.status == 200, "{link} {} {}", got.status, got.text());
    let (_, said) = serving.stop();
    let mut lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let zip = lines.find(|line| line["path"].as_str().is_some_and(|path| path.contains(".zip"))).expect("a line");
    assert_eq!(zip["client"], "ci", "{said}");
}

#[test]
fn no_secret_is_in_any_line() {
    for auth in [Auth::Basic(ada()), Auth::Bearer(Bearer::new(ada()))] {
        let (scene, serving) = closed(auth);
        let path = format!("{WIDGET_PATH}/1.4.0.json");
        let listed = serving.send("GET", &path, &[("Authorization", &bearer(CI))]).json();
        let url = listed["archives"]["linux_amd64"]["url"].as_str().unwrap_or_default().to_owned();
        let link = url.strip_prefix('~').and_then(|link| link.split('/').next()).expect("it is a link");
        let signature = link.rsplit('~').next().unwrap_or_default();
        assert_eq!(signature.len(), 43, "{url}");
        serving.get(&format!("{WIDGET_PATH}/{url}"));
        serving.send("GET", &path, &[("Authorization", &bearer("wrong-and-secret"))]);
        // The registry's own errors repeat what they were shown.
        scene.registry.fault(Rule::on("*", "/v2/acme/other/*").then(Fault::status(403, "DENIED")));
        serving.send("GET", "/mirror/registry.example.com/acme/other/index.json", &[("Authorization", &bearer(CI))]);
        let (_, said) = serving.stop();
        for secret in [CI, "wrong-and-secret", PASSWORD, &encoded(&ada()), signature] {
            assert!(!said.contains(secret), "{secret} is in the log\n{said}");
        }
        let lines = said.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines.clone().for_each(|line| check_line(&line));
        assert!(lines.clone().any(|line| line["client"] == "ci"), "the access log names the client\n{said}");
        assert!(lines.count() >= 4, "one line a request\n{said}");
    }
}

#[test]
fn a_login_that_was_replaced_needed_a_restart() {
    for is_helper in [true, false] {
        let mut scene = Scene::with(Registry::builder().auth(Auth::Basic(ada())));
        scene
            .helper("rotating", r#"printf '{"ServerURL":"x","Username":"ada","Secret":"%s"}' "$(cat "$HOME/secret")""#);
        let address = scene.registry.address().to_owned();
        let login = |scene: &Scene, password: &str| {
            let entry = STANDARD.encode(format!("ada:{password}"));
            let config = if is_helper {
                serde_json::json!({"credHelpers": {&address: "rotating"}})
            } else {
                serde_json::json!({"auths": {&address: {"auth": entry}}})
            };
            scene.context.write_home(".docker/config.json", config.to_string());
            scene.context.write_home("secret", password);
        };
        login(&scene, PASSWORD);
        scene.dist("dist", "1.4.0");
        scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
        login(&scene, "expired-secret");
        let serving = Serving::start(&scene, "", "");
        let got = serving.get(&format!("{WIDGET_PATH}/index.json"));
        assert_eq!(got.status, 502, "{}", got.text());
        login(&scene, PASSWORD);
        let got = serving.get(&format!("{WIDGET_PATH}/1.4.0.json"));
        assert_eq!(got.status, 200, "helper {is_helper}: {}\n{}", got.text(), serving.log());
    }
}
