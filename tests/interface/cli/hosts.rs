//! Several processes share a search: one answer, evidence in parts, and an end when one of them is lost.

use super::tool::{Folder, SB, command};
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::process::{Child, Stdio};

/// Lamport's lock is large from three threads on.
const LARGE: &str = include_str!("../../../corpus/lamport_fast_fenced.fw");

fn folder(processes: usize) -> Folder {
    let folder = Folder::new();
    let listeners: Vec<TcpListener> =
        (0..processes).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let address = |listener: &TcpListener| listener.local_addr().expect("an address").to_string();
    let addresses: Vec<String> = listeners.iter().map(address).collect();
    folder.write("hosts", format!("# every process has a line\n{}\n", addresses.join("\n")));
    folder.write("large.fw", LARGE).write("sb.fw", SB);
    folder
}

fn started(folder: &Folder, process: usize, args: &[&str]) -> Child {
    let mut command = command(folder.path());
    command.args(["verify", "--hosts", "hosts", "--process", &process.to_string(), "--timeout", "300"]);
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the binary starts")
}

fn ended(child: Child) -> (Option<i32>, String, String) {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("it is text");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn processes_answer_once_and_write_their_parts() {
    let folder = folder(2);
    let args = ["--reduce", "none", "-D", "N=3", "--model", "tso", "--evidence", "parts", "large.fw"];
    let children = [1, 0].map(|process| started(&folder, process, &args));
    let [second, first] = children.map(ended);
    assert_eq!((first.0, second.0), (Some(0), Some(0)), "{first:?} {second:?}");
    assert_eq!(second.1, "", "one process says the answer");
    assert!(first.1.contains(", by 2 processes; certificate checked"), "{first:?}");
    let alone = [
        "verify",
        "--engine",
        "explicit",
        "--reduce",
        "none",
        "-D",
        "N=3",
        "--evidence",
        "whole",
        "large.fw",
    ];
    folder.run(&alone).exits(0);
    let parts = ["parts/large.tso.closed.1-of-2.txt", "parts/large.tso.closed.2-of-2.txt"];
    assert!(parts.map(|part| folder.read(part)).concat() == folder.read("whole/large.tso.closed.txt"));
    let check = ["check", "-D", "N=3", "large.fw", parts[0], parts[1]];
    folder.run(&check).exits(0).says("the evidence holds: safe");
    folder.run(&check[..5]).exits(2).complains("it was cut");
    folder
        .run(&["check", "-D", "N=3", "large.fw", parts[1], parts[0]])
        .exits(2)
        .complains("no evidence file");
}

#[test]
fn violations_and_small_programs_are_told_once() {
    let folder = folder(2);
    let args = ["--evidence", "proofs", "--model", "all", "sb.fw"];
    let [second, first] = [1, 0].map(|process| started(&folder, process, &args)).map(ended);
    assert_eq!((first.0, second.0, second.1.as_str()), (Some(1), Some(1), ""), "{first:?} {second:?}");
    assert_eq!(folder.list("proofs"), ["sb.pso.trace.txt", "sb.sc.closed.txt", "sb.tso.trace.txt"]);
}

/// The other notices, says so, and leaves nothing behind.
#[test]
fn a_lost_process_ends_the_work_of_all() {
    let folder = folder(2);
    // Far too large to be explored before anybody notices.
    let args = ["--verbose", "--reduce", "none", "-D", "N=5", "--evidence", "proofs", "large.fw"];
    let [mut lost, mut left] = [1, 0].map(|process| started(&folder, process, &args));
    for child in [&mut lost, &mut left] {
        let mut lines = BufReader::new(child.stderr.as_mut().expect("it was asked for")).lines();
        let begun = lines.find(|line| line.as_ref().is_ok_and(|line| line.contains("goes on in rounds")));
        assert!(begun.is_some(), "both begin to share the work");
    }
    lost.kill().expect("it runs");
    lost.wait().expect("it ends");
    let mut out = String::new();
    left.stdout.take().expect("it was asked for").read_to_string(&mut out).expect("text");
    assert_eq!(left.wait().expect("it ends").code(), Some(3), "{out}");
    assert!(out.contains("unknown under TSO: a process that shared the work was lost"), "{out}");
    assert!(folder.list("proofs").is_empty());
}

#[test]
fn what_cannot_be_is_said() {
    let folder = folder(2);
    let verify = |args: &[&str]| folder.run(&[&["verify", "sb.fw"], args].concat()).exits(2);
    verify(&["--hosts", "hosts", "--process", "2"]).complains("the last is --process 1");
    verify(&["--hosts", "hosts"]).complains("--process");
    verify(&["--hosts", "nowhere", "--process", "0"]).complains("nowhere");
    verify(&["--hosts", "hosts", "--process", "0", "--engine", "cegar"]).complains("not of cegar");
    verify(&["--hosts", "hosts", "--process", "0", "--timeout", "0.2"])
        .complains("while waiting for other processes");
    folder.write("hosts", "localhost\n");
    verify(&["--hosts", "hosts", "--process", "0"]).complains("line 1: this is not HOST:PORT");
    folder.write("hosts", "a:1\n\na:1\n");
    verify(&["--hosts", "hosts", "--process", "0"]).complains("line 3: two processes cannot share a port");
    folder.write("hosts", "# nobody\n");
    verify(&["--hosts", "hosts", "--process", "0"]).complains("names no process");
}
