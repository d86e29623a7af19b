//! What a file is, and what a bundle must be about.

use std::path::Path;

use insta::assert_snapshot;

use crate::{AttachType, AttachedFile};

#[track_caller]
fn check(content: &str, wanted: Option<&str>, want: Result<&str, &str>) {
    let wanted = wanted.map(|wanted| wanted.parse::<AttachType>().unwrap());
    let read = AttachedFile::read(Path::new("dir/file"), content.as_bytes().to_vec(), wanted.as_ref());
    let read = read.map(|files| files[0].artifact_type().to_string()).map_err(|error| error.to_string());
    assert_eq!(read.as_deref().map_err(String::as_str), want, "{content}");
}

#[test]
fn a_file_says_what_it_is_or_the_user_does() {
    check(r#"{"spdxVersion":"SPDX-2.3"}"#, None, Ok("application/spdx+json"));
    check(r#"{"bomFormat":"CycloneDX"}"#, None, Ok("application/vnd.cyclonedx+json"));
    check("some text", Some("text/plain"), Ok("text/plain"));
    check("{}", Some("spdx"), Ok("application/spdx+json"));
    check("", None, Err("dir/file is empty"));
    for content in ["{}", "some text", r#"{"bomFormat":"other"}"#, r#"{"spdxVersion":"1","spdxVersion":"2"}"#] {
        check(content, None, Err("dir/file does not say what it is"));
    }
    let contradicted = "dir/file is not JSON, and --type says application/spdx+json";
    check("SPDXVersion: SPDX-2.3", Some("spdx"), Err(contradicted));
    let contradicted = "dir/file is application/vnd.cyclonedx+json, and --type says text/plain";
    check(r#"{"bomFormat":"CycloneDX"}"#, Some("text/plain"), Err(contradicted));
    check(r#"{"bomFormat":"CycloneDX"}"#, Some("application/vnd.example+json"), Ok("application/vnd.example+json"));
    check("some text", Some("TEXT/Plain"), Ok("text/plain"));
    let older = r#"{"mediaType":"application/vnd.dev.sigstore.bundle+json;version=0.2"}"#;
    let problem = "dir/file is not a Sigstore bundle that can be attached: the bundle is of an older version \
        (\"application/vnd.dev.sigstore.bundle+json;version=0.2\"); only application/vnd.dev.sigstore.bundle.v0.3+json is supported";
    check(older, None, Err(problem));
    check(older, Some("bundle"), Err(problem));
    let lines = format!("{older}\n").repeat(33);
    let many = "dir/file is not a Sigstore bundle that can be attached: it holds 33 bundles, and at most 32 are read";
    check(&lines, None, Err(many));
    check("\n\n", Some("bundle"), Err("dir/file is empty"));
}

/// `attach` trimmed what `mirror` did not, so that one bundle had two digests.
#[test]
fn a_file_with_one_bundle_stays_as_it_is_and_lines_lose_their_ends() {
    let texts = |content: &'static str| AttachedFile::bundle_texts(content.as_bytes());
    assert_eq!(texts(" {\n}\r\n"), [b" {\n}\r\n".as_slice()]);
    assert_eq!(texts("{} \r\n\n \r\n\t{}\n"), [b"{} ".as_slice(), b"\t{}"]);
    let mut bundle =
        std::fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/trust/keyless/github.json")).unwrap();
    bundle.extend_from_slice(b"\r\n\n");
    let read = AttachedFile::read(Path::new("file"), bundle.clone(), None).unwrap();
    assert_eq!(read.iter().map(|file| &file.bytes()[..]).collect::<Vec<_>>(), [&bundle[..]]);
}

#[test]
fn types_that_have_rules_of_their_own_are_not_attached() {
    let told = |text: &str| text.parse::<AttachType>().unwrap_err().to_string();
    assert_snapshot!(told("sbom"), @"`sbom` is not a media type; write bundle, spdx, cyclonedx, or TYPE/SUBTYPE such as text/vnd.example");
    assert_snapshot!(told("text/plain; charset=utf-8"), @"`text/plain; charset=utf-8` is not a media type; write bundle, spdx, cyclonedx, or TYPE/SUBTYPE such as text/vnd.example");
    assert_snapshot!(told("application/vnd.opentofu.provider.notice.v1"), @"files of the type `application/vnd.opentofu.provider.notice.v1` are written by other commands: `push`, `sign`, `withdraw` or cosign");
    assert_snapshot!(told("application/vnd.dev.sigstore.bundle.v0.2+json"), @"of Sigstore bundles only application/vnd.dev.sigstore.bundle.v0.3+json is attached, not `application/vnd.dev.sigstore.bundle.v0.2+json`");
    assert_eq!("bundle".parse::<AttachType>().unwrap().to_string(), "application/vnd.dev.sigstore.bundle.v0.3+json");
}
