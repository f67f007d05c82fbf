//! Binary checkpoints of router state: versioned and checksummed. A checkpoint that fails any check
//! is rejected, and the router replays the log.

use model::hash::fnv1a_64;

use super::discount::{Decay, DiscountEra};
use super::reward_sums::RewardSums;
use super::reward_window::{RewardWindow, TurnPoint, WindowBucket};
use super::ridge_regression::{Matrix, RidgeRegression, padded_len};
use super::shadow_evaluation::ShadowComparison;
use super::state::{ArmState, RouterState};
use super::{MAX_ARMS, MAX_FEATURES};

const MAGIC: [u8; 4] = *b"UpRt";
/// Format without discount eras. Written when a state has none, so that nodes of older releases can
/// read it. Older releases also wrote it after a discount change. The earlier decay is unknown
/// then, and older turns count in full at the change.
const VERSION_WITHOUT_ERAS: u16 = 1;
/// Format without reward windows, written when no arm has one. A router read from it detects falls
/// in later observations.
const VERSION_WITHOUT_WINDOWS: u16 = 2;
/// Raise it with every format change. An unreadable checkpoint is rebuilt from the log.
const CURRENT_VERSION: u16 = 3;

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
        let version = self.checkpoint_version();
        out.put(version.to_le_bytes());
        out.put(position.to_le_bytes());
        out.put(self.generations.to_le_bytes());
        out.put(self.tick.to_le_bytes());
        out.put(self.decay_since.to_le_bytes());
        out.put_decay(self.decay);
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
        if version > VERSION_WITHOUT_WINDOWS {
            self.arms.iter().for_each(|arm| out.put_window(&arm.window));
        }
        let sum = fnv1a_64(&out.0);
        out.put(sum.to_le_bytes());
        out.0
    }

    /// The oldest format that holds the state.
    fn checkpoint_version(&self) -> u16 {
        if self.arms.iter().any(|arm| arm.window != RewardWindow::default()) {
            CURRENT_VERSION
        } else if self.eras.is_empty() {
            VERSION_WITHOUT_ERAS
        } else {
            VERSION_WITHOUT_WINDOWS
        }
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, u64), CheckpointError> {
        let (body, sum) = bytes.split_last_chunk::<8>().ok_or(CheckpointError::Foreign)?;
        let mut from = CheckpointReader(body);
        let ours = from.read(|bytes| bytes) == Some(MAGIC);
        let version = from.read(u16::from_le_bytes);
        let known = |version: &u16| (VERSION_WITHOUT_ERAS..=CURRENT_VERSION).contains(version);
        let version = version.filter(|version| ours && known(version));
        let version = version.ok_or(CheckpointError::Foreign)?;
        // FNV-1a detects every single-byte change.
        if fnv1a_64(body) != u64::from_le_bytes(*sum) {
            return Err(CheckpointError::Damaged);
        }
        from.read_state(version).filter(|_| from.0.is_empty()).ok_or(CheckpointError::Damaged)
    }
}

struct CheckpointWriter(Vec<u8>);

impl CheckpointWriter {
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    fn put_bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn put_decay(&mut self, decay: Decay) {
        self.put(decay.factor.to_le_bytes());
        self.put_bool(decay.hourly);
    }

    fn put_era(&mut self, era: &DiscountEra) {
        self.put_decay(era.decay);
        self.put(era.since.to_le_bytes());
        self.put(era.until.to_le_bytes());
    }

    fn put_window(&mut self, window: &RewardWindow) {
        self.put_point(window.kept_from);
        self.put(window.falls.to_le_bytes());
        self.put((window.buckets.len() as u32).to_le_bytes());
        for bucket in &window.buckets {
            self.put_point(bucket.since);
            self.put(bucket.turns.to_le_bytes());
            self.put(bucket.sums.good.to_le_bytes());
            self.put(bucket.sums.all.to_le_bytes());
            self.put(bucket.squares.to_le_bytes());
        }
    }

    fn put_point(&mut self, (era, tick): TurnPoint) {
        self.put(era.to_le_bytes());
        self.put(tick.to_le_bytes());
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
    fn read<T, const N: usize>(&mut self, decode: fn([u8; N]) -> T) -> Option<T> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(decode(*first))
    }

    fn read_f64s(&mut self, count: usize) -> Option<Vec<f64>> {
        (0..count).map(|_| self.read(f64::from_le_bytes)).collect()
    }

    fn read_bool(&mut self) -> Option<bool> {
        match self.read(u8::from_le_bytes)? {
            0 => Some(false),
            1 => Some(true),
            _ => None,
        }
    }

    fn read_count(&mut self, most: usize) -> Option<usize> {
        let count = usize::try_from(self.read(u32::from_le_bytes)?).ok()?;
        (count <= most).then_some(count)
    }

    fn read_state(&mut self, version: u16) -> Option<(RouterState, u64)> {
        let position = self.read(u64::from_le_bytes)?;
        let mut state = RouterState {
            generations: self.read(u32::from_le_bytes)?,
            tick: self.read(u64::from_le_bytes)?,
            decay_since: self.read(u64::from_le_bytes)?,
            decay: self.read_decay()?,
            spent_day: self.read(i64::from_le_bytes)?,
            spent: self.read(i128::from_le_bytes)?,
            faults: self.read(u64::from_le_bytes)?,
            ..RouterState::default()
        };
        let mut sums = [0.0; 5];
        for sum in &mut sums {
            *sum = self.read(f64::from_le_bytes)?;
        }
        state.comparison = ShadowComparison { sums, serving: self.read_bool()? };
        let arms = self.read_count(MAX_ARMS)?;
        state.arms = (0..arms).map(|_| self.read_arm()).collect::<Option<_>>()?;
        if version > VERSION_WITHOUT_ERAS {
            let eras = self.read(u32::from_le_bytes)?;
            state.eras = (0..eras).map(|_| self.read_era()).collect::<Option<_>>()?;
        }
        if version > VERSION_WITHOUT_WINDOWS {
            for arm in &mut state.arms {
                arm.window = self.read_window()?;
            }
        }
        Some((state, position))
    }

    fn read_window(&mut self) -> Option<RewardWindow> {
        let (kept_from, falls) = (self.read_point()?, self.read(u64::from_le_bytes)?);
        let buckets = self.read(u32::from_le_bytes)?;
        let buckets = (0..buckets).map(|_| self.read_bucket()).collect::<Option<_>>()?;
        Some(RewardWindow { kept_from, falls, buckets })
    }

    fn read_bucket(&mut self) -> Option<WindowBucket> {
        Some(WindowBucket {
            since: self.read_point()?,
            turns: self.read(u64::from_le_bytes)?,
            sums: self.read_sums()?,
            squares: self.read(i128::from_le_bytes)?,
        })
    }

    fn read_point(&mut self) -> Option<TurnPoint> {
        Some((self.read(u32::from_le_bytes)?, self.read(u64::from_le_bytes)?))
    }

    fn read_sums(&mut self) -> Option<RewardSums> {
        Some(RewardSums {
            good: self.read(i128::from_le_bytes)?,
            all: self.read(i128::from_le_bytes)?,
        })
    }

    fn read_decay(&mut self) -> Option<Decay> {
        Some(Decay { factor: self.read(f64::from_le_bytes)?, hourly: self.read_bool()? })
    }

    fn read_era(&mut self) -> Option<DiscountEra> {
        let decay = self.read_decay()?;
        Some(DiscountEra {
            decay,
            since: self.read(u64::from_le_bytes)?,
            until: self.read(u64::from_le_bytes)?,
        })
    }

    fn read_arm(&mut self) -> Option<ArmState> {
        let length = self.read_count(200)?;
        let (id, rest) = self.0.split_at_checked(length)?;
        let id = str::from_utf8(id).ok()?.to_owned();
        self.0 = rest;
        Some(ArmState {
            id,
            generation: self.read(u32::from_le_bytes)?,
            tick: self.read(u64::from_le_bytes)?,
            sums: self.read_sums()?,
            window: RewardWindow::default(),
            observations: self.read(u64::from_le_bytes)?,
            choices: self.read(u64::from_le_bytes)?,
            cost: self.read(i128::from_le_bytes)?,
            paid_calls: self.read(u64::from_le_bytes)?,
            linear: if self.read_bool()? { Some(self.read_regression()?) } else { None },
        })
    }

    fn read_regression(&mut self) -> Option<RidgeRegression> {
        let size = self.read_count(MAX_FEATURES)? + 1;
        let (generation, updates, broken) =
            (self.read(u32::from_le_bytes)?, self.read(u32::from_le_bytes)?, self.read_bool()?);
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
