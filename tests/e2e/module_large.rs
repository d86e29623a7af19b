//! A module of 200 MB, and one of 20,000 files: pushed, pulled and mirrored in memory that does not grow with them.

use crate::setup::Scene;

/// Bytes that no compression makes fewer.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = std::iter::repeat_with(&mut next).take(count.div_ceil(8)).flatten().collect();
    bytes.truncate(count);
    bytes
}

/// Runs the program, and gives its peak of memory in bytes, as far as was seen while it ran.
#[cfg(target_os = "linux")]
#[track_caller]
fn peak(scene: &Scene, line: &str) -> u64 {
    let said = std::fs::File::create(scene.path("said.txt")).expect("a file in the work folder");
    let errors = said.try_clone().expect("a file can be shared");
    let mut child = scene.command(line).stdout(said).stderr(errors).spawn().expect("the program starts");
    let (mut peak, status) = (0, format!("/proc/{}/status", child.id()));
    let (tell, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || tell.send(child.wait().expect("it was started")));
    loop {
        if let Ok(text) = std::fs::read_to_string(&status)
            && let Some(kilobytes) = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))
        {
            let kilobytes: u64 = kilobytes.trim().trim_end_matches(" kB").parse().expect("a number");
            peak = peak.max(kilobytes << 10);
        }
        if let Ok(ended) = ended.recv_timeout(std::time::Duration::from_millis(10)) {
            assert!(ended.success(), "{line}: {}", scene.context.read("said.txt"));
            return peak;
        }
    }
}

/// The most memory that a run may take: much less than the larger module, and more than this program takes without any.
#[cfg(target_os = "linux")]
const MOST: u64 = 96 << 20;

/// Pushes the folder `big`, pulls it, and mirrors it into a folder.
#[cfg(target_os = "linux")]
#[track_caller]
fn check(scene: &Scene) {
    for line in [
        "module push big REGISTRY/acme/network-aws --version 1.0.0 --quiet",
        "module pull oci://REGISTRY/acme/network-aws?tag=1.0.0 out --quiet",
        "module mirror oci://REGISTRY/acme/network-aws?tag=1.0.0 --as registry.example.com/acme/network/aws --to 'oci:mirror/${name}' --quiet",
    ] {
        let peak = peak(scene, line);
        assert!(peak > 0 && peak < MOST, "{line}: {} MiB", peak >> 20);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_module_of_200_mb_is_moved_in_little_memory() {
    let scene = Scene::new();
    scene.context.write("big/main.tf", "");
    // The zip alone is larger than the memory that a run may take; the rest unpacks to it.
    let part = noise(55_000_000);
    scene.context.write("big/a.bin", &part);
    scene.context.write("big/b.bin", &part[1..]);
    let mut zeros = vec![0; 90_000_000];
    zeros.chunks_mut(100_000).zip(part.chunks(1_000)).for_each(|(zeros, noise)| zeros[..1_000].copy_from_slice(noise));
    scene.context.write("big/c.bin", &zeros);
    check(&scene);
    assert_eq!(std::fs::read(scene.path("out/a.bin")).expect("a file of the module"), part);
    assert_eq!(std::fs::read(scene.path("out/c.bin")).expect("a file of the module"), zeros);
}

#[cfg(target_os = "linux")]
#[test]
fn a_module_of_20000_files_is_moved_in_little_memory() {
    let scene = Scene::new();
    scene.context.write("big/main.tf", "");
    for number in 0..20_000 {
        scene.context.write(&format!("big/files/{:03}/{number}.txt", number % 200), "small\n");
    }
    check(&scene);
    assert_eq!(scene.context.read("out/files/199/19999.txt"), "small\n");
}
