//! The notation of contractions, their normal form and their tiles.

#[path = "../../src/contract/normal.rs"]
mod normal;
#[path = "../../src/contract/notation.rs"]
mod notation;
#[path = "../../src/contract/tiles.rs"]
mod tiles;
