//! The order of the sources, the names of variables, and what helpers answer.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::sync::Mutex;

use tofu_oci_mapper::config::{Os, read};
use tofu_oci_types::TofuRelease;

use super::*;
use crate::machine::doubles::Doubles;

const HELPER: &str = "/home/u/.terraform.d/plugins/terraform-credentials-vault";

/// The main file, `credentials.tfrc.json` and the program of a helper.
struct Files<'a> {
    main: &'a str,
    logins: &'a str,
}

impl ConfigFiles for Files<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let text = match path.to_str() {
            Some("/home/u/.tofurc") => self.main,
            Some("/home/u/.terraform.d/credentials.tfrc.json") => self.logins,
            _ => return Err(io::ErrorKind::NotFound.into()),
        };
        Ok(text.as_bytes().to_vec())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<OsString>> {
        match path.to_str() {
            Some("/home/u/.terraform.d") => Ok(vec!["credentials.tfrc.json".into(), "plugins".into()]),
            Some("/home/u/.terraform.d/plugins") => Ok(vec!["terraform-credentials-vault".into()]),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn is_dir(&self, path: &Path) -> bool {
        self.list(path).is_ok()
    }

    fn exists(&self, path: &Path) -> bool {
        self.read(path).is_ok() || self.list(path).is_ok()
    }
}

#[derive(Default)]
struct Warnings(Mutex<Vec<String>>);

impl Reporter for Warnings {
    fn event(&self, event: &Event) {
        if let Event::Message { code, text, .. } = event {
            self.0.lock().expect("nothing panics").push(format!("{text} ({code})"));
        }
    }
}

/// What a run shows to hosts.
struct Run {
    tokens: HostTokenResolver,
    machine: Arc<Doubles>,
    warnings: Arc<Warnings>,
}

impl Run {
    fn new(variables: &[(&str, &str)], main: &str, logins: &str, machine: Doubles) -> Self {
        let work = PathBuf::from("/w");
        let environment = Environment {
            os: Os::Unix,
            home: Some("/home/u".into()),
            app_data: None,
            launch_dir: work.clone(),
            working_dir: work,
            named: None,
            vars: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        let files = Files { main, logins };
        let reading = read(&environment, &files, TofuRelease::V1_13);
        assert!(reading.problems.is_empty(), "{:?}", reading.problems);
        let (machine, warnings) = (Arc::new(machine), Arc::new(Warnings::default()));
        let tokens = HostTokenResolver::new(machine.clone(), &environment, &files, &reading, warnings.clone());
        Self { tokens, machine, warnings }
    }

    /// The token of a host and where it comes from, or why it is unknown.
    fn token(&self, host: &str) -> String {
        let host: Hostname = host.parse().expect("a host");
        let future = self.tokens.token(&host);
        let mut future = std::pin::pin!(future);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let std::task::Poll::Ready(answer) = future.as_mut().poll(&mut context) else {
            panic!("doubles answer at once")
        };
        let origin = self.tokens.origin(&host).map_or_else(|| "nothing".to_owned(), |origin| origin.to_string());
        match answer {
            Ok(Some(token)) => format!("{} of {origin}", token.expose()),
            Ok(None) => format!("none, by {origin}"),
            Err(error) => format!("{error} ({})", error.code),
        }
    }
}

const BLOCKS: &str =
    "credentials \"a.test\" {\n  token = \"of-block\"\n}\n\ncredentials \"b.test\" {\n  token = \"\"\n}\n";
const NAMED: &str = "credentials_helper \"vault\" {\n  args = [\"--deep\", \"SECRET-ARGUMENT\"]\n}\n";

#[track_caller]
fn check(variables: &[(&str, &str)], host: &str, want: &str) {
    let login = r#"{"credentials": {"a.test": {"token": "of-login"}, "c.test": {"token": "of-login"}}}"#;
    let machine = Doubles::default().with_token_helper(
        HELPER,
        "--deep SECRET-ARGUMENT get d.test",
        0,
        r#"{"token": "of-helper"}"#,
    );
    assert_eq!(Run::new(variables, &format!("{BLOCKS}{NAMED}"), login, machine).token(host), want);
}

#[test]
fn a_variable_comes_before_blocks_and_these_before_the_helper() {
    check(&[("TF_TOKEN_a_test", "of-variable")], "a.test", "of-variable of the variable TF_TOKEN_a_test");
    check(&[], "a.test", "of-login of the credentials block in ~/.terraform.d/credentials.tfrc.json:1");
    check(&[], "c.test", "of-login of the credentials block in ~/.terraform.d/credentials.tfrc.json:1");
    check(&[], "d.test", "of-helper of the helper terraform-credentials-vault of ~/.tofurc:8");
}

#[test]
fn the_first_source_that_speaks_of_a_host_decides_even_without_a_token() {
    check(&[], "b.test", "none, by the credentials block in ~/.tofurc:5");
    check(&[("TF_TOKEN_d_test", "")], "d.test", "none, by the variable TF_TOKEN_d_test");
}

#[test]
fn a_variable_names_its_host_with_port_dashes_and_punycode() {
    let none = "none, by nothing";
    let of = |name: &str, host: &str| Run::new(&[(name, "t")], "", "{}", Doubles::default()).token(host);
    assert_eq!(of("TF_TOKEN_a_test", "a.test:8443"), none);
    assert_eq!(of("TF_TOKEN_a_test:8443", "a.test:8443"), "t of the variable TF_TOKEN_a_test:8443");
    assert_eq!(of("TF_TOKEN_a_test:8443", "a.test"), none);
    assert_eq!(of("TF_TOKEN_a_test:443", "a.test"), "t of the variable TF_TOKEN_a_test:443");
    assert_eq!(of("TF_TOKEN_my__host_test", "my-host.test"), "t of the variable TF_TOKEN_my__host_test");
    assert_eq!(of("TF_TOKEN_my-host.test", "MY-host.test"), "t of the variable TF_TOKEN_my-host.test");
    let punycode = "TF_TOKEN_xn____caf__dma_test";
    assert_eq!(of(punycode, "caf\u{e9}.test"), format!("t of the variable {punycode}"));
    assert_eq!(of("TF_TOKEN_a_test", "b.test"), none);
}

#[test]
fn a_block_for_a_host_does_not_serve_its_ports() {
    let run = |host: &str| Run::new(&[], BLOCKS, "{}", Doubles::default()).token(host);
    assert_eq!(run("a.test"), "of-block of the credentials block in ~/.tofurc:1");
    assert_eq!(run("a.test:8443"), "none, by nothing");
}

#[test]
fn a_helper_is_asked_once_a_host() {
    let machine = Doubles::default().with_token_helper(HELPER, "get d.test", 0, "{}");
    let run = Run::new(&[], "credentials_helper \"vault\" {}", "{}", machine);
    for _ in 0..3 {
        assert_eq!(run.token("d.test"), "none, by the helper terraform-credentials-vault of ~/.tofurc:1");
    }
    run.token("a.test:8443");
    assert_eq!(run.machine.asked(), ["get d.test", "get a.test:8443"]);
}

/// What becomes of a helper's answer.
#[track_caller]
fn check_answer(exit: i32, output: &str, want: &str) {
    let machine = Doubles::default().with_token_helper(HELPER, "--deep SECRET-ARGUMENT get d.test", exit, output);
    let got = Run::new(&[], NAMED, "{}", machine).token("d.test");
    assert_eq!(got.strip_prefix("the token of d.test is unknown: ").unwrap_or(&got), want, "{output}");
}

#[test]
fn a_helper_that_fails_is_an_error_without_its_words() {
    let none = "none, by the helper terraform-credentials-vault of ~/.tofurc:1";
    let failed = |what: &str| format!("terraform-credentials-vault {what}; it is named by ~/.tofurc:1 (helper-failed)");
    check_answer(0, "{}", none);
    check_answer(0, "null", none);
    check_answer(0, r#"{"token": null, "password": "SECRET"}"#, none);
    check_answer(0, r#"{"token": ["SECRET"]}"#, &failed("answered with a token that is not a string"));
    check_answer(0, r#"["SECRET"]"#, &failed("answered with something other than a JSON object"));
    check_answer(0, "SECRET", &failed("answered with something other than JSON"));
    check_answer(0, "", &failed("answered with something other than JSON"));
    check_answer(3, r#"{"token": "SECRET"}"#, &failed("ended with exit code 3"));
    check_answer(
        0,
        r#"{"token": "SEC\nRET"}"#,
        "that of the helper terraform-credentials-vault of ~/.tofurc:1 has characters that no header can carry \
         (token-unusable)",
    );
}

#[test]
fn a_helper_without_a_program_is_a_warning_and_no_token() {
    let run = Run::new(&[], "credentials_helper \"other\" {}", "{}", Doubles::default());
    assert_eq!(run.token("d.test"), "none, by the helper terraform-credentials-other of ~/.tofurc:1");
    assert_eq!(run.token("e.test"), "none, by the helper terraform-credentials-other of ~/.tofurc:1");
    let warnings = run.warnings.0.lock().expect("nothing panics").clone();
    let want = "terraform-credentials-other is in no folder of plugins; it is named by ~/.tofurc:1 (helper-not-found)";
    assert_eq!(warnings, [want]);
}
