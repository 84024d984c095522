//! The arguments of `generate`.

use super::values::{Choices, definition, languages, word};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use frontend::FRONTENDS;
use generate::{Automata, Family, FencedThreads, LossyChannel, MUTEXES, Mutex, Ring};
use program::Int;

/// What stands below its help.
pub const HELP: &str = "\
Examples:
  fencewright generate ring --threads 4 > ring.fw             store buffering among four threads
  fencewright generate dlcs --messages 3 | fencewright verify --engine context -
  fencewright generate intersection --moduli 2,3,5            the shortest violation takes 30 rounds
  fencewright generate mutex bakery -D N=3 --format json      text and expected answers for a script
  fencewright generate random --seed 7 --as rmm               a random program, for Memorax

What is made is printed with the answers it should have, as a remark or in JSON. The text is the same every time.";

/// `generate`
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// What to make
    #[command(subcommand)]
    pub what: Generating,

    /// In which language
    #[arg(long = "as", value_name = "FORM", default_value = FRONTENDS[0].name, value_parser = languages(&[]), global = true)]
    pub form: String,

    /// `text` is the program alone, `json` an object with the program and what it should come to
    #[arg(long, value_name = "FORMAT", default_value = "text", global = true)]
    pub format: GeneratedAs,
}

/// How a program is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GeneratedAs {
    /// The program, below remarks
    Text,
    /// One JSON object
    Json,
}

/// The families.
#[derive(Debug, Subcommand)]
pub enum Generating {
    /// Lossy channels with data: messages are sent through two store buffers, then received
    Dlcs {
        /// How many messages
        #[arg(long, value_name = "N", default_value_t = 2)]
        messages: usize,
        /// How many letters they take turns in [default: as many as messages]
        #[arg(long, value_name = "N")]
        letters: Option<usize>,
        /// Receive the last message first, which no channel allows
        #[arg(long)]
        reversed: bool,
    },
    /// Automata that count letters: is there a word that all accept?
    Intersection {
        /// What they count modulo of; the shortest word has as many letters as their least common multiple
        #[arg(long, value_name = "M,…", value_delimiter = ',', default_value = "2,3")]
        moduli: Vec<usize>,
        /// Add an automaton that accepts no word of the first one
        #[arg(long)]
        disjoint: bool,
    },
    /// Store buffering around a ring of threads
    Ring {
        /// How many threads
        #[arg(long, value_name = "N", default_value_t = 3)]
        threads: usize,
        /// Which of them have a fence
        #[arg(long, value_name = "WHICH", default_value = "none", value_parser = word(FENCED))]
        fenced: FencedThreads,
    },
    /// A mutual exclusion algorithm of our corpus
    Mutex {
        /// Which
        #[arg(value_parser = PossibleValuesParser::new(MUTEXES))]
        name: String,
        /// Set a constant, most of all N, the number of threads
        #[arg(long = "define", short = 'D', value_name = "NAME=VALUE", value_parser = definition)]
        define: Vec<(String, Int)>,
    },
    /// A random program, as our tests use them; what it comes to is not known
    Random {
        /// The same number gives the same program
        #[arg(long, value_name = "N", default_value_t = 0)]
        seed: u64,
    },
}

impl Generating {
    /// The family member, or the seed of a random program.
    pub fn family(&self) -> Result<Box<dyn Family>, u64> {
        Ok(match self {
            Generating::Dlcs { messages, letters, reversed } => {
                let letters = letters.unwrap_or((*messages).clamp(1, 16));
                Box::new(LossyChannel { messages: *messages, letters, reversed: *reversed })
            }
            Generating::Intersection { moduli, disjoint } => {
                Box::new(Automata { moduli: moduli.clone(), disjoint: *disjoint })
            }
            Generating::Ring { threads, fenced } => Box::new(Ring { threads: *threads, fenced: *fenced }),
            Generating::Mutex { name, define } => {
                let constants = define.iter().map(|(name, value)| (name.clone(), value.to_string()));
                Box::new(Mutex { name: name.clone(), constants: constants.collect() })
            }
            Generating::Random { seed } => return Err(*seed),
        })
    }
}

/// Which threads of a ring have a fence.
const FENCED: Choices<FencedThreads> = &[
    ("none", "None of them", FencedThreads::None),
    ("all-but-one", "All but the last", FencedThreads::AllButOne),
    ("all", "All of them", FencedThreads::All),
];
