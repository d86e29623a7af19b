//! Files that cannot be read.

use insta::assert_snapshot;

use super::super::super::read;
use super::super::{MemoryFiles, environment};
use super::{all, reported};
use tofu_oci_types::TofuRelease;

#[test]
fn a_file_that_cannot_be_read() {
    let world = |vars: &[(&str, &str)], files: &[(&str, &str)]| {
        let mut environment = environment();
        environment.vars.extend(vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let mut memory = MemoryFiles::default();
        for (path, text) in files {
            memory.add(path, text);
        }
        all(&read(&environment, &memory, TofuRelease::V1_13))
    };
    assert_snapshot!(world(&[("TF_CLI_CONFIG_FILE", "/nosuch.rc")], &[]), @"
    Warning: TF_CLI_CONFIG_FILE names /nosuch.rc, which is not there (cli-config-missing)
      --> /nosuch.rc
      = instead: name a file that is there, or unset TF_CLI_CONFIG_FILE to have the usual files read
      = OpenTofu 1.13: warns, and goes on without this file
    ");
    assert_snapshot!(world(&[("TF_CLI_CONFIG_FILE", "/home/u")], &[("/home/u/x", "")]), @"
    Error: /home/u cannot be read: it is a folder (cli-config-unreadable)
      --> /home/u
      = instead: name a readable file here
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    ");
    assert_snapshot!(world(&[], &[("/home/u/.terraform.d/a.tfrc/x", "")]), @"
    Error: /home/u/.terraform.d/a.tfrc cannot be read: it is a folder (cli-config-unreadable)
      --> /home/u/.terraform.d/a.tfrc
      = instead: name a readable file here
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    ");
    assert_snapshot!(world(&[("TF_PLUGIN_CACHE_DIR", "/nosuch")], &[]), @"
    Error: TF_PLUGIN_CACHE_DIR names /nosuch, which is not there (plugin-cache-dir)
      = instead: create the folder, mkdir -p /nosuch; or unset TF_PLUGIN_CACHE_DIR
      = OpenTofu 1.13: prints an error that names no line, and uses it all the same
    ");
}

#[test]
fn a_syntax_error_drops_the_whole_file() {
    assert_snapshot!(reported("provider_installation {\n  direct {\n  }\n"), @r#"
    Error: this brace is not closed; its `}` is missing (hcl1-parse)
      --> /home/u/.tofurc:1:23 "{"
      = instead: write the closing part where it belongs
      = OpenTofu 1.13: prints an error that names line 4, and goes on without this file
    "#);
    assert_snapshot!(reported("a = 1\na = 2\n"), @r#"
    Error: the argument `a` was already set; each can be given once only (hcl1-parse)
      --> /home/u/.tofurc:2:1 "a"
      = instead: write each argument once; of a list, all in one pair of brackets
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this file
    "#);
    assert_snapshot!(reported("x = 'a'\n"), @r#"
    Error: `'` cannot stand here; texts stand in double quotes (hcl1-parse)
      --> /home/u/.tofurc:1:5 "'"
      = instead: write "…", in plain double quotes
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
    assert_snapshot!(reported("\u{feff}a = 1\n"), @r#"
    Error: the file starts with a byte order mark; save it as UTF-8 without one (hcl1-parse)
      --> /home/u/.tofurc:1:1 "\u{feff}"
      = instead: write the file as UTF-8 without a byte order mark
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
    assert_snapshot!(reported("{\"provider_installation\": {\"oci_mirror\": {,}}}"), @r#"
    Error: a comma can stand only after an item (hcl1-parse)
      --> /home/u/.tofurc:1:43 ","
      = instead: write the same without it
      = OpenTofu 1.13: prints an error that names no line, and goes on without this file
    "#);
    assert_snapshot!(reported("plugin_cache_dir = [\"a\"]\n"), @r#"
    Error: plugin_cache_dir must be a text in quotes, and this is a list (hcl1-parse)
      --> /home/u/.tofurc:1:20 "[\"a\"]"
      = instead: write plugin_cache_dir = "…"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}
