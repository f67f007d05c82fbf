//! What goes wrong, in turn: the server is killed, its disk is full, its clock jumps; and a backup is taken.

use std::fmt;
use std::time::{Duration, Instant};

use crate::load::Load;
use crate::memory::Samples;
use crate::node::Node;
use crate::now;

/// So many faults in the whole time, at the least so far apart.
const FAULTS: f64 = 16.0;
const APART: Duration = Duration::from_secs(3);
/// How long a disk stays full once somebody was told so, and how soon somebody has to be.
const FULL: Duration = Duration::from_secs(2);
const TOLD_WITHIN: Duration = Duration::from_secs(60);
/// Room that is left on a disk that gets full.
const ROOM: u64 = 64 << 10;
/// Where the clock jumps to, in seconds from the right time.
const JUMPS: [i64; 5] = [3600, -1800, 90, -7200, 0];

/// What was done.
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
    /// Until the time is over. After `calm` nobody is killed.
    pub(crate) fn inject(
        &mut self,
        node: &mut Node,
        load: &Load,
        memory: &mut Samples,
        begun: Instant,
        time: Duration,
        calm: Duration,
    ) -> anyhow::Result<()> {
        let apart = time.div_f64(FAULTS).max(APART);
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
        // The check at the end is by the right time.
        node.set_clock(0)?;
        Ok(())
    }

    fn jump(&mut self, node: &Node) -> anyhow::Result<()> {
        self.without_clock |= !node.set_clock(JUMPS[self.jumps as usize % JUMPS.len()])?;
        self.jumps += 1;
        Ok(())
    }

    fn fill_disk(&mut self, node: &Node, load: &Load) -> anyhow::Result<()> {
        let (before, since) = (load.refused(), now());
        node.limit_growth(Some(ROOM))?;
        while load.refused() == before && since.elapsed() < TOLD_WITHIN {
            std::thread::sleep(Duration::from_millis(50));
        }
        if load.refused() == before {
            self.broken.push("the disk was full and nobody was told".into());
        }
        std::thread::sleep(FULL);
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

    /// What did not work out, or did not happen.
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
