//! Startup time, memory and binary size.

use crate::fill;
use crate::server::Binary;
use crate::table::Table;
use crate::table::Target::{None, Under};

const EVENTS: usize = 1_000_000;

pub(crate) fn measure(binary: &Binary, table: &mut Table) -> anyhow::Result<()> {
    table.add("binary", binary.megabytes()?, "MB", Under(40.0));
    let server = binary.start()?;
    table.add("memory after start, empty store", server.megabytes()?, "MB", Under(60.0));
    fill::send(&server, 0, EVENTS, 1000, fill::metric)?;
    table.add("memory after 10⁶ metric events", server.megabytes()?, "MB", Under(200.0));
    table.add("disk for 10⁶ metric events", server.data_megabytes()?, "MB", None);
    let mut folder = server.stop()?;
    let (mut quickest, mut memory) = (f64::MAX, 0.0);
    for _ in 0..3 {
        let server = binary.start_in(folder)?;
        quickest = quickest.min(server.started_in.as_secs_f64());
        memory = server.megabytes()?;
        folder = server.stop()?;
    }
    table.add("start to ready, 10⁶ events", quickest, "s", Under(0.3));
    table.add("memory after start, 10⁶ events", memory, "MB", Under(60.0));
    Ok(())
}
