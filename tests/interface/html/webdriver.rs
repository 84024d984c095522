//! A headless Chromium, driven through chromedriver by the W3C WebDriver protocol: just the
//! commands that the tests need, over a plain socket.

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A browser with one page. It ends when this is dropped.
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

/// A key, as WebDriver writes it.
pub mod key {
    pub const TAB: &str = "\u{e004}";
    pub const ENTER: &str = "\u{e007}";
    pub const END: &str = "\u{e010}";
    pub const HOME: &str = "\u{e011}";
    pub const LEFT: &str = "\u{e012}";
    pub const UP: &str = "\u{e013}";
    pub const RIGHT: &str = "\u{e014}";
    pub const DOWN: &str = "\u{e015}";
}

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

impl Browser {
    /// A browser, or `None` with a note if there is none on this machine; then the test has
    /// nothing to do, unless `FENCEWRIGHT_REQUIRE_BROWSER` is set.
    pub fn open() -> Option<Browser> {
        let programs = (on_path(&["chromium", "chromium-browser"]), on_path(&["chromedriver"]));
        let (Some(chromium), Some(chromedriver)) = programs else {
            assert!(
                std::env::var_os("FENCEWRIGHT_REQUIRE_BROWSER").is_none(),
                "chromium or chromedriver is missing"
            );
            eprintln!("chromium or chromedriver is not installed: nothing looked at");
            return None;
        };
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let profile = format!("browser-{}-{number}", std::process::id());
        let profile = Path::new(env!("CARGO_TARGET_TMPDIR")).join(profile);
        let (driver, port) = started(&chromedriver);
        let mut browser = Browser { driver, port, session: String::new(), profile };
        let mut flags: Vec<String> = FLAGS.iter().map(|flag| flag.to_string()).collect();
        flags.push(format!("--user-data-dir={}", browser.profile.display()));
        let wanted = json!({
            "browserName": "chrome",
            "goog:loggingPrefs": {"browser": "ALL"},
            "goog:chromeOptions": {"args": flags, "binary": chromium},
        });
        let made = browser.ask("POST", "/session", &json!({"capabilities": {"alwaysMatch": wanted}}));
        browser.session = made["sessionId"].as_str().expect("a session has a name").to_string();
        Some(browser)
    }

    /// Opens a file in a window of this size.
    pub fn visit(&self, file: &Path, width: u32, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features}));
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", size);
        let path = file.to_str().expect("the path is text").replace('%', "%25").replace('#', "%23");
        self.post("url", json!({"url": format!("file://{}", path.replace('?', "%3f"))}));
    }

    /// A command of the developer tools.
    pub fn devtools(&self, command: &str, parameters: Value) -> Value {
        self.post("goog/cdp/execute", json!({"cmd": command, "params": parameters}))
    }

    /// Runs a script in the page and returns what it returns.
    pub fn script(&self, script: &str) -> Value {
        self.post("execute/sync", json!({"script": script, "args": []}))
    }

    /// The text of the first element that a selector finds, as it is shown.
    pub fn text(&self, selector: &str) -> String {
        let text = self.script(&format!("return document.querySelector({}).innerText", json!(selector)));
        text.as_str().unwrap_or_else(|| panic!("{selector}: {text}")).to_string()
    }

    /// Presses a key and lets it go.
    pub fn press(&self, key: &str) {
        let strokes = json!([{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}]);
        self.post("actions", json!({"actions": [{"type": "key", "id": "keys", "actions": strokes}]}));
    }

    /// Clicks on the first element that a selector finds, as a mouse does.
    pub fn click(&self, selector: &str) {
        let found = self.post("element", json!({"using": "css selector", "value": selector}));
        let id = found.as_object().and_then(|found| found.values().next()?.as_str());
        let id = id.unwrap_or_else(|| panic!("{selector}: {found}"));
        self.post(&format!("element/{id}/click"), json!({}));
    }

    /// What the page wrote to its console since the last call: errors, refusals, all of it.
    pub fn console(&self) -> Vec<String> {
        let log = self.post("se/log", json!({"type": "browser"}));
        log.as_array().expect("a log is a list").iter().map(Value::to_string).collect()
    }

    fn post(&self, command: &str, body: Value) -> Value {
        self.ask("POST", &format!("/session/{}/{command}", self.session), &body)
    }

    fn ask(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.exchange(method, path, body).expect("chromedriver answers");
        assert!(answer["value"]["error"].is_null(), "{path}: {}", answer["value"]);
        answer["value"].clone()
    }

    fn exchange(&self, method: &str, path: &str, body: &Value) -> io::Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all((head + &body).as_bytes())?;
        let mut reply = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reply.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some(number) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = number.trim().parse().map_err(io::Error::other)?;
            }
        }
        let mut content = vec![0; length];
        reply.read_exact(&mut content)?;
        Ok(serde_json::from_slice(&content)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Also after a failure, for otherwise the browser would outlive its driver.
        let _ = self.exchange("DELETE", &format!("/session/{}", self.session), &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A chromedriver and its port. Where another process takes the port that it has chosen, it ends, and is started again.
fn started(chromedriver: &Path) -> (Child, u16) {
    let driver = || {
        let mut driver = Command::new(chromedriver)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("chromedriver starts");
        let port = port(&mut driver);
        if port.is_none() {
            let _ = driver.wait();
        }
        Some((driver, port?))
    };
    (0..5).find_map(|_| driver()).expect("chromedriver names its port")
}

/// The port that chromedriver says it listens to.
fn port(driver: &mut Child) -> Option<u16> {
    let out = driver.stdout.take().expect("it has a standard output");
    let mut lines = BufReader::new(out).lines();
    let said = lines.by_ref().map_while(Result::ok).find_map(|line| {
        let port = line.split("successfully on port ").nth(1)?;
        port.trim_end_matches('.').parse().ok()
    });
    // Somebody has to read what else it says, for otherwise it may wait.
    std::thread::spawn(move || lines.for_each(drop));
    said
}

fn on_path(names: &[&str]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    names.iter().find_map(|name| folders.iter().map(|folder| folder.join(name)).find(|file| file.is_file()))
}
