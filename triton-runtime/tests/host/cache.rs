//! The disk cache: valid entries are hits, everything else is a miss and is overwritten. What others can have
//! written is not used.

use crate::support::Folder;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
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
    assert_eq!(cache.read(&KEY), Some(entry()), "overwritten");
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

/// Sets when an entry was last used: some seconds after the epoch.
fn set_used(cache: &Cache, key: &Key<'_>, seconds: u64) {
    let file = std::fs::File::open(cache.file(key)).expect("the entry");
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).expect("it is ours");
}

#[test]
fn what_was_not_used_for_longest_is_evicted() {
    let folder = Folder::new();
    let keys = ["a", "b", "c", "d", "e"].map(|ptx| Key { ptx, ..KEY });
    let cache = Cache::at(&folder.0);
    cache.write(&keys[0], &entry()).expect("writable");
    let size = std::fs::metadata(cache.file(&keys[0])).expect("the entry").len();
    // Three entries and a half.
    let cache = cache.with_limit(3 * size + size / 2);
    // What is not of the cache is not counted, and stays.
    let others = ["mine.cubin", "notes"].map(|name| folder.0.join(name));
    for other in &others {
        std::fs::write(other, vec![0; 8 * size as usize]).expect("writable");
    }
    for (key, seconds) in keys[1..3].iter().zip([20, 30]) {
        cache.write(key, &entry()).expect("writable");
        set_used(&cache, key, seconds);
    }
    set_used(&cache, &keys[0], 10);
    assert_eq!(cache.read(&keys[0]), Some(entry()), "three of them fit");
    // The first one was just used, so that the second one goes.
    cache.write(&keys[3], &entry()).expect("writable");
    let is_there = |key: &Key<'_>| cache.file(key).exists();
    assert_eq!(keys.each_ref().map(is_there), [true, false, true, true, false]);
    // What a killed process has left counts, and goes likewise.
    let left = folder.0.join(".1-0123456789abcdef.tmp");
    std::fs::write(&left, vec![0; size as usize]).expect("writable");
    std::fs::File::open(&left).expect("ours").set_modified(SystemTime::UNIX_EPOCH).expect("ours");
    cache.write(&keys[3], &entry()).expect("writable");
    assert!(!left.exists() && is_there(&keys[2]), "one is enough");
    // What was just written stays, whatever the limit is.
    let cache = cache.clone().with_limit(0);
    cache.write(&keys[4], &entry()).expect("writable");
    assert_eq!(keys.each_ref().map(is_there), [false, false, false, false, true]);
    assert_eq!(cache.read(&keys[4]), Some(entry()));
    assert!(others.iter().all(|other| other.exists()));
}

#[test]
fn evicting_loses_nothing_but_entries() {
    let folder = Folder::new();
    // Less than two entries: each writer evicts what the others have just written.
    let cache = Cache::at(&folder.0).with_limit(2000);
    std::thread::scope(|scope| {
        for ptx in ["a", "b", "c", "d"] {
            let (cache, key) = (&cache, Key { ptx, ..KEY });
            scope.spawn(move || {
                for _ in 0..50 {
                    // A writer may lose the file that it writes.
                    let _ = cache.write(&key, &entry());
                    assert!(cache.read(&key).is_none_or(|found| found == entry()));
                }
            });
        }
    });
    cache.write(&KEY, &entry()).expect("writable");
    assert_eq!(cache.read(&KEY), Some(entry()));
    assert_eq!(std::fs::read_dir(&folder.0).expect("readable").count(), 1);
}

#[test]
fn limits() {
    let check = |mib: &str, expected: u64| {
        let vars = [("TRITON_DSL_CACHE_MIB", mib), ("HOME", "/h")];
        let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        assert_eq!(Cache::from_vars(get).map(|cache| cache.limit()), Some(expected), "{mib}");
    };
    check("3", 3 << 20);
    check(" 0 ", 0);
    check("99999999999999999", u64::MAX);
    for other in ["", "-1", "1.5", "many"] {
        check(other, Cache::DEFAULT_LIMIT);
    }
}

#[test]
fn folders() {
    let check = |vars: &[(&str, &str)], expected: Option<&str>| {
        let get = |name: &str| vars.iter().find(|(n, _)| *n == name).map(|(_, v)| OsString::from(v));
        let found = Cache::from_vars(get).map(|c| c.folder().to_path_buf());
        assert_eq!(found, expected.map(PathBuf::from), "{vars:?}");
    };
    let (own, xdg, home) = (("TRITON_DSL_CACHE_DIR", "/t"), ("XDG_CACHE_HOME", "/x"), ("HOME", "/h"));
    check(&[own, xdg, home], Some("/t"));
    check(&[xdg, home], Some("/x/triton-dsl"));
    check(&[home], Some("/h/.cache/triton-dsl"));
    check(&[("XDG_CACHE_HOME", "relative"), home], Some("/h/.cache/triton-dsl"));
    check(&[("TRITON_DSL_CACHE_DIR", "relative")], Some("relative"));
    check(&[("TRITON_DSL_CACHE_DIR", ""), xdg, home], None);
    check(&[], None);
    assert_eq!(Cache::at("/t").folder(), Path::new("/t"));
}

#[cfg(unix)]
mod others {
    //! What another user could leave in our way.

    use super::{Cache, Folder, KEY, entry};
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::os::unix::net::UnixListener;
    use std::path::Path;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it exists").permissions().mode() & 0o7777
    }

    fn set_mode(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    }

    #[test]
    fn what_is_made_is_private() {
        let folder = Folder::new();
        let cache = Cache::at(folder.0.join("a/b"));
        cache.write(&KEY, &entry()).expect("the folder is made");
        assert_eq!(mode(&folder.0.join("a")), 0o700);
        assert_eq!(mode(cache.folder()), 0o700);
        assert_eq!(mode(&cache.file(&KEY)), 0o600);
    }

    #[test]
    fn planted_links_lead_nowhere() {
        let folder = Folder::new();
        let cache = Cache::at(folder.0.join("cache"));
        cache.write(&KEY, &entry()).expect("writable");
        let victim = folder.0.join("victim");
        fs::write(&victim, "precious").expect("writable");
        // Names that can be foreseen: the process and a count.
        for count in 0..100 {
            let name = format!(".{}-{count}.tmp", std::process::id());
            symlink(&victim, cache.folder().join(name)).expect("writable");
        }
        for _ in 0..10 {
            cache.write(&KEY, &entry()).expect("writable");
        }
        assert_eq!(fs::read(&victim).expect("readable"), b"precious");

        // A link in the entry's place is not followed, even if the file that it names is sound: it is replaced.
        let file = cache.file(&KEY);
        let elsewhere = folder.0.join("elsewhere");
        fs::rename(&file, &elsewhere).expect("writable");
        symlink(&elsewhere, &file).expect("writable");
        assert_eq!(cache.read(&KEY), None);
        fs::write(&elsewhere, "precious").expect("writable");
        cache.write(&KEY, &entry()).expect("writable");
        assert_eq!(fs::read(&elsewhere).expect("readable"), b"precious");
        assert_eq!(cache.read(&KEY), Some(entry()));
    }

    #[test]
    fn what_is_not_a_file_is_not_opened() {
        let folder = Folder::new();
        let cache = Cache::at(&folder.0);
        let _socket = UnixListener::bind(cache.file(&KEY)).expect("a short path");
        assert_eq!(cache.read(&KEY), None);
        fs::remove_file(cache.file(&KEY)).expect("ours");
        // Opening a pipe that has no writer would block for good.
        let made = std::process::Command::new("mkfifo").arg(cache.file(&KEY)).status();
        if made.is_ok_and(|status| status.success()) {
            assert_eq!(cache.read(&KEY), None);
        } else {
            println!("SKIPPED: there is no mkfifo");
        }
        cache.write(&KEY, &entry()).expect("writable");
        assert_eq!(cache.read(&KEY), Some(entry()));
    }

    #[test]
    fn what_others_may_write_is_refused() {
        let folder = Folder::new();
        let cache = Cache::at(&folder.0);
        cache.write(&KEY, &entry()).expect("writable");
        for mode in [0o777, 0o1777, 0o770, 0o702] {
            set_mode(&folder.0, mode);
            assert_eq!(cache.read(&KEY), None, "a folder of mode {mode:o}");
            let error = cache.write(&KEY, &entry()).expect_err("others may write").to_string();
            assert!(error.contains(&format!("(mode {mode:o}): run `chmod go-w ")), "{error}");
        }
        set_mode(&folder.0, 0o755);
        for mode in [0o666, 0o620, 0o602] {
            set_mode(&cache.file(&KEY), mode);
            assert_eq!(cache.read(&KEY), None, "a file of mode {mode:o}");
        }
        cache.write(&KEY, &entry()).expect("writable");
        assert_eq!(cache.read(&KEY), Some(entry()), "overwritten");
        assert_eq!(fs::read_dir(&folder.0).expect("readable").count(), 1, "no temporary file is left");
    }

    #[test]
    fn what_others_own_is_refused() {
        let folder = Folder::new();
        let cache = Cache::at(&folder.0);
        cache.write(&KEY, &entry()).expect("writable");
        if chown(cache.file(&KEY), Some(12345), None).is_err() {
            // Only root gives files away; but then the root folder is another user's.
            assert!(Cache::at("/").write(&KEY, &entry()).is_err());
            println!("SKIPPED: files of other users can only be made by root");
            return;
        }
        assert_eq!(cache.read(&KEY), None, "a forged entry");
        cache.write(&KEY, &entry()).expect("writable");
        assert_eq!(cache.read(&KEY), Some(entry()), "overwritten");
        chown(&folder.0, Some(12345), None).expect("this is root");
        assert_eq!(cache.read(&KEY), None);
        let error = cache.write(&KEY, &entry()).expect_err("another user's").to_string();
        assert!(error.contains("belongs to user 12345, not to user "), "{error}");
    }
}
