//! Options of other verbs and tools, whose values this program takes elsewhere.

use tofu_oci_types::{ProviderAddr, Version};

use crate::invocation;

/// The whole line, with the value of the option where the verb takes it; `None` if it takes none. `words` is the whole command
/// line without the program.
pub(super) fn moved(name: &str, option: &str, words: &[String]) -> Option<String> {
    let at = words.iter().position(|word| word.split('=').next() == Some(option))?;
    let (value, taken) = match words[at].split_once('=') {
        Some((_, value)) => (value, 1),
        None => (words.get(at + 1).filter(|value| !value.starts_with('-'))?.as_str(), 2),
    };
    let mut line = [&words[..at], words.get(at + taken..)?].concat();
    match (name, option) {
        ("push" | "pack" | "copy" | "module push", "--to" | "--dest" | "--destination") => {
            // The destination comes last.
            let verb = name.rsplit(' ').next();
            let is_first = words[..at].last().map(String::as_str) == verb;
            let place = if is_first { line[at..].iter().position(|word| !word.starts_with('-'))? + 1 } else { 0 };
            line.insert(at + place, value.to_owned());
        }
        ("copy", "--from") => {
            let after = line.iter().position(|word| word == name)? + 1;
            let named = line.get_mut(after)?;
            let (address, version) = named.split_once('@').map_or((&**named, None), |(one, two)| (one, Some(two)));
            address.parse::<ProviderAddr>().ok()?;
            *named = match version.map(str::parse::<Version>) {
                None => value.to_owned(),
                Some(Ok(version)) => format!("{value}:{version}"),
                Some(Err(_)) => return None,
            };
        }
        ("run", "--from") => {
            let include = if value.contains("${") { &[][..] } else { &["--include", "HOST/NAMESPACE/TYPE"] };
            let template = [&["--template", value], include].concat();
            line.splice(at..at, template.into_iter().map(str::to_owned));
        }
        ("run", "--chdir") => {
            let mark = line.iter().position(|word| word == "--");
            if mark.is_none() {
                line.get(at).filter(|word| !word.starts_with('-'))?;
                line.insert(at, "--".to_owned());
            }
            line.insert((mark.unwrap_or(at) + 2).min(line.len()), format!("-chdir={value}"));
        }
        _ => return None,
    }
    let line: Vec<String> = line.iter().map(|word| invocation::quoted(word)).collect();
    Some(format!("tofu-oci {}", line.join(" ")))
}
