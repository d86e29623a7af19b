use clap::CommandFactory as _;

use super::Args;

/// The command and all verbs below it, each with the words that call it.
fn verbs(path: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
    found.push((path.to_owned(), command.clone()));
    for verb in command.get_subcommands().filter(|verb| verb.get_name() != "help") {
        verbs(&format!("{path} {}", verb.get_name()), verb, found);
    }
}

fn all() -> Vec<(String, clap::Command)> {
    let mut command = Args::command();
    command.build();
    let mut found = Vec::new();
    verbs("tofu-oci", &command, &mut found);
    found
}

#[test]
fn every_verb_explains_its_options() {
    for (path, mut command) in all() {
        assert!(command.get_about().is_some(), "`{path}` does not say what it does");
        for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            assert!(help.len() >= 10, "`{path}` does not explain `{}`", arg.get_id());
        }
        let help = command.render_long_help().to_string();
        for option in command.get_arguments().filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long) {
            assert!(help.contains(&format!("--{option}")), "`{path} --help` does not show --{option}");
        }
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 110).collect();
        assert_eq!(wide, Vec::<&str>::new(), "`{path} --help` has lines that are too long");
    }
}

#[test]
fn every_verb_shows_how_it_is_used() {
    for (path, command) in all().into_iter().filter(|(_, command)| !command.has_subcommands()) {
        let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(shown.starts_with("Example"), "`{path} --help` shows no examples");
        assert!(
            shown.contains(&format!("  {path} ")) || shown.contains(&format!(" {path}\n")),
            "`{path}` is not used in its examples"
        );
    }
}
