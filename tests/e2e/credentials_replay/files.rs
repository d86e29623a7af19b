//! Files, links, folders and helpers, put where a case says.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::Value;

use super::case::Helper;

/// Puts one file: text as it is, an object as JSON, or `@dir`, `@link` and `@mode` with `content`.
pub(super) fn put(path: &Path, content: &Value) {
    parent(path);
    match content {
        Value::String(text) => fs::write(path, text).unwrap(),
        Value::Object(members) if members.contains_key("@dir") => fs::create_dir_all(path).unwrap(),
        Value::Object(members) if members.contains_key("@link") => {
            symlink(members["@link"].as_str().expect("a link leads to a text"), path).unwrap();
        }
        Value::Object(members) if members.contains_key("@mode") => {
            put(path, &members["content"]);
            fs::set_permissions(path, fs::Permissions::from_mode(mode(&members["@mode"]))).unwrap();
        }
        Value::Object(members) if members.keys().any(|name| name.starts_with('@')) => {
            panic!("a kind of file that nobody knows: {content}")
        }
        other => fs::write(path, other.to_string()).unwrap(),
    }
}

/// Octal digits, as text or as a number that is written with them.
fn mode(value: &Value) -> u32 {
    let digits = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    u32::from_str_radix(&digits, 8).unwrap_or_else(|_| panic!("a mode that nobody knows: {value}"))
}

fn parent(path: &Path) {
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
}

/// Writes a helper that notes each call below `calls`: `N.name`, `N.argv` and `N.stdin`.
///
/// It is a script without anything from the PATH, so that it works whatever that is.
pub(super) fn put_helper(name: &str, helper: &Helper, bin: &Path, calls: &Path) {
    let path = helper.path.as_ref().map_or_else(|| bin.join(format!("docker-credential-{name}")), Into::into);
    parent(&path);
    let mut stdout = match (&helper.get, &helper.stdout) {
        (Some(answer), None) => answer.to_string(),
        (None, text) => text.clone().unwrap_or_default(),
        (Some(_), Some(_)) => panic!("a helper with two answers"),
    };
    stdout.extend(helper.then.as_deref());
    let reads = helper.noread != Value::Bool(true) && helper.noread.as_u64().unwrap_or_default() == 0;
    let read = if reads { "/bin/cat > \"$call.stdin\"" } else { ":" };
    let script = format!(
        "#!/bin/sh\ncall={calls}/$$\nprintf %s \"$*\" > \"$call.argv\"\nprintf %s {name} > \"$call.name\"\n{read}\n\
         printf %s {stderr} >&2\nprintf %s {stdout}\nexit {exit}\n",
        calls = quoted(&calls.display().to_string()),
        name = quoted(name),
        stderr = quoted(helper.stderr.as_deref().unwrap_or_default()),
        stdout = quoted(&stdout),
        exit = helper.exit,
    );
    let text = path.with_extension("text");
    fs::write(&text, script).unwrap();
    copy_program(&text, &path);
    fs::remove_file(text).unwrap();
    let mode = helper.mode.as_ref().map_or(0o755, mode);
    fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
}

/// Copies a program by another process. Were it written by this one, a program that a thread beside starts at that moment
/// would hold it open for writing too, and it could not be run ("text file busy").
pub(super) fn copy_program(from: &Path, to: &Path) {
    let copied = std::process::Command::new("cp").arg(from).arg(to).status().unwrap();
    assert!(copied.success(), "{} could not be copied", from.display());
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// A call of a helper.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) argv: String,
    pub(super) stdin: String,
}

/// The calls that were noted, sorted; they are forgotten.
pub(super) fn take_calls(calls: &Path) -> Vec<Call> {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let mut found = Vec::new();
    for entry in fs::read_dir(calls).unwrap().flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "name") {
            let [argv, stdin] = ["argv", "stdin"].map(|what| read(&path.with_extension(what)));
            found.push(Call { name: read(&path), argv, stdin });
        }
    }
    fs::remove_dir_all(calls).unwrap();
    fs::create_dir(calls).unwrap();
    found.sort();
    found
}
