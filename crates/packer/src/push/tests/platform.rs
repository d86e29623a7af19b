//! A package holds a program for its platform.

use super::*;
use crate::testing::{EventLog, Folder, Push, Watching};
use crate::{ExecutableCheck, H1Mode, PackError};

/// The beginning of a program, as far as it counts: a Mach-O header for arm64.
const DARWIN_ARM64: &[u8] = b"\xcf\xfa\xed\xfe\x0c\x00\x00\x01\0\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

#[tokio::test]
async fn a_package_with_the_program_of_another_platform_is_refused_before_anything_is_sent() {
    let zips = Folder::new();
    zips.zip("terraform-provider-zap_1.4.0_darwin_arm64.zip", &[("terraform-provider-zap", DARWIN_ARM64)]);
    zips.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", DARWIN_ARM64)]);
    let folders = Folder::new();
    folders.file("darwin_arm64/terraform-provider-zap", DARWIN_ARM64);
    folders.file("linux_amd64/terraform-provider-zap", DARWIN_ARM64);
    for (folder, package) in [(zips, "terraform-provider-zap_1.4.0_linux_amd64.zip"), (folders, "linux_amd64")] {
        let store = Watching::new();
        let error = Push::new(&folder, "1.4.0").run(&store).await.expect_err("a program for another platform");
        assert!(store.take().is_empty());
        let told = folder.told(&error).replace(&format!("DIST/{package}"), "DIST/PACKAGE");
        assert_eq!(told, "DIST/PACKAGE is for linux_amd64, and holds a Mach-O program for darwin_arm64");
        let error = plan(&Push::new(&folder, "1.4.0").request(), &store, &EventLog::default()).await;
        assert!(matches!(error, Err(PackError::OtherPlatform(_))));
        let skip = Push { executables: ExecutableCheck::Skip, ..Push::new(&folder, "1.4.0") };
        skip.run(&store).await.unwrap();
    }
}

#[tokio::test]
async fn equal_packages_of_two_platforms_are_warned_of() {
    for (h1, script, want) in [
        (H1Mode::Compute, "#!/bin/sh\n", &["equal-packages"][..]),
        (H1Mode::Skip, "#!/bin/sh\n", &["equal-packages"][..]),
        (H1Mode::Compute, "#!/bin/bash\n", &[][..]),
    ] {
        let folder = Folder::new();
        folder.zip("terraform-provider-zap_1.4.0_linux_amd64.zip", &[("terraform-provider-zap", b"#!/bin/sh\n")]);
        folder.zip("terraform-provider-zap_1.4.0_darwin_arm64.zip", &[("terraform-provider-zap", script.as_bytes())]);
        let (store, heard) = (Watching::new(), EventLog::default());
        let set = Push { h1, ..Push::new(&folder, "1.4.0") };
        crate::push(&set.request(), &store, &heard).await.unwrap();
        assert_eq!(heard.codes(), want);
        let heard = EventLog::default();
        plan(&set.request(), &store, &heard).await.unwrap();
        assert_eq!(heard.codes(), want);
    }
}
