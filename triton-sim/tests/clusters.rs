//! A row that is split over a cluster is reduced by clusters of every size, by asynchronous stores.

mod common;

use common::{Case, programs};

#[test]
fn clusters_of_every_size_reduce_a_row() {
    let (_, text) = programs("ptx").into_iter().find(|(name, _)| name == "cluster-row-reduction").expect("the program");
    for blocks in [2, 4, 8, 16] {
        let row = 64 * blocks;
        let first = row * (row - 1) / 2;
        let changes = [
            ("grid=32 block=64 cluster=16", format!("grid={} block=64 cluster={blocks}", 2 * blocks)),
            ("523776*16,1572352*16", format!("{first}*{blocks},{}*{blocks}", first + row * row)),
            ("1023*16,2047*16", format!("{}*{blocks},{}*{blocks}", row - 1, 2 * row - 1)),
            (".reqnctapercluster 16, 1, 1", format!(".reqnctapercluster {blocks}, 1, 1")),
        ];
        let text = changes.iter().fold(text.clone(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replace(from, to)
        });
        let case = Case::parse(&text).expect("a header");
        for seed in 1..=16 {
            let complaints = case.run(&text, seed).map_or_else(|e| vec![e], |run| case.complaints(&run));
            assert!(complaints.is_empty(), "{blocks} blocks, seed {seed}: {complaints:?}");
        }
    }
}
