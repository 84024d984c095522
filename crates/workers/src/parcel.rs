//! What travels between workers.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;

/// Bytes from one worker to another. The last parcel of a round is empty and says how many there were, so that nothing
/// is ever taken for a whole that is not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Parcel {
    pub(crate) round: u64,
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Which of the sender's parcels to this worker it is.
    pub(crate) number: u32,
    pub(crate) last: bool,
    pub(crate) content: Content,
}

/// Bytes that are written as they are, not one by one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Content(pub(crate) Vec<u8>);

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
pub(crate) fn sorted(mut parcels: Vec<Parcel>, workers: usize) -> Option<Vec<(usize, Vec<u8>)>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(from: u32, number: u32, last: bool) -> Parcel {
        Parcel { round: 0, from, to: 0, number, last, content: Content(vec![from as u8, number as u8]) }
    }

    #[test]
    fn only_whole_rounds_count() {
        let all = [parcel(1, 0, true), parcel(0, 1, false), parcel(0, 2, true), parcel(0, 0, false)];
        assert_eq!(sorted(all.to_vec(), 2), Some(vec![(0, vec![0, 0]), (0, vec![0, 1])]));
        assert_eq!(sorted(all.to_vec(), 3), None);
        for missing in 0..all.len() {
            let mut some = all.to_vec();
            some.remove(missing);
            assert_eq!(sorted(some, 2), None, "without {missing}");
        }
    }
}
