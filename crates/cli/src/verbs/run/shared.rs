//! What the parts of a run share: its directory, its file, the command that it advises.

use std::path::PathBuf;

use tofu_oci_mapper::config::NotReadBack;
use tofu_oci_types::ProviderAddr;

use crate::args::RunArgs;
use crate::diagnostic::Diagnostic;
use crate::exit::Exit;
use crate::invocation;

/// The file of the command's configuration, in the folder of the run.
pub(super) const CONFIG: &str = "cli.tfrc";

/// The directory that the command works in, by its own option.
///
/// Spec: Terraform 1.11, `OpenTofu` 1.12: `-chdir=DIR` stands before the subcommand.
pub(super) fn chdir(args: &RunArgs) -> Option<PathBuf> {
    let options = args.command.iter().skip(1).map(|word| word.to_string_lossy());
    let mut options = options.take_while(|word| word.starts_with('-'));
    options.find_map(|word| Some(PathBuf::from(word.trim_start_matches('-').strip_prefix("chdir=")?)))
}

/// How the user locks providers for every platform.
pub(super) fn lock_command(args: &RunArgs, addresses: &[&ProviderAddr]) -> String {
    let words: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let mut command = invocation::command(format!("lock {}", words.join(" ")).trim_end());
    let options = [
        ("--from", args.template.as_deref().map(invocation::quoted)),
        ("--chdir", chdir(args).map(|dir| invocation::quoted(&dir.to_string_lossy()))),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            command = format!("{command} {name} {value}");
        }
    }
    match &args.cli_config {
        Some(file) => format!("TF_CLI_CONFIG_FILE={} {command}", invocation::quoted(&file.to_string_lossy())),
        None => command,
    }
}

/// The command would read another configuration than it is meant to get.
pub(super) fn not_written(error: NotReadBack) -> Diagnostic {
    let until = match error {
        NotReadBack::Services => "; until then remove the module_mirror of the host from modules.toml",
        NotReadBack::Credentials | NotReadBack::Methods | NotReadBack::PluginCache => "",
    };
    Diagnostic::new(Exit::Unexpected, format!("the command was not started: in its CLI configuration {error}"))
        .code("config-not-read-back")
        .hint(format!("report it, with your CLI configuration without its tokens{until}"))
}

/// The folder of the run cannot be written.
pub(super) fn not_prepared(error: &std::io::Error) -> Diagnostic {
    Diagnostic::new(Exit::Unexpected, "what the command needs cannot be written to the folder for temporary files")
        .code("io")
        .io_hint("write", &std::env::temp_dir(), error)
        .cause(error.to_string())
}
