//! States with registers that nothing reads any more: more states, the same answers, and proofs that say so.

use super::{MOST_STATES, scattered_or_replicas};
use engine::{Answer, Engine, Explicit, Reduction, Run};
use evidence::{Certificate, Form, Ignore, MostStates, Task, Verdict, check, check_file, write_evidence};
use machine::{MODELS, Model};
use program::Program;
use std::io::{self, BufRead, Cursor};
use support::random::seeds;

fn explored(program: &Program, model: Model, reduction: Reduction, dead_registers: bool) -> Answer {
    let monitor = &MostStates(MOST_STATES);
    let run = Run { monitor, reduction, dead_registers, max_buffer: Some(8), ..Run::default() };
    Explicit.verify(&Task::safe(program, model), &run)
}

#[test]
fn dead_registers_change_no_answer() {
    let (mut judged, mut more, mut refused) = (0, 0, 0);
    for seed in 0..2 * seeds() {
        let program = scattered_or_replicas(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let reductions = Reduction::ALL;
        let reduction = reductions[seed as usize / 2 % reductions.len()].0;
        let (live, dead) =
            (explored(&program, model, reduction, false), explored(&program, model, reduction, true));
        if matches!(live.verdict, Verdict::Unknown(_)) || matches!(dead.verdict, Verdict::Unknown(_)) {
            continue;
        }
        assert_eq!(live.verdict.word(), dead.verdict.word(), "seed {seed}: {}", program::print(&program));
        judged += 1;
        more += usize::from(dead.statistics.states > live.statistics.states);
        let task = Task::safe(&program, model);
        if let Verdict::Safe(Certificate::Reduced(proof)) = &dead.verdict {
            assert!(proof.rules.dead_registers);
            let mut file = Vec::new();
            write_evidence(&task, &dead.verdict, Form::Text, &mut file).expect("writable");
            let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(file.clone()))) };
            assert!(check_file(&program, &open, 1 << 24, &Ignore).is_ok(), "seed {seed}");
        } else {
            assert!(matches!(dead.verdict, Verdict::Unsafe(_)), "seed {seed}");
        }
        assert!(check(&task, dead.verdict, &Ignore).is_ok(), "seed {seed}");
        // Without the line the states are not those of the machine, unless no register is ever dead.
        if let Verdict::Safe(Certificate::Reduced(mut proof)) =
            explored(&program, model, reduction, true).verdict
        {
            proof.rules.dead_registers = false;
            refused +=
                usize::from(check(&task, Verdict::Safe(Certificate::Reduced(proof)), &Ignore).is_err());
        }
    }
    println!("{judged} judged, {more} with more states, {refused} refused without the line");
    assert!(
        judged > 50 && more * 5 > judged && refused > 20,
        "{judged} judged, {more} with more, {refused} refused"
    );
}
