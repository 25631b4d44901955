//! Machine code that is kept on disk, with lines of the source and without.

use super::{fill, launch_of, log};
use triton_runtime::{AsPtrMutArg, Device, Error, LaunchArg, Result};

pub fn cache() -> Result<()> {
    let device = Device::cuda(0)?;
    let mut out = device.stream()?.zeros::<i32>(1)?;
    let mut cached = || {
        let launch = launch_of(fill(), [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]);
        Ok::<_, Error>(launch.load(&device)?.iter().map(|info| info.cached).collect::<Vec<_>>())
    };
    assert_eq!(cached()?, [false, false]);
    assert_eq!(cached()?, [true, true]);
    let folder = std::env::var("TRITON_DSL_CACHE_DIR").expect("the parent sets it");
    let entries = std::fs::read_dir(folder).expect("the folder is there").map(|e| e.expect("an entry").path());
    for entry in entries.filter(|path| path.extension().is_some_and(|e| e == "cubin")) {
        std::fs::write(entry, "nonsense").expect("the entry is writable");
    }
    assert_eq!(cached()?, [false, false], "damaged entries are replaced");
    assert_eq!(cached()?, [true, true]);
    Ok(())
}

/// Code with lines and code without are compiled and kept apart.
pub fn lines() -> Result<()> {
    let device = Device::cuda(0)?;
    let mut out = device.stream()?.zeros::<i32>(1)?;
    log();
    // Another kernel each time: what is loaded stays.
    let mut load = |lines: bool| {
        Device::set_line_info(lines);
        let launch = launch_of(fill(), [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]);
        let loaded = launch.load(&device)?.into_iter().map(|info| (info.lines, info.cached)).collect::<Vec<_>>();
        let links: Vec<String> = log().into_iter().filter(|line| line.starts_with("link")).collect();
        Ok::<_, Error>((loaded, links.join(", ")))
    };
    assert_eq!(load(false)?, (vec![(false, false); 2], "link, link".into()));
    assert_eq!(load(true)?, (vec![(true, false); 2], "link with lines, link with lines".into()));
    assert_eq!(load(true)?, (vec![(true, true); 2], String::new()));
    assert_eq!(load(false)?, (vec![(false, true); 2], String::new()));
    Ok(())
}

pub fn lines_by_environment() -> Result<()> {
    let device = Device::cuda(0)?;
    let mut out = device.stream()?.zeros::<i32>(1)?;
    let loaded = launch_of(fill(), [out.as_ptr_mut_arg(), LaunchArg::scalar(0)]).load(&device)?;
    assert!(loaded.iter().all(|info| info.lines), "{loaded:?}");
    Ok(())
}
