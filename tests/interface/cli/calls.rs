//! Runs say of statements in functions from which call they are.

use super::tool::{Folder, Ran};

const FW: &str = "\
shared x;
fn put(v) {
  x = v;
}
fn twice(v) {
  put(v);
  put(v + 1);
}
thread P {
  twice(1);
}
never x == 2;
";

const C: &str = "\
#include <pthread.h>
#include <assert.h>
int x;
void put(int v) {
  x = v;
}
void twice(int v) {
  put(v);
  put(v + 1);
}
void *work(void *unused) {
  twice(1);
  return 0;
}
int main() {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  int seen = x;
  assert(seen != 2);
  pthread_join(t, 0);
}
";

fn check(file: &str, text: &str, lines: [[usize; 2]; 2]) {
    let folder = Folder::new();
    folder.write(file, text);
    let ask =
        |args: &[&str]| -> Ran { folder.run(&[&["verify", "--model", "sc", file], args].concat()).exits(1) };
    let shown = ask(&["--report", "page.html"]);
    let page = folder.read("page.html");
    for [inner, outer] in lines {
        let says = format!("called in line {inner}, that in line {outer}");
        assert!(shown.out.contains(&says), "`{says}` is missing: {}", shown.out);
        assert!(page.contains(&says), "`{says}` is missing in the page");
    }
    let json = ask(&["--format", "json"]).json().remove(0);
    let steps = json["trace"].as_array().expect("a run").iter();
    let calls: Vec<_> =
        steps.filter(|step| step["variable"] == "x").map(|step| step["calls"].clone()).collect();
    for expected in lines {
        assert!(calls.contains(&serde_json::json!(expected)), "{calls:?}");
    }
}

#[test]
fn of_our_language() {
    check("calls.fw", FW, [[6, 10], [7, 10]]);
}

#[test]
fn of_c() {
    check("calls.c", C, [[8, 12], [9, 12]]);
}
