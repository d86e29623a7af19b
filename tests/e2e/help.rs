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

    Examples:
      tofu-oci push dist ghcr.io/acme/widget --address registry.example.com/acme/widget
      tofu-oci install registry.example.com/acme/widget --from ghcr.io/acme/widget

    Publish:
      push         Publish a provider's release files to an OCI repository
      pack         Write a provider's release files to an OCI image layout directory, without a registry
      copy         Copy releases between repositories or directories, byte for byte
      module       Keep modules in OCI repositories
      sign         Sign a release where it is, so that clients and cosign can verify it
      attach       Put a Sigstore bundle, an SBOM or another file beside a release or module
      withdraw     Take a published version away, so that no client can choose it any more, and say why
      deprecate    Warn those who choose a published version
    Install:
      install      Install providers from OCI repositories, verified, and update the lock file
      lock         Bring the lock file up to date for all platforms
      run          Run terraform, tofu or terragrunt with providers and modules from OCI repositories
      providers    Show which providers a configuration needs, module by module, and their places
    Look:
      versions     List the versions that a repository offers
      show         Show a release or module: its packages, checksums, time and signatures
      docs         Print the documentation of a provider that lies beside its release
      verify       Say who has signed a release, whether that is enough, and why or why not
      check        Say what is wrong with a repository, lock file or registry, and what OpenTofu will do
      outdated     Show which providers of a configuration are behind, and what holds each back
      resolve      Say which repository a provider address belongs to, and by which rule
    Keep:
      mirror       Keep the providers that you use in your own registry: verified, complete, up to date
      bundle       Carry releases in one file to a site without a network
      serve        Serve providers and modules out of OCI repositories to Terraform and every OpenTofu
      cache        Show, thin out or verify the packages that projects share
    Operate:
      login        Check a login with a registry, and store it where docker, podman and tofu find it
      logout       Remove the login of a registry from docker's file or its helper
      auth         Explain which credentials are used for a repository, and why access works or fails
      trust        Show or renew what proves signatures by certificates
      config       Check the CLI configuration (.tofurc, .terraformrc), edit it, or print blocks for it
      completions  Print the script that completes commands in bash, zsh, fish or PowerShell
      man          Write man pages
      version      Print the version of this program, its commit and how it was built
      help         Print a page about a topic, a verb, a rule or an error code
    Output:
      -v, --verbose...  Print more on stderr: -v for steps, -vv for requests
      -q, --quiet       Print no progress and no notes, only results, warnings and errors
      -h, --help        Print the most used options (-h) or everything (--help)

    `tofu-oci help VERB` prints everything about a verb; `tofu-oci help` lists the other topics.

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

    Examples:
      What the configuration in this folder requires, from a registry that mirrors everything:
        tofu-oci install --from 'ghcr.io/acme/mirror/${namespace}/${type}'
      One provider into terraform.d/plugins, from which plain `terraform init` and `tofu init` install
      with no configuration and no network:
        tofu-oci install registry.example.com/acme/widget@'~> 1.4' --vendor --from ghcr.io/acme/widget
      In CI: install what the lock file says, and fail if it does not fit the configuration:
        tofu-oci install --locked
      Into a filesystem mirror; only print what would happen:
        tofu-oci install registry.example.com/acme/widget --into mirror --dry-run

    Arguments:
      [ADDR[@CONSTRAINT]]...  Providers, HOST/NAMESPACE/TYPE[@CONSTRAINT] [default: what the .tf and
                              .tofu files require]

    Options:
          --from <PLACE>        The repository, folder, bundle or mirror to look in
          --chdir <DIR>         Work in this directory: its configuration, its lock file, its .terraform
          --platform <OS_ARCH>  The platform to install for [default: this machine's]
          --into <DIR>          Install into a filesystem mirror at DIR instead of .terraform/providers
          --packed              Keep packages as zip files in the filesystem mirror
          --vendor              Install into terraform.d/plugins, where terraform looks by itself
          --upgrade             Choose the newest admitted version, whatever the lock file names
          --locked              Change no lock file; exit with 1 if it does not fit the configuration
          --dry-run             Print what would be installed and what would be locked; write nothing

    Output:
      -v, --verbose...  Print more on stderr: -v for steps, -vv for requests
      -q, --quiet       Print no progress and no notes, only results, warnings and errors
      -h, --help        Print the most used options (-h) or everything (--help)
          --json        Print JSON lines instead of text; see `tofu-oci help json`

    Registry access: --ca-file, --plain-http, --username, --anonymous, --timeout and others;
    `tofu-oci help registry-access` explains them.

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
    let said = Scene::new().run("--version").success();
    assert_eq!(
        (said.stdout.as_str(), said.stderr.as_str()),
        (concat!("tofu-oci ", env!("CARGO_PKG_VERSION"), "\n"), "")
    );
}

#[test]
fn the_version_says_how_the_program_was_built() {
    let scene = Scene::new();
    let said = scene.run("version");
    assert!(said.stdout.starts_with(concat!("tofu-oci ", env!("CARGO_PKG_VERSION"), "\n")), "{}", said.text);
    assert!(said.stdout.contains("\ntarget    ") && said.stdout.contains("\nrustc     "), "{}", said.text);
    let asked = ["version --json", "--version --json", "-V --json"].map(|words| scene.run(words));
    for said in &asked {
        assert_eq!(crate::json::check(said), ["program"]);
        assert_eq!(said.stdout, asked[0].stdout);
    }
    let program = &asked[0].json()[0];
    assert_eq!(program["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(program["commit"].is_null(), program["date"].is_null(), "{program}");
}

#[test]
fn a_pager_gets_nothing_that_goes_into_a_pipe() {
    let scene = Scene::new();
    let mut command = scene.command("help trust");
    let said = scene.output(command.env("TERM", "xterm").env("PAGER", "head -1"));
    assert!(said.stdout.lines().count() > 50, "{}", said.text);
}

/// What a page of help shows on a terminal of 24 rows, with this pager.
#[cfg(unix)]
fn on_a_terminal(scene: &Scene, line: &str, pager: &str) -> String {
    let (mut person, terminal) = crate::progress::terminal(80);
    let mut command = scene.command(line);
    command.env("TERM", "xterm").env("PAGER", pager).stdin(std::process::Stdio::null()).stdout(terminal);
    let mut child = command.spawn().expect("it starts");
    // The terminal ends when the last program leaves it.
    drop(command);
    let shown = crate::progress::shown(&mut person, |_| false);
    assert!(child.wait().expect("it ends").success(), "{shown}");
    shown.replace('\r', "")
}

#[cfg(unix)]
#[test]
fn a_long_page_goes_through_the_pager_on_a_terminal_alone() {
    let scene = Scene::new();
    let pager = format!("/bin/sh {}", scene.context.write("pager", "echo paged\nexec cat\n").display());
    let shown = on_a_terminal(&scene, "help trust", &pager);
    assert!(shown.starts_with("paged\n") && shown.lines().count() > 50, "{shown}");
    // A page that fits needs none.
    let shown = on_a_terminal(&scene, "help error tag-not-found", &pager);
    assert!(!shown.contains("paged") && shown.contains("tag-not-found"), "{shown}");
    let shown = on_a_terminal(&scene, "help trust", "cat");
    assert!(!shown.contains("paged") && shown.lines().count() > 50, "{shown}");
}

#[cfg(unix)]
#[test]
fn a_pager_that_is_the_program_itself_started_itself_without_end() {
    let scene = Scene::new();
    let program = scene.command("help").get_program().to_string_lossy().into_owned();
    let shown = on_a_terminal(&scene, "help trust", &format!("{program} help"));
    assert!(shown.starts_with("Usage: tofu-oci help TOPIC\n"), "{shown}");
}

#[test]
fn wrong_usage_exits_with_2() {
    let scene = Scene::new();
    assert_snapshot!(scene.run("install --form oci:x").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: unexpected argument `--form`

    hint: did you mean: --from
    hint: `tofu-oci help install` lists its arguments and options
    ");
    assert_snapshot!(scene.run("publish dist").text, @"
    exit code: 2
    ----- stdout -----

    ----- stderr -----
    error: `tofu-oci` has no verb `publish`

    hint: `tofu-oci push`: Publish a provider's release files to an OCI repository
    hint: `tofu-oci --help` lists all verbs
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
    error: invalid value '0' for '--jobs <N>': write a whole number, 1 to 32

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
    error: there is no configuration in .

    hint: name the directory of the configuration: --chdir DIR
    hint: or name a provider: tofu-oci install HOST/NAMESPACE/TYPE --platform linux_amd65
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

    hint: omit --vendor or --into
    hint: `tofu-oci help install` says what each is for
    ");
}

#[test]
fn options_before_the_verb_count() {
    let scene = Scene::new();
    let before = scene.run("--chdir nope --json lock");
    assert_eq!(before.text, scene.run("lock --chdir nope --json").text);
    assert_eq!(before.json()[0]["event"], "error", "{}", before.text);
    // A verb that has no use for an option refuses it.
    let said = scene.run("--chdir nope logout ghcr.io");
    assert!(said.code == Some(2) && said.stderr.contains("`--chdir`"), "{}", said.text);
}

#[test]
fn colours_are_used_when_an_option_says_so() {
    let scene = Scene::new();
    for (words, coloured) in [("--color always -h", true), ("-h --color=never", false), ("-h", false)] {
        let said = scene.run(words);
        assert_eq!(said.stdout.contains('\u{1b}'), coloured, "{words}: {}", said.text);
    }
    assert_eq!(scene.run("lock --color sometimes").code, Some(2));
}

#[test]
fn options_and_verbs_of_other_tools_name_those_of_this_one() {
    let scene = Scene::new();
    for (words, hint) in [
        ("lock -C infra", "`lock` has --chdir for it"),
        ("-C infra lock", "`lock` has --chdir for it"),
        ("versions oci:x -o json", "`versions` has --json for it"),
        ("versions oci:x --format json", "`versions` has --json for it"),
        ("versions r.example/a --insecure", "--plain-http HOST"),
        ("serve --port 80", "`serve` has --listen for it"),
        ("sbom oci:x", "`tofu-oci attach`"),
        ("attest oci:x", "tofu-oci attach FILE RELEASE"),
        ("keyless", "`sign --keyless` and `push --sign-keyless`"),
        ("help gc", "`tofu-oci cache prune`"),
        ("help sso", "`tofu-oci login`"),
        ("help sbom", "`tofu-oci sign`"),
        ("help sbom", "make one with syft, and attach it: tofu-oci attach FILE RELEASE"),
        ("help gc", "its own garbage collection"),
        ("help login-oidc", "name the credential helper of the cloud"),
        ("help delete", "`tofu-oci withdraw`"),
        ("help web", "`tofu-oci serve`"),
        ("ui", "a page that lists its providers"),
        ("help scan", "let the registry scan"),
        ("apply", "tofu and terraform do that"),
    ] {
        let said = scene.run(words);
        assert!(said.code == Some(2) && said.stderr.contains(hint), "{words}: {}", said.text);
    }
}
