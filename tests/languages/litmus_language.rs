//! What each instruction and each part of a question means, by the final states it gives.

use crate::explore::{Explorer, Limits, Model, truth};
use frontend::{FRONTENDS, Options, Parsed, Severity};
use program::Source;

fn read(text: &str, observe_all: bool) -> Result<Parsed, Vec<frontend::Diagnostic>> {
    let litmus = FRONTENDS.iter().find(|f| f.name == "litmus").expect("registered");
    assert!((litmus.recognises)(text), "not recognised: {text}");
    (litmus.read)(Source::new("test.litmus", text), &Options { observe_all, ..Options::default() })
}

/// The final states over what the test observes.
fn outcomes(text: &str, model: Model, eager: bool) -> Vec<String> {
    let parsed = read(text, false).unwrap_or_else(|errors| panic!("{errors:?}\n{text}"));
    let limits = Limits { states: 1_000_000, queue: usize::MAX, eager };
    let explorer = Explorer::new(&parsed.program, model, limits);
    let explored = explorer.run(&|_| false);
    assert!(!explored.out_of_budget);
    explorer.outcomes(&explored).iter().map(|items| items.join(" ")).collect()
}

/// Whether the proposition is true in every final state.
fn always(text: &str) -> bool {
    let program = read(text, false).unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program;
    let limits = Limits { states: 1_000_000, queue: usize::MAX, eager: true };
    let explorer = Explorer::new(&program, Model::Tso, limits);
    let cond = &program.question.as_ref().expect("a question").cond;
    let finals = explorer.run(&|_| false).finals;
    finals.iter().all(|state| truth(cond, &|place| explorer.place(state, place)))
}

#[track_caller]
fn check(text: &str, model: Model, expected: &[&str]) {
    assert_eq!(outcomes(text, model, true), expected, "{model:?} {text}");
    assert_eq!(outcomes(text, model, false), expected, "unreduced {model:?} {text}");
}

/// One thread of 32-bit code, one final state.
#[track_caller]
fn runs(init: &str, code: &[&str], expected: &str) {
    let observed: Vec<&str> =
        expected.split_whitespace().map(|item| item.split('=').next().unwrap()).collect();
    let rows: String = code.iter().map(|row| format!(" {row} ;\n")).collect();
    let text =
        format!("X86 one\n{{ {init} }}\n P0 ;\n{rows}locations [{};]\nforall true\n", observed.join(";"));
    check(&text, Model::Tso, &[expected]);
}

#[track_caller]
fn refuses(text: &str, line: usize, message: &str) {
    let errors = match read(text, false) {
        Ok(_) => panic!("accepted: {text}"),
        Err(errors) => errors,
    };
    let source = Source::new("test.litmus", text);
    let found: Vec<_> = errors.iter().map(|e| (source.line(e.span), e.message.clone())).collect();
    assert!(found.iter().any(|(at, m)| *at == Some(line) && m.contains(message)), "{found:?}");
}

#[test]
fn plain_instructions() {
    runs("", &["MOV EAX,$5", "MOV [x],EAX", "MOV EBX,[x]"], "0:EAX=5; 0:EBX=5; [x]=5;");
    runs("x=3; 0:EAX=4", &["ADD EAX,[x]", "SUB [x],EAX"], "0:EAX=7; [x]=-4;");
    runs("0:EAX=12; 0:EBX=10", &["AND EAX,EBX", "OR EBX,$5", "XOR ECX,$3"], "0:EAX=8; 0:EBX=15; 0:ECX=3;");
    runs("0:EAX=7", &["XOR EAX,EAX", "INC EAX", "INC EAX", "DEC EAX"], "0:EAX=1;");
    runs("0:EAX=1; 0:EBX=2", &["XCHG EAX,EBX"], "0:EAX=2; 0:EBX=1;");
    runs("x=1; 0:EBX=2", &["XCHG EBX,[x]"], "0:EBX=1; [x]=2;");
    runs("x=1; 0:EBX=2", &["LOCK XADD [x],EBX"], "0:EBX=1; [x]=3;");
    runs("x=1; 0:EBX=2", &["XADD [x],EBX"], "0:EBX=1; [x]=3;");
    runs("x=1; 0:EAX=1; 0:EBX=9", &["LOCK CMPXCHG [x],EBX"], "0:EAX=1; [x]=9;");
    runs("x=2; 0:EAX=1; 0:EBX=9", &["LOCK CMPXCHG [x],EBX"], "0:EAX=2; [x]=2;");
    runs("0:EAX=5", &["MOV EBX,-1", "PAUSE", "LFENCE", "SFENCE", "MFENCE", "NOP"], "0:EBX=-1;");
    runs("", &["MOV DWORD PTR [x],$3"], "[x]=3;");
    runs("", &["MOV EBX,$0xffffffff", "INC EBX"], "0:EBX=0;");
}

/// Runs `JUMP` after comparing `a` with `b` (and with other instructions in between); taken?
#[track_caller]
fn jumps(a: i64, b: i64, jump: &str, taken: bool) {
    let expected = format!("0:ECX={};", i64::from(!taken));
    let init = format!("0:EAX={a}; 0:EBX={b}; x={a}");
    let (jump, not_taken) = (format!("{jump} L"), "MOV ECX,$1");
    runs(&init, &["CMP EAX,EBX", &jump, not_taken, "L:"], &expected);
    runs(&init, &["CMP EAX,EBX", "MOV EAX,$77", "NOP", &jump, not_taken, "L:"], &expected);
    runs(&init, &["CMP [x],EBX", &jump, not_taken, "L:"], &expected);
    runs(&init, &["CMP [x],EBX", "MOV [x],$55", &jump, not_taken, "L:"], &expected);
    runs(&init, &["SUB EAX,EBX", &jump, not_taken, "L:"], &expected);
    runs(&init, &["SUB [x],EBX", &jump, not_taken, "L:"], &expected);
    runs(&init, &["LOCK SUB [x],EBX", "MOV EBX,$3", &jump, not_taken, "L:"], &expected);
}

#[test]
fn comparisons_and_jumps() {
    for (a, b) in [(1, 1), (1, 2), (2, 1), (-1, 1), (1, -1), (-2, -1)] {
        let (ua, ub) = (a as u32, b as u32);
        let table = [
            ("JE", a == b),
            ("JNE", a != b),
            ("JL", a < b),
            ("JLE", a <= b),
            ("JG", a > b),
            ("JGE", a >= b),
            ("JB", ua < ub),
            ("JBE", ua <= ub),
            ("JA", ua > ub),
            ("JAE", ua >= ub),
            ("JS", a - b < 0),
            ("JNS", a - b >= 0),
        ];
        for (jump, taken) in table {
            jumps(a, b, jump, taken);
        }
    }
}

#[test]
fn results_set_flags_too() {
    runs("0:EAX=1", &["DEC EAX", "JE L", "MOV ECX,$1", "L: NOP"], "0:ECX=0;");
    runs("x=1", &["LOCK DEC [x]", "JNS L", "MOV ECX,$1", "L:"], "0:ECX=0;");
    runs("x=0", &["LOCK DEC [x]", "NOP", "JNS L", "MOV ECX,$1", "L:"], "0:ECX=1;");
    runs("0:EAX=2", &["TEST EAX,EAX", "JNE L", "MOV ECX,$1", "L:"], "0:ECX=0;");
    runs("0:EAX=2", &["TEST EAX,$1", "JA L", "MOV ECX,$1", "L:"], "0:ECX=1;");
    runs("0:EAX=2", &["AND EAX,$2", "JBE L", "MOV ECX,$1", "L:"], "0:ECX=1;");
    runs("x=1; 0:EBX=2", &["LOCK CMPXCHG [x],EBX", "JE L", "MOV ECX,$1", "L:"], "0:ECX=1;");
    runs("x=0; 0:EBX=2", &["LOCK CMPXCHG [x],EBX", "JE L", "MOV ECX,$1", "L:"], "0:ECX=0; [x]=2;");
    runs("x=1; 0:EBX=-1", &["LOCK XADD [x],EBX", "JE L", "MOV ECX,$1", "L:"], "0:EBX=1; 0:ECX=0; [x]=0;");
    runs("", &["MOV EAX,$3", "L: INC EBX", "DEC EAX", "JNE L"], "0:EAX=0; 0:EBX=3;");
    runs("", &["JMP L", "MOV EAX,$1", "L: MOV EBX,$1"], "0:EAX=0; 0:EBX=1;");
}

#[test]
fn plain_arithmetic_on_memory_is_not_atomic_and_locked_is() {
    let test = |row: &str| format!("X86 inc\n{{}}\n P0 | P1 ;\n {row} | {row} ;\nexists x=2");
    for model in Model::ALL {
        check(&test("INC [x]"), model, &["[x]=1;", "[x]=2;"]);
        check(&test("LOCK INC [x]"), model, &["[x]=2;"]);
        check(&test("LOCK ADD [x],$1"), model, &["[x]=2;"]);
    }
}

#[test]
fn fences_and_locked_instructions_drain() {
    let test = |row: &str| {
        format!(
            "X86_64 SB\n{{}}\n P0 | P1 ;\n movl $1,(x) | movl $1,(y) ;\n {row} | {row} ;\n \
             movl (y),%eax | movl (x),%eax ;\nexists (0:eax=0 /\\ 1:rax=0)"
        )
    };
    let relaxed = ["0:rax=0; 1:rax=0;", "0:rax=0; 1:rax=1;", "0:rax=1; 1:rax=0;", "0:rax=1; 1:rax=1;"];
    for row in ["nop", "sfence", "lfence"] {
        check(&test(row), Model::Tso, &relaxed);
        check(&test(row), Model::Pso, &relaxed);
        check(&test(row), Model::Sc, &relaxed[1..]);
    }
    for row in ["mfence", "xchgl %ebx,(z)", "lock incl (z)", "lock cmpxchgl %ecx,(z)"] {
        check(&test(row), Model::Tso, &relaxed[1..]);
        check(&test(row), Model::Pso, &relaxed[1..]);
    }
    let mp = |row: &str| {
        format!(
            "X86 MP\n{{}}\n P0 | P1 ;\n MOV [x],$1 | MOV EAX,[y] ;\n {row} | NOP ;\n MOV [y],$1 | \
             MOV EBX,[x] ;\nexists (1:EAX=1 /\\ 1:EBX=0)"
        )
    };
    assert_eq!(outcomes(&mp("NOP"), Model::Pso, true).len(), 4);
    assert_eq!(outcomes(&mp("SFENCE"), Model::Pso, true).len(), 3);
    assert_eq!(outcomes(&mp("NOP"), Model::Tso, true).len(), 3);
}

#[test]
fn a_failing_compare_exchange_drains_too() {
    let text = "X86 sb\n{ z=5; }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n LOCK CMPXCHG [z],EBX | MFENCE ;\n \
                MOV ECX,[y] | MOV EAX,[x] ;\nexists (0:ECX=0 /\\ 1:EAX=0)";
    assert!(!outcomes(text, Model::Tso, true).contains(&"0:ECX=0; 1:EAX=0;".to_string()));
}

#[test]
fn headers_values_tables_and_questions() {
    let text = "X86_64 all of it\n\"a remark { with braces }\"\nKey=Value { not in a string\n";
    assert!(read(text, false).is_err(), "a brace outside strings starts the values");
    let text = "(* first *)\nX86_64 all+of it\n\"a remark { with braces }\"\nCycle=Fre PodWR\n(* { *)\n{\n\
                uint64_t x; int y = 2; [z]=0x10; int64_t t[2]={1,-1}; 0:rax=t; P1:rbx=3; uint64_t 1:rcx;\n}\n \
                P0 | P1 ;\n movq 8(%rax),%rcx | movq (x),%rdx ;\n | LOOP: ;\n ret | movq %rbx,x(%rip) ;\n\n\
                locations [x; 1:rdx; t[0]; y int;]\nfilter not (z=17 \\/ false)\n\
                ~exists (0:rcx=-1 => x=2) /\\ true\n<<\nremarks here\n>>\n";
    let parsed = read(text, false).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(parsed.program.name, "all+of it");
    let question = parsed.program.question.clone().expect("a question");
    let names: Vec<&str> = question.observed.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["0:rcx", "1:rdx", "[x]", "[y]", "t[0]"]);
    assert_eq!(question.quantifier, program::Quantifier::NotExists);
    check(text, Model::Tso, &["0:rcx=-1; 1:rdx=0; [x]=3; [y]=2; t[0]=1;"]);
    let everything = read(text, true).expect("readable").program.question.expect("a question");
    let names: Vec<&str> = everything.observed.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["0:rcx", "1:rdx", "[x]", "[y]", "[z]", "t[0]", "t[1]"]);
}

#[test]
fn addresses_are_followed_through_registers() {
    let text = "X86 a\n{ 0:EAX=x; }\n P0 ;\n MOV EBX,EAX ;\n MOV [EBX],$4 ;\n MOV ECX,$y ;\n MOV EDX,[ECX] ;\n\
                 XOR ESI,ESI ;\n MOV [x+0],$5 ;\nforall ([x]=5 /\\ 0:EDX=0)";
    check(text, Model::Tso, &["0:EDX=0; [x]=5;"]);
    let row = |row: &str| format!("X86 a\n{{ 0:EAX=x; }}\n P0 ;\n {row} ;\nforall true");
    refuses(&row("ADD EAX,$4"), 4, "`ADD` computes with an address in `EAX`");
    refuses(&row("MOV [y],EAX"), 4, "`MOV` computes with an address in `EAX`");
    refuses(&row("MOV EBX,[EAX+2]"), 4, "not the start of a cell");
    refuses(&row("MOV EBX,[ECX]"), 4, "belongs to no location");
    refuses(&row("MOV EBX,[EAX+4]"), 4, "beside the cells of `x`");
    refuses(&row("MOV EBX,[EAX-4]"), 4, "beside the cells of `x`");
    refuses(&row("MOV AL,$1 ;\n MOV [y],AL"), 5, "`MOV` computes with an address in `EAX`");
    refuses(&row("MOV BL,AL ;\n MOV [y],BL"), 5, "`MOV` computes with an address in `EBX`");
    refuses(&row("MOV EBX,[AX]"), 4, "an address is a register of 32 bits");
    let row = |row: &str| format!("X86_64 a\n{{ int t[2]; 0:rax=t; }}\n P0 ;\n {row} ;\nforall true");
    refuses(&row("movl %eax,%ebx ;\n movl (%rbx),%ecx"), 5, "not known before the test runs");
    refuses(&row("movl $-1,%ebx ;\n movl 4(%rax,%rbx,4),%ecx"), 5, "beside the cells of `t`");
    assert!(
        read(&row("movq $-1,%rbx ;\n movl %ecx,4(%rax,%rbx,4)"), false).is_err(),
        "64 and 32 bits, and -1"
    );
    assert!(read(&row("movl $t,%ebx ;\n movl 4(%rbx),%ecx"), false).is_ok());
    let text = "X86 a\n{ 0:EAX=x; }\n P0 ;\n NOP ;\nlocations [0:EAX; 0:EBX;]\nforall 0:EAX=x";
    let parsed = read(text, false).expect("readable");
    assert_eq!(parsed.warnings.len(), 1, "{:?}", parsed.warnings);
    assert!(parsed.warnings[0].message.contains("is not listed"));
}

#[test]
fn an_access_stays_within_its_cell() {
    let test =
        |init: &str, row: &str| format!("X86_64 wide\n{{ {init} 0:rax=t; }}\n P0 ;\n {row} ;\nforall true");
    let ints = "int t[2]={1,2};";
    refuses(&test(ints, "movq (%rax),%rcx"), 4, "`movq` takes 8 bytes at `t`, whose cells have 4 bytes");
    refuses(&test(ints, "movq $5,(%rax)"), 4, "`movq` takes 8 bytes at `t`, whose cells have 4 bytes");
    refuses(&test(ints, "movl 2(%rax),%ecx"), 4, "an address in `t` that is not the start of a cell");
    refuses(&test(ints, "movb 1(%rax),%cl"), 4, "an address in `t` that is not the start of a cell");
    refuses(&test(ints, "movl 8(%rax),%ecx"), 4, "an address beside the cells of `t`");
    refuses(&test("uint8_t t[2]={1,2};", "movw (%rax),%cx"), 4, "whose cells have 1 byte");
    refuses(
        &test("int t=1;", "lock xaddq %rcx,(t)"),
        4,
        "`xaddq` takes 8 bytes at `t`, whose cell has 4 bytes",
    );
    refuses(&test("uint16_t t;", "lock incl t(%rip)"), 4, "whose cell has 2 bytes");
    refuses(&test("short int t;", "cmpl $1,t"), 4, "whose cell has 2 bytes");
    refuses(&test("quad_t t;", "nop"), 2, "the size of the type `quad_t` is not known");
    // Without a type, a location is as wide as its accesses; unreached code accesses nothing.
    check(&test("t=3;", "movq t,%rcx").replace("forall true", "forall 0:rcx=3"), Model::Tso, &["0:rcx=3;"]);
    assert!(read(&test(ints, "jmp L ;\n movq (%rax),%rcx ;\n L:"), false).is_ok());
    let long = |arch: &str| {
        format!("{arch} long\n{{ unsigned long t[2]={{1,2}}; }}\n P0 ;\n MOV ECX,[t+4] ;\nforall true")
    };
    assert!(read(&long("X86"), false).is_ok(), "4 bytes");
    refuses(&long("X86_64").replace("ECX,[t+4]", "[t+4],%ecx"), 4, "not the start of a cell");
}

#[test]
fn registers_have_the_size_of_their_machine() {
    let test = |init: &str, row: &str, prop: &str| {
        format!("X86_64 words\n{{ {init} }}\n P0 ;\n {row} ;\nlocations [x; 0:rax;]\nforall {prop}")
    };
    // 32 bits clear the upper half.
    let minus = test("int x=-1;", "movl x,%eax", "0:rax=0xffffffff /\\ 0:eax=-1 /\\ ~0:rax=-1 /\\ x=-1");
    check(&minus, Model::Tso, &["0:rax=4294967295; [x]=-1;"]);
    assert!(always(&minus) && !always(&minus.replace("~0:rax", "0:rax")));
    let minus = test("int64_t x=-1;", "movq x,%rax", "0:rax=-1 /\\ 0:rax=0xffffffffffffffff");
    check(&minus, Model::Tso, &["0:rax=-1; [x]=-1;"]);
    assert!(always(&minus) && !always(&minus.replace("=-1 /", "=0xffffffff /")));
    let minus = test("0:eax=-1;", "movl %eax,x", "0:eax=-1 /\\ x=-1");
    check(&minus, Model::Tso, &["0:rax=4294967295; [x]=-1;"]);
    // A part that the test names counts as a size.
    refuses(&test("", "movl $257,%eax", "0:al=1"), 4, "does not fit the 8 bits");
    refuses(&test("0:rax=-1;", "movl %eax,x", "true"), 2, "does not fit the 32 bits");
    refuses(&test("int64_t x=-1;", "movl $1,x", "true"), 2, "does not fit the 32 bits");
    refuses(&test("uint8_t x=300;", "nop", "true"), 2, "the value 300 does not fit the 8 bits of `x`");
    refuses(&test("int x=-1;", "movl x,%eax", "0:rax=[x]"), 6, "places of different sizes");
    let row = |row: &str| format!("X86 a\n{{ }}\n P0 ;\n {row} ;\nforall true");
    refuses(&row("MOV RAX,[x]"), 4, "`MOV` uses 64 bits in a test for 32 bits");
}

#[test]
fn compare_exchange_in_both_orders() {
    for row in
        ["lock cmpxchgq (x),%rdx", "lock cmpxchgq %rdx,(x)", "lock cmpxchg %rdx,x", "lock cmpxchg x,%rdx"]
    {
        let text = format!(
            "X86_64 cas\n{{ uint64_t x=1; 0:rax=1; 0:rdx=7; }}\n P0 ;\n {row} ;\nforall (0:rax=1 /\\ 0:rdx=7 /\\ x=7)"
        );
        check(&text, Model::Tso, &["0:rax=1; 0:rdx=7; [x]=7;"]);
        let text = text.replace("t x=1;", "t x=3;");
        check(&text, Model::Tso, &["0:rax=3; 0:rdx=7; [x]=3;"]);
    }
    let row = |row: &str| format!("X86_64 cas\n{{ }}\n P0 ;\n {row} ;\nforall true");
    refuses(&row("cmpxchgq %rcx,%rdx"), 4, "read them in different orders");
    refuses(&row("cmpxchgq (x),%rdx"), 4, "without `LOCK`");
}

#[test]
fn what_cannot_be_read_is_named() {
    let row = |row: &str| format!("X86 bad\n{{}}\n P0 ;\n {row} ;\nforall true");
    refuses(&row("SHL EAX,$1"), 4, "the instruction `SHL` is not supported");
    refuses(&row("MOVNTI [x],EAX"), 4, "the instruction `MOVNTI` is not supported");
    refuses(&row("LOCK MOV [x],EAX"), 4, "`LOCK` cannot stand before this `MOV`");
    refuses(&row("LOCK INC EAX"), 4, "`LOCK` cannot stand before this `INC`");
    refuses(&row("CMPXCHG [x],EBX"), 4, "without `LOCK`");
    refuses(&row("MOV AH,$1"), 4, "second byte");
    refuses(&row("MOV EAX,BX"), 4, "different sizes");
    refuses(&row("MOV [x],[y]"), 4, "does not take these operands");
    refuses(&row("JE L"), 4, "no label of this thread");
    refuses(&row("L: JE L"), 4, "flags that no instruction has set");
    refuses(&row("MOV EAX,$0x1ffffffff"), 4, "does not fit the 32 bits");
    refuses(&row("MOV EAX,$0x7fffffff ;\n INC EAX"), 5, "`INC` may leave the range of 32 bits");
    refuses(&row("MOV AL,$200 ;\n MOV EBX,EAX"), 4, "does not fit the 8 bits");
    refuses(&row("MOV AL,$2 ;\n DEC EAX"), 5, "`DEC` may leave the range of 8 bits");
    refuses(&row("INC EAX ;\n JC L ;\n L:"), 5, "carry");
    refuses(&row("MOV EAX,$1 | MOV EAX,$2"), 4, "this row has 2 cells, but there are 1 threads");
    refuses("X86 bad\n{ 3:EAX=1; }\n P0 ;\n NOP ;\nforall true", 2, "there is no thread P3");
    refuses("X86 bad\n{ }\n P0 ;\n NOP ;\nforall 1:EAX=1", 5, "there is no thread P1");
    refuses("X86 bad\n{ }\n P0 ;\n NOP ;\nexists 0:EAX", 5, "expected `=`");
    refuses("X86 bad\n{ x=1; x=2; }\n P0 ;\n NOP ;\nexists true", 2, "twice");
    refuses("X86 bad\n{ }\n P0 ;\n A: NOP ;\n A: NOP ;\nexists true", 5, "set twice");
    assert!(read("X86 bad\n{}\n P0 ;\n FOO ;\n BAR ;\nforall true", false).is_err_and(|e| e.len() == 2));
}

#[test]
fn small_values_may_use_several_sizes() {
    let text = "X86_64 sizes\n{}\n P0 ;\n movb $3,(x) ;\n movl (x),%eax ;\n movw %ax,(y) ;\nforall (0:rax=3 /\\ y=3)";
    check(text, Model::Tso, &["0:rax=3; [y]=3;"]);
}

#[test]
fn arithmetic_in_a_loop_is_a_warning() {
    let text = "X86 spin\n{ l=1; }\n P0 ;\n A: LOCK DEC [l] ;\n JNS C ;\n S: CMP [l],$0 ;\n JLE S ;\n JMP A ;\n C: NOP ;\nforall true";
    let parsed = read(text, false).unwrap_or_else(|errors| panic!("{errors:?}"));
    assert_eq!(parsed.warnings.len(), 1);
    assert_eq!(parsed.warnings[0].severity, Severity::Warning);
}
