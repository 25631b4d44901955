//! Collectives among ranks: threads by memory and by TCP, and processes.

mod capture;
mod failures;
mod gpus;
mod meetings;
mod model;
mod order;
mod passages;
mod processes;
mod support;
mod values;
mod wrong;
