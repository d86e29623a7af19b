//! Who holds a lock.

use std::fmt;
use std::time::SystemTime;

use crate::kernel;

/// The longest accepted line, in bytes.
const LONGEST: usize = 400;

/// Who holds a lock, as one line: `tofu-oci push (process 4711 on build-7, since Sun, 22 Nov 2026 12:00:00 GMT)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder(String);

impl Holder {
    /// This process, from now on. `program` is what it does, such as `tofu-oci push`.
    pub(crate) fn this(program: &str) -> Self {
        let (process, host) = (std::process::id(), kernel::host());
        let since = httpdate::fmt_http_date(SystemTime::now());
        Self(format!("{program} (process {process} on {host}, since {since})"))
    }

    /// The holder that a lock file names. `None` without a process, or if the process is gone from this machine: a
    /// killed holder leaves its line, and another process has the lock now.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let line = text.lines().next()?;
        if line.len() > LONGEST {
            return None;
        }
        let (_, rest) = line.rsplit_once(" (process ")?;
        let (process, rest) = rest.split_once(" on ")?;
        let (host, _) = rest.split_once(", since ")?;
        let process: u32 = process.parse().ok()?;
        let stale = host == kernel::host() && kernel::is_gone(process);
        (!stale).then(|| Self(line.to_owned()))
    }
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, known: bool) {
        assert_eq!(Holder::parse(text).is_some(), known, "{text}");
    }

    #[test]
    fn a_holder_reads_what_another_one_wrote() {
        let this = Holder::this("tofu-oci push");
        assert_eq!(Holder::parse(&format!("{this}\n")), Some(this));
    }

    #[test]
    fn a_line_without_a_process_is_not_believed() {
        check("", false);
        check("hello", false);
        check("tofu-oci push (process x on far-away, since today)", false);
        check(&format!("{} (process 1 on far-away, since today)", "x".repeat(500)), false);
        check("tofu-oci push (process 4000000000 on far-away, since today)", true);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_is_gone_holds_nothing() {
        let host = kernel::host();
        check(&format!("tofu-oci push (process 4000000000 on {host}, since today)"), false);
        check(&format!("tofu-oci push (process {} on {host}, since today)", std::process::id()), true);
    }
}
