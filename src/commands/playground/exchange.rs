//! One request and its answer, as far as a browser needs HTTP for files.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

/// Requests with more in front of them are none of ours.
const MOST_HEAD: usize = 16 << 10;
/// How long somebody may take to ask, and to take in a piece of the answer.
const ASKING: Duration = Duration::from_secs(10);
const LISTENING: Duration = Duration::from_secs(60);

/// A folder whose files are handed out.
pub struct Site {
    root: PathBuf,
}

/// A request as far as we look at it.
#[derive(Debug, PartialEq, Eq)]
pub struct SiteRequest {
    method: String,
    /// The path in the site.
    path: PathBuf,
    host: String,
}

impl Site {
    /// The site in a folder, which has a page to begin with.
    pub fn open(folder: &Path) -> Result<Site, String> {
        let root = fs::canonicalize(folder).map_err(|error| crate::input::cannot_read(&error))?;
        match root.join("index.html").is_file() {
            true => Ok(Site { root }),
            false => Err("there is no index.html in this folder".to_string()),
        }
    }

    /// The path of the playground: where a book stands around it, its folder.
    pub fn start(&self) -> &'static str {
        match self.root.join("playground/index.html").is_file() {
            true => "playground/",
            false => "",
        }
    }

    /// Answers the request that comes in on a connection.
    pub fn answer(&self, mut stream: &TcpStream, port: u16) -> io::Result<()> {
        stream.set_read_timeout(Some(ASKING))?;
        stream.set_write_timeout(Some(LISTENING))?;
        let head = head(stream)?;
        let Some(wanted) = wanted(&head) else { return refuse(stream, "400 Bad Request") };
        if !is_local(&wanted.host, port) {
            return refuse(stream, "403 Forbidden");
        }
        if wanted.method != "GET" && wanted.method != "HEAD" {
            return refuse(stream, "405 Method Not Allowed");
        }
        let Some((path, mut file)) = self.file(&wanted.path) else { return refuse(stream, "404 Not Found") };
        let length = file.metadata()?.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {length}\r\n{ALWAYS}\r\n",
            kind(&path)
        )?;
        if wanted.method == "GET" {
            io::copy(&mut file, &mut stream)?;
        }
        stream.flush()
    }

    /// A file of the site; of a folder its page. Links that lead out of the site are not followed.
    fn file(&self, path: &Path) -> Option<(PathBuf, File)> {
        let mut path = fs::canonicalize(self.root.join(path)).ok()?;
        if path.is_dir() {
            path = fs::canonicalize(path.join("index.html")).ok()?;
        }
        (path.starts_with(&self.root) && path.is_file()).then_some(())?;
        let file = File::open(&path).ok()?;
        Some((path, file))
    }
}

/// What goes with every answer: types are as they are said, nobody frames it, and new versions are seen.
const ALWAYS: &str = "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: frame-ancestors 'none'\r\n\
    Cross-Origin-Resource-Policy: same-origin\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-cache\r\n\
    Connection: close\r\n";

fn refuse(mut stream: &TcpStream, why: &str) -> io::Result<()> {
    write!(stream, "HTTP/1.1 {why}\r\nContent-Length: 0\r\n{ALWAYS}\r\n")?;
    stream.flush()
}

/// What stands in front of a request's content, which nobody reads.
fn head(mut stream: &TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    let mut piece = [0; 1024];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") && bytes.len() < MOST_HEAD {
        match stream.read(&mut piece)? {
            0 => break,
            count => bytes.extend_from_slice(&piece[..count]),
        }
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The request that a head says, if it says one whole.
fn wanted(head: &str) -> Option<SiteRequest> {
    let (head, _) = head.split_once("\r\n\r\n")?;
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, target, version) = (words.next()?, words.next()?, words.next()?);
    if !version.starts_with("HTTP/1.") || words.next().is_some() {
        return None;
    }
    let mut hosts = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim().to_string())
    });
    let host = hosts.next()?;
    if hosts.next().is_some() {
        return None;
    }
    let path = target.strip_prefix('/')?.split(['?', '#']).next()?;
    Some(SiteRequest { method: method.to_string(), path: inside(&decoded(path)?)?, host })
}

/// A path that does not lead out of where it starts.
fn inside(path: &str) -> Option<PathBuf> {
    let path = Path::new(path);
    let normal = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    path.components().all(normal).then(|| path.to_path_buf())
}

/// A text with `%20` and the like read.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(after.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok().filter(|byte| *byte != 0)?);
        rest = after.get(2..)?;
    }
    String::from_utf8(bytes).ok().filter(|text| !text.contains('\\'))
}

/// Whether a browser that asks for this host means this machine by a name that only it has.
fn is_local(host: &str, port: u16) -> bool {
    ["localhost", "127.0.0.1", "[::1]"]
        .iter()
        .any(|name| host.eq_ignore_ascii_case(&format!("{name}:{port}")))
}

fn kind(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("json") => "application/json",
        Some("png") => "image/png",
        Some("woff2") => "font/woff2",
        Some("txt" | "md" | "fw" | "litmus" | "c") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn requests_are_read_and_none_leads_out() {
        let check = |line: &str, expected: Option<&str>| {
            let read = wanted(&format!("{line}\r\nhost: localhost:1\r\n\r\n"));
            assert_eq!(read.map(|wanted| wanted.path), expected.map(PathBuf::from), "{line}");
        };
        check("GET / HTTP/1.1", Some(""));
        check("GET /a%20b/c.js?x=1 HTTP/1.1", Some("a b/c.js"));
        for line in [
            "GET /../secret HTTP/1.1",
            "GET /a/%2e%2e/%2e%2e/secret HTTP/1.1",
            "GET //etc/passwd HTTP/1.1",
            "GET /%00 HTTP/1.1",
            "GET /%zz HTTP/1.1",
            "GET /a%5c..%5cb HTTP/1.1",
            "GET http://localhost/ HTTP/1.1",
            "GET / HTTP/2",
            "GET /",
        ] {
            check(line, None);
        }
        assert_eq!(wanted("GET / HTTP/1.1\r\nhost: a\r\nHost: b\r\n\r\n"), None);
        assert_eq!(wanted("GET / HTTP/1.1\r\n\r\n"), None);
    }

    #[test]
    fn only_names_of_this_machine_are_answered() {
        assert!(is_local("localhost:80", 80) && is_local("127.0.0.1:80", 80) && is_local("[::1]:80", 80));
        for host in ["localhost", "localhost:81", "evil.example:80", "localhost.evil.example:80", ""] {
            assert!(!is_local(host, 80), "{host}");
        }
    }

    /// The first line of the answer to a request for a path of a small site, and its content.
    fn asked(request: &str) -> (String, String) {
        let folder = std::env::temp_dir().join(format!("fencewright-site-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("index.html"), "the page").expect("a page");
        let site = Site::open(&folder).expect("a site");
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let mut client = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("somebody listens");
        client.write_all(request.replace("PORT", &port.to_string()).as_bytes()).expect("written");
        let (stream, _) = listener.accept().expect("somebody asks");
        site.answer(&stream, port).expect("answered");
        drop(stream);
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("read");
        let (head, content) = answer.split_once("\r\n\r\n").expect("a head");
        (head.lines().next().unwrap_or_default().to_string(), content.to_string())
    }

    #[test]
    fn where_a_book_stands_around_it_the_playground_is_a_folder() {
        let folder = std::env::temp_dir().join(format!("fencewright-book-{}", std::process::id()));
        let start = || Site::open(&folder).expect("a site").start();
        fs::create_dir_all(folder.join("playground")).expect("a folder");
        fs::write(folder.join("index.html"), "the book").expect("a page");
        assert_eq!(start(), "");
        fs::write(folder.join("playground/index.html"), "the playground").expect("a page");
        assert_eq!(start(), "playground/");
        fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_site_is_handed_out_and_nothing_else() {
        let answer = |request: &str| {
            let (line, content) = asked(request);
            (line["HTTP/1.1 ".len()..].to_string(), content)
        };
        let page = ("200 OK".to_string(), "the page".to_string());
        assert_eq!(answer("GET / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n"), page);
        assert_eq!(answer("HEAD / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n").1, "");
        for (request, expected) in [
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403 Forbidden"),
            ("POST / HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", "405 Method Not Allowed"),
            ("GET /none HTTP/1.1\r\nHost: localhost:PORT\r\n\r\n", "404 Not Found"),
            ("nonsense\r\n\r\n", "400 Bad Request"),
        ] {
            assert_eq!(answer(request).0, expected, "{request}");
        }
    }
}
