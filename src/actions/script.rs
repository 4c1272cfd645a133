//! A shell command taken apart: a flat list of what runs, in order, with what is known of its exit.
//!
//! Invariant: independent of where it runs, so that it can be kept and used for every equal text. Words are
//! at most [`MAX_WORDS`]; what lies beyond makes the script incomplete.

/// Most words kept of one command text.
pub(super) const MAX_WORDS: usize = 4096;

/// A set of words in one text, parted by single spaces: tables stay readable.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words(pub(super) &'static str);

impl Words {
    /// Whether the word is one of them.
    pub(super) fn contains(self, word: &str) -> bool {
        !word.is_empty() && self.0.split(' ').any(|own| own == word)
    }
}

/// A word after quote removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Word {
    /// Its text; expansions stand as they were written.
    pub(super) text: String,
    /// Parts of it are expanded by the shell.
    pub(super) dynamic: bool,
}

/// Output sent to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// Where to.
    pub(super) target: Word,
    /// It is added at the end.
    pub(super) appends: bool,
}

/// One simple command, prefixes like `sudo` and `timeout 5` taken off.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Simple {
    /// Name and arguments; may be empty when only redirections stand there.
    pub(super) words: Vec<Word>,
    /// Files written by redirections.
    pub(super) outputs: Vec<Output>,
    /// Text given on standard input by a here-document or here-string.
    pub(super) input: Option<String>,
    /// Its exit status is not the script's: a pipe, `|| true`, `;`, a condition hides it.
    pub(super) masked: bool,
    /// The script's exit status may be its own, though another one's may hide it.
    pub(super) ends: bool,
    /// It runs in the background.
    pub(super) background: bool,
    /// Its output goes into another command, or comes from one.
    pub(super) piped: bool,
    /// `timeout` may stop it.
    pub(super) limited: bool,
    /// It runs in a container or on another machine: directories of ours mean nothing there.
    pub(super) away: bool,
    /// Directory that a prefix sets (`env -C`, `docker exec -w`).
    pub(super) dir: Option<Word>,
}

impl Simple {
    /// The command's name without directories and Windows endings.
    pub(super) fn name(&self) -> &str {
        self.words.first().map_or("", |word| base_name(&word.text))
    }
}

/// One part of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Directory and variables set from here on hold only until the matching [`Part::Leave`].
    Enter,
    /// End of such a region.
    Leave,
    /// A variable is set.
    Set(String, Word),
    /// A command runs.
    Run(Box<Simple>),
}

/// A command text taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Script {
    /// In order.
    pub(super) parts: Vec<Part>,
    /// All of it was understood.
    pub(super) complete: bool,
}

impl Script {
    /// The commands, in order.
    pub(super) fn runs(&self) -> impl Iterator<Item = &Simple> {
        self.parts.iter().filter_map(|part| match part {
            Part::Run(simple) => Some(simple.as_ref()),
            _ => None,
        })
    }

    /// Bytes held on the heap, about.
    pub(super) fn heap_bytes(&self) -> usize {
        let words: usize = self
            .runs()
            .map(|run| {
                size_of::<Simple>()
                    + run.input.as_ref().map_or(0, String::capacity)
                    + run
                        .words
                        .iter()
                        .map(|w| w.text.capacity() + size_of::<Word>())
                        .sum::<usize>()
            })
            .sum();
        words + self.parts.capacity() * size_of::<Part>()
    }
}

/// The last part of a path, without an ending that marks a Windows program.
pub(super) fn base_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    [".exe", ".bat", ".cmd", ".ps1", ".EXE", ".BAT", ".CMD"]
        .into_iter()
        .find_map(|end| name.strip_suffix(end))
        .unwrap_or(name)
}
