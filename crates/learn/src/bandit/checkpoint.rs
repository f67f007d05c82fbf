//! A state as bytes: versioned and checksummed. Whatever is not exactly what was written is refused,
//! and the router starts from the log.

use super::discount::Fading;
use super::discount_era::Era;
use super::ridge_regression::Linear;
use super::matrix::{Matrix, padded};
use super::shadow_evaluation::Comparison;
use super::state::{Arm, RouterState};
use super::reward_sums::Sums;
use super::{MOST_ARMS, MOST_FEATURES};

const MAGIC: [u8; 4] = *b"UpRt";
/// Without eras. Still written where there are none, so that nodes of an older release can go on from it.
/// Older releases wrote it after a change of fading too: how things faded before is not known then, and
/// older turns count as whole at the change.
const PLAIN: u16 = 1;
/// Raise it with every change of what is written: a checkpoint that cannot be read is made again.
const VERSION: u16 = 2;

/// The bytes are not a checkpoint that can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadCheckpoint {
    /// Another program's, or a later version's.
    #[error("not a router checkpoint of version {PLAIN} to {VERSION}")]
    Foreign,
    /// Cut off or changed.
    #[error("the checkpoint is damaged")]
    Damaged,
}

impl RouterState {
    /// The state after the log's event at `position`.
    pub fn to_bytes(&self, position: u64) -> Vec<u8> {
        let mut out = Writer(Vec::new());
        out.0.extend_from_slice(&MAGIC);
        let version = if self.eras.is_empty() { PLAIN } else { VERSION };
        out.0.extend_from_slice(&version.to_le_bytes());
        out.u64(position);
        out.u32(self.lives);
        out.u64(self.tick);
        out.u64(self.fading_since);
        out.f64(self.fading_factor);
        out.bool(self.fading_hourly);
        out.u64(self.day.cast_unsigned());
        out.i128(self.spent);
        out.u64(self.faults);
        self.comparison.sums.iter().for_each(|sum| out.f64(*sum));
        out.bool(self.comparison.serving);
        out.u32(self.arms.len() as u32);
        for arm in &self.arms {
            out.arm(arm);
        }
        if version > PLAIN {
            out.u32(self.era());
            self.eras.iter().for_each(|era| out.era(era));
        }
        let sum = checksum(&out.0);
        out.u64(sum);
        out.0
    }

    /// The state and the position it was written at.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, u64), BadCheckpoint> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(BadCheckpoint::Foreign)?;
        let mut from = Reader(body);
        let ours = from.take() == Some(MAGIC);
        let version = from.take().map(u16::from_le_bytes);
        let version = version.filter(|version| ours && (PLAIN..=VERSION).contains(version));
        let version = version.ok_or(BadCheckpoint::Foreign)?;
        if checksum(body) != u64::from_le_bytes(*sum) {
            return Err(BadCheckpoint::Damaged);
        }
        from.state(version).filter(|_| from.0.is_empty()).ok_or(BadCheckpoint::Damaged)
    }
}

/// FNV-1a: finds every change of a single byte, and all but few others.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

struct Writer(Vec<u8>);

impl Writer {
    fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn i128(&mut self, value: i128) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    fn f64(&mut self, value: f64) {
        self.u64(value.to_bits());
    }

    fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn era(&mut self, era: &Era) {
        self.f64(era.fading.factor);
        self.bool(era.fading.hourly);
        self.u64(era.since);
        self.u64(era.until);
    }

    fn arm(&mut self, arm: &Arm) {
        self.u32(arm.id.len() as u32);
        self.0.extend_from_slice(arm.id.as_bytes());
        self.u32(arm.born);
        self.u64(arm.tick);
        self.i128(arm.sums.good);
        self.i128(arm.sums.all);
        self.u64(arm.observations);
        self.u64(arm.choices);
        self.i128(arm.cost);
        self.u64(arm.costs);
        self.bool(arm.linear.is_some());
        if let Some(linear) = &arm.linear {
            self.u32(linear.features() as u32);
            self.u32(linear.born);
            self.u32(linear.updates);
            self.bool(linear.broken);
            let parts =
                [linear.gram.values(), &linear.moment, linear.inverse.values(), &linear.theta];
            parts.into_iter().flatten().for_each(|value| self.f64(*value));
        }
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn i128(&mut self) -> Option<i128> {
        self.take().map(i128::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.u64().map(f64::from_bits)
    }

    fn f64s(&mut self, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|_| self.f64()).collect()
    }

    fn bool(&mut self) -> Option<bool> {
        match self.take()? {
            [0] => Some(false),
            [1] => Some(true),
            [_] => None,
        }
    }

    /// A number of things, if it is a sensible one.
    fn count(&mut self, most: usize) -> Option<usize> {
        let count = usize::try_from(self.u32()?).ok()?;
        (count <= most).then_some(count)
    }

    fn state(&mut self, version: u16) -> Option<(RouterState, u64)> {
        let position = self.u64()?;
        let mut state = RouterState {
            lives: self.u32()?,
            tick: self.u64()?,
            fading_since: self.u64()?,
            fading_factor: self.f64()?,
            fading_hourly: self.bool()?,
            day: self.u64()?.cast_signed(),
            spent: self.i128()?,
            faults: self.u64()?,
            ..RouterState::default()
        };
        let mut sums = [0.0; 5];
        for sum in &mut sums {
            *sum = self.f64()?;
        }
        state.comparison = Comparison { sums, serving: self.bool()? };
        let arms = self.count(MOST_ARMS)?;
        state.arms = (0..arms).map(|_| self.arm()).collect::<Option<_>>()?;
        if version > PLAIN {
            let eras = self.u32()?;
            state.eras = (0..eras).map(|_| self.era()).collect::<Option<_>>()?;
        }
        Some((state, position))
    }

    fn era(&mut self) -> Option<Era> {
        let fading = Fading { factor: self.f64()?, hourly: self.bool()? };
        Some(Era { fading, since: self.u64()?, until: self.u64()? })
    }

    fn arm(&mut self) -> Option<Arm> {
        let length = self.count(200)?;
        let (id, rest) = self.0.split_at_checked(length)?;
        let id = str::from_utf8(id).ok()?.to_owned();
        self.0 = rest;
        Some(Arm {
            id,
            born: self.u32()?,
            tick: self.u64()?,
            sums: Sums { good: self.i128()?, all: self.i128()? },
            observations: self.u64()?,
            choices: self.u64()?,
            cost: self.i128()?,
            costs: self.u64()?,
            linear: if self.bool()? { Some(self.linear()?) } else { None },
        })
    }

    fn linear(&mut self) -> Option<Linear> {
        let size = self.count(MOST_FEATURES)? + 1;
        let (born, updates, broken) = (self.u32()?, self.u32()?, self.bool()?);
        Some(Linear {
            born,
            updates,
            broken,
            gram: Matrix::from_values(size, self.f64s(size * padded(size))?)?,
            moment: self.f64s(padded(size))?,
            inverse: Matrix::from_values(size, self.f64s(size * padded(size))?)?,
            theta: self.f64s(padded(size))?,
        })
    }
}
