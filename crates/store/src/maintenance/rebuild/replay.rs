//! Replays the log in scratch databases, several projects at a time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use model::{Change, Position};
use sql::Connection;

use crate::error::StoreError;
use crate::event_rows::{self, EventKeys, StoredEvent};
use crate::maintenance::rebuild::compare::compare;
use crate::maintenance::rebuild::layout::Layout;
use crate::maintenance::rebuild::scratch::{self, NewId, Scratch};
use crate::maintenance::rebuild::snapshot::{Plans, Snapshot, plan, renew};
use crate::maintenance::rebuild::{Instructions, Site};
use crate::projections::apply::{Subject, apply};
use crate::projections::baseline_positions;
use crate::row_keys::Key;

const PAGE_EVENTS: usize = 1000;
/// Pages that are read while one is applied.
const PAGES_AHEAD: usize = 2;
/// A tail of this many events is replayed while the log is held.
const SHORT_TAIL: u64 = 1000;

/// Events with their changes.
type Page = Vec<(Subject, Vec<Change>)>;

/// The projections as they follow from the log up to `head`.
pub(super) struct Replay {
    pub(super) scratches: Vec<Scratch>,
    pub(super) layouts: Vec<Layout>,
    /// Sees the store at `head`.
    pub(super) reader: Connection,
    head: Position,
    pub(super) events: u64,
    /// Ids that the store lacks.
    pub(super) new_ids: Vec<NewId>,
    projects: HashSet<Key>,
}

/// A project's part of the log.
#[derive(Clone, Copy, Debug)]
struct Project {
    key: Key,
    events: u64,
}

struct Progress<'a> {
    how: &'a Instructions,
    done: AtomicU64,
    total: u64,
}

impl Progress<'_> {
    fn add(&self, events: usize) {
        let tell = self.how.progress.lock();
        let events = events as u64;
        tell(self.done.fetch_add(events, Ordering::Relaxed) + events, self.total);
    }
}

impl Replay {
    pub(super) fn run(
        snapshot: Snapshot,
        site: &Site,
        how: &Instructions,
    ) -> Result<Self, StoreError> {
        let Snapshot { readers, head } = snapshot;
        let projects = match readers.first() {
            Some(reader) => read_projects(reader, head)?,
            None => return Err(StoreError::Closed),
        };
        let keys: HashSet<Key> = projects.iter().map(|project| project.key).collect();
        let total = projects.iter().map(|project| project.events).sum();
        let progress = Progress { how, done: AtomicU64::new(0), total };
        let shares = share(projects, readers.len());
        let parts = std::thread::scope(|scope| {
            let workers = readers.into_iter().zip(shares).map(|(reader, share)| {
                let (worker, progress) = (Worker { reader, share, upto: head }, &progress);
                scope.spawn(move || worker.run(site, progress))
            });
            let workers: Vec<_> = workers.collect();
            let join = |worker: std::thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|_| Err(panicked()))
            };
            workers.into_iter().map(join).collect::<Result<Vec<_>, StoreError>>()
        })?;
        let (scratches, mut readers): (Vec<Scratch>, Vec<Connection>) = parts.into_iter().unzip();
        let (Some(first), reader) = (scratches.first(), readers.swap_remove(0)) else {
            return Err(StoreError::Closed);
        };
        let layouts = Layout::read_all(&first.connection)?;
        let (events, new_ids) = (progress.done.into_inner(), Vec::new());
        let mut this = Self { scratches, layouts, reader, head, events, new_ids, projects: keys };
        this.finish()?;
        Ok(this)
    }

    /// Applies settings of tenants, and finds ids that the store lacks.
    fn finish(&mut self) -> Result<(), StoreError> {
        let settings =
            self.scratches.iter_mut().map(|scratch| std::mem::take(&mut scratch.settings));
        let mut settings: Vec<_> = settings.flatten().collect();
        settings.sort_by_key(|(subject, _)| subject.position);
        for (subject, change) in settings {
            let owner = scratch::owner_of_settings(&self.reader, subject.project)?;
            let scratch = self.scratch_of(owner)?;
            apply(&scratch.connection, &subject, &change)?;
        }
        self.new_ids.clear();
        for scratch in &self.scratches {
            self.new_ids.extend(scratch.new_ids()?);
        }
        Ok(())
    }

    /// The projections that differ from the store.
    pub(super) fn find_differences(self) -> Result<(Self, Vec<&'static str>), StoreError> {
        let mut differing = Vec::new();
        for layout in &self.layouts {
            let mut differs = false;
            compare(layout, &self.reader, &self.scratches, |_| {
                differs = true;
                Ok(std::ops::ControlFlow::Break(()))
            })?;
            differing.extend(differs.then_some(layout.table));
        }
        Ok((self, differing))
    }

    /// Replays what was written since, until only a short tail is left. `None` when the replay is
    /// outdated.
    pub(super) fn catch_up(mut self, how: &Instructions) -> Result<Option<Self>, StoreError> {
        loop {
            match self.follow(how)? {
                None => return Ok(None),
                Some(events) if events < SHORT_TAIL => return Ok(Some(self)),
                Some(_) => {}
            }
        }
    }

    /// Replays the events after `head`. Returns their number, or `None` when the replay is outdated.
    pub(super) fn follow(&mut self, how: &Instructions) -> Result<Option<u64>, StoreError> {
        let before = self.head;
        self.head = renew(&self.reader)?;
        if self.is_outdated(before)? {
            return Ok(None);
        }
        plan(&self.reader, Plans::ByIndex)?;
        let (mut after, mut events, mut copied) = (before, 0, HashSet::new());
        loop {
            let page = event_rows::read_tail_with_keys(&self.reader, after, PAGE_EVENTS)?;
            let Some((last, _)) = page.last() else { break };
            after = last.position;
            for (subject, changes) in with_changes(page, how) {
                if copied.insert(subject.project) {
                    self.add_project(subject.project)?;
                }
                let scratch = self.scratch_of(subject.project)?;
                scratch.apply(&subject, changes)?;
                events += 1;
            }
        }
        plan(&self.reader, Plans::ByCost)?;
        self.events += events;
        self.finish()?;
        Ok(Some(events))
    }

    /// True when events that were replayed have changed, or events after `before` were dropped.
    fn is_outdated(&self, before: Position) -> Result<bool, StoreError> {
        let erased = "SELECT 1 FROM users WHERE erased > ?1 LIMIT 1";
        if self.reader.exists(erased, [before.0 as i64])? {
            return Ok(true);
        }
        let baselines = baseline_positions::positions(&self.reader)?;
        if baselines.values().any(|position| *position > before) {
            return Ok(true);
        }
        let left: Vec<Key> = self.reader.read_rows("SELECT key FROM projects", ())?;
        let left: HashSet<Key> = left.into_iter().collect();
        Ok(!self.projects.is_subset(&left))
    }

    /// Copies the ids that a project has now.
    fn add_project(&mut self, project: Key) -> Result<(), StoreError> {
        let is_new = self.projects.insert(project);
        let Self { scratches, reader, .. } = self;
        let place = if is_new { 0 } else { place_of(scratches, project)? };
        let Some(scratch) = scratches.get_mut(place) else { return Err(StoreError::Closed) };
        if is_new {
            scratch.projects.insert(project);
            scratch.copy_projects(reader)?;
        }
        scratch.copy_ids(reader, &project.to_string())
    }

    fn scratch_of(&mut self, project: Key) -> Result<&mut Scratch, StoreError> {
        let place = place_of(&self.scratches, project)?;
        self.scratches.get_mut(place).ok_or(StoreError::Closed)
    }
}

fn place_of(scratches: &[Scratch], project: Key) -> Result<usize, StoreError> {
    let place = scratches.iter().position(|scratch| scratch.projects.contains(&project));
    place.ok_or_else(|| StoreError::Corrupt(format!("project {project} was not replayed")))
}

/// All projects, with the number of events to replay.
fn read_projects(reader: &Connection, head: Position) -> Result<Vec<Project>, StoreError> {
    reader.read_rows_with(
        "SELECT p.key, (SELECT count(*) FROM events e WHERE e.project = p.key
             AND e.position > coalesce(b.position, 0) AND e.position <= ?1)
         FROM projects p LEFT JOIN baselines b ON b.project = p.key ORDER BY p.key",
        [head.0 as i64],
        |row| {
            let (key, events) = row.read()?;
            Ok(Project { key, events })
        },
    )
}

/// Gives each worker about the same number of events.
fn share(mut projects: Vec<Project>, workers: usize) -> Vec<Vec<Project>> {
    projects.sort_by_key(|project| std::cmp::Reverse(project.events));
    let mut shares: Vec<(u64, Vec<Project>)> = vec![(0, Vec::new()); workers];
    for project in projects {
        if let Some((events, share)) = shares.iter_mut().min_by_key(|(events, _)| *events) {
            *events += project.events;
            share.push(project);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// A thread with a read connection and a scratch database.
struct Worker {
    reader: Connection,
    share: Vec<Project>,
    upto: Position,
}

impl Worker {
    fn run(
        mut self,
        site: &Site,
        progress: &Progress<'_>,
    ) -> Result<(Scratch, Connection), StoreError> {
        let mut scratch = Scratch::create(&site.folder, &self.reader)?;
        scratch.projects = self.share.iter().map(|project| project.key).collect();
        let keys: Vec<String> = self.share.iter().map(|project| project.key.to_string()).collect();
        if !keys.is_empty() {
            scratch.copy_ids(&self.reader, &keys.join(", "))?;
        }
        // Retention may have moved a baseline between the snapshots of two workers.
        let baselines = baseline_positions::positions(&self.reader)?;
        self.restore_baselines(&scratch, &baselines)?;
        plan(&self.reader, Plans::ByIndex)?;
        for project in std::mem::take(&mut self.share) {
            let start = baselines.get(&project.key).copied().unwrap_or_default();
            self.replay(&mut scratch, (project.key, start), progress)?;
        }
        plan(&self.reader, Plans::ByCost)?;
        Ok((scratch, self.reader))
    }

    fn restore_baselines(
        &self,
        scratch: &Scratch,
        baselines: &HashMap<Key, Position>,
    ) -> Result<(), StoreError> {
        let own = scratch.projects.iter().filter(|project| baselines.contains_key(project));
        let own: Vec<String> = own.map(Key::to_string).collect();
        if own.is_empty() {
            return Ok(());
        }
        for layout in Layout::read_all(&scratch.connection)? {
            let condition = baseline_positions::project_rows(layout.table, &own.join(", "));
            scratch.copy_baseline(&self.reader, &layout, &condition)?;
        }
        Ok(())
    }

    /// Applies a project's events while another thread reads the next ones.
    fn replay(
        &mut self,
        scratch: &mut Scratch,
        project: (Key, Position),
        progress: &Progress<'_>,
    ) -> Result<(), StoreError> {
        let (reader, upto) = (&mut self.reader, self.upto);
        std::thread::scope(|scope| {
            let (send, pages) = sync_channel(PAGES_AHEAD);
            let reading =
                scope.spawn(move || read_pages(reader, project, upto, progress.how, &send));
            // Drops the receiver, which ends the other thread when a page could not be applied.
            let applied = apply_pages(scratch, pages, progress);
            let read = reading.join().unwrap_or_else(|_| Err(panicked()));
            applied.and(read)
        })
    }
}

fn read_pages(
    reader: &mut Connection,
    (project, start): (Key, Position),
    upto: Position,
    how: &Instructions,
    pages: &SyncSender<Page>,
) -> Result<(), StoreError> {
    let mut after = start;
    loop {
        let page = event_rows::read_project_with_keys(reader, project, (after, upto), PAGE_EVENTS)?;
        let Some((last, _)) = page.last() else { return Ok(()) };
        after = last.position;
        if pages.send(with_changes(page, how)).is_err() {
            return Ok(()); // the error of the other thread counts
        }
    }
}

fn apply_pages(
    scratch: &mut Scratch,
    pages: Receiver<Page>,
    progress: &Progress<'_>,
) -> Result<(), StoreError> {
    for page in pages {
        let events = page.len();
        for (subject, changes) in page {
            scratch.apply(&subject, changes)?;
        }
        progress.add(events);
    }
    Ok(())
}

fn with_changes(page: Vec<(StoredEvent, EventKeys)>, how: &Instructions) -> Page {
    let with_changes = |(stored, keys)| {
        let (subject, event) = Subject::from_stored(stored, keys);
        (subject, (how.changes_of)(&event))
    };
    page.into_iter().map(with_changes).collect()
}

fn panicked() -> StoreError {
    StoreError::Unavailable("a replay of the log panicked".into())
}
