//! Injected faults: kill, full disk, clock jump; and backups in between.

use std::fmt;
use std::time::{Duration, Instant};

use crate::load::Load;
use crate::memory::Samples;
use crate::node::Node;
use crate::now;

/// Number of faults over the whole time, and the minimum time between them.
const FAULT_COUNT: f64 = 16.0;
const MIN_FAULT_GAP: Duration = Duration::from_secs(3);
/// Duration of a full disk after the first refused write, and the longest wait for that write.
const FULL_DISK_TIME: Duration = Duration::from_secs(2);
const TOLD_WITHIN: Duration = Duration::from_secs(60);
/// Bytes left on a disk that becomes full.
const FREE_DISK_BYTES: u64 = 64 << 10;
/// Clock offsets, in seconds from the correct time.
const CLOCK_JUMPS_SECS: [i64; 5] = [3600, -1800, 90, -7200, 0];

/// Counts of injected faults.
#[derive(Default)]
pub(crate) struct Faults {
    kills: u32,
    full: u32,
    refused: u64,
    jumps: u32,
    backups: u32,
    without_clock: bool,
    broken: Vec<String>,
}

impl Faults {
    /// Injects faults until the time is over. No kills after `calm`.
    pub(crate) fn inject(
        &mut self,
        node: &mut Node,
        load: &Load,
        memory: &mut Samples,
        begun: Instant,
        time: Duration,
        calm: Duration,
    ) -> anyhow::Result<()> {
        let apart = time.div_f64(FAULT_COUNT).max(MIN_FAULT_GAP);
        for number in 0_usize.. {
            let due = apart * (number as u32 + 1);
            while begun.elapsed() < due.min(time) {
                memory.add(node.starts, load.turns(), node.memory()?);
                std::thread::sleep(Duration::from_millis(250));
            }
            if begun.elapsed() >= time {
                break;
            }
            match number % 4 {
                0 if begun.elapsed() < calm => {
                    node.kill()?;
                    node.restart()?;
                    self.kills += 1;
                }
                0 | 1 => self.jump(node)?,
                2 => self.fill_disk(node, load)?,
                _ => self.back_up(node)?,
            }
        }
        // The final check uses the correct time.
        node.set_clock(0)?;
        Ok(())
    }

    fn jump(&mut self, node: &Node) -> anyhow::Result<()> {
        self.without_clock |=
            !node.set_clock(CLOCK_JUMPS_SECS[self.jumps as usize % CLOCK_JUMPS_SECS.len()])?;
        self.jumps += 1;
        Ok(())
    }

    fn fill_disk(&mut self, node: &Node, load: &Load) -> anyhow::Result<()> {
        let (before, since) = (load.refused(), now());
        node.limit_growth(Some(FREE_DISK_BYTES))?;
        while load.refused() == before && since.elapsed() < TOLD_WITHIN {
            std::thread::sleep(Duration::from_millis(50));
        }
        if load.refused() == before {
            self.broken.push("the disk was full and no write was refused".into());
        }
        std::thread::sleep(FULL_DISK_TIME);
        node.limit_growth(None)?;
        self.full += 1;
        self.refused += load.refused() - before;
        Ok(())
    }

    fn back_up(&mut self, node: &Node) -> anyhow::Result<()> {
        self.backups += 1;
        self.broken.extend(node.back_up()?.map(|why| format!("a backup failed: {why}")));
        Ok(())
    }

    /// Faults that failed or did not happen.
    pub(crate) fn violations(&self) -> Vec<String> {
        self.broken.clone()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "killed {}, disk full {} ({} refused), ", self.kills, self.full, self.refused)?;
        match self.without_clock {
            false => write!(f, "clock jumped {}", self.jumps)?,
            true => write!(f, "clock left alone: no libfaketime (`make servers`)")?,
        }
        write!(f, ", backups {}", self.backups)
    }
}
