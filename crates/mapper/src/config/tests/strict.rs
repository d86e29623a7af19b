//! Where this program refuses and `OpenTofu` goes on.

use super::super::{Effect, Environment, NamedFile, Severity, read};
use super::{MemoryFiles, environment, read_text};
use crate::config::MEASURED;
use tofu_oci_types::TofuRelease;

/// What this program refuses for, and what `OpenTofu` does.
#[track_caller]
fn check(text: &str, code: &str, effect: Effect) {
    for release in MEASURED {
        let reading = read_text(text, release);
        let problem = reading.refuse().expect_err(text);
        assert_eq!((problem.code.as_str(), problem.effect), (code, effect), "{text:?} in {release}");
    }
}

#[test]
fn an_error_that_opens_an_air_gap_is_refused() {
    check("provider_installation {", "hcl1-parse", Effect::FileDropped);
    check("\u{feff}", "hcl1-parse", Effect::FileDropped);
    check("plugin_cache_dir = true", "hcl1-parse", Effect::FileDropped);
    check("{\"plugin_cache_dir\": \"\\ud800\"}", "opentofu-crash", Effect::Crash);
    check("{\"a\": [{\"\\ud800\": 1}]}", "opentofu-crash", Effect::Crash);
    check("credentials \"a.example\" {\n  token = {\n  }\n}\n", "opentofu-crash", Effect::Crash);
    check("credentials \"a.example\" \"b\" {\n  token = \"x\"\n}\n", "opentofu-crash", Effect::Crash);
    check("provider_installation = {\n}\n", "block-equals", Effect::BlockIgnored);
    check("provider_instalation {\n}\n", "misspelt-name", Effect::SilentlyIgnored);
    check("Provider_Installation {\n}\n", "misspelt-name", Effect::SilentlyIgnored);
    check("provider_installation {\n  oci_mirror {\n  }\n}\n", "template-required", Effect::MethodDropped);
    check(
        "provider_installation {\n  direct {\n    exclude = [\"x\"]\n  }\n}\n",
        "exclude-pattern",
        Effect::MethodDropped,
    );
    check(
        "provider_installation {\n  direct {\n    exclud = [\"a/b\"]\n  }\n}\n",
        "misspelt-name",
        Effect::SilentlyIgnored,
    );
    check("provider_installation {\n  direct \"x\" {\n  }\n}\n", "method-label", Effect::KeptAnyway);
}

#[test]
fn a_named_file_that_is_missing_is_refused_though_it_is_a_warning_there() {
    let mut environment = environment();
    environment.vars.insert("TF_CLI_CONFIG_FILE".to_owned(), "/nosuch".to_owned());
    let reading = read(&environment, &MemoryFiles::default(), TofuRelease::V1_13);
    let problem = reading.refuse().expect_err("refused");
    assert_eq!((problem.code.as_str(), problem.severity), ("cli-config-missing", Severity::Warning));
    // It holds no blocks: whoever needs credentials alone warns.
    assert_eq!((reading.credential_errors().count(), reading.warnings().count()), (0, 1));
}

#[test]
fn a_missing_file_that_an_option_names_was_said_to_be_named_by_a_variable() {
    let named = Some(NamedFile { option: "--cli-config", path: "nosuch".into() });
    let mut environment = Environment { named, ..environment() };
    environment.vars.insert("TF_CLI_CONFIG_FILE".to_owned(), "/other".to_owned());
    let reading = read(&environment, &MemoryFiles::default(), TofuRelease::V1_13);
    let problem = reading.refuse().expect_err("refused");
    assert_eq!(problem.message, "--cli-config names /w/nosuch, which is not there");
    let instead = "name a file that is there, or omit --cli-config to read the usual files";
    assert_eq!(problem.instead.as_deref(), Some(instead));
}

#[test]
fn a_home_folder_that_is_a_file_is_warned_of_and_stops_nobody() {
    let files = MemoryFiles::from([("/home/u", "")]);
    let reading = read(&environment(), &files, TofuRelease::V1_13);
    assert_eq!((reading.refuse().err(), reading.credential_errors().count()), (None, 0));
    let warnings: Vec<&str> = reading.warnings().map(|problem| problem.message.as_str()).collect();
    assert_eq!(warnings, ["/home/u/.tofurc cannot be opened: a part of its path is not a folder"]);
    // Where a variable names a file in there, somebody meant it.
    let mut environment = environment();
    environment.vars.insert("TF_CLI_CONFIG_FILE".to_owned(), "/home/u/x".to_owned());
    let reading = read(&environment, &files, TofuRelease::V1_13);
    assert_eq!(reading.refuse().err().map(|problem| problem.code.as_str()), Some("cli-config-missing"));
}

#[test]
fn who_needs_credentials_alone_stops_for_what_concerns_them() {
    #[track_caller]
    fn check(text: &str, want: &[&str]) {
        let reading = read_text(text, TofuRelease::V1_13);
        let codes: Vec<&str> = reading.credential_errors().map(|problem| problem.code.as_str()).collect();
        assert_eq!(codes, want, "{text:?}");
    }
    let bad_installation = "provider_installation = {\n}\n";
    check(bad_installation, &[]);
    check("registry_protocols {\n}\nregistry_protocols {\n}\n", &[]);
    check("plugin_cache_dir = true", &["hcl1-parse"]);
    check("oci_credentials {", &["hcl1-parse"]);
    check("oci_credentials \"a.example\" {\n}\n", &["block-no-style"]);
    check(&format!("{bad_installation}oci_credentials {{\n}}\n"), &["block-label-count"]);
    check("oci_default_credentials {\n}\noci_default_credentials {\n}\n", &["duplicate-block"]);
    check("oci_default_credentials {\n  discover_ambient_credentials = \"false\"\n}\n", &["block-argument-type"]);
    check("oci_default_credentials {\n  discover_ambient_credential = false\n}\n", &["misspelt-name"]);
    check("oci_credential \"a.example\" {\n}\n", &["misspelt-name"]);
    check("provider_instalation {\n}\n", &[]);
    let odd = "oci_credentials \"a.example\" {\n  docker_credentials_helper = \"a b\"\n}\n";
    check(odd, &["invalid-helper-name"]);
    check("oci_default_credentials {\n  docker_credentials_helper = \"..\\\\a\"\n}\n", &["invalid-helper-name"]);
    let twice = "oci_credentials \"a.example\" {\n  docker_credentials_helper = \"x\"\n}\n".repeat(2);
    check(&twice, &["duplicate-block"]);
}

#[test]
fn names_that_nobody_knows_are_fine_unless_they_are_nearly_known() {
    let text = "nosuch {\n  a = 1\n}\nother = 1\nprovider_installation {\n  direct {\n    comment = \"x\"\n    note {\n    }\n  }\n}\n";
    let reading = read_text(text, TofuRelease::V1_13);
    assert!(reading.refuse().is_ok(), "{:?}", reading.problems);
    let names: Vec<(&str, Option<&str>)> =
        reading.unknown.iter().map(|unknown| (unknown.name.as_str(), unknown.inside.as_deref())).collect();
    assert_eq!(names, [("comment", Some("direct")), ("note", Some("direct")), ("nosuch", None), ("other", None)]);
    for unknown in &reading.unknown {
        assert_eq!(text.get(unknown.span.clone()), Some(unknown.name.as_str()));
    }
}

#[test]
fn names_are_known_in_any_case_where_hcl_looks_for_them_so() {
    let text = "Plugin_Cache_Dir = \"/\"\nHOST \"a.example\" {\n  Services = {}\n}\nprovider_installation {\n  direct {\n    Include = [\"a/b\"]\n  }\n}\n";
    let mut files = MemoryFiles::from([("/home/u/.tofurc", text)]);
    files.add("/x", "");
    let reading = read(&environment(), &files, TofuRelease::V1_13);
    assert!(reading.problems.is_empty() && reading.unknown.is_empty(), "{:?} {:?}", reading.problems, reading.unknown);
    assert_eq!(reading.config.hosts.len(), 1);
    assert_eq!(reading.config.installation.expect("methods").methods[0].include, ["a/b"]);
}

#[test]
fn bytes_that_are_no_text_are_refused() {
    struct Raw;
    impl crate::ConfigFiles for Raw {
        fn read(&self, path: &std::path::Path) -> std::io::Result<Vec<u8>> {
            if path.ends_with(".tofurc") {
                Ok(b"a = \"\xff\"\n".to_vec())
            } else {
                Err(std::io::ErrorKind::NotFound.into())
            }
        }
        fn list(&self, _: &std::path::Path) -> std::io::Result<Vec<std::ffi::OsString>> {
            Err(std::io::ErrorKind::NotFound.into())
        }
        fn is_dir(&self, _: &std::path::Path) -> bool {
            false
        }
        fn exists(&self, path: &std::path::Path) -> bool {
            path.ends_with(".tofurc")
        }
    }
    let reading = read(&environment(), &Raw, TofuRelease::V1_13);
    assert_eq!(reading.refuse().expect_err("refused").code, "hcl1-parse");
    assert!(!super::shown(&reading, &reading.problems[0]).is_empty());
}

#[test]
fn what_stands_before_a_value_of_the_wrong_kind_stays() {
    let text = "host = 5\nplugin_cache_dir = \"/$HOME\"\ncredentials \"a.example\" {\n}\nprovider_installation {\n}\n";
    let mut files = MemoryFiles::from([("/home/u/.tofurc", text)]);
    files.add("/$HOME/x", "");
    let reading = read(&environment(), &files, TofuRelease::V1_13);
    assert_eq!(reading.refuse().expect_err("refused").code, "hcl1-parse");
    assert_eq!(reading.config.plugin_cache_dir.as_deref(), Some(std::path::Path::new("/$HOME")));
    assert!(reading.config.credentials.is_empty() && reading.config.installation.is_none());
}

#[test]
fn credentials_may_hold_lists_of_blocks() {
    let text = "credentials \"a.example\" {\n  token = [{ a = 1 }]\n}\ncredentials \"bad_host!\" {\n  token = {}\n}\n";
    let reading = read_text(text, TofuRelease::V1_13);
    let codes: Vec<&str> = reading.problems.iter().map(|problem| problem.code.as_str()).collect();
    assert_eq!(codes, ["invalid-host-label"]);
}
