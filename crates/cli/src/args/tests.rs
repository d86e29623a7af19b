/// The command and all verbs below it, each with the words that call it.
fn verbs(path: &str, command: &clap::Command, found: &mut Vec<(String, clap::Command)>) {
    found.push((path.to_owned(), command.clone()));
    for verb in command.get_subcommands() {
        verbs(&format!("{path} {}", verb.get_name()), verb, found);
    }
}

fn all() -> Vec<(String, clap::Command)> {
    let mut command = super::declared();
    command.build();
    let mut found = Vec::new();
    verbs("tofu-oci", &command, &mut found);
    found
}

#[test]
fn a_start_built_the_arguments_of_every_verb() {
    let count = |command: &clap::Command| command.get_arguments().count() + command.get_subcommands().count();
    let lock_alone = super::with_verbs(&|name| name == "lock");
    for verb in lock_alone.get_subcommands() {
        assert_eq!(count(verb) > 0, verb.get_name() == "lock", "{}", verb.get_name());
    }
    for verb in super::with_verbs(&|_| true).get_subcommands() {
        assert!(count(verb) > 0 || verb.get_name() == "version", "{} is not in the table", verb.get_name());
    }
    // What clap adds to a verb that is called is what the table of verbs has.
    let (mut by_clap, mut by_table) = (super::with_verbs(&|_| false), super::with_verbs(&|_| true));
    by_clap.build();
    by_table.build();
    let names = |verb: &clap::Command| -> Vec<String> {
        let below = verb.get_subcommands().map(clap::Command::get_name);
        let names = verb.get_arguments().map(|argument| argument.get_id().as_str()).chain(below);
        let mut names: Vec<String> = names.map(str::to_owned).collect();
        names.sort();
        names
    };
    for verb in by_table.get_subcommands() {
        let other = by_clap.find_subcommand(verb.get_name()).expect("both have it");
        assert_eq!(names(verb), names(other), "{}", verb.get_name());
    }
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
        let wide: Vec<&str> = shown.lines().filter(|line| line.chars().count() > 100).collect();
        assert_eq!(wide, Vec::<&str>::new(), "clap would break these lines of `{path} --help`");
        assert!(shown.starts_with("Example"), "`{path} --help` shows no examples");
        assert!(
            shown.contains(&format!("  {path} ")) || shown.contains(&format!(" {path}\n")),
            "`{path}` is not used in its examples"
        );
    }
}

#[test]
fn the_short_help_of_every_verb_fits_a_screen() {
    for (path, mut command) in all() {
        let help = command.render_help().to_string();
        let lines = help.lines().count();
        assert!(
            lines <= if path == "tofu-oci" { 51 } else { 40 },
            "`{path} -h` has {lines} lines: hide what few people need, with hide_short_help\n{help}"
        );
        let wide: Vec<&str> = help.lines().filter(|line| line.chars().count() > 100).collect();
        assert_eq!(wide, Vec::<&str>::new(), "`{path} -h` has lines that are too long");
        assert!(!help.contains("\n\n\n"), "`{path} -h` has two empty lines\n{help}");
        let reaches = command.get_arguments().any(|argument| argument.get_long() == Some("plain-http"));
        assert_eq!(help.contains("tofu-oci help registry-access"), reaches, "{help}");
        assert!(!help.contains("--ca-file <"), "`{path} -h` has the options of registry access\n{help}");
    }
}

#[test]
fn the_options_of_registry_access_stand_in_their_topic() {
    let help = super::registry_access().render_long_help().to_string();
    for (path, command) in all() {
        for option in
            command.get_arguments().filter(|one| one.get_help_heading() == Some(super::common::REGISTRY_ACCESS))
        {
            let name = option.get_long().unwrap_or_default();
            assert!(help.contains(&format!("--{name}")), "--{name} of `{path}` is missing in\n{help}");
        }
    }
}

/// The words of a line up to a sign for the shell, or a comment.
fn typed(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for sign in line.chars() {
        match quote {
            Some(open) if sign == open => quote = None,
            None if matches!(sign, '\'' | '"') => {
                quote = Some(sign);
                word.get_or_insert_default();
            }
            None if sign == ' ' => words.extend(word.take()),
            None if matches!(sign, '|' | '<' | '>' | '&' | ';') || (sign == '#' && word.is_none()) => break,
            _ => word.get_or_insert_default().push(sign),
        }
    }
    words.extend(word);
    words
}

#[test]
fn a_page_showed_a_command_that_the_program_does_not_take() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["start", "how-to", "concepts", "reference"].map(|folder| root.join("docs").join(folder));
    let files = folders.iter().flat_map(|folder| std::fs::read_dir(folder).expect("docs are there").flatten());
    let files = files.map(|file| file.path()).filter(|file| file.extension().is_some_and(|ending| ending == "md"));
    let mut seen = 0;
    for file in files.chain([root.join("README.md")]) {
        let text = std::fs::read_to_string(&file).expect("a page").replace("\\\n", " ");
        let mut in_block = false;
        for line in text.lines() {
            in_block ^= line.starts_with("```");
            let line = line.trim_start().trim_start_matches("$ ");
            let line = line.split_once(" | tofu-oci ").map_or(line, |(_, after)| &line[line.len() - after.len() - 9..]);
            let is_output = ["tofu-oci  ", "tofu-oci docs <COMMAND>"].iter().any(|start| line.starts_with(start))
                || line.contains(" [OPTIONS]");
            if !in_block || !line.starts_with("tofu-oci ") || is_output {
                continue;
            }
            let parsed = super::declared().try_get_matches_from(typed(line));
            let fault = parsed.err().filter(clap::Error::use_stderr);
            assert!(
                fault.is_none(),
                "{}: {line}\n{}",
                file.display(),
                fault.map(|one| one.to_string()).unwrap_or_default()
            );
            seen += 1;
        }
    }
    assert!(seen > 150, "{seen} commands were found");
}
