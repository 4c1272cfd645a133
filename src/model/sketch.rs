//! What near-equality of calls is judged by once their arguments are gone (A6).
//!
//! Layout of a sketch: 4 bytes shape (which members there are), 14 bytes with a bit for each word, 14 with
//! a bit for each pair of neighbouring characters. Sets that small arguments have are counted nearly
//! exactly; sets that fill the bits are not compared at all.

use std::sync::LazyLock;

/// A sketch of a call's arguments; all zero when there is none. Made by `fingerprints::sketch`.
pub type Sketch = [u8; 32];

/// Bytes of the shape.
pub const SHAPE: usize = 4;
/// Bytes of each of the two sets.
pub const SET: usize = 14;

/// Words of two texts are near from this Jaccard index on.
const NEAR_WORDS: f64 = 0.6;
/// Character pairs are near from this Dice index on.
const NEAR_PAIRS: f64 = 0.5;
/// With more bits set than this the words of a text say nothing.
const MOST_WORD_BITS: u32 = 96;
/// Any two long texts share most of their character pairs: beyond this many bits they are not asked.
const MOST_PAIR_BITS: u32 = 64;

/// How alike two sketches are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Likeness {
    /// Jaccard index of the words, 0 to 1; 0 when it cannot be told.
    pub words: f64,
    /// Dice index of the character pairs, 0 to 1; 0 when it cannot be told.
    pub pairs: f64,
}

impl Likeness {
    /// Compares two sketches. Nothing is like a sketch of another shape, or like no sketch.
    pub fn of(a: &Sketch, b: &Sketch) -> Self {
        if a.get(..SHAPE) != b.get(..SHAPE) || *a == [0; 32] {
            return Self::default();
        }
        if a == b {
            return Self {
                words: 1.0,
                pairs: 1.0,
            };
        }
        let words = |s: &Sketch| s.get(SHAPE..SHAPE + SET).map_or(0, bits);
        let pairs = |s: &Sketch| s.get(SHAPE + SET..).map_or(0, bits);
        let jaccard = shared(words(a), words(b), MOST_WORD_BITS);
        let pair_jaccard = shared(pairs(a), pairs(b), MOST_PAIR_BITS);
        Self {
            words: jaccard,
            pairs: 2.0 * pair_jaccard / (1.0 + pair_jaccard),
        }
    }

    /// Whether the two are near-equal by A6: words 0.6 or character pairs 0.5.
    pub fn near(&self) -> bool {
        self.words >= NEAR_WORDS || self.pairs >= NEAR_PAIRS
    }
}

fn bits(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |all, byte| all << 8 | u128::from(*byte))
}

/// Jaccard index of the sets behind two bit fields, by linear counting; 0 when a field is too full.
fn shared(a: u128, b: u128, most: u32) -> f64 {
    let (both, union) = (a & b, a | b);
    if union == 0 {
        return 1.0;
    }
    if a.count_ones().max(b.count_ones()) > most || both == 0 {
        return 0.0;
    }
    let (in_a, in_b, in_union) = (members(a), members(b), members(union));
    ((in_a + in_b - in_union) / in_union).clamp(0.0, 1.0)
}

/// How many members a field with that many bits set has, most likely.
fn members(field: u128) -> f64 {
    /// By number of bits set: a row of near-equal calls asks for hundreds of them a step.
    static MEMBERS: LazyLock<[f64; SET * 8 + 1]> = LazyLock::new(|| {
        const BITS: f64 = (SET * 8) as f64;
        let mut free = BITS + 1.0;
        std::array::from_fn(|_| {
            free -= 1.0;
            -BITS * (free.max(0.5) / BITS).ln()
        })
    });
    let set = usize::try_from(field.count_ones()).unwrap_or(usize::MAX);
    MEMBERS.get(set).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_like_no_sketch_or_another_shape() {
        let mut a = [0; 32];
        assert!(!Likeness::of(&a, &a).near());
        a[0] = 1;
        a[5] = 0xff;
        let mut b = a;
        assert!(Likeness::of(&a, &b).near());
        b[1] = 1;
        assert!(!Likeness::of(&a, &b).near());
    }

    #[test]
    fn full_fields_are_not_compared() {
        let a = [0xff; 32];
        let mut b = a;
        b[31] = 0xfe;
        b[6] = 0xfe;
        assert!(!Likeness::of(&a, &b).near());
    }
}
