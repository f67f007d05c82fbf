//! Apache Kafka in KRaft mode: one node that is broker and controller.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::inventory::find_path;
use super::missing_server::NoServer;
use super::server_process::{Server, ServerProcess, Slot, shared};
use super::supervisor::Launch;
use super::{raw_request, unique_names};

/// A Kafka cluster of one node without automatic topic creation.
pub struct Kafka {
    bootstrap: String,
    port: u16,
    controller_port: u16,
}

impl Kafka {
    /// A server for one test.
    pub fn start() -> Result<ServerProcess<Self>, NoServer> {
        ServerProcess::start()
    }

    /// The server that all tests of this binary share.
    pub fn shared() -> Result<&'static Self, NoServer> {
        static SHARED: Slot<Kafka> = Slot::new();
        shared(&SHARED)
    }

    /// Bootstrap address: `127.0.0.1:PORT`.
    pub fn bootstrap(&self) -> &str {
        &self.bootstrap
    }

    /// A prefix for the topics and groups of one test.
    pub fn prefix(&self) -> String {
        format!("{}-", unique_names::fresh_name())
    }
}

impl Server for Kafka {
    const NAME: &'static str = "Kafka";
    const VARIABLE: &'static str = "UPTAKE_TEST_KAFKA";

    fn from_address(address: &str) -> Result<Self, String> {
        if address.contains("://") || !address.contains(':') {
            return Err(format!("got {address:?}, expected HOST:PORT, several divided by commas"));
        }
        Ok(Self { bootstrap: address.to_owned(), port: 0, controller_port: 0 })
    }

    fn plan(folder: &Path) -> Result<(Self, Launch), NoServer> {
        let java = find_path(Self::NAME, "kafka_java")?;
        let mut jars = find_path(Self::NAME, "kafka_jars")?.into_os_string();
        find_path(Self::NAME, "kafka_formatted")?;
        let port = unique_names::free_port().map_err(Self::broken)?;
        let controller_port = unique_names::free_port().map_err(Self::broken)?;
        let mut command = vec![java.into_os_string()];
        command.extend(JVM.map(Into::into));
        jars.push("/*");
        command.extend(["-cp".into(), jars, "kafka.Kafka".into(), settings(folder).into()]);
        let bootstrap = format!("127.0.0.1:{port}");
        let launch = Launch { command, stop: "TERM", end: "KILL" };
        Ok((Self { bootstrap, port, controller_port }, launch))
    }

    fn prepare(&self, folder: &Path) -> Result<(), NoServer> {
        let formatted = find_path(Self::NAME, "kafka_formatted")?;
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

    /// A broker that has not joined its cluster yet answers too, but lists no broker.
    fn answers(&self) -> io::Result<()> {
        // Metadata, version 1, correlation 7, no client id, no topics.
        let request = [0, 0, 0, 14, 0, 3, 0, 1, 0, 0, 0, 7, 0xff, 0xff, 0, 0, 0, 0];
        let answer = raw_request::exchange(self.port, &request, 12)?;
        let brokers = answer.get(8..12);
        raw_request::ensure_expected(brokers == Some(&[0, 0, 0, 1]), "one broker in the cluster")
    }
}

/// Small and quick to start: a test ends before the C2 compiler pays off.
const JVM: [&str; 4] = [
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];

/// All settings except the addresses: one replica, few threads, little memory. The session timeout is
/// short, since a killed broker rejoins only after it, but long enough for a busy machine.
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
