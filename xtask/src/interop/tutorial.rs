//! The tutorial, typed from top to bottom: with a real registry, `terraform`, and `tofu` if it is installed.

use std::net::TcpListener;

use tofu_oci_testkit::{PageStep, page_steps, shows};

use super::lab::{Lab, seen};
use crate::failure::{ChoreFailure, ChoreResult, Doing};
use crate::paths;
use crate::process::find;
use crate::registry::Guard;

pub(super) const NEEDS: &[&str] = &["docker-registry", "terraform", "curl"];

/// Stands before the output of each command.
const MARK: &str = "@@@ step";

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let registry = Guard::tls()?;
    let folder = lab.new_folder("tutorial")?;
    for name in ["dist", "dist-next", "trust/cosign/test-keys"] {
        paths::copy_folder(&paths::testdata().join(name), &folder.join("testdata").join(name))?;
    }
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let here = |text: &str| {
        text.replace("127.0.0.1:5000", registry.address()).replace("127.0.0.1:8080", &format!("127.0.0.1:{port}"))
    };
    let page = "docs/start/tutorial.md";
    let text = std::fs::read_to_string(paths::root().join(page)).doing(|| format!("reading {page}"))?;
    let mut steps = Vec::new();
    let mut script = "exec 2>&1\ntrap 'kill $! 2>/dev/null' EXIT\n".to_owned();
    for step in page_steps(&text) {
        match step {
            // A file is written when its turn comes: the shell writes it.
            PageStep::File { path, text } => script += &format!("cat > {path} <<'END_OF_FILE'\n{text}END_OF_FILE\n"),
            PageStep::Command { line, .. } if is_left_out(&line) => {}
            PageStep::Command { line, printed } => {
                let listening = format!("tofu-oci serve --listen 127.0.0.1:{port} ");
                let line = here(&line.replace("tofu-oci serve ", &listening));
                script += &format!("echo; echo '{MARK} {}'\n{line}\n", steps.len());
                steps.push((line, here(&printed)));
            }
        }
    }
    let programs = lab.program().parent().ok_or_else(|| ChoreFailure::new("the program lies in no folder"))?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(programs.to_path_buf()).chain(std::env::split_paths(&path)));
    let path = path.map_err(|error| ChoreFailure::new(error.to_string()))?;
    let mut shell = lab.tool("sh")?.args(["-c", &script]).directory(&folder).variable("PATH", path);
    shell = shell.variable("CHECKPOINT_DISABLE", "1");
    if let Some(file) = registry.ca_file() {
        shell = shell.variable("SSL_CERT_FILE", file);
    }
    let typed = shell.output()?;
    for (nth, (line, wanted)) in steps.iter().enumerate() {
        let after = typed.stdout.split(&format!("{MARK} {nth}\n")).nth(1).unwrap_or_default();
        let said = after.split(MARK).next().unwrap_or_default();
        if !shows(said, wanted) {
            return Err(ChoreFailure::new(format!("{line}\nprints\n{said}\nand not\n{wanted}")));
        }
    }
    seen(&format!("{} commands of {page} print what it says", steps.len()));
    Ok(())
}

/// The registry and its certificate are those of the stage; `tofu` may be missing.
fn is_left_out(line: &str) -> bool {
    let is_missing = line.starts_with("tofu ") && find("tofu").is_none();
    if is_missing {
        println!("   --  no tofu on the PATH: {line}");
    }
    is_missing || line.starts_with("cargo ") || line.starts_with("export SSL_CERT_FILE=")
}
