//! `--help`, `--version` and wrong usage.

use insta::assert_snapshot;

use crate::setup::Scene;

#[test]
fn the_short_help_fits_a_screen() {
    assert_snapshot!(Scene::new().run("-h").text, @"
    exit code: 0
    ----- stdout -----
    Keeps OpenTofu and Terraform providers in any OCI registry

    Usage: tofu-oci [OPTIONS] <COMMAND>

    Commands:
      push       Publish a provider's release files to an OCI repository
      pack       Write a provider's release files to an OCI image layout directory, without a registry
      copy       Copy releases between repositories or directories, byte for byte
      sign       Sign a release where it is, so that clients and cosign can verify it
      install    Install providers from OCI repositories, verified, and update the lock file
      lock       Bring the lock file up to date for all platforms
      verify     Say who has signed a release, whether that is enough, and why or why not
      versions   List the versions that a repository offers
      resolve    Say which repository a provider address belongs to, and by which rule
      check      Say what is wrong with a repository, a lock file or a registry, and what OpenTofu makes
                 of it
      providers  Show which providers a configuration needs, module by module, and where each comes from
      login      Check a login with a registry, and store it where docker, podman and tofu find it
      logout     Remove the login of a registry from docker's file or its helper
      config     Check the CLI configuration (.tofurc, .terraformrc), or print blocks for it
      auth       Explain which credentials are used for a repository, and why access works or fails
      help       Print this message or the help of the given subcommand(s)

    Options:
      -h, --help     Print help
      -V, --version  Print version

    Global options:
      -v, --verbose...  Print more on stderr: -v for steps, -vv for requests
      -q, --quiet       Print no progress and no notes, only results, warnings and errors

    Examples:
      Publish a GoReleaser dist folder, then install it back:
        tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
        tofu-oci install registry.example.com/acme/widget --from ghcr.io/acme/widget

      The same with no registry at all, in a directory:
        tofu-oci pack dist oci:widget-layout --address registry.example.com/acme/widget
        tofu-oci install registry.example.com/acme/widget --from oci:widget-layout

    Exit codes: 0 done; 1 you can fix it (not found, refused, does not match); 2 wrong usage or
    configuration; 3 unexpected (network, machine); 130 interrupted.

    ----- stderr -----
    ");
}

#[test]
fn the_short_help_of_a_verb_names_its_options_by_what_they_are_about() {
    assert_snapshot!(Scene::new().run("install -h").text, @"
    exit code: 0
    ----- stdout -----
    Install providers from OCI repositories, verified, and update the lock file

    Usage: tofu-oci install [OPTIONS] [ADDR[@CONSTRAINT]]...

    Arguments:
      [ADDR[@CONSTRAINT]]...  Providers to install, HOST/NAMESPACE/TYPE, each with an optional
                              @CONSTRAINT such as @1.4.0 or @'~> 1.4'. Without any, what the .tf and
                              .tofu files require

    Options:
      -h, --help  Print help

    Where to look:
          --from <REPOSITORY>      The repository to look in: REGISTRY/REPOSITORY, oci:DIR, or a
                                   template with ${hostname}, ${namespace} and ${type}, as in OpenTofu's
                                   `oci_mirror` blocks. Without it the user's CLI configuration says
                                   where to look (`provider_installation` in ~/.tofurc and the like, see
                                   `tofu-oci config --help`) [env: TOFU_OCI_FROM=]
          --magic-suffix <SUFFIX>  The reserved suffix of hosts that name a registry:
                                   example.com.SUFFIX/foo/bar is example.com/foo/opentofu-provider-bar
                                   [default: `magic_suffix` of a block `tofu_oci` in the CLI
                                   configuration, else oci.opentofu.org] [env: TOFU_OCI_MAGIC_SUFFIX=]
          --private-host <HOST>    Allow the host of an address to name this HOST[:PORT] as its
                                   registry, or to redirect to it, although it is on this machine or in
                                   a private network and the host of the address is not (repeatable; the
                                   variable takes a list with commas) [env: TOFU_OCI_PRIVATE_HOST=]
          --chdir <DIR>            Work in this directory: its configuration, its lock file, its
                                   .terraform
          --platform <OS_ARCH>     The platform to install for (repeatable with --into and --vendor)
                                   [default: this machine's]
          --into <DIR>             Install into a filesystem mirror at DIR instead of
                                   .terraform/providers
          --packed                 Keep packages as zip files in the filesystem mirror
          --vendor                 Install into terraform.d/plugins of the working directory, where
                                   terraform and tofu look without configuration
          --upgrade                Choose the newest admitted version, even if the lock file names
                                   another
          --locked                 Write neither the lock file nor the pins. If the lock file is
                                   missing, lacks a required provider or has one that is not required
                                   any more, show the difference, install nothing and exit with code 1.
                                   Checksums that it lacks are only a warning. What is installed and
                                   locked causes no request
          --lockfile <MODE>        The same as --locked, in OpenTofu's words: --lockfile=readonly
                                   [possible values: readonly]
          --dry-run                Say what would be installed, from where, how many bytes would be
                                   downloaded and how the lock file would change. The registry is asked;
                                   no package is downloaded, and nothing is written

    Trust:
          --trust-policy <FILE>  The trust policy, see docs/trust.md [default: trust.toml in the
                                 directory of the configuration, if there is one] [env:
                                 TOFU_OCI_TRUST_POLICY=]

    Registry access:
          --ca-file <FILE>      Trust the certificates of this PEM file too, beside the system's
                                (repeatable) [env: TOFU_OCI_CA_FILE=]
          --client-cert <FILE>  Show this client certificate (PEM; may hold the key too) [env:
                                TOFU_OCI_CLIENT_CERT=]
          --client-key <FILE>   The private key of the client certificate (PEM), if it is in a file of
                                its own [env: TOFU_OCI_CLIENT_KEY=]
          --plain-http <HOST>   Speak plain HTTP with this HOST[:PORT] (repeatable; the variable takes a
                                list with commas). A login for it goes in the clear. Loopback hosts that
                                do not speak TLS need no such option. Other registries may redirect
                                downloads to this host, without a login [env: TOFU_OCI_PLAIN_HTTP=]
          --token-host <HOST>   Show the registry's password to the token server at this HOST[:PORT]
                                too, although it is of another site, at an IP address or on this machine
                                (repeatable; the variable takes a list with commas) [env:
                                TOFU_OCI_TOKEN_HOST=]
          --attempts <N>        How often to try a request that fails for a passing reason, 1 to 20
                                [default: 5]
          --max-wait <SECONDS>  How many seconds a registry may make one request wait in all
                                (Retry-After) [default: 120]
          --timeout <DURATION>  How long a request may make no progress, all its tries together, such as
                                [TIME] or 2m (plain seconds without a unit). The other limits keep their
                                proportion to it: with 2m, 10 s to connect, 30 s until an answer begins,
                                60 s until the registry takes more of an upload, at least 2 KiB of an
                                answer every 30 s, and at least 60 KiB of any upload or answer every 60
                                s (a longer time asks for fewer bytes a second, a shorter one never for
                                more). tofu-oci waits as long for a lock that another program holds
                                [env: TOFU_OCI_TIMEOUT=] [default: 2m]
          --anonymous           Show no credentials: read no file for them, and ask no helper
          --username <USER>     Log in as this user to the one registry that the command names
          --password-stdin      Read the password of --username from standard input, without a line
                                break at its end

    Output:
          --json  Print JSON lines on stdout instead of text (documented in docs/json.md)

    Global options:
      -v, --verbose...  Print more on stderr: -v for steps, -vv for requests
      -q, --quiet       Print no progress and no notes, only results, warnings and errors

    Examples:
      What the configuration in this folder requires, from a registry that mirrors everything:
        tofu-oci install --from 'ghcr.io/acme/mirror/${namespace}/${type}'

      One provider into terraform.d/plugins, from which plain `terraform init` and `tofu init` install
      with no configuration and no network:
        tofu-oci install registry.example.com/acme/widget@'~> 1.4' --vendor --from ghcr.io/acme/widget

      Into a filesystem mirror, for another platform:
        tofu-oci install registry.example.com/acme/widget --into mirror --platform darwin_arm64

      In CI: install what the lock file says, and fail if it does not fit the configuration:
        tofu-oci install --locked

      What would be installed, and how the lock file would change:
        tofu-oci install --upgrade --dry-run

    `install` checks size, digest, archive structure, checksums and the lock file's hashes before a
    package becomes visible. It leaves packages that are installed already as they are.

    ----- stderr -----
    ");
}

#[test]
fn alone_it_prints_help_and_is_wrong_usage() {
    let said = Scene::new().run("");
    assert_eq!(said.code, Some(2));
    assert!(said.stderr.contains("Usage: tofu-oci"), "{}", said.text);
    assert_eq!(said.stdout, "");
}

#[test]
fn the_version_is_printed() {
    assert_snapshot!(Scene::new().run("--version").text, @"
    exit code: 0
    ----- stdout -----
    tofu-oci 0.1.0

    ----- stderr -----
    ");
}

#[test]
fn wrong_usage_exits_with_2() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("install --form oci:x").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unexpected argument '--form' found

      tip: a similar argument exists: '--from'

    Usage: tofu-oci install --from <REPOSITORY> [ADDR[@CONSTRAINT]]...

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("publish dist").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unrecognized subcommand 'publish'

    Usage: tofu-oci [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("push dist").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      <DEST>

    Usage: tofu-oci push <DIST> <DEST>

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("push dist oci:x --layout zip").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'zip' for '--layout <LAYOUT>': `zip` is not a layout: it must be artifact, image or both

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("push dist oci:x --jobs 0").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value '0' for '--jobs <N>': 0 is not in 1..=32

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("install --platform linux").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: invalid value 'linux' for '--platform <OS_ARCH>': `linux` is not a platform: it must read OS_ARCH, such as linux_amd64

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("install --platform linux_amd65").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the configuration in . requires no providers

    hint: name a provider: tofu-oci install HOST/NAMESPACE/TYPE --platform linux_amd65
    hint: or the directory of the configuration: --chdir DIR
    ");
    assert_snapshot!(scene.run("install --packed").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the following required arguments were not provided:
      --into <DIR>

    Usage: tofu-oci install --into <DIR> --packed [ADDR[@CONSTRAINT]]...

    For more information, try '--help'.
    ");
    assert_snapshot!(scene.run("install --vendor --into mirror").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: the argument '--vendor' cannot be used with '--into <DIR>'

    Usage: tofu-oci install --vendor [ADDR[@CONSTRAINT]]...

    For more information, try '--help'.
    ");
}
