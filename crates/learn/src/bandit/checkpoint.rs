//! Binary checkpoints of router state: versioned and checksummed. A checkpoint that fails any check
//! is rejected, and the router replays the log.

use super::discount::{Decay, DiscountEra};
use super::matrix::{Matrix, padded_len};
use super::reward_sums::RewardSums;
use super::ridge_regression::RidgeRegression;
use super::shadow_evaluation::ShadowComparison;
use super::state::{ArmState, RouterState};
use super::{MAX_ARMS, MAX_FEATURES};

const MAGIC: [u8; 4] = *b"UpRt";
/// Format without discount eras. Written when a state has none, so that nodes of older releases can
/// read it. Older releases also wrote it after a discount change. The earlier decay is unknown
/// then, and older turns count in full at the change.
const VERSION_WITHOUT_ERAS: u16 = 1;
/// Raise it with every format change. An unreadable checkpoint is rebuilt from the log.
const CURRENT_VERSION: u16 = 2;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    /// Written by another program or a later version.
    #[error("not a router checkpoint of version {VERSION_WITHOUT_ERAS} to {CURRENT_VERSION}")]
    Foreign,
    #[error("the router checkpoint is damaged")]
    Damaged,
}

impl RouterState {
    /// Encodes the state after the log event at `position`.
    pub fn to_bytes(&self, position: u64) -> Vec<u8> {
        let mut out = CheckpointWriter(Vec::new());
        out.put(MAGIC);
        let version = if self.eras.is_empty() { VERSION_WITHOUT_ERAS } else { CURRENT_VERSION };
        out.put(version.to_le_bytes());
        out.put(position.to_le_bytes());
        out.put(self.generations.to_le_bytes());
        out.put(self.tick.to_le_bytes());
        out.put(self.decay_since.to_le_bytes());
        out.put(self.decay_factor.to_le_bytes());
        out.put_bool(self.decay_hourly);
        out.put(self.spent_day.to_le_bytes());
        out.put(self.spent.to_le_bytes());
        out.put(self.faults.to_le_bytes());
        self.comparison.sums.iter().for_each(|sum| out.put(sum.to_le_bytes()));
        out.put_bool(self.comparison.serving);
        out.put((self.arms.len() as u32).to_le_bytes());
        for arm in &self.arms {
            out.put_arm(arm);
        }
        if version > VERSION_WITHOUT_ERAS {
            out.put(self.current_era().to_le_bytes());
            self.eras.iter().for_each(|era| out.put_era(era));
        }
        let sum = fnv1a_checksum(&out.0);
        out.put(sum.to_le_bytes());
        out.0
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, u64), CheckpointError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(CheckpointError::Foreign)?;
        let mut from = CheckpointReader(body);
        let ours = from.take_bytes() == Some(MAGIC);
        let version = from.take_bytes().map(u16::from_le_bytes);
        let known = |version: &u16| (VERSION_WITHOUT_ERAS..=CURRENT_VERSION).contains(version);
        let version = version.filter(|version| ours && known(version));
        let version = version.ok_or(CheckpointError::Foreign)?;
        if fnv1a_checksum(body) != u64::from_le_bytes(*sum) {
            return Err(CheckpointError::Damaged);
        }
        from.read_state(version).filter(|_| from.0.is_empty()).ok_or(CheckpointError::Damaged)
    }
}

/// FNV-1a detects every single-byte change.
fn fnv1a_checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

struct CheckpointWriter(Vec<u8>);

impl CheckpointWriter {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    fn put_bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn put_era(&mut self, era: &DiscountEra) {
        self.put(era.decay.factor.to_le_bytes());
        self.put_bool(era.decay.hourly);
        self.put(era.since.to_le_bytes());
        self.put(era.until.to_le_bytes());
    }

    fn put_arm(&mut self, arm: &ArmState) {
        self.put((arm.id.len() as u32).to_le_bytes());
        self.0.extend_from_slice(arm.id.as_bytes());
        self.put(arm.generation.to_le_bytes());
        self.put(arm.tick.to_le_bytes());
        self.put(arm.sums.good.to_le_bytes());
        self.put(arm.sums.all.to_le_bytes());
        self.put(arm.observations.to_le_bytes());
        self.put(arm.choices.to_le_bytes());
        self.put(arm.cost.to_le_bytes());
        self.put(arm.paid_calls.to_le_bytes());
        self.put_bool(arm.linear.is_some());
        if let Some(linear) = &arm.linear {
            self.put((linear.feature_count() as u32).to_le_bytes());
            self.put(linear.generation.to_le_bytes());
            self.put(linear.updates.to_le_bytes());
            self.put_bool(linear.broken);
            let (gram, inverse) = (linear.gram.values(), linear.inverse.values());
            let parts = [gram, &linear.moment, inverse, &linear.coefficients];
            parts.into_iter().flatten().for_each(|value| self.put(value.to_le_bytes()));
        }
    }
}

struct CheckpointReader<'a>(&'a [u8]);

impl CheckpointReader<'_> {
    fn take_bytes<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn read_u32(&mut self) -> Option<u32> {
        self.take_bytes().map(u32::from_le_bytes)
    }

    fn read_u64(&mut self) -> Option<u64> {
        self.take_bytes().map(u64::from_le_bytes)
    }

    fn read_i128(&mut self) -> Option<i128> {
        self.take_bytes().map(i128::from_le_bytes)
    }

    fn read_f64(&mut self) -> Option<f64> {
        self.read_u64().map(f64::from_bits)
    }

    fn read_f64s(&mut self, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|_| self.read_f64()).collect()
    }

    fn read_bool(&mut self) -> Option<bool> {
        match self.take_bytes()? {
            [0] => Some(false),
            [1] => Some(true),
            [_] => None,
        }
    }

    fn read_count(&mut self, most: usize) -> Option<usize> {
        let count = usize::try_from(self.read_u32()?).ok()?;
        (count <= most).then_some(count)
    }

    fn read_state(&mut self, version: u16) -> Option<(RouterState, u64)> {
        let position = self.read_u64()?;
        let mut state = RouterState {
            generations: self.read_u32()?,
            tick: self.read_u64()?,
            decay_since: self.read_u64()?,
            decay_factor: self.read_f64()?,
            decay_hourly: self.read_bool()?,
            spent_day: self.read_u64()?.cast_signed(),
            spent: self.read_i128()?,
            faults: self.read_u64()?,
            ..RouterState::default()
        };
        let mut sums = [0.0; 5];
        for sum in &mut sums {
            *sum = self.read_f64()?;
        }
        state.comparison = ShadowComparison { sums, serving: self.read_bool()? };
        let arms = self.read_count(MAX_ARMS)?;
        state.arms = (0..arms).map(|_| self.read_arm()).collect::<Option<_>>()?;
        if version > VERSION_WITHOUT_ERAS {
            let eras = self.read_u32()?;
            state.eras = (0..eras).map(|_| self.read_era()).collect::<Option<_>>()?;
        }
        Some((state, position))
    }

    fn read_era(&mut self) -> Option<DiscountEra> {
        let decay = Decay { factor: self.read_f64()?, hourly: self.read_bool()? };
        Some(DiscountEra { decay, since: self.read_u64()?, until: self.read_u64()? })
    }

    fn read_arm(&mut self) -> Option<ArmState> {
        let length = self.read_count(200)?;
        let (id, rest) = self.0.split_at_checked(length)?;
        let id = str::from_utf8(id).ok()?.to_owned();
        self.0 = rest;
        Some(ArmState {
            id,
            generation: self.read_u32()?,
            tick: self.read_u64()?,
            sums: RewardSums { good: self.read_i128()?, all: self.read_i128()? },
            observations: self.read_u64()?,
            choices: self.read_u64()?,
            cost: self.read_i128()?,
            paid_calls: self.read_u64()?,
            linear: if self.read_bool()? { Some(self.read_regression()?) } else { None },
        })
    }

    fn read_regression(&mut self) -> Option<RidgeRegression> {
        let size = self.read_count(MAX_FEATURES)? + 1;
        let (generation, updates, broken) = (self.read_u32()?, self.read_u32()?, self.read_bool()?);
        Some(RidgeRegression {
            generation,
            updates,
            broken,
            gram: Matrix::from_values(size, self.read_f64s(size * padded_len(size))?)?,
            moment: self.read_f64s(padded_len(size))?,
            inverse: Matrix::from_values(size, self.read_f64s(size * padded_len(size))?)?,
            coefficients: self.read_f64s(padded_len(size))?,
        })
    }
}
