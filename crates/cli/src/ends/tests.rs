use super::*;

#[track_caller]
fn check_refused(text: &str, exit: Exit) {
    let diagnostic = End::parse(text).expect_err("must be refused");
    assert_eq!(diagnostic.exit(), exit, "{text}");
}

#[test]
fn an_end_is_a_repository_or_a_directory() {
    let registry = "127.0.0.1:5000/acme/widget".parse().map(End::Registry);
    assert_eq!(End::parse("127.0.0.1:5000/acme/widget").ok(), registry.ok());
    assert_eq!(End::parse("oci:a/b").ok(), Some(End::Layout(PathBuf::from("a/b"))));
    check_refused("oci:", Exit::Usage);
    check_refused("./folder", Exit::Usage);
    check_refused("https://ghcr.io/acme/widget", Exit::Usage);
    check_refused("ghcr.io/acme/widget:1.0.0", Exit::Usage);
}

#[track_caller]
fn check_read_only(text: &str, want: Result<&Place, &str>) {
    match (From::parse(text), want) {
        (Ok(From::Many(place)), Ok(want)) => assert_eq!(&place, want, "{text}"),
        (Err(diagnostic), Err(want)) => assert_eq!(diagnostic.text(), want, "{text}"),
        (got, _) => panic!("{text} is taken for {:?}", got.ok()),
    }
}

#[test]
fn a_place_that_is_only_read_is_a_folder_a_bundle_or_a_network_mirror() {
    check_read_only("static:a/b", Ok(&Place::Folder("a/b".into())));
    check_read_only("bundle:a.tar", Ok(&Place::Bundle("a.tar".into())));
    let mirror = "https://ada:hunter2@mirror.example.test/p/";
    check_read_only(mirror, Ok(&Place::NetworkMirror(mirror.to_owned())));
    check_read_only("static:", Err("`static:` names nothing"));
    check_read_only(
        "https://ada:hunter2@a b/",
        Err("the network mirror https://***@a b/ cannot be asked: its host has a character that does not belong there"),
    );
    check_refused("static:a", Exit::Usage);
    check_refused("bundle:a.tar", Exit::Usage);
    assert_eq!(shown(&Place::NetworkMirror(mirror.to_owned())), "https://***@mirror.example.test/p/");
}

#[track_caller]
fn check_hint(text: &str, want: &str) {
    let diagnostic = match From::parse(text) {
        Ok(from) => panic!("{text} is taken for {from:?}"),
        Err(diagnostic) => diagnostic,
    };
    assert!(diagnostic.hints().iter().any(|hint| hint == want), "{text}: {:?}", diagnostic.hints());
    assert!(diagnostic.text().contains("without a scheme"), "{text}: {}", diagnostic.text());
}

#[test]
fn a_repository_with_a_scheme_is_never_taken_for_a_directory() {
    check_hint("https://ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
    check_hint("http://127.0.0.1:5000/acme/widget", "drop the scheme: 127.0.0.1:5000/acme/widget");
    check_hint("docker://ghcr.io/acme/widget?x=1", "drop the scheme: ghcr.io/acme/widget");
    check_hint("oci://ada:SECRET@ghcr.io/acme/widget", "drop the scheme: ghcr.io/acme/widget");
    check_hint("oci://ghcr.io/acme/widget?archive=zip", "drop the scheme: ghcr.io/acme/widget");
    check_hint("oci://ghcr.io/acme/widget//sub?tag=1.4.0", "drop the scheme: ghcr.io/acme/widget//sub");
    check_hint("oci://ghcr.io", "drop the scheme: ghcr.io/REPOSITORY");
    check_hint("https://ghcr.io/${namespace}/${type}", "drop the scheme: 'ghcr.io/${namespace}/${type}'");
}

#[test]
fn a_repository_was_refused_as_module_blocks_write_it() {
    for text in ["oci://ghcr.io/acme/widget", "OCI://ghcr.io/acme/widget", "oci::oci://ghcr.io/acme/widget"] {
        assert_eq!(End::parse(text).ok(), End::parse("ghcr.io/acme/widget").ok(), "{text}");
    }
    assert_eq!(without_oci("oci://ghcr.io/acme/widget?tag=1.4.0"), "ghcr.io/acme/widget:1.4.0");
    assert_eq!(without_oci("oci://ghcr.io/acme/widget:1.4.0"), "ghcr.io/acme/widget:1.4.0");
    assert!(matches!(From::parse("oci://ghcr.io/${namespace}/${type}"), Ok(From::Repositories(_))));
    for text in ["oci:///srv/x", "oci:a://b", "oci://ghcr.io/a/b?tag=1//sub", "oci://ghcr.io", "ghcr.io/a/b"] {
        assert_eq!(without_oci(text), text);
    }
}

#[test]
fn parts_of_an_address_as_other_programs_write_them_were_taken_for_a_repository() {
    let want = "a part of the address is written with $ and braces: 'ghcr.io/acme/${type}'";
    for part in ["{type}", "$type", "{{type}}", "$(type)", "<type>", "%type%"] {
        check_from_hint(&format!("ghcr.io/acme/{part}"), want);
    }
    check_from_hint("oci:mirror/{type}", "a part of the address is written with $ and braces: 'oci:mirror/${type}'");
    assert!(
        From::parse("ghcr.io/acme/$types").is_err_and(|said| !said.hints().iter().any(|hint| hint.contains("braces")))
    );
}

#[test]
fn a_directory_with_a_version_was_looked_for_under_that_name() {
    let want = Some("`oci:layout:1.0.0` names version 1.0.0, and a directory alone is wanted".to_owned());
    assert_eq!(From::parse("oci:layout:1.0.0").err().map(|said| said.text().to_owned()), want);
    check_from_hint("oci:layout@1.0.0", "name the directory alone, oci:layout, and the version with --version");
    assert!(From::parse("oci:layout:latest").is_ok());
}

#[test]
fn the_file_of_a_bundle_led_to_no_verb_of_bundles() {
    for text in ["x.tar", "bundle:x.tar", "./x.tar"] {
        let Err(said) = End::parse(text) else { panic!("{text} is no repository") };
        assert!(
            said.hints()[0].starts_with("a bundle is made with: tofu-oci bundle create "),
            "{text}: {:?}",
            said.hints()
        );
    }
    let Err(said) = End::parse("bundle:Cargo.toml") else { panic!("a file is no repository") };
    assert!(said.hints()[0].contains("tofu-oci bundle load Cargo.toml"), "{:?}", said.hints());
}

#[track_caller]
fn check_from_hint(text: &str, want: &str) {
    let Err(diagnostic) = From::parse(text) else { panic!("{text} must be refused") };
    assert!(diagnostic.hints().iter().any(|hint| hint == want), "{text}: {:?}", diagnostic.hints());
}

#[test]
fn a_mirror_without_its_slash_and_a_path_without_its_kind_get_the_right_form() {
    check_from_hint(
        "https://mirror.example/providers",
        "the address of a network mirror begins with https and ends with a slash: https://mirror.example/providers/",
    );
    check_from_hint(
        "http://mirror.example/providers/",
        "the address of a network mirror begins with https and ends with a slash: https://mirror.example/providers/",
    );
    check_from_hint("./Cargo.toml", "a bundle is written bundle:./Cargo.toml");
    check_from_hint("./src", "a folder of packages is written static:./src, and one of image layouts oci:./src");
    check_from_hint("./absent", "a directory is written oci:./absent");
}

#[test]
fn a_path_with_several_slashes_is_a_directory() {
    assert_eq!(End::parse("oci:///srv/x").ok(), Some(End::Layout(PathBuf::from("///srv/x"))));
    assert_eq!(End::parse("oci:/srv/x").ok(), Some(End::Layout(PathBuf::from("/srv/x"))));
    assert_eq!(End::parse("oci:a://b").ok(), Some(End::Layout(PathBuf::from("a://b"))));
}
