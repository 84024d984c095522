//! What travels between workers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Bytes from one worker to another. The last parcel of a round is empty and says how many there were, so that nothing
/// is ever taken for a whole that is not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parcel {
    /// The round it belongs to.
    pub round: u64,
    /// Who sent it.
    pub from: u32,
    /// Who gets it.
    pub to: u32,
    /// Which of the sender's parcels to this worker it is.
    pub number: u32,
    /// Whether it is the sender's last one of the round.
    pub last: bool,
    /// The bytes.
    pub content: Content,
}

/// Bytes that are written as they are, not one by one.
#[derive(Clone, Debug, Default)]
pub struct Content(pub Vec<u8>);

impl Serialize for Content {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Content, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Content, E> {
                Ok(Content(bytes.to_vec()))
            }

            fn visit_byte_buf<E: de::Error>(self, bytes: Vec<u8>) -> Result<Content, E> {
                Ok(Content(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Bytes)
    }
}

/// The parcels of a round to one of the workers, if they are all there, in the order of their senders.
pub fn sorted(mut parcels: Vec<Parcel>, workers: usize) -> Option<Vec<(usize, Vec<u8>)>> {
    parcels.sort_by_key(|parcel| (parcel.from, parcel.number));
    let (mut from, mut number) = (0, 0);
    let mut mail = Vec::with_capacity(parcels.len());
    for parcel in parcels {
        if (parcel.from, parcel.number) != (from, number) {
            return None;
        }
        match parcel.last {
            true => (from, number) = (from + 1, 0),
            false => {
                number += 1;
                mail.push((parcel.from as usize, parcel.content.0));
            }
        }
    }
    (from as usize == workers).then_some(mail)
}
