//! What `tofu-oci providers` says of the configurations in `testdata/configurations` is what real `terraform providers`
//! (and `tofu providers`, if tofu is installed) says of the same files.
//!
//! Real programs print the lines below a module in an order that changes from call to call; both sides are sorted.
//! Sources of `registry.opentofu.org` are read by terraform as `registry.terraform.io`, its own default.

use std::fs;
use std::path::Path;

use super::lab::{Lab, seen, text};
use crate::failure::{ChoreFailure, ChoreResult};
use crate::paths;
use crate::process::{Printed, find};

/// Configurations that terraform reads in another way, and why.
const OPENTOFU_ONLY: &[(&str, &str)] = &[
    ("import-into-module", "terraform does not count the provider of an import into a module"),
    ("state-instance-keys", "only OpenTofu reads .tofu files"),
    ("tests", "terraform counts no provider block of a test, and does not read .tofutest.hcl"),
    ("tofu-files", "only OpenTofu reads .tofu files"),
];

pub(super) fn run(lab: &Lab) -> ChoreResult {
    let mut names = Vec::new();
    for entry in fs::read_dir(paths::testdata().join("configurations"))? {
        let entry = entry?;
        // CLI configurations for them lie beside the folders.
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    for client in ["terraform", "tofu"].into_iter().filter(|client| find(client).is_some()) {
        let mut count = 0;
        for name in &names {
            let other = OPENTOFU_ONLY.iter().find(|(other, _)| client == "terraform" && other == name);
            if let Some((_, why)) = other {
                println!("   --  {name}: not compared with terraform: {why}");
                continue;
            }
            compare(lab, client, name)?;
            count += 1;
        }
        seen(&format!("{client} providers says the same of {count} configurations"));
    }
    Ok(())
}

fn compare(lab: &Lab, client: &str, name: &str) -> ChoreResult {
    let original = paths::testdata().join("configurations").join(name);
    let ours = lab.stranger(&["providers", "--chdir", &text(&original)]).output()?;
    let theirs = theirs(lab, client, &original)?;
    let (ours_refused, theirs_refused) = (ours.stderr.contains("error: OpenTofu refuses"), theirs.code != Some(0));
    if theirs_refused {
        return if ours_refused {
            Ok(())
        } else {
            Err(theirs.failure(&format!("{client} refuses {name}, and tofu-oci finds nothing wrong")))
        };
    }
    let tree = ours.stdout.split("\nModules:\n").next().unwrap_or_default();
    let expected = hosts(client, &sorted(&format!("\n{tree}")));
    let found = hosts(client, &sorted(&theirs.stdout));
    if expected == found {
        Ok(())
    } else {
        Err(ChoreFailure::new(format!("{name}: tofu-oci prints\n{expected}\nand {client} prints\n{found}")))
    }
}

/// What the real program says of a copy, without the lock file: its packages are not installed.
fn theirs(lab: &Lab, client: &str, original: &Path) -> ChoreResult<Printed> {
    let folder = lab.new_folder("configuration")?;
    for file in paths::files_below(original)? {
        if file.ends_with(".terraform.lock.hcl") {
            continue;
        }
        paths::write(&folder.join(&file), hosts(client, &fs::read_to_string(original.join(&file))?))?;
    }
    let cli = lab.new_folder("cli")?.join("cli.tfrc");
    paths::write(&cli, "")?;
    let command = |arguments: &[&str]| -> ChoreResult<Printed> {
        let run = lab.tool(client)?.args(arguments).directory(&folder).variable("CHECKPOINT_DISABLE", "1");
        run.variable("TF_CLI_CONFIG_FILE", text(&cli)).output()
    };
    // A configuration that is refused may be refused here already; `providers` says so again.
    command(&["get", "-no-color"])?;
    command(&["providers", "-no-color"])
}

/// The same with the default host of the client.
fn hosts(client: &str, text: &str) -> String {
    if client == "terraform" { text.replace("registry.opentofu.org", "registry.terraform.io") } else { text.to_owned() }
}

/// A line of the tree and the lines below it.
#[derive(Debug, Default)]
struct Branch {
    text: String,
    below: Vec<Branch>,
}

/// The output with the lines below each module in order: providers first, then modules, each by name.
fn sorted(output: &str) -> String {
    let mut root = Branch::default();
    let mut state = Vec::new();
    let mut other = Vec::new();
    for line in output.lines() {
        if let Some((edge, text)) = line.split_once("── ") {
            let depth = edge.chars().count() / 4;
            let mut branch = &mut root;
            for _ in 0..depth {
                let Some(last) = branch.below.len().checked_sub(1) else { break };
                branch = &mut branch.below[last];
            }
            branch.below.push(Branch { text: text.to_owned(), below: Vec::new() });
        } else if line.starts_with("    provider[") {
            state.push(line.to_owned());
        } else if line == "." || line.starts_with("Providers required by ") {
            // Everything else is a warning, which terraform prints here too.
            other.push(line.to_owned());
        }
    }
    let mut lines = other;
    flatten(&mut root, 0, &mut lines);
    state.sort();
    lines.extend(state);
    lines.join("\n")
}

fn flatten(branch: &mut Branch, depth: usize, lines: &mut Vec<String>) {
    branch.below.sort_by_key(|branch| (branch.text.starts_with("module."), branch.text.clone()));
    for below in &mut branch.below {
        lines.push(format!("{}{}", "  ".repeat(depth), below.text));
        flatten(below, depth + 1, lines);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_lines_below_a_module_plays_no_part() {
        let one = "\nHead:\n.\n├── provider[b]\n├── module.m\n│   ├── provider[d] 1.0.0\n│   └── provider[c]\n└── provider[a]\n";
        let other = "\nHead:\n.\n├── provider[a]\n├── provider[b]\n└── module.m\n    ├── provider[c]\n    └── provider[d] 1.0.0\n";
        assert_eq!(sorted(one), sorted(other));
        assert_ne!(sorted(one), sorted(&other.replace("1.0.0", "1.0.1")));
        assert_ne!(sorted(one), sorted(&other.replace("    └── provider[d]", "└── provider[d]")));
    }
}
