//! The pages of `serve` in real Chromium: two widths, light and dark, by keyboard and without JavaScript, judged by axe.

use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::lab::{Lab, seen, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::served::free_port;

/// What a sub-stage needs.
pub(super) const NEEDS: &[&str] = &["chromium", "node", "npm", "openssl"];

const SCRIPT: &str = include_str!("browser.mjs");

/// What drives the browser, and what judges the pages; npm has both.
const PACKAGES: [&str; 2] = ["playwright-core@1", "axe-core@4"];

/// Pages of documentation with each kind of element.
const DOCS: [(&str, &str); 3] = [
    (
        "index.md",
        "---\npage_title: \"Widget <b>\"\n---\n# Widget\n\n-> A note with a [link](resources/widget.md#arguments).\n\n## Use\n\n1. one\n2. two\n",
    ),
    (
        "resources/widget.md",
        "---\nsubcategory: \"Machines\"\n---\n# acme_widget\n\n~> **Warning** all of it.\n\n## Arguments\n\n* `size` - (Required) How \
         large. [Back](../index.md).\n\n```terraform\nresource \"acme_widget\" \"a\" {\n  # how large\n  size = 3\n}\n```\n\n\
         | argument | what a table with a long line says |\n|---|---|\n| `size` | https://registry.example.test/a-very-long-address/that/does/not/break |\n\n<a id=\"x\"></a>\n### Nested\n",
    ),
    ("data-sources/widget.md", "# acme_widget\n"),
];

const HOST: &str = "registry.example.test";

/// The reason of a withdrawal; the script looks for it.
const WITHDRAWN: &str = "deletes <b>state</b>; use 1.1.0";

/// How long the program may take to begin.
const START: Duration = Duration::from_secs(10);

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let folder = lab.new_folder("browser")?;
    let pages = pages(lab, &folder)?;
    let script = folder.join("browser.mjs");
    paths::write(&script, SCRIPT)?;
    // npm reads the user's own settings: where packages come from may be one of them.
    let install = ["install", "--no-save", "--no-audit", "--no-fund"];
    crate::process::ProgramRun::inheriting("npm").args(install).args(PACKAGES).directory(&folder).success()?;

    let shots = std::env::temp_dir().join("tofu-oci-pages");
    paths::write(&shots.join("README"), "Screenshots of `cargo xtask interop browser`.\n")?;
    let serving = Serving::start(lab, &folder)?;
    let browser = crate::process::find("chromium").unwrap_or_default();
    let visit = lab.tool("node")?.arg(&script).arg(serving.url()).arg(browser).arg(&shots).arg(WITHDRAWN).args(pages);
    for line in visit.success()?.stdout.lines() {
        seen(line.trim_start_matches("ok").trim_start());
    }
    println!("   screenshots: {}", shots.display());
    Ok(())
}

/// Publishes two providers, one of them signed with a deprecated version, and writes what `serve` reads. `NAME=PATH` for each
/// page to visit.
fn pages(lab: &Lab, folder: &Path) -> ChoreResult<Vec<String>> {
    let key = folder.join("key.pem");
    lab.tool("openssl")?.args(["genpkey", "-algorithm", "ed25519", "-out"]).arg(&key).success()?;
    let public = folder.join("acme.pub");
    lab.tool("openssl")?.args(["pkey", "-pubout", "-in"]).arg(&key).arg("-out").arg(&public).success()?;
    paths::write(
        &folder.join("trust.toml"),
        format!(
            "[[key]]\nname = \"acme\"\nfile = \"acme.pub\"\n\n[[rule]]\nproviders = [\"{HOST}/acme/widget\"]\nkeys = [\"acme\"]\n"
        ),
    )?;
    for (path, page) in DOCS {
        paths::write(&folder.join("docs").join(path), page)?;
    }
    for (name, dist) in [("widget", "dist"), ("widget", "dist-next"), ("gadget", "dist")] {
        let (dist, place) = (text(&paths::testdata().join(dist)), format!("oci:{}", text(&folder.join(name))));
        let push = lab.stranger(&["push", &dist, &place, "--address", &format!("{HOST}/acme/widget")]);
        let push = if name == "widget" { push.arg("--sign-key").arg(&key) } else { push };
        let push = if name == "widget" { push.arg("--docs").arg(folder.join("docs")) } else { push };
        push.success()?;
    }
    let old = format!("oci:{}:1.0.0", text(&folder.join("widget")));
    let notice = ["deprecate", &old, "--message", "1.0.0 forgets its settings; use 1.1.0", "--sign-key"];
    lab.stranger(&notice).arg(&key).success()?;
    // A version that clients do not see, and people do.
    let (dist, gadget) = (text(&paths::testdata().join("dist-next")), format!("oci:{}", text(&folder.join("gadget"))));
    lab.stranger(&["push", &dist, &gadget, "--address", &format!("{HOST}/acme/widget")]).success()?;
    lab.stranger(&["withdraw", &format!("{gadget}:1.0.0"), "--reason", WITHDRAWN]).success()?;
    let place = |host: &str, name: &str| {
        format!("[[provider]]\ninclude = [\"{host}/acme/{name}\"]\nfrom = \"oci:{}\"\n\n", text(&folder.join(name)))
    };
    let places = [place(HOST, "widget"), place("mirrored.example.test", "gadget")].concat();
    paths::write(&folder.join("places.toml"), places)?;
    let provider = format!("/providers/{HOST}/acme/widget");
    Ok(vec![
        "start=/".to_owned(),
        format!("provider={provider}"),
        format!("version={provider}/1.1.0"),
        format!("deprecated={provider}/1.0.0"),
        format!("docs={provider}/1.1.0/docs"),
        format!("docs-page={provider}/1.1.0/docs/resources/widget"),
        format!("docs-found={provider}/1.1.0/docs?find=widget"),
        format!("docs-missing={provider}/1.1.0/docs/guides/none"),
        "mirrored=/providers/mirrored.example.test/acme/gadget".to_owned(),
        "withdrawn=/providers/mirrored.example.test/acme/gadget/1.0.0".to_owned(),
        format!("missing=/providers/{HOST}/acme/none"),
        "nothing-found=/?q=nothing".to_owned(),
    ])
}

/// A running `serve`; dropping it ends it.
struct Serving {
    child: Child,
    port: u16,
}

impl Serving {
    fn start(lab: &Lab, folder: &Path) -> ChoreResult<Self> {
        let port = free_port()?;
        let places = std::fs::read_to_string(folder.join("places.toml"))?;
        let file = folder.join("serve.toml");
        let configuration =
            format!("listen = [\"127.0.0.1:{port}\"]\nhosts = [\"{HOST}\"]\ntrust = \"trust.toml\"\n\n{places}");
        paths::write(&file, configuration)?;
        let log: PathBuf = folder.join("serve.log");
        let run = lab.stranger(&["serve", "--config"]).arg(&file).directory(folder);
        let serving = Self { child: run.start(&log)?, port };
        let begin = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begin.elapsed() > START {
                let said = std::fs::read_to_string(&log).unwrap_or_default();
                return Err(ChoreFailure::new(format!("serve does not start\n{said}")));
            }
            sleep(Duration::from_millis(20));
        }
        Ok(serving)
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
