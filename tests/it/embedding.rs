//! The engine inside another program, through the public API of the crate `uptake`.

#[expect(dead_code, unreachable_pub, reason = "an example has its own main function")]
#[path = "../../examples/embed.rs"]
mod embed;

#[test]
fn embedded_engine_rejects_an_answer_by_the_next_message() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let verdict = runtime.block_on(embed::run(folder.path())).unwrap();
    assert_eq!(verdict, "turn t1: rejected");
    // The turns are durable: a second engine finds them and reports repeats.
    let again = runtime.block_on(embed::run(folder.path())).unwrap();
    assert_eq!(again, verdict);
}
