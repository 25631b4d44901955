//! Members of pools that are tuned on the arguments of a call: they run on the CPU, and their times are made up.

use crate::support::{Folder, tuner};
use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use triton::prelude::*;
use triton::selection::{Call, Selector};
use triton_tune::{Candidate, Failing, Replay, Trouble, Tuner};

/// x = 2x + 1 in place: running it twice is seen.
#[triton::kernel(BLOCK = [16, 32, 64, 128], tune = [BLOCK])]
fn update<const BLOCK: i32>(x: TensorMut<f32, 1>) {
    let i = program_id(0) * BLOCK;
    x.store([i], x.load([i], [BLOCK]) * 2.0 + 1.0);
}

/// sums\[0\] += the sum of x, by updates; of which the members with WRONG forget some.
#[triton::kernel(BLOCK = [32, 64], WRONG = [false, true], tune = [BLOCK, WRONG])]
fn total<const BLOCK: i32, const WRONG: bool>(x: Tensor<f32, 1>, sums: TensorMut<f32, 1>) {
    let block = program_id(0);
    let v = x.load([block * BLOCK], [BLOCK]);
    let part = if WRONG { sum(v) * 0.5 } else { sum(v) };
    sums.atomic_add([0], full([1], part));
}

/// The same over pointers.
#[triton::kernel(BLOCK = [32, 64], tune = [BLOCK])]
fn update_at<const BLOCK: i32>(x: PtrMut<f32>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    store(x + i, load(x + i, i < n) * 2.0 + 1.0, i < n);
}

const N: usize = 200;

fn block(block: i32) -> String {
    format!("BLOCK={block} num_warps=4 num_stages=3")
}

/// Launches each member as often as a GPU would, and tells a time of it: that of 64 is the shortest.
fn times(op: &str, key: &[i64]) -> Failing<Replay> {
    let us = [(16, 9.0), (32, 3.0), (64, 2.0), (128, 5.0)];
    let replay = us.iter().fold(Replay::new(), |replay, (of, us)| replay.time(op, key, &block(*of), *us));
    us.iter().fold(Failing::new(replay.launching()), |failing, (of, _)| failing.with(&block(*of), Trouble::Repeat(7)))
}

fn numbers() -> Vec<f32> {
    (0..N).map(|i| i as f32).collect()
}

fn once() -> Vec<f32> {
    numbers().into_iter().map(|v| v * 2.0 + 1.0).collect()
}

/// The blocks of a launch: the last is that of the member that ran at the end; and what it computed.
fn launched(tuner: &Tuner, legal: impl Fn(&UpdateChoice) -> bool) -> triton::Result<(Vec<i32>, Vec<f32>)> {
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    let mut blocks = Vec::new();
    update_tuned(x.view_mut([N])?).key([N]).legal(legal).with(tuner).launch(&stream, |choice| {
        blocks.push(choice.BLOCK);
        N.div_ceil(choice.BLOCK as usize)
    })?;
    Ok((blocks, stream.download(&x)?))
}

fn on(folder: &Folder) -> Tuner {
    tuner(&folder.0, "on").expect("it is a mode")
}

#[test]
fn a_kernel_in_place_is_tuned_on_its_arguments() -> triton::Result<()> {
    let folder = Folder::new();
    let tuner = on(&folder).measure(times("update", &[N as i64]));
    let (blocks, x) = launched(&tuner, |_| true)?;
    assert_eq!(x, once(), "it has run once");
    assert!(blocks.len() > 4 * 8, "all members were launched: {blocks:?}");
    assert_eq!(blocks.last(), Some(&64));
    // The second launch, and that of a second process that must not measure, run the winner at once.
    let (blocks, x) = launched(&tuner, |_| true)?;
    assert_eq!((blocks, x), (vec![64], once()));
    let reading = crate::support::tuner(&folder.0, "read").expect("it is a mode");
    let (blocks, x) = launched(&reading, |_| true)?;
    assert_eq!((blocks, x), (vec![64], once()));
    Ok(())
}

/// Counts what a tuner allocates.
struct Counting<'t>(&'t Tuner, Mutex<Vec<u64>>);

impl Selector for Counting<'_> {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        let mut chosen = Ok(None);
        let counted = allocation_counter::measure(|| chosen = Selector::select(self.0, call));
        self.1.lock().expect("no thread panics").push(counted.count_total);
        chosen
    }
}

#[test]
fn a_choice_that_was_made_allocates_nothing() -> triton::Result<()> {
    let folder = Folder::new();
    let tuner = on(&folder).measure(times("update", &[N as i64]));
    let counting = Counting(&tuner, Mutex::default());
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    for _ in 0..3 {
        let tuned = update_tuned(x.view_mut([N])?).key([N]).with(&counting);
        tuned.launch(&stream, |choice| N.div_ceil(choice.BLOCK as usize))?;
    }
    let counted = counting.1.into_inner().expect("no thread panicked");
    assert!(counted[0] > 0 && counted[1..] == [0, 0], "{counted:?}");
    // So does a list of candidates with borrowed names.
    let names = [Named("a"), Named("b")];
    let select = || tuner.select("names", &[1], &names, |_, _| Ok::<(), triton::Error>(())).map(|of| of.0);
    assert!(select().is_err(), "no time was recorded");
    let tuner = on(&folder);
    let select = || tuner.select("names", &[1], &names, |_, _| Ok::<(), triton::Error>(())).map(|of| of.0).ok();
    assert_eq!(select(), Some("a"));
    assert_eq!(allocation_counter::measure(|| assert_eq!(select(), Some("a"))).count_total, 0);
    Ok(())
}

/// A candidate that is a name.
struct Named(&'static str);

impl Candidate for Named {
    fn name(&self) -> Cow<'_, str> {
        self.0.into()
    }

    fn fingerprint(&self) -> u64 {
        1
    }
}

#[test]
fn what_is_not_legal_is_never_launched() -> triton::Result<()> {
    let folder = Folder::new();
    let tuner = on(&folder).measure(times("update", &[N as i64]));
    let (blocks, x) = launched(&tuner, |choice| choice.BLOCK != 64)?;
    assert!(!blocks.contains(&64) && blocks.last() == Some(&32), "{blocks:?}");
    assert_eq!(x, once());
    let error = launched(&tuner, |_| false).expect_err("nothing is allowed").to_string();
    assert!(error.starts_with("the pool `update` has no member that `.legal(..)` allows"), "{error}");
    Ok(())
}

/// What is said to a tuner.
type Change = fn(Tuner) -> Tuner;

/// How a tuner is kept from measuring, and how many launches there are then.
#[test]
fn where_it_does_not_measure_a_launch_is_one() -> triton::Result<()> {
    let of = || times("update", &[N as i64]);
    let cases: [(&str, &str, Change); 5] = [
        ("off", "off", |tuner| tuner),
        ("read", "read", |tuner| tuner),
        ("too little memory", "on", |tuner| tuner.memory(N * 4 - 1)),
        ("no memory", "on", |tuner| tuner.memory(0)),
        ("enough memory", "on", |tuner| tuner.memory(N * 4)),
    ];
    for (name, mode, with) in cases {
        let folder = Folder::new();
        let tuner = with(tuner(&folder.0, mode).expect("it is a mode").measure(of()));
        for _ in 0..2 {
            let (blocks, x) = launched(&tuner, |_| true)?;
            assert_eq!(x, once(), "{name}");
            assert_eq!(blocks.last(), Some(if name == "enough memory" { &64 } else { &16 }), "{name}");
            assert!(blocks.len() == 1 || name == "enough memory", "{name}: {blocks:?}");
        }
    }
    // What measures a GPU does not measure the CPU.
    let (blocks, x) = launched(&on(&Folder::new()), |_| true)?;
    assert_eq!((blocks, x), (vec![16], once()));
    Ok(())
}

#[test]
fn a_capture_does_not_measure_and_the_next_launch_does() -> triton::Result<()> {
    let folder = Folder::new();
    let tuner = on(&folder).measure(times("update", &[N as i64]));
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    let captured = AtomicUsize::new(0);
    let graph = stream.capture(|stream| {
        update_tuned(x.view_mut([N])?).key([N]).with(&tuner).launch(stream, |choice| {
            captured.fetch_add(1, Relaxed);
            N.div_ceil(choice.BLOCK as usize)
        })
    })?;
    assert_eq!(captured.load(Relaxed), 1);
    let (blocks, _) = launched(&tuner, |_| true)?;
    assert!(blocks.len() > 4, "{blocks:?}");
    graph.launch(&stream)?;
    assert_eq!(stream.download(&x)?, once());
    Ok(())
}

#[test]
fn members_that_fail_are_dropped() -> triton::Result<()> {
    let key = [N as i64];
    let folder = Folder::new();
    let failing =
        Failing::new(times("update", &key)).with(&block(64), Trouble::Load).with(&block(32), Trouble::Lie(-1.0));
    let tuner = on(&folder).measure(failing);
    let (blocks, x) = launched(&tuner, |_| true)?;
    assert_eq!((blocks.last(), x), (Some(&128), once()));

    // All of them: the error names each, and the arguments are as they were.
    let failing = [16, 32, 64, 128].iter().fold(Failing::new(times("update", &key)), |failing, of| {
        failing.with(&block(*of), if *of == 16 { Trouble::Lie(f64::NAN) } else { Trouble::TimeOut })
    });
    let tuner = on(&Folder::new()).measure(failing);
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    let tuned = update_tuned(x.view_mut([N])?).key([N]).with(&tuner);
    let error = tuned.launch(&stream, |choice| N.div_ceil(choice.BLOCK as usize)).expect_err("all fail").to_string();
    assert!(error.starts_with("every member of the pool `update` that fits the call failed: "), "{error}");
    assert!(error.contains("BLOCK=16 num_warps=4 num_stages=3: its time is NaN us"), "{error}");
    assert_eq!(stream.download(&x)?, numbers());
    Ok(())
}

/// The sum, and the blocks of the member that ran at the end.
fn summed(tuner: &Tuner) -> triton::Result<(f32, i32, bool)> {
    let stream = tuner.device().stream()?;
    let (x, mut sums) = (stream.upload(&[1.0f32; N])?, stream.upload(&[1000.0f32])?);
    let mut last = (0, false);
    total_tuned(x.view([N])?, sums.view_mut([1])?).key([N]).with(tuner).launch(&stream, |choice| {
        last = (choice.BLOCK, choice.WRONG);
        N.div_ceil(choice.BLOCK as usize)
    })?;
    Ok((stream.download(&sums)?[0], last.0, last.1))
}

#[test]
fn what_computes_something_else_is_dropped() -> triton::Result<()> {
    let replay = || {
        let names = [(32, false, 5.0), (32, true, 1.0), (64, false, 3.0), (64, true, 2.0)];
        names.iter().fold(Replay::new().launching(), |replay, (block, wrong, us)| {
            replay.time("total", &[N as i64], &format!("BLOCK={block} WRONG={wrong} num_warps=4 num_stages=3"), *us)
        })
    };
    // Without a check the fastest wins, right or not.
    assert_eq!(summed(&on(&Folder::new()).measure(replay()))?, (1100.0, 32, true));
    let folder = Folder::new();
    let tuner = on(&folder).measure(replay()).check(1e-5);
    assert_eq!(summed(&tuner)?, (1200.0, 64, false));
    assert_eq!(summed(&tuner)?, (1200.0, 64, false));
    assert!(folder.read().lines().filter(|line| line.contains("WRONG=true")).all(|line| line.contains("\tinf\t")));
    // The difference is 100 of 1200.
    assert_eq!(summed(&on(&Folder::new()).measure(replay()).check(0.1))?, (1100.0, 32, true));
    Ok(())
}

#[test]
#[allow(unsafe_code, reason = "a kernel over raw pointers")]
fn the_rest_of_a_pointers_buffer_is_written_back() -> triton::Result<()> {
    let replay = Replay::new().launching().time("update_at", &[N as i64], &block(32), 3.0);
    let tuner = on(&Folder::new()).measure(replay.time("update_at", &[N as i64], &block(64), 2.0));
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    let mut last = 0;
    let tuned = update_at_tuned(&mut x, N as i32).with(&tuner);
    let grid = |choice: &UpdateAtChoice| {
        last = choice.BLOCK;
        N.div_ceil(choice.BLOCK as usize)
    };
    // SAFETY: the mask keeps every access below N.
    unsafe { tuned.launch(&stream, grid)? };
    assert_eq!((last, stream.download(&x)?), (64, once()));
    Ok(())
}

#[test]
#[allow(unsafe_code, reason = "a kernel over raw pointers")]
fn a_pointer_of_unknown_length_is_not_measured_with() -> triton::Result<()> {
    let tuner = on(&Folder::new()).measure(Replay::new().launching().time("update_at", &[0], &block(64), 2.0));
    let stream = tuner.device().stream()?;
    let x = stream.upload(&numbers())?;
    let mut launches = 0;
    // SAFETY: nothing is accessed: there are no elements.
    let mut pointer = unsafe { DevicePtrMut::<f32>::new(x.address()) };
    let tuned = update_at_tuned(&mut pointer, 0).with(&tuner);
    let grid = |_: &UpdateAtChoice| {
        launches += 1;
        1
    };
    // SAFETY: as above.
    unsafe { tuned.launch(&stream, grid)? };
    assert_eq!(launches, 1);
    Ok(())
}

#[test]
fn views_of_one_buffer_are_written_back_together() -> triton::Result<()> {
    // Every second element: what lies between belongs to another view.
    let replay = times("update", &[N as i64 / 2, -1]);
    let tuner = on(&Folder::new()).measure(replay);
    let stream = tuner.device().stream()?;
    let mut x = stream.upload(&numbers())?;
    let view = x.view_mut([N / 2])?.with_strides([2])?;
    let mut launches = 0;
    update_tuned(view).with(&tuner).launch(&stream, |choice| {
        launches += 1;
        (N / 2).div_ceil(choice.BLOCK as usize)
    })?;
    assert!(launches > 4, "{launches}");
    let expected: Vec<f32> = (0..N).map(|i| if i % 2 == 0 { i as f32 * 2.0 + 1.0 } else { i as f32 }).collect();
    assert_eq!(stream.download(&x)?, expected);
    Ok(())
}
