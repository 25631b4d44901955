//! Tests of the tuner that share a process: a program of tests takes seconds to build.

mod acceptance;
mod cli;
mod collect;
mod data;
mod estimates;
mod model;
mod pools;
mod products;
mod replay;
mod support;
mod train;
mod troubles;
