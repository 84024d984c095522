//! What programs are refused.

use program::{Cond, Place, Program, Quantifier, Question, Source, Span, ThreadBuilder, ThreadId, VarId};

#[test]
fn a_question_speaks_of_what_exists() {
    let mut program = Program::new("p", Source::default());
    let mut thread = ThreadBuilder::new("P0");
    let register = thread.register("r");
    program.threads.push(thread.finish().expect("valid"));
    let ask = |place: Place| Question {
        quantifier: Quantifier::Exists,
        cond: Cond::TRUE,
        filter: Cond::TRUE,
        observed: vec![("place".to_string(), place)],
        span: Span::NONE,
    };
    program.question = Some(ask(Place::Register(ThreadId::new(0), register)));
    assert_eq!(program.validate(), Ok(()));
    program.question = Some(ask(Place::Memory(VarId::new(0))));
    assert!(program.validate().is_err());
}
