//! Renamings of threads as lines: by number, what each thread, location and variable becomes, and how the
//! values of places are renamed.

use super::Record;
use program::{Int, Loc, Program, RegId, Renaming, ThreadId, ValueNames, VarId};
use std::collections::BTreeMap;

/// The line of a renaming.
pub(crate) fn renaming_record(renaming: &Renaming) -> Record {
    let locations = |(_, locs): &(ThreadId, Vec<Loc>)| locs.iter().map(|loc| loc.index()).collect();
    let mut values: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    let pairs = |names: &ValueNames| names.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect();
    for (variable, names) in renaming.in_memory.iter().enumerate().filter(|(_, names)| !names.is_empty()) {
        values.insert(format!("m{variable}"), pairs(names));
    }
    for (thread, locs) in renaming.in_registers.iter().enumerate() {
        for (loc, registers) in locs.iter().enumerate() {
            for (register, names) in registers {
                values.insert(format!("r{thread}.{}@{loc}", register.index()), pairs(names));
            }
        }
    }
    Record::Renaming {
        threads: renaming.threads.iter().map(|(thread, _)| thread.index()).collect(),
        locations: renaming.threads.iter().map(locations).collect(),
        variables: renaming.variables.iter().map(|variable| variable.index()).collect(),
        values,
    }
}

/// The renaming of a line, if it speaks of what the program has. Whether it changes anything is asked elsewhere.
pub(crate) fn renaming_of(program: &Program, record: &Record) -> Option<Renaming> {
    let Record::Renaming { threads, locations, variables, values } = record else { return None };
    let mut renaming = Renaming::identity(program);
    let counts = [threads.len(), locations.len()].map(|count| count == program.threads.len());
    if counts.contains(&false) || variables.len() != program.variables.len() {
        return None;
    }
    for (at, (thread, locs)) in threads.iter().zip(locations).enumerate() {
        let new = program.threads.get(*thread)?;
        let exists = locs.len() == program.threads[at].locs().count()
            && locs.iter().all(|loc| *loc < new.locs().count());
        renaming.threads[at] =
            exists.then(|| (ThreadId::new(*thread), locs.iter().map(|loc| Loc::new(*loc)).collect()))?;
    }
    for (at, variable) in variables.iter().enumerate() {
        renaming.variables[at] = (*variable < program.variables.len()).then(|| VarId::new(*variable))?;
    }
    for (place, pairs) in values {
        let names: Option<ValueNames> =
            pairs.iter().map(|(a, b)| Some((a.parse::<Int>().ok()?, b.parse::<Int>().ok()?))).collect();
        *place_names(&mut renaming, place)? = names?;
    }
    Some(renaming)
}

fn place_names<'a>(renaming: &'a mut Renaming, place: &str) -> Option<&'a mut ValueNames> {
    match place.split_at_checked(1)? {
        ("m", variable) => renaming.in_memory.get_mut(variable.parse::<usize>().ok()?),
        ("r", register) => {
            let (thread, register) = register.split_once('.')?;
            let (register, loc) = register.split_once('@')?;
            let locs = renaming.in_registers.get_mut(thread.parse::<usize>().ok()?)?;
            let registers = locs.get_mut(loc.parse::<usize>().ok()?)?;
            Some(registers.entry(RegId::new(register.parse::<u32>().ok()? as usize)).or_default())
        }
        _ => None,
    }
}

/// The words of a renaming: threads, locations of each, variables, and values, with `:` between.
pub(super) fn words(record: &Record) -> String {
    let Record::Renaming { threads, locations, variables, values } = record else { return String::new() };
    let mut out = format!("renaming{}", super::list(threads));
    for locs in locations {
        out.push_str(" :");
        out.push_str(&super::list(locs));
    }
    out.push_str(" :");
    out.push_str(&super::list(variables));
    for (place, pairs) in values {
        out.push_str(&format!(" : {place}"));
        pairs.iter().for_each(|(a, b)| out.push_str(&format!(" {a} {b}")));
    }
    out
}

/// Reads the words back.
pub(super) fn read<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Record, String> {
    let all: Vec<&str> = words.collect();
    let mut parts = all.split(|word| *word == ":");
    let early = || "the line ends too early".to_string();
    let mut next = || super::numbers(parts.next().ok_or_else(early)?.iter().copied());
    let threads = next()?;
    let locations = threads.iter().map(|_| next()).collect::<Result<_, _>>()?;
    let variables = next()?;
    let mut values = BTreeMap::new();
    for part in parts {
        let [place, pairs @ ..] = part else { return Err(early()) };
        if pairs.len() % 2 != 0 {
            return Err("values come in pairs".to_string());
        }
        let pairs = pairs.chunks(2).map(|pair| (pair[0].to_string(), pair[1].to_string())).collect();
        values.insert((*place).to_string(), pairs);
    }
    Ok(Record::Renaming { threads, locations, variables, values })
}
