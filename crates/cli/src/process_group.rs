//! Programs in a group of their own, which ends with this process, however that ends.
//!
//! ```text
//! this process ---pipe---> the guard: this program again, the leader of the group
//!                          git, and the programs that git has started: members
//! the end of the pipe ---> the guard ends the group and itself
//! ```
//!
//! A killed process runs nothing any more, so another process must notice its end: the system closes its end of the
//! pipe. Windows has no such groups: there only git is ended, and not if this process is killed.

use std::io;

use tokio::process::Command;

/// The only argument of the guard. People do not use it.
#[cfg(unix)]
const GUARD: &str = "__end-group-with-its-starter";

/// A group of processes. Dropping it ends all of them.
pub(crate) struct ProcessGroup {
    #[cfg(unix)]
    guard: std::process::Child,
}

/// Runs the guard if this process was started as one, and then there is nothing else to do; `false` for any other
/// process.
#[cfg(unix)]
pub(crate) fn guarded() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != GUARD) || arguments.next().is_some() {
        return false;
    }
    // A person who types the argument ends only what they started with it.
    if rustix::process::getpgrp() == rustix::process::getpid() {
        // An error is an end, too.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
    }
    true
}

/// There are no guards here.
#[cfg(not(unix))]
pub(crate) fn guarded() -> bool {
    false
}

#[cfg(unix)]
impl ProcessGroup {
    /// A new group that contains only its guard.
    pub(crate) fn new() -> io::Result<Self> {
        use std::os::unix::process::CommandExt as _;
        use std::process::Stdio;
        let mut guard = std::process::Command::new(myself()?);
        guard.arg(GUARD).env_clear().current_dir("/").process_group(0);
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(Self { guard: guard.spawn()? })
    }

    /// Makes a program a member, which is still to be started.
    pub(crate) fn admit(&self, command: &mut Command) {
        if let Some(leader) = self.leader() {
            command.process_group(leader.as_raw_nonzero().get());
        }
    }

    fn leader(&self) -> Option<rustix::process::Pid> {
        rustix::process::Pid::from_raw(i32::try_from(self.guard.id()).ok()?)
    }
}

/// The file of this program, also after an update has put another one in its place.
#[cfg(unix)]
fn myself() -> io::Result<std::path::PathBuf> {
    let linux = std::path::Path::new("/proc/self/exe");
    if linux.exists() { Ok(linux.to_owned()) } else { std::env::current_exe() }
}

#[cfg(unix)]
impl Drop for ProcessGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader() {
            // The number is no other group's: the guard was not waited for yet.
            let _ = rustix::process::kill_process_group(leader, rustix::process::Signal::KILL);
        }
        let _ = self.guard.kill();
        let _ = self.guard.wait();
    }
}

#[cfg(not(unix))]
impl ProcessGroup {
    /// Always well.
    #[expect(clippy::unnecessary_wraps, reason = "it can fail elsewhere")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Changes nothing.
    pub(crate) fn admit(&self, _: &mut Command) {}
}
