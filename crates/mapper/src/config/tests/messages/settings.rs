//! What stands beside the methods.

use insta::assert_snapshot;

use super::{method, reported};

#[test]
fn a_host_with_a_dot_at_its_end_is_refused_which_opentofu_takes_for_another_host() {
    assert_snapshot!(reported("host \"example.com.\" {\n}\n"), @r#"
    Error: `example.com.` is not a hostname: it ends with a dot; write it without the dot (invalid-host-label)
      --> /home/u/.tofurc:1:6 "\"example.com.\""
      = instead: write host "registry.example.com"
      = OpenTofu 1.13: uses it all the same
    "#);
    assert_snapshot!(method("direct {\n    exclude = [\"example.com./*/*\"]\n  }"), @r#"
    Error: `example.com./*/*` is not a pattern of providers: `example.com.` is not a hostname: it ends with a dot; write it without the dot (exclude-pattern)
      --> /home/u/.tofurc:3:16 "\"example.com./*/*\""
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: uses it all the same
    "#);
    let overrides = "dev_overrides {\n    \"example.com./acme/zap\" = \"/zap\"\n  }";
    assert_snapshot!(method(overrides), @r#"
    Error: `example.com./acme/zap` is not a provider address: `example.com.` is not a hostname: it ends with a dot; write it without the dot (dev-overrides-address)
      --> /home/u/.tofurc:3:5 "\"example.com./acme/zap\""
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/widget"
      = OpenTofu 1.13: uses it all the same
    "#);
}

#[test]
fn settings_beside_the_methods() {
    assert_snapshot!(reported("host \"bad_host!\" {\n}\n"), @r#"
    Error: `bad_host!` is not a hostname: it may contain only letters, digits, dots, and dashes between them (invalid-host-label)
      --> /home/u/.tofurc:1:6 "\"bad_host!\""
      = instead: write host "registry.example.com"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
    assert_snapshot!(reported("credentials \"bad_host!\" {\n  token = \"hunter2\"\n}\n"), @r#"
    Error: `bad_host!` is not a hostname: it may contain only letters, digits, dots, and dashes between them (invalid-host-label)
      --> /home/u/.tofurc:1:13 "\"bad_host!\""
      = instead: write credentials "registry.example.com"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
    assert_snapshot!(reported("credentials_helper \"a\" {\n}\ncredentials_helper \"b\" {\n}\n"), @r#"
    Error: credentials_helper is given a second time (two-helpers)
      --> /home/u/.tofurc:3:20 "\"b\""
      = instead: leave one of them out
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(reported("plugin_cache_dir = \"$HOME/nosuch\"\n"), @r#"
    Error: plugin_cache_dir names /nosuch, which is not there (plugin-cache-dir)
      --> /home/u/.tofurc:1:20 "\"$HOME/nosuch\""
      = instead: create the folder, mkdir -p /nosuch; or leave plugin_cache_dir out
      = OpenTofu 1.13: prints an error that names no line, and uses it all the same
    "#);
    assert_snapshot!(reported("registry_protocols {\n  retry_count = \"x\"\n}\nregistry_protocols {\n}\n"), @r#"
    Error: retry_count must be a whole number of 64 bits, and this is a text (decode)
      --> /home/u/.tofurc:2:17 "\"x\""
      = instead: give retry_count a whole number of 64 bits
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    Error: registry_protocols is given twice (duplicate-block)
      --> /home/u/.tofurc:4:1 "registry_protocols"
      = instead: put both arguments into one block
      = OpenTofu 1.13: prints an error that names line 1, and uses the first one
    "#);
    assert_snapshot!(reported("registry_protocols = 1\n"), @r#"
    Error: registry_protocols must be a block (block-equals)
      --> /home/u/.tofurc:1:1 "registry_protocols"
      = instead: write registry_protocols { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
}

#[test]
fn what_only_this_program_complains_about() {
    assert_snapshot!(reported("provider_instalation {\n}\n"), @r#"
    Error: there is no setting provider_instalation (misspelt-name)
      --> /home/u/.tofurc:1:1 "provider_instalation"
      = instead: write provider_installation
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(method("direct {\n    exclud = [\"a/b\"]\n  }"), @r#"
    Error: there is no argument exclud (misspelt-name)
      --> /home/u/.tofurc:3:5 "exclud"
      = instead: write exclude
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("tofu_oci {\n  magic_suffix = \"a:1\"\n  magic = 1\n}\n"), @r#"
    Error: tofu_oci has no argument magic (tofu-oci-block)
      --> /home/u/.tofurc:3:3 "magic"
      = instead: write magic_suffix
      = OpenTofu 1.13: says nothing, and ignores it
    Error: `a:1` cannot be a hostname suffix (tofu-oci-block)
      --> /home/u/.tofurc:2:18 "\"a:1\""
      = instead: write a hostname such as "oci.example.com"
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("tofu_oci = 1\n"), @r#"
    Error: tofu_oci must be a block without a label (tofu-oci-block)
      --> /home/u/.tofurc:1:1 "tofu_oci"
      = instead: write tofu_oci { magic_suffix = "oci.example.com" }
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("tofu_oci {\n  magic_suffix = \"a.example\"\n}\ntofu_oci {\n  magic_suffix = \"b.example\"\n}\n"), @r#"
    Error: magic_suffix is given twice (tofu-oci-block)
      --> /home/u/.tofurc:5:18 "\"b.example\""
      = instead: leave one of them out
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("tofu_oci {\n  magic_suffix = [1]\n}\n"), @r#"
    Error: magic_suffix must be a text in quotes, and this is a list (tofu-oci-block)
      --> /home/u/.tofurc:2:18 "[1]"
      = instead: write magic_suffix = "…"
      = OpenTofu 1.13: says nothing, and ignores it
    "#);
    assert_snapshot!(reported("plugin_cache_dir = \"\\uD8\"\n"), @r#"
    Error: `\u` needs four hexadecimal digits (hcl1-parse)
      --> /home/u/.tofurc:1:21 "\\uD8"
      = instead: write `\\` for a backslash itself
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this file
    "#);
}
