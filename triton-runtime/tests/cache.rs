//! The disk cache: sound entries come back, everything else reads as absent and is written anew.

mod support;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use support::Folder;
use triton_runtime::cache::{Cache, Entry, Key};

const KEY: Key<'static> = Key { ptx: ".version 8.0\n// é", driver: 12040, device: "9.0 NVIDIA H200" };

fn entry() -> Entry {
    Entry { cubin: (0..=255).cycle().take(1000).collect(), log: "ptxas info : Used 32 registers".to_string() }
}

#[test]
fn entries_come_back() {
    let folder = Folder::new();
    let cache = Cache::at(folder.0.join("a/b"));
    assert_eq!(cache.read(&KEY), None, "nothing is there yet");
    for content in [entry(), Entry { cubin: Vec::new(), log: String::new() }, entry()] {
        cache.write(&KEY, &content).expect("the folder is made");
        assert_eq!(cache.read(&KEY), Some(content));
    }
    let files: Vec<_> = std::fs::read_dir(cache.folder()).expect("it exists").collect();
    assert_eq!(files.len(), 1, "no temporary file is left: {files:?}");
}

#[test]
fn other_keys_have_other_entries() {
    let folder = Folder::new();
    let cache = Cache::at(&folder.0);
    cache.write(&KEY, &entry()).expect("writable");
    let others = [
        Key { ptx: ".version 8.0\n", ..KEY },
        Key { driver: 12050, ..KEY },
        Key { device: "9.0 NVIDIA H100", ..KEY },
        Key { device: "", ..KEY },
    ];
    for other in others {
        assert_eq!(cache.read(&other), None);
        // Even a file of the right name is refused when its key is another: names may collide.
        std::fs::copy(cache.file(&KEY), cache.file(&other)).expect("writable");
        assert_eq!(cache.read(&other), None, "{other:?}");
        cache.write(&other, &entry()).expect("writable");
        assert_eq!(cache.read(&other), Some(entry()));
    }
    assert_eq!(cache.read(&KEY), Some(entry()));
}

#[test]
fn damage_is_noticed() {
    let folder = Folder::new();
    let cache = Cache::at(&folder.0);
    cache.write(&KEY, &entry()).expect("writable");
    let sound = std::fs::read(cache.file(&KEY)).expect("readable");
    let check = |bytes: &[u8], what: String| {
        std::fs::write(cache.file(&KEY), bytes).expect("writable");
        assert_eq!(cache.read(&KEY), None, "{what}");
    };
    for length in 0..sound.len() {
        check(&sound[..length], format!("truncated to {length}"));
    }
    for at in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[at] ^= 1 << (at % 8);
        check(&bytes, format!("byte {at} flipped"));
    }
    check(&[&sound[..], b"x"].concat(), "one byte more".to_string());

    // Another version of the format, with a sum that is right; and lengths that lie.
    for (at, byte) in [(13, b'0'), (19, 0xff), (22, 0x80), (23, 0)] {
        let mut bytes = sound[..sound.len() - 4].to_vec();
        bytes[at] = byte;
        let sum = crc32fast::hash(&bytes).to_le_bytes();
        check(&[&bytes[..], &sum].concat(), format!("byte {at} is {byte}"));
    }
    cache.write(&KEY, &entry()).expect("writable");
    assert_eq!(cache.read(&KEY), Some(entry()), "written anew");
}

#[test]
fn a_folder_that_cannot_be_written() {
    let folder = Folder::new();
    let file = folder.0.join("file");
    std::fs::write(&file, "in the way").expect("writable");
    for place in [file.clone(), file.join("below")] {
        let cache = Cache::at(place);
        assert!(cache.write(&KEY, &entry()).is_err());
        assert_eq!(cache.read(&KEY), None);
    }
    // A folder where the entry should be.
    let cache = Cache::at(&folder.0);
    std::fs::create_dir(cache.file(&KEY)).expect("writable");
    assert_eq!(cache.read(&KEY), None);
    assert!(cache.write(&KEY, &entry()).is_err());
    let left = std::fs::read_dir(&folder.0).expect("readable").count();
    assert_eq!(left, 2, "the temporary file is removed");
}

#[test]
fn writers_do_not_disturb_each_other() {
    let folder = Folder::new();
    let cache = Cache::at(&folder.0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..50 {
                    cache.write(&KEY, &entry()).expect("writable");
                    assert_eq!(cache.read(&KEY), Some(entry()));
                }
            });
        }
    });
}

#[test]
fn folders() {
    let check = |vars: &[(&str, &str)], expected: Option<&str>| {
        let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        let found = Cache::from_vars(get).map(|c| c.folder().to_path_buf());
        assert_eq!(found, expected.map(PathBuf::from), "{vars:?}");
    };
    let (own, xdg, home) = (("TRITON_CACHE_DIR", "/t"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h"));
    check(&[own, xdg, home], Some("/t"));
    check(&[xdg, home], Some("/x/triton-dsl"));
    check(&[home], Some("/h/.cache/triton-dsl"));
    check(&[("XDG_CACHE_HOME", "relative"), home], Some("/h/.cache/triton-dsl"));
    check(&[("TRITON_CACHE_DIR", "relative")], Some("relative"));
    check(&[("TRITON_CACHE_DIR", ""), xdg, home], None);
    check(&[], None);
    assert_eq!(Cache::at("/t").folder(), Path::new("/t"));
}
