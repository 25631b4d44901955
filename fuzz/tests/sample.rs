//! A sample of the cases, and those that once failed.

use triton_fuzz::{corpus, input, run};

#[test]
fn nothing_panics() {
    let seeds = corpus::seeds();
    assert!(seeds.len() > 100, "only {} seeds", seeds.len());
    let failed: Vec<_> = (0..300).filter_map(|case| run(&input(&seeds, case)).err().map(|why| (case, why))).collect();
    assert!(failed.is_empty(), "{failed:?}");
}
