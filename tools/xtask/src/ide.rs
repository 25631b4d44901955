//! `ide`: what an editor shows inside kernels, asked of rust-analyzer over a sample crate in `target/ide/`.
//!
//! The macro gives the editor another expansion than the compiler (a twin of the body, with the generated tokens out of
//! the user's way), which no other test sees. Without rust-analyzer the task is skipped, except in CI.

mod lsp;

use crate::{Outcome, output, root};
use lsp::Server;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// How long rust-analyzer may load: it builds the macro with all it needs.
const LOADING: Duration = Duration::from_secs(300);

/// The sample program. Every line that a case edits or points to is there once.
const SAMPLE: &str = r#"//! A sample of kernels, for an editor to look at.

use triton::prelude::*;

/// out = x + y, elementwise.
#[triton::kernel(T = [f32, f16], BLOCK = [256, 1024])]
pub fn add<T: Num, const BLOCK: i32>(x: Ptr<T>, y: Ptr<T>, out: PtrMut<T>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

/// out = x, where the host has a `Tensor` of its own.
#[triton::kernel]
pub fn copied(x: Tensor<f32, 1>, out: TensorMut<f32, 1>) {
    let first = [program_id(0) * 64];
    let some = x.load(first, [64]);
    out.store(first, some);
}

/// x = maximum(x * factor, 0), elementwise.
#[triton::kernel]
pub fn rescale(x: PtrMut<f32>, factor: f32, n: i32) {
    const WIDTH: i32 = 256;
    let at = program_id(0) * WIDTH + arange(0, WIDTH);
    let inside = at < n;
    let old = load(x + at, inside);
    let mut new = old * factor;
    new += 0.5;
    store(x + at, maximum(-new, 0.0), inside);
}

fn main() -> triton::Result<()> {
    let stream = Device::best().stream()?;
    let left = stream.upload(&vec![1.0f32; 4096])?;
    let right = stream.upload(&vec![2.0f32; 4096])?;
    let mut sum = stream.zeros::<f32>(4096)?;
    // SAFETY: the grid covers 4096 elements, and the masks keep every access below that.
    unsafe {
        add::<f32, 1024>(&left, &right, &mut sum, 4096).launch(&stream, 4)?;
        rescale(&mut sum, 2.0, 4096).launch(&stream, 16)?;
    }
    Ok(())
}
"#;

/// The cursor in a part of the text, as in rust-analyzer's own tests.
const CURSOR: &str = "$0";

/// One thing asked of the editor.
struct Case {
    /// A line of the sample and what stands there instead, where the case is not about the sample as it is.
    edit: Option<(&'static str, &'static str)>,
    /// A part of the text, with the cursor in it.
    at: &'static str,
    want: Want,
}

/// The expected answer of the editor.
enum Want {
    /// A text with all of these, and with none of [`HIDDEN`].
    Hover(&'static [&'static str]),
    /// One definition, at the cursor in this part of the text.
    Local(&'static str),
    /// One definition, in this file of the façade and on a line with this text.
    Facade(&'static str, &'static str),
    /// A list with all of the first and none of the second.
    Completion(&'static [&'static str], &'static [&'static str]),
    /// Nothing is wrong in the file, and there are no hints either.
    Clean,
    /// An error that begins at the cursor, and no other.
    Error,
}

/// What no hover may show: the names behind operators, and those of generated code.
const HIDDEN: &[&str] = &["__private", "op::", "lang::op", "extern crate", "the_kernel_", "was_compiled_for"];

/// What no list may offer: names in the scope of the sample that the macro makes.
const GENERATED: &[&str] =
    &["the_kernel_add", "add_was_compiled_for", "the_kernel_rescale", "rescale_was_compiled_for"];

const CASES: &[Case] = &[
    on("$0fn main()", Want::Clean),
    on("store(out + i, lo$0ad(x + i, mask)", Want::Hover(&["fn load", "Reads the elements"])),
    on("BLOCK + ara$0nge(0, BLOCK)", Want::Hover(&["fn arange", "The integers from"])),
    on("let i = program$0_id(0)", Want::Hover(&["fn program_id", "The index of this program"])),
    on("let $0mask = i < n;", Want::Hover(&["Tile<bool>"])),
    on("load(x + i, mask) + load(y + $0i, mask)", Want::Hover(&["Tile<i32>"])),
    on("let $0old = load(", Want::Hover(&["Tile<f32>"])),
    on("let mut $0new = old", Want::Hover(&["Tile<f32>"])),
    on("maximum(-$0new, 0.0)", Want::Hover(&["Tile<f32>"])),
    on("$0maximum(-new, 0.0)", Want::Hover(&["fn maximum"])),
    on("pub fn $0add<T", Want::Hover(&["fn add", "out = x + y"])),
    on("$0rescale(&mut sum", Want::Hover(&["fn rescale", "x = maximum(x * factor, 0)"])),
    on("$0store(out + i", Want::Facade("src/lang/memory.rs", "pub fn store<")),
    on("$0program_id(0) * BLOCK", Want::Facade("src/lang/index.rs", "pub fn program_id(")),
    on("fn copied(x: $0Tensor<f32, 1>", Want::Facade("src/lang/view.rs", "pub struct Tensor<")),
    on("fn copied(x: Ten$0sor<f32, 1>", Want::Hover(&["RANK", "axes"])),
    on("let $0some = x.load", Want::Hover(&["Tile<f32>"])),
    on("out: $0PtrMut<T>", Want::Facade("src/lang/value.rs", "pub struct PtrMut<")),
    on("store(out + i, load(x + i, $0mask)", Want::Local("let $0mask = i")),
    on("store(x + at, maximum(-$0new", Want::Local("let mut $0new = old")),
    on("arange(0, $0WIDTH)", Want::Local("const $0WIDTH: i32")),
    on("program_id(0) * $0BLOCK", Want::Local("const $0BLOCK: i32>")),
    on("i < $0n;", Want::Local("out: PtrMut<T>, $0n: i32")),
    on("        $0add::<f32, 1024>", Want::Local("pub fn $0add<T")),
    on("        $0rescale(&mut sum", Want::Local("pub fn $0rescale(")),
    edited("let mask = i < n;", "let w = i.\n    let mask = i < n;", "let w = i.$0", Want::Completion(&["to"], &[])),
    edited("let mask = i < n;", "a\n    let mask = i < n;", "  a$0\n", Want::Completion(&["add", "arange"], GENERATED)),
    edited("let mask = i < n;", "ara\n    let mask = i < n;", "  ara$0", Want::Completion(&["arange"], &[])),
    edited("let mask = i < n;", "let w = ara;\n    let mask = i < n;", "= ara$0", Want::Completion(&["arange"], &[])),
    edited(
        "let mask = i < n;",
        "let w = Ari;\n    let mask = i < n;",
        "= Ari$0",
        Want::Completion(&["i"], &["Arith", "op"]),
    ),
    edited("let inside = at < n;", "let inside = atlas < n;", "= $0atlas <", Want::Error),
    edited("let mut new = old * factor;", "let mut new = old.two(factor);", "old.$0two", Want::Error),
];

/// A case about the sample as it is.
const fn on(at: &'static str, want: Want) -> Case {
    Case { edit: None, at, want }
}

/// A case about the sample with one difference.
const fn edited(old: &'static str, new: &'static str, at: &'static str, want: Want) -> Case {
    Case { edit: Some((old, new)), at, want }
}

pub fn ide() -> Outcome {
    let Some(program) = rust_analyzer() else {
        if std::env::var_os("CI").is_some() {
            return Err("rust-analyzer is not installed".into());
        }
        println!("ide: skipped, rust-analyzer is not installed");
        return Ok(());
    };
    let dir = root().join("target/ide");
    let file = sample(&dir)?;
    let mut editor = Editor::open(&program, &dir, &file)?;
    let mut wrong = Vec::new();
    for case in CASES {
        if let Err(found) = editor.check(case)? {
            wrong.push(found);
        }
    }
    if wrong.is_empty() {
        println!("ide: {} checks passed", CASES.len());
        return Ok(());
    }
    Err(format!("{} of {} checks of the editor failed:\n{}", wrong.len(), CASES.len(), wrong.join("\n")))
}

/// A rust-analyzer that runs. The name alone does not tell: rustup has a stand-in for a component that is missing.
fn rust_analyzer() -> Option<PathBuf> {
    let runs = |program: &PathBuf| output(Command::new(program).arg("--version")).is_ok();
    if let Some(program) = std::env::var_os("RUST_ANALYZER") {
        return Some(PathBuf::from(program)).filter(runs);
    }
    let home = |name: &str, below: &str| Some(PathBuf::from(std::env::var_os(name)?).join(below));
    let known = [
        Some("rust-analyzer".into()),
        home("CARGO_HOME", "bin/rust-analyzer"),
        home("HOME", ".cargo/bin/rust-analyzer"),
    ];
    known.into_iter().flatten().find(runs)
}

/// Lays the sample crate, and returns its source file.
fn sample(dir: &Path) -> Result<PathBuf, String> {
    let file = dir.join("src/main.rs");
    let manifest = format!(
        "[package]\nname = \"triton-ide-sample\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n\
         [dependencies]\ntriton-dsl = {{ path = {:?} }}\n\n[workspace]\n",
        root().display().to_string()
    );
    std::fs::create_dir_all(dir.join("src")).map_err(|e| format!("{}: {e}", dir.display()))?;
    // The versions that the repository is tested with.
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    let files = [(dir.join("Cargo.toml"), &*manifest), (dir.join("Cargo.lock"), &*lock), (file.clone(), SAMPLE)];
    for (path, text) in files {
        std::fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    Ok(file)
}

/// An editor with the sample open.
struct Editor {
    server: Server,
    uri: String,
    /// What the server was told that the file contains.
    text: String,
    version: i32,
}

impl Editor {
    fn open(program: &Path, dir: &Path, file: &Path) -> Result<Editor, String> {
        let mut server = Server::start(program, dir, &dir.join("rust-analyzer.log"))?;
        let uri = lsp::uri(file);
        server.request("initialize", &initialize(dir))?;
        server.notify("initialized", &json!({}))?;
        let document = json!({ "uri": uri, "languageId": "rust", "version": 0, "text": SAMPLE });
        server.notify("textDocument/didOpen", &json!({ "textDocument": document }))?;
        server.wait_until_loaded(LOADING)?;
        Ok(Editor { server, uri, text: SAMPLE.into(), version: 0 })
    }

    /// Asks what a case wants to know. The inner error says how the answer differs.
    fn check(&mut self, case: &Case) -> Result<Outcome, String> {
        let text = match case.edit {
            None => SAMPLE.to_owned(),
            Some((old, new)) => {
                find(SAMPLE, old)?;
                SAMPLE.replace(old, new)
            }
        };
        self.show(text)?;
        let (expected, found) = match case.want {
            Want::Hover(parts) => {
                let text = self.hover(case.at)?;
                let good = parts.iter().all(|p| text.contains(p)) && !HIDDEN.iter().any(|h| text.contains(h));
                (format!("hover with {parts:?}, without {HIDDEN:?}"), (!good).then_some(text))
            }
            Want::Local(target) => {
                let target = position(&self.text, target)?;
                let found = self.definition(case.at)?;
                let good = found.len() == 1 && found[0].uri == self.uri && found[0].start == target;
                (format!("one definition at {target:?} of the file"), (!good).then(|| format!("{found:?}")))
            }
            Want::Facade(file, line) => {
                let found = self.definition(case.at)?;
                let text = std::fs::read_to_string(root().join(file)).map_err(|e| format!("{file}: {e}"))?;
                let there = |place: &Place| text.lines().nth(place.start.0).is_some_and(|l| l.contains(line));
                let good = found.len() == 1 && found[0].uri.ends_with(file) && there(&found[0]);
                (format!("one definition, `{line}` in {file}"), (!good).then(|| format!("{found:?}")))
            }
            Want::Completion(with, without) => {
                let found = self.completion(case.at)?;
                let has = |name: &&str| found.iter().any(|label| label == name);
                let good = with.iter().all(has) && !without.iter().any(has);
                (format!("completion with {with:?}, without {without:?}"), (!good).then(|| found.join(" ")))
            }
            Want::Clean => {
                let found = self.diagnostics()?;
                ("no diagnostics".into(), (!found.is_empty()).then(|| format!("{found:?}")))
            }
            Want::Error => {
                let target = position(&self.text, case.at)?;
                let mut found = self.diagnostics()?;
                found.retain(|d| d.severity == 1);
                let good = found.len() == 1 && found[0].start == target;
                (format!("one error at {target:?}"), (!good).then(|| format!("{found:?}")))
            }
        };
        Ok(match found {
            None => Ok(()),
            Some(found) => Err(format!("at `{}`\n  expected {expected}\n  found {found}", case.at)),
        })
    }

    /// Makes a text the content of the file.
    fn show(&mut self, text: String) -> Outcome {
        if self.text == text {
            return Ok(());
        }
        self.version += 1;
        let document = json!({ "uri": self.uri, "version": self.version });
        let change = json!({ "textDocument": document, "contentChanges": [{ "text": text }] });
        self.server.notify("textDocument/didChange", &change)?;
        self.text = text;
        Ok(())
    }

    fn ask(&mut self, method: &str, at: &str) -> Result<Value, String> {
        let (line, character) = position(&self.text, at)?;
        let position = json!({ "line": line, "character": character });
        self.server.request(method, &json!({ "textDocument": { "uri": self.uri }, "position": position }))
    }

    fn hover(&mut self, at: &str) -> Result<String, String> {
        let answer = self.ask("textDocument/hover", at)?;
        Ok(answer["contents"]["value"].as_str().unwrap_or_default().to_owned())
    }

    fn definition(&mut self, at: &str) -> Result<Vec<Place>, String> {
        let answer = self.ask("textDocument/definition", at)?;
        Ok(list(&answer).iter().map(Place::new).collect())
    }

    fn completion(&mut self, at: &str) -> Result<Vec<String>, String> {
        let answer = self.ask("textDocument/completion", at)?;
        Ok(list(&answer["items"]).iter().map(completed).collect())
    }

    fn diagnostics(&mut self) -> Result<Vec<Diagnostic>, String> {
        let answer = self.server.request("textDocument/diagnostic", &json!({ "textDocument": { "uri": self.uri } }))?;
        Ok(list(&answer["items"]).iter().map(Diagnostic::new).collect())
    }
}

/// Where a definition is.
#[derive(Debug)]
struct Place {
    uri: String,
    start: (usize, usize),
}

/// What the server finds wrong.
#[derive(Debug)]
#[allow(dead_code, reason = "the message is for the report of a failed check")]
struct Diagnostic {
    /// 1 is an error, 2 a warning; the rest are hints.
    severity: u64,
    start: (usize, usize),
    message: String,
}

impl Place {
    fn new(location: &Value) -> Place {
        Place { uri: string(&location["uri"]), start: start(location) }
    }
}

impl Diagnostic {
    fn new(item: &Value) -> Diagnostic {
        let severity = item["severity"].as_u64().unwrap_or(1);
        Diagnostic { severity, start: start(item), message: string(&item["message"]) }
    }
}

/// Line and column where a thing with a range begins, from 0.
fn start(thing: &Value) -> (usize, usize) {
    let start = &thing["range"]["start"];
    let number = |value: &Value| value.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(usize::MAX);
    (number(&start["line"]), number(&start["character"]))
}

fn string(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The name that a completion inserts; its label also has parameters.
fn completed(item: &Value) -> String {
    let label = item["label"].as_str().unwrap_or_default();
    label.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// Where the cursor of a part is in a text that has this part once: line and column, from 0.
fn position(text: &str, part: &str) -> Result<(usize, usize), String> {
    let (before, after) = part.split_once(CURSOR).ok_or_else(|| format!("no cursor in `{part}`"))?;
    let at = find(text, &format!("{before}{after}"))? + before.len();
    let line = text[..at].matches('\n').count();
    // The sample is ASCII: bytes, characters and UTF-16 units are the same.
    Ok((line, at - text[..at].rfind('\n').map_or(0, |end| end + 1)))
}

/// Where a text has a part, which it has once.
fn find(text: &str, part: &str) -> Result<usize, String> {
    let mut places = text.match_indices(part);
    match (places.next(), places.next()) {
        (Some((at, _)), None) => Ok(at),
        (None, _) => Err(format!("the sample has no `{part}`")),
        (Some(_), Some(_)) => Err(format!("the sample has `{part}` more than once")),
    }
}

/// What is asked of rust-analyzer at the start: what editors do, without the checks by cargo.
fn initialize(dir: &Path) -> Value {
    json!({
        "processId": std::process::id(),
        "rootUri": lsp::uri(dir),
        "workspaceFolders": [{ "uri": lsp::uri(dir), "name": "sample" }],
        "capabilities": {
            "experimental": { "serverStatusNotification": true },
            "textDocument": {
                "hover": { "contentFormat": ["markdown"] },
                "diagnostic": {},
                // With it names that would have to be imported are offered as well.
                "completion": { "completionItem": { "resolveSupport": { "properties": ["additionalTextEdits"] } } },
            },
        },
        "initializationOptions": {
            "checkOnSave": false,
            "procMacro": { "enable": true, "attributes": { "enable": true } },
            // Off by default for their false alarms, which kernels must not have either.
            "diagnostics": { "enable": true, "experimental": { "enable": true } },
            "cachePriming": { "enable": false },
        },
    })
}
