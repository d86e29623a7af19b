//! What hints say can be typed: an option in a hint is one of the verb that gives it, or of the command that it quotes.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Mutex;

/// What `--help` of each verb says.
static HELP: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());

/// Verbs that have verbs, and of how many words these are.
const GROUPS: [(&str, usize); 6] =
    [("auth", 2), ("bundle", 2), ("cache", 2), ("config", 2), ("module", 2), ("trust", 3)];

/// Hints about other programs, and one about the verbs that it lists.
const ELSEWHERE: [&str; 7] =
    ["gpg", "git ", "cosign", "aws ", "az ", "gcloud ", "install, lock, versions, show and verify"];

/// Checks the hints of a run of the program.
#[track_caller]
pub(super) fn check(command: &Command, stderr: &str) {
    let words: Vec<&str> =
        command.get_args().filter_map(OsStr::to_str).take_while(|word| !word.starts_with('-')).take(3).collect();
    let group = GROUPS.iter().find(|(name, _)| words.first() == Some(name));
    let verb = &words[..words.len().min(group.map_or(1, |(_, words)| *words))];
    if verb.is_empty() {
        return;
    }
    for hint in stderr.lines().filter_map(|line| line.trim_start().strip_prefix("hint: ")) {
        // What follows a command is about its options.
        if hint.starts_with('`') {
            continue;
        }
        // Every second part stands between two backticks.
        let own: String = hint.split('`').step_by(2).collect();
        let own = own.split("tofu-oci ").next().unwrap_or_default();
        if ELSEWHERE.iter().any(|other| own.contains(other)) {
            continue;
        }
        let words = own.split(|one: char| one != '-' && !one.is_ascii_alphanumeric());
        for option in words.filter(|word| word.strip_prefix("--").is_some_and(|name| !name.is_empty())) {
            let takes =
                help(command.get_program(), verb).split_whitespace().any(|word| word.trim_end_matches(',') == option);
            assert!(takes, "`{}` has no {option}: {hint}", verb.join(" "));
        }
    }
}

fn help(program: &OsStr, verb: &[&str]) -> String {
    let mut known = HELP.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let ask = || {
        let output = Command::new(program).args(verb).arg("--help").output().expect("the program runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    known.entry(verb.join(" ")).or_insert_with(ask).clone()
}
