//! Checks of the list and of the references themselves, which come before anything runs on a device.

mod cases;
mod references;

/// Runs them all. What is wrong panics, with what was found.
pub fn run() {
    for (name, check) in cases::CHECKS.iter().chain(references::CHECKS) {
        check();
        println!("check {name} ... ok");
    }
}
