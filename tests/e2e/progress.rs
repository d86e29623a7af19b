//! Bars on a terminal: after a second, and gone without a trace at the end.
#![cfg(unix)]

use std::fs::File;
use std::io::Read as _;
use std::process::{Child, Command, Stdio};

use tofu_oci_testkit::{ProviderZip, ReleaseFolder};

use crate::setup::stall::StalledWire;
use crate::setup::{Scene, WIDGET};

/// A terminal of 24 rows and so many columns: the end of the person, and that of the programs.
pub(crate) fn terminal(columns: u16) -> (File, File) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal can be made");
    grantpt(&person).and_then(|()| unlockpt(&person)).expect("it is ours");
    let size = rustix::termios::Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    rustix::termios::tcsetwinsize(&person, size).expect("it has a size");
    let name = ptsname(&person, Vec::new()).expect("it has a name").into_string().expect("of plain letters");
    let terminal = File::options().read(true).write(true).open(&name).expect("it is there");
    (person.into(), terminal)
}

/// A command whose stderr is a terminal of so many columns, and the other end of that terminal.
fn at_a_terminal(command: &mut Command, columns: u16) -> (Child, File) {
    let (person, terminal) = terminal(columns);
    let child = command.stdout(Stdio::piped()).stderr(terminal).spawn().expect("it starts");
    (child, person)
}

/// What comes to a terminal, until it ends or the condition holds.
pub(crate) fn shown(person: &mut File, until: impl Fn(&str) -> bool) -> String {
    let mut said = Vec::new();
    let mut piece = [0; 4096];
    // The other end is closed: EIO.
    while let Ok(count @ 1..) = person.read(&mut piece) {
        said.extend(&piece[..count]);
        if until(&String::from_utf8_lossy(&said)) {
            break;
        }
    }
    String::from_utf8(said).expect("plain text")
}

/// The lines that a terminal shows after all of this, without those that are empty.
fn screen(said: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0_usize, 0_usize);
    let mut rest = said.chars();
    while let Some(character) = rest.next() {
        match character {
            '\r' => column = 0,
            '\n' => row += 1,
            '\u{1b}' => {
                let mut number = String::new();
                let action = rest.by_ref().skip(1).find(|next| {
                    number.extend(next.is_ascii_digit().then_some(*next));
                    next.is_ascii_alphabetic()
                });
                match action {
                    Some('K') => lines[row].clear(),
                    Some('A') => row -= number.parse().unwrap_or(1),
                    Some('B') => row += number.parse().unwrap_or(1),
                    _ => {}
                }
            }
            shown => {
                let width = lines[row].len().max(column + 1);
                lines[row].resize(width, ' ');
                lines[row][column] = shown;
                column += 1;
            }
        }
        lines.resize(lines.len().max(row + 1), Vec::new());
    }
    let text = lines.into_iter().map(|line| line.into_iter().collect::<String>().trim_end().to_owned());
    text.filter(|line| !line.is_empty()).collect()
}

/// A release of 2 MB, published.
fn large() -> Scene {
    let scene = Scene::new();
    let package = ProviderZip::new("widget", "1.4.0", "linux_amd64").random_file("data.bin", 2_000_000);
    ReleaseFolder::new("widget", "1.4.0", &[]).package(package).write_zips(&scene.path("dist"));
    scene.run(&format!("push dist REGISTRY/acme/widget --address {WIDGET}")).success();
    scene
}

/// Installs over a wire that stops in the middle, interrupts that once the terminal shows the text, and gives all that the
/// terminal has got.
fn interrupted(columns: u16, options: &str, text: &str) -> String {
    let scene = large();
    let wire = StalledWire::before(scene.registry.address(), 1_000_000);
    let from = format!("{}/acme/widget", wire.address());
    let line = format!("install {WIDGET} --from {from} --platform linux_amd64 {options}");
    let (mut child, mut person) = at_a_terminal(scene.command(&line).env("TERM", "xterm"), columns);
    let mut said = shown(&mut person, |said| said.contains(text));
    let status = Command::new("sh").args(["-c", "kill -INT \"$0\"", &child.id().to_string()]).status();
    assert!(status.expect("a shell is there").success());
    said += &shown(&mut person, |said| said.contains("to go on"));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    said
}

const INTERRUPTED: [&str; 2] =
    ["error: interrupted", "hint: nothing is half-done; run the same command again to go on"];

#[test]
fn a_bar_says_how_much_is_done_and_how_long_it_takes_and_an_interruption_leaves_no_trace_of_it() {
    let said = interrupted(100, "", " left");
    assert!(said.contains("acme/widget 1.4.0 linux"), "{said}");
    assert!(said.contains(" of 2.0 MB, ") && said.contains("B/s, "), "{said}");
    assert_eq!(screen(&said), INTERRUPTED, "{said:?}");
}

#[test]
fn a_bar_fits_a_terminal_of_30_columns() {
    let said = interrupted(30, "", " left");
    assert!(said.contains('%') && !said.contains(" of 2.0 MB"), "{said}");
    let bars = said.split(['\r', '\n']).filter(|line| line.contains('%'));
    for bar in bars {
        let plain = bar.split('\u{1b}').map(|part| part.trim_start_matches(|c: char| "[0123456789KAB".contains(c)));
        assert!(plain.map(|part| part.chars().count()).max() <= Some(30), "{bar:?}");
    }
}

#[test]
fn what_takes_no_second_shows_no_bar_and_is_said_once() {
    let scene = large();
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    let (child, mut person) = at_a_terminal(scene.command(&line).env("TERM", "xterm"), 100);
    let said = shown(&mut person, |_| false);
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains(" left") && !said.contains("installed"), "{said:?}");
    assert_eq!(stdout.matches("installed").count(), 1, "{stdout}");
}

#[test]
fn a_terminal_that_cannot_draw_gets_lines() {
    let scene = large();
    let line = format!("install {WIDGET} --from REGISTRY/acme/widget --platform linux_amd64");
    let (mut child, mut person) = at_a_terminal(scene.command(&line).env("TERM", "dumb"), 100);
    let said = shown(&mut person, |_| false);
    assert!(child.wait().expect("it ends").success(), "{said}");
    assert!(said.contains("widget 1.4.0 linux_amd64: installed (2.0 MB)\r\n"), "{said:?}");
    assert!(!said.contains('\u{1b}'), "{said:?}");
}
