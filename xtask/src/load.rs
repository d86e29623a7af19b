//! Clients that ask a server on loopback for the same documents again and again, over plain HTTP/1.1 connections that
//! they keep.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};

/// How long an answer may take: clients give up on metadata after 10 seconds.
const PATIENCE: Duration = Duration::from_secs(10);
/// How many failures are kept in words.
const KEPT: usize = 20;

/// What is asked for.
pub(crate) struct LoadTarget {
    /// The path.
    pub(crate) path: String,
    /// How long its body must be.
    pub(crate) bytes: u64,
}

/// What came of it.
#[derive(Debug, Default)]
pub(crate) struct LoadReport {
    /// How many answers were complete and right.
    pub(crate) answered: u64,
    /// How many requests failed.
    pub(crate) failed: u64,
    /// The slowest answer.
    pub(crate) slowest: Duration,
    /// When the first failures happened, and how.
    pub(crate) failures: Vec<String>,
}

impl LoadReport {
    fn add(&mut self, other: Self) {
        self.answered += other.answered;
        self.failed += other.failed;
        self.slowest = self.slowest.max(other.slowest);
        self.failures.extend(other.failures);
        self.failures.truncate(KEPT);
    }
}

/// Lets `clients` ask for the targets, in turn, for so long.
pub(crate) fn drive(port: u16, targets: &[LoadTarget], clients: usize, time: Duration) -> LoadReport {
    let begin = Instant::now();
    let mut report = LoadReport::default();
    thread::scope(|scope| {
        let running: Vec<_> =
            (0..clients).map(|client| scope.spawn(move || one_client(port, targets, client, begin, time))).collect();
        for client in running {
            match client.join() {
                Ok(one) => report.add(one),
                Err(_) => report.failed += 1,
            }
        }
    });
    report
}

fn one_client(port: u16, targets: &[LoadTarget], client: usize, begin: Instant, time: Duration) -> LoadReport {
    let mut report = LoadReport::default();
    let mut connection = None;
    for target in targets.iter().cycle().skip(client % targets.len().max(1)) {
        if begin.elapsed() >= time {
            break;
        }
        let start = Instant::now();
        let asked = match connection.take() {
            Some(open) => ask(open, target),
            None => connect(port).and_then(|open| ask(open, target)),
        };
        report.slowest = report.slowest.max(start.elapsed());
        match asked {
            Ok(open) => {
                connection = open;
                report.answered += 1;
            }
            Err(error) => {
                report.failed += 1;
                if report.failures.len() < KEPT {
                    report.failures.push(format!("{:.1} s: {}: {error}", begin.elapsed().as_secs_f64(), target.path));
                }
            }
        }
    }
    report
}

fn connect(port: u16) -> io::Result<BufReader<TcpStream>> {
    let stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(BufReader::with_capacity(256 * 1024, stream))
}

/// One exchange; the connection, if the server keeps it.
fn ask(mut connection: BufReader<TcpStream>, target: &LoadTarget) -> io::Result<Option<BufReader<TcpStream>>> {
    let request = format!("GET {} HTTP/1.1\r\nHost: localhost\r\n\r\n", target.path);
    connection.get_mut().write_all(request.as_bytes())?;
    let mut line = String::new();
    connection.read_line(&mut line)?;
    if !line.starts_with("HTTP/1.1 200 ") {
        return Err(io::Error::other(format!("it answered `{}`", line.trim_end())));
    }
    let (mut length, mut kept) = (None, true);
    loop {
        line.clear();
        connection.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse::<u64>().ok();
        } else if name.eq_ignore_ascii_case("connection") {
            kept = !value.trim().eq_ignore_ascii_case("close");
        }
    }
    if length != Some(target.bytes) {
        return Err(io::Error::other(format!("it promises {length:?} bytes, not {}", target.bytes)));
    }
    let read = io::copy(&mut connection.by_ref().take(target.bytes), &mut io::sink())?;
    if read != target.bytes {
        return Err(io::Error::other(format!("it sent {read} of {} bytes", target.bytes)));
    }
    Ok(kept.then_some(connection))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tofu_oci_testkit::{Answer, Fault, Rule, WebServer};

    #[track_caller]
    fn check(fault: Option<Fault>, bytes: u64, want: &str) {
        let web = WebServer::plain();
        let rule = Rule::on("GET", "/document").then(Fault::Answer(Answer::text(200, "four")));
        web.fault(fault.into_iter().fold(rule, Rule::then));
        let port = web.address().rsplit(':').next().and_then(|port| port.parse().ok()).unwrap();
        let targets = [LoadTarget { path: "/document".to_owned(), bytes }];
        let report = drive(port, &targets, 2, Duration::from_millis(50));
        if want.is_empty() {
            assert!(report.answered > 0 && report.failed == 0, "{report:?}");
        } else {
            assert!(report.answered == 0 && report.failed > 0, "{report:?}");
            assert!(report.failures.iter().all(|line| line.ends_with(want)), "{report:?}");
        }
    }

    #[test]
    fn only_whole_answers_of_the_known_length_count() {
        check(None, 4, "");
        check(None, 5, "it promises Some(4) bytes, not 5");
        check(Some(Fault::SetStatus(502)), 4, "it answered `HTTP/1.1 502 Bad Gateway`");
        check(Some(Fault::CutBody(2)), 4, "it sent 2 of 4 bytes");
    }
}
