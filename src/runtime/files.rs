//! The only place that opens files.
//!
//! Invariant: nothing of unknown size is read whole without a limit, and every error names its file.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// What went wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("cannot {verb} {}: {source}", path.display())]
    Io {
        /// What was tried.
        verb: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// It is larger than allowed.
    #[error("{} is larger than {max} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        max: u64,
    },
    /// It is no UTF-8.
    #[error("{} is no UTF-8 text (byte {valid_up_to} is the first that is not)", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// Offset of the first bad byte.
        valid_up_to: usize,
    },
}

impl FileError {
    /// What went wrong, for a line that begins with the file's name.
    pub fn without_path(&self) -> String {
        match self {
            Self::Io { source, .. } if source.kind() == io::ErrorKind::IsADirectory => {
                "it is a directory; name the files in it".to_owned()
            }
            Self::Io { verb, source, .. } => format!("cannot {verb} it: {source}"),
            Self::TooLarge { max, .. } => format!("it is larger than {max} bytes"),
            Self::NotText { valid_up_to, .. } => {
                format!("it is no UTF-8 text (byte {valid_up_to} is the first that is not)")
            }
        }
    }
}

/// Reads at most `max` bytes of `path`; a longer file is an error, not a short answer. `-` is stdin.
pub fn read(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let taken = open(path)?
        .take(max.saturating_add(1))
        .read_to_end(&mut bytes);
    taken.map_err(|source| failed("read", path, source))?;
    if bytes.len() as u64 > max {
        return Err(FileError::TooLarge {
            path: path.to_owned(),
            max,
        });
    }
    Ok(bytes)
}

/// Reads at most `max` bytes of `path` as UTF-8. `-` is stdin.
pub fn read_text(path: &Path, max: u64) -> Result<String, FileError> {
    String::from_utf8(read(path, max)?).map_err(|error| FileError::NotText {
        path: path.to_owned(),
        valid_up_to: error.utf8_error().valid_up_to(),
    })
}

/// Opens `path` for reading piece by piece. `-` is stdin.
pub fn open(path: &Path) -> Result<Box<dyn Read + Send>, FileError> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = File::open(path).map_err(|source| failed("open", path, source))?;
    Ok(Box::new(BufReader::with_capacity(256 << 10, file)))
}

/// Opens `path` for appending; it is created if it does not exist.
pub fn append(path: &Path) -> Result<File, FileError> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map_err(|source| failed("open", path, source))
}

/// Opens `path` for writing from its beginning; what was in it is gone.
pub fn create(path: &Path) -> Result<File, FileError> {
    File::create(path).map_err(|source| failed("create", path, source))
}

/// Whether a path is a file that can be read again: no pipe, no device.
pub fn is_regular(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|of| of.is_file())
}

/// Whether both are one file, by whatever names. What does not exist is no file.
pub fn same(one: &Path, other: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    real(one).is_some_and(|one| real(other) == Some(one))
}

/// Writes `bytes` to `path` so that a reader sees the old content or the new one, never a part.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<(), FileError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = PathBuf::from(beside);
    let mut file = create(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    written.map_err(|source| failed("write", &beside, source))?;
    std::fs::rename(&beside, path).map_err(|source| failed("rename", &beside, source))
}

fn failed(verb: &'static str, path: &Path, source: io::Error) -> FileError {
    FileError::Io {
        verb,
        path: path.to_owned(),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_up_to_the_limit() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("a");
        replace(&path, b"four").expect("write");
        assert_eq!(read_text(&path, 4).expect("read"), "four");
        let error = read(&path, 3).expect_err("too large").to_string();
        assert!(error.ends_with("a is larger than 3 bytes"), "{error}");
        replace(&path, b"ab\xff").expect("write");
        let error = read_text(&path, 9).expect_err("no text").to_string();
        assert!(error.contains("byte 2"), "{error}");
    }

    #[test]
    fn errors_name_the_file() {
        let error = read(Path::new("/no/such/file"), 1)
            .expect_err("missing")
            .to_string();
        assert!(error.starts_with("cannot open /no/such/file: "), "{error}");
    }

    #[test]
    fn one_file_has_many_names() {
        let dir = tempfile::tempdir().expect("dir");
        let (a, b) = (dir.path().join("a"), dir.path().join("b"));
        assert!(!same(&a, &a), "nothing is there yet");
        replace(&a, b"").expect("write");
        replace(&b, b"").expect("write");
        assert!(same(&a, &dir.path().join(".").join("a")));
        assert!(!same(&a, &b));
    }

    #[test]
    fn appending_keeps_what_is_there() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("log");
        append(&path)
            .expect("open")
            .write_all(b"a\n")
            .expect("write");
        append(&path)
            .expect("open")
            .write_all(b"b\n")
            .expect("write");
        assert_eq!(read_text(&path, 99).expect("read"), "a\nb\n");
    }
}
