//! Deletions that cannot be detected, because the programs are correct without them.

use crate::tally::Excuse;

/// A barrier between two uses of memory, of a warp that has just met after a loop that its threads leave at different times.
const fn after_meeting(nth: usize) -> Excuse {
    Excuse {
        programs: &["run/atomic_extremes sm_80 generic"],
        instruction: "bar.warp.sync 0xffffffff",
        nth,
        reason: "the barrier after the loop of the exchange is before it",
    }
}

/// What is for a slot that is filled again, in loops of as many turns as there are slots.
const fn not_filled_again(instruction: &'static str) -> Excuse {
    Excuse {
        programs: &["run/persist_short sm_90a aligned16"],
        instruction,
        nth: 1,
        reason: "no program has more items than slots, and each is of a block of its own",
    }
}

/// Loops in which a product goes on beside the next turn's other one.
const OVERLAP: &[&str] = &[
    "run/overlap sm_90a divisible16",
    "run/overlap sm_90a aligned16",
    "run/overlap sm_90a divisible16 persistent",
    "run/overlap sm_90a aligned16 persistent",
];

/// Those of them that run one program a block: a last release.
const fn last_release(instruction: &'static str) -> Excuse {
    Excuse {
        programs: &["run/overlap sm_90a divisible16", "run/overlap sm_90a aligned16"],
        instruction,
        nth: 1,
        reason: "a block that runs one program fills no item after its last ones",
    }
}

/// A producer's wait before a program's first keys, where blocks run several.
const fn first_keys(programs: &'static [&'static str], instruction: &'static str) -> Excuse {
    let reason = "the wait for the values of the item before is for threads that have released the keys after";
    Excuse { programs, instruction, nth: 1, reason }
}

/// A producer's wait before a program's queries, where blocks run several.
const fn queries(programs: &'static [&'static str], instruction: &'static str) -> Excuse {
    let reason = "two programs before the third one of a block is one without an iteration, which reads no queries";
    Excuse { programs, instruction, nth: 1, reason }
}

/// Products of one warpgroup, whose operands are stored by its threads, and not by copies.
const ONE_WARPGROUP: &[&str] = &[
    "run/cluster_product sm_90a unit_stride",
    "run/cluster_product sm_90a generic",
    "run/pointers_cut sm_90a aligned16",
    "run/pointers_turned sm_90a aligned16",
    "run/pointers_wrapped sm_90a aligned16",
];

/// All of them.
pub const EXCUSES: &[Excuse] = &[
    last_release("mbarrier.arrive.shared::cta.b64 _, [%r374+16432]"),
    last_release("mbarrier.arrive.shared::cta.b64 _, [%r376+16456]"),
    queries(
        &["run/overlap sm_90a divisible16 persistent"],
        "mbarrier.try_wait.parity.shared::cta.b64 %p48, [%r501+24656], %r499",
    ),
    queries(
        &["run/overlap sm_90a aligned16 persistent"],
        "mbarrier.try_wait.parity.shared::cta.b64 %p55, [%r516+24656], %r514",
    ),
    first_keys(
        &["run/overlap sm_90a divisible16 persistent"],
        "mbarrier.try_wait.parity.shared::cta.b64 %p51, [%r513+24592], %r511",
    ),
    first_keys(
        &["run/overlap sm_90a aligned16 persistent"],
        "mbarrier.try_wait.parity.shared::cta.b64 %p58, [%r528+24592], %r526",
    ),
    Excuse {
        programs: OVERLAP,
        instruction: "wgmma.fence.sync.aligned",
        nth: 2,
        reason: "the sum of the first product begins at 0, and its operands are in shared memory",
    },
    Excuse {
        programs: OVERLAP,
        instruction: "wgmma.fence.sync.aligned",
        nth: 3,
        reason: "the fence before the first product follows all that writes the registers of the second one",
    },
    Excuse {
        programs: &[
            "run/copied_matrices sm_90a aligned16",
            "run/copied_matrices sm_80 aligned16",
            "run/copied_matrices sm_80 generic",
        ],
        instruction: "bar.sync 0",
        nth: 1,
        reason: "each turn of the inner loop, of which there is always one, has a barrier between these uses: threads read what others have copied",
    },
    Excuse {
        programs: &["run/copied_matrices sm_90a aligned16"],
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "the products of the turn before have been waited for, and the fence after the stores is the one that they need",
    },
    after_meeting(2),
    after_meeting(6),
    after_meeting(10),
    after_meeting(14),
    Excuse {
        programs: &[
            "run/cluster_product sm_90a aligned16",
            "run/cluster_product sm_90a unit_stride",
            "run/cluster_product sm_90a generic",
        ],
        instruction: "barrier.cluster.wait.aligned",
        nth: 1,
        reason: "in the orders that are tried the other blocks have made their mbarriers long before: only one that starts late would be missed",
    },
    Excuse {
        programs: &["run/cluster_product sm_90a aligned16"],
        instruction: "fence.mbarrier_init.release.cluster",
        nth: 1,
        reason: "the fence of the mbarriers of mailboxes, by the same thread, follows it",
    },
    Excuse {
        programs: &["run/cluster_product sm_90a aligned16"],
        instruction: "bar.sync 0",
        nth: 2,
        reason: "is for large buffers that take the ring's bytes, and messages have bytes of their own",
    },
    Excuse {
        programs: &["run/pointers_wrapped sm_90a divisible16"],
        instruction: "bar.sync 0",
        nth: 2,
        reason: "one warpgroup multiplies, and all of it waits for the product before the thread goes on that fills the slot",
    },
    Excuse {
        programs: &["run/cluster_product sm_90a unit_stride", "run/cluster_product sm_90a generic"],
        instruction: "bar.sync 0",
        nth: 3,
        reason: "is for large buffers that take the ring's bytes, and messages have bytes of their own",
    },
    Excuse {
        programs: ONE_WARPGROUP,
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "the product before it has been waited for by the one warpgroup that there is, and the fence after the stores is the one that it needs",
    },
    Excuse {
        programs: &["run/pointers_wrapped sm_80 divisible16"],
        instruction: "bar.sync 0",
        nth: 3,
        reason: "the last fragments of the ring are loaded before the last barrier of the loop, and then its bytes are taken for the result",
    },
    Excuse {
        programs: &["run/ring_gathered sm_90a aligned16", "run/ring_gathered sm_90a aligned16 persistent"],
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "every warpgroup has waited for its product before the barrier, and the fence after the stores is the one that the next needs",
    },
    Excuse {
        programs: ONE_WARPGROUP,
        instruction: "bar.sync 0",
        nth: 1,
        reason: "one warpgroup multiplies, and all of it has waited for the product before any thread stores the next operands",
    },
    Excuse {
        programs: &["best_gemm", "best_gemm_coop", "best_gemm_1024", "best_gemm_512", "best_gemm_ragged"],
        instruction: "wgmma.fence.sync.aligned",
        nth: 2,
        reason: "nothing but products of one shape touches the accumulators since the fence before: they are in order \
                 without another one (PTX ISA, \"wgmma.fence\")",
    },
    Excuse {
        programs: &["best_fa", "best_fa_causal", "best_fa_d64"],
        instruction: "wgmma.fence.sync.aligned",
        nth: 3,
        reason: "the fence before Q · Kᵀ also follows everything that writes the accumulators and fragments of P · V",
    },
    Excuse {
        programs: &["best_gemm_1024", "best_gemm_512"],
        instruction: "fence.mbarrier_init.release.cluster",
        nth: 1,
        reason: "the proxy fence after it makes the same mbarriers visible to the copies of this thread, and no other block uses them",
    },
    Excuse {
        programs: &["best_gemm_1024", "best_gemm_512"],
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "the fence of the mbarriers before it is enough: nothing else was written",
    },
    Excuse {
        programs: &["best_gemm_1024", "best_gemm_512"],
        instruction: "bar.warp.sync -1",
        nth: 1,
        reason: "the barrier after it waits for every thread of the warp, too",
    },
    Excuse {
        programs: &["best_fa_causal", "best_fa_d64"],
        instruction: "mbarrier.try_wait.parity.shared::cta.b64 %p,[%r3+32],%r4",
        nth: 1,
        reason: "the wait for Q's memory just before is for threads that have released every K of the tile before",
    },
    Excuse {
        programs: &["best_fa", "best_fa_causal", "best_fa_d64"],
        instruction: "bar.sync 4,256",
        nth: 1,
        reason: "runs the last iteration, with nothing to do in it: a block may end with arrivals that nothing waited for",
    },
    Excuse {
        programs: &["run/branches sm_80 generic"],
        instruction: "bar.warp.sync 0xffffffff",
        nth: 4,
        reason: "is for a loop that does not run at all, and this one always does",
    },
    Excuse {
        programs: &["run/place_hoist sm_80 aligned16", "run/place_hoist sm_80 generic"],
        instruction: "bar.warp.sync 0xffffffff",
        nth: 2,
        reason: "no iteration of the loop stores where another one or the store before it does, which the compiler cannot tell",
    },
    Excuse {
        programs: &[
            "run/ring_of_loop sm_80 aligned16",
            "run/ring_of_loop sm_80 unit_stride",
            "run/ring_of_loop sm_80 generic",
            "run/ring_tf32 sm_80 unit_stride",
            "run/ring_tf32 sm_80 generic",
            "run/wgmma_tf32 sm_80 unit_stride",
            "run/wgmma_tf32 sm_80 generic",
            "run/drain sm_80 aligned16",
            "run/odd_drain sm_80 aligned16",
        ],
        instruction: "bar.sync 0",
        nth: 3,
        reason: "ends a loop whose memory the next one takes, and whose last turn reads nothing after its own barrier",
    },
    Excuse {
        programs: &["run/drain sm_90a aligned16 peers", "run/drain sm_90a aligned16"],
        instruction: "bar.sync 1, 256",
        nth: 1,
        reason: "panels take the bytes of the left operand, and a warp stores to rows that the product of its own warpgroup alone has read",
    },
    Excuse {
        programs: &[
            "run/drain sm_90a aligned16 peers",
            "run/drain sm_90a aligned16",
            "run/multicast sm_90a aligned16 peers",
            "run/multicast sm_90a aligned16",
        ],
        instruction: "cp.async.bulk.commit_group",
        nth: 1,
        reason: "its copies are of the next group then, and nothing waits for one of two panels before the end",
    },
    Excuse {
        programs: &["run/odd_drain sm_90a aligned16 peers", "run/odd_drain sm_90a aligned16"],
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "comes before a panel is stored, and the fence after the stores is the one that its copy needs",
    },
    not_filled_again("wgmma.wait_group.sync.aligned 1"),
    not_filled_again("mbarrier.arrive.shared::cta.b64 _, [%r78+18464]"),
    not_filled_again("mbarrier.try_wait.parity.shared::cta.b64 %p33, [%r150+18464], %r148"),
    Excuse {
        programs: &["run/ring_tf32_gram sm_90a aligned16"],
        instruction: "bar.sync 0",
        nth: 1,
        reason: "ends the reads of one warpgroup, whose warps the simulator takes to be done with a product at once",
    },
    Excuse {
        programs: &["run/ring_tf32_gram sm_90a aligned16"],
        instruction: "fence.proxy.async.shared::cta",
        nth: 1,
        reason: "at the head of a loop: what threads stored in the turn before has its own fence before the product that reads it",
    },
];
