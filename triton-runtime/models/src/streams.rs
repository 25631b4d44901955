//! Uses of one buffer on several streams: vector clocks say what the device would have ordered.

use crate::replays::Replays;
use crate::stream_order::{OrderedStream, StreamUses};
use crate::sync::Mutex;
use loom::sync::Arc;

/// How many streams there are.
const STREAMS: usize = 4;

/// For each stream, how much of every stream's work its next work comes after.
type Clocks = [[u32; STREAMS]; STREAMS];

/// A stream, and the device that all of them share.
#[derive(Clone)]
struct Stream {
    id: usize,
    clocks: Arc<Mutex<Clocks>>,
}

/// Work that was enqueued: its stream, its number there, and what it comes after.
#[derive(Clone, Copy)]
struct Work {
    stream: usize,
    number: u32,
    after: [u32; STREAMS],
}

impl Stream {
    fn enqueue(&self) -> Work {
        let mut clocks = self.clocks.lock().unwrap();
        let clock = &mut clocks[self.id];
        clock[self.id] += 1;
        Work { stream: self.id, number: clock[self.id], after: *clock }
    }
}

impl OrderedStream for Stream {
    type Error = ();

    fn key(&self) -> usize {
        self.id
    }

    fn wait_for(&self, other: &Stream) -> Result<(), ()> {
        let mut clocks = self.clocks.lock().unwrap();
        let theirs = clocks[other.id];
        for (mine, theirs) in clocks[self.id].iter_mut().zip(theirs) {
            *mine = theirs.max(*mine);
        }
        Ok(())
    }
}

impl Work {
    fn comes_after(&self, other: &Work) -> bool {
        self.after[other.stream] >= other.number
    }
}

/// A write on stream 0, reads by two threads on the streams named, a write on `writer`, and a free.
fn uses(readers: [[usize; 2]; 2], writer: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let clocks = Arc::new(Mutex::new([[0; STREAMS]; STREAMS]));
        let stream = |id: usize| Stream { id, clocks: clocks.clone() };
        let buffer = Arc::new(StreamUses::new(stream(0)));
        buffer.write(&stream(0)).unwrap();
        let first = stream(0).enqueue();

        let read = |ids: [usize; 2]| {
            let (streams, buffer) = (ids.map(stream), buffer.clone());
            move || {
                streams.map(|stream| {
                    // It is ordered before it is enqueued.
                    buffer.read(&stream).unwrap();
                    stream.enqueue()
                })
            }
        };
        let other = loom::thread::spawn(read(readers[1]));
        let mut reads = read(readers[0])().to_vec();
        reads.extend(other.join().unwrap());
        assert!(reads.iter().all(|read| read.comes_after(&first)), "a read comes before the write");

        // The exclusive borrow: no use overlaps this one on the host.
        buffer.write(&stream(writer)).unwrap();
        let second = stream(writer).enqueue();
        assert!(second.comes_after(&first), "writes are not ordered");
        assert!(reads.iter().all(|read| second.comes_after(read)), "a write comes before a read");

        let (last_writer, last_readers) = buffer.last();
        let last_writer = last_writer.expect("it does not rest");
        for reader in &last_readers {
            last_writer.wait_for(reader).unwrap();
        }
        let free = last_writer.enqueue();
        assert!(free.comes_after(&second) && reads.iter().all(|read| free.comes_after(read)), "freed too early");
    });
}

#[test]
fn reads_and_writes_are_ordered() {
    for writer in [0, 1, 3] {
        uses([[1, 1], [2, 2]], writer);
        uses([[1, 2], [2, 1]], writer);
        uses([[0, 1], [1, 0]], writer);
    }
}

/// A write on stream 0, reads on the streams named, a write that stream 3 of another device enqueues, and a read on each.
fn peers(readers: [usize; 2]) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let clocks = Arc::new(Mutex::new([[0; STREAMS]; STREAMS]));
        let stream = |id: usize| Stream { id, clocks: clocks.clone() };
        let buffer = Arc::new(StreamUses::new(stream(0)));
        buffer.write(&stream(0)).unwrap();
        let first = stream(0).enqueue();
        let read = |id: usize| {
            let (stream, buffer) = (stream(id), buffer.clone());
            move || {
                buffer.read(&stream).unwrap();
                stream.enqueue()
            }
        };
        let other = loom::thread::spawn(read(readers[1]));
        let before = [read(readers[0])(), other.join().unwrap()];

        // The exclusive borrow.
        let peer = stream(3);
        let mut copy = None;
        buffer.write_by(&peer, || Ok(copy = Some(peer.enqueue()))).unwrap();
        let copy = copy.expect("it was enqueued");
        assert!(copy.comes_after(&first) && before.iter().all(|read| copy.comes_after(read)), "the copy comes too early");

        let other = loom::thread::spawn(read(readers[1]));
        let after = [read(readers[0])(), other.join().unwrap()];
        assert!(after.iter().all(|read| read.comes_after(&copy)), "a read comes before the copy");
        let (writer, readers) = buffer.last();
        let used = writer.iter().chain(&readers).all(|used| used.id != 3);
        assert!(used, "the buffer names a stream of another device");
        let writer = writer.expect("it does not rest");
        readers.iter().for_each(|reader| writer.wait_for(reader).unwrap());
        assert!(writer.enqueue().comes_after(&copy), "freed too early");

        // A copy the other way reads, and a write on any stream comes after it.
        let mut read = None;
        buffer.read_by(&peer, || Ok(read = Some(peer.enqueue()))).unwrap();
        let read = read.expect("it was enqueued");
        assert!(read.comes_after(&copy), "it reads too early");
        let next = stream(2);
        buffer.write(&next).unwrap();
        assert!(next.enqueue().comes_after(&read), "a write comes before the copy");
    });
}

#[test]
fn copies_of_another_device_are_ordered() {
    for readers in [[0, 0], [0, 1], [1, 2], [1, 1]] {
        peers(readers);
    }
}

/// A use on one stream by borrow, and replays of a graph that writes the buffer on two others: each pair is in some order, and a free comes after
/// them all.
fn replays(user: usize, writes: bool) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let clocks = Arc::new(Mutex::new([[0; STREAMS]; STREAMS]));
        let stream = |id: usize| Stream { id, clocks: clocks.clone() };
        let buffer = Arc::new(StreamUses::new(stream(0)));
        let replays = Arc::new(Replays::default());
        // Under the borrow of the capture.
        buffer.capture();
        let replay = |id: usize| {
            let (stream, buffer, replays) = (stream(id), buffer.clone(), replays.clone());
            move || {
                let _alone = replays.enter();
                buffer.write(&stream).unwrap();
                stream.enqueue()
            }
        };
        let other = loom::thread::spawn(replay(3));
        let used = {
            let stream = stream(user);
            let _shared = buffer.is_captured().then(|| replays.exclude());
            if writes {
                buffer.write(&stream).unwrap()
            } else {
                buffer.read(&stream).unwrap()
            }
            stream.enqueue()
        };
        let works = [used, replay(2)(), other.join().unwrap()];
        for (i, a) in works.iter().enumerate() {
            for b in &works[..i] {
                assert!(a.comes_after(b) || b.comes_after(a), "uses that conflict are not ordered");
            }
        }
        let (last_writer, last_readers) = buffer.last();
        let last_writer = last_writer.expect("it does not rest");
        for reader in &last_readers {
            last_writer.wait_for(reader).unwrap();
        }
        let free = last_writer.enqueue();
        assert!(works.iter().all(|work| free.comes_after(work)), "freed too early");
    });
}

#[test]
fn replays_exclude_uses_of_captured_buffers() {
    for user in [0, 1, 3] {
        replays(user, false);
        replays(user, true);
    }
}

/// A replay on one device that is not done before a use on another is: where both had one lock, loom would report a deadlock.
#[test]
fn devices_do_not_wait_for_each_others_replays() {
    loom::model(|| {
        let [first, second] = [(); 2].map(|()| Arc::new(Replays::default()));
        let _replay = first.enter();
        let other = second.clone();
        let used = loom::thread::spawn(move || drop(other.exclude()));
        drop(second.enter());
        used.join().unwrap();
    });
}
