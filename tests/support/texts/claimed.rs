//! What random programs claim: conditions on memory, registers, places, ends and buffers.

use super::features::constant;
use super::make::Maker;
use super::tree::{E, Root, S, SMALL, Step};

/// Up to two properties; one in five has a name.
pub(super) fn claims(maker: &mut Maker, threads: &[Vec<S>]) -> Vec<String> {
    let mut claims: Vec<String> = (0..maker.pick(&[0, 1, 1, 2])).map(|_| claim(maker, threads)).collect();
    if maker.chance(5) {
        claims.push("never deadlock;".to_string());
    }
    claims
}

fn claim(maker: &mut Maker, threads: &[Vec<S>]) -> String {
    let mut parts: Vec<String> = (0..maker.pick(&[1, 2, 2, 3, 3])).map(|_| part(maker, threads)).collect();
    let name = if maker.chance(20) { format!("claim{}: ", maker.name()) } else { String::new() };
    if maker.chance(40) {
        return format!("finally {name}!({});", parts.join(" && "));
    }
    if maker.chance(5) {
        let thread = maker.random.usize(..threads.len());
        parts.push(format!("{}empty(P{thread})", maker.pick(&["", "!"])));
    }
    format!("never {name}{};", parts.join(" && "))
}

fn part(maker: &mut Maker, threads: &[Vec<S>]) -> String {
    let thread = maker.random.usize(..threads.len());
    let left = match maker.random.usize(..12) {
        0..4 => match place(maker, thread, &threads[thread]) {
            Some(place) => return place,
            None => variable(maker),
        },
        4..7 => register(maker, thread),
        7 => return format!("{}ended(P{thread})", maker.pick(&["", "!"])),
        8 => match counted(maker, threads) {
            Some(count) => return count,
            None => variable(maker),
        },
        _ => variable(maker),
    };
    let right = if maker.chance(80) { constant(maker).text() } else { format!("x{}", maker.variable()) };
    format!("{left} {} {right}", maker.relation().sign())
}

fn place(maker: &mut Maker, thread: usize, body: &[S]) -> Option<String> {
    let mut labels = Vec::new();
    collect_labels(body, &mut labels);
    let label = maker.random.choice(labels)?;
    Some(format!("P{thread}@l{label}"))
}

/// How many of some places threads stand at.
fn counted(maker: &mut Maker, threads: &[Vec<S>]) -> Option<String> {
    let places: Vec<String> =
        threads.iter().enumerate().filter_map(|(at, body)| place(maker, at, body)).collect();
    let count = places.len();
    (count > 0).then(|| format!("count({}) {} {count}", places.join(", "), maker.pick(&[">=", "!=", "<"])))
}

/// A shared variable, cell or field.
fn variable(maker: &mut Maker) -> String {
    match maker.random.choice(maker.shared_roots.clone()) {
        Some(root) if maker.chance(50) => constant_path(maker, root),
        _ => format!("x{}", maker.variable()),
    }
}

/// A register of a thread.
fn register(maker: &mut Maker, thread: usize) -> String {
    match maker.random.choice(maker.own_roots.clone()) {
        Some(root) if maker.chance(50) => format!("P{thread}.{}", constant_path(maker, root)),
        _ => format!("P{thread}.r{}", maker.register()),
    }
}

fn constant_path(maker: &mut Maker, root: Root) -> String {
    let mut path = maker.path(root, 0);
    for step in &mut path {
        if let Step::Index(index) = step {
            *index = E::Const(maker.random.i64(0..SMALL as i64));
        }
    }
    root.text(&path)
}

fn collect_labels(body: &[S], found: &mut Vec<usize>) {
    for statement in body {
        if let S::Label(label) = statement {
            found.push(*label);
        }
        statement.bodies().into_iter().for_each(|inner| collect_labels(inner, found));
    }
}
