use super::*;

#[tokio::test]
async fn hostile_annotations_are_inert_and_short() {
    let store = MemoryStore::new("memory".parse().unwrap());
    let long = "<img src=x onerror=alert(1)>".repeat(400);
    let hostile = json!({
        "org.opentofu.provider.protocols": format!("<script>alert(1)</script>,javascript:alert(1),a\u{202e}b,{long}"),
        "org.opencontainers.image.created": "\"><script>alert(1)</script>",
    });
    put(&store, "1.0.0", &["linux_amd64"], hostile).await;
    let bridge = bridge("https://p.example/", store, Vec::new());
    for path in ["/providers/registry.acme.example/acme/widget", "/providers/registry.acme.example/acme/widget/1.0.0"] {
        let seen = get(&bridge, path).await;
        assert_eq!(seen.status, StatusCode::OK, "{path}");
        assert!(seen.html.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{path}: {}", seen.html);
        for bad in ["<script", "<img", "\u{202e}", "href=\"javascript"] {
            assert!(!seen.html.contains(bad), "{path} has {bad}");
        }
        assert!(seen.html.len() < 8_000, "{path}: {} bytes", seen.html.len());
    }
}

#[tokio::test]
async fn a_host_that_looks_like_another_has_its_punycode_beside_it() {
    let bridge = open_bridge().await;
    // The first letter is Cyrillic.
    let seen = text(&get(&bridge, "/providers/xn--cme-5cd.example/acme/widget").await);
    assert!(seen.contains("(xn--cme-5cd.example)"), "{seen}");
    assert!(!text(&get(&bridge, "/providers/acme.example/acme/widget").await).contains("(acme.example)"));
}
