//! A registry or a token server that repeats a secret in whatever encoding is not quoted with it; neither is a helper.
#![cfg(unix)]

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::json;
use tofu_oci_testkit::{Answer, Auth, Bearer, Fault, Login, Registry, RegistryBuilder, Rule};

use crate::setup::{Scene, WIDGET};

/// With everything that encodings treat differently; no part of it is in an ordinary message.
const SECRET: &str = "Qx/7+vÖ~\"<&z \\%41J=kW";

fn percent(text: &str, kept: &[u8], upper: bool) -> String {
    let one = |byte: u8| match byte {
        byte if byte.is_ascii_alphanumeric() || kept.contains(&byte) => char::from(byte).to_string(),
        byte if upper => format!("%{byte:02X}"),
        byte => format!("%{byte:02x}"),
    };
    text.bytes().map(one).collect()
}

/// The secret in each encoding, with a name.
fn encodings(secret: &str) -> Vec<(&'static str, String)> {
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    let json = json!(secret).to_string();
    let login = format!("ada:{secret}");
    let spaced: String = secret.chars().map(|one| format!("{one}\n")).collect();
    vec![
        ("raw", secret.to_owned()),
        ("percent", percent(secret, b"", true)),
        ("percent, slash kept, upper", percent(secret, b"/", true)),
        ("percent, slash kept, lower", percent(secret, b"/", false)),
        ("percent, much kept", percent(secret, b"/-._~!$&'()*,;=:@", true)),
        ("form", percent(secret, b"*-._", true).replace("%20", "+")),
        ("twice", percent(&percent(secret, b"/", false), b"", true)),
        ("base64", STANDARD.encode(secret)),
        ("base64 of the login", STANDARD.encode(&login)),
        ("base64 at another alignment", STANDARD.encode(format!("ab:{secret}"))),
        ("base64 at the third alignment", STANDARD.encode(format!("a:{secret}"))),
        ("base64 for addresses", URL_SAFE_NO_PAD.encode(&login)),
        ("base64 for addresses, percent", percent(&URL_SAFE_NO_PAD.encode(&login), b"", false)),
        ("JSON", json[1..json.len() - 1].to_owned()),
        ("JSON, all escaped", secret.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()),
        ("JSON, slash escaped", json[1..json.len() - 1].replace('/', "\\/")),
        ("HTML", html.clone()),
        ("HTML by numbers", secret.chars().map(|one| format!("&#{};", u32::from(one))).collect()),
        ("HTML in percent", percent(&html, b"/", true)),
        ("a letter a line", spaced),
        ("hexadecimal", secret.bytes().map(|byte| format!("{byte:02x}")).collect()),
    ]
}

/// Every verb that shows a credential.
const VERBS: [&str; 5] = [
    "versions REGISTRY/acme/widget",
    "auth explain REGISTRY/acme/widget",
    "login REGISTRY",
    "push dist REGISTRY/acme/widget --address registry.example.com/acme/widget",
    "copy REGISTRY/acme/widget oci:layout --version 1.4.0",
];

fn scene(registry: RegistryBuilder, secret: &str) -> Scene {
    let scene = Scene::with(registry);
    scene.dist("dist", "1.4.0");
    let login = json!({"auths": {scene.registry.address(): {"auth": STANDARD.encode(format!("ada:{secret}"))}}});
    scene.context.write_home(".docker/config.json", login.to_string());
    scene
}

/// Runs the verbs in both ways of telling; no piece of what was echoed is said.
#[track_caller]
fn check(scene: &Scene, name: &str, echoed: &str, verbs: &[&str]) -> String {
    // A piece of the secret: long enough to rule out chance, and from its middle, which every alignment leaves intact.
    let letters: Vec<char> = echoed.chars().filter(|one| !one.is_whitespace()).collect();
    let middle = letters.len() / 2;
    let piece: String = letters[middle.saturating_sub(3)..(middle + 3).min(letters.len())].iter().collect();
    let mut all = String::new();
    for verb in verbs {
        for options in ["--attempts 1 -vvv", "--attempts 1 --json"] {
            let line = if verb.starts_with("login") { (*verb).to_owned() } else { format!("{verb} {options}") };
            let said = scene.run(&line);
            for stream in [&said.stdout, &said.stderr] {
                let bare: String = stream.chars().filter(|one| !one.is_whitespace()).collect();
                let unescaped = bare.replace("\\\\", "\\").replace("\\\"", "\"");
                assert!(
                    !bare.contains(&piece) && !unescaped.contains(&piece),
                    "{name}: {piece} was said by {line}\n{}",
                    said.text
                );
            }
            all.push_str(&said.text);
        }
    }
    all
}

fn basic(secret: &str) -> RegistryBuilder {
    Registry::builder().auth(Auth::Basic(Login::new("ada", secret)))
}

#[test]
fn an_echo_of_the_registry_is_masked_in_every_encoding() {
    for (name, echoed) in encodings(SECRET) {
        let scene = scene(basic(SECRET), SECRET);
        let shown = Rule::when(|request| request.headers.contains_key("authorization"));
        let answer = Answer::error(403, "DENIED", &format!("no access with {echoed} here"));
        scene.registry.fault(shown.then(Fault::Answer(answer)));
        let said = check(&scene, name, &echoed, &VERBS);
        assert!(said.contains("no access with"), "{name}: nothing is quoted here: {said}");
    }
}

#[test]
fn an_echo_in_headers_is_masked() {
    for (name, echoed) in encodings(SECRET) {
        if !echoed.is_ascii() || echoed.contains(['\n', '"']) {
            continue;
        }
        let challenge = format!("Basic realm=\"r\", error=\"invalid\", error_description=\"bad {echoed} here\"");
        let warning = format!("299 - \"bad {echoed} here\"");
        for (status, header, value) in [
            (401, "WWW-Authenticate", challenge),
            (403, "Warning", warning),
            (307, "Location", format!("http://h.example.test/x/{echoed}/y")),
        ] {
            let scene = scene(basic(SECRET), SECRET);
            let shown = Rule::when(|request| request.headers.contains_key("authorization"));
            scene
                .registry
                .fault(shown.then(Fault::Answer(Answer::error(status, "DENIED", "no").header(header, value))));
            check(&scene, name, &echoed, &VERBS[..2]);
        }
    }
}

#[test]
fn an_echo_of_the_token_server_is_masked() {
    for (name, echoed) in encodings(SECRET) {
        let bearer = Registry::builder().auth(Auth::Bearer(Bearer::new(Login::new("ada", SECRET))));
        let scene = scene(bearer, SECRET);
        let body = json!({"errors": [{"code": "DENIED", "message": format!("bad {echoed} here")}], "details": echoed});
        scene.registry.fault(Rule::on("*", "/token*").then(Fault::Answer(Answer::new(401).body(body.to_string()))));
        let said = check(&scene, name, &echoed, &VERBS[..2]);
        assert!(said.contains("bad "), "{name}: nothing is quoted here: {said}");
    }
}

#[test]
fn an_echo_that_is_cut_off_is_masked() {
    // A registry's words are cut after 300 characters: only the beginning of the secret is left.
    let secret = "Kq7-vX2-mN9-pL4";
    for before in 280..300 {
        let scene = scene(basic(secret), secret);
        let shown = Rule::when(|request| request.headers.contains_key("authorization"));
        let text = format!("{} {secret} here", "x".repeat(before));
        scene.registry.fault(shown.then(Fault::Answer(Answer::error(403, "DENIED", &text))));
        let said = scene.run("versions REGISTRY/acme/widget -vvv");
        assert!(said.stderr.contains("xxxx") && !said.stderr.contains("Kq7-"), "{before}: {}", said.text);
    }
}

#[test]
fn a_text_with_a_short_secret_is_not_repeated() {
    let scene = scene(basic("q7"), "q7");
    let shown = Rule::when(|request| request.headers.contains_key("authorization"));
    scene.registry.fault(shown.then(Fault::Answer(Answer::error(403, "DENIED", "unseq7n words"))));
    let said = scene.run("versions REGISTRY/acme/widget");
    assert!(said.stderr.contains("[hidden]"), "{}", said.text);
    assert!(!said.stderr.contains("unse") && !said.stderr.contains("n words"), "{}", said.text);
}

#[test]
fn nothing_that_a_failing_helper_prints_is_repeated() {
    for text in ["hunter", "the login is hunter", "correct horse battery staple", "gpg: decryption failed: hunter"] {
        let mut scene = Scene::with(basic(SECRET));
        scene.dist("dist", "1.4.0");
        scene.helper("leaky", &format!("echo '{text}'; echo '{text}' >&2; exit 3"));
        let config = json!({"credHelpers": {scene.registry.address(): "leaky"}});
        scene.context.write_home(".docker/config.json", config.to_string());
        for line in [
            "versions REGISTRY/acme/widget -vvv",
            "versions REGISTRY/acme/widget --json",
            "auth explain REGISTRY/acme/widget",
            "auth explain REGISTRY/acme/widget --json",
            "logout REGISTRY",
            &format!("install {WIDGET} --from REGISTRY/acme/widget"),
        ] {
            let said = scene.run(line);
            let all = format!("{}{}", said.stdout, said.stderr);
            assert!(
                !all.contains("hunter") && !all.contains("horse") && all.contains("exit status 3"),
                "{line}: {}",
                said.text
            );
            assert_eq!(all.contains("gpg: decryption failed"), text.starts_with("gpg"), "{line}: {}", said.text);
        }
        let said = scene.output(scene.command("login REGISTRY --username ada --password-stdin").stdin({
            let path = scene.context.write("password", "hunter-two-secret\n");
            std::fs::File::open(path).expect("it was written")
        }));
        assert!(!said.text.contains("hunter"), "{}", said.text);
    }
}
