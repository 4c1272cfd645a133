//! The names of arguments, as the tools of agents people run name them, folded: lower case, letters and
//! digits only.
//!
//! Invariant: a name stands here only when it means the same in every tool that has it and the role for
//! which it is looked up.

/// Members that hold one path, in order of precedence.
pub(super) const PATHS: &[&str] = &[
    "path",
    "filepath",
    "filename",
    "file",
    "targetfile",
    "absolutepath",
    "notebookpath",
    "relativepath",
    "relativeworkspacepath",
    "filetoedit",
    "targetfilepath",
    "fullpath",
    "localpath",
    "fname",
    "uri",
    "fileuri",
    "target",
    "outputpath",
    "outputfile",
    "dest",
    "destination",
    "newpath",
    "dirpath",
    "directory",
    "dir",
    "folder",
    "directorypath",
    "searchdirectory",
];
/// Members that hold several paths.
pub(super) const PATH_LISTS: &[&str] = &[
    "paths",
    "files",
    "filepaths",
    "filenames",
    "edits",
    "changes",
    "replacements",
    "include",
    "replacementchunks",
];
/// Members that hold the path something is moved or copied from.
pub(super) const SOURCES: &[&str] = &["source", "src", "oldpath", "from", "sourcepath", "oldname"];
/// Members that hold the path something is moved or copied to.
pub(super) const DESTINATIONS: &[&str] = &[
    "destination",
    "dest",
    "dst",
    "newpath",
    "to",
    "destinationpath",
    "targetpath",
    "newname",
];
/// Members that hold a command.
pub(super) const COMMANDS: &[&str] = &[
    "command",
    "cmd",
    "commandline",
    "script",
    "bashcommand",
    "shellcommand",
    "commands",
    "code",
    "input",
    "bash",
    "shell",
    "text",
    "query",
    "keystrokes",
    "commandtorun",
    "runcommand",
    "cmdstring",
];
/// Members that hold the directory a command runs in.
pub(super) const DIRECTORIES: &[&str] = &[
    "workdir",
    "cwd",
    "workingdirectory",
    "workingdir",
    "dirpath",
    "directory",
    "dir",
    "workdirpath",
    "currentworkingdirectory",
    "basedir",
    "executiondir",
];
/// Members that say that a command goes on in the background.
pub(super) const BACKGROUND: &[&str] = &[
    "runinbackground",
    "background",
    "isbackground",
    "detach",
    "detached",
    "isbg",
    "inbackground",
];
/// Members that wrap all others.
pub(super) const WRAPPERS: &[&str] = &[
    "arguments",
    "args",
    "input",
    "kwargs",
    "params",
    "parameters",
    "toolinput",
    "request",
];

/// Members that hold the new text of a whole file.
pub(super) const CONTENT: &[&str] = &[
    "content",
    "contents",
    "filetext",
    "text",
    "code",
    "newcontent",
    "data",
    "body",
    "codecontent",
    "codeedit",
    "filecontent",
    "filecontents",
    "newcontents",
    "newfilecontent",
    "newsource",
];
/// Members that hold what is to be replaced.
pub(super) const OLD: &[&str] = &[
    "old",
    "oldstr",
    "oldstring",
    "oldtext",
    "search",
    "original",
    "find",
    "oldcode",
    "target",
    "before",
    "searchtext",
    "searchstring",
    "oldcontent",
    "targetcontent",
    "oldlines",
];
/// Members that hold what comes in its place.
pub(super) const NEW: &[&str] = &[
    "new",
    "newstr",
    "newstring",
    "newtext",
    "replace",
    "replacement",
    "replacewith",
    "newcode",
    "after",
    "replacetext",
    "replacestring",
    "replacementcontent",
    "newcontent",
    "newlines",
];
/// Members that hold a patch.
pub(super) const PATCH: &[&str] = &[
    "patch",
    "patchtext",
    "diff",
    "input",
    "patchcontent",
    "unifieddiff",
];
