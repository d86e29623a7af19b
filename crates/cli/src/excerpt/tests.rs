//! How a line is shown.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use proptest::prelude::*;
use tofu_oci_mapper::config::{ConfigFiles, Environment, MEASURED, Os, read};
use tofu_oci_types::TofuRelease;

use super::*;

/// A main file in the home folder of `u`.
struct MainFile<'a>(&'a str);

impl ConfigFiles for MainFile<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        if self.exists(path) { Ok(self.0.as_bytes().to_vec()) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    fn list(&self, _: &Path) -> io::Result<Vec<OsString>> {
        Err(io::ErrorKind::NotFound.into())
    }

    fn is_dir(&self, _: &Path) -> bool {
        false
    }

    fn exists(&self, path: &Path) -> bool {
        path == Path::new("/home/u/.tofurc")
    }
}

fn read_text(text: &str, release: TofuRelease) -> CliConfigReading {
    let environment = Environment {
        os: Os::Unix,
        home: Some(PathBuf::from("/home/u")),
        app_data: None,
        launch_dir: PathBuf::from("/w"),
        working_dir: PathBuf::from("/w"),
        named: None,
        vars: BTreeMap::new(),
    };
    read(&environment, &MainFile(text), release)
}

/// Every problem, its message first.
fn all(reading: &CliConfigReading) -> String {
    let shown = |problem| of_problem(reading, problem);
    reading
        .problems
        .iter()
        .map(|problem| format!("{} ({})\n{}", printable(&problem.message), problem.code, shown(problem)))
        .collect()
}

fn reported(text: &str) -> String {
    all(&read_text(text, TofuRelease::V1_13))
}

fn method(text: &str) -> String {
    reported(&format!("provider_installation {{\n  {text}\n}}\n"))
}

#[test]
fn carets_stand_right_behind_tabs_and_wide_characters() {
    assert_snapshot!(reported("\thost = \"漢字\"\t\"x\"\n"), @r#"
    a name needs `= VALUE` or `{ … }` after it (hcl1-parse)
      --> /home/u/.tofurc:1:14
      |
    1 |  host = "漢字" "x"
      |                ^^^
      = instead: write NAME = VALUE in a line of its own, or NAME { … }
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this file
    "#);
    assert_snapshot!(method("direct {\n\t\tinclude = [\"漢字/\u{301}e\", \"漢字/*/x/y\"]\n  }"), @r#"
    `漢字/́e` is not a pattern of providers: the type may contain only letters, digits, and single dashes between them (include-pattern)
      --> /home/u/.tofurc:3:14
      |
    3 |   include = ["漢字/́e", "漢字/*/x/y"]
      |              ^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct { include = [\"a/b\", \"\u{202e}x\"] }"), @r#"
    `\u{202e}x` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern)
      --> /home/u/.tofurc:2:30
      |
    2 |   direct { include = ["a/b", "�x"] }
      |                              ^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
}

#[test]
fn a_long_line_is_cut_around_the_place() {
    let list = "\"acme/widget\", ".repeat(20);
    assert_snapshot!(method(&format!("direct {{ include = [{list}\"*/x\", {list}] }}")), @r#"
    `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:323
      |
    2 | …", "acme/widget", "acme/widget", "*/x", "acme/widget", "acme/widget", "acme/widget", "acme/widget", …
      |                                   ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [\"*/x\", {list}] }}")), @r#"
    `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:23
      |
    2 |   direct { include = ["*/x", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widge…
      |                       ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [{list}\"*/x\"] }}")), @r#"
    `*/x` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:2:323
      |
    2 | …, "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "acme/widget", "*/x"] }
      |                                                                                              ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method(&format!("direct {{ include = [\"{}\"] }}", "漢".repeat(120))), @r#"
    `漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (include-pattern)
      --> /home/u/.tofurc:2:23
      |
    2 |   direct { include = ["漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢漢…
      |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
}

#[test]
fn the_user_of_a_url_in_the_line_is_masked() {
    for url in ["http://ada:hunter2@x.test/", "https://ada:hunter2@x y/", "https://hunter2@/", "http://a:b@hunter2@x"] {
        let shown = reported(&format!("provider_installation {{\n  network_mirror {{ url = \"{url}\" }}\n}}"));
        assert!(shown.contains("***") && !shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn the_user_of_a_repository_in_the_line_was_shown() {
    for line in ["from = \"me:hunter2@x.test/a\"", "from = 'hunter2@x.test/a'", "me:hunter2@x.test/a"] {
        let shown = excerpt("serve.toml", line, &(7..9));
        assert!(shown.contains("***@x.test/a") && !shown.contains("hunter2"), "{shown}");
    }
    let shown = excerpt("serve.toml", "from = \"git@x.test/a\" # ask 'ada@x.test'", &(7..9));
    assert!(shown.contains("git@x.test/a\" # ask 'ada@x.test'"), "{shown}");
}

#[test]
fn secrets_in_the_line_are_masked() {
    let texts = [
        "credentials \"a.example\" { token = \"hunter2\" } oops oops",
        "credentials \"a.example\" { token = \"hunter2\n}",
        "credentials \"a.example\" {\n  token = <<EOT\nhunter2\nEOT\n} ]",
        "credentials \"a.example\" {\n  token = <<EOT\nhunter2",
        "credentials \"a.example\" { token = hunter2 }",
        "credentials \"a.example\" { token\n=\nhunter2 }",
        "credentials \"a.example\" { token = 'hunter2' }",
        "credentials \"a.example\" { token = \"a\\\"hunter2\" } ]",
        "credentials \"a.example\" { token = \"a\"hunter2\" }",
        "credentials \"a.example\" { token = [\"hunter2\"] } ]",
        "credentials \"a.example\" { TOKEN = \"hunter2\" } ]",
        "credentials \"a.example\" { my_token = \"hunter2\" } ]",
        "{\"credentials\": {\"a.example\": {\"token\": \"hunter2\"}},,}",
        "{\"credentials\": {\"a.example\": {\"token\": \"hunter2}}",
        "{\"credentials\": {\"a.example\": {\"token\": hunter2}}",
        "oci_credentials \"ghcr.io\" { username = \"u\", password = \"hunter2\", access_token = \"hunter2\" } oci_credentials",
        "oci_credentials \"ghcr.io\" { username = \"u\" password = [\"hunter2\"] }",
        "oci_credentials \"ghcr.io\" { password = \"hunter2\" refresh_token = \"hunter2\" }",
        "oci_credentials \"ghcr.io\" { password = \"hunter2\\q\" }",
        "oci_credentials \"ghcr.io\" { password \"hunter2\" }",
        "credentials \"a.example\" { tokn = \"hunter2\" }",
        "credentials a.example {\n  tokn = \"hunter2\"\n}",
        "oci_credentials \"ghcr.io\" { username = \"u\", pasword = \"hunter2\" }",
        "oci_default_credentials {\n  discover_ambient_credential = \"hunter2\" ] }",
        "credentials_helper \"x\" { args = [\"--key\", \"hunter2\"] }]",
        "{\"oci_credentials\": [{\"ghcr.io\": [{\"pasword\": \"hunter2\"}]}]}",
        "{\"credentials\": {\"a.example\": {\"tokn\": \"hunter2\"}},,}",
    ];
    for text in texts {
        for release in MEASURED {
            let reading = read_text(text, release);
            let shown = all(&reading);
            assert!(!shown.is_empty(), "{text}");
            assert!(!shown.contains("hunter2"), "{text}\n{shown}");
            let debug = format!("{reading:?}");
            assert!(!debug.contains("hunter2"), "{text}\n{debug}");
        }
    }
    assert_snapshot!(reported("credentials \"a.example\" { token = \"hunter2\" } oops oops"), @r#"
    a block needs `{` after its labels, on the same or the next line (hcl1-parse)
      --> /home/u/.tofurc:1:47
      |
    1 | credentials "a.example" { token = *** } oops oops
      |                                         ^^^^^^^^^
      = instead: write NAME = VALUE in a line of its own, or NAME { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
    assert_snapshot!(reported("credentials \"a.example\" { token = \"hunter2"), @r#"
    this quote has no closing quote on its line (hcl1-parse)
      --> /home/u/.tofurc:1:35
      |
    1 | credentials "a.example" { token = ***
      |                                   ^^^
      = instead: write the closing quote, and `\n` for a line's end
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}

#[test]
fn addresses_are_shown_without_user_information_and_query() {
    for url in
        ["http://u:hunter2@m.example/", "http://m.example/?sig=hunter2", "http://u@v:hunter2/3@m.example/?hunter2"]
    {
        let shown = reported(&format!("provider_installation {{\n  network_mirror {{ url = \"{url}\" }}\n}}"));
        assert!(shown.contains("mirror-url") && !shown.contains("hunter2"), "{url}\n{shown}");
    }
}

#[test]
fn what_is_no_secret_is_shown() {
    assert_snapshot!(reported("# credentials\nprovider_installation {\n  direct { exclude = [\"a\"] }\n}"), @r#"
    `a` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (exclude-pattern)
      --> /home/u/.tofurc:3:23
      |
    3 |   direct { exclude = ["a"] }
      |                       ^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(reported("credentials \"a.example\" { token = \"}\" }\nplugin_cach_dir = \"/m\""), @r#"
    there is no setting plugin_cach_dir (misspelt-name)
      --> /home/u/.tofurc:2:1
      |
    2 | plugin_cach_dir = "/m"
      | ^^^^^^^^^^^^^^^
      = instead: write plugin_cache_dir
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("oci_default_credentials { discover_ambient_credentials = \"yes\" }"), @r#"
    discover_ambient_credentials must be `true` or `false` without quotes, and this is a text (block-argument-type)
      --> /home/u/.tofurc:1:58
      |
    1 | oci_default_credentials { discover_ambient_credentials = "yes" }
      |                                                          ^^^^^
      = instead: give discover_ambient_credentials `true` or `false` without quotes
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
}

/// Pieces of texts: names, blocks, secrets, tabs, wide, combining and invisible characters, line ends.
const PIECES: [&str; 16] = [
    "host",
    " = ",
    "\"a\"",
    "{",
    "}",
    "\n",
    "\r\n",
    "\t",
    "漢字",
    "e\u{301}",
    "\u{202e}",
    "\u{200b}",
    "\0",
    "token = \"x\"",
    "credentials \"a.example\" { ",
    "\"acme/widget\", \"acme/widget\", \"acme/widget\", ",
];

/// What stands in a column of a line.
fn in_column(line: &str, column: usize) -> Option<char> {
    let mut at = 0;
    line.chars().find(|character| {
        let found = at == column && character.width() != Some(0);
        at += character.width().unwrap_or(0);
        found
    })
}

proptest! {
    #[test]
    fn every_place_in_a_text_has_carets_below_it(
        pieces in prop::collection::vec(prop::sample::select(&PIECES[..]), 0..40),
        start in 0..500_usize,
        length in 0..80_usize,
    ) {
        let text = pieces.concat();
        let start = text.floor_char_boundary(start.min(text.len()));
        let shown = excerpt("/f", &text, &(start..start + length));
        let lines: Vec<&str> = shown.lines().collect();
        prop_assert_eq!(lines.len(), 4, "{}", shown);
        let below = |line: &'_ str| line.split_once('|').map(|(_, rest)| rest.strip_prefix(' ').unwrap_or(rest).to_owned());
        let (source, marks) = (below(lines[2]).unwrap(), below(lines[3]).unwrap());
        let left = marks.len() - marks.trim_start().len();
        prop_assert!(!marks.trim().is_empty() && marks.trim().bytes().all(|byte| byte == b'^'), "{}", shown);
        let width: usize = source.chars().map(|character| character.width().unwrap_or(0)).sum();
        prop_assert!(width <= WIDTH + 2 && marks.len() <= WIDTH + 3, "{}", shown);
        if let Some(character) = text[start..].chars().next()
            && !source.contains(MASK)
            && !is_unprintable(character)
            && !character.is_whitespace()
            && character.width() != Some(0)
        {
            prop_assert_eq!(in_column(&source, left), Some(character), "{}", shown);
        }
    }
}
