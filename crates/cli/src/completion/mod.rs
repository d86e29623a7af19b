//! Completion of commands, and how a candidate comes to the line so that no shell runs it. The script of a shell asks the
//! program itself at each TAB, by the variable `TOFU_OCI_COMPLETE`; so one declaration of the arguments serves help, man
//! pages and completion.
//!
//! ```text
//! script    a shell               ->  words up to the cursor, without the breaks that bash makes at `:` and `@`; whatever a
//!                                     candidate holds, the shell reads it as one word and runs nothing
//! values    an argument           ->  what can stand there: platforms, rules, topics, paths
//! versions  REPOSITORY:, ADDR@    ->  versions, asked for within a second and without a credential helper
//! ```

mod script;
mod values;
mod versions;

use std::io;

use clap_complete::CompleteEnv;
use clap_complete::env::EnvCompleter as _;

use crate::args::Shell;
use script::Script;

/// The variable by which a script asks for candidates: it names the shell.
const VARIABLE: &str = "TOFU_OCI_COMPLETE";

/// The name by which scripts call the program.
const PROGRAM: &str = "tofu-oci";

const BASH: Script = Script { shell: "bash", text: include_str!("tofu-oci.bash") };
const ZSH: Script = Script { shell: "zsh", text: include_str!("tofu-oci.zsh") };
const FISH: Script = Script { shell: "fish", text: include_str!("tofu-oci.fish") };
const POWERSHELL: Script = Script { shell: "powershell", text: include_str!("tofu-oci.ps1") };

/// Answers the script of a shell; `false` if none asks. What goes wrong leaves the user without candidates.
pub(crate) fn answered() -> bool {
    let here = std::env::current_dir().ok();
    CompleteEnv::with_factory(values::command)
        .var(VARIABLE)
        .shells(clap_complete::env::Shells(&[&BASH, &ZSH, &FISH, &POWERSHELL]))
        .try_complete(std::env::args_os(), here.as_deref())
        .unwrap_or(true)
}

/// The script that a shell reads once.
pub(crate) fn script(shell: Shell) -> io::Result<String> {
    let completer = match shell {
        Shell::Bash => &BASH,
        Shell::Zsh => &ZSH,
        Shell::Fish => &FISH,
        Shell::Powershell => &POWERSHELL,
    };
    let mut text = Vec::new();
    completer.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
