//! Ranks of one process: they meet by an id, or are made together.

use super::hub::Hub;
use super::mailbox::{Mailbox, Sink};
use super::member::{Local, Member};
use super::{Exchange, Failure, left, lock};
use crate::error::{Error, Result};
use crate::id::Id;
use crate::place::Place;
use std::collections::HashMap;
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// All ranks of a world at once.
pub(crate) fn together(world: usize) -> Vec<Arc<dyn Exchange>> {
    let mailboxes: Vec<Arc<Mailbox>> = (0..world).map(|_| Arc::new(Mailbox::new(world))).collect();
    let hub = Arc::new(Hub::new(mailboxes.iter().map(|mailbox| mailbox.clone() as Arc<dyn Sink>).collect()));
    let member =
        |(rank, mailbox)| Arc::new(Member::new(mailbox, Local { hub: hub.clone(), rank })) as Arc<dyn Exchange>;
    mailboxes.into_iter().enumerate().map(member).collect()
}

/// Worlds that are not complete.
static LOBBIES: LazyLock<Mutex<HashMap<Id, Arc<Lobby>>>> = LazyLock::new(Mutex::default);

/// Where the ranks of a world wait for the last one.
struct Lobby {
    world: usize,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    came: Vec<bool>,
    /// Of each rank, once all have come. A rank takes its own.
    members: Vec<Option<Arc<dyn Exchange>>>,
    /// Ranks that did not come in time.
    missing: Option<Vec<usize>>,
}

/// The ranks of a world that are threads of one process.
pub(crate) fn meet_by_id(id: Id, place: Place, timeout: Duration, deadline: Instant) -> Result<Arc<dyn Exchange>> {
    let Place { rank, world, .. } = place;
    let lobby = enter(id, place)?;
    let timed_out = |missing| Failure::Timeout { missing }.of("the meeting by an id", timeout);
    let mut state = lock(&lobby.state);
    loop {
        if let Some(member) = state.members.get_mut(rank).and_then(Option::take) {
            return Ok(member);
        }
        if let Some(missing) = &state.missing {
            return Err(timed_out(missing.clone()));
        }
        let left = left(deadline);
        if left.is_zero() {
            let missing: Vec<usize> = (0..world).filter(|rank| !state.came[*rank]).collect();
            state.missing = Some(missing.clone());
            drop(state);
            lobby.changed.notify_all();
            forget(id, &lobby);
            return Err(timed_out(missing));
        }
        state = lobby.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
    }
}

/// Comes to a lobby; the last rank makes the world.
fn enter(id: Id, place: Place) -> Result<Arc<Lobby>> {
    let Place { rank, world, .. } = place;
    let refused = |reason| Err(Error::World { rank, world, reason });
    let mut lobbies = lock(&LOBBIES);
    let lobby = lobbies.entry(id).or_insert_with(|| {
        let state = State { came: vec![false; world], members: Vec::new(), missing: None };
        Arc::new(Lobby { world, state: Mutex::new(state), changed: Condvar::new() })
    });
    let lobby = lobby.clone();
    if lobby.world != world {
        return refused(format!(
            "the first rank of the id said that its world has {}; pass all ranks the same",
            lobby.world
        ));
    }
    let mut state = lock(&lobby.state);
    if std::mem::replace(&mut state.came[rank], true) {
        return refused("another thread has this rank; number them from 0, each once".to_string());
    }
    // One that timed out has come, and is gone again.
    if state.missing.is_none() && state.came.iter().all(|came| *came) {
        state.members = together(world).into_iter().map(Some).collect();
        lobbies.remove(&id);
        lobby.changed.notify_all();
    }
    drop(state);
    Ok(lobby)
}

/// Lets the id be used again.
fn forget(id: Id, lobby: &Arc<Lobby>) {
    let mut lobbies = lock(&LOBBIES);
    if lobbies.get(&id).is_some_and(|known| Arc::ptr_eq(known, lobby)) {
        lobbies.remove(&id);
    }
}
