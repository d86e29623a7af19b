//! `provider_installation` and its methods.

use insta::assert_snapshot;

use super::{method, reported};

#[test]
fn provider_installation_that_is_no_block() {
    assert_snapshot!(reported("provider_installation = {\n  direct {\n  }\n}\n"), @r#"
    Error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:1 "provider_installation"
      = instead: leave the = out: provider_installation { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this block
    "#);
    assert_snapshot!(reported("provider_installation \"x\" {\n  direct {\n  }\n}\n"), @r#"
    Error: provider_installation has no label (block-label)
      --> /home/u/.tofurc:1:23 "\"x\""
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(reported("provider_installation {\n  direct {\n  }\n}\nprovider_installation {\n}\n"), @r#"
    Error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:5:1 "provider_installation"
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(reported("{\"provider_installation\": \"x\"}"), @r#"
    Error: provider_installation must be a block (block-equals)
      --> /home/u/.tofurc:1:2 "\"provider_installation\""
      = instead: write an object, and in it each method as a list: "direct": [{}]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this block
    "#);
    assert_snapshot!(reported("{\"provider_installation\": {\"oci_mirror\": {\"repository_template\": \"ghcr.io/x\"}, \"direct\": {}}}"), @r#"
    Error: repository_template is taken for a method, and is not a block (method-not-block)
      --> /home/u/.tofurc:1:43 "\"repository_template\""
      = instead: write every method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    Error: provider_installation is given a second time (two-blocks)
      --> /home/u/.tofurc:1:2 "\"provider_installation\""
      = instead: put all methods into one block, the first to be asked first
      = OpenTofu 1.13: prints an error that names no line, and uses the first one
    "#);
    assert_snapshot!(reported("{\"provider_installation\": {\"direct\": \"yes\"}}"), @r#"
    Error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:1:28 "\"direct\""
      = instead: write the method as a list: "direct": [{ … }]
      = OpenTofu 1.13: prints an error that names no line, and goes on without this entry
    "#);
}

#[test]
fn methods_that_are_dropped() {
    assert_snapshot!(method("direct = {\n  }"), @r#"
    Error: direct must be a block (method-not-block)
      --> /home/u/.tofurc:2:3 "direct"
      = instead: leave the = out: direct { … }
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    "#);
    assert_snapshot!(method("foo = 1"), @r#"
    Error: foo must be a block (method-not-block)
      --> /home/u/.tofurc:2:3 "foo"
      = instead: leave it out: only method blocks such as direct { … } stand in provider_installation
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    "#);
    assert_snapshot!(method("direct \"x\" {\n  }"), @r#"
    Error: direct has no label (method-label)
      --> /home/u/.tofurc:2:10 "\"x\""
      = instead: leave the label out
      = OpenTofu 1.13: prints an error that names line 1, and uses it all the same
    "#);
    assert_snapshot!(method("oci_miror {\n  }"), @r#"
    Error: there is no installation method oci_miror (unknown-method)
      --> /home/u/.tofurc:2:3 "oci_miror"
      = instead: write oci_mirror
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(method("s3 {\n  }"), @r#"
    Error: there is no installation method s3 (unknown-method)
      --> /home/u/.tofurc:2:3 "s3"
      = instead: write one of direct, filesystem_mirror, network_mirror, oci_mirror, dev_overrides
      = OpenTofu 1.13: prints an error that names line 2, and goes on without this method
    "#);
    assert_snapshot!(method("filesystem_mirror {\n  }"), @r#"
    Error: filesystem_mirror needs path (path-required)
      --> /home/u/.tofurc:2:3 "filesystem_mirror"
      = instead: write path = "/usr/share/providers"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"\"\n  }"), @r#"
    Error: network_mirror needs url (url-required)
      --> /home/u/.tofurc:2:3 "network_mirror"
      = instead: write url = "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method
    "#);
    assert_snapshot!(method("network_mirror {\n    url = \"http://mirror.example.com/\"\n  }"), @r#"
    Error: a network mirror cannot be at this url: it must begin with https:// (mirror-url)
      --> /home/u/.tofurc:3:11 "\"http://mirror.example.com/\""
      = instead: write an address such as "https://mirror.example.com/providers/"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(method("direct {\n    include = \"a/b\"\n  }"), @r#"
    Error: include must be a list, and this is a text (decode)
      --> /home/u/.tofurc:3:15 "\"a/b\""
      = instead: write include = ["…"]
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method
    "#);
    assert_snapshot!(method("direct {\n    include = [\"a/b\", \"*/b\"]\n  }"), @r#"
    Error: `*/b` is not a pattern of providers: a namespace can be * only if the type is * too (include-pattern)
      --> /home/u/.tofurc:3:23 "\"*/b\""
      = instead: write the namespace, or * for the type too
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(method("direct {\n    exclude = [\"a/b/c/d\"]\n  }"), @r#"
    Error: `a/b/c/d` is not a pattern of providers: it must read [HOST/]NAMESPACE/TYPE (exclude-pattern)
      --> /home/u/.tofurc:3:16 "\"a/b/c/d\""
      = instead: write HOST/NAMESPACE/TYPE, such as "registry.opentofu.org/acme/*"
      = OpenTofu 1.13: prints an error that names no line, and goes on without this method
    "#);
    assert_snapshot!(method("direct {\n    download_retry_count = \"many\"\n  }"), @r#"
    Error: download_retry_count must be a whole number of 64 bits, and this is a text (decode)
      --> /home/u/.tofurc:3:28 "\"many\""
      = instead: give download_retry_count a whole number of 64 bits
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this method
    "#);
    assert_snapshot!(method("direct {\n  }\n  dev_overrides {\n    \"a/b\" = \"/x\"\n  }"), @r#"
    Error: dev_overrides must stand before all methods (dev-overrides-order)
      --> /home/u/.tofurc:4:3 "dev_overrides"
      = instead: move it to the top of provider_installation
      = OpenTofu 1.13: prints an error that names line 4, and goes on without this method
    "#);
    assert_snapshot!(method("dev_overrides {\n    \"example.com/acme/terraform-provider-zap\" = \"/x\"\n  }"), @r#"
    Error: `example.com/acme/terraform-provider-zap` is not a provider address: the type is written without its prefix; did you mean example.com/acme/zap? (dev-overrides-address)
      --> /home/u/.tofurc:3:5 "\"example.com/acme/terraform-provider-zap\""
      = instead: write "example.com/acme/zap"
      = OpenTofu 1.13: prints an error that names line 1, and goes on without this entry
    "#);
}
