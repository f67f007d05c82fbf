//! The files in `deploy/` parse, and every setting in them exists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn read(name: &str) -> String {
    fs::read_to_string(root().join("deploy").join(name)).unwrap()
}

/// Parses the documents of a YAML file.
fn parse_documents(name: &str) -> Vec<Value> {
    let python = Command::new("scripts/python-with")
        .args(["yaml", "pyyaml==6.0.3"])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&python.stderr).into_owned();
    assert!(python.status.success(), "{said}");
    let python = String::from_utf8(python.stdout).unwrap();
    let program = "import json, sys, yaml; \
        print(json.dumps(list(yaml.safe_load_all(open(sys.argv[1])))))";
    let file = root().join("deploy").join(name);
    let output = Command::new(python.trim()).args(["-c", program]).arg(file).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn compose_file_runs_two_nodes_on_one_database_behind_a_proxy() {
    let compose = parse_documents("compose.yaml").remove(0);
    let services = compose["services"].as_object().unwrap();
    let proxy = read("haproxy.cfg");
    for node in ["uptake-1", "uptake-2"] {
        let settings = &services[node]["environment"];
        let address = settings["UPTAKE__STORE__POSTGRES"].as_str().unwrap();
        assert!(address.contains("@postgres/"), "{address}");
        assert!(proxy.contains(&format!("{node}:8787")), "{proxy}");
        assert_eq!(services[node]["build"]["dockerfile"], "deploy/Containerfile");
    }
    let image = read("Containerfile");
    assert!(image.contains("--features scaled") && image.contains("USER 10001"), "{image}");
}

#[test]
fn kubernetes_manifest_has_readiness_probes() {
    let documents = parse_documents("kubernetes.yaml");
    let kinds: Vec<&str> = documents.iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["Deployment", "Service", "PodDisruptionBudget"]);
    let pod = &documents[0]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["readinessProbe"]["httpGet"]["path"], "/health/ready");
    assert_eq!(container["ports"][0]["containerPort"], 8787);
    assert_eq!(documents[1]["spec"]["selector"], documents[0]["spec"]["selector"]["matchLabels"]);
}

#[test]
fn deploy_files_use_only_existing_settings() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_uptake")).args(["config", "--json"]).output().unwrap();
    let known = String::from_utf8(output.stdout).unwrap();
    for name in ["Containerfile", "compose.yaml", "uptake.service", "README.md"] {
        for line in read(name).lines().filter(|line| !line.trim_start().starts_with("# ")) {
            for setting in line.split("UPTAKE__").skip(1) {
                let of_key = |c: &char| c.is_ascii_uppercase() || *c == '_';
                let key: String = setting.chars().take_while(of_key).collect();
                let key = key.to_lowercase().replace("__", ".");
                assert!(known.contains(&format!("\"{key}\"")), "{name}: there is no setting {key}");
            }
        }
    }
}

#[test]
fn systemd_verifies_the_unit() {
    let Ok(version) = Command::new("systemd-analyze").arg("--version").output() else { return };
    assert!(version.status.success());
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("uptake.service");
    let text = read("uptake.service");
    let here = text.replace("/usr/local/bin/uptake", env!("CARGO_BIN_EXE_uptake"));
    fs::write(&unit, here).unwrap();
    let output = Command::new("systemd-analyze").arg("verify").arg(&unit).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let ours: Vec<&str> = said.lines().filter(|line| line.contains("uptake.service")).collect();
    assert!(ours.is_empty(), "{ours:?}");
}

#[test]
fn make_test_installs_the_programs_that_tests_run() {
    /// On every system, or optional in the test that runs it.
    const PRESENT: [&str; 5] = ["bash", "cp", "kill", "sh", "systemd-analyze"];
    let makefile = fs::read_to_string(root().join("Makefile")).unwrap();
    let target = makefile.split_once("\ntest: ").unwrap().1;
    let needed = target.lines().find(|line| line.contains("scripts/need")).unwrap();
    let call = concat!("Command::new", "(\"");
    for path in crate::layers::rust_files(&root().join("tests/it")) {
        let source = fs::read_to_string(&path).unwrap();
        let programs = source.split(call).skip(1).map(|rest| rest.split('"').next().unwrap());
        for program in programs.filter(|name| !name.contains('/') && !PRESENT.contains(name)) {
            let is_listed = needed.contains(&format!(" {program}:"));
            assert!(
                is_listed,
                "{} runs {program}, which make test does not install",
                path.display()
            );
        }
    }
}
