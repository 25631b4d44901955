//! The notation of contractions, their normal form and their tiles; what is kept of earlier ones.

#[path = "../../src/contract/few.rs"]
mod few;
#[path = "../../src/contract/memo.rs"]
mod memo;
#[path = "../../src/contract/normal.rs"]
mod normal;
#[path = "../../src/contract/notation.rs"]
mod notation;
#[path = "../../src/contract/tiles.rs"]
mod tiles;
