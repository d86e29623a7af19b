//! `serve --trial-tls`: a certificate for trying.

use std::fs;

use super::Serving;
use crate::setup::Scene;

const URL: &str = "versions registry.example.com/acme/widget --from https://127.0.0.1";

const SERVE: &str =
    "serve --from REGISTRY/${namespace}/${type} --include registry.example.com/*/* --listen 127.0.0.1:0";

fn line(scene: &Scene, more: &str) -> String {
    format!("{} {more}", SERVE.replace("REGISTRY", scene.registry.address()))
}

fn start(scene: &Scene, more: &str) -> Serving {
    Serving::spawn(scene.command(&line(scene, &format!("--trial-tls trial {more}"))))
}

#[test]
fn clients_that_trust_the_authority_of_a_trial_reach_the_mirror_and_a_second_run_uses_it_again() {
    let scene = Scene::published();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let serving = start(&scene, "");
        let file = scene.path("trial/ca.pem").display().to_string();
        serving.wait_for_line(1, &["export SSL_CERT_FILE=", &file]);
        let asked = format!("{URL}:{}/mirror/", serving.port);
        let trusting = scene.run(&format!("{asked} --ca-file {file}")).success();
        assert!(trusting.stdout.contains("1.4.0"), "{}", trusting.text);
        assert!(!scene.run(&asked).text.contains("exit code: 0"), "whoever does not trust it gets nothing");
        seen.push(fs::read_to_string(file).expect("it is there"));
    }
    assert_eq!(seen[0], seen[1]);
    let files = fs::read_dir(scene.path("trial")).expect("the folder").count();
    assert_eq!(files, 3, "the key of the authority is nowhere");
}

#[test]
fn a_trial_takes_no_folder_of_others_and_no_certificate_for_others() {
    let scene = Scene::published();
    let other = |more: &str| scene.run(&line(&scene, more)).text;
    scene.context.write("mine/notes", "");
    let said = other("--trial-tls mine");
    assert!(said.contains("the folder mine has other files") && said.contains("exit code: 2"), "{said}");
    drop(start(&scene, ""));
    let said = other("--trial-tls trial --url http://localhost:9/");
    assert!(
        said.contains("`url` begins with http://") && said.contains("write url = \"https://localhost:9/\""),
        "{said}"
    );
    let said = other("--trial-tls trial --host registry.acme.example");
    assert!(said.contains("trial/server.pem is not for registry.acme.example"), "{said}");
    assert!(said.contains("hint: name another folder, or remove trial; clients then trust the new ca.pem"), "{said}");
    fs::remove_file(scene.path("trial/ca.pem")).expect("it is there");
    let said = other("--trial-tls trial");
    assert!(said.contains("there is no trial/ca.pem, which clients have to trust"), "{said}");
}
