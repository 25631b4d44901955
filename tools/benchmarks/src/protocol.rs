//! What the coordinator and the two sides say to each other: one JSON value a line, a reply for each request.
//!
//! The Python side implements the same; a side ends when its standard input does.

use crate::case::Case;
use crate::users;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// From the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Request {
    /// Make the inputs; comes once, first.
    Prepare {
        /// What will be asked for.
        cases: Vec<Case>,
        /// In place of these, what `users` asks for.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        users: Vec<users::Case>,
        /// Of the random inputs.
        seed: u64,
        /// MiB to write before each repetition.
        flush_mib: u32,
        /// Which implementations the peers are to have; without any what they have by default.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        entries: Vec<String>,
    },
    /// Poison the output, run once, compare.
    Check(Work),
    /// Run many times.
    Time {
        /// What.
        work: Work,
        /// Runs that do not count.
        warmup: u32,
        /// Runs that do.
        reps: u32,
    },
}

/// One implementation of one case.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Work {
    /// The case's name.
    pub case: String,
    /// The implementation's.
    pub entry: String,
}

/// To the coordinator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reply {
    /// Inputs are there.
    Ready {
        /// The device's name.
        device: String,
        /// Versions of what is measured.
        versions: BTreeMap<String, String>,
        /// What can be asked for.
        entries: Vec<Entry>,
        /// Bytes of device memory in use.
        memory: u64,
    },
    /// A result was compared.
    Checked {
        /// ‖found − reference‖ / ‖reference‖; nothing if it is not a number.
        error: Option<f64>,
        /// The largest error that rounding explains.
        bound: f64,
        /// Elements outside the result that were written.
        stray: u64,
    },
    /// Milliseconds of each repetition.
    Timed(Vec<f64>),
    /// What went wrong, as a sentence.
    Failed(String),
}

/// An implementation that a side has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Which.
    #[serde(flatten)]
    pub work: Work,
    /// How it was configured.
    pub note: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that the Python side reads and writes.
    #[test]
    fn lines() {
        let work = || Work { case: "add".into(), entry: "torch".into() };
        let requests = [
            (
                Request::Prepare { cases: vec![], users: vec![], seed: 3, flush_mib: 256, entries: vec![] },
                r#"{"prepare":{"cases":[],"seed":3,"flush_mib":256}}"#,
            ),
            (
                Request::Prepare {
                    cases: vec![],
                    users: vec![],
                    seed: 3,
                    flush_mib: 256,
                    entries: vec!["torch".into()],
                },
                r#"{"prepare":{"cases":[],"seed":3,"flush_mib":256,"entries":["torch"]}}"#,
            ),
            (Request::Check(work()), r#"{"check":{"case":"add","entry":"torch"}}"#),
            (
                Request::Time { work: work(), warmup: 2, reps: 9 },
                r#"{"time":{"work":{"case":"add","entry":"torch"},"warmup":2,"reps":9}}"#,
            ),
        ];
        for (request, line) in requests {
            assert_eq!(serde_json::to_string(&request).expect("a line"), line);
            assert_eq!(serde_json::from_str::<Request>(line).expect("a request"), request);
        }
        let entry = Entry { work: work(), note: "BLOCK=1024".into() };
        let replies = [
            (
                Reply::Ready { device: "d".into(), versions: BTreeMap::new(), entries: vec![entry], memory: 5 },
                r#"{"ready":{"device":"d","versions":{},"entries":[{"case":"add","entry":"torch","note":"BLOCK=1024"}],"memory":5}}"#,
            ),
            (
                Reply::Checked { error: None, bound: 0.5, stray: 0 },
                r#"{"checked":{"error":null,"bound":0.5,"stray":0}}"#,
            ),
            (Reply::Timed(vec![0.5, 1.0]), r#"{"timed":[0.5,1.0]}"#),
            (Reply::Failed("no GPU".into()), r#"{"failed":"no GPU"}"#),
        ];
        for (reply, line) in replies {
            assert_eq!(serde_json::to_string(&reply).expect("a line"), line);
            assert_eq!(serde_json::from_str::<Reply>(line).expect("a reply"), reply);
        }
    }
}
