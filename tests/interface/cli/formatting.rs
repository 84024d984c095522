//! `fmt`: the usual layout, and nothing else.

use super::tool::{Folder, run};

const UNTIDY: &str = "// Kept.
const  N=2 ;
shared flag[ N ],turn=- 1 ,m[N]={1,2};   // aligned


struct S{a=1,b[2]}

thread P( i in 0 .. N ){
  let r=x+- 1,q=r>>1&-r;
      if(r==0&&!q){skip;}else{ r++; }
  switch(r){
  case 1:case 2:
  r+=2;break;
    default:
  call(&turn , -r);
  }
/* a remark */ cas( flag[i],0 , 1 );
        await flag[1-i]==0
      ||turn==i;
  r=r>0?1:-1;
cs:skip;}
never P0@cs&&P[ 1 ]@cs;
";

const TIDY: &str = "// Kept.
const N = 2;
shared flag[N], turn = -1, m[N] = {1, 2};   // aligned

struct S { a = 1, b[2] }

thread P(i in 0..N) {
    let r = x + -1, q = r >> 1 & -r;
    if (r == 0 && !q) { skip; } else { r++; }
    switch (r) {
        case 1: case 2:
            r += 2; break;
        default:
            call(&turn, -r);
    }
    /* a remark */ cas(flag[i], 0, 1);
    await flag[1 - i] == 0
        || turn == i;
    r = r > 0 ? 1 : -1;
    cs: skip; }
never P0@cs && P[1]@cs;
";

#[test]
fn a_text_gets_the_usual_layout() {
    let folder = Folder::new();
    folder.write("a.fw", UNTIDY).write("b.fw", TIDY);
    folder.run(&["fmt", "--check", "."]).exits(1).says("a.fw\n");
    folder.run(&["fmt", "a.fw", "b.fw"]).exits(0).complains("1 file changed");
    assert_eq!(folder.read("a.fw"), TIDY);
    let ran = folder.run(&["fmt", "--check", "."]).exits(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("", ""));
}

#[test]
fn standard_input_goes_to_standard_output() {
    let folder = Folder::new();
    let ran = run(folder.path(), &["fmt", "-"], UNTIDY.as_bytes()).exits(0);
    assert_eq!(ran.out, TIDY);
}

#[test]
fn what_cannot_be_taken_apart_stays() {
    let folder = Folder::new();
    folder.write("a.fw", "thread P { /* never closed\n").write("b.c", "int main(void) { return 0; }\n");
    folder.run(&["fmt", "a.fw"]).exits(2).complains("this comment does not end");
    folder.run(&["fmt", "b.c"]).exits(2).complains("only programs in `.fw` can be formatted");
    assert_eq!(folder.read("a.fw"), "thread P { /* never closed\n");
}

#[test]
fn our_own_programs_keep_their_meaning_and_settle_at_once() {
    let folder = Folder::new();
    for entry in std::fs::read_dir("corpus").expect("the corpus").flatten() {
        let text = std::fs::read_to_string(entry.path()).unwrap_or_default();
        if entry.path().extension().is_some_and(|ending| ending == "fw") {
            folder.write(&entry.file_name().to_string_lossy(), &text);
        }
    }
    folder.run(&["fmt", "-q", "."]).exits(0);
    folder.run(&["fmt", "--check", "."]).exits(0);
}
