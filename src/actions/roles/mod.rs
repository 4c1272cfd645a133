//! Tool names to roles: one table of the tools of agents people run, then the verbs in the name.
//!
//! Invariant: the user's globs win over the table, the table over verbs. A name that says nothing is
//! [`Role::Other`], which no rule trusts.

mod table;

use std::sync::LazyLock;

use hashbrown::HashMap;

use crate::model::Role;

use super::Settings;
use super::script::Words;

/// Role of each folded name.
static TABLE: LazyLock<HashMap<&'static str, Role>> = LazyLock::new(|| {
    table::TABLE
        .iter()
        .flat_map(|(role, names)| names.split(' ').map(|name| (name, *role)))
        .collect()
});

/// Words that make a tool of no known role a reader (A6).
const READING: Words = Words(
    "get list read show find search query lookup describe count status view check inspect \
     browse",
);

/// Words that say that something is changed: they take the name off the readers.
const CHANGING: Words = Words(
    "set create update delete remove add insert write edit modify change cancel book send post \
     put patch save move rename copy deploy migrate restart start stop run execute exec apply \
     commit push merge upload reset replace submit return exchange transfer pay order buy sell \
     assign approve reject close open kill drop grant revoke enable disable install publish \
     release append store register schedule mark complete reserve refund clear launch spawn \
     trigger rollback scale sync",
);

/// What kind of tool this is. The name is compared without case and separators, with and without the
/// prefix of a server or plug-in (`server__name`, `mcp__server__name`, `server.name`, `Plugin-name`).
pub fn role(tool: &str, settings: &Settings) -> Role {
    if let Some(role) = settings.tools.of(tool) {
        return role;
    }
    if let Some(role) = listed(tool) {
        return role;
    }
    for bare in bare_names(tool) {
        if let Some(role) = settings.tools.of(bare).or_else(|| listed(bare)) {
            return role;
        }
    }
    by_words(tool)
}

/// Tools that tell the time: what others leave out of an answer is all that theirs says.
const CLOCKS: &[&str] = &[
    "time",
    "clock",
    "now",
    "date",
    "datetime",
    "gettime",
    "getdate",
    "getdatetime",
    "getnow",
    "currenttime",
    "currentdate",
    "currentdatetime",
    "getcurrenttime",
    "getcurrentdate",
    "getcurrentdatetime",
    "getcurrenttimestamp",
    "gettimestamp",
    "timestamp",
    "timenow",
    "whattimeisit",
    "systemtime",
    "getsystemtime",
    "localtime",
    "getlocaltime",
];

/// Whether a tool tells the time, so that no token of its answer is noise.
pub fn tells_time(tool: &str) -> bool {
    // Nearly all names end here.
    let hint = |part: &[u8]| {
        let name = tool.as_bytes();
        name.windows(part.len())
            .any(|w| w.eq_ignore_ascii_case(part))
    };
    if tool.len() > 64
        || ![&b"time"[..], b"date", b"now", b"clock"]
            .into_iter()
            .any(hint)
    {
        return false;
    }
    std::iter::once(tool)
        .chain(bare_names(tool))
        .filter_map(fold)
        .any(|name| CLOCKS.contains(&name.as_str()))
}

fn listed(name: &str) -> Option<Role> {
    let folded = fold(name)?;
    TABLE.get(folded.as_str()).copied()
}

/// Lower case, letters and digits only; `None` for names too long to be in the table.
pub(super) fn fold(name: &str) -> Option<String> {
    if name.len() > 128 {
        return None;
    }
    let folded: String = name
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    (!folded.is_empty()).then_some(folded)
}

/// The name without what stands before a server separator, shortest prefix first.
pub(super) fn bare_names(tool: &str) -> impl Iterator<Item = &str> {
    // `mcp_server_tool` and `builtin_tool`, as some clients write them.
    let single = tool
        .strip_prefix("mcp_")
        .filter(|rest| !rest.starts_with('_'))
        .and_then(|rest| rest.split_once('_').map(|(_, name)| name))
        .or_else(|| tool.strip_prefix("builtin_"));
    ["__", ".", "/", ":", "-"]
        .into_iter()
        .filter_map(move |separator| tool.rsplit_once(separator).map(|(_, name)| name))
        .chain(single)
        .filter(|name| !name.is_empty())
}

fn by_words(tool: &str) -> Role {
    let words = words(tool);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let changes = || words.iter().any(|word| CHANGING.contains(word));
    let tests = has(&["test", "tests", "pytest", "lint", "typecheck"]);
    if tests
        && has(&[
            "run",
            "execute",
            "npm",
            "cargo",
            "smoke",
            "unit",
            "integration",
            "e2e",
        ])
    {
        return Role::Verify;
    }
    if words.first().is_some_and(|word| word == "transfer")
        && has(&["agent", "to"])
        && !has(&["money", "funds"])
    {
        return Role::Delegate;
    }
    if has(&["file", "files"])
        && has(&[
            "write", "edit", "patch", "replace", "delete", "remove", "rename",
        ])
    {
        return Role::Edit;
    }
    // The first verb decides: `get_order_status` reads an order, `order_status_update` would not be one.
    let both = has(&["and", "or"]) && changes();
    let verb = words
        .iter()
        .find(|word| READING.contains(word) || CHANGING.contains(word));
    match verb.map(String::as_str) {
        Some("search") if !both => Role::Search,
        Some(verb) if !both && READING.contains(verb) => Role::Read,
        _ => Role::Other,
    }
}

/// Whether the name holds a verb that changes something.
pub(super) fn changes_by_name(tool: &str) -> bool {
    words(tool).iter().any(|word| CHANGING.contains(word))
}

/// The words of a name in snake, kebab or camel case; at most 16.
pub(super) fn words(tool: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut lower_before = false;
    for c in tool.chars().take(128) {
        let starts = c.is_uppercase() && lower_before;
        if (starts || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if words.len() == 16 {
            return words;
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_numeric();
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENTS: &str = include_str!("../../../tests/fixtures/commands/agents.txt");

    #[test]
    fn tools_that_people_run() {
        let settings = Settings::default();
        for (names, expected) in [
            (
                "Edit Write MultiEdit NotebookEdit edit_file write_file apply_patch str_replace_editor replace_in_file write_to_file save append patch filesystem__write_file mcp__fs__edit_file",
                Role::Edit,
            ),
            (
                "run_pytest npm_test run_test_suite cargo_test run_tests smoke_test",
                Role::Verify,
            ),
            (
                "Read read_file list_files list_dir LS get_version describe_table count_rows get_order_details listInvoices read_web get_training_run lookup_part",
                Role::Read,
            ),
            (
                "Grep Glob web_search search_file_content codebase_search searchBooks",
                Role::Search,
            ),
            (
                "Bash bash shell execute_bash run_shell_command exec_command execute_command developer__shell powershell ipython",
                Role::Shell,
            ),
            (
                "WebFetch fetch browser browser_navigate mcp__playwright__browser_navigate visit_webpage",
                Role::Fetch,
            ),
            ("Task new_task transfer_to_billing_agent", Role::Delegate),
            (
                "BashOutput TaskOutput job_log read_output write_stdin",
                Role::Poll,
            ),
            ("wait sleep", Role::Wait),
            ("AskUserQuestion ask_followup_question", Role::Ask),
            (
                "final_answer submit finish attempt_completion",
                Role::Finish,
            ),
            (
                "deploy update_row set_alarm cancel_reservation poll wait_job insert_row TodoWrite think update_order_status launch_rocket",
                Role::Other,
            ),
        ] {
            for name in names.split(' ') {
                assert_eq!(role(name, &settings), expected, "{name}");
            }
        }
    }

    /// The built-in tools of agents and servers, as their sources name them.
    #[test]
    fn tools_of_each_agent() {
        let settings = Settings::default();
        let wrong: Vec<String> = AGENTS
            .lines()
            .filter_map(|line| line.split_once(": "))
            .flat_map(|(role, names)| names.split(' ').map(move |name| (role, name)))
            .filter_map(|(expected, name)| {
                let found = format!("{:?}", role(name, &settings));
                (found != expected).then(|| format!("{name}: {found}, not {expected}"))
            })
            .collect();
        assert_eq!(wrong, [""; 0]);
    }

    #[test]
    fn the_users_globs_win() {
        let settings = Settings {
            tools: super::super::Roles::new([("bash", Role::Verify), ("my_*", Role::Edit)])
                .unwrap(),
            ..Settings::default()
        };
        assert_eq!(role("Bash", &settings), Role::Verify);
        assert_eq!(role("my_list", &settings), Role::Edit);
        assert_eq!(role("server__my_list", &settings), Role::Edit);
    }

    #[test]
    fn names_fall_into_words() {
        assert_eq!(
            words("getOrder_details-v2"),
            ["get", "order", "details", "v2"]
        );
        assert!(words(&"a_".repeat(5000)).len() <= 16);
    }
}
