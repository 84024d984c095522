//! `fencewright.toml` that is wrong: refused with the line, and with what was perhaps meant.

use super::tool::{Folder, MP, Ran};

/// A configuration that is refused with all of these texts.
fn refused(config: impl AsRef<[u8]>, parts: &[&str]) -> Ran {
    let folder = Folder::new();
    folder.write("mp.fw", MP).write("fencewright.toml", config);
    let ran = folder.run(&["ci"]).exits(2);
    for part in parts {
        assert!(ran.err.contains(part), "`{part}` is missing: {}", ran.err);
    }
    assert!(!ran.err.contains("bug"), "{ran:?}");
    let json = folder.run(&["ci", "--format", "json"]).exits(2);
    assert_eq!(json.json()[0]["verdict"], "error", "{json:?}");
    assert_eq!(json.err, "");
    let update = folder.run(&["ci", "--update"]).exits(2);
    assert_eq!(update.err, ran.err);
    ran
}

#[test]
fn unknown_keys_have_their_line_and_a_suggestion() {
    refused(
        "[[program]]\nfiel = \"mp.fw\"\n",
        &["fencewright.toml:2:1", "no key `fiel`", "did you mean `file`?"],
    );
    refused(
        "[defaults]\n\nmodel = [\"tso\"]\n",
        &["fencewright.toml:3:1", "no key `model`", "did you mean `models`?"],
    );
    refused("[default]\nmodels = [\"tso\"]\n", &["fencewright.toml:1:2", "did you mean `defaults`?"]);
    refused("[[programs]]\nfile = \"mp.fw\"\n", &["fencewright.toml:1:3", "did you mean `program`?"]);
    refused("colour = 1\n", &["fencewright.toml:1:1", "no key `colour`", "defaults, program, fences"]);
    refused(
        "[[fences]]\nfile = \"mp.fw\"\nmodel = \"tso\"\nplaces = [{ behind = \"x\" }]\n",
        &["fencewright.toml:4:", "no key `behind`"],
    );
}

#[test]
fn unknown_names_have_their_line_and_a_suggestion() {
    let program = |more: &str| format!("[[program]]\nfile = \"mp.fw\"\n{more}\n");
    refused(program("models = [\"tos\"]"), &["toml:3:11", "no model `tos`", "did you mean `tso`?"]);
    refused(program("expect = { tsso = \"safe\" }"), &["toml:3:", "no model `tsso`", "did you mean `tso`?"]);
    refused(program("expect = \"save\""), &["toml:3:10", "no value `save`", "did you mean `safe`?"]);
    refused(program("expect = { tso = \"usafe\" }"), &["toml:3:", "no value `usafe`"]);
    refused(
        program("engine = \"explict\""),
        &["toml:3:10", "no engine `explict`", "did you mean `explicit`?"],
    );
    refused(
        program("fences = \"checked\""),
        &["toml:3:10", "no value `checked`", "did you mean `unchecked`?"],
    );
    let fences = "[[fences]]\nfile = \"mp.fw\"\nplaces = []\n";
    refused(format!("{fences}model = \"arm\"\n"), &["toml:4:9", "no model `arm`", "sc, tso, pso"]);
    refused(format!("{fences}model = \"tso\"\ncost = \"full=0\"\n"), &["toml:5:8", "is not a cost"]);
}

#[test]
fn values_of_the_wrong_kind_are_refused() {
    let program = |more: &str| format!("[[program]]\nfile = \"mp.fw\"\n{more}\n");
    refused("[[program]]\nfile = 7\n", &["toml:2:8", "a file, a pattern"]);
    refused("[[program]]\nfile = []\n", &["toml:2:8", "there is no file in this list"]);
    refused("[[program]]\nexpect = \"safe\"\n", &["toml:1:", "`file` is missing"]);
    refused("program = 3\n", &["toml:1:"]);
    refused(program("timeout = -1"), &["toml:3:11", "not a time that can pass"]);
    refused(program("timeout = nan"), &["toml:3:11", "not a time that can pass"]);
    refused(program("timeout = \"soon\""), &["toml:3:11"]);
    refused(program("states = 0"), &["toml:3:10", "not a number from 1 on"]);
    refused(program("buffer = -5"), &["toml:3:10", "not a number from 1 on"]);
    refused(program("define = { N = 1.5 }"), &["toml:3:", "an integer"]);
    refused(program("define = { N = \"x\" }"), &["toml:3:", "`x` is not an integer"]);
    refused(program("expect = {}"), &["toml:2:8", "nothing is expected of this program"]);
    refused(program("models = []"), &["toml:2:8", "nothing is expected of this program"]);
    refused(
        program("models = [\"sc\"]\nexpect = { tso = \"safe\" }"),
        &["toml:4:10", "would say them again", "remove `models`"],
    );
    refused("[defaults]\nmemory = 0\n[[program]]\nfile = \"mp.fw\"\n", &["toml:2:10", "from 1 on"]);
    let fences = |place: &str| format!("[[fences]]\nfile = \"mp.fw\"\nmodel = \"tso\"\nplaces = [{place}]\n");
    refused(fences("{ line = 3 }"), &["toml:4:11", "either `after` or `before`"]);
    refused(fences("{ after = \"x\", before = \"y\" }"), &["toml:4:11", "either `after` or `before`"]);
    refused(fences("{ after = \"x\", kind = \"half\" }"), &["toml:4:", "no value `half`"]);
}

#[test]
fn texts_that_are_no_toml_are_refused() {
    refused("", &["nothing is expected here"]);
    refused("# only a remark\n", &["nothing is expected here"]);
    refused("[[program]\n", &["fencewright.toml:1:"]);
    refused("[[program]]\nfile = \"mp.fw\"\nfile = \"mp.fw\"\n", &["fencewright.toml:3:1"]);
    refused("[[program]]\nfile = \"mp.fw\n", &["fencewright.toml:2:"]);
    refused(b"[[program]]\nfile = \"\xff\"\n", &["byte 21 is not UTF-8"]);
    refused("\u{0}\u{1}\u{1b}[31m", &["fencewright.toml:1:"]);
    refused(format!("x = {}", "[".repeat(100_000)), &["nested too deeply"]);
    refused(format!("{} = 1", vec!["x"; 50_000].join(".")), &["nested too deeply"]);
    refused(format!("{} = 1\n", "k".repeat(1_000_000)), &["no key `kkk"]);
    refused(vec![b'#'; (16 << 20) + 1], &["larger than 16 MB"]);
}

#[test]
fn a_folder_is_no_configuration() {
    let folder = Folder::new();
    folder.write("fencewright.toml/x", "");
    folder.run(&["ci"]).exits(2).complains("this is a folder");
    folder.run(&["ci", "--config", "no/such.toml"]).exits(2).complains("no/such.toml: there is no such file");
}
