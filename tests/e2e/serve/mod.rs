//! `serve`: the built program between a registry and clients of both protocols.

mod access;
mod attestations;
mod clients;
mod commands;
mod faults;
mod hosts;
mod keyless;
mod learned;
mod life;
mod module_upstreams;
mod modules;
mod other_address;
mod trial;
mod upstreams;
mod wire;

use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::Value;
use tofu_oci_testkit::RegistryBuilder;

use crate::setup::Scene;
use wire::{Got, send};

/// The provider that most tests serve, as the mirror names it.
const WIDGET_PATH: &str = "/mirror/registry.example.com/acme/widget";
/// Longer than anything takes here. Nothing waits for so long unless the program is broken.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running `serve`; dropping it kills it.
pub(crate) struct Serving {
    child: Child,
    port: u16,
    said: [Heard; 2],
}

/// What a stream has said so far.
#[derive(Clone)]
struct Heard(Arc<(Mutex<(String, bool)>, Condvar)>);

impl Heard {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let heard = Self(Arc::new((Mutex::new((String::new(), false)), Condvar::new())));
        let telling = heard.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                telling.change(|(text, _)| *text += &(line + "\n"));
            }
            telling.change(|(_, ended)| *ended = true);
        });
        heard
    }

    fn change(&self, how: impl FnOnce(&mut (String, bool))) {
        how(&mut self.0.0.lock().expect("no thread panics here"));
        self.0.1.notify_all();
    }

    fn text(&self) -> String {
        self.0.0.lock().expect("no thread panics here").0.clone()
    }

    /// Waits until it has said something that `found` finds.
    #[track_caller]
    fn wait<T>(&self, what: &str, mut found: impl FnMut(&str) -> Option<T>) -> T {
        let guard = self.0.0.lock().expect("no thread panics here");
        let mut answer = None;
        let looked = |state: &mut (String, bool)| {
            answer = found(&state.0);
            answer.is_none() && !state.1
        };
        let (state, _) = self.0.1.wait_timeout_while(guard, PATIENCE, looked).expect("no thread panics here");
        let text = state.0.clone();
        drop(state);
        answer.unwrap_or_else(|| panic!("it never said {what}, but\n{text}"))
    }
}

impl Serving {
    /// With the registry of the scene behind it: `top` is lines of the document, `more` is tables of `serve.toml`.
    fn start(scene: &Scene, top: &str, more: &str) -> Self {
        let from = format!("{}/${{namespace}}/${{type}}", scene.registry.address());
        let provider = format!("[[provider]]\ninclude = [\"registry.example.com/*/*\"]\nfrom = \"{from}\"\n");
        Self::with(scene, &format!("{top}\n{provider}\n{more}"))
    }

    /// With these settings, on a free port.
    pub(crate) fn with(scene: &Scene, settings: &str) -> Self {
        Self::spawn(Self::set(scene, settings))
    }

    /// The same with metrics.
    fn counting(scene: &Scene, settings: &str) -> Self {
        let mut command = Self::set(scene, &format!("listen_metrics = \"127.0.0.1:0\"\n{settings}"));
        command.arg("--json");
        Self::announced(command, 0)
    }

    fn set(scene: &Scene, settings: &str) -> Command {
        let text = format!("listen = [\"127.0.0.1:0\"]\n{settings}").replace("REGISTRY", scene.registry.address());
        scene.context.write("serve.toml", text);
        scene.command("serve --config serve.toml")
    }

    pub(crate) fn spawn(command: Command) -> Self {
        Self::announced(command, 1)
    }

    /// The same if it says on this stream where it listens.
    fn announced(mut command: Command, stream: usize) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stdout = Heard::of(child.stdout.take().expect("it was asked for"));
        let stderr = Heard::of(child.stderr.take().expect("it was asked for"));
        let said = [stdout, stderr];
        let port = said[stream].wait("where it listens", port);
        Self { child, port, said }
    }

    pub(crate) fn get(&self, path: &str) -> Got {
        self.send("GET", path, &[])
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)]) -> Got {
        send(self.port, method, path, headers)
    }

    /// A document that is there.
    #[track_caller]
    fn json(&self, path: &str) -> Value {
        let got = self.get(path);
        assert_eq!((got.status, got.header("Content-Type")), (200, "application/json"), "{}", got.text());
        got.json()
    }

    /// The metrics whose names begin so.
    fn metrics(&self, start: &str) -> Vec<String> {
        let serving: Value = serde_json::from_str(&self.wait_for_line(0, &["listen_metrics"])).expect("JSON");
        let port = port(&format!("/{}", serving["listen_metrics"].as_str().expect("an address"))).expect("a port");
        let text = send(port, "GET", "/metrics", &[]).text();
        text.lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
    }

    /// Both streams.
    fn log(&self) -> String {
        self.said.iter().map(Heard::text).collect()
    }

    /// Waits until a line of either stream has all of these words.
    #[track_caller]
    fn wait_for_line(&self, stream: usize, words: &[&str]) -> String {
        let has = |line: &&str| words.iter().all(|word| line.contains(word));
        self.said[stream].wait(&words.join(" "), |text| text.lines().find(has).map(str::to_owned))
    }

    fn signal(&self, name: &str) {
        let kill = Command::new("sh").args(["-c", "kill -\"$0\" \"$1\"", name, &self.child.id().to_string()]).status();
        assert!(kill.expect("a shell is there").success());
    }

    /// Ends it by SIGTERM; what it said until its end.
    fn stop(mut self) -> (ExitStatus, String) {
        self.signal("TERM");
        let status = self.child.wait().expect("it ends");
        for stream in &self.said {
            let mut guard = stream.0.0.lock().expect("no thread panics here");
            while !guard.1 {
                guard = stream.0.1.wait(guard).expect("no thread panics here");
            }
        }
        let said = self.log();
        (status, said)
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The port after the first loopback address in a text.
fn port(text: &str) -> Option<u16> {
    let rest =
        text.split(['/', ' ']).find_map(|word| word.strip_prefix("127.0.0.1:").filter(|rest| !rest.is_empty()))?;
    rest.trim_end_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()
}

/// A registry with widget 1.4.0 for two platforms, and a bridge in front of it.
fn served() -> (Scene, Serving) {
    let scene = Scene::published();
    let serving = Serving::start(&scene, "", "");
    (scene, serving)
}

/// The same with a registry of one's own and more settings.
fn served_with(registry: RegistryBuilder, top: &str, more: &str) -> (Scene, Serving) {
    let scene = Scene::with(registry);
    scene.publish("1.4.0");
    scene.registry.clear_requests();
    let serving = Serving::start(&scene, top, more);
    (scene, serving)
}

/// The archive of a platform.
fn archive(platform: &str) -> String {
    format!("{WIDGET_PATH}/terraform-provider-widget_1.4.0_{platform}.zip")
}
