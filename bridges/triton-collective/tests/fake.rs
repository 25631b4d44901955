//! Libraries of NCCL that are missing, old or fail, and the calls made to one that works: with libraries of our own in the places of NCCL and of the
//! driver, in child processes.
//!
//! The libraries are built by rustc; where there is none, the test says that it was skipped.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use triton::Device;
use triton_collective::{Communicator, Error, Options, Reduce, Result};

/// What a child does, by this variable.
const CASE: &str = "TRITON_COLLECTIVE_FAKE";

/// The cases: a name, how NCCL behaves, and how the driver does.
const CASES: &[(&str, &str, &str)] = &[
    ("missing", "", ""),
    ("incomplete", "", ""),
    ("old", "old", ""),
    ("no-id", "no-id", ""),
    ("works", "", ""),
    ("absent", "absent", ""),
    ("broken", "broken", ""),
    ("refused", "refused", ""),
    ("pending", "", "slow"),
];

fn case(name: &str) -> Option<fn() -> Result<()>> {
    Some(match name {
        "missing" => || refused("libnccl.so.2 and libnccl.so cannot be loaded"),
        "incomplete" => || refused("the library that was found has no function ncclComm"),
        "old" => || refused("it is of version 2.17, but 2.18 or newer is needed"),
        "no-id" => no_id,
        "works" => works,
        "absent" => absent,
        "broken" => broken,
        "refused" => call_refused,
        "pending" => pending,
        _ => return None,
    })
}

#[test]
fn cases() {
    let folder = std::env::temp_dir().join(format!("triton-collective-fake-{}", std::process::id()));
    let [whole, incomplete, without] = ["whole", "incomplete", "without"].map(|name| folder.join(name));
    let driver = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../triton-runtime/tests/support/fake_cuda.rs");
    let nccl = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/fake_nccl.rs");
    for (folder, flags) in [(&whole, &[][..]), (&incomplete, &["--cfg", "incomplete"]), (&without, &[])] {
        std::fs::create_dir_all(folder).expect("a folder");
        let has_nccl = folder != &without;
        if !build(&driver, folder.join("libcuda.so.1"), &[])
            || has_nccl && !build(&nccl, folder.join("libnccl.so.2"), flags)
        {
            println!("SKIPPED: no rustc to build libraries with");
            return;
        }
    }
    for (name, nccl, driver) in CASES {
        assert!(case(name).is_some(), "{name}");
        let libraries = match *name {
            "missing" => &without,
            "incomplete" => &incomplete,
            _ => &whole,
        };
        let executable = std::env::current_exe().expect("this executable");
        let mut child = Command::new(executable);
        child.args(["child", "--exact", "--nocapture"]).env(CASE, name).env("FAKE_NCCL", nccl).env("FAKE_CUDA", driver);
        child
            .env("LD_LIBRARY_PATH", libraries)
            .env("FAKE_NCCL_LOG", folder.join("log"))
            .env("TRITON_DSL_CACHE_DIR", "");
        let output = child.output().expect("a process");
        let text = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
        assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}");
    }
    std::fs::remove_dir_all(folder).expect("the folder goes");
}

fn build(source: &Path, to: PathBuf, flags: &[&str]) -> bool {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let cfg = ["--check-cfg", "cfg(old,incomplete)"];
    let built = Command::new(rustc)
        .args(["--crate-type", "cdylib", "--edition", "2024", "-o"])
        .arg(to)
        .args(cfg)
        .args(flags)
        .arg(source)
        .output();
    let Ok(output) = built else { return false };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    true
}

#[test]
fn child() {
    if let Ok(name) = std::env::var(CASE) {
        case(&name).expect("the case exists")().expect("no error");
    }
}

/// What NCCL was called since the last time.
fn log() -> Vec<String> {
    let path = std::env::var("FAKE_NCCL_LOG").expect("the parent sets it");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    let _ = std::fs::remove_file(path);
    text.lines().map(str::to_string).collect()
}

fn gpus() -> Result<[Device; 2]> {
    Ok([Device::cuda(0)?, Device::cuda(1)?])
}

fn world(options: Options) -> Result<Vec<Communicator>> {
    Communicator::all_with(&gpus()?, options)
}

fn short() -> Options {
    Options { timeout: Duration::from_millis(300), ..Options::default() }
}

fn refused(why: &str) -> Result<()> {
    let error = world(Options::default()).unwrap_err();
    assert!(matches!(&error, Error::NoLibrary { .. }) && error.to_string().contains(why), "{error}");
    // One device needs none.
    let alone = Communicator::alone(&Device::cuda(0)?)?;
    let stream = alone.device().stream()?;
    let mut x = stream.tensor(&[1.0f32, 2.0], [2])?;
    alone.all_reduce(&stream, &mut x, Reduce::Average)?;
    let mut y = stream.tensor_zeros::<f32, _>([2])?;
    alone.all_gather(&stream, &x, &mut y)?;
    assert_eq!(stream.download(&y)?, [1.0, 2.0]);
    Ok(())
}

fn no_id() -> Result<()> {
    let error = world(Options::default()).unwrap_err();
    assert!(matches!(&error, Error::Nccl { call: "ncclGetUniqueId", code: 2, .. }), "{error}");
    assert!(error.to_string().contains("a fake error: the fake library was told to fail"), "{error}");
    Ok(())
}

fn works() -> Result<()> {
    let all = world(Options { max_blocks: Some(8), ..Options::default() })?;
    let mut inits = log();
    inits.sort();
    assert_eq!(inits, ["init 0 of 2, blocking 0, blocks 8", "init 1 of 2, blocking 0, blocks 8"]);
    let one = &all[0];
    let stream = one.device().stream()?;
    let (x, mut y) = (stream.tensor(&[1.0f32; 6], [2, 3])?, stream.tensor_zeros::<f32, _>([12])?);
    one.all_gather(&stream, &x, &mut y)?;
    one.reduce_scatter(&stream, &y, stream.tensor_zeros::<f32, _>([6])?.as_view_mut(), Reduce::Max)?;
    one.all_reduce(&stream, &mut y, Reduce::Average)?;
    one.all_reduce_into(&stream, &x, y.narrow_mut(0, ..6)?, Reduce::Product)?;
    one.broadcast(&stream, stream.tensor(&[1i16, 2], [2])?.as_view_mut(), 1)?;
    one.barrier(&stream)?;
    let expected = [
        "all-gather 6 x 7",
        "reduce-scatter 6 x 7 by 2",
        "all-reduce 12 x 7 by 4 in place",
        "all-reduce 6 x 7 by 1 apart",
        // Bytes: NCCL has no such type.
        "broadcast 4 x 1 from 1",
        "all-reduce 1 x 7 by 0 in place",
    ];
    let grouped: Vec<&str> = expected.iter().flat_map(|call| ["group", call, "end"]).collect();
    assert_eq!(log(), grouped);
    one.group(&stream, |group| {
        group.send(&x, 1)?;
        group.receive(y.narrow_mut(0, ..6)?, 1)
    })?;
    assert_eq!(log(), ["group", "send 6 x 7 to 1", "receive 6 x 7 from 1", "end"]);
    let error = one.all_reduce(&stream, stream.tensor(&[1i16], [1])?.as_view_mut(), Reduce::Sum).unwrap_err();
    assert!(matches!(error, Error::Type { .. }), "{error}");
    let graph = stream.capture(|stream| Ok(one.all_reduce(stream, &mut y, Reduce::Sum)?))?;
    graph.launch(&stream)?;
    one.check()?;
    log();
    drop(all);
    let mut ended = log();
    ended.sort();
    assert_eq!(ended, ["destroy", "destroy", "finalize", "finalize"]);
    Ok(())
}

/// Ranks that do not come: the communicator is aborted, and nothing panics.
fn absent() -> Result<()> {
    let error = world(short()).unwrap_err();
    assert!(matches!(&error, Error::Timeout { .. }), "{error}");
    assert!(error.to_string().starts_with("meeting the other ranks: after 0.3 s not all ranks have come"), "{error}");
    assert!(log().contains(&"abort".to_string()));
    Ok(())
}

/// A failure that NCCL finds later.
fn broken() -> Result<()> {
    let all = match world(Options::default()) {
        Ok(all) => all,
        Err(error) => {
            assert!(matches!(error, Error::Nccl { code: 6, .. }), "{error}");
            return Ok(());
        }
    };
    let stream = all[0].device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([4])?;
    let mut failed = None;
    for _ in 0..20 {
        failed = failed.or(all[0].all_reduce(&stream, &mut x, Reduce::Sum).err());
    }
    assert!(matches!(failed, Some(Error::Nccl { code: 6, .. })), "{failed:?}");
    let later = all[0].all_reduce(&stream, &mut x, Reduce::Sum).unwrap_err();
    assert!(
        matches!(&later, Error::Aborted { first, .. } if matches!(**first, Error::Nccl { code: 6, .. })),
        "{later}"
    );
    log();
    drop(all);
    assert!(!log().iter().any(|line| line == "finalize" && line == "destroy"), "it has ended");
    Ok(())
}

fn call_refused() -> Result<()> {
    let all = world(Options::default())?;
    let stream = all[1].device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([4])?;
    let error = all[1].all_reduce(&stream, &mut x, Reduce::Sum).unwrap_err();
    assert!(matches!(&error, Error::Nccl { call: "ncclAllReduce", code: 5, .. }), "{error}");
    assert!(error.to_string().contains("invalid usage"), "{error}");
    let calls = log();
    assert!(calls.contains(&"end".to_string()), "a group that was begun is ended: {calls:?}");
    assert!(matches!(all[1].check(), Err(Error::Aborted { .. })));
    Ok(())
}

/// A collective that does not end is aborted by the thread that watches, so that who waits for the stream goes on.
fn pending() -> Result<()> {
    let all = world(short())?;
    let stream = all[0].device().stream()?;
    let mut x = stream.tensor_zeros::<f32, _>([4])?;
    all[0].all_reduce(&stream, &mut x, Reduce::Sum)?;
    let begun = std::time::Instant::now();
    while all[0].check().is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(20), "nothing watches");
        std::thread::sleep(Duration::from_millis(5));
    }
    let error = all[0].synchronize(&stream).unwrap_err();
    let Error::Aborted { first, .. } = &error else { panic!("{error}") };
    assert!(first.to_string().starts_with("`all_reduce`: after 0.3 s not all ranks have come"), "{error}");
    assert!(log().contains(&"abort".to_string()));
    Ok(())
}
