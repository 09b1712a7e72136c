//! Sixty-four octets at once → which of them are a given octet, one bit each.
//!
//! The masks come from the crate `wide`, which compares sixteen octets in one step where every
//! processor of the target can do that. It knows nothing of what the octets mean; the test below
//! compares it with a loop.

use wide::u8x16;

/// How many octets a block has: as many as a mask has bits.
pub(crate) const BLOCK: usize = 64;

/// A block of a text, ready to be compared. In its masks, the lowest bit stands for the first octet.
#[derive(Clone, Copy)]
pub(crate) struct Block([u8x16; 4]);

impl Block {
    #[inline]
    pub(crate) fn new(octets: &[u8; BLOCK]) -> Self {
        let (sixteens, _) = octets.as_chunks::<16>();
        let sixteen = |place: usize| u8x16::new(sixteens[place]);
        Self([sixteen(0), sixteen(1), sixteen(2), sixteen(3)])
    }

    /// Where this octet is.
    #[inline]
    pub(crate) fn places_of(self, octet: u8) -> u64 {
        let octet = u8x16::splat(octet);
        self.places(|sixteen| sixteen.simd_eq(octet))
    }

    /// Where one or the other octet is.
    #[inline]
    pub(crate) fn places_of_either(self, one: u8, other: u8) -> u64 {
        let (one, other) = (u8x16::splat(one), u8x16::splat(other));
        self.places(|sixteen| sixteen.simd_eq(one) | sixteen.simd_eq(other))
    }

    #[inline]
    fn places(self, is_wanted: impl Fn(u8x16) -> u8x16) -> u64 {
        let [first, second, third, fourth] =
            self.0.map(|sixteen| u64::from(is_wanted(sixteen).to_bitmask()));
        first | second << 16 | third << 32 | fourth << 48
    }
}

/// How many octets are compared in one step.
pub(crate) const SIXTEEN: usize = 16;

/// Which octets are neither letters nor `-` nor `_` nor from `digits_from` up to `9`, one bit each.
#[inline]
pub(crate) fn others_than_words(octets: &[u8; SIXTEEN], digits_from: u8) -> u32 {
    let octets = u8x16::new(*octets);
    let is_up_to = |from_zero: u8x16, most: u8| from_zero.min(u8x16::splat(most)).simd_eq(from_zero);
    let letters = is_up_to((octets | u8x16::splat(0x20)) - u8x16::splat(b'a'), b'z' - b'a');
    let digits = is_up_to(octets - u8x16::splat(digits_from), b'9' - digits_from);
    let signs = octets.simd_eq(u8x16::splat(b'-')) | octets.simd_eq(u8x16::splat(b'_'));
    !(letters | digits | signs).to_bitmask() & 0xFFFF
}

/// Where one or the other octet is among sixteen, one bit each.
#[inline]
pub(crate) fn places_of_either(octets: &[u8; SIXTEEN], one: u8, other: u8) -> u32 {
    let octets = u8x16::new(*octets);
    let places = octets.simd_eq(u8x16::splat(one)) | octets.simd_eq(u8x16::splat(other));
    places.to_bitmask()
}

/// Where these two octets are side by side among seventeen, one bit each.
#[inline]
pub(crate) fn places_of_pair(octets: &[u8; SIXTEEN + 1], [one, other]: [u8; 2]) -> u32 {
    let [first @ .., _] = octets;
    let [_, second @ ..] = octets;
    let places = u8x16::new(*first).simd_eq(u8x16::splat(one))
        & u8x16::new(*second).simd_eq(u8x16::splat(other));
    places.to_bitmask()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_from_other_octets() {
        for digits_from in [b'/', b'0'] {
            for first in (0..=255u8).step_by(SIXTEEN) {
                let octets: [u8; SIXTEEN] = std::array::from_fn(|place| first + place as u8);
                let others = others_than_words(&octets, digits_from);
                for (place, octet) in octets.into_iter().enumerate() {
                    let is_word = octet.is_ascii_alphanumeric()
                        || b"-_".contains(&octet)
                        || octet == b'/' && digits_from == b'/';
                    assert_eq!(others >> place & 1 == 0, is_word, "{octet:#x}");
                }
            }
        }
    }

    #[test]
    fn places_are_those_of_a_loop() {
        // Neighbours in value stand side by side, as does each octet with the high bit and without it.
        let octets = [b'\n', b'\r', 0x0B, b'#', 0x8A, 0x8D, 0, 0x80, 0xFF];
        let mut state = 1u32;
        for _ in 0..1000 {
            let block: [u8; BLOCK] = std::array::from_fn(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                octets[(state >> 16) as usize % octets.len()]
            });
            for (one, other) in [(b'\n', b'\r'), (0, 0xFF), (b'#', 0x8A), (b'x', 0x80)] {
                let mask_of = |wanted: &dyn Fn(u8) -> bool| {
                    block.iter().rev().fold(0, |mask: u64, &octet| mask << 1 | u64::from(wanted(octet)))
                };
                let expected = mask_of(&|octet| octet == one || octet == other);
                assert_eq!(Block::new(&block).places_of_either(one, other), expected, "{block:?}");
                let (sixteens, _) = block.as_chunks();
                assert_eq!(u64::from(places_of_either(&sixteens[0], one, other)), expected & 0xFFFF);
                assert_eq!(
                    Block::new(&block).places_of(one),
                    mask_of(&|octet| octet == one),
                    "{block:?}"
                );
            }
        }
    }
}
