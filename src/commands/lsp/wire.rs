//! Frames: a head of `Name: value` lines, an empty line, and so many bytes.
//!
//! What does not look like that is passed over and reported, and reading goes on with the next
//! head. Nothing that arrives makes us hold more than [`LARGEST`] bytes.

use serde_json::Value;
use std::io::{self, BufRead, Read, Write};

/// Larger messages are passed over. A text of the largest size fits, even if much is escaped.
pub const LARGEST: u64 = 64 << 20;
/// Longer lines are no part of a head.
const LONGEST_LINE: u64 = 4096;

/// What arrived.
#[derive(Debug, PartialEq, Eq)]
pub enum Incoming {
    /// A message.
    Body(Vec<u8>),
    /// Something that is none, and why.
    Broken(&'static str),
}

/// Reads a frame; `None` at the end of the input.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length = None;
    let mut any = false;
    loop {
        let Some(line) = head_line(input)? else { return Ok(None) };
        let line = line.trim_ascii();
        if line.is_empty() {
            // Empty lines between messages do no harm.
            if any {
                break;
            }
            continue;
        }
        any = true;
        if let Some(value) = content_length(line) {
            length = Some(value);
        }
    }
    match length {
        None => Ok(Some(Incoming::Broken("a message must start with `Content-Length: N`"))),
        Some(None) => Ok(Some(Incoming::Broken("the Content-Length is not a number"))),
        Some(Some(length)) if length > LARGEST => {
            io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
            Ok(Some(Incoming::Broken("the message is too large")))
        }
        Some(Some(length)) => {
            let mut body = Vec::new();
            input.by_ref().take(length).read_to_end(&mut body)?;
            Ok((body.len() as u64 == length).then_some(Incoming::Body(body)))
        }
    }
}

/// The value of a `Content-Length` line, or that it has none.
fn content_length(line: &[u8]) -> Option<Option<u64>> {
    let line = String::from_utf8_lossy(line);
    let (name, value) = line.split_once(':')?;
    name.trim().eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())
}

/// A line of a head; of a long one, only the start. `None` at the end of the input.
fn head_line(input: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    if line.is_empty() {
        return Ok(None);
    }
    while line.last() != Some(&b'\n') {
        let mut more = Vec::new();
        input.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut more)?;
        match more.last() {
            None => return Ok(None),
            Some(b'\n') => break,
            Some(_) => {}
        }
    }
    Ok(Some(line))
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Value) -> io::Result<()> {
    let body = message.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{body}", body.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &[u8], expected: &[Incoming]) {
        let mut rest = input;
        let mut frames = Vec::new();
        while let Some(frame) = read(&mut rest).expect("memory can be read") {
            frames.push(frame);
        }
        assert_eq!(frames, expected, "{:?}", String::from_utf8_lossy(input));
    }

    fn body(text: &str) -> Incoming {
        Incoming::Body(text.as_bytes().to_vec())
    }

    #[test]
    fn frames_follow_each_other() {
        check(b"", &[]);
        check(b"Content-Length: 2\r\n\r\n{}Content-Length: 3\r\n\r\n[1]", &[body("{}"), body("[1]")]);
        check(b"content-length:2\nContent-Type: x\n\n{}", &[body("{}")]);
        check(b"Content-Length: 0\r\n\r\n\r\n\r\nContent-Length: 1\r\n\r\n1", &[body(""), body("1")]);
    }

    #[test]
    fn what_is_no_frame_is_passed_over() {
        let missing = || Incoming::Broken("a message must start with `Content-Length: N`");
        check(b"nonsense\r\n\r\nContent-Length: 2\r\n\r\n{}", &[missing(), body("{}")]);
        check(b"Content-Length: x\r\n\r\n", &[Incoming::Broken("the Content-Length is not a number")]);
        check(b"Content-Length: -1\r\n\r\n", &[Incoming::Broken("the Content-Length is not a number")]);
        check(b"Content-Length: 5\r\n\r\n{}", &[]);
        check(b"Content-Length: 99999999999999\r\n\r\n{}", &[Incoming::Broken("the message is too large")]);
        check(&vec![b'x'; 100_000], &[]);
        let mut long = vec![b'x'; 10_000];
        long.extend_from_slice(b"\n\nContent-Length: 2\n\n{}");
        check(&long, &[missing(), body("{}")]);
    }
}
