//! Packages of modules that are made to harm: bombs, and text that a browser would obey.

use super::modules::{NETWORK, serving};
use super::*;

/// Text that closes what stands around it, runs, loads, hides or draws.
const EVIL: &str = "\"'><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)> javascript:alert(4) \
     data:text/html;base64,PHNjcmlwdD4= \u{1b}[2J\u{1b}]0;t\u{7} \u{202e}\u{2066}\u{200b} {{7*7}} ${7*7} </title></style></textarea>";

/// Asserts that a page has no element, attribute or address that does anything.
#[track_caller]
fn inert(seen: &ShownPage) {
    let html = &seen.html;
    for bad in [
        "<script",
        "<img",
        "<svg",
        "<iframe",
        "<object",
        "<embed",
        "<base",
        "<meta http",
        "<form action=\"http",
        "<link rel=\"x",
    ] {
        assert!(!html.contains(bad), "{bad}: {html}");
    }
    // Attributes are those of our own elements: a quotation mark of foreign text is an entity.
    for tag in
        html.split('<').skip(1).filter_map(|piece| piece.split_once('>')).map(|(tag, _)| tag.to_ascii_lowercase())
    {
        assert!(!tag.contains(" on") && !tag.contains("javascript:") && !tag.contains("style="), "{tag}");
        for (_, rest) in tag.match_indices("href=\"").map(|(at, name)| tag.split_at(at + name.len())) {
            let is_known = ["/", "https://", "http://", "mailto:", "#"].iter().any(|start| rest.starts_with(start));
            assert!(is_known && !rest.starts_with("//"), "{tag}");
        }
        assert!(!tag.contains("src="), "{tag}");
    }
    assert!(!html.chars().any(|one| one != '\n' && tofu_oci_types::is_unprintable(one)), "{html:?}");
    let policy = seen.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none';") && !policy.contains("unsafe"), "{policy}");
    assert_eq!(seen.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
    assert_eq!(seen.headers[header::CONTENT_TYPE], "text/html; charset=utf-8");
}

#[tokio::test]
async fn no_text_of_a_module_does_anything_on_its_page() {
    let quoted = serde_json::to_string(EVIL).unwrap();
    let main = serde_json::json!({
        "variable": { "x": { "description": EVIL, "default": EVIL, "type": "string" } },
        "output": { "o": { "description": EVIL, "value": EVIL } },
        "module": { "n": { "source": format!("git::https://x.example/{EVIL}") } },
    });
    let wrong = serde_json::json!({
        "variable": { EVIL: { "description": EVIL }, "x": { "description": EVIL, "default": EVIL, "type": EVIL } },
        "output": { "o": { "description": EVIL, "value": EVIL } },
        "module": { "m": { "source": EVIL }, "n": { "source": format!("git::https://x.example/{EVIL}") } },
    });
    let native = format!("variable \"v\" {{\n  description = {}\n}}\n", quoted.replace("${", "$${"));
    let readme = format!(
        "# {EVIL}\n\n{EVIL}\n\n[a]({EVIL})\n\n[b](javascript:alert(1)) ![c](data:image/svg+xml;base64,AA) <{EVIL}>\n\n\
         [d]: javascript:alert(1)\n\n[d] <javascript:alert(1)> <data:text/html,x>\n\n```{EVIL}\n{EVIL}\n```\n\n|{EVIL}|\n|-|\n|{EVIL}|\n"
    );
    for files in [
        vec![("main.tf.json", main.to_string()), ("README.md", readme.clone())],
        vec![("main.tf.json", wrong.to_string())],
        vec![("main.tf", native), ("readme.md", readme.clone())],
        vec![("main.tf", format!("variable \"{EVIL}")), ("README", readme.clone())],
        vec![(EVIL_NAME, readme)],
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
        let (bridge, _dir) = serving(&files, &["1.0.0"]).await;
        let seen = get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await;
        assert_eq!(seen.status, StatusCode::OK, "{}", seen.html);
        inert(&seen);
        for path in
            [format!("/module/{NETWORK}"), format!("/?q={}", "%22%3E%3Cscript%3E"), "/module/%3Cscript%3E".to_owned()]
        {
            inert(&get(&bridge, &path).await);
        }
    }
}

/// A name of a file that could be an element.
const EVIL_NAME: &str = "<script>.tf";

#[tokio::test]
async fn a_bomb_is_not_unpacked_far_and_the_next_page_knows_it() {
    // More than a page unpacks, out of a zip of less than a megabyte. `module push` refuses to make one that is worse.
    let some: String = (0..70_u64 << 7)
        .map(|number| format!("{}{}", Digest::sha256(&number.to_le_bytes()), "0".repeat(8 << 10)))
        .collect();
    let (bridge, dir) = serving(&[("main.tf", ""), ("zeros.txt", &some)], &["1.0.0"]).await;
    let path = format!("/module/{NETWORK}/1.0.0");
    for seen in futures_util::future::join_all((0..50).map(|_| get(&bridge, &path))).await {
        assert_eq!(seen.status, StatusCode::OK);
        assert!(!seen.html.contains("README"), "{}", seen.html);
    }
    // A slow machine may not have been done while a page waits; what it finds is remembered all the same.
    let mut last = get(&bridge, &path).await;
    for _ in 0..5 {
        if !last.html.contains("larger than this page reads") {
            last = get(&bridge, &path).await;
        }
    }
    assert!(last.html.contains("larger than this page reads"), "{}", last.html);
    // Another turn may have begun with it, too; it ends by itself.
    let (begun, cache) = (std::time::Instant::now(), dir.path().join("cache"));
    while std::fs::read_dir(&cache).unwrap().next().is_some() {
        assert!(begun.elapsed() < std::time::Duration::from_mins(1), "something is left");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_configuration_of_many_megabytes_was_parsed_for_a_page() {
    // Each element becomes hundreds of bytes of memory.
    let numbers: String = (0..1 << 18).map(|number| format!("{number},")).collect();
    let list = format!("variable \"x\" {{\n  default = [{numbers}]\n}}\n");
    let (bridge, _dir) = serving(&[("main.tf", &list), ("README.md", "# Read me")], &["1.0.0"]).await;
    let begun = std::time::Instant::now();
    let seen = get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await;
    assert!(seen.html.contains("a page reads at most 1 MiB of them"), "{}", seen.html);
    assert!(seen.html.contains("Read me"), "{}", seen.html);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn the_mark_of_a_deprecated_version_was_missing_on_the_first_visit() {
    let (bridge, _dir) = serving_deprecated().await;
    let seen = get(&bridge, &format!("/module/{NETWORK}/1.0.0")).await;
    assert!(seen.html.contains("Its publisher has deprecated this version."), "{}", seen.html);
    let seen = get(&bridge, &format!("/module/{NETWORK}/1.1.0")).await;
    assert!(!seen.html.contains("deprecated"), "{}", seen.html);
}

#[tokio::test]
async fn a_deprecation_that_was_taken_back_stayed_on_the_page() {
    let (bridge, _dir) = serving(&[("main.tf", "")], &["1.0.0", "1.1.0", "deprecated-1.1.0"]).await;
    let seen = get(&bridge, &format!("/module/{NETWORK}/1.1.0")).await;
    assert!(!seen.html.contains("deprecated"), "{}", seen.html);
}

/// Two versions, of which the first has the notice and the tag that `deprecate` writes.
async fn serving_deprecated() -> (Arc<Bridge>, tempfile::TempDir) {
    serving(&[("main.tf", "")], &["1.0.0", "1.1.0", "deprecated-1.0.0"]).await
}
