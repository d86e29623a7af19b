//! From its first line to its end.

use tofu_oci_testkit::{Fault, Gate, ProviderZip, ReleaseFolder, Rule};

use super::wire::{begin, read};
use super::{Serving, WIDGET_PATH, archive, served};
use crate::setup::{Scene, WIDGET};

#[test]
fn it_says_where_it_listens_and_ends_well_by_sigterm() {
    let (_scene, serving) = served();
    assert_eq!(serving.get("/healthz").status, 200);
    assert_eq!(serving.get("/readyz").status, 200);
    assert!(serving.log().contains(&format!("127.0.0.1:{}", serving.port)), "{}", serving.log());
    let (status, said) = serving.stop();
    assert_eq!(status.code(), Some(0), "{said}");
}

#[cfg(unix)]
#[test]
fn others_of_the_machine_could_look_into_the_cache() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::published();
    let _serving = Serving::start(&scene, "", "[cache]\ndir = \"own-cache\"\n");
    let mode = std::fs::metadata(scene.path("own-cache")).expect("it is made").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
}

/// Starts `serve` in vain, and checks its settings, with a cache in this folder of the scene.
#[cfg(unix)]
#[track_caller]
fn check_cache(scene: &Scene, dir: &str, want: Result<(), &str>) {
    let settings = format!(
        "[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{}/${{namespace}}/${{type}}\"\n[cache]\ndir = \"{dir}\"\n",
        scene.registry.address()
    );
    scene.context.write("serve.toml", settings);
    let Err(reason) = want else {
        scene.run("serve --check-config").success();
        return;
    };
    for arguments in ["serve --check-config", "serve --listen 127.0.0.1:0"] {
        let said = scene.run(arguments);
        assert_eq!(said.code, Some(2), "{}", said.text);
        assert!(said.text.contains(&format!("is not used: {reason}")), "{}", said.text);
        assert!(said.text.contains("or name another one: `dir` in the [cache] of serve.toml"), "{}", said.text);
    }
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_could_fill_was_served() {
    use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
    let scene = Scene::published();
    let mode = |name: &str, mode| {
        std::fs::set_permissions(scene.path(name), std::fs::Permissions::from_mode(mode)).expect("it is ours");
    };
    std::fs::create_dir_all(scene.path("above/cache")).expect("it is new");
    let shared = "[WORK]/above/cache belongs to another user, or others may write to it";
    for (bits, want) in [(0o777, Err(shared)), (0o1777, Err(shared)), (0o775, Ok(())), (0o755, Ok(()))] {
        mode("above/cache", bits);
        check_cache(&scene, "above/cache", want);
    }
    symlink("above", scene.path("link")).expect("the name is free");
    check_cache(&scene, "link/cache", Ok(()));
    mode("above", 0o777);
    let open = "others may write to [WORK]/above, which it is in";
    for dir in ["above/cache", "above/new", "link/cache"] {
        check_cache(&scene, dir, Err(open));
        assert!(!scene.path("above/new").exists(), "nothing is made there");
    }
    mode("above", 0o1777);
    check_cache(&scene, "above/cache", Ok(()));
    mode("above", 0o755);
    // Only the superuser can make things of another user.
    if chown(scene.path("above"), Some(12345), None).is_err() {
        return;
    }
    check_cache(&scene, "above/cache", Err("[WORK]/above, on the way to it, belongs to another user"));
    check_cache(&scene, "above/new", Err("[WORK]/above, on the way to it, belongs to another user"));
    chown(scene.path("above"), Some(0), None).expect("we are the superuser");
    chown(scene.path("above/cache"), Some(12345), None).expect("we are the superuser");
    check_cache(&scene, "above/cache", Err(shared));
    chown(scene.path("above/cache"), Some(0), None).expect("we are the superuser");
    lchown(scene.path("link"), Some(12345), None).expect("we are the superuser");
    check_cache(&scene, "link/cache", Err("[WORK]/link, on the way to it, belongs to another user"));
}

#[test]
fn an_interrupted_bridge_ends_as_every_interrupted_command() {
    let (_scene, mut serving) = served();
    serving.signal("INT");
    let status = serving.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130), "{}", serving.log());
}

/// A registry with a package of 2 MB that is no multiple of anything.
fn large() -> Scene {
    let scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 2_000_001);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene
}

#[test]
fn a_download_under_way_is_finished_after_sigterm() {
    let scene = large();
    let serving = Serving::start(&scene, "", "");
    // What is known already is not asked for after the signal.
    serving.json(&format!("{WIDGET_PATH}/1.4.0.json"));
    let gate = Gate::closed();
    let held = Fault::HoldBody { bytes: 1_000_000, gate: gate.clone() };
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").then(held));
    let path = archive("linux_amd64");
    let download = begin(serving.port, "GET", &path, &[]);
    arrived(&gate);
    serving.signal("TERM");
    // The answer to this is late enough: the signal was seen, or the connection is refused.
    serving.wait_for_line(1, &["stop"]);
    gate.open();
    let got = read(download, "GET");
    let zip = std::fs::read(scene.path("dist/terraform-provider-widget_1.4.0_linux_amd64.zip")).expect("it is there");
    assert!(got.is_whole && got.body == zip, "{} of {} bytes", got.body.len(), zip.len());
    let mut serving = serving;
    let status = serving.child.wait().expect("it ends");
    assert_eq!(status.code(), Some(0), "{}", serving.log());
}

#[test]
fn a_client_that_goes_away_ends_the_download_from_the_registry() {
    let scene = large();
    let serving = Serving::start(&scene, "", "");
    let gate = Gate::closed();
    let held = Fault::HoldBody { bytes: 100_000, gate: gate.clone() };
    scene.registry.fault(Rule::on("GET", "/v2/acme/widget/blobs/*").once().then(held));
    drop(begin(serving.port, "GET", &archive("linux_amd64"), &[]));
    // The bridge is as ready as before.
    let got = serving.get(&archive("linux_amd64"));
    assert!(got.status == 200 && got.is_whole, "{}", serving.log());
    gate.open();
}

/// Waits until a request has come to the gate.
fn arrived(gate: &Gate) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime can be made");
    runtime.block_on(gate.arrived(1));
}

#[test]
fn the_log_did_not_say_why_a_mirror_url_without_its_slash_failed() {
    let scene = Scene::published();
    let serving = Serving::start(&scene, "", "");
    assert_eq!(serving.get("/registry.example.com/acme/widget/index.json").status, 400);
    serving.wait_for_line(0, &["/registry.example.com/acme/widget/index.json", "\"code\":\"wrong-address\""]);
}

#[test]
fn a_log_that_was_rotated_got_no_further_lines() {
    let scene = Scene::published();
    let serving = Serving::start(&scene, "access_log = \"access.log\"", "");
    assert_eq!(serving.get("/first").status, 404);
    std::fs::rename(scene.path("access.log"), scene.path("access.log.1")).expect("it is there");
    serving.signal("HUP");
    serving.wait_for_line(1, &["was opened anew"]);
    assert_eq!(serving.get("/second").status, 404);
    let (status, said) = serving.stop();
    assert_eq!(status.code(), Some(0), "{said}");
    let (old, new) = (scene.context.read("access.log.1"), scene.context.read("access.log"));
    assert!(old.contains("/first") && !old.contains("/second"), "{old}");
    assert!(new.contains("/second") && !new.contains("/first"), "{new}");
}

#[test]
fn what_clients_paste_left_them_without_all_other_providers() {
    let scene = Scene::published();
    let place = |include: &str, exclude: &str, folder: &str| {
        let from = format!("REGISTRY/{folder}/${{namespace}}/${{type}}");
        format!("[[provider]]\ninclude = [\"{include}\"]\nexclude = [{exclude}]\nfrom = \"{from}\"\n")
    };
    let said = |settings: &str| Serving::with(&scene, settings).stop().1.replace("\n  ", "\n");
    let own = place("registry.example.com/*/*", "", "own");
    let some = said(&(own.clone() + &place("registry.terraform.io/*/*", "\"registry.terraform.io/acme/*\"", "mirror")));
    let block = "\
        network_mirror {\n    url     = \"http://127.0.0.1:PORT/mirror/\"\n    \
        include = [\"registry.example.com/*/*\", \"registry.terraform.io/*/*\"]\n    \
        exclude = [\"registry.terraform.io/acme/*\"]\n  }\n  \
        direct {\n    exclude = [\"registry.example.com/*/*\", \"registry.terraform.io/*/*\"]\n  }\n  \
        direct {\n    include = [\"registry.terraform.io/acme/*\"]\n  }\n}\n";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let number = some.split("at 127.0.0.1:").nth(1).and_then(|rest| rest.split_whitespace().next()).expect("a port");
    assert!(words(&some).contains(&words(&block.replace("PORT", number))), "{some}");
    // Everything: no other provider is left.
    let every = said(&place("*/*/*", "", "all/${hostname}"));
    assert!(every.contains("network_mirror") && !every.contains("direct"), "{every}");
    // A provider of an own host needs no method.
    let none = said(&format!("hosts = [\"registry.example.com\"]\n{own}"));
    assert!(!none.contains("provider_installation") && none.contains("in required_providers"), "{none}");
}
