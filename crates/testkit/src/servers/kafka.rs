//! Apache Kafka in KRaft mode: one node that is broker and controller.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::installed::path_of;
use super::keeper::Launch;
use super::missing::NoServer;
use super::running::{Running, Server, Slot, shared};
use super::{place, wire};

/// A Kafka cluster of one node; it makes no topic that it was not told to make.
pub struct Kafka {
    bootstrap: String,
    port: u16,
    controller_port: u16,
}

impl Kafka {
    /// One for this test alone.
    pub fn start() -> Result<Running<Self>, NoServer> {
        Running::start()
    }

    /// The one that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Kafka> = Slot::new();
        shared(&SHARED)
    }

    /// Where clients begin, as `127.0.0.1:PORT`.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// What a test's topics and groups begin with, so that it does not see those of others.
    pub fn prefix(&self) -> String {
        format!("{}-", place::fresh_name())
    }
}

impl Server for Kafka {
    const NAME: &'static str = "Kafka";
    const VARIABLE: &'static str = "UPTAKE_TEST_KAFKA";

    fn at(address: &str) -> Result<Self, String> {
        if address.contains("://") || !address.contains(':') {
            return Err(format!("got {address:?}, expected HOST:PORT, several divided by commas"));
        }
        Ok(Self { bootstrap: address.to_owned(), port: 0, controller_port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let java = path_of(Self::NAME, "kafka_java")?;
        let mut jars = path_of(Self::NAME, "kafka_jars")?.into_os_string();
        path_of(Self::NAME, "kafka_formatted")?;
        let port = place::free_port().map_err(Self::broken)?;
        let controller_port = place::free_port().map_err(Self::broken)?;
        let mut command = vec![java.into_os_string()];
        command.extend(JVM.map(Into::into));
        jars.push("/*");
        command.extend(["-cp".into(), jars, "kafka.Kafka".into(), settings(folder).into()]);
        let bootstrap = format!("127.0.0.1:{port}");
        let launch = Launch { command, stop: "TERM", end: "KILL" };
        Ok((Self { bootstrap, port, controller_port }, launch))
    }

    fn prepare(&self, folder: &Path) -> Result<(), NoServer> {
        let formatted = path_of(Self::NAME, "kafka_formatted")?;
        let data = folder.join("data");
        copy_files(&formatted, &data).map_err(Self::broken)?;
        let (port, controller) = (self.port, self.controller_port);
        let text = format!(
            "{SETTINGS}log.dirs={data}\n\
             listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{controller}\n\
             controller.quorum.voters=1@127.0.0.1:{controller}\n",
            data = data.display()
        );
        fs::write(settings(folder), text).map_err(Self::broken)
    }

    /// A broker that is not yet let into its cluster answers too, but names no broker.
    fn answers(&self) -> io::Result<()> {
        // Metadata, version 1, correlation 7, no client id, no topics.
        let request = [0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0, 0, 0, 0];
        let answer = wire::ask(self.port, &request, 12)?;
        let brokers = answer.get(8..12);
        wire::expect(brokers == Some(&[0, 0, 0, 1]), "one broker in the cluster")
    }
}

/// Small, and quick to start: a test does not run long enough for the second compiler to pay.
const JVM: [&str; 4] = [
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/// Everything but the addresses: one copy of all there is, and not more threads and memory than needed.
/// A session that is not long, because a broker that was killed is let in again only when its old session is over,
/// and not so short that a busy machine ends it.
const SETTINGS: &str = "\
process.roles=broker,controller
node.id=1
controller.listener.names=CONTROLLER
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
share.coordinator.state.topic.num.partitions=1
group.initial.rebalance.delay.ms=0
broker.session.timeout.ms=6000
broker.heartbeat.interval.ms=500
log.cleaner.dedupe.buffer.size=2097152
num.network.threads=2
num.io.threads=2
background.threads=2
";

fn settings(folder: &Path) -> PathBuf {
    folder.join("server.properties")
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
