//! Who is admitted, and what a link opens.

use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::AUTHORIZATION;
use http::{Request, Uri};
use proptest::prelude::*;
use tofu_oci_types::{ModuleAddr, ProviderAddr, Secret};

use super::*;

const ZIP: &str = "/mirror/registry.acme.example/acme/zap/terraform-provider-zap_1.2.0+b.1_linux_amd64.zip";

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_767_268_830)
}

fn later(seconds: u64) -> SystemTime {
    now() + Duration::from_secs(seconds)
}

fn rule(name: &str, token: &str, pattern: &str) -> ClientRule {
    ClientRule {
        name: name.parse().unwrap(),
        token: TokenDigest::of(&Secret::new(token)),
        providers: vec![pattern.parse().unwrap()],
        modules: Vec::new(),
    }
}

fn secret(text: &str) -> LinkOptions {
    LinkOptions { secret: Secret::new(text), ..LinkOptions::default() }
}

fn access() -> ClientAccess {
    let rules = [
        rule("ci", "ci-old", "registry.acme.example/acme/*"),
        rule("ci", "ci-new", "registry.acme.example/acme/*"),
        rule("ops", "ops-token", "*/*/*"),
    ];
    ClientAccess::new(rules.into(), LinkOptions::default(), Predecessors::default())
}

#[test]
fn rights_are_not_gone_around_under_the_host_of_a_predecessor() {
    let known: Predecessors = ["a.example=b.example".parse().unwrap()].into_iter().collect();
    let rules = vec![
        ClientRule { modules: vec!["a.example/*/*/*".parse().unwrap()], ..rule("one", "one", "a.example/acme/*") },
        ClientRule { modules: vec!["*/*/*/*".parse().unwrap()], ..rule("both", "both", "*/*/*") },
    ];
    let access = ClientAccess::new(rules, LinkOptions::default(), known);
    let asks = |token: &str, address: ServedAddress| {
        outcome(access.admit_at(&request("/", &[&format!("Bearer {token}")]), Some(&address), now()))
    };
    for host in ["a.example", "b.example"] {
        let provider = || format!("{host}/acme/zap").parse::<ProviderAddr>().unwrap();
        let module = || format!("{host}/acme/net/aws").parse::<ModuleAddr>().unwrap();
        assert_eq!(asks("one", provider().into()), "403 client-not-allowed", "{host}");
        assert_eq!(asks("one", module().into()), "403 client-not-allowed", "{host}");
        assert_eq!((asks("both", provider().into()), asks("both", module().into())), ("both".into(), "both".into()));
    }
    let denied = access
        .admit(&request("/", &["Bearer one"]), Some(&"a.example/acme/zap".parse::<ProviderAddr>().unwrap().into()));
    let text = "the client one may not use b.example/acme/zap: no pattern of its `providers` matches";
    assert_eq!(denied.unwrap_err().to_string(), text);
}

fn zap() -> ProviderAddr {
    "registry.acme.example/acme/zap".parse().unwrap()
}

fn request(uri: &str, authorization: &[&str]) -> Parts {
    let uri: Uri = uri.parse().unwrap();
    let mut request = Request::get(with_query(&uri).unwrap_or(uri));
    for value in authorization {
        request = request.header(AUTHORIZATION, *value);
    }
    request.body(()).unwrap().into_parts().0
}

fn basic(login: &str) -> String {
    format!("Basic {}", STANDARD.encode(login))
}

fn outcome(result: Result<Admitted, AccessError>) -> String {
    match result {
        Ok(admitted) => admitted.name().map_or_else(|| "anyone".to_owned(), ToString::to_string),
        Err(denied) => format!("{} {}", denied.status().as_u16(), denied.code()),
    }
}

#[track_caller]
fn check(authorization: &[&str], address: Option<&str>, want: &str) {
    let address: Option<ProviderAddr> = address.map(|address| address.parse().unwrap());
    assert_eq!(
        outcome(access().admit_at(&request("/", authorization), address.map(Into::into).as_ref(), now())),
        want,
        "{authorization:?}"
    );
}

/// The link that a client with this token gets for a path.
fn link(access: &ClientAccess, token: &str, path: &str) -> String {
    let client = access.admit_at(&request("/", &[&format!("Bearer {token}")]), None, now()).unwrap();
    access.link_at(&client, path, now())
}

#[track_caller]
fn check_link(uri: &str, when: SystemTime, want: &str) {
    assert_eq!(outcome(access().admit_at(&request(uri, &[]), Some(&zap().into()), when)), want, "{uri}");
}

#[test]
fn clients_are_known_by_their_tokens() {
    let own = Some("registry.acme.example/acme/zap");
    check(&["Bearer ci-new"], own, "ci");
    check(&["Bearer ci-old"], own, "ci");
    check(&["bearer  ci-new "], own, "ci");
    check(&["Bearer ops-token"], own, "ops");
    check(&["Bearer ops-token"], None, "ops");
    check(&[&basic("ci:ci-new")], own, "ci");
    check(&[&basic("anyone:ci-new")], own, "ci");
    check(&[&basic(":ci-new")], own, "ci");
    check(&[], own, "401 token-missing");
    check(&[], None, "401 token-missing");
    check(&["Bearer ci-ne"], own, "401 token-unknown");
    check(&["Bearer ci-new2"], own, "401 token-unknown");
    check(&[&basic("ci-new:")], own, "401 authorization-malformed");
    check(&[&basic("ci-new")], own, "401 authorization-malformed");
    check(&["Basic *"], own, "401 authorization-malformed");
    check(&["Bearer"], own, "401 authorization-malformed");
    check(&["Bearer "], own, "401 authorization-malformed");
    check(&["Digest ci-new"], own, "401 authorization-malformed");
    check(&["ci-new"], own, "401 authorization-malformed");
    check(&["Bearer ci-new", "Bearer ci-new"], own, "401 authorization-malformed");
}

#[test]
fn the_checksum_of_a_token_is_no_token() {
    let digest = TokenDigest::of(&Secret::new("ci-new"));
    check(&[&format!("Bearer {}", digest.expose())], None, "401 token-unknown");
}

#[test]
fn a_client_sees_what_its_patterns_match() {
    check(&["Bearer ci-new"], Some("registry.acme.example/other/zap"), "403 client-not-allowed");
    check(&["Bearer ci-new"], Some("registry.terraform.io/acme/zap"), "403 client-not-allowed");
    check(&["Bearer ops-token"], Some("registry.terraform.io/acme/zap"), "ops");
    let none = ClientAccess::new(
        vec![ClientRule { providers: vec![], ..rule("ci", "t", "*/*/*") }],
        LinkOptions::default(),
        Predecessors::default(),
    );
    let admitted = none.admit_at(&request("/", &["Bearer t"]), None, now()).unwrap();
    assert!(!admitted.may_see(&zap().into()));
}

#[test]
fn without_clients_everyone_is_admitted_and_no_link_is_signed() {
    let open = ClientAccess::new(vec![], LinkOptions::default(), Predecessors::default());
    let admitted = open.admit_at(&request("/", &["Bearer wrong"]), Some(&zap().into()), now()).unwrap();
    assert!(!open.is_restricted() && admitted.may_see(&zap().into()));
    assert_eq!((open.link(&admitted, ZIP), outcome(Ok(admitted))), (ZIP.to_owned(), "anyone".to_owned()));
}

#[test]
fn the_form_of_a_link_stays() {
    // Instances of two releases of this program must understand each other's links.
    let signature = "BS1SG4QMUOdebaplXiJY81-Rjha-G08WsirDYTZUiLY";
    let (folder, file) = ZIP.rsplit_once('/').unwrap();
    assert_eq!(link(&access(), "ci-new", ZIP), format!("{folder}/~1767269760~ci~{signature}/{file}"));
    // The same as a query.
    check_link(&format!("{ZIP}?expires=1767269760&client=ci&signature={signature}"), now(), "ci");
}

#[test]
fn a_link_opens_its_path_until_it_expires() {
    let link = link(&access(), "ci-new", ZIP);
    check_link(&link, now(), "ci");
    check_link(&link, later(15 * 60), "ci");
    // One minute for clocks that differ.
    check_link(&link, later(15 * 60 + 90), "ci");
    check_link(&link, later(15 * 60 + 91), "403 link-expired");
}

#[test]
fn a_client_without_a_link_secret_made_itself_a_link_for_thirty_years() {
    let made_by_itself = |seconds: u64| {
        let key = LinkKey::derived(&Secret::new(""), &TokenDigest::of(&Secret::new("ci-new")));
        key.link(&"ci".parse().unwrap(), ZIP, links::expiry(later(seconds), Duration::ZERO))
    };
    check_link(&made_by_itself(30 * 365 * 86_400), now(), "403 link-invalid");
    check_link(&made_by_itself(15 * 60), now(), "ci");
    // The clock of the instance that made it may be a minute ahead.
    check_link(&made_by_itself(16 * 60), now(), "ci");
    check_link(&made_by_itself(17 * 60), now(), "403 link-invalid");
    // One whose clock is far behind does not know how long a link is good.
    check_link(&link(&access(), "ci-new", ZIP), UNIX_EPOCH, "403 link-invalid");
    let longer = LinkOptions { lifetime: Duration::from_hours(1), ..LinkOptions::default() };
    let access = ClientAccess::new(vec![rule("ci", "ci-new", "*/*/*")], longer, Predecessors::default());
    let asked = request(&made_by_itself(3600), &[]);
    assert_eq!(outcome(access.admit_at(&asked, Some(&zap().into()), now())), "ci");
}

#[test]
fn the_link_of_a_module_expires_and_opens_no_other_module() {
    const MODULE: &str = "/modules/registry.acme.example/acme/network/aws/1.0.0/network-aws_1.0.0.zip";
    let rule =
        ClientRule { modules: vec!["registry.acme.example/*/*/*".parse().unwrap()], ..rule("ci", "ci", "*/*/*") };
    let access = ClientAccess::new(vec![rule], LinkOptions::default(), Predecessors::default());
    let address: ModuleAddr = "registry.acme.example/acme/network/aws".parse().unwrap();
    let link = link(&access, "ci", MODULE);
    let opens = |uri: &str, when| outcome(access.admit_at(&request(uri, &[]), Some(&(&address).into()), when));
    assert_eq!(opens(&link, now()), "ci");
    assert_eq!(opens(&format!("{link}?checksum=sha256:00"), now()), "ci");
    assert_eq!(opens(&link, later(15 * 60 + 91)), "403 link-expired");
    for (from, to) in
        [("network", "dns"), ("1.0.0", "1.1.0"), ("/aws/", "/gcp/"), ("registry.acme", "evil"), ("modules", "module")]
    {
        assert_eq!(opens(&link.replace(from, to), now()), "403 link-invalid", "{to}");
    }
}

#[test]
fn links_made_within_a_minute_are_equal() {
    let access = access();
    let client = access.admit_at(&request("/", &["Bearer ci-new"]), None, now()).unwrap();
    let at = |seconds| access.link_at(&client, ZIP, later(seconds));
    assert_eq!(at(0), at(29));
    assert_ne!(at(0), at(31));
}

#[test]
fn a_link_opens_nothing_else() {
    let link = link(&access(), "ci-new", ZIP);
    let bad = "403 link-invalid";
    check_link(&link.replace("amd64", "arm64"), now(), bad);
    check_link(&format!("{link}/"), now(), "401 token-missing");
    check_link(&link.replace("/acme/zap/", "/acme%2Fzap/"), now(), bad);
    check_link(&link.replace("/mirror", ""), now(), bad);
    for (from, to) in [
        ("~1767269760~", "~1767269761~"),
        ("~1767269760~", "~%2B1767269760~"),
        ("~1767269760~", "~99999999999999999999~"),
        ("~1767269760~", "~~"),
        ("~ci~", "~ops~"),
        ("~ci~", "~other~"),
        ("~ci~", "~~"),
        ("/terraform", "A/terraform"),
        ("LY/terraform", "L/terraform"),
    ] {
        assert_ne!(link.replace(from, to), link, "{from}");
        check_link(&link.replace(from, to), now(), bad);
    }
    for more in ["client=ci", "expires=1"] {
        check_link(&format!("{link}?{more}"), now(), bad);
    }
    // Without its first mark, or without a member, it is a folder that is not there.
    for (from, to) in [("/~17", "/17"), ("~ci~", "~")] {
        check_link(&link.replace(from, to), now(), "401 token-missing");
    }
    check_link(ZIP, now(), "401 token-missing");
}

#[test]
fn the_spelling_of_a_link_is_free() {
    let link = link(&access(), "ci-new", ZIP);
    check_link(&link.replacen('+', "%2B", 1), now(), "ci");
    check_link(&link.replacen("zap", "%7Aap", 1), now(), "ci");
    check_link(&link.replace("~ci~", "%7E%63i~"), now(), "ci");
    check_link(&format!("{link}?archive=zip"), now(), "ci");
    let uri = with_query(&link.parse().unwrap()).unwrap();
    let reversed: Vec<&str> = uri.query().unwrap().split('&').rev().collect();
    check_link(&format!("{}?{}", uri.path(), reversed.join("&")), now(), "ci");
}

#[test]
fn a_link_ends_with_its_token_and_with_its_pattern() {
    let link = link(&access(), "ci-old", ZIP);
    check_link(&link, now(), "ci");
    let after = |rules: Vec<ClientRule>| {
        outcome(ClientAccess::new(rules, LinkOptions::default(), Predecessors::default()).admit_at(
            &request(&link, &[]),
            Some(&zap().into()),
            now(),
        ))
    };
    let kept = |pattern| rule("ci", "ci-old", pattern);
    assert_eq!(after(vec![kept("registry.acme.example/*/*")]), "ci");
    assert_eq!(after(vec![rule("ci", "ci-new", "*/*/*")]), "403 link-invalid");
    assert_eq!(after(vec![kept("registry.acme.example/other/*")]), "403 client-not-allowed");
    assert_eq!(after(vec![rule("renamed", "ci-old", "*/*/*")]), "403 link-invalid");
}

#[test]
fn instances_with_one_secret_share_links() {
    let with =
        |text: &str| ClientAccess::new(vec![rule("ci", "ci-new", "*/*/*")], secret(text), Predecessors::default());
    let link = link(&with("one"), "ci-new", ZIP);
    let at = |access: &ClientAccess| outcome(access.admit_at(&request(&link, &[]), Some(&zap().into()), now()));
    assert_eq!(at(&with("one")), "ci");
    assert_eq!(at(&with("two")), "403 link-invalid");
    assert_eq!(at(&with("")), "403 link-invalid");
}

#[test]
fn a_good_token_counts_beside_a_bad_link_and_a_good_link_beside_a_bad_token() {
    let link = link(&access(), "ci-new", ZIP);
    let at = |uri: &str, authorization: &str| {
        outcome(access().admit_at(&request(uri, &[authorization]), Some(&zap().into()), now()))
    };
    let bad = link.replace("/terraform", "A/terraform");
    assert_eq!(at(&bad, "Bearer ops-token"), "ops");
    assert_eq!(at(&link, "Bearer wrong"), "ci");
    assert_eq!(at(&bad, "Bearer wrong"), "403 link-invalid");
}

#[test]
fn no_secret_is_printed() {
    let access = ClientAccess::new(vec![rule("ci", "hunter2", "*/*/*")], secret("trumpet"), Predecessors::default());
    let digest = TokenDigest::of(&Secret::new("hunter2"));
    let admitted = access.admit_at(&request("/", &["Bearer hunter2"]), None, now());
    let denied =
        access.admit_at(&request("/?signature=trumpet&client=hunter2&expires=1", &["Bearer trumpet"]), None, now());
    let new = NewToken::generate();
    for text in [
        format!("{access:?}"),
        format!("{admitted:?}"),
        format!("{denied:?} {}", denied.as_ref().unwrap_err()),
        format!("{new:?}"),
    ] {
        for secret in ["hunter2", "trumpet", digest.expose(), new.token.expose(), new.digest.expose()] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}

#[test]
fn a_new_token_is_known_by_its_checksum() {
    let (one, other) = (NewToken::generate(), NewToken::generate());
    assert_ne!(one.token, other.token);
    assert_eq!(one.digest.expose().parse::<TokenDigest>().unwrap(), TokenDigest::of(&one.token));
    let rule = ClientRule { token: one.digest, ..rule("ci", "", "*/*/*") };
    let access = ClientAccess::new(vec![rule], LinkOptions::default(), Predecessors::default());
    let bearer = format!("Bearer {}", one.token.expose());
    assert_eq!(outcome(access.admit(&request("/", &[&bearer]), None)), "ci");
    assert!(one.token.expose().bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
    assert_eq!(one.token.expose().len(), "tofuoci_".len() + 43);
}

#[test]
fn names_and_checksums_have_one_form() {
    for name in ["ci", "build-7", "a.b_c", &"a".repeat(64)] {
        assert!(name.parse::<ClientName>().is_ok(), "{name}");
    }
    for name in ["", "a b", "a&b", "ü", "a\n", &"a".repeat(65)] {
        assert!(name.parse::<ClientName>().is_err(), "{name}");
    }
    let digits = "AB".repeat(32);
    assert_eq!(digits.parse::<TokenDigest>().unwrap().expose(), digits.to_lowercase());
    for text in ["", "ab", &"g".repeat(64), &format!("sha256:{digits}")] {
        assert_eq!(text.parse::<TokenDigest>(), Err(InvalidTokenDigest), "{text}");
    }
}

#[test]
fn a_401_says_how_to_authenticate_and_a_403_does_not() {
    let challenges =
        |denied: AccessError| (denied.status().as_u16(), denied.challenges().len(), denied.client().is_some());
    assert_eq!(challenges(AccessError::NoToken), (401, 2, false));
    assert_eq!(challenges(AccessError::UnknownToken), (401, 2, false));
    assert_eq!(challenges(AccessError::BadLink), (403, 0, false));
    let client: ClientName = "ci".parse().unwrap();
    assert_eq!(challenges(AccessError::ExpiredLink { client: client.clone() }), (403, 0, true));
    assert_eq!(challenges(AccessError::NotAllowed { client, address: zap().into() }), (403, 0, true));
}

proptest! {
    /// A link opens a path exactly if it was made for it.
    #[test]
    fn links_open_the_path_that_they_were_made_for(
        made in "/[a-z0-9._+~-]{1,12}(/[a-z0-9._+~-]{1,12}){0,3}",
        asked in "/[a-z0-9._+~-]{1,12}(/[a-z0-9._+~-]{1,12}){0,3}",
    ) {
        // No path of the bridge has a segment that reads as a link.
        prop_assume!([&made, &asked].iter().all(|path| with_query(&path.parse().unwrap()).is_none()));
        let access = access();
        let link = with_query(&link(&access, "ops-token", &made).parse().unwrap()).unwrap();
        let query = link.query().unwrap();
        let opened = |path: &str| access.admit_at(&request(&format!("{path}?{query}"), &[]), None, now()).is_ok();
        prop_assert!(opened(&made));
        prop_assert_eq!(opened(&asked), asked == made);
    }

    /// A link of which one character was changed opens nothing.
    #[test]
    fn a_changed_link_opens_nothing(at in 0..200_usize, to in "[A-Za-z0-9_-]") {
        let access = access();
        let link = link(&access, "ops-token", ZIP);
        let at = at % link.len();
        let changed = format!("{}{to}{}", &link[..at], &link[at + 1..]);
        prop_assume!(changed != link && changed.starts_with('/'));
        let found = access.admit_at(&request(&changed, &[]), Some(&zap().into()), now());
        prop_assert!(found.is_err(), "{}", changed);
    }

    /// No query makes a panic or admits anyone.
    #[test]
    fn a_made_up_query_opens_nothing(query in "[a-z0-9=&%+._-]{0,80}") {
        let uri = format!("{ZIP}?{query}&signature=AAAA&client=ci&expires=99999999999");
        prop_assert!(access().admit_at(&request(&uri, &[]), Some(&zap().into()), now()).is_err());
    }
}
