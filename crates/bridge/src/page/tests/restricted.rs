use tofu_oci_types::Secret;

use super::*;

const TOKEN: &str = "a-token-of-the-tests-0123456789";

fn client(pattern: &str) -> ClientRule {
    ClientRule {
        name: "ci".parse().unwrap(),
        token: TokenDigest::of(&Secret::new(TOKEN)),
        providers: vec![pattern.parse().unwrap()],
        modules: Vec::new(),
    }
}

async fn get_as(bridge: &Arc<Bridge>, path: &str, token: &str) -> ShownPage {
    use base64::Engine as _;
    let login = base64::engine::general_purpose::STANDARD.encode(format!("anyone:{token}"));
    let request = Request::get(path).header(header::AUTHORIZATION, format!("Basic {login}"));
    ask(bridge, request.body(Body::empty()).unwrap()).await
}

#[tokio::test]
async fn with_restricted_access_a_browser_is_asked_for_a_login() {
    let bridge = bridge("https://p.example/", repository().await, vec![client(ADDRESS)]);
    for path in ["/", "/providers/registry.acme.example/acme/widget", "/providers/registry.acme.example/no/such"] {
        for seen in [get(&bridge, path).await, get_as(&bridge, path, "wrong").await] {
            assert_eq!(seen.status, StatusCode::UNAUTHORIZED, "{path}");
            let mut challenges = seen.headers.get_all(header::WWW_AUTHENTICATE).iter();
            assert!(challenges.any(|one| one.to_str().unwrap().starts_with("Basic ")), "{path}");
            assert!(!seen.html.contains("widget"), "{path}: {}", seen.html);
        }
    }
}

#[tokio::test]
async fn a_client_sees_its_own_providers_alone() {
    let bridge = bridge("https://p.example/", repository().await, vec![client(ADDRESS)]);
    let start = get_as(&bridge, "/", TOKEN).await;
    assert_eq!(start.status, StatusCode::OK);
    assert!(start.html.contains("widget") && !start.html.contains("random"), "{}", start.html);
    let other = get_as(&bridge, "/providers/registry.terraform.io/hashicorp/random", TOKEN).await;
    assert_eq!(other.status, StatusCode::FORBIDDEN);

    let release = get_as(&bridge, "/providers/registry.acme.example/acme/widget/1.0.0", TOKEN).await;
    assert!(release.html.contains("token = &quot;YOUR-TOKEN&quot;"), "{}", release.html);
    let (_, rest) = release.html.split_once("href=\"/mirror/").unwrap();
    let (link, _) = rest.split_once('"').unwrap();
    let signed = format!("/mirror/{link}");
    assert!(signed.contains("/~"), "{signed}");
    assert_eq!(get(&bridge, &signed).await.status, StatusCode::OK, "the link opens the archive without a token");
}
