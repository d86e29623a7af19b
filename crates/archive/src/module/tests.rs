use super::*;
use crate::testing::put;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for (name, content) in files {
        put(&dir.path().join(name), content.as_bytes());
    }
    dir
}

/// One line a file, with an `x` if it gets execute bits, and one for what is left out.
fn shown(dir: &Path) -> String {
    let found = match module_files(dir, &Limits::default()) {
        Ok(found) => found,
        Err(error) => return format!("{} ({})", error, error.code()),
    };
    let files = found.files.iter().map(|file| format!("{}{}", if file.executable { "x " } else { "" }, file.name));
    let left_out = found.left_out.iter().map(|out| format!("- {} ({})", out.name, out.reason));
    files.chain(left_out).collect::<Vec<_>>().join("\n")
}

#[test]
fn what_belongs_to_a_module_is_packed_and_the_rest_is_named() {
    let dir = folder(&[
        ("main.tf", ""),
        (".terraform.lock.hcl", ""),
        ("modules/a/main.tf", ""),
        ("modules/a/.terraform/providers/x", ""),
        (".git/config", ""),
        (".terraform/modules/modules.json", "{}"),
        ("terraform.tfstate", "{}"),
        ("terraform.tfstate.backup", "{}"),
        ("prod.auto.tfvars", ""),
        ("example.tfvars", ""),
        ("docs/a.md", ""),
        ("docs/keep/b.md", ""),
        ("run.sh", "#!/bin/sh\n"),
        ("tests/x.tf", ""),
        (".terraformignore", "docs/\n!docs/keep/\n"),
        (".tofuignore", "# ours\ndocs/*\n!docs/keep/\ntests/\n"),
    ]);
    insta::assert_snapshot!(shown(dir.path()), @"
    .terraform.lock.hcl
    .terraformignore
    .tofuignore
    docs/keep/b.md
    example.tfvars
    main.tf
    modules/a/main.tf
    x run.sh
    - .git/ (version control)
    - .terraform/ (working data of `tofu init`)
    - docs/a.md (line 2 of the ignore file)
    - modules/a/.terraform/ (working data of `tofu init`)
    - prod.auto.tfvars (values of variables, which may be secret)
    - terraform.tfstate (a state or plan, which holds secrets)
    - terraform.tfstate.backup (a state or plan, which holds secrets)
    - tests/ (line 4 of the ignore file)
    ");
}

#[test]
fn a_folder_without_a_file_to_pack_is_refused() {
    let dir = folder(&[(".git/config", "")]);
    insta::assert_snapshot!(shown(dir.path()), @"the package has no files (bad-zip)");
}

#[cfg(unix)]
#[test]
fn a_link_inside_is_followed_and_one_that_leads_outside_is_refused() {
    use std::os::unix::fs::symlink;
    let outer = folder(&[("secret", "x"), ("module/a.tf", ""), ("module/lib/b.tf", "")]);
    let dir = outer.path().join("module");
    symlink("a.tf", dir.join("c.tf")).unwrap();
    symlink("lib", dir.join("copy")).unwrap();
    insta::assert_snapshot!(shown(&dir), @"
    a.tf
    c.tf
    copy/b.tf
    lib/b.tf
    ");
    symlink("../secret", dir.join("z.tf")).unwrap();
    insta::assert_snapshot!(shown(&dir), @"`z.tf` is a link to `../secret`, which lies outside of the module's folder (module-link)");
    fs::remove_file(dir.join("z.tf")).unwrap();
    symlink("nothing", dir.join("z.tf")).unwrap();
    insta::assert_snapshot!(shown(&dir), @"`z.tf` is a link to `nothing`, which does not exist (module-link)");
    fs::remove_file(dir.join("z.tf")).unwrap();
    symlink("..", dir.join("lib/up")).unwrap();
    insta::assert_snapshot!(shown(&dir), @"`copy/up` is a link to `..`, which leads in a circle (module-link)");
}

#[cfg(unix)]
#[test]
fn a_link_does_not_carry_out_what_its_target_keeps_in() {
    use std::os::unix::fs::symlink;
    let dir = folder(&[("a.tf", ""), ("terraform.tfvars", "x"), (".git/config", "x")]);
    symlink("terraform.tfvars", dir.path().join("notes.txt")).unwrap();
    symlink(".git", dir.path().join("history")).unwrap();
    symlink("/etc/passwd", dir.path().join("old.tfstate")).unwrap();
    insta::assert_snapshot!(shown(dir.path()), @"
    a.tf
    - .git/ (version control)
    - history (version control)
    - notes.txt (values of variables, which may be secret)
    - old.tfstate (a state or plan, which holds secrets)
    - terraform.tfvars (values of variables, which may be secret)
    ");
}

#[cfg(unix)]
#[test]
fn a_pipe_is_refused_and_not_waited_for() {
    let dir = folder(&[("a.tf", "")]);
    let pipe = dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    insta::assert_snapshot!(shown(dir.path()), @"`pipe` is neither a file nor a directory, which a package must not contain (bad-zip)");
}

#[test]
fn more_than_an_archive_may_unpack_to_is_not_packed() {
    let dir = folder(&[("a.tf", "12345"), ("b.tf", "12345"), (".git/config", "123456789")]);
    let told = |limits: &Limits| module_files(dir.path(), limits).map(|_| ()).map_err(|error| error.to_string());
    let limits = |entries, total_bytes| Limits { total_bytes, entries, ..Limits::default() };
    assert_eq!(told(&limits(2, 10)), Ok(()));
    assert_eq!(told(&limits(1, 10)).unwrap_err(), "the archive has more than 1 entries");
    assert_eq!(told(&limits(2, 9)).unwrap_err(), "the archive holds more than 9 bytes");
}

#[cfg(unix)]
#[test]
fn what_git_has_checked_out_is_taken_without_links() {
    let dir = tempfile::tempdir().unwrap();
    let (from, into) = (dir.path().join("from"), dir.path().join("into"));
    fs::create_dir(&into).unwrap();
    put(&from.join("sub/main.tf"), b"m");
    put(&from.join("terraform.tfvars"), b"kept");
    std::os::unix::fs::symlink("sub/main.tf", from.join("a.tf")).unwrap();
    std::os::unix::fs::symlink("sub", from.join("b")).unwrap();
    let contents = take_checkout(&from, &into, &Limits::default()).unwrap();
    let names: Vec<_> = contents.files().iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["a.tf", "b/main.tf", "sub/main.tf", "terraform.tfvars"]);
    assert!(fs::symlink_metadata(into.join("b")).unwrap().is_dir());
    let refused = |target: &str, name: &str| {
        let from = dir.path().join(name);
        put(&from.join("x"), b"x");
        std::os::unix::fs::symlink(target, from.join("link")).unwrap();
        fs::create_dir(dir.path().join(format!("{name}-into"))).unwrap();
        take_checkout(&from, &dir.path().join(format!("{name}-into")), &Limits::default()).unwrap_err().to_string()
    };
    insta::assert_snapshot!(refused("../into/sub/main.tf", "outside"), @"`link` is a link to `../into/sub/main.tf`, which lies outside of the module's folder");
    insta::assert_snapshot!(refused("/etc/passwd", "absolute"), @"`link` is a link to `/etc/passwd`, which lies outside of the module's folder");
    insta::assert_snapshot!(refused("nothing", "dead"), @"`link` is a link to `nothing`, which does not exist");
    insta::assert_snapshot!(refused(".", "circle"), @"`link` is a link to `.`, which leads in a circle");
}

#[test]
fn a_commit_that_holds_another_repository_was_taken_over() {
    let taken = |name: &str| {
        let dir = folder(&[("from/main.tf", ""), (&format!("from/{name}"), "x"), ("into/.keep", "")]);
        let into = dir.path().join("into");
        take_checkout(&dir.path().join("from"), &into, &Limits::default()).map_err(|error| error.code())
    };
    for name in [".git", ".GIT/config", "sub/.hg/hgrc", ".svn/wc.db", "git~1/config", "sub/.g\u{200c}it/config"] {
        assert_eq!(taken(name), Err("embedded-repository"), "{name}");
    }
    let dir =
        folder(&[("main.tf", ""), ("x/HEAD", "ref: refs/x"), ("x/objects/a", ""), ("x/refs/b", ""), ("x/config", "")]);
    let refused = take_checkout(dir.path(), dir.path(), &Limits::default()).unwrap_err();
    insta::assert_snapshot!(refused, @"the package has `x/refs`, a part of a repository of version control, whose settings can run commands");
    insta::assert_snapshot!(shown(dir.path()), @"the package has `x/refs`, a part of a repository of version control, whose settings can run commands (embedded-repository)");
}

#[test]
fn the_folder_of_git_in_capitals_was_packed() {
    let dir = folder(&[
        ("main.tf", ""),
        (".GIT/config", "x"),
        ("a/.Hg/hgrc", "x"),
        ("b/.jj/repo/config", "x"),
        ("c/.git", "gitdir: x"),
    ]);
    insta::assert_snapshot!(shown(dir.path()), @"
    main.tf
    - .GIT/ (version control)
    - a/.Hg/ (version control)
    - b/.jj/ (version control)
    - c/.git (version control)
    ");
}

#[test]
fn a_secret_in_a_file_of_the_module_was_packed() {
    let key = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n",
        "MIIEpQwErTyUiOpAsDfGhJkLzXcVbNm0918273645QaZwSxEdC".repeat(2)
    );
    let token = ["ghp", "_Q7wE2rT9yU4iO1pAs8Df3Gh6Jk5Lz0XcVbNm"].concat();
    let main = format!("locals {{\n  token = \"{token}\"\n}}\n");
    let dir = folder(&[
        ("main.tf", &main),
        ("README.md", "a token such as ghp_xxxx"),
        ("tests/key.txt", &key),
        ("ca.pem", &key),
    ]);
    insta::assert_snapshot!(shown(dir.path()), @"main.tf:2 holds a token of GitHub (module-secrets)");
    let found = match module_files(dir.path(), &Limits::default()) {
        Err(error @ ArchiveError::Secrets { .. }) => format!("{error:?}"),
        other => panic!("{other:?}"),
    };
    assert!(!found.contains(&token[4..]) && found.contains("tests/key.txt"), "{found}");
    put(&dir.path().join(".tofuignore"), b"tests/\n!/main.tf\n");
    insta::assert_snapshot!(shown(dir.path()), @"
    .tofuignore
    README.md
    main.tf
    - ca.pem (passwords, tokens or private keys)
    - tests/key.txt (line 1 of the ignore file)
    ");
    assert!(all_module_files(dir.path(), &Limits::default()).is_ok());
}

#[test]
fn an_ignore_file_takes_back_what_its_name_keeps_out() {
    let dir = folder(&[
        ("main.tf", ""),
        ("prod.tfvars", ""),
        ("tls.key", "x"),
        (".aws/config", ""),
        (".aws/credentials", ""),
        ("ci.tofurc", ""),
        ("plan.out", ""),
        (".tofuignore", "!prod.tfvars\n!*.key\n!.aws/config\n!ci.tofurc\n!plan.out\n"),
    ]);
    insta::assert_snapshot!(shown(dir.path()), @"
    .aws/config
    .tofuignore
    ci.tofurc
    main.tf
    plan.out
    prod.tfvars
    tls.key
    - .aws/credentials (passwords, tokens or private keys)
    ");
}

#[test]
fn passwords_and_private_keys_were_packed_without_a_word() {
    let key = "-----BEGIN EC PRIVATE KEY-----\n";
    let dir = folder(&[
        ("main.tf", ""),
        (".env", "TOKEN=x"),
        (".env.example", ""),
        (".netrc", ""),
        ("keys/id_ed25519", ""),
        ("keys/id_ed25519.pub", ""),
        (".aws/config", ""),
        ("ca.pem", "-----BEGIN CERTIFICATE-----\n"),
        ("server.pem", key),
        ("test.pem", key),
        ("service-account-prod.json", key),
        ("service-account-policy.json", "{}"),
        (".env.test", ""),
        (".tofuignore", "!test.pem\n!.env.test\n"),
    ]);
    insta::assert_snapshot!(shown(dir.path()), @"
    .env.example
    .env.test
    .tofuignore
    ca.pem
    keys/id_ed25519.pub
    main.tf
    service-account-policy.json
    test.pem
    - .aws/config (passwords, tokens or private keys)
    - .env (passwords, tokens or private keys)
    - .netrc (passwords, tokens or private keys)
    - keys/id_ed25519 (passwords, tokens or private keys)
    - server.pem (passwords, tokens or private keys)
    - service-account-prod.json (passwords, tokens or private keys)
    ");
}
