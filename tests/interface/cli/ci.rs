//! `ci`: what changed, what is missing, what is not needed; and `--update`.

use super::tool::{ENDLESS, Folder, MP, Ran, SB, run};
use std::path::Path;

/// Store buffering with fences: needed in lines 2 and 3, not needed in line 4.
const FENCED: &str = "\
shared x, y, z;
thread P0 { let a; x = 1; fence; a = y; }
thread P1 { let b; y = 1; fence; b = x;
  fence; z = 1; }
finally !(P0.a == 0 && P1.b == 0);
";

fn folder(config: &str) -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("endless.fw", ENDLESS).write("fenced.fw", FENCED);
    folder.write("fencewright.toml", config);
    folder
}

fn ci(config: &str) -> Ran {
    folder(config).run(&["ci"])
}

#[test]
fn all_as_expected_is_0() {
    let ran = ci("[defaults]\nmodels = [\"sc\", \"tso\", \"pso\"]\n\
                  [[program]]\nfile = \"mp.fw\"\nexpect = { sc = \"safe\", tso = \"safe\", pso = \"unsafe\" }\n\
                  [[program]]\nfile = \"sb.fw\"\nmodels = [\"tso\", \"pso\"]\nexpect = \"unsafe\"\n\
                  [[program]]\nfile = \"endless.fw\"\nstates = 50\nengine = \"explicit\"\nmodels = [\"sc\"]\n\
                  expect = \"unknown\"\n");
    assert_eq!(ran.err, "");
    ran.exits(0).says("6 as expected\n");
}

#[test]
fn another_verdict_is_1() {
    let ran = ci("[[program]]\nfile = \"mp.fw\"\nexpect = \"unsafe\"\n").exits(1);
    ran.says("changed: mp.fw: expected unsafe under TSO, found safe").says("0 as expected, 1 changed");
    let race = "shared x; thread P(i in 0..2) { let r = x; x = r + 1; } finally x == 2;";
    let folder = folder("[[program]]\nfile = \"race.fw\"\n");
    folder.write("race.fw", race);
    folder.run(&["ci"]).exits(1).says("changed: race.fw: expected safe under TSO, found unsafe");
}

#[test]
fn robustness_can_be_expected() {
    let entry = |file: &str, robust: bool| {
        format!(
            "[[program]]\nfile = \"{file}\"\nmodels = [\"sc\"]\nfences = \"unchecked\"\nrobust = {robust}\n"
        )
    };
    ci(&(entry("mp.fw", true) + &entry("sb.fw", false))).exits(0).says("4 as expected");
    let folder = folder(&entry("sb.fw", true));
    let ran = folder.run(&["ci"]).exits(1);
    ran.says("changed: sb.fw: expected robust against TSO, found not robust").says("P0 can delay `x = 1`");
    folder.run(&["ci", "--update"]).exits(0);
    assert!(folder.read("fencewright.toml").contains("robust = false"));
    folder.run(&["ci"]).exits(0);
    // Against each model on its own.
    folder.write(
        "fencewright.toml",
        "[[program]]\nfile = \"mp.fw\"\nmodels = [\"sc\"]\nrobust = { tso = true, pso = true } # both?\n",
    );
    let ran = folder.run(&["ci"]).exits(1).says("2 as expected, 1 changed");
    ran.says("changed: mp.fw: expected robust against PSO, found not robust");
    folder.run(&["ci", "--update"]).exits(0);
    assert!(folder.read("fencewright.toml").contains("robust = { tso = true, pso = false } # both?"));
    folder.run(&["ci"]).exits(0);
    folder.write("fencewright.toml", "[[program]]\nfile = \"mp.fw\"\nrobust = { arm = true }\n");
    folder.run(&["ci"]).exits(2).complains("arm");
}

#[test]
fn a_first_file_is_written_with_the_answers_of_today() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("locks/mp.fw", MP);
    folder.run(&["ci"]).exits(2).complains("`fencewright ci --init` writes one");
    folder.run(&["ci", "--init"]).exits(0).complains("fencewright.toml: 2 programs");
    let written = folder.read("fencewright.toml");
    let expected = "[[program]]\nfile = \"locks/mp.fw\"\nexpect = { sc = \"safe\", tso = \"safe\" }\n\n\
                    [[program]]\nfile = \"sb.fw\"\nexpect = { sc = \"safe\", tso = \"unsafe\" }\n";
    assert!(written.ends_with(expected), "{written}");
    folder.run(&["ci"]).exits(0).says("4 as expected");
    folder.run(&["ci", "--init"]).exits(2).complains("exists; --force replaces it");
    folder.run(&["ci", "--init", "--force"]).exits(0);
}

#[test]
fn all_errors_of_the_file_are_told_at_once() {
    let ran = ci(
        "[defaults]\nmodles = [\"sc\"]\ntimeout = -1.0\n[[program]]\nfile = \"sb.fw\"\nexpect = \"saef\"\n\
                  [[program]]\nfile = \"mp.fw\"\nmodels = [\"tsso\"]\n[[fences]]\nfile = \"sb.fw\"\nmodel = \"x86\"\nplaces = []\n",
    );
    let ran =
        ran.exits(2).complains("there is no key `modles` here").complains("there is no value `saef` here");
    ran.complains("there is no model `tsso`").complains("there is no model `x86`").complains(": 5 errors");
}

#[test]
fn a_missing_fence_is_named() {
    let ran = ci("[[program]]\nfile = \"sb.fw\"\n").exits(1);
    let ran = ran.says("missing: sb.fw: a fence is missing under TSO: full fence after `x = 1` (line 2)");
    ran.says("fence after `y = 1` (line 3)").says("1 with a fence missing");
}

#[test]
fn a_fence_that_nothing_needs_is_named() {
    let ran = ci("[[program]]\nfile = \"fenced.fw\"\nexpect = { sc = \"safe\", tso = \"safe\" }\n").exits(1);
    let ran =
        ran.says("redundant: fenced.fw: the fence in line 4 is not needed: without it, safe under TSO\n");
    ran.says("4 as expected, 1 redundant");
    // One that a weaker model needs is needed.
    let text = "shared data, flag; thread W { data = 1; fence; flag = 1; }\n\
                thread R { let f, d; f = flag; d = data; } finally !(R.f == 1 && R.d == 0);";
    let folder = folder("[[program]]\nfile = \"w.fw\"\n");
    folder.write("w.fw", text);
    folder.run(&["ci"]).exits(1).says("the fence in line 1 is not needed");
    folder.write("fencewright.toml", "[[program]]\nfile = \"w.fw\"\nmodels = [\"tso\", \"pso\"]\n");
    folder.run(&["ci"]).exits(0);
    folder.write("fencewright.toml", "[[program]]\nfile = \"w.fw\"\nfences = \"unchecked\"\n");
    folder.run(&["ci"]).exits(0);
    // Under SC alone no fence is needed, and nobody asks.
    folder.write("fencewright.toml", "[[program]]\nfile = \"w.fw\"\nmodels = [\"sc\"]\n");
    folder.run(&["ci"]).exits(0).says("1 as expected");
}

#[test]
fn a_fence_set_must_suffice_and_each_of_it_be_needed() {
    let set =
        |places: &str| ci(&format!("[[fences]]\nfile = \"sb.fw\"\nmodel = \"tso\"\nplaces = [{places}]\n"));
    set("{ after = \"x = 1\" }, { after = \"y = 1;\", kind = \"full\" }").exits(0).says("2 needed");
    let ran = set("{ after = \"x = 1\" }").exits(1).says("these fences do not suffice under TSO; these do: ");
    ran.says("with a fence missing");
    set("").exits(1).says("do not suffice");
    set("{ before = \"a = y\" }, { after = \"y = 1\" }").exits(0);
    let ran = set("{ before = \"a = y\" }, { after = \"y = 1\" }, { after = \"x = 1\" }").exits(1);
    ran.says("not needed under TSO: full fence before `a = y` (line 2), full fence after `x = 1` (line 2)");
    set("{ after = \"x = 1\", line = 3 }").exits(2).says("no full fence can stand after `x = 1` in line 3");
    set("{ after = \"nothing\" }").exits(2).says("no full fence can stand after `nothing`");
    let twice = folder("[[fences]]\nfile = \"t.fw\"\nmodel = \"tso\"\nplaces = [{ after = \"x = 1\" }]\n");
    twice.write("t.fw", "shared x, y; thread P { x = 1;\n x = 1; } finally x == 1;");
    twice.run(&["ci"]).exits(2).says("`x = 1` stands in lines 1 and 2: say which with `line`");
}

#[test]
fn unknown_is_3_and_errors_are_2() {
    let endless = "[[program]]\nfile = \"endless.fw\"\nengine = \"explicit\"\nstates = 50\n";
    let ran = ci(endless).exits(3);
    ran.says("unknown: endless.fw: expected safe under TSO, found nothing: the limit on states was reached");
    ci(&format!("{endless}[[program]]\nfile = \"mp.fw\"\nexpect = \"unsafe\"\n")).exits(1);
    let missing = "[[program]]\nfile = \"no.fw\"\n";
    ci(&format!("{endless}{missing}[[program]]\nfile = \"mp.fw\"\nexpect = \"unsafe\"\n"))
        .exits(2)
        .complains("no.fw: there is no such file")
        .says("1 changed, 1 unknown, 1 in error");
    ci("[[program]]\nfile = \"no*.fw\"\n").exits(2).says("no*.fw: no file has a name like this");
    ci("[[program]]\nfile = \"[.fw\"\n").exits(2).says("this is no pattern");
}

#[test]
fn files_are_found_beside_the_file_that_names_them() {
    let folder = Folder::new();
    folder.write("a [b]/locks/x.fw", MP).write("a [b]/locks/deep/y.fw", MP).write("a [b]/locks/z.fw", SB);
    let config = "[[program]]\nfile = \"locks/**/*.fw\"\nexcept = \"locks/z.*\"\n";
    folder.write("a [b]/fencewright.toml", config);
    let ran = folder.run(&["ci", "--config", "a [b]/fencewright.toml"]).exits(0);
    ran.says("a [b]/locks/deep/y.fw").says("a [b]/locks/x.fw").says("2 as expected\n");
    folder.run(&["ci"]).exits(2).complains("fencewright.toml: there is no such file");
}

#[test]
fn constants_and_litmus_tests() {
    let folder = folder(
        "[[program]]\nfile = \"n.fw\"\ndefine = { N = 3 }\nexpect = \"unsafe\"\n\
         [[program]]\nfile = \"n.fw\"\ndefine = { N = \"7\" }\n\
         [[program]]\nfile = \"mp.litmus\"\nexpect = { tso = \"unsafe\", pso = \"safe\" }\n",
    );
    folder.write("n.fw", "const N = 1; shared x; thread P { x = N; } finally x != 3;");
    folder.write(
        "mp.litmus",
        "X86 MP\n{ }\n P0         | P1          ;\n MOV [x],$1 | MOV EAX,[y] ;\n MOV [y],$1 | MOV EBX,[x] ;\n\
         exists (1:EAX=1 /\\ 1:EBX=0)\n",
    );
    folder.run(&["ci"]).exits(0).says("4 as expected");
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut config = String::from("[defaults]\nmodels = [\"sc\", \"tso\", \"pso\"]\n");
    for file in ["sb.fw", "mp.fw", "fenced.fw", "no.fw"] {
        config += &format!("[[program]]\nfile = \"{file}\"\n");
    }
    let folder = folder(&config);
    assert_eq!(folder.run(&["ci", "-j", "1"]), folder.run(&["ci", "-j", "5"]));
}

#[test]
fn update_writes_what_differs_and_keeps_the_rest() {
    let config = "\
# Ours.
[defaults]
models = [\"sc\", \"tso\"] # both

[[program]]  # one
file = \"sb.fw\"
expect = \"safe\"   # wrong

[[program]]
file = [ \"mp.fw\" ]
expect = { tso = \"unsafe\", pso  =  \"unsafe\" } # half wrong

[[program]]
file = \"mp.fw\"

[[program]]
file = \"mp.fw\"
expect = { tso=\"unsafe\" } # wrong and short
robust.tso = true

[[program]]
file = \"mp.fw\"
[program.expect]
# Because of TSO.
tso = \"unsafe\" # wrong

[[fences]]
file = \"sb.fw\"
model = \"tso\"
places = [{ after = \"x = 1\" }] # too few
";
    let folder = folder(config);
    folder.run(&["ci"]).exits(1);
    assert_eq!(folder.read("fencewright.toml"), config, "only --update writes");
    folder.run(&["ci", "--update"]).exits(0).complains("fencewright.toml: 5 expectations changed");
    let expected = config
        .replace("\"safe\"   # wrong", "{ sc = \"safe\", tso = \"unsafe\" }   # wrong")
        .replace("{ tso = \"unsafe\", pso", "{ tso = \"safe\", pso")
        .replace("{ tso=\"unsafe\" }", "{ tso=\"safe\" }")
        .replace("tso = \"unsafe\" # wrong\n", "tso = \"safe\" # wrong\n")
        .replace(
            "[{ after = \"x = 1\" }]",
            "[{ after = \"x = 1\", kind = \"full\" }, { after = \"y = 1\", kind = \"full\" }]",
        );
    assert_eq!(folder.read("fencewright.toml"), expected);
    folder.run(&["ci"]).exits(0);
    folder.run(&["ci", "--update"]).exits(0).complains("nothing to change");
    assert_eq!(folder.read("fencewright.toml"), expected);
}

#[test]
fn update_keeps_a_set_of_fences_that_will_do() {
    let set = |places: &str| format!("[[fences]]\nfile = \"sb.fw\"\nmodel = \"tso\"\nplaces = [{places}]\n");
    let chosen = set("{ before = \"b = x\" }, { after = \"x = 1\" }");
    let one = folder(&chosen);
    one.run(&["ci", "--update"]).exits(0).complains("nothing to change");
    assert_eq!(one.read("fencewright.toml"), chosen);
    // A statement that is gone is replaced.
    let one = folder(&set("{ after = \"x = 2\" }"));
    one.run(&["ci"]).exits(2);
    one.run(&["ci", "--update"]).exits(0).complains("1 expectation changed");
    one.run(&["ci"]).exits(0);
}

#[test]
fn update_does_not_write_what_it_cannot_say() {
    // Files of one entry with different verdicts.
    let config = "[[program]]\nfile = [\"sb.fw\", \"mp.fw\"]\n";
    let one = folder(config);
    one.run(&["ci", "--update"]).exits(2).complains("different verdicts under TSO (sb.fw, mp.fw)");
    assert_eq!(one.read("fencewright.toml"), config);
    // An expectation is not given up for a limit, and a fence is not removed from a program.
    let config = "[[program]]\nfile = \"endless.fw\"\nengine = \"explicit\"\nstates = 50\n";
    let one = folder(config);
    one.run(&["ci", "--update"]).exits(3);
    assert_eq!(one.read("fencewright.toml"), config);
    let config = "[[program]]\nfile = \"fenced.fw\"\n";
    let one = folder(config);
    one.run(&["ci", "--update"]).exits(1);
    assert_eq!(one.read("fencewright.toml"), config);
    // Tables in a list.
    let config = "program = [{ file = \"sb.fw\" }]\n";
    let one = folder(config);
    one.run(&["ci"]).exits(1);
    one.run(&["ci", "--update"]).exits(2).complains("not written as [[program]]");
    assert_eq!(one.read("fencewright.toml"), config);
}

#[test]
fn the_example_of_the_book_works() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read =
        |name: &str| std::fs::read_to_string(root.join(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let page = read("docs/ci.md");
    let example =
        page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let folder = folder(example);
    folder.write("locks/peterson.fw", read("corpus/peterson_fenced.fw"));
    folder.write("locks/broken_peterson.fw", read("corpus/peterson.fw"));
    let ring = "const N = 1; shared x; thread P(i in 0..N) { x = x + 1; } finally x != 1;";
    folder.write("queues/ring.fw", ring);
    // Of three updates, two can be lost, under SC as well.
    let ran = folder.run(&["ci"]).exits(1).says("queues/ring.fw: expected safe under SC, found unsafe");
    ran.says("6 as expected, 2 changed");
    folder.write("queues/ring.fw", ring.replace("x != 1", "x <= N"));
    folder.run(&["ci"]).exits(0).says("8 as expected\n");
}

#[test]
fn what_this_project_expects_of_itself_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let ran = run(root, &["ci"], b"").exits(0);
    assert_eq!(ran.err, "");
    let count = ran.out.lines().filter(|line| line.ends_with("  ok")).count();
    ran.says(&format!("\n{count} as expected\n"));
}
