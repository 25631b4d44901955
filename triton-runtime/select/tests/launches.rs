//! Launches whose member a selector chooses, on the CPU.

use std::sync::Mutex;
use triton::prelude::*;
use triton::selection::{Call, Selector};
use triton_select::{Record, Selection, Table, device_name};

/// x += BLOCK, so that the result tells which member ran.
#[triton::kernel(BLOCK = [16, 32, 64], tune = [BLOCK, times], times = [1, 2])]
fn mark<const BLOCK: i32>(x: TensorMut<i32, 1>, unused: i32, times: i32) {
    let i = program_id(0) * BLOCK;
    let v = x.load([i], [BLOCK]) + unused * 0;
    x.store([i], v + BLOCK * times);
}

const N: usize = 100;

/// What an element is after a launch with a selector.
fn launched(
    selector: &dyn Selector,
    legal: impl Fn(&MarkChoice) -> bool,
    key: Option<[usize; 1]>,
) -> triton::Result<i32> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(N)?;
    let tuned = mark_tuned(x.view_mut([N])?, 7).legal(legal).with(selector);
    let tuned = if let Some(key) = key { tuned.key(key) } else { tuned };
    tuned.launch(&stream, |choice| N.div_ceil(choice.BLOCK as usize))?;
    let x = stream.download(&x)?;
    assert!(x.iter().all(|v| *v == x[0]));
    Ok(x[0])
}

/// Counts what a selector allocates, and keeps the keys that it is asked for.
struct Counting<'s>(&'s Selection, Mutex<Vec<(u64, Vec<i64>)>>);

impl Selector for Counting<'_> {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        let mut chosen = Ok(None);
        let counted = allocation_counter::measure(|| chosen = self.0.select(call));
        self.1.lock().expect("no thread panics").push((counted.count_total, call.key().to_vec()));
        chosen
    }
}

fn measured(member: &str, key: &[i64], us: f64) -> Record {
    // Of the code as it is now.
    struct Fingerprint(Mutex<u64>, String);
    impl Selector for Fingerprint {
        fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
            let index = (0..call.members()).find(|&index| call.name(index) == self.1);
            *self.0.lock().expect("no thread panics") = call.fingerprint(index.expect("it is a member"));
            Ok(None)
        }
    }
    let asked = Fingerprint(Mutex::new(0), member.into());
    launched(&asked, |_| true, None).expect("it runs on the CPU");
    let fingerprint = *asked.0.lock().expect("no thread panics");
    Record { op: "mark".into(), pool: 0, key: key.to_vec(), member: member.into(), fingerprint, us }
}

fn named(block: i32, times: i32) -> String {
    format!("BLOCK={block} times={times} num_warps=4 num_stages=3")
}

#[test]
fn the_winner_of_the_key_runs() -> triton::Result<()> {
    let device = Device::cpu();
    let mut table = Table::new(device_name(&device));
    for record in
        [measured(&named(32, 2), &[5], 1.0), measured(&named(64, 1), &[5], 2.0), measured(&named(64, 2), &[900], 1.0)]
    {
        assert!(table.insert(record));
    }
    let selection = Selection::new(&device).table(table);
    // Each twice: what is remembered is the same.
    for _ in 0..2 {
        assert_eq!(launched(&selection, |_| true, Some([5]))?, 64);
        assert_eq!(launched(&selection, |_| true, Some([1000]))?, 128);
        assert_eq!(launched(&selection, |choice| choice.BLOCK != 32, Some([5]))?, 64);
        assert_eq!(launched(&selection, |choice| choice.BLOCK == 16, Some([5]))?, 16);
    }
    Ok(())
}

#[test]
fn a_key_that_was_seen_allocates_nothing() -> triton::Result<()> {
    let selection = Selection::new(&Device::cpu());
    let counting = Counting(&selection, Mutex::default());
    for key in [Some([5]), None, Some([5]), None, Some([6]), Some([6])] {
        launched(&counting, |_| true, key)?;
    }
    let counted = counting.1.into_inner().expect("no thread panicked");
    let allocates: Vec<bool> = counted.iter().map(|(count, _)| *count > 0).collect();
    assert_eq!(allocates, [true, true, false, false, true, false], "{counted:?}");
    // The extent of x, that it is contiguous along axis 0, and two integers; the one that is chosen is not passed yet.
    assert_eq!(counted[1].1, [100, 0, 7, 0]);
    Ok(())
}

#[test]
fn nothing_legal_is_an_error_that_names_the_members() {
    let selection = Selection::new(&Device::cpu());
    let error = launched(&selection, |_| false, None).expect_err("no member may run").to_string();
    assert!(error.starts_with("the pool `mark` has no member that `.legal(..)` allows and the device has code of; its members: BLOCK=16 times=1"), "{error}");
}

/// A selector that names what it should not.
struct Wrong(Option<usize>);

impl Selector for Wrong {
    fn select(&self, _: &mut Call<'_>) -> triton::Result<Option<usize>> {
        Ok(self.0)
    }
}

#[test]
fn a_selector_that_is_wrong_is_ignored() -> triton::Result<()> {
    for index in [None, Some(6), Some(usize::MAX), Some(2)] {
        // Number 2 is of BLOCK = 32, which is not allowed.
        assert_eq!(launched(&Wrong(index), |choice| choice.BLOCK == 64, None)?, 64, "{index:?}");
    }
    assert_eq!(launched(&Wrong(Some(3)), |_| true, None)?, 64);
    Ok(())
}

#[test]
fn a_member_that_was_chosen_before_runs_without_asking() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(N)?;
    let tuned = mark_tuned(x.view_mut([N])?, 0).find(|choice| choice.BLOCK == 64 && choice.times == 2);
    tuned.with(&Wrong(Some(0))).launch(&stream, |choice| N.div_ceil(choice.BLOCK as usize))?;
    assert_eq!(stream.download(&x)?, [128; N]);
    Ok(())
}

#[test]
fn members_that_cannot_be_launched_are_passed_over() -> triton::Result<()> {
    let selection = Selection::new(&Device::cpu());
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(N)?;
    // A grid that no device runs, for all but one block.
    let mut launch = |fails: &dyn Fn(i32) -> bool| {
        let tuned = mark_tuned(x.view_mut([N])?, 0).key([1]).with(&selection);
        tuned.launch(&stream, |choice| {
            let programs = N.div_ceil(choice.BLOCK as usize);
            if fails(choice.BLOCK) { (1, 1 << 20) } else { (programs, 1) }
        })
    };
    launch(&|block| block != 32)?;
    launch(&|block| block != 32)?;
    let error = launch(&|_| true).expect_err("no member can be launched").to_string();
    assert!(
        error.starts_with("every member of the pool `mark` that fits the call failed: BLOCK=32 times=1"),
        "{error}"
    );
    assert!(error.contains("the grid of `mark::<32>` has 1048576 programs along y"), "{error}");
    assert_eq!(stream.download(&x)?, [64; N]);
    Ok(())
}

#[test]
fn a_captured_launch_is_chosen_too() -> triton::Result<()> {
    let selection = Selection::new(&Device::cpu());
    let stream = Device::cpu().stream()?;
    let mut x = stream.zeros::<i32>(N)?;
    let graph = stream.capture(|stream| {
        let tuned = mark_tuned(x.view_mut([N])?, 0).legal(|choice| choice.BLOCK == 64).with(&selection);
        tuned.launch(stream, |choice| N.div_ceil(choice.BLOCK as usize))
    })?;
    graph.launch(&stream)?;
    graph.launch(&stream)?;
    assert_eq!(stream.download(&x)?, [128; N]);
    Ok(())
}

/// Runs every member, and writes back what they change.
struct Trying;

impl Selector for Trying {
    fn select(&self, call: &mut Call<'_>) -> triton::Result<Option<usize>> {
        assert_eq!(call.saved_bytes(), Some(4 * N));
        assert!(call.save()?, "the length of a view is known");
        for index in 0..call.members() {
            call.launch(index)?;
        }
        let outputs = call.outputs()?;
        assert_eq!(outputs[0].view::<i32>().map(|view| view.shape()), Some([N]));
        assert!(outputs[0].view::<f32>().is_none());
        // Both values of `times` with each block.
        assert!(outputs[0].values(call.stream())?.iter().all(|value| *value == 3.0 * (16 + 32 + 64) as f64));
        call.restore()?;
        Ok(Some(4))
    }
}

#[test]
fn what_members_change_is_written_back() -> triton::Result<()> {
    assert_eq!(launched(&Trying, |_| true, None)?, 64);
    Ok(())
}
