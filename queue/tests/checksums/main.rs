//! The example `checksums`, run as a program over real trees and judged by `sha256sum`.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

#[path = "../../examples/checksums/job.rs"]
mod job;
mod tree;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

use tokio::io::AsyncReadExt;

use tree::{NO_ARGUMENTS, Running, Tree, alone, lines, names, out, run, until};

const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[tokio::test]
async fn names_of_any_bytes_are_confirmed_by_sha256sum() {
    let tree = Tree::new();
    let odd: [&[u8]; 15] = [
        b"plain",
        b"two\nlines",
        b"back\\slash",
        b"not\\na line",
        b"carriage\rreturn",
        b"and at the end\r",
        b"\xff\xfe not UTF-8",
        "größe 数".as_bytes(),
        b"-dash",
        b"-",
        b" leading space",
        b"*star",
        b"#hash",
        b"trailing space ",
        b"deep/er/and\\/deeper\n/leaf",
    ];
    for name in odd {
        tree.write(name, name);
    }
    tree.write(b"empty", b"");
    fs::create_dir(tree.root().join("empty folder")).unwrap();

    let said = run(tree.checksums(NO_ARGUMENTS)).await;
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(lines(&said.out).len(), odd.len() + 1);
    assert!(tree.is_confirmed(&said.out).await);
    assert!(lines(&said.out).contains(&format!("{EMPTY}  empty\n")));
    assert!(names(&said.out).is_sorted());
    assert!(names(&said.out).contains(&"./-".to_owned()), "alone it would be standard input");
}

#[tokio::test]
async fn an_unreadable_file_is_told_and_the_rest_is_done() {
    let tree = Tree::new();
    let secret = tree.write(b"secret\nfile", b"x");
    tree.write(b"open", b"x");
    let locked = tree.root().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();

    let said = run(tree.checksums_as_nobody()).await;
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(said.code, Some(1), "{}", said.err);
    assert_eq!(names(&said.out), ["open"]);
    assert!(tree.is_confirmed(&said.out).await);
    let told = |part| said.err.lines().filter(|line| line.contains(part)).count();
    assert_eq!(told(r#"cannot read "secret\nfile": Permission denied"#), 1, "{}", said.err);
    assert_eq!(told(r#"cannot read "locked": Permission denied"#), 1, "{}", said.err);
    assert_eq!(told("1 files, 1 bytes; 2 unreadable, 0 skipped"), 1, "{}", said.err);
}

#[tokio::test]
async fn what_is_no_file_is_never_opened_and_links_are_not_followed() {
    let tree = Tree::new();
    tree.write(b"file", b"x");
    tree.pipe("pipe");
    let socket = UnixListener::bind(tree.root().join("socket")).unwrap();
    symlink(".", tree.root().join("loop")).unwrap();
    symlink("nowhere", tree.root().join("dangling")).unwrap();
    symlink("file", tree.root().join("link")).unwrap();

    let said = run(tree.checksums(NO_ARGUMENTS)).await;
    drop(socket);
    assert_eq!(said.code, Some(0), "{}", said.err);
    assert_eq!(names(&said.out), ["file"]);
    assert!(said.err.contains(r#"skipped "pipe": a pipe"#), "{}", said.err);
    assert!(said.err.contains(r#"skipped "socket": a socket"#), "{}", said.err);
    assert!(said.err.contains("0 unreadable, 2 skipped"), "{}", said.err);
}

#[tokio::test]
async fn a_link_as_path_is_followed() {
    let tree = Tree::new();
    tree.write(b"file", b"x");
    symlink(tree.root(), tree.beside("link")).unwrap();
    let mut command = alone();
    command.arg(tree.beside("link"));
    assert_eq!(names(&run(command).await.out), ["file"]);
}

#[tokio::test]
async fn a_manifest_inside_the_tree_leaves_itself_out() {
    let tree = Tree::new();
    tree.write(b"a", b"x");
    tree.write(b"sub/sums", b"an old manifest");
    tree.write(b"sub/sums.partial", b"what an interrupted run left");
    symlink("sub/sums", tree.root().join("by another name")).unwrap();
    for out_file in ["sub/sums", "sub/../sub/sums", "by another name"] {
        let said = run(tree.checksums(out(&tree.root().join(out_file)))).await;
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert!(said.out.is_empty());
        let manifest = fs::read(tree.root().join("sub/sums")).unwrap();
        assert_eq!(names(&manifest), ["a"]);
        assert!(tree.is_confirmed(&manifest).await);
        assert_eq!(fs::read_dir(tree.root().join("sub")).unwrap().count(), 1, "nothing is left beside it");
    }
    assert!(tree.root().join("by another name").is_symlink());
}

#[tokio::test]
async fn an_empty_tree_is_an_empty_manifest() {
    let tree = Tree::new();
    let said = run(tree.checksums(NO_ARGUMENTS)).await;
    assert_eq!((said.code, said.out.len()), (Some(0), 0), "{}", said.err);
}

#[tokio::test]
async fn many_files_on_few_slots_are_each_in_it_once() {
    let tree = Tree::new();
    for number in 0..3_000 {
        tree.write(format!("{}/{number}", number % 7).as_bytes(), number.to_string().as_bytes());
    }
    for slots in ["1", "3", "256"] {
        let said = run(tree.checksums(["--slots", slots, "--worker", "memory:"])).await;
        assert_eq!(said.code, Some(0), "{}", said.err);
        assert_eq!(lines(&said.out).len(), 3_000);
        assert!(tree.is_confirmed(&said.out).await);
    }
}

#[tokio::test]
async fn a_command_line_without_sense_is_refused_by_name() {
    let tree = Tree::new();
    tree.write(b"file", b"x");
    let (file, missing, folder) = (tree.root().join("file"), tree.root().join("missing"), tree.beside("tree"));
    let (file, missing, folder) = (file.to_str().unwrap(), missing.to_str().unwrap(), folder.to_str().unwrap());
    let refused: &[(&[&str], &str)] = &[
        (&[], "PATH is missing"),
        (&[missing], "No such file"),
        (&[file], "Not a directory"),
        (&[folder, folder], "PATH was given twice"),
        (&[folder, "--slots", "0"], "--slots 0 is no number from 1 to 256"),
        (&[folder, "--slots", "257"], "--slots 257 is no number"),
        (&[folder, "--slots", "-1"], "--slots -1 is no number"),
        (&[folder, "--slots", "many"], "--slots many is no number"),
        (&[folder, "--slots"], "missing argument"),
        (&[folder, "--slots", "1", "--slots", "2"], "--slots was given twice"),
        (&[folder, "--fast"], "--fast"),
        (&[folder, "--worker", "redis://host"], "unknown scheme, known are: memory:"),
        (&[folder, "--worker", "memory"], "unknown scheme, known are: memory:"),
        (&[folder, "--worker", "memory:big"], "nothing can follow memory:"),
        (&[folder, "--out", folder], "it is there and is no file"),
        (&[folder, "--out", "/dev/null"], "it is there and is no file"),
        (&[folder, "--out", "/no/such/folder/file"], "No such file"),
    ];
    for (arguments, why) in refused {
        let mut command = alone();
        command.args(*arguments);
        let said = run(command).await;
        assert_eq!(said.code, Some(2), "{arguments:?}: {}", said.err);
        assert!(said.err.contains(why), "{arguments:?}: {}", said.err);
        assert!(said.out.is_empty());
    }
    let said = run(tree.checksums(["--help"])).await;
    assert_eq!(said.code, Some(0));
    assert!(String::from_utf8(said.out).unwrap().starts_with("Usage: checksums PATH"));
}

/// A file that no test has the time to read, and that takes no room.
fn endless(tree: &Tree) -> std::path::PathBuf {
    let path = tree.write(b"endless", b"");
    fs::File::options().write(true).open(&path).unwrap().set_len(1 << 42).unwrap();
    path
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn ctrl_c_keeps_what_is_done_and_names_what_is_not() {
    let tree = Tree::new();
    tree.write(b"small", b"x");
    let endless = endless(&tree);
    let sums = tree.beside("sums");
    fs::write(&sums, "an old manifest").unwrap();
    let mut arguments = Vec::from(out(&sums));
    arguments.extend(["--slots".into(), "2".into()]);
    let mut running = Running::start(tree.checksums(arguments));
    let partial = tree.beside("sums.partial");
    running.opens(&endless).await;
    until(|| fs::read(&partial).is_ok_and(|lines| !lines.is_empty())).await;

    running.interrupt().await;
    running.says("stopping").await;
    running.says(r#"not done: "endless""#).await;
    let last = running.says("stopped").await;
    assert!(last.contains("1 files are done, in "), "{last}");
    assert!(last.contains("; 1 were found and are not"), "{last}");
    assert_eq!(running.code().await, Some(130));
    let partial = fs::read(partial).unwrap();
    assert_eq!(names(&partial), ["small"]);
    assert!(tree.is_confirmed(&partial).await);
    assert_eq!(fs::read(&sums).unwrap(), b"an old manifest", "never replaced by half of a new one");

    fs::remove_file(endless).unwrap();
    assert_eq!(run(tree.checksums(out(&sums))).await.code, Some(0));
    assert_eq!(names(&fs::read(&sums).unwrap()), ["small"]);
    assert!(!tree.beside("sums.partial").exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn ctrl_c_without_a_file_prints_what_is_done() {
    let tree = Tree::new();
    let endless = endless(&tree);
    let mut running = Running::start(tree.checksums(["--slots", "1"]));
    running.opens(&endless).await;
    running.interrupt().await;
    running.says("0 files are done, on standard output; 1 were found and are not").await;
    assert_eq!(running.code().await, Some(130));
}

#[tokio::test]
async fn a_second_ctrl_c_ends_at_once() {
    let tree = Tree::new();
    // More than a pipe takes: with nobody reading, the end of the run never comes.
    for number in 0..1_000 {
        tree.write(format!("{number:0200}").as_bytes(), b"");
    }
    let mut running = Running::start(tree.checksums(NO_ARGUMENTS));
    let mut stdout = running.stdout();
    stdout.read_u8().await.unwrap();
    running.interrupt().await;
    running.says("stopping; Ctrl-C again ends at once").await;
    running.interrupt().await;
    running.says("ended at once").await;
    assert_eq!(running.code().await, Some(130));
}

#[cfg(feature = "json")]
#[test]
fn a_job_survives_the_way_through_a_codec() {
    use queue::core::codec::{Codec, Json, Wire};
    use std::os::unix::ffi::OsStrExt;
    let path = std::path::Path::new(std::ffi::OsStr::from_bytes(b"a\n\\\xff/b"));
    let mut body = Vec::new();
    Json::new().encode(&job::Job::new(path), &mut body).unwrap();
    let job: job::Job = Json::new().decode(Wire { body: &body.into(), content_type: None, kind: None }).unwrap();
    assert_eq!(job.path(), path);
}
