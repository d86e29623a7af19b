use super::{GoIndex, GoManifest};

#[track_caller]
fn check(document: &[u8], want: &str) {
    let (index, good) = GoIndex::read(document);
    let entries: Vec<String> = index
        .manifests
        .iter()
        .map(|entry| {
            let platform = entry.platform.as_ref().map(|platform| format!("{}/{}", platform.os, platform.architecture));
            format!("{}:{}:{}", entry.media_type, entry.size, platform.unwrap_or_default())
        })
        .collect();
    let got = format!("{} {:?} {}", if good { "good" } else { "bad" }, index.media_type, entries.join(","));
    assert_eq!(got.trim_end(), want, "{}", String::from_utf8_lossy(document));
}

#[test]
fn names_are_read_in_any_case_and_the_last_one_counts() {
    check(br#"{"MEDIATYPE":"a","mediaType":"b"}"#, r#"good "b""#);
    check(br#"{"mediaType":"b","MediaType":"a"}"#, r#"good "a""#);
    check(br#"{"mediaType":"b","mediaType":null}"#, r#"good "b""#);
    check("{\"manifest\u{17f}\":[{\"\u{17f}ize\":3}]}".as_bytes(), r#"good "" :3:"#);
    check(br#"{"media_type":"b","other":[{"x":[1,2,{}]}],"mediaType":"c"}"#, r#"good "c""#);
}

#[test]
fn a_wrong_type_is_an_error_and_the_rest_is_read() {
    check(br#"{"schemaVersion":"2","mediaType":"b"}"#, r#"bad "b""#);
    check(br#"{"mediaType":1}"#, r#"bad """#);
    check(br#"{"annotations":{"a":1}}"#, r#"bad """#);
    check(br#"{"annotations":{"a":null}}"#, r#"good """#);
    check(br#"{"manifests":[{"size":1.0}]}"#, r#"bad "" :0:"#);
    check(br#"{"manifests":[{"size":9223372036854775808}]}"#, r#"bad "" :0:"#);
    check(br#"{"manifests":[{"size":-1}]}"#, r#"good "" :-1:"#);
    check(br#"{"manifests":{}}"#, r#"bad """#);
    check(br#"{"manifests":[{"platform":[]}]}"#, r#"bad "" :0:/"#);
    check(br#"{"manifests":[{"data":"e30"}]}"#, r#"bad "" :0:"#);
    check(br#"{"manifests":[{"data":"e30="}]}"#, r#"good "" :0:"#);
    check(br#"{"manifests":[null]}"#, r#"good "" :0:"#);
    check(b"[]", r#"bad """#);
    check(b"null", r#"good """#);
}

#[test]
fn a_second_array_is_read_over_the_first() {
    check(br#"{"manifests":[{"size":1,"mediaType":"a"},{"size":2}],"manifests":[{"size":3}]}"#, r#"good "" a:3:"#);
    check(br#"{"manifests":[{"size":1}],"manifests":[]}"#, r#"good """#);
    check(
        br#"{"manifests":[{"platform":{"os":"a"}}],"manifests":[{"platform":{"architecture":"b"}}]}"#,
        r#"good "" :0:a/b"#,
    );
    check(br#"{"manifests":[{"size":1}],"manifests":null}"#, r#"good """#);
}

#[test]
fn syntax_is_strict() {
    for text in
        ["", " ", "{", "{}x", "{} {}", "{'a':1}", "{\"a\":1,}", "[1,]", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}"]
    {
        check(text.as_bytes(), r#"bad """#);
    }
    check(b"\xef\xbb\xbf{}", r#"bad """#);
    check(b"{\"mediaType\":\"a\nb\"}", r#"bad """#);
    check(br#"{"mediaType":"\x"}"#, r#"bad """#);
    check(b" \r\n\t{ } \n", r#"good """#);
    check(format!("{}{}", "[".repeat(10_001), "]".repeat(10_001)).as_bytes(), r#"bad """#);
    check(format!("{{\"x\":{}{}}}", "[".repeat(9_999), "]".repeat(9_999)).as_bytes(), r#"good """#);
    check(format!("{{\"x\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000)).as_bytes(), r#"bad """#);
}

#[test]
fn what_is_no_text_is_replaced() {
    check(b"{\"mediaType\":\"a\xffb\"}", "good \"a\u{fffd}b\"");
    check(br#"{"mediaType":"\ud83d\ude00\ud83dx"}"#, "good \"\u{1f600}\u{fffd}x\"");
}

#[test]
fn a_manifest_has_config_and_layers() {
    let (manifest, good) = GoManifest::read(
        br#"{"mediaType":"m","artifactType":"a","Config":{"digest":"d"},"layers":[{"mediaType":"l"}]}"#,
    );
    assert!(good);
    assert_eq!((manifest.media_type.as_str(), manifest.artifact_type.as_str()), ("m", "a"));
    assert_eq!((manifest.config.digest.as_str(), manifest.layers[0].media_type.as_str()), ("d", "l"));
}
