//! Stage 0: what is computed, before anything says by which thread.

pub mod combine;
pub mod cse;
pub mod dce;
pub mod fold;
pub mod induct;
pub mod licm;
pub mod orient;
pub mod relax;
pub mod sink;
pub mod specialise;
