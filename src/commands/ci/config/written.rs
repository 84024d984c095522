//! `fencewright.toml` as it is written. Keys that nobody knows are errors.

use crate::args::FencePoints;
use program::Int;
use serde::de::{Error, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::collections::BTreeMap;
use std::fmt;
use toml::Spanned;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenConfig {
    #[serde(default)]
    pub defaults: Defaults,
    #[serde(default)]
    pub program: Vec<WrittenProgram>,
    #[serde(default)]
    pub fences: Vec<WrittenFences>,
}

/// `[defaults]`: for entries that do not say it themselves.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    pub models: Option<Vec<Spanned<String>>>,
    pub engine: Option<Spanned<String>>,
    pub timeout: Option<Spanned<f64>>,
    pub states: Option<Spanned<i64>>,
    pub buffer: Option<Spanned<i64>>,
    /// For the whole process, so no entry has its own.
    pub memory: Option<Spanned<i64>>,
}

/// `[[program]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenProgram {
    pub file: Spanned<Files>,
    pub except: Option<Files>,
    pub models: Option<Vec<Spanned<String>>>,
    pub expect: Option<Spanned<Expect>>,
    pub fences: Option<FenceCheck>,
    pub robust: Option<ExpectRobust>,
    #[serde(default)]
    pub define: Definitions,
    pub engine: Option<Spanned<String>>,
    pub timeout: Option<Spanned<f64>>,
    pub states: Option<Spanned<i64>>,
    pub buffer: Option<Spanned<i64>>,
}

/// `[[fences]]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFences {
    pub file: Spanned<String>,
    pub model: Spanned<String>,
    pub places: Vec<Spanned<WrittenFencePlace>>,
    pub points: Option<FencePoints>,
    pub cost: Option<Spanned<String>>,
    #[serde(default)]
    pub define: Definitions,
    pub engine: Option<Spanned<String>>,
    pub timeout: Option<Spanned<f64>>,
    pub states: Option<Spanned<i64>>,
    pub buffer: Option<Spanned<i64>>,
}

/// `{ after = "x = 1", line = 9, kind = "full" }`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WrittenFencePlace {
    pub after: Option<String>,
    pub before: Option<String>,
    pub line: Option<usize>,
    pub kind: Option<ValueKind>,
}

/// What kind of fence.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ValueKind {
    #[default]
    Full,
    Store,
    Swap,
}

impl ValueKind {
    pub fn name(self) -> &'static str {
        match self {
            ValueKind::Full => "full",
            ValueKind::Store => "store",
            ValueKind::Swap => "swap",
        }
    }
}

/// What is asked of the fences that a program has.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FenceCheck {
    /// Each must be needed.
    #[default]
    Needed,
    /// Nothing.
    Unchecked,
}

/// Values for constants of the program.
pub type Definitions = BTreeMap<String, Integer>;

/// A verdict that is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Expected {
    Safe,
    Unsafe,
    Unknown,
}

impl Expected {
    pub fn name(self) -> &'static str {
        match self {
            Expected::Safe => "safe",
            Expected::Unsafe => "unsafe",
            Expected::Unknown => "unknown",
        }
    }
}

/// Reads a value that may be written in several forms; where it has none of them, the text says what it should be.
macro_rules! read_as {
    ($value:ident, $expected:literal, $($visit:item)*) => {
        impl<'de> Deserialize<'de> for $value {
            fn deserialize<D: Deserializer<'de>>(from: D) -> Result<$value, D::Error> {
                struct Read;
                impl<'de> Visitor<'de> for Read {
                    type Value = $value;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }

                    $($visit)*
                }
                from.deserialize_any(Read)
            }
        }
    };
}

/// All entries of a table.
fn entries<'de, A: MapAccess<'de>, K: Deserialize<'de>, V: Deserialize<'de>>(
    mut map: A,
) -> Result<Vec<(K, V)>, A::Error> {
    std::iter::from_fn(|| map.next_entry().transpose()).collect()
}

/// A file, or several.
pub struct Files(pub Vec<String>);

read_as! {
    Files, "a file, a pattern like \"locks/*.fw\", or a list of these",
    fn visit_str<E: Error>(self, text: &str) -> Result<Files, E> {
        Ok(Files(vec![text.to_string()]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Files, A::Error> {
        std::iter::from_fn(|| list.next_element().transpose()).collect::<Result<_, _>>().map(Files)
    }
}

/// What is expected: the same under all models, or something under each.
pub enum Expect {
    All(Expected),
    Each(Vec<(Spanned<String>, Expected)>),
}

read_as! {
    Expect, "\"safe\", \"unsafe\" or \"unknown\", or one for each model as in { tso = \"safe\" }",
    fn visit_str<E: Error>(self, text: &str) -> Result<Expect, E> {
        Expected::deserialize(text.into_deserializer()).map(Expect::All)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Expect, A::Error> {
        entries(map).map(Expect::Each)
    }
}

/// Whether it shall be robust: against TSO, or against each model.
pub enum ExpectRobust {
    Tso(bool),
    Each(Vec<(Spanned<String>, bool)>),
}

read_as! {
    ExpectRobust, "true or false, or one for each model as in { tso = true, pso = false }",
    fn visit_bool<E: Error>(self, robust: bool) -> Result<ExpectRobust, E> {
        Ok(ExpectRobust::Tso(robust))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExpectRobust, A::Error> {
        entries(map).map(ExpectRobust::Each)
    }
}

/// An integer of any size: a number, or its digits.
pub struct Integer(pub Int);

read_as! {
    Integer, "an integer, or its digits as a text",
    fn visit_i64<E: Error>(self, value: i64) -> Result<Integer, E> {
        Ok(Integer(Int::from(value)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Integer, E> {
        let (_, value) = crate::args::definition(&format!("value={text}")).map_err(E::custom)?;
        Ok(Integer(value))
    }
}
