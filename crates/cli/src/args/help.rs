//! `help`, `completions`, `man` and `version`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::OutputArgs;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci help                       # lists the topics
  tofu-oci help trust                 # prints a page
  tofu-oci help config check          # everything about a verb, as `tofu-oci config check --help`
  tofu-oci help check unsigned        # one rule of `tofu-oci check`
  tofu-oci help error private-host    # one code of an error, a warning, a note or a finding
  tofu-oci help json --schema         # a JSON Schema of the lines of --json

The program contains every page, so `help` needs no network and no files. On a terminal it uses
colours and the width of the terminal, and shows a long page by $PAGER, else by less. It prints the
help of verbs and of registry-access at once.

Exit codes: 0 printed; 2 there is no such topic.")]
pub(crate) struct HelpArgs {
    /// A topic, a verb, `check RULE` or `error CODE`
    #[arg(value_name = "TOPIC")]
    pub(crate) words: Vec<String>,
    /// With `json`: print a JSON Schema of the lines
    #[arg(long, requires = "words")]
    pub(crate) schema: bool,
    /// Print the page of a topic as Markdown
    #[arg(long, requires = "words", hide = true)]
    pub(crate) markdown: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  bash        tofu-oci completions bash > ~/.local/share/bash-completion/completions/tofu-oci
  zsh         tofu-oci completions zsh > ~/.zfunc/_tofu-oci
  fish        tofu-oci completions fish > ~/.config/fish/completions/tofu-oci.fish
  PowerShell  tofu-oci completions powershell >> $PROFILE

bash reads that folder if the package bash-completion is installed; otherwise write `source FILE`
into ~/.bashrc. zsh needs `fpath+=~/.zfunc` before `compinit` in ~/.zshrc.

The script asks `tofu-oci` itself at each TAB, so it stays right after an update. It completes
verbs, options, topics, platforms, rules, paths and, after `REPOSITORY:`, `oci:DIR:` or `ADDR@`,
versions. For versions it asks the registry, with the options of the line, for one second at most.
It shows the credentials of files and runs no credential helper. If the registry does not answer in
time, there are no candidates.")]
pub(crate) struct CompletionsArgs {
    /// The shell that will read the script
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

/// Shells that can complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shell {
    /// bash 3.2 and later
    Bash,
    /// zsh 5 and later
    Zsh,
    /// fish 3 and later
    Fish,
    /// Windows PowerShell 5 and PowerShell 7
    Powershell,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci man ~/.local/share/man/man1
  man tofu-oci-push

Writes tofu-oci.1 and a page for each verb, such as tofu-oci-push.1 and tofu-oci-config-check.1. The
same program always writes the same bytes. `man` creates the directory if it is missing, replaces
older pages of these names, and leaves other files alone.")]
pub(crate) struct ManArgs {
    /// The directory for the pages
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  tofu-oci version
  tofu-oci version --json | jq -r .commit

The date is that of the commit, in UTC. A program that was built without git has no commit and no
date. `tofu-oci --version` prints the version alone; `tofu-oci versions` lists those of a provider.")]
pub(crate) struct VersionArgs {
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}
