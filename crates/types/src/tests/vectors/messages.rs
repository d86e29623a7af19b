//! What a user sees for every refused input of the tables. The project's own tables are read, so that the list stays.

use std::fmt::Display;
use std::str::FromStr;

use insta::assert_snapshot;
use serde_json::Value;
use tofu_oci_vectors::Vectors;

use super::text;
use crate::{Constraints, Hostname, ModuleSource, Platform, ProviderAddr, RepositoryRef, Tag, Version, idn};

/// One line for each refused input: the input, and what is said about it.
fn refused<E: Display>(cases: &[Value], input: &str, read: impl Fn(&str) -> Option<E>) -> String {
    let line = |case| {
        let input: &str = text(case, input);
        read(input).map(|error| format!("{input:?} -> {error}\n"))
    };
    let lines: String = cases.iter().filter_map(line).collect();
    lines.replace(&"a".repeat(65), "(65 times a)")
}

fn parse<T: FromStr>(text: &str) -> Option<T::Err> {
    text.parse::<T>().err()
}

#[test]
fn parts_of_addresses() {
    let table = Vectors::own("address.json");
    let table = refused(table.cases("parts"), "input", |text| idn::part(text).err().map(idn::PartFault::reason));
    assert_snapshot!(table, @r#"
    "xn--80akhbyknj4f" -> contains two dashes in a row
    "abc.123" -> contains a dot
    "abc123-" -> may contain only letters, digits, and dashes between them
    "" -> is empty
    "-" -> may contain only letters, digits, and dashes between them
    "_" -> may contain only letters, digits, and dashes between them
    "a_b" -> may contain only letters, digits, and dashes between them
    "a b" -> may contain only letters, digits, and dashes between them
    "a\tb" -> may contain only letters, digits, and dashes between them
    "a/b" -> may contain only letters, digits, and dashes between them
    "a@b" -> may contain only letters, digits, and dashes between them
    "a+b" -> may contain only letters, digits, and dashes between them
    "a~b" -> may contain only letters, digits, and dashes between them
    "\u{200c}" -> may contain only letters, digits, and dashes between them
    "a\u{200c}b" -> may contain only letters, digits, and dashes between them
    "\u{300}a" -> may contain only letters, digits, and dashes between them
    "a。b" -> contains a dot
    "a．b" -> contains a dot
    "'" -> may contain only letters, digits, and dashes between them
    "#);
}

#[test]
fn hostnames() {
    assert_snapshot!(refused(Vectors::own("address.json").cases("hosts"), "input", parse::<Hostname>), @r#"
    "example.com:65536" -> `example.com:65536` is not a hostname: the port is above 65535
    "example.com:x" -> `example.com:x` is not a hostname: after the colon there must be a port number
    "example.com:-5" -> `example.com:-5` is not a hostname: after the colon there must be a port number
    "" -> `` is not a hostname: it is empty
    "example..com" -> `example..com` is not a hostname: there is nothing between two of its dots
    ".example.com" -> `.example.com` is not a hostname: there is nothing between two of its dots
    "example.com." -> `example.com.` is not a hostname: it ends with a dot; write it without the dot
    "xn--fiq228c.com" -> `xn--fiq228c.com` is not a hostname: a name beginning with xn-- is written in Unicode here
    "https://example.com" -> `https://example.com` is not a hostname: it is written without a scheme such as https://
    "::1" -> `::1` is not a hostname: after the colon there must be a port number
    "foo_bar.com" -> `foo_bar.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "foo-.com" -> `foo-.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "ab--cd.com" -> `ab--cd.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "*.example.com" -> `*.example.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "example.com/foo" -> `example.com/foo` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "@.com" -> `@.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "a@b.com" -> `a@b.com` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "#);
}

#[test]
fn provider_addresses() {
    assert_snapshot!(refused(Vectors::own("address.json").cases("sources"), "input", parse::<ProviderAddr>), @r#"
    "example.com:99999/foo/bar" -> `example.com:99999/foo/bar` is not a provider address: `example.com:99999` is not a hostname: the port is above 65535
    "example.com:/foo/bar" -> `example.com:/foo/bar` is not a provider address: `example.com:` is not a hostname: after the colon there must be a port number
    "example.com:abc/foo/bar" -> `example.com:abc/foo/bar` is not a provider address: `example.com:abc` is not a hostname: after the colon there must be a port number
    "example.com:-1/foo/bar" -> `example.com:-1/foo/bar` is not a provider address: `example.com:-1` is not a hostname: after the colon there must be a port number
    "example.com/too/many/parts/here" -> `example.com/too/many/parts/here` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "/too///many//slashes" -> `/too///many//slashes` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "///" -> `///` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "/ / /" -> `/ / /` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "badhost!/hashicorp/aws" -> `badhost!/hashicorp/aws` is not a provider address: `badhost!` is not a hostname: it may contain only letters, digits, dots, and dashes between them
    "example.com/badnamespace!/aws" -> `example.com/badnamespace!/aws` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "example.com/bad--namespace/aws" -> `example.com/bad--namespace/aws` is not a provider address: the namespace contains two dashes in a row
    "example.com/-badnamespace/aws" -> `example.com/-badnamespace/aws` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "example.com/badnamespace-/aws" -> `example.com/badnamespace-/aws` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "example.com/hashicorp/bad--type" -> `example.com/hashicorp/bad--type` is not a provider address: the type contains two dashes in a row
    "example.com/hashicorp/-badtype" -> `example.com/hashicorp/-badtype` is not a provider address: the type may contain only letters, digits, and dashes between them
    "example.com/hashicorp/badtype-" -> `example.com/hashicorp/badtype-` is not a provider address: the type may contain only letters, digits, and dashes between them
    "example.com/opentofu/opentofu-provider-bad" -> `example.com/opentofu/opentofu-provider-bad` is not a provider address: the type is written without its prefix; did you mean example.com/opentofu/bad?
    "example.com/opentofu/opentofu-bad" -> `example.com/opentofu/opentofu-bad` is not a provider address: the type must not begin with terraform- or opentofu-
    "example.com/opentofu/terraform-provider-bad" -> `example.com/opentofu/terraform-provider-bad` is not a provider address: the type is written without its prefix; did you mean example.com/opentofu/bad?
    "example.com/opentofu/terraform-bad" -> `example.com/opentofu/terraform-bad` is not a provider address: the type must not begin with terraform- or opentofu-
    "opentofu/terraform-provider-bad" -> `opentofu/terraform-provider-bad` is not a provider address: the type is written without its prefix; did you mean opentofu/bad?
    "terraform-provider-" -> `terraform-provider-` is not a provider address: the type may contain only letters, digits, and dashes between them
    "" -> `` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "hashicorp/" -> `hashicorp/` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "a/b/" -> `a/b/` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "foo/baz_qux" -> `foo/baz_qux` is not a provider address: the type may contain only letters, digits, and dashes between them
    "foo bar/baz" -> `foo bar/baz` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "xn--80akhbyknj4f.com/foo/bar" -> `xn--80akhbyknj4f.com/foo/bar` is not a provider address: `xn--80akhbyknj4f.com` is not a hostname: a name beginning with xn-- is written in Unicode here
    "https://example.com/foo/bar" -> `https://example.com/foo/bar` is not a provider address: it must read [HOST/]NAMESPACE/TYPE
    "example.com/foo/ba\u{200d}r" -> `example.com/foo/ba‍r` is not a provider address: the type may contain only letters, digits, and dashes between them
    "foo/aא" -> `foo/aא` is not a provider address: the type may contain only letters, digits, and dashes between them
    "foo/*" -> `foo/*` is not a provider address: the type may contain only letters, digits, and dashes between them
    "?/aws" -> `?/aws` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "registry.opentofu.org/?/aws" -> `registry.opentofu.org/?/aws` is not a provider address: the namespace may contain only letters, digits, and dashes between them
    "#);
}

#[test]
fn versions() {
    assert_snapshot!(refused(Vectors::own("constraints.json").cases("versions"), "input", parse::<Version>), @r#"
    "1.2.3-a_b" -> `1.2.3-a_b` is not a version: it has characters that a version cannot have
    "1.2.3-+" -> `1.2.3-+` is not a version: it has characters that a version cannot have
    "v1.0.0" -> `v1.0.0` is not a version: it is written without a v before it
    "V1.0.0" -> `V1.0.0` is not a version: it must read MAJOR.MINOR.PATCH
    " 1.0.0" -> ` 1.0.0` is not a version: there is a blank before it
    "1.0.0\n" -> `1.0.0
    ` is not a version: there is a blank after it
    "  " -> `  ` is not a version: it is empty
    "1.0.0.0" -> `1.0.0.0` is not a version: it has more than three numbers
    "1.2.3.4-beta" -> `1.2.3.4-beta` is not a version: it has more than three numbers
    "*" -> `*` is not a version: one exact version is wanted, without wildcards
    "x" -> `x` is not a version: one exact version is wanted, without wildcards
    "=1.0.0" -> `=1.0.0` is not a version: it must begin with a number
    ">=1.0.0" -> `>=1.0.0` is not a version: it is a constraint, and one exact version is wanted
    "1.0.0,2.0.0" -> `1.0.0,2.0.0` is not a version: one exact version is wanted, not several
    "1.0.0 2.0.0" -> `1.0.0 2.0.0` is not a version: it has characters that a version cannot have
    "1.0.0 - 2.0.0" -> `1.0.0 - 2.0.0` is not a version: one exact version is wanted, not a range
    "1.0.0 || 2" -> `1.0.0 || 2` is not a version: one exact version is wanted, not several
    "." -> `.` is not a version: it must read MAJOR.MINOR.PATCH
    ".1" -> `.1` is not a version: it must read MAJOR.MINOR.PATCH
    "1a" -> `1a` is not a version: it has characters that a version cannot have
    "1.0.0a" -> `1.0.0a` is not a version: it has characters that a version cannot have
    "1.0.0-é" -> `1.0.0-é` is not a version: it has characters that a version cannot have
    "1.0.0_build" -> `1.0.0_build` is not a version: it has characters that a version cannot have
    "1.0.0-rc1_foo" -> `1.0.0-rc1_foo` is not a version: it has characters that a version cannot have
    "1.0.0~1" -> `1.0.0~1` is not a version: it has characters that a version cannot have
    "1.0.0+foo+bar" -> `1.0.0+foo+bar` is not a version: it has characters that a version cannot have
    "1.0.0-α" -> `1.0.0-α` is not a version: it has characters that a version cannot have
    "+1.0.0" -> `+1.0.0` is not a version: it must begin with a number
    "1.0.0-beta " -> `1.0.0-beta ` is not a version: there is a blank after it
    "#);
}

#[test]
fn constraints() {
    assert_snapshot!(refused(Vectors::own("constraints.json").cases("constraints"), "input", parse::<Constraints>), @r#"
    "=> 1.0" -> `=> 1.0` is not a version constraint: the operators are written >= and <=
    "~1.0" -> `~1.0` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>
    "^1.0" -> `^1.0` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>
    "! 1.0" -> `! 1.0` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>
    "== 1.0" -> `== 1.0` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>
    ">  1.0" -> `>  1.0` is not a version constraint: after an operator there is at most one blank
    ">\t1.0" -> `>	1.0` is not a version constraint: after an operator there is at most one blank
    "> v1.0" -> `> v1.0` is not a version constraint: versions are written without a v before them
    ">v1.0" -> `>v1.0` is not a version constraint: versions are written without a v before them
    "*" -> `*` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any
    "1.x" -> `1.x` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any
    "> 1.*" -> `> 1.*` is not a version constraint: wildcards are not supported; use ~>, and omit the numbers that may be any
    "1.0.0 2.0.0" -> `1.0.0 2.0.0` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "1.0.0 || 2.0.0" -> `1.0.0 || 2.0.0` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "1.0.0 - 2.0.0" -> `1.0.0 - 2.0.0` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "1.0.0,,2.0.0" -> `1.0.0,,2.0.0` is not a version constraint: there is nothing before one of its commas
    ",1.0.0" -> `,1.0.0` is not a version constraint: there is nothing before one of its commas
    "~> 1.2.3.4" -> `~> 1.2.3.4` is not a version constraint: a version has more than three numbers
    "foo" -> `foo` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "1.0.0foo" -> `1.0.0foo` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "> " -> `> ` is not a version constraint: an operator has no version after it
    "=" -> `=` is not a version constraint: an operator has no version after it
    "latest" -> `latest` is not a version constraint: its parts are versions, with or without an operator, separated by commas
    "<> 1" -> `<> 1` is not a version constraint: the operators are =, !=, >, >=, <, <= and ~>
    "~>  1.2" -> `~>  1.2` is not a version constraint: after an operator there is at most one blank
    "#);
}

#[test]
fn tags_that_are_not_those_of_a_version() {
    let table = refused(Vectors::own("tags.json").cases("tags"), "tag", |tag| {
        let read: Tag = tag.parse().expect("every tag of the table is one");
        let canonical = read.version().and_then(|version| Tag::for_version(&version).ok());
        match canonical {
            None => Some("no version".to_owned()),
            Some(canonical) => (canonical != read).then(|| format!("read as the version with the tag {canonical}")),
        }
    });
    assert_snapshot!(table, @r#"
    "latest" -> no version
    "v1.0.0" -> no version
    "1.0" -> read as the version with the tag 1.0.0
    "1" -> read as the version with the tag 1.0.0
    "1.0.0_a_b" -> no version
    "1.0.0.sig" -> no version
    "sha256-abc.sig" -> no version
    "_1.0.0" -> no version
    "1_0_0" -> no version
    "main" -> no version
    "01.0.0" -> read as the version with the tag 1.0.0
    "#);
}

#[test]
fn platforms() {
    assert_snapshot!(refused(Vectors::own("platforms.json").cases("platforms"), "input", parse::<Platform>), @r#"
    "linux" -> `linux` is not a platform: it must read OS_ARCH, such as linux_amd64
    "linux_amd64_v1" -> `linux_amd64_v1` is not a platform: it must read OS_ARCH, such as linux_amd64
    "_amd64" -> `_amd64` is not a platform: it must read OS_ARCH, such as linux_amd64
    "lin ux_amd64" -> `lin ux_amd64` is not a platform: it must read OS_ARCH, such as linux_amd64
    "linux_am d64" -> `linux_am d64` is not a platform: it must read OS_ARCH, such as linux_amd64
    "" -> `` is not a platform: it must read OS_ARCH, such as linux_amd64
    "linux_amd64\n" -> `linux_amd64
    ` is not a platform: it must read OS_ARCH, such as linux_amd64
    "#);
}

#[test]
fn repositories() {
    let table = Vectors::own("oci_credentials_match.json");
    assert_snapshot!(refused(table.cases("repository_address_prefix"), "input", parse::<RepositoryRef>), @r#"
    "example.com" -> `example.com` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget
    "example.com/foo:tag" -> `example.com/foo:tag` is not a repository address: it must name no tag and no digest
    "example.com/foo:t@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" -> `example.com/foo:t@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a` is not a repository address: it must name no tag and no digest
    "example.com/foo@" -> `example.com/foo@` is not a repository address: it must name no tag and no digest
    "example.com/Foo" -> `example.com/Foo` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com/foo___bar" -> `example.com/foo___bar` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com/foo._bar" -> `example.com/foo._bar` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com/-foo" -> `example.com/-foo` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com/foo-" -> `example.com/foo-` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "example.com//foo" -> `example.com//foo` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "" -> `` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget
    "example.com/" -> `example.com/` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "https://example.com/foo" -> `https://example.com/foo` is not a repository address: it is written without a scheme such as https://
    "oci://example.com/foo" -> `oci://example.com/foo` is not a repository address: it is written without a scheme such as https://
    "exa mple.com/foo" -> `exa mple.com/foo` is not a repository address: the part before the first `/` is not a host with an optional port
    "example.com:x/foo" -> `example.com:x/foo` is not a repository address: the part before the first `/` is not a host with an optional port
    "example.com:99999/foo" -> `example.com:99999/foo` is not a repository address: the part before the first `/` is not a host with an optional port
    "index.docker.io/v1/" -> `index.docker.io/v1/` is not a repository address: a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "docker.io" -> `docker.io` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget
    "münchen.de/foo" -> `münchen.de/foo` is not a repository address: the part before the first `/` is not a host with an optional port
    "*.example.com" -> `*.example.com` is not a repository address: it must read HOST/NAME, such as ghcr.io/acme/widget
    "#);
}

#[test]
fn module_sources_in_registries() {
    let table = refused(Vectors::own("module_sources.json").cases("registry_sources"), "input", |text| {
        match text.parse::<ModuleSource>() {
            Ok(ModuleSource::Registry(..)) => None,
            Ok(other) => Some(format!("not in a registry: {other}")),
            Err(error) => Some(error.to_string()),
        }
    });
    assert_snapshot!(table, @r#"
    "foo/bar/baz//../x" -> `foo/bar/baz//../x` is not a module source: the folder `../x` after `//` leads out of the module's package
    "localhost/foo/bar/baz" -> `localhost/foo/bar/baz` is not a module of a registry: the host must contain a dot
    "localhost:8080/foo/bar/baz" -> not in a registry: localhost:8080/foo/bar/baz
    "bitbucket.org/foo/bar/baz" -> not in a registry: bitbucket.org/foo/bar/baz
    "github.com/foo/bar" -> not in a registry: github.com/foo/bar
    "example.com/foo/bar" -> `example.com/foo/bar` is not a module of a registry: after the host it needs all three of namespace, name and target system
    "foo/bar" -> `foo/bar` is not a module source; a folder begins with ./ or ../
    "foo/-bar/aws" -> `foo/-bar/aws` is not a module of a registry: the name consists of up to 64 ASCII letters, digits, `-` and `_`, the first and the last a letter or digit
    "foo/bar-/aws" -> `foo/bar-/aws` is not a module of a registry: the name consists of up to 64 ASCII letters, digits, `-` and `_`, the first and the last a letter or digit
    "foo/bar/a-b" -> `foo/bar/a-b` is not a module of a registry: the target system consists of up to 64 lower-case ASCII letters and digits
    "foo/bar/baz?ref=1" -> `foo/bar/baz?ref=1` is not a module of a registry: a module of a registry takes no arguments after `?`
    "xn--80akhbyknj4f.com/a/b/c" -> `xn--80akhbyknj4f.com/a/b/c` is not a module of a registry: the host is not valid: a name beginning with xn-- is written in Unicode here
    "foo/(65 times a)/aws" -> `foo/(65 times a)/aws` is not a module of a registry: the name consists of up to 64 ASCII letters, digits, `-` and `_`, the first and the last a letter or digit
    "#);
}

#[test]
fn module_sources_in_oci_repositories() {
    let table = Vectors::own("module_sources.json");
    assert_snapshot!(refused(table.cases("oci_sources"), "source", parse::<ModuleSource>), @r#"
    "oci://example.com/a//../x" -> `oci://example.com/a//../x` is not a module in an OCI repository: the folder `../x` after `//` leads out of the module's package
    "oci://example.com/empty?tag=in$valid" -> `oci://example.com/empty?tag=in$valid` is not a module in an OCI repository: `in$valid` is not a tag
    "oci://example.com/empty?tag=" -> `oci://example.com/empty?tag=` is not a module in an OCI repository: the argument tag is empty
    "oci://example.com/empty?tag=foo&tag=bar" -> `oci://example.com/empty?tag=foo&tag=bar` is not a module in an OCI repository: the argument tag is there more than once
    "oci://example.com/empty?digest=nope" -> `oci://example.com/empty?digest=nope` is not a module in an OCI repository: `nope` is not a sha256 or sha512 digest
    "oci://example.com/empty?digest=nope:nope" -> `oci://example.com/empty?digest=nope:nope` is not a module in an OCI repository: `nope:nope` is not a sha256 or sha512 digest
    "oci://example.com/empty?digest=nope&digest=nope" -> `oci://example.com/empty?digest=nope&digest=nope` is not a module in an OCI repository: the argument digest is there more than once
    "oci://example.com/empty?tag=foo&digest=sha256:1d57d25084effd3fdfd902eca00020b34b1fb020253b84d7dd471301606015ac" -> `oci://example.com/empty?tag=foo&digest=sha256:1d57d25084effd3fdfd902eca00020b34b1fb020253b84d7dd471301606015ac` is not a module in an OCI repository: only one of tag and digest can be given
    "oci://example.com/empty?x=1&y=2" -> `oci://example.com/empty?x=***&y=***` is not a module in an OCI repository: the arguments are tag and digest, not x, y
    "oci://example.com/" -> `oci://example.com/` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "oci://example.com" -> `oci://example.com` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; it names no repository of the registry
    "oci://example.com/foo:tag" -> `oci://example.com/foo:tag` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a tag and a digest are arguments after `?`
    "oci://example.com/foo@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a" -> `oci://example.com/foo@sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a tag and a digest are arguments after `?`
    "oci::https://example.com/foo" -> `oci::https://example.com/foo` is not a module in an OCI repository: after `oci::` there must be oci://
    "oci://example.com/foo/?tag=x" -> `oci://example.com/foo/?tag=x` is not a module in an OCI repository: between oci:// and `?` there must be HOST[:PORT]/NAME, without a tag and a digest; a name consists of lower-case letters and digits, joined by `.`, `_`, `__`, `-` or `/`
    "#);
}
