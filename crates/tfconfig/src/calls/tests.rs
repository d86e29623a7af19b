//! Sources that are found and rewritten, byte by byte.

use std::fs;
use std::path::Path;

use tofu_oci_types::Digest;

use super::*;

fn digest() -> Digest {
    Digest::sha256(b"module")
}

/// The text with every source in a repository pinned under this note; `D` means the digest.
fn pinned(name: &str, text: &str, note: Option<&str>) -> Result<String, String> {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join(name), text.replace("=D", &format!("={}", digest()))).unwrap();
    let mut files = module_calls(dir.path(), Path::new(".terraform")).map_err(|error| error.to_string())?;
    let file = files.pop().ok_or("no calls")?;
    let pin = |call: &SourceCall| {
        matches!(call.source, CallSource::Oci(..)).then(|| PinnedSource {
            digest: digest(),
            note: note.map(|note| note::read(note).unwrap().expect("a note").1),
        })
    };
    let pins: Vec<_> = file.calls().iter().map(pin).collect();
    let write = file.pinned(&pins).map_err(|error| error.to_string())?;
    Ok(write.map_or("unchanged".to_owned(), |write| write.after().replace(&digest().to_string(), "D")))
}

#[track_caller]
fn check(text: &str, want: &str) {
    assert_eq!(pinned("main.tf", text, Some("1.4.0")).as_deref(), Ok(want), "{text:?}");
    // A second run finds what the first one wrote.
    assert_eq!(pinned("main.tf", want, Some("1.4.0")).as_deref(), Ok("unchanged"), "{want:?}");
}

#[track_caller]
fn check_json(text: &str, want: &str) {
    assert_eq!(pinned("main.tf.json", text, Some("1.4.0")).as_deref(), Ok(want), "{text:?}");
    assert_eq!(pinned("main.tf.json", want, Some("1.4.0")).as_deref(), Ok("unchanged"), "{want:?}");
}

#[test]
fn only_the_source_and_its_comment_change() {
    check(
        "# top\nmodule \"a\" {\n\tsource   =   \"oci://x.example/a?tag=1.4.0\"\n  cidr = 1 # keep\n}\n",
        "# top\nmodule \"a\" {\n\tsource   =   \"oci://x.example/a?digest=D\" # 1.4.0\n  cidr = 1 # keep\n}\n",
    );
    check(
        "module \"a\" {\r\n  source = \"oci://x.example/a\"\r\n}",
        "module \"a\" {\r\n  source = \"oci://x.example/a?digest=D\" # 1.4.0\r\n}",
    );
    check(
        "\u{feff}module \"ä\" { source = \"oci://x.example/a//sub\" }",
        "\u{feff}module \"ä\" { source = \"oci://x.example/a//sub?digest=D\" } # 1.4.0",
    );
    check(
        "module \"a\" {\n  source = \"oci://x.example/a\"  \n}\n",
        "module \"a\" {\n  source = \"oci://x.example/a?digest=D\"  # 1.4.0\n}\n",
    );
    check(
        "locals {\n  x = <<-EOT\n    source = \"oci://x.example/a\"\n  EOT\n}\nmodule \"a\" {\n  source = (\"oci://x.example/a\")\n  y = <<EOT\nz\nEOT\n}\n",
        "locals {\n  x = <<-EOT\n    source = \"oci://x.example/a\"\n  EOT\n}\nmodule \"a\" {\n  source = (\"oci://x.example/a?digest=D\") # 1.4.0\n  y = <<EOT\nz\nEOT\n}\n",
    );
}

#[test]
fn the_users_comment_stays() {
    let with = |comment: &str| format!("module \"a\" {{\n  source = \"oci://x.example/a?tag=1.4.0\"{comment}\n}}\n");
    let want = |comment: &str| format!("module \"a\" {{\n  source = \"oci://x.example/a?digest=D\"{comment}\n}}\n");
    check(&with(" # ask Bob"), &want(" # 1.4.0 # ask Bob"));
    check(&with("//ask Bob"), &want("# 1.4.0 //ask Bob"));
    check(&with(" /* ask Bob */"), &want(" /* ask Bob */ # 1.4.0"));
    check(&with(" /* ask\n Bob */"), &want(" /* 1.4.0 */ /* ask\n Bob */"));
    check(&with(" /* a */ # \u{1f980} b"), &want(" /* a */ # 1.4.0 # \u{1f980} b"));
    check(&with(" # 1.3.0 # ask Bob"), &want(" # 1.4.0 # ask Bob"));
    check(&with(" #1.3.0"), &want(" #1.4.0"));
    check(&with(" // tag=main"), &want(" // 1.4.0"));
    check(&with(" # 1.3.0 was broken"), &want(" # 1.4.0 # 1.3.0 was broken"));
}

#[test]
fn a_call_that_spans_lines_gets_its_comment_on_the_line_of_the_source() {
    check(
        "module \"a\" {\n  source = (\n    \"oci://x.example/a\"\n  )\n}\n",
        "module \"a\" {\n  source = (\n    \"oci://x.example/a?digest=D\" # 1.4.0\n  )\n}\n",
    );
}

#[test]
fn the_rest_of_a_source_stays_as_it_was_written() {
    let check = |source: &str, want: &str| {
        check(
            &format!("module \"a\" {{\n  source = \"{source}\"\n}}\n"),
            &format!("module \"a\" {{\n  source = \"{want}\" # 1.4.0\n}}\n"),
        );
    };
    check("OCI://x.example/a//b/../c?tag=1.4.0", "OCI://x.example/a//b/../c?digest=D");
    check("oci::oci://x.example/a", "oci::oci://x.example/a?digest=D");
    check("oci://x.example/a.zip?archive=false&tag=1.4.0", "oci://x.example/a.zip?archive=false&digest=D");
    check("oci://x.example/a?%74ag=1.4.0", "oci://x.example/a?digest=D");
    check("oci://x.example/a?tag=1.4.0#x", "oci://x.example/a?digest=D");
    check("oci://x.example/a\\u003ftag=1.4.0", "oci://x.example/a?digest=D");
    check("oci://x.example/a//$${b}?tag=1.4.0", "oci://x.example/a//$${b}?digest=D");
    check("oci://x.example/a//\\\"b\\\\?tag=1.4.0", "oci://x.example/a//\\\"b\\\\?digest=D");
}

#[test]
fn json_has_its_comment_beside_the_source() {
    check_json(
        "{\n  \"module\": {\n    \"a\": {\n      \"source\": \"oci://x.example/a?tag=1.4.0\",\n      \"n\": 1\n    }\n  }\n}\n",
        "{\n  \"module\": {\n    \"a\": {\n      \"//\": \"1.4.0\",\n      \"source\": \"oci://x.example/a?digest=D\",\n      \"n\": 1\n    }\n  }\n}\n",
    );
    check_json(
        r#"{"module":[{"a":{"n":1,"source":"oci://x.example/a"}}]}"#,
        r#"{"module":[{"a":{"n":1,"//":"1.4.0","source":"oci://x.example/a?digest=D"}}]}"#,
    );
    check_json(
        "\u{feff}{\"module\": {\"a\": [{ \"source\": \"oci:\\/\\/x.example/a\", \"//\": \"ask \\\"Bob\\\"\" }]}}",
        "\u{feff}{\"module\": {\"a\": [{ \"source\": \"oci://x.example/a?digest=D\", \"//\": \"1.4.0 # ask \\\"Bob\\\"\" }]}}",
    );
    check_json(
        r#"{"module": {"a": {"//": "1.3.0 (~> 1.3) # ask Bob", "source": "oci://x.example/a"}}}"#,
        r#"{"module": {"a": {"//": "1.4.0 # ask Bob", "source": "oci://x.example/a?digest=D"}}}"#,
    );
    // Only a string can hold the version.
    check_json(
        r#"{"module": {"a": {"//": ["ask", "Bob"], "source": "oci://x.example/a"}}}"#,
        r#"{"module": {"a": {"//": ["ask", "Bob"], "source": "oci://x.example/a?digest=D"}}}"#,
    );
}

#[test]
fn what_is_no_literal_source_in_a_repository_is_not_touched() {
    for source in [
        "\"./a\"",
        "\"acme/network/aws\"",
        "\"git::https://x.example/a.git\"",
        "var.x",
        "\"oci://x.example/${var.x}\"",
        "\"oci://x.example/a?tag=1&digest=2\"",
        "<<EOT\noci://x.example/a\nEOT",
        "null",
    ] {
        let text = format!("module \"a\" {{\n  source = {source}\n}}\n");
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("a")).unwrap();
        fs::write(dir.path().join("a/x.tf"), "").unwrap();
        fs::write(dir.path().join("main.tf"), &text).unwrap();
        let files = module_calls(dir.path(), Path::new("none")).unwrap();
        assert!(!matches!(files[0].calls()[0].source, CallSource::Oci(..)), "{source}");
    }
}

/// `PATH:LINE:COLUMN module kind` of every call.
fn found(dir: &Path) -> String {
    let files = match module_calls(dir, &dir.join(".terraform")) {
        Ok(files) => files,
        Err(error) => return error.to_string().replace(dir.to_str().unwrap(), ""),
    };
    let calls = files.iter().flat_map(CallFile::calls).map(|call| {
        let kind = match &call.source {
            CallSource::Oci(source, note) => {
                let note = note.as_ref().map(|note| format!(" # {note}")).unwrap_or_default();
                format!("{source}{note}")
            }
            CallSource::InvalidOci(error) => error.code().to_owned(),
            CallSource::InvalidNote(error) => error.code().to_owned(),
            CallSource::Computed(text) => format!("computed {text}"),
            CallSource::Other(text) => format!("other {text}"),
        };
        format!("{} {} {kind}", call.at.path.strip_prefix(dir).unwrap().display(), call.module)
    });
    calls.collect::<Vec<_>>().join("\n")
}

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    dir
}

#[test]
fn local_modules_and_overrides_are_read_and_installed_modules_are_not() {
    let call = |name: &str, source: &str| format!("module \"{name}\" {{\n  source = {source}\n}}\n");
    let dir = folder(&[
        ("main.tf", &(call("a", "\"./net\"") + &call("b", "\"oci://x.example/b\"") + &call("c", "var.c"))),
        ("shadowed.tf", &call("old", "\"oci://x.example/old\"")),
        ("shadowed.tofu", &call("new", "\"oci://x.example/new?tag=1&tag=2\"")),
        ("more_override.tf", &call("b", "\"oci://x.example/b2?tag=2.0.0\" # 2.0.0 (~> 2.x)")),
        ("net/main.tf", &(call("up", "\"../\"") + &call("data", "\"../.terraform/modules/x\""))),
        ("net/dns.tf.json", r#"{"module": {"dns": {"//": "~> 1.4", "source": "oci://x.example/dns"}}}"#),
        (".terraform/modules/x/main.tf", &call("z", "\"oci://x.example/z\"")),
        ("other/main.tf", &call("y", "\"oci://x.example/y\"")),
    ]);
    insta::assert_snapshot!(found(dir.path()), @"
    main.tf a other ./net
    main.tf b oci://x.example/b
    main.tf c computed var.c
    shadowed.tofu new repeated-argument
    more_override.tf b wildcard
    net/dns.tf.json dns oci://x.example/dns # (~> 1.4)
    net/main.tf up other ../
    net/main.tf data other ../.terraform/modules/x
    ");
}

#[test]
fn a_missing_folder_is_an_error_unless_an_override_names_another() {
    let dir = folder(&[("main.tf", "module \"a\" {\n  source = \"./gone\"\n}\n")]);
    insta::assert_snapshot!(found(dir.path()), @"/main.tf:2:12: the module's folder `./gone` is not there");
    fs::write(dir.path().join("a_override.tf"), "module \"a\" {\n  source = \"oci://x.example/a\"\n}\n").unwrap();
    insta::assert_snapshot!(found(dir.path()), @"
    main.tf a other ./gone
    a_override.tf a oci://x.example/a
    ");
    insta::assert_snapshot!(found(&dir.path().join("none")), @"there is no configuration in");
}

#[test]
fn a_file_that_was_changed_meanwhile_is_not_overwritten() {
    let dir = folder(&[("main.tf", "module \"a\" {\n  source = \"oci://x.example/a\"\n}\n")]);
    let path = dir.path().join("main.tf");
    let file = module_calls(dir.path(), Path::new("none")).unwrap().pop().unwrap();
    let write = file.pinned(&[Some(PinnedSource { digest: digest(), note: None })]).unwrap().expect("it changes");
    fs::write(&path, "# mine\n").unwrap();
    assert_eq!(write.write().unwrap_err().code(), "config-changed");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
    fs::remove_file(&path).unwrap();
    assert_eq!(write.write().unwrap_err().code(), "config-changed");
    // Another run has written the same.
    fs::write(&path, write.after()).unwrap();
    assert!(!write.write().unwrap());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left");
}

#[cfg(unix)]
#[test]
fn a_link_and_the_mode_of_its_file_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let dir = folder(&[("common/x.tf", "module \"a\" {\n  source = \"oci://x.example/a\"\n}\n"), ("r/a.tf", "")]);
    let target = dir.path().join("common/x.tf");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("../common/x.tf", dir.path().join("r/x.tf")).unwrap();
    let file = module_calls(&dir.path().join("r"), Path::new("none")).unwrap().pop().unwrap();
    let write = file.pinned(&[Some(PinnedSource { digest: digest(), note: None })]).unwrap().expect("it changes");
    assert!(write.write().unwrap());
    assert!(fs::symlink_metadata(dir.path().join("r/x.tf")).unwrap().is_symlink());
    assert_eq!(fs::metadata(&target).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::read_to_string(&target).unwrap().contains("digest=sha256:"));
}

#[test]
fn a_text_that_does_not_parse_is_named_with_its_place() {
    let dir = folder(&[("main.tf", "module \"a\" {\n  source = \n}\n")]);
    assert!(found(dir.path()).starts_with("/main.tf:2:"), "{}", found(dir.path()));
}

#[test]
fn a_source_that_stands_there_twice_is_refused_with_its_place() {
    let text = "{\n  \"module\": {\n    \"a\": {\n      \"source\": \"oci://x.example/a\",\n      \"source\": \"oci://x.example/b\"\n    }\n  }\n}\n";
    let error = pinned("main.tf.json", text, Some("1.4.0")).expect_err("two sources");
    assert!(error.ends_with("main.tf.json:5:7: the module `a` has a `source` twice; keep one of the two"), "{error}");
}
