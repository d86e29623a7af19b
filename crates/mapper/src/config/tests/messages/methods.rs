//! `provider_installation` and its methods.

use insta::assert_snapshot;

use super::{method, told};

#[test]
fn provider_installation_that_is_no_block() {
    assert_snapshot!(told("provider_installation = {\n  direct {\n  }\n}\n"), @"
    error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:1
      |
    1 | provider_installation = {
      | ^^^^^^^^^^^^^^^^^^^^^
      = instead: leave the = out: provider_installation { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    ");
    assert_snapshot!(told("provider_installation \"x\" {\n  direct {\n  }\n}\n"), @r#"
    error: provider_installation has no label (block-label)
      --> /home/u/.tofurc:1:23
      |
    1 | provider_installation "x" {
      |                       ^^^
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(told("provider_installation {\n  direct {\n  }\n}\nprovider_installation {\n}\n"), @"
    error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:5:1
      |
    5 | provider_installation {
      | ^^^^^^^^^^^^^^^^^^^^^
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    ");
    assert_snapshot!(told("{\"provider_installation\": \"x\"}"), @r#"
    error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:2
      |
    1 | {"provider_installation": "x"}
      |  ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write an object, and in it each method as a list: "direct": [{}]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    "#);
    assert_snapshot!(told("{\"provider_installation\": {\"oci_mirror\": {\"repository_template\": \"ghcr.io/x\"}, \"direct\": {}}}"), @r#"
    error: repository_template is taken for a method, and is no block (method-not-block)
      --> /home/u/.tofurc:1:43
      |
    1 | {"provider_installation": {"oci_mirror": {"repository_template": "ghcr.io/x"}, "direct": {}}}
      |                                           ^^^^^^^^^^^^^^^^^^^^^
      = instead: write every method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:1:2
      |
    1 | {"provider_installation": {"oci_mirror": {"repository_template": "ghcr.io/x"}, "direct": {}}}
      |  ^^^^^^^^^^^^^^^^^^^^^^^
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(told("{\"provider_installation\": {\"direct\": \"yes\"}}"), @r#"
    error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:1:28
      |
    1 | {"provider_installation": {"direct": "yes"}}
      |                            ^^^^^^^^
      = instead: write the method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
}

#[test]
fn methods_that_are_dropped() {
    assert_snapshot!(method("direct = {\n  }"), @"
    error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:2:3
      |
    2 |   direct = {
      |   ^^^^^^
      = instead: leave the = out: direct { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    ");
    assert_snapshot!(method("foo = 1"), @"
    error: foo must be a block (method-not-block)
      --> /home/u/.tofurc:2:3
      |
    2 |   foo = 1
      |   ^^^
      = instead: leave it out: only method blocks such as direct { … } stand in provider_installation
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    ");
    assert_snapshot!(method("direct \"x\" {\n  }"), @r#"
    error: direct has no label (method-label)
      --> /home/u/.tofurc:2:10
      |
    2 |   direct "x" {
      |          ^^^
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(method("oci_miror {\n  }"), @"
    error: there is no installation method oci_miror (unknown-method)
      --> /home/u/.tofurc:2:3
      |
    2 |   oci_miror {
      |   ^^^^^^^^^
      = instead: write oci_mirror
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("s3 {\n  }"), @"
    error: there is no installation method s3 (unknown-method)
      --> /home/u/.tofurc:2:3
      |
    2 |   s3 {
      |   ^^
      = instead: write one of direct, filesystem_mirror, network_mirror, oci_mirror, dev_overrides
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("filesystem_mirror {\n  }"), @r#"
    error: filesystem_mirror needs path (path-required)
      --> /home/u/.tofurc:2:3
      |
    2 |   filesystem_mirror {
      |   ^^^^^^^^^^^^^^^^^
      = instead: write path = "/usr/share/providers"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"\"\n  }"), @r#"
    error: network_mirror needs url (url-required)
      --> /home/u/.tofurc:2:3
      |
    2 |   network_mirror {
      |   ^^^^^^^^^^^^^^
      = instead: write url = "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"http://mirror.example.com/\"\n  }"), @r#"
    error: a network mirror cannot be at this url: it must begin with https:// (mirror-url)
      --> /home/u/.tofurc:3:11
      |
    3 |     url = "http://mirror.example.com/"
      |           ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write an address such as "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    include = \"a/b\"\n  }"), @r#"
    error: include must be a list, and this is a text (decode)
      --> /home/u/.tofurc:3:15
      |
    3 |     include = "a/b"
      |               ^^^^^
      = instead: write include = ["…"]
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    include = [\"a/b\", \"*/b\"]\n  }"), @r#"
    error: `*/b` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:3:23
      |
    3 |     include = ["a/b", "*/b"]
      |                       ^^^^^
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    exclude = [\"a/b/c/d\"]\n  }"), @r#"
    error: `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (exclude-pattern)
      --> /home/u/.tofurc:3:16
      |
    3 |     exclude = ["a/b/c/d"]
      |                ^^^^^^^^^
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n    download_retry_count = \"many\"\n  }"), @r#"
    error: download_retry_count must be a whole number of 64 bits, and this is a text (decode)
      --> /home/u/.tofurc:3:28
      |
    3 |     download_retry_count = "many"
      |                            ^^^^^^
      = instead: give download_retry_count a whole number of 64 bits
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method; the others serve
    "#);
    assert_snapshot!(method("direct {\n  }\n  dev_overrides {\n    \"a/b\" = \"/x\"\n  }"), @"
    error: dev_overrides must stand before all methods (dev-overrides-order)
      --> /home/u/.tofurc:4:3
      |
    4 |   dev_overrides {
      |   ^^^^^^^^^^^^^
      = instead: move it to the top of provider_installation
      = OpenTofu 1.13: prints an error that names line 4, and goes on without this method; the others serve
    ");
    assert_snapshot!(method("dev_overrides {\n    \"example.com/acme/terraform-provider-zap\" = \"/x\"\n  }"), @r#"
    error: `example.com/acme/terraform-provider-zap` is not a provider address: the type is written without its prefix; did you mean example.com/acme/zap? (dev-overrides-address)
      --> /home/u/.tofurc:3:5
      |
    3 |     "example.com/acme/terraform-provider-zap" = "/x"
      |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      = instead: write "example.com/acme/zap"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    "#);
}
