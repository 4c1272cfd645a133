//! The first command of the README, by the real binary.
use std::process::Command;

/// Runs `agent-sentinel demo`, piped; `terminal` asks for what a terminal would get.
fn demo(terminal: bool) -> (Option<i32>, String, String) {
    demo_in(None, terminal)
}

/// As [`demo`], told how many columns there are.
fn demo_in(columns: Option<&str>, terminal: bool) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agent-sentinel"));
    command
        .arg("demo")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("COLUMNS");
    if let Some(columns) = columns {
        command.env("COLUMNS", columns);
    }
    if terminal {
        command.env("CLICOLOR_FORCE", "1").env_remove("NO_COLOR");
    }
    let output = command.output().expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The system chooses the ports; nothing else changes from run to run.
fn without_ports(text: &str) -> String {
    let mut pieces = text.split("127.0.0.1:");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str("127.0.0.1:PORT");
        out.push_str(piece.trim_start_matches(|digit: char| digit.is_ascii_digit()));
    }
    out
}

#[test]
fn what_should_come_out_comes_out() {
    let (code, stdout, stderr) = demo(false);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    assert_eq!(stderr, "");
    assert!(!stdout.contains('\u{1b}'), "colours where nobody sees them");
    let widest = stdout.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?} columns:\n{stdout}");
    insta::assert_snapshot!(without_ports(&stdout));
}

#[test]
fn a_terminal_gets_the_same_in_colour() {
    let (code, coloured, _) = demo(true);
    assert_eq!(code, Some(0), "{coloured}");
    assert!(coloured.contains('\u{1b}'), "no colours:\n{coloured}");
    let (_, plain, _) = demo(false);
    let stripped = anstream::adapter::strip_str(&coloured).to_string();
    assert_eq!(without_ports(&stripped), without_ports(&plain));
}

#[test]
fn a_terminal_of_80_columns_is_wide_enough() {
    let (code, stdout, stderr) = demo_in(Some("80"), false);
    assert_eq!(code, Some(0), "{stdout}\n{stderr}");
    for line in stdout.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    assert!(stdout.contains("claims that checks passed"), "{stdout}");
}
