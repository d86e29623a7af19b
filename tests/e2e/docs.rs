//! Documentation beside a release: `push --docs`, `docs`, what carries it, and the pages of `serve`.

use insta::assert_snapshot;
use serde_json::{Value, json};
use tofu_oci_testkit::{Behaviour, Inline, Referrer, ReferrersSupport, Registry};
use tofu_oci_types::Descriptor;

use crate::setup::zips::stored;
use crate::setup::{Scene, WIDGET};

const DOCS: &str = "application/vnd.opentofu.provider.docs.v1";
const ZIP: &str = "application/vnd.opentofu.provider.docs.v1+zip";

const GEAR: &str = "---\npage_title: \"widget_gear Resource\"\nsubcategory: \"Parts\"\ndescription: |-\n  A gear.\n---\n\n\
    # widget_gear (Resource)\n\nIt turns a [shaft](../data-sources/shaft).\n\n\
    ```terraform\nresource \"widget_gear\" \"a\" {\n  teeth = 3\n}\n```\n\n\
    ## Schema\n\n### Required\n\n- `teeth` (Number) How many.\n";

/// The files of `docs/`, of which these replace some.
fn write(scene: &Scene, files: &[(&str, &str)]) {
    let usual = [
        ("index.md", "# Widget Provider\n\nMakes widgets.\n"),
        ("resources/gear.md", GEAR),
        ("data-sources/shaft.md", "# widget_shaft (Data Source)\n\n## Schema\n\n### Required\n\n- `name` (String)\n"),
    ];
    for (name, text) in usual.iter().chain(files) {
        scene.context.write(&format!("docs/{name}"), text);
    }
}

fn push(scene: &Scene, version: &str) -> String {
    scene.dist(&format!("dist-{version}"), version);
    let line = format!("push dist-{version} REGISTRY/acme/widget --address {WIDGET} --docs docs");
    scene.run(&line).success().text
}

/// Widget 1.4.0 with documentation.
fn documented() -> Scene {
    let scene = Scene::new();
    write(&scene, &[]);
    push(&scene, "1.4.0");
    scene
}

/// A page, from a place.
fn printed(scene: &Scene, place: &str, page: &str) -> String {
    scene.run(&format!("docs {WIDGET}@1.4.0 {page} --from {place}")).success().stdout
}

#[test]
fn a_release_is_pushed_with_its_documentation() {
    for referrers in [ReferrersSupport::Unsupported, ReferrersSupport::Supported] {
        let scene = Scene::with(Registry::builder().behaviour(Behaviour { referrers, ..Behaviour::default() }));
        write(&scene, &[]);
        insta::allow_duplicates! {
            assert_snapshot!(push(&scene, "1.4.0"), @"
            exit code: 0
            ----- stdout -----
            pushed registry.example.com/acme/widget 1.4.0 to [REGISTRY]/acme/widget:1.4.0
              index sha256:[DIGEST]
              darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
              linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              attached documentation of 3 pages as sha256:[DIGEST]
              sent 5.9 kB (10 new, 0 present)

            ----- stderr -----
            widget 1.4.0 darwin_arm64: pushed (324 B)
            widget 1.4.0 linux_amd64: pushed (323 B)
            ");
            // Nothing is sent twice.
            assert_snapshot!(push(&scene, "1.4.0"), @"
            exit code: 0
            ----- stdout -----
            registry.example.com/acme/widget 1.4.0 is at [REGISTRY]/acme/widget:1.4.0 already; nothing was sent
              index sha256:[DIGEST]
              darwin_arm64         324 B  h1:EpzOw67GZI3oJwc3WEsuZHoCvH952FVhRbU2OaEcQa0=
              linux_amd64          323 B  h1:5ZIaEXtuGPhNEHItKhFseWeAc56rKw42E9ZsSDCu/hw=
              present  documentation of 3 pages as sha256:[DIGEST]

            ----- stderr -----
            ");
        }
    }
}

#[test]
fn pages_are_listed_and_printed() {
    let scene = documented();
    assert_snapshot!(scene.run("docs REGISTRY/acme/widget --list").text, @"
    exit code: 0
    ----- stdout -----
    PAGE                SUBCATEGORY  ABOUT
    index
    resources/gear      Parts        A gear.
    data-sources/shaft

    3 pages

    ----- stderr -----
    ");
    assert_snapshot!(scene.run(&format!("docs {WIDGET}@1.4.0 widget_gear --from REGISTRY/acme/widget")).text, @r#"
    exit code: 0
    ----- stdout -----
    widget_gear (Resource)
    ======================

    It turns a shaft.

        resource "widget_gear" "a" {
          teeth = 3
        }

    Schema
    ------

    Required

      - `teeth` (Number) How many.

    ----- stderr -----
    "#);
    assert_snapshot!(printed(&scene, "REGISTRY/acme/widget", ""), @"
    Widget Provider
    ===============

    Makes widgets.
    ");
    let lines = scene.run("docs REGISTRY/acme/widget:1.4.0 r/gear --json").success().json();
    assert_eq!(lines[0]["page"], "resources/gear");
    assert_eq!((&lines[0]["subcategory"], &lines[0]["description"]), (&json!("Parts"), &json!("A gear.")));
    assert!(lines[0]["text"].as_str().expect("a text").starts_with("# widget_gear"), "{lines:?}");
    let list = scene.run("docs REGISTRY/acme/widget --list --json").success().json();
    let pages: Vec<&Value> = list.iter().map(|line| &line["page"]).collect();
    assert_eq!(pages, ["index", "resources/gear", "data-sources/shaft"]);
}

#[test]
fn a_misspelt_page_and_a_release_without_pages_are_told() {
    let scene = documented();
    assert_snapshot!(scene.refuse("docs REGISTRY/acme/widget gaer"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the documentation has no page `gaer`

    hint: did you mean resources/gear?
    hint: `tofu-oci docs [REGISTRY]/acme/widget --list` lists all pages
    ");
    assert_snapshot!(scene.refuse("docs REGISTRY/acme/widget data-sources/gear"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the documentation has no page `data-sources/gear`

    hint: did you mean resources/gear?
    hint: `tofu-oci docs [REGISTRY]/acme/widget --list` lists all pages
    ");
    let bare = Scene::published();
    assert_snapshot!(bare.refuse("docs REGISTRY/acme/widget:1.4.0"), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: registry.example.com/acme/widget 1.4.0 in [REGISTRY]/acme/widget has no documentation

    hint: its publisher adds it: `tofu-oci push DIST REPOSITORY --docs DIR`, where DIR is the docs folder of the provider
    ");
    std::fs::create_dir_all(scene.path("source/website/docs")).expect("a folder");
    scene.dist("dist", "1.5.0");
    assert_snapshot!(scene.refuse(&format!("push dist REGISTRY/acme/widget --address {WIDGET} --docs source")), @"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: source is not a folder with pages of documentation

    hint: name the folder in it: --docs source/website/docs
    hint: pages are index.md, and .md files in resources, data-sources, functions, guides and the like
    ");
}

#[test]
fn corrected_pages_take_the_place_of_the_first_ones() {
    let scene = documented();
    write(&scene, &[("index.md", "# Corrected\n")]);
    assert!(push(&scene, "1.4.0").contains("what it lacked was attached"));
    assert!(printed(&scene, "REGISTRY/acme/widget", "index").starts_with("Corrected"));
    // The first ones again are a third revision.
    write(&scene, &[]);
    push(&scene, "1.4.0");
    assert!(printed(&scene, "REGISTRY/acme/widget", "index").starts_with("Widget Provider"));
}

#[test]
fn two_versions_are_compared() {
    let scene = documented();
    let gear = GEAR.replace("`teeth` (Number) How many.", "`cogs` (Number) How many.");
    write(&scene, &[("resources/gear.md", &gear), ("functions/turn.md", "# turn\n")]);
    std::fs::remove_file(scene.path("docs/data-sources/shaft.md")).expect("a page");
    let line = format!("push dist-1.5.0 REGISTRY/acme/widget --address {WIDGET} --docs docs");
    scene.dist("dist-1.5.0", "1.5.0");
    scene.run(&line).success();
    assert_snapshot!(scene.run("docs diff REGISTRY/acme/widget 1.4.0 1.5.0").text, @"
    exit code: 0
    ----- stdout -----
    + functions/turn
    - data-sources/shaft
      resources/gear
        + cogs
        - teeth

    ----- stderr -----
    ");
    let whole = format!("docs diff {WIDGET}@1.4.0 {WIDGET}@1.5.0 --from REGISTRY/acme/widget --json");
    let lines = scene.run(&whole).success().json();
    assert_eq!(lines[0]["came"], json!(["functions/turn"]));
    assert_eq!(lines[0]["changed"][0], json!({"page": "resources/gear", "came": ["cogs"], "went": ["teeth"]}));
    let by_address = format!("docs diff {WIDGET} 1.4.0 1.5.0 --from REGISTRY/acme/widget");
    assert!(scene.run(&by_address).success().text.contains("+ functions/turn"));
    for one in ["REGISTRY/acme/widget 1.4.0", "REGISTRY/acme/widget:1.4.0 1.5.0"] {
        let said = scene.refuse(&format!("docs diff {one}"));
        assert!(said.contains("/acme/widget OLD NEW"), "{said}");
    }
}

#[test]
fn the_page_that_was_meant_is_of_the_kind_that_was_named() {
    let scene = documented();
    for (typed, meant) in [
        ("resource/gear", "resources/gear"),
        ("resources/gaer", "resources/gear"),
        ("d/shatf", "data-sources/shaft"),
        ("Resources/Gear.md", "resources/gear"),
    ] {
        let said = scene.refuse(&format!("docs REGISTRY/acme/widget:1.4.0 {typed}"));
        assert!(said.contains(&format!("did you mean {meant}?")), "{typed}: {said}");
    }
}

#[test]
fn copies_mirrors_and_bundles_carry_it() {
    let scene = documented();
    let whole = printed(&scene, "REGISTRY/acme/widget", "gear");
    scene.run("copy REGISTRY/acme/widget REGISTRY/other/widget").success();
    assert_eq!(printed(&scene, "REGISTRY/other/widget", "gear"), whole);
    scene.run(&format!("bundle create b.tar {WIDGET} --from REGISTRY/acme/widget")).success();
    assert_eq!(printed(&scene, "bundle:b.tar", "gear"), whole);
    scene.run("bundle load b.tar 'REGISTRY/loaded/${namespace}/${type}'").success();
    assert_eq!(printed(&scene, "REGISTRY/loaded/acme/widget", "gear"), whole);
    scene
        .run(&format!("mirror {WIDGET} --from REGISTRY/acme/widget --to 'REGISTRY/mirror/${{namespace}}/${{type}}'"))
        .success();
    assert_eq!(printed(&scene, "REGISTRY/mirror/acme/widget", "gear"), whole);
    scene.run(&format!("pack dist-1.4.0 oci:layout --address {WIDGET} --docs docs")).success();
    assert_eq!(printed(&scene, "oci:layout", "gear"), whole);
}

/// Puts a zip beside the release, as a publisher who means harm.
fn put(scene: &Scene, zip: &[u8]) {
    let (media_type, index) = scene.registry.manifest("acme/widget", "1.4.0").expect("it is published");
    let subject = Descriptor::of(&media_type, &index);
    let referrer = Referrer::new(&subject, DOCS).layer(ZIP, zip, &[], Inline::No);
    scene.registry.put_referrer("acme/widget", &referrer);
}

fn zip(files: &[(&str, &str)]) -> Vec<u8> {
    stored(&files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes())).collect::<Vec<_>>())
}

#[test]
fn a_hostile_zip_is_refused() {
    let bomb = "a".repeat(9 << 20);
    for files in [
        &[("../index.md", "# a")][..],
        &[("index.md", "# a"), ("/etc/passwd", "b")],
        &[("index.md", "# a"), (".git/config", "b")],
    ] {
        let scene = Scene::published();
        put(&scene, &zip(files));
        let said = scene.refuse("docs REGISTRY/acme/widget:1.4.0 --json");
        assert!(said.contains("docs-damaged"), "{said}");
    }
    let scene = Scene::published();
    put(&scene, &zip(&[("index.md", &bomb)]));
    let said = scene.refuse("docs REGISTRY/acme/widget:1.4.0");
    assert!(said.contains("is larger than 8388608 bytes"), "{said}");
    let scene = Scene::published();
    put(&scene, b"not a zip");
    assert_snapshot!(scene.refuse("docs REGISTRY/acme/widget:1.4.0"), @r"
    exit code: 1
    ----- stdout -----

    ----- stderr -----
    error: the documentation sha256:[DIGEST] in [REGISTRY]/acme/widget cannot be read
      cause: this is not a zip archive

    hint: `tofu-oci push --docs` writes it anew beside the release
    ");
}

#[cfg(unix)]
#[test]
fn hostile_text_does_nothing() {
    let hostile = format!(
        "---\nsubcategory: \"{HOSTILE}\"\n---\n# {HOSTILE}\n\n<script>alert(1)</script>\n\n[a](javascript:alert(1)) \
         <img src=x onerror=alert(2)>\n\n```hcl\n{HOSTILE}<script>\n```\n\n- `{HOSTILE}`\n",
        HOSTILE = crate::setup::hostile::HOSTILE.replace('\r', "").replace('\n', " "),
    );
    let scene = Scene::published();
    put(&scene, &zip(&[("index.md", &hostile), ("resources/x.md", "# x")]));
    for line in [
        "docs REGISTRY/acme/widget:1.4.0",
        "docs REGISTRY/acme/widget:1.4.0 --list",
        "docs REGISTRY/acme/widget:1.4.0 --json",
    ] {
        scene.harmless(line);
    }
    let page = serve(&scene).get("/providers/registry.example.com/acme/widget/1.4.0/docs").text();
    let (_, shown) = page.split_once("<article").expect("an article");
    assert!(!shown.contains("<script") && !shown.contains("<img") && !shown.contains("javascript:"), "{shown}");
    assert!(!page.contains(['\x1b', '\u{202e}', '\u{9b}']), "{page}");
}

#[cfg(unix)]
fn serve(scene: &Scene) -> crate::serve::Serving {
    let from = format!("{}/${{namespace}}/${{type}}", scene.registry.address());
    let text = format!(
        "listen = [\"127.0.0.1:0\"]\n[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{from}\"\n"
    );
    scene.context.write("serve.toml", text);
    crate::serve::Serving::spawn(scene.command("serve --config serve.toml"))
}

#[cfg(unix)]
#[test]
fn pages_are_served_and_fetched_once() {
    let scene = documented();
    let serving = serve(&scene);
    let release = "/providers/registry.example.com/acme/widget/1.4.0";
    let link = format!("href=\"{release}/docs\"");
    assert!(serving.get(release).text().contains(&link));
    assert!(serving.get("/providers/registry.example.com/acme/widget").text().contains(&link));
    scene.registry.clear_requests();
    let page = serving.get(&format!("{release}/docs/resources/gear"));
    assert_eq!(page.status, 200);
    let page = page.text();
    for part in [
        format!("<a href=\"{release}/docs/data-sources/shaft\">shaft</a>"),
        "<span class=\"k\">resource</span>".to_owned(),
        "<h3 id=\"doc-schema\">Schema</h3>".to_owned(),
        format!("<a href=\"{release}/docs/resources/gear\" aria-current=\"page\">gear</a>"),
    ] {
        assert!(page.contains(&part), "{part}\n{page}");
    }
    let found = serving.get(&format!("{release}/docs?find=SHAFT")).text();
    assert!(found.contains("1 page for") && found.contains("data-sources/shaft</a>"), "{found}");
    assert_eq!(serving.get(&format!("{release}/docs/resources/none")).status, 404);
    assert_eq!(serving.get(&format!("{release}/docs/resources/..%2fx")).status, 400);
    let blobs = scene.registry.requests().iter().filter(|request| request.line().contains("/blobs/")).count();
    assert_eq!(blobs, 0, "the zip was fetched for the first page alone");
}
