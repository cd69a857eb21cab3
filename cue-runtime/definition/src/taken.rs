//! Names that nothing else has, as the official printer makes them: with random digits of a fixed
//! sequence (O-78, O-79).

use cue_map::Set;

/// A generator (PCG-DXSM).
struct Random {
    state: u128,
}

impl Default for Random {
    fn default() -> Self {
        Self { state: 123 << 64 | 456 }
    }
}

impl Random {
    fn next(&mut self) -> u64 {
        const FACTOR: u128 = 2_549_297_995_355_413_924 << 64 | 4_865_540_595_714_422_341;
        const STEP: u128 = 6_364_136_223_846_793_005 << 64 | 1_442_695_040_888_963_407;
        const MIX: u64 = 0xda94_2042_e4dd_58b5;
        self.state = self.state.wrapping_mul(FACTOR).wrapping_add(STEP);
        let (mut high, low) = ((self.state >> 64) as u64, self.state as u64);
        high ^= high >> 32;
        high = high.wrapping_mul(MIX);
        high ^= high >> 48;
        high.wrapping_mul(low | 1)
    }

    /// From 0 to below a number.
    fn below(&mut self, count: u32) -> u32 {
        if count.is_power_of_two() {
            return self.next() as u32 & (count - 1);
        }
        loop {
            let product = (self.next() >> 32) * u64::from(count);
            if product as u32 >= count.wrapping_neg() % count {
                return (product >> 32) as u32;
            }
        }
    }
}

/// Names of aliases and `let`s for what means something else: digits always, more of them when a
/// name is taken.
#[derive(Default)]
pub struct Suffixed {
    random: Random,
    taken: Set<String>,
}

impl Suffixed {
    /// That something has a name already.
    pub fn note(&mut self, name: &str) {
        self.taken.insert(name.to_owned());
    }

    /// A name that nothing else has.
    pub fn unique(&mut self, base: &str) -> String {
        let mut count = 0x10;
        loop {
            let name = format!("{base}_{:X}", self.random.below(count));
            if self.taken.insert(name.clone()) {
                return name;
            }
            count = count.saturating_mul(0x10);
        }
    }
}

/// Names of a result: those of sources, and those of `let`s and aliases it has.
#[derive(Default)]
pub(crate) struct Taken {
    random: Random,
    names: Set<String>,
}

impl Taken {
    pub(crate) fn note(&mut self, name: &str) {
        if !self.names.contains(name) {
            self.names.insert(name.to_owned());
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// A name that no other has: itself, with one of four digits, with random ones.
    pub(crate) fn unique(&mut self, base: &str) -> String {
        let mut count: u32 = 0x10;
        let mut number = 0;
        loop {
            let name = match number {
                0 => base.to_owned(),
                1..=4 => format!("{base}_{number:X}"),
                _ => {
                    let drawn = self.random.below(count - 1) + 1;
                    count = count.saturating_mul(0x10);
                    format!("{base}_{drawn:0width$X}", width = number - 4)
                }
            };
            if self.names.insert(name.clone()) {
                return name;
            }
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Suffixed, Taken};

    #[test]
    fn names_are_those_of_the_official_program() {
        let mut names = Suffixed::default();
        let got: Vec<String> = (0..10).map(|_| names.unique("x")).collect();
        let want = ["x_9", "x_B", "x_6", "x_0", "x_7", "x_76", "x_F", "x_91", "x_49", "x_2"];
        assert_eq!(got, want);
    }

    #[test]
    fn after_four_names_are_drawn() {
        let mut taken = Taken::default();
        let got: Vec<String> = (0..11).map(|_| taken.unique("x")).collect();
        let want = ["x", "x_1", "x_2", "x_3", "x_4", "x_A", "x_9", "x_D", "x_F", "x_7", "x_32"];
        assert_eq!(got, want);
    }
}
