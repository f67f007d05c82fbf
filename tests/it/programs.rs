//! The programs in `examples` learn what they say they do.

use std::process::Command;

use crate::server::Server;

/// Runs one of them against a server: whether it learnt, and what it printed.
fn run(url: &str, program: &str, key: Option<&str>) -> (bool, String) {
    let mut command = Command::new("python3");
    command.arg(format!("examples/{program}")).env("UPTAKE_URL", url);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("UPTAKE_KEY");
    command.envs(key.map(|key| ("UPTAKE_KEY", key)));
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// The programs, without what they share.
fn programs() -> Vec<String> {
    let files = std::fs::read_dir("examples").unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut programs: Vec<String> =
        names.filter(|name| name.ends_with(".py") && name != "uptake.py").collect();
    programs.sort();
    programs
}

#[test]
fn each_learns_and_learns_again_on_the_same_server() {
    let programs = programs();
    assert_eq!(programs, ["chat.py", "feedback.py", "rag.py", "router.py", "text_to_sql.py"]);
    let server = Server::start();
    for program in &programs {
        let (learnt, said) = run(&server.url, program, None);
        assert!(learnt && said.contains("learnt: "), "{program}\n{said}");
    }
    // A second run is not helped by the first. (The cheapest two; a project of its own is the same code.)
    for program in ["chat.py", "rag.py"] {
        let (learnt, said) = run(&server.url, program, None);
        assert!(learnt, "{program}\n{said}");
    }
}

#[test]
fn they_work_with_a_key_and_say_what_is_wrong() {
    let server = Server::start();
    let key = crate::keys::create(&server, &["--tenant", "examples", "--role", "admin"]);
    let (learnt, said) = run(&server.url, "chat.py", Some(&key));
    assert!(learnt, "{said}");
    let (learnt, said) = run(&server.url, "chat.py", None);
    assert!(!learnt && said.contains("401"), "{said}");
    let nowhere = "http://127.0.0.1:9";
    let (learnt, said) = run(nowhere, "chat.py", None);
    assert!(!learnt && said.contains(&format!("no server answers at {nowhere}")), "{said}");
}

#[test]
fn one_whose_lesson_is_not_learnt_fails() {
    // Nothing is ever sure enough to count as a rejection here.
    let settings = [("UPTAKE__DETECT__MIN_CONFIDENCE", "1.0")];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    let (learnt, said) = run(&server.url, "chat.py", None);
    assert!(!learnt && said.contains("NOT LEARNT: the first answer was rejected"), "{said}");
}
