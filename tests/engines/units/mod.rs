//! Parts of the engines and of the workers, one by one.

mod cube;
mod growth;
mod hitting;
mod lazy;
mod names;
mod parcel;
mod ranges;
mod shard;
