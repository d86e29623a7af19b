//! Facts about the machine: its kernel, its name, its processes.

use std::path::Path;
use std::sync::OnceLock;

/// A name for this kernel and its present run, eight hexadecimal digits; `None` if the system has no such name.
///
/// Containers of one machine share it, as they share its locks. Another machine that mounts the same folder has another.
pub fn label() -> Option<&'static str> {
    static LABEL: OnceLock<Option<String>> = OnceLock::new();
    LABEL.get_or_init(|| first_digits(&std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?)).as_deref()
}

fn first_digits(boot_id: &str) -> Option<String> {
    let digits = boot_id.get(..8)?;
    is_label(digits).then(|| digits.to_owned())
}

/// Whether the text has the form of a label.
pub(crate) fn is_label(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The name of this machine or container; `?` if it is not known.
pub(crate) fn host() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let name = name.trim();
    if name.is_empty() { "?".to_owned() } else { name.to_owned() }
}

/// Whether a process of this machine is known to be gone.
pub(crate) fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}
