//! A lossy channel that carries data, as two threads with store buffers [002, sec. 5, Fig. 3].
//!
//! Thread T sends a message `(a, v)` by storing v to `x_a` and then a separator; thread C copies what it sees from
//! `x_a` to `y_a`, value and separator, into its own buffer, which is the channel; T receives by loading a value from `y_a` and
//! then the separator. Values that nobody loads in time are lost. Nothing but equality of values is looked at.
//!
//! The member of size n sends n messages with fresh values and then receives them: *in order* that is
//! possible, *reversed* it is not, because the channel keeps its order. Under SC nothing is in
//! a buffer, so the channel holds one message. Under PSO messages with different letters overtake each other, and
//! only those of the same letter stay in order.

use crate::{Family, Generated, KnownAnswer, sized};
use std::fmt::Write;

/// The family.
#[derive(Clone, Copy, Debug)]
pub struct LossyChannel {
    /// How many messages are sent.
    pub messages: usize,
    /// How many letters they take turns in.
    pub letters: usize,
    /// Whether the last is to be received first.
    pub reversed: bool,
}

impl Family for LossyChannel {
    fn generate(&self) -> Result<Generated, String> {
        let messages = sized("messages", self.messages, 1, 64)?;
        let letters = sized("letters", self.letters, 1, messages.min(16))?;
        let reversed = self.reversed;
        if reversed && messages == 1 {
            return Err("one message has no other order".to_string());
        }
        let order = if reversed { "in the reverse order" } else { "in this order" };
        // Same letters stay in order under PSO; there are some if there are more messages than letters.
        let expected = [
            KnownAnswer::new("sc", reversed || messages > 1),
            KnownAnswer::new("tso", reversed),
            KnownAnswer::new("pso", reversed && messages > letters),
        ];
        Ok(Generated {
            name: format!("dlcs{messages}"),
            about: vec![
                format!("A lossy channel with data: {messages} messages of {letters} letters are sent,"),
                format!("then received {order}."),
            ],
            expected: expected.to_vec(),
            text: self.text(letters),
        })
    }
}

impl LossyChannel {
    fn text(&self, letters: usize) -> String {
        let names = |prefix: &str, count: usize| {
            (0..count).map(|at| format!("{prefix}{at}")).collect::<Vec<_>>().join(", ")
        };
        let mut text = format!("shared {}, {};\n\nthread C {{\n", names("x", letters), names("y", letters));
        let _ = writeln!(text, "    let separator, seen;\n    separator = any; assume separator != 0;");
        for letter in 0..letters {
            let _ = writeln!(text, "    arw(x{letter}, 0, separator); arw(y{letter}, 0, separator);");
        }
        let copy = |letter: usize| {
            format!(
                "{{ seen = x{letter}; assume seen != separator; y{letter} = seen; \
                 seen = x{letter}; assume seen == separator; y{letter} = seen; }}"
            )
        };
        let copies: Vec<String> = (0..letters).map(copy).collect();
        let _ = writeln!(text, "    loop {{\n        choose {}\n    }}\n}}\n", copies.join("\n        or "));
        let _ = writeln!(text, "thread T {{\n    let separator, seen, {};", names("v", self.messages));
        for letter in 0..letters {
            for variable in ["x", "y"] {
                let _ = writeln!(text, "    separator = {variable}{letter}; assume separator != 0;");
            }
        }
        (0..self.messages).for_each(|at| self.send(at, letters, &mut text));
        let mut wanted: Vec<usize> = (0..self.messages).collect();
        if self.reversed {
            wanted.reverse();
        }
        for at in wanted {
            let letter = at % letters;
            let _ = writeln!(text, "    seen = y{letter}; assume seen == v{at};");
            let _ = writeln!(text, "    seen = y{letter}; assume seen == separator;");
        }
        text + "    received: skip;\n}\n\nnever T@received;\n"
    }

    /// A fresh value, and the separator behind it.
    fn send(&self, at: usize, letters: usize, text: &mut String) {
        let before = (0..at).map(|before| format!(" && v{at} != v{before}")).collect::<String>();
        let letter = at % letters;
        let _ = writeln!(text, "    v{at} = any; assume v{at} != separator{before};");
        let _ = writeln!(text, "    x{letter} = v{at}; x{letter} = separator;");
    }
}
