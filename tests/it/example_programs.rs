//! The programs in `examples` learn what they claim.

use std::process::Command;

use crate::server::Server;

/// Runs a program against a server: true when it succeeded, and its output.
fn run_program(url: &str, program: &str, key: Option<&str>) -> (bool, String) {
    let mut command = Command::new("python3");
    command.arg(format!("examples/{program}")).env("UPTAKE_URL", url);
    command.env("PYTHONDONTWRITEBYTECODE", "1").env_remove("UPTAKE_KEY");
    command.envs(key.map(|key| ("UPTAKE_KEY", key)));
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8_lossy(&said).into_owned())
}

/// The programs, without shared modules.
fn list_programs() -> Vec<String> {
    let files = std::fs::read_dir("examples").unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut programs: Vec<String> =
        names.filter(|name| name.ends_with(".py") && name != "uptake.py").collect();
    programs.sort();
    programs
}

#[test]
fn example_programs_learn_repeatedly_on_one_server() {
    let programs = list_programs();
    assert_eq!(programs, ["chat.py", "feedback.py", "rag.py", "router.py", "text_to_sql.py"]);
    let server = Server::start();
    for program in &programs {
        let (learnt, said) = run_program(&server.url, program, None);
        assert!(learnt && said.contains("learnt: "), "{program}\n{said}");
    }
    // A second run does not profit from the first. (The two fastest; a project of its own is the same code.)
    for program in ["chat.py", "rag.py"] {
        let (learnt, said) = run_program(&server.url, program, None);
        assert!(learnt, "{program}\n{said}");
    }
}

#[test]
fn example_programs_use_a_key_and_report_errors() {
    let server = Server::start();
    let key = crate::keys::create(&server, &["--tenant", "examples", "--role", "admin"]);
    let (learnt, said) = run_program(&server.url, "chat.py", Some(&key));
    assert!(learnt, "{said}");
    let (learnt, said) = run_program(&server.url, "chat.py", None);
    assert!(!learnt && said.contains("401"), "{said}");
    let nowhere = "http://127.0.0.1:9";
    let (learnt, said) = run_program(nowhere, "chat.py", None);
    assert!(!learnt && said.contains(&format!("no server answers at {nowhere}")), "{said}");
}

#[test]
fn example_program_fails_when_nothing_is_learned() {
    // The rejection threshold is never reached here.
    let settings = [("UPTAKE__DETECT__MIN_CONFIDENCE", "1.0")];
    let server = Server::start_with(tempfile::tempdir().unwrap(), &settings);
    let (learnt, said) = run_program(&server.url, "chat.py", None);
    assert!(!learnt && said.contains("NOT LEARNT: the first answer was rejected"), "{said}");
}
