//! Differences on the wire, one by one, named after the measured cases that they come from.

use tofu_oci_types::RepositoryRef;

use super::challenge::{self, Scheme};
use super::{HeldCredential, Ping, Redirect, Redirector, WireFacts, wire_differences};

const BEARER: &str = r#"Bearer realm="https://auth.example/token",service="svc",scope="repository:a/b/c:pull""#;
const BASIC: &str = r#"Basic realm="x""#;

fn facts(challenges: &[&str], held: Option<HeldCredential>) -> WireFacts {
    WireFacts {
        repository: RepositoryRef::from_opentofu("r.example/a/b/c").expect("a repository"),
        challenges: challenges.iter().map(|line| (*line).to_owned()).collect(),
        refused: None,
        ping: None,
        redirects: Vec::new(),
        held,
    }
}

#[track_caller]
fn check(facts: &WireFacts, want: &[&str]) {
    let got: Vec<String> =
        wire_differences(facts).into_iter().map(|it| format!("{}: {}", it.releases, it.text)).collect();
    assert_eq!(got, want);
}

const PASSWORD: Option<HeldCredential> = Some(HeldCredential::Password);

#[test]
fn nothing_differs_on_the_straight_way() {
    for challenges in [&[][..], &[BASIC], &[BEARER], &[BASIC, BEARER], &["bEARER realm=\"https://a.example/\""]] {
        check(&facts(challenges, PASSWORD), &[]);
        check(&facts(challenges, None), &[]);
    }
}

#[test]
fn up_to_1_12_the_ping_decides() {
    let ping = |status, line: &str, challenges: &[&str], held| WireFacts {
        ping: Some(Ping { status, challenges: if line.is_empty() { vec![] } else { vec![line.to_owned()] } }),
        ..facts(challenges, held)
    };
    check(&ping(200, "", &[BEARER], PASSWORD), &[]);
    check(
        &ping(404, "", &[BASIC], PASSWORD),
        &["1.10 to 1.12: it asks for /v2/ first and takes its 404 for an unknown provider"],
    );
    check(&ping(500, "", &[BASIC], PASSWORD), &["1.10 to 1.12: it asks for /v2/ first and gives up at its status 500"]);
    check(&ping(403, "", &[BASIC], None), &["1.10 to 1.12: it asks for /v2/ first and gives up at its status 403"]);
    for line in ["", "Negotiate"] {
        let want =
            "1.10 to 1.12: it asks for /v2/ first and gives up at its 401, which names no way to log in that it knows";
        check(&ping(401, line, &[BASIC], PASSWORD), &[want]);
    }
    check(&ping(401, BASIC, &[BASIC], PASSWORD), &[]);
    check(
        &ping(401, BASIC, &[BASIC], None),
        &["1.10 to 1.12: it asks for /v2/ first, which demands a password, and gives up"],
    );
    check(
        &ping(401, BASIC, &[], None),
        &["1.10 to 1.12: it asks for /v2/ first, which demands a password, while a pull demands nothing, and gives up"],
    );
    check(
        &ping(401, BASIC, &[], PASSWORD),
        &[
            "1.10 to 1.12: it asks for /v2/ first, which demands access, while a pull demands nothing, and sends the credential there",
        ],
    );
    check(
        &ping(401, BEARER, &[], None),
        &[
            "1.10 to 1.12: it asks for /v2/ first, which demands access, while a pull demands nothing, and sends an anonymous token there",
        ],
    );
    check(
        &ping(401, BEARER, &[BEARER], None),
        &["1.10 to 1.12: it fetches two tokens for each repository, one of them for /v2/"],
    );
    let helper = Some(HeldCredential::PasswordFromHelper);
    check(
        &ping(401, BEARER, &[BEARER], helper),
        &["1.10 to 1.12: it fetches two tokens for each repository, one of them for /v2/ and asks the helper twice"],
    );
}

#[test]
fn only_the_first_challenge_counts() {
    let first =
        "1.10 to 1.13: it looks at the first challenge alone, whose scheme it does not know, so that the 401 stands";
    check(&facts(&["Negotiate", BASIC], PASSWORD), &[first]);
    check(&facts(&[r#"Digest realm="Basic, Bearer", Basic realm="x""#], PASSWORD), &[first]);
    check(&facts(&[r#"Digest realm="a, Basic""#, "Negotiate"], PASSWORD), &[]);
    let unquoted = "1.10 to 1.13: it reads a realm without quotes up to its first `:` and fails";
    check(&facts(&["Bearer realm=https://auth.example:5001/token,service=svc"], PASSWORD), &[unquoted]);
    check(&facts(&["Bearer service=x, realm=token"], PASSWORD), &[]);
    let scopes = "1.10 to 1.13: it joins the scopes of the challenge to its own, sends each request bare first and repeats it with the token";
    let wide = r#"Bearer realm="https://a.example/",scope="repository:a/b/c:pull,push registry:catalog:*""#;
    check(&facts(&[wide], PASSWORD), &[scopes]);
    check(&facts(&[r#"Bearer realm="https://a.example/",scope="repository:other:pull""#], None), &[scopes]);
}

#[test]
fn realms_that_are_refused_here() {
    let refused = |code: &str, held| WireFacts { refused: Some(code.to_owned()), ..facts(&[BEARER], held) };
    check(
        &refused("realm-downgrade", PASSWORD),
        &["1.10: it follows the challenge to the http:// token server and sends it the password"],
    );
    check(
        &refused("realm-downgrade", None),
        &["1.10: it follows the challenge to the http:// token server and asks it for an anonymous token"],
    );
    check(
        &refused("realm-private-address", PASSWORD),
        &["1.10: it follows the challenge to the token server at a private address and sends it the password"],
    );
    let token = Some(HeldCredential::RegistryToken);
    check(
        &refused("realm-private-address", token),
        &[
            "1.10: it follows the challenge to the token server at a private address and sends the access token to the registry all the same",
        ],
    );
    check(
        &refused("realm-other-site", PASSWORD),
        &["1.10 to 1.13: it takes the token server of another site and sends it the password"],
    );
    check(
        &refused("realm-user-info", None),
        &["1.10 to 1.13: it takes a realm with user information and logs in there with the user information"],
    );
    check(
        &refused("realm-user-info", PASSWORD),
        &["1.10 to 1.13: it takes a realm with user information and logs in there with the credential"],
    );
    check(&refused("realm-scheme", PASSWORD), &[]);
}

#[test]
fn redirects() {
    let redirect = |by, from: &str, to: &str, held| WireFacts {
        redirects: vec![Redirect { by, from: from.to_owned(), to: to.to_owned() }],
        ..facts(&[BEARER], held)
    };
    let token = |to: &str, held| redirect(Redirector::TokenServer, "https://Auth.example/token?x=1", to, held);
    check(&token("https://auth.example:443/token2", PASSWORD), &[]);
    check(&token("https://other.example/?secret=hunter2", None), &[]);
    check(
        &token("https://u:hunter2@other.example/?secret=hunter2", PASSWORD),
        &[
            "1.10 to 1.13: it follows the token server's redirect to https://other.example without the credential and uses the anonymous token silently",
        ],
    );
    for (to, origin) in
        [("https://auth.example:5000/t", "https://auth.example:5000"), ("http://auth.example/t", "http://auth.example")]
    {
        check(
            &token(to, PASSWORD),
            &[
                &format!("1.10: it follows the token server's redirect to {origin} and sends the password there"),
                &format!(
                    "1.12 and 1.13: it follows the token server's redirect to {origin} without the credential and uses the anonymous token silently"
                ),
            ],
        );
    }
    check(&token("https://other.example/", Some(HeldCredential::RegistryToken)), &[]);
    let blob = |to: &str| redirect(Redirector::Registry, "https://r.example/v2/a/b/c/blobs/x", to, PASSWORD);
    check(&blob("https://cdn.example/x"), &[]);
    check(&blob("https://r.example/x"), &[]);
    check(
        &blob("http://r.example/x"),
        &["1.10: it follows the registry's redirect to http://r.example and sends the credential there"],
    );
    check(&blob("ftp://r.example/x"), &[]);
}

#[test]
fn identity_tokens() {
    check(
        &facts(&[BEARER], Some(HeldCredential::IdentityToken)),
        &["1.10 to 1.13: it passes the identity token over: it reads `auth` alone"],
    );
    check(
        &facts(&[BEARER], Some(HeldCredential::IdentityTokenFromHelper)),
        &["1.10 to 1.13: it takes a helper's `<token>` for an error"],
    );
}

#[test]
fn challenges_are_read_as_oras_reads_them() {
    #[track_caller]
    fn check(line: &str, scheme: Scheme, scopes: &[&str]) {
        let challenge = challenge::first(&[line.to_owned()]).expect("a challenge");
        assert_eq!(
            (challenge.scheme, challenge.scopes.as_slice()),
            (scheme, &scopes.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..])
        );
    }
    check("Basic", Scheme::Basic, &[]);
    check("", Scheme::Other, &[]);
    check("Negotiate, Basic", Scheme::Other, &[]);
    check("BEARER  realm = \"a\\\"b\" ,scope=\"x  y\"", Scheme::Bearer, &["x", "y"]);
    check("Bearer scope=a,scope=b", Scheme::Bearer, &["b"]);
    check("Bearer realm=\"open, scope=a", Scheme::Bearer, &[]);
    check("Bearer realm, scope=a", Scheme::Bearer, &[]);
}
