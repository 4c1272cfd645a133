//! Tool names to roles: one table of the tools of agents people run, then the verbs in the name.
//!
//! Invariant: the user's globs win over the table, the table over verbs. A name that says nothing is
//! [`Role::Other`], which no rule trusts.

use crate::model::Role;

use super::Settings;

/// Exact names after folding ([`fold`]): lower case, separators dropped.
const TABLE: &[(Role, &[&str])] = &[
    (
        Role::Edit,
        &[
            "edit",
            "editfile",
            "editfiles",
            "writefile",
            "write",
            "writetofile",
            "writefiles",
            "multiedit",
            "notebookedit",
            "editnotebook",
            "editnotebookcell",
            "applypatch",
            "applydiff",
            "patch",
            "patchfile",
            "save",
            "savefile",
            "append",
            "appendfile",
            "appendtofile",
            "replace",
            "replaceinfile",
            "replacestringinfile",
            "multireplacestringinfile",
            "strreplace",
            "strreplaceeditor",
            "strreplacebasededittool",
            "strreplacebasededit",
            "texteditor",
            "insertcontent",
            "inserteditintofile",
            "insert",
            "insertline",
            "insertlines",
            "searchandreplace",
            "searchreplace",
            "createfile",
            "createnewfile",
            "create",
            "createorupdatefile",
            "updatefile",
            "deletefile",
            "deletefiles",
            "removefile",
            "movefile",
            "renamefile",
            "copyfile",
            "createdirectory",
            "makedirectory",
            "mkdir",
            "undoedit",
            "modifyfile",
            "overwritefile",
            "rewritefile",
            "filewrite",
            "fileedit",
            "replacesymbolbody",
            "insertaftersymbol",
            "insertbeforesymbol",
            "replaceregex",
            "replacelines",
            "deletelines",
            "pushfiles",
            "editblock",
            "writecode",
            "updatecode",
        ],
    ),
    (
        Role::Verify,
        &[
            "runtests",
            "runtest",
            "runpytest",
            "npmtest",
            "runtestsuite",
            "cargotest",
            "gotest",
            "pytest",
            "jest",
            "vitest",
            "runchecks",
            "runlint",
            "runlinter",
            "lint",
            "typecheck",
            "runtypecheck",
            "smoketest",
            "runsmoketest",
            "runtestfiles",
            "executetests",
            "testrunner",
            "mvntest",
            "gradletest",
            "rununittests",
            "unittest",
            "unittests",
            "rspec",
            "testfailure",
            "runci",
            "verify",
            "runverification",
            "getdiagnostics",
            "diagnostics",
            "geterrors",
        ],
    ),
    (
        Role::Read,
        &[
            "read",
            "readfile",
            "readfiles",
            "readmanyfiles",
            "readmultiplefiles",
            "readtextfile",
            "readmediafile",
            "view",
            "viewfile",
            "viewimage",
            "cat",
            "open",
            "openfile",
            "goto",
            "scrolldown",
            "scrollup",
            "ls",
            "list",
            "listfiles",
            "listdir",
            "listdirectory",
            "listdirectorywithsizes",
            "directorytree",
            "tree",
            "notebookread",
            "getfileinfo",
            "getfilecontents",
            "listalloweddirectories",
            "listcodedefinitionnames",
            "filetree",
            "readnotebook",
            "readweb",
            "todoread",
            "readmemory",
            "readmcpresource",
            "listmcpresources",
            "accessmcpresource",
            "gitstatus",
            "gitdiff",
            "gitdiffunstaged",
            "gitdiffstaged",
            "gitlog",
            "gitshow",
            "fileread",
            "readlints",
            "getsymbolsoverview",
            "readtodo",
            "lookup",
            "status",
            "readpdf",
            "readresource",
            "viewsource",
            "browsersnapshot",
            "browsertakescreenshot",
            "screenshot",
        ],
    ),
    (
        Role::Search,
        &[
            "grep",
            "glob",
            "search",
            "searchfiles",
            "searchfile",
            "searchdir",
            "findfile",
            "findfiles",
            "filesearch",
            "grepsearch",
            "codebasesearch",
            "searchfilecontent",
            "searchcode",
            "ripgrep",
            "rg",
            "websearch",
            "googlewebsearch",
            "googlesearch",
            "bravewebsearch",
            "tavilysearch",
            "duckduckgosearch",
            "searchweb",
            "toolsearch",
            "semanticsearch",
            "findsymbol",
            "findreferencingsymbols",
            "searchforpattern",
            "searchcodebase",
            "find",
            "internetsearch",
            "wikipedia",
            "searxng",
            "exasearch",
        ],
    ),
    (
        Role::Shell,
        &[
            "bash",
            "sh",
            "shell",
            "zsh",
            "terminal",
            "runshellcommand",
            "runcommand",
            "runcommands",
            "executecommand",
            "execcommand",
            "executebash",
            "runinterminal",
            "runterminalcmd",
            "runterminalcommand",
            "localshell",
            "localshellcall",
            "shellcommand",
            "shellexec",
            "shelltool",
            "bashtool",
            "powershell",
            "pwsh",
            "cmd",
            "exec",
            "execute",
            "run",
            "command",
            "commandline",
            "containerexec",
            "unifiedexec",
            "executeshell",
            "executeshellcommand",
            "runbash",
            "runshell",
            "terminalexec",
            "startprocess",
            "python",
            "ipython",
            "executeipythoncell",
            "executepython",
            "runpython",
            "pythonrepl",
            "pythonrepltool",
            "executecode",
            "runcode",
            "codeinterpreter",
            "jupyter",
            "executecell",
            "runcell",
            "pythoninterpreter",
            "tmux",
            "js",
            "executejavascript",
            "runpythoncode",
            "codeexecution",
            "runnotebookcell",
        ],
    ),
    (
        Role::Fetch,
        &[
            "fetch",
            "webfetch",
            "fetchwebpage",
            "fetchurl",
            "httprequest",
            "httpget",
            "httppost",
            "browser",
            "browsernavigate",
            "navigate",
            "navigatepage",
            "openurl",
            "visit",
            "visitwebpage",
            "browse",
            "browseweb",
            "webbrowser",
            "requests",
            "curl",
            "download",
            "downloadfile",
            "gotourl",
            "browseraction",
            "scrape",
            "scrapeurl",
            "crawl",
            "urlfetch",
            "geturl",
            "fetchhtml",
            "loadurl",
            "extracturl",
            "webscrape",
            "firecrawlscrape",
            "newpage",
            "readurl",
            "urlopen",
        ],
    ),
    (
        Role::Delegate,
        &[
            "task",
            "agent",
            "newtask",
            "spawnagent",
            "delegate",
            "delegatework",
            "delegateworktocoworker",
            "askquestiontocoworker",
            "dispatchagent",
            "sendmessage",
            "subagent",
            "runsubagent",
            "runagent",
            "callagent",
            "handoff",
            "invokeagent",
            "transfertoagent",
            "sendinput",
            "createtask",
            "startagent",
            "consultagent",
        ],
    ),
    (
        Role::Poll,
        &[
            "bashoutput",
            "taskoutput",
            "writestdin",
            "readoutput",
            "joblog",
            "joblogs",
            "getterminaloutput",
            "readterminal",
            "getprocessoutput",
            "readprocessoutput",
            "shelloutput",
            "agentoutputtool",
            "agentoutput",
            "readbackgroundoutput",
            "getbackgroundoutput",
            "processoutput",
            "getoutput",
            "gettaskoutput",
            "tailoutput",
            "readbash",
            "processlog",
            "terminaloutput",
            "getcommandoutput",
            "commandstatus",
            "getjoblog",
            "getjoblogs",
        ],
    ),
    (
        Role::Wait,
        &[
            "wait",
            "sleep",
            "waitms",
            "waitseconds",
            "delay",
            "pause",
            "browserwait",
            "waitfor",
            "browserwaitfor",
            "idle",
            "waitfortime",
        ],
    ),
    (
        Role::Ask,
        &[
            "askuser",
            "askuserquestion",
            "askfollowupquestion",
            "requestuserinput",
            "askhuman",
            "humaninput",
            "human",
            "askquestion",
            "askquestions",
            "getuserinput",
            "clarify",
            "requestclarification",
            "askforhelp",
            "requestapproval",
            "confirm",
            "chooseoption",
        ],
    ),
    (
        Role::Finish,
        &[
            "finalanswer",
            "submit",
            "finish",
            "attemptcompletion",
            "complete",
            "completetask",
            "taskcomplete",
            "taskdone",
            "done",
            "submitanswer",
            "finaloutput",
            "finalresult",
            "terminate",
            "endtask",
            "finishtask",
            "submitresult",
            "taskcompletion",
        ],
    ),
    (
        Role::Other,
        &[
            "think",
            "todowrite",
            "updateplan",
            "exitplanmode",
            "plan",
            "updatetodolist",
            "writetodos",
            "managetodolist",
            "savememory",
            "switchmode",
            "skill",
            "slashcommand",
            "tasktracker",
            "note",
            "killshell",
            "killbash",
            "taskstop",
        ],
    ),
];

/// Words that make a tool of no known role a reader (A6).
const READING: &[&str] = &[
    "get", "list", "read", "show", "find", "search", "query", "lookup", "describe", "count",
    "status", "view", "check", "inspect", "browse",
];

/// Words that say that something is changed: they take the name off the readers.
const CHANGING: &[&str] = &[
    "set", "create", "update", "delete", "remove", "add", "insert", "write", "edit", "modify",
    "change", "cancel", "book", "send", "post", "put", "patch", "save", "move", "rename", "copy",
    "deploy", "migrate", "restart", "start", "stop", "run", "execute", "exec", "apply", "commit",
    "push", "merge", "upload", "reset", "replace", "submit", "return", "exchange", "transfer",
    "pay", "order", "buy", "sell", "assign", "approve", "reject", "close", "open", "kill", "drop",
    "grant", "revoke", "enable", "disable", "install", "publish", "release", "append", "store",
    "register", "schedule", "mark", "complete", "reserve", "refund", "clear", "launch", "spawn",
    "trigger", "rollback", "scale", "sync",
];

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

fn listed(name: &str) -> Option<Role> {
    let folded = fold(name)?;
    TABLE
        .iter()
        .find(|(_, names)| names.contains(&folded.as_str()))
        .map(|(role, _)| *role)
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
    ["__", ".", "/", ":", "-"]
        .into_iter()
        .filter_map(|separator| tool.rsplit_once(separator).map(|(_, name)| name))
        .filter(|name| !name.is_empty())
}

fn by_words(tool: &str) -> Role {
    let words = words(tool);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
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
    let both = has(&["and", "or"]) && has(CHANGING);
    let verb = words
        .iter()
        .find(|word| READING.contains(&word.as_str()) || CHANGING.contains(&word.as_str()));
    match verb.map(String::as_str) {
        Some("search") if !both => Role::Search,
        Some(verb) if !both && READING.contains(&verb) => Role::Read,
        _ => Role::Other,
    }
}

/// Whether the name holds a verb that changes something.
pub(super) fn changes_by_name(tool: &str) -> bool {
    words(tool)
        .iter()
        .any(|word| CHANGING.contains(&word.as_str()))
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
