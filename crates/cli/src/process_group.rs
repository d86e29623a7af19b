//! Programs in a group of their own, which ends with this process, however that ends.
//!
//! ```text
//! this process ---pipe---> the guard: this program again, the leader of the group
//!                          git, and the programs that git has started: members
//! the end of the pipe ---> the guard ends the group and itself
//! ```
//!
//! Nothing of a process that is killed runs any more, so another process must see its end: the system closes its end of the
//! pipe. Windows has no such groups: there git alone is ended, and not by a kill of this process.

use tokio::process::Command;

#[cfg(unix)]
pub(crate) use self::group::ProcessGroup;
#[cfg(not(unix))]
pub(crate) use self::no_group::ProcessGroup;

/// The only argument of the guard. It is nothing for people.
#[cfg(unix)]
const GUARD: &str = "__end-group-with-its-starter";

/// Is the guard, if this process was started as one; then nothing else is to be done. `false` for any other process.
#[cfg(unix)]
pub(crate) fn guarded() -> bool {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().is_none_or(|first| first != GUARD) || arguments.next().is_some() {
        return false;
    }
    // Whoever types the argument ends nothing but what they started with it.
    if rustix::process::getpgrp() == rustix::process::getpid() {
        // An error is an end, too.
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = rustix::process::kill_current_process_group(rustix::process::Signal::KILL);
    }
    true
}

#[cfg(not(unix))]
pub(crate) fn guarded() -> bool {
    false
}

#[cfg(unix)]
mod group {
    use std::io;
    use std::process::{Child, Stdio};

    use rustix::process::{Pid, Signal, kill_process_group};

    use super::{Command, GUARD};

    /// A group of processes; all of them are ended when this is dropped.
    pub(crate) struct ProcessGroup {
        guard: Child,
    }

    impl ProcessGroup {
        /// A new group, with nothing in it but its guard.
        ///
        /// # Errors
        /// If this program cannot be started again.
        pub(crate) fn new() -> io::Result<Self> {
            use std::os::unix::process::CommandExt as _;
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

        fn leader(&self) -> Option<Pid> {
            Pid::from_raw(i32::try_from(self.guard.id()).ok()?)
        }
    }

    /// The file of this program, also after an update has put another one in its place.
    fn myself() -> io::Result<std::path::PathBuf> {
        let linux = std::path::Path::new("/proc/self/exe");
        if linux.exists() { Ok(linux.to_owned()) } else { std::env::current_exe() }
    }

    impl Drop for ProcessGroup {
        fn drop(&mut self) {
            if let Some(leader) = self.leader() {
                // The number is nobody else's: the guard was not waited for yet.
                let _ = kill_process_group(leader, Signal::KILL);
            }
            let _ = self.guard.kill();
            let _ = self.guard.wait();
        }
    }
}

#[cfg(not(unix))]
mod no_group {
    use super::Command;

    /// There are no groups here.
    pub(crate) struct ProcessGroup;

    impl ProcessGroup {
        /// Always well.
        pub(crate) fn new() -> std::io::Result<Self> {
            Ok(Self)
        }

        /// Changes nothing.
        pub(crate) fn admit(&self, _: &mut Command) {}
    }
}
