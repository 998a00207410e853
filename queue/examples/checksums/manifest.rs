//! The manifest: lines as `sha256sum` writes them, collected in a results file and finished in one step.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Seek, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The characters of a digest.
const DIGEST: usize = 64;

/// The line of a file.
///
/// As coreutils writes it (`digest.c`): digest, space, a space for text mode, name. Where the name holds a backslash, a
/// line feed or a carriage return these become `\\`, `\n` and `\r`, and a backslash stands before the digest.
/// A file `-` is written as `./-`: alone it would be standard input.
pub(crate) fn line(digest: &[u8; 32], path: &Path) -> Vec<u8> {
    let name = path.as_os_str().as_bytes();
    let name = if name == b"-" { b"./-" } else { name };
    let escaped = name.iter().any(|byte| escape(*byte).is_some());
    let mut line = Vec::with_capacity(1 + DIGEST + 2 + name.len() * 2 + 1);
    if escaped {
        line.push(b'\\');
    }
    for byte in digest {
        line.extend([byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)]));
    }
    line.extend(b"  ");
    for byte in name {
        match escape(*byte) {
            Some(letter) => line.extend([b'\\', letter]),
            None => line.push(*byte),
        }
    }
    line.push(b'\n');
    line
}

const fn escape(byte: u8) -> Option<u8> {
    match byte {
        b'\\' => Some(b'\\'),
        b'\n' => Some(b'n'),
        b'\r' => Some(b'r'),
        _ => None,
    }
}

/// The name in a line, still escaped. None where the line is not whole.
fn name_in(line: &[u8]) -> Option<&[u8]> {
    let digest = line.strip_prefix(b"\\").unwrap_or(line);
    let (digest, name) = digest.split_at_checked(DIGEST)?;
    let name = name.strip_prefix(b"  ")?;
    (digest.iter().all(u8::is_ascii_hexdigit) && !name.is_empty()).then_some(name)
}

/// The lines so far, in the order in which files were done.
///
/// Each line is one write at the end of the file, so that lines of several processes would not mix.
#[derive(Debug)]
pub(crate) struct Results {
    file: File,
    /// Where the manifest goes, and where the lines are until then. None: standard output, and a file without a name.
    out: Option<Out>,
}

#[derive(Debug, Clone)]
struct Out {
    manifest: PathBuf,
    partial: PathBuf,
    /// The manifest as it is written, before it gets its name.
    new: PathBuf,
}

impl Results {
    /// Opens the results of a manifest `out`. What an interrupted run left there is overwritten.
    pub(crate) fn create(out: Option<&Path>) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true);
        let Some(out) = out else {
            let path = std::env::temp_dir().join(format!("checksums-{}", std::process::id()));
            let file = options.create_new(true).open(&path)?;
            fs::remove_file(&path)?;
            return Ok(Self { file, out: None });
        };
        let manifest = resolve(out)?;
        let beside = |end: &str| {
            let mut name = OsString::from(&manifest);
            name.push(end);
            PathBuf::from(name)
        };
        let out = Out { partial: beside(".partial"), new: beside(".new"), manifest };
        let file = options.create(true).open(&out.partial)?;
        file.set_len(0)?;
        Ok(Self { file, out: Some(out) })
    }

    /// Those of its files that lie below `root`, relative to it.
    pub(crate) fn files_below(&self, root: &Path) -> io::Result<Vec<PathBuf>> {
        let Some(out) = &self.out else { return Ok(Vec::new()) };
        let root = fs::canonicalize(root)?;
        let files = [&out.manifest, &out.partial, &out.new];
        Ok(files.into_iter().filter_map(|file| file.strip_prefix(&root).ok()).map(Path::to_owned).collect())
    }

    /// Where the lines are, where that has a name.
    pub(crate) fn partial(&self) -> Option<&Path> {
        self.out.as_ref().map(|out| &*out.partial)
    }

    /// Appends a line.
    pub(crate) fn append(&self, line: &[u8]) -> io::Result<()> {
        let written = loop {
            match (&self.file).write(line) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                answer => break answer?,
            }
        };
        // What is left of the line is never written: somebody else's may follow. Folding leaves half lines out.
        if written == line.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Finishes the manifest: sorted by name, of several lines of one name the last. Answers how many lines it has.
    #[expect(clippy::verbose_file_reads, reason = "the file may have no name")]
    pub(crate) fn finish(&self) -> io::Result<u64> {
        let mut results = Vec::new();
        let mut file = &self.file;
        file.rewind()?;
        file.read_to_end(&mut results)?;
        let lines = fold(&results);
        let Some(out) = &self.out else {
            write(&lines, io::stdout().lock())?;
            return Ok(lines.len() as u64);
        };
        let new = File::create(&out.new)?;
        write(&lines, &new)?;
        // On the disk before it has its name: after a power failure the name is that of a whole manifest.
        new.sync_all()?;
        fs::rename(&out.new, &out.manifest)?;
        fs::remove_file(&out.partial)?;
        Ok(lines.len() as u64)
    }
}

fn fold(results: &[u8]) -> BTreeMap<&[u8], &[u8]> {
    let lines = results.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(|line| Some((name_in(line.strip_suffix(b"\n")?)?, line))).collect()
}

fn write(lines: &BTreeMap<&[u8], &[u8]>, to: impl Write) -> io::Result<()> {
    let mut to = BufWriter::new(to);
    lines.values().try_for_each(|line| to.write_all(line))?;
    to.flush()
}

/// The file that `out` names, links followed: a rename replaces what it is given, which must be a file or nothing.
fn resolve(out: &Path) -> io::Result<PathBuf> {
    if fs::symlink_metadata(out).is_ok() {
        let out = fs::canonicalize(out)?;
        return if out.is_file() { Ok(out) } else { Err(io::Error::other("it is there and is no file")) };
    }
    let name = out.file_name().ok_or_else(|| io::Error::other("it has no file name"))?;
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    Ok(fs::canonicalize(folder)?.join(name))
}
