//! Rounds of counted repetitions, counted side by side.

/// A number of rounds for each of eight *lanes*, from 0 to 127, which stands for itself and all above. Every counted
/// repetition of a grammar has a lane; beyond eight of them, lanes are shared.
///
/// The lanes are the bytes of one word. Each is below 128, so that a sum of two never carries into the next lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rounds(u64);

const TOP: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

impl Rounds {
    pub const LANES: u32 = 8;
    pub const MANY: u32 = 127;

    pub const ZERO: Self = Self(0);
    /// As room: no bound at all.
    pub const UNBOUNDED: Self = Self(!TOP);

    /// One round in each of the lanes of a bit set.
    #[inline]
    pub fn one_in(lanes: u8) -> Self {
        // A copy of the set for each lane, of which the lane's own bit is kept, and then moved to the lane's end.
        let own = (u64::from(lanes) * ONES) & 0x8040_2010_0804_0201;
        Self((own + (TOP - ONES)) >> 7 & ONES)
    }

    /// The same number in all lanes.
    pub fn all(rounds: u32) -> Self {
        Self(u64::from(rounds.min(Self::MANY)) * ONES)
    }

    pub fn in_lane(self, lane: u32) -> u32 {
        (self.0 >> (8 * lane)) as u32 & Self::MANY
    }

    /// Room for finitely many rounds in one lane, and no bound in the others. A number of rounds that has come to
    /// [`MANY`](Self::MANY) does not fit into it.
    pub fn at_most(lane: u32, rounds: u32) -> Self {
        Self(Self::UNBOUNDED.0 & !(0xFF << (8 * lane)) | u64::from(rounds.min(Self::MANY - 1)) << (8 * lane))
    }

    /// Whether each lane has the same room in both, if it is bounded in both.
    pub fn agrees(self, other: Self) -> bool {
        let agree = |lane| {
            let (a, b) = (self.in_lane(lane), other.in_lane(lane));
            a == b || a == Self::MANY || b == Self::MANY
        };
        self == other || self == Self::UNBOUNDED || other == Self::UNBOUNDED || (0..Self::LANES).all(agree)
    }

    pub fn plus(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let over = sum & TOP;
        Self((sum & !TOP) | (over - (over >> 7)))
    }

    /// So many times, where no lane holds more than one.
    pub fn times(self, count: u32) -> Self {
        Self(self.0 * u64::from(count.min(Self::MANY)))
    }

    /// Lane by lane the larger number.
    pub fn max(self, other: Self) -> Self {
        let keep = ((((self.0 | TOP) - other.0) & TOP) >> 7) * 0xFF;
        Self(self.0 & keep | other.0 & !keep)
    }

    pub fn min(self, other: Self) -> Self {
        let keep = ((((other.0 | TOP) - self.0) & TOP) >> 7) * 0xFF;
        Self(self.0 & keep | other.0 & !keep)
    }

    /// The lanes with more rounds than there is room for, as a bit set.
    pub fn beyond(self, room: Self) -> u8 {
        let over = (self.0 + (!TOP - room.0)) & TOP;
        // Gathers the top bits of the lanes: no two products meet in the same place.
        ((over >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56) as u8
    }

    /// Whether there is exactly this number, which is below [`MANY`](Self::MANY), in all lanes of a bit set.
    pub fn is(self, rounds: u32, lanes: u8) -> bool {
        let all = (0..Self::LANES).filter(|lane| lanes >> lane & 1 == 1).all(|lane| self.in_lane(lane) == rounds);
        all && rounds < Self::MANY
    }

    /// The smallest number in the lanes of a bit set; [`MANY`](Self::MANY) if it is empty.
    pub fn least_in(self, lanes: u8) -> u32 {
        (0..Self::LANES)
            .filter(|lane| lanes >> lane & 1 == 1)
            .map(|lane| self.in_lane(lane))
            .min()
            .unwrap_or(Self::MANY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lane by lane, one number after the other.
    #[test]
    fn lanes_do_not_touch_one_another() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            Rounds((state ^ (state >> 29)) & !TOP)
        };
        for _ in 0..1000 {
            let (a, b) = (random(), random());
            for lane in 0..Rounds::LANES {
                let (x, y) = (a.in_lane(lane), b.in_lane(lane));
                assert_eq!(a.plus(b).in_lane(lane), (x + y).min(Rounds::MANY));
                assert_eq!((a.max(b).in_lane(lane), a.min(b).in_lane(lane)), (x.max(y), x.min(y)));
                assert_eq!(a.beyond(b) >> lane & 1 == 1, x > y);
                assert_eq!(Rounds::at_most(lane, y).min(a).in_lane(lane), x.min(y).min(126));
                assert_eq!(Rounds::one_in(1 << lane).times(y).in_lane(lane), y);
            }
        }
        assert_eq!(Rounds::at_most(2, 5).least_in(0b110), 5);
        assert!(
            !Rounds::at_most(2, 5).agrees(Rounds::at_most(2, 6)) && Rounds::at_most(2, 5).agrees(Rounds::at_most(1, 6))
        );
        assert_eq!(Rounds::UNBOUNDED.least_in(0), Rounds::MANY);
    }
}
