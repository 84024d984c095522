//! How C is read.

use super::values::{Choices, macro_definition, word};
use clap::Args;
use frontend::{COptions, Loader, Overflow};

/// How C is read.
#[derive(Clone, Debug, Default, Args)]
pub struct CInput {
    /// A folder for headers, and for texts that `.fw` texts include
    #[arg(short = 'I', long = "include", value_name = "DIR", help_heading = "C")]
    pub include: Vec<String>,

    /// A macro that is not defined
    #[arg(short = 'U', long = "undefine", value_name = "NAME", help_heading = "C")]
    pub undefine: Vec<String>,

    /// What happens to results that do not fit into their type [default: assume]
    #[arg(long, value_name = "HOW", value_parser = word(OVERFLOWS), help_heading = "C")]
    pub overflow: Option<Overflow>,

    /// What a release store orders under PSO [default: fence]
    #[arg(long = "pso-release", value_name = "HOW", value_parser = word(RELEASES), help_heading = "C")]
    pub plain_release: Option<bool>,

    /// What a seq_cst store is [default: xchg; for `fence --relax`: fence]
    #[arg(long = "seq-cst-store", value_name = "HOW", value_parser = word(SEQ_CST_STORES), help_heading = "C")]
    pub exchange_stores: Option<bool>,

    /// Whether fences are to be taken out.
    #[arg(skip)]
    pub relaxed: bool,

    /// Whether the steps of different statements stay apart.
    #[arg(skip)]
    pub apart: bool,

    /// Data races are violations: two threads can access one object at a time, one of them stores, and one of
    /// the accesses is neither atomic nor volatile (ask about SC: without races there, all models agree)
    #[arg(long, help_heading = "C")]
    pub races: bool,

    /// How many blocks of memory a call of `malloc` in a loop hands out; a run that needs more is not looked
    /// at any further, and the answer then is unknown [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), help_heading = "C")]
    pub heap: Option<u16>,

    /// A function without a body does nothing and gives any value
    #[arg(long, visible_alias = "havoc", value_name = "FUNCTION", help_heading = "C")]
    pub pure: Vec<String>,

    /// How `fence` writes a full fence [default: as the file does]
    #[arg(long, value_name = "TEXT", help_heading = "C")]
    pub fence_text: Option<String>,
}

/// What happens to results that do not fit into their type.
const OVERFLOWS: Choices<Overflow> = &[
    ("assume", "It is assumed that there are none; the verdict says where", Overflow::Assume),
    ("wrap", "They wrap around", Overflow::Wrap),
    ("strict", "There is no answer if one is possible", Overflow::Strict),
    ("error", "They are violations", Overflow::Error),
];

/// What a release store is under PSO, and whether it is a plain one.
const RELEASES: Choices<bool> =
    &[("fence", "A store with a store fence before it", false), ("plain", "A store", true)];

/// What a seq_cst store is, and whether that is an exchange.
const SEQ_CST_STORES: Choices<bool> =
    &[("fence", "A store with a fence behind it", false), ("xchg", "A locked exchange", true)];

impl CInput {
    /// The same for the front end.
    pub fn options(&self, defines: &[String]) -> COptions {
        COptions {
            folders: self.include.clone(),
            defines: defines.iter().map(|text| macro_definition(text)).collect(),
            undefines: self.undefine.clone(),
            loader: Loader::new(crate::input::header),
            overflow: self.overflow.unwrap_or_default(),
            plain_release: self.plain_release.unwrap_or(false),
            exchange_stores: self.exchange_stores.unwrap_or(!self.relaxed),
            apart: self.apart,
            races: self.races,
            heap: self.heap.map_or(COptions::default().heap, usize::from),
            pure: self.pure.clone(),
            fence_text: self.fence_text.clone(),
        }
    }
}
