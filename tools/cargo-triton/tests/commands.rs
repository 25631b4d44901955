//! The commands on a program with kernels: this test's own executable. What they print is beside it, in `golden`; `BLESS=1` renews it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use triton::prelude::*;

/// out = x scaled by the sum of its row.
#[triton::kernel(N = [64, 256])]
fn normalized<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    let v = x.load([row, 0], [1, N]);
    out.store([row, 0], v / sum_axis(v, 1).expand_dims(1));
}

/// c = a · b.
#[triton::kernel(BM = [64], BN = [64], BK = [32])]
fn product<const BM: i32, const BN: i32, const BK: i32>(a: Tensor<f16, 2>, b: Tensor<f16, 2>, c: TensorMut<f32, 2>) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([k, n], [BK, BN]), acc);
    }
    c.store([m, n], acc);
}

/// counts[x[i]] += 1, which forgets that programs run concurrently.
#[triton::kernel]
fn count(x: Ptr<i32>, counts: PtrMut<i32>) {
    let at = counts + load(x + program_id(0), true);
    store(at, load(at, true) + 1, true);
}

/// Not a test of the kernels: what the commands run.
#[test]
fn launches() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.tensor(&vec![1.0f32; 4 * 60], [4, 60])?;
    let mut out = stream.tensor_zeros([4, 60])?;
    normalized::<64>(&x, &mut out).launch(&stream, 4)?;
    normalized::<256>(&x, &mut out).launch(&stream, 4)?;
    let (a, b) =
        (stream.tensor(&vec![f16::ONE; 96 * 64], [96, 64])?, stream.tensor(&vec![f16::ONE; 64 * 64], [64, 64])?);
    let mut c = stream.tensor_zeros([96, 64])?;
    product::<64, 64, 32>(&a, &b, &mut c).launch(&stream, (2, 1))?;
    assert_eq!(stream.download(&c)?, vec![64.0; 96 * 64]);
    Ok(())
}

/// What `check` is to find.
#[test]
#[allow(unsafe_code, reason = "the mistake that is looked for")]
fn counts() -> triton::Result<()> {
    let stream = Device::cpu().stream()?;
    let x = stream.upload(&[2, 0, 2, 1])?;
    let mut counts = stream.zeros::<i32>(3)?;
    // SAFETY: programs run one after the other on the CPU device.
    unsafe { count(&x, &mut counts).launch(&stream, 4)? };
    assert_eq!(stream.download(&counts)?, [1, 1, 2]);
    Ok(())
}

/// Runs a command on this executable; without NVIDIA's tools, so that it says the same everywhere.
fn run(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-triton"));
    command.arg("triton").args(args).env("PTXAS", "/nowhere/ptxas").env("NVDISASM", "/nowhere/nvdisasm");
    command.env_remove("TRITON_DSL_TRACE").output().expect("the tool runs")
}

fn with_program(args: &[&str], rest: &[&str]) -> Output {
    let program = std::env::current_exe().expect("a path");
    let mut all = args.to_vec();
    let path = program.display().to_string();
    all.extend(["--program", &path]);
    all.extend(rest);
    run(&all)
}

fn text(output: &Output) -> String {
    // The harness of tests prints the time.
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let program = std::env::current_exe().expect("a path");
    let is_ours = |line: &&str| {
        !["test ", "running", "successes", "warning: PTXAS", "warning: NVDISASM"].iter().any(|of| line.starts_with(of))
    };
    let lines: Vec<&str> = printed.lines().filter(is_ours).map(str::trim_end).collect();
    lines
        .join("\n")
        .trim()
        .replace(&program.display().to_string(), "PROGRAM")
        .replace(env!("CARGO_PKG_VERSION"), "VERSION")
        .replace(env!("CARGO_MANIFEST_DIR"), "PACKAGE")
        + "\n"
}

/// Compares with a golden file.
fn golden(name: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, found).expect("written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(found, expected, "{}: BLESS=1 renews it", path.display());
}

#[test]
fn resources_are_listed_and_limited() {
    golden("resources.txt", &text(&with_program(&["resources"], &[])));
    let limited = with_program(&["resources", "product", "--gpu", "sm_80", "--max-shared", "1000"], &[]);
    assert!(!limited.status.success());
    golden("resources-limited.txt", &text(&limited));
}

#[test]
fn a_choice_of_images_is_explained() {
    golden("why.txt", &text(&with_program(&["why"], &["--", "--exact", "launches"])));
}

#[test]
fn races_are_found_and_their_absence_is_proved() {
    let right = with_program(&["check"], &["--", "--exact", "launches"]);
    assert!(right.status.success());
    golden("check.txt", &text(&right));
    let wrong = with_program(&["check", "count"], &["--", "--exact", "counts"]);
    assert!(!wrong.status.success());
    golden("check-race.txt", &text(&wrong));
}

#[test]
fn times_of_two_programs_are_compared() {
    let program = std::env::current_exe().expect("a path").display().to_string();
    let svg = std::env::temp_dir().join(format!("cargo-triton-bench-{}.svg", std::process::id()));
    let plot = svg.display().to_string();
    let output = run(&["bench", &program, &program, "--rounds", "2", "--plot", &plot, "--", "--exact", "launches"]);
    let printed = text(&output);
    assert!(output.status.success(), "{printed}");
    for kernel in ["normalized::<64>", "normalized::<256>", "product::<64, 64, 32>"] {
        assert!(printed.contains(kernel), "{printed}");
    }
    assert!(std::fs::read_to_string(&svg).expect("a plot").ends_with("</svg>\n"));
    let _ = std::fs::remove_file(svg);
}

#[test]
fn bad_input_is_answered_by_a_sentence() {
    let cargo = Path::new(env!("CARGO_BIN_EXE_cargo-triton")).display().to_string();
    let mut found = String::new();
    let mut case = |title: &str, output: &Output| {
        assert!(!output.status.success(), "{title}");
        found += &format!("# {title}\n{}\n", text(output).replace(&cargo, "CARGO-TRITON"));
    };
    case("no such kernel", &with_program(&["show", "softmax"], &[]));
    case("no such image", &with_program(&["show", "product", "--image", "sm_70"], &[]));
    case("no such program", &run(&["show", "product", "--program", "/nowhere/program"]));
    case("a program without kernels", &run(&["resources", "--program", &cargo]));
    case("a kernel that is not launched", &with_program(&["show", "count", "--run"], &["--", "--exact", "launches"]));
    case("a program that launches nothing", &with_program(&["why"], &["--", "--exact", "nothing"]));
    case("no such code", &run(&["explain", "T9999"]));
    case("no such target", &with_program(&["resources", "--gpu", "sm_70"], &[]));
    case("a name that no package has", &run(&["new", "/nowhere/7 kernels"]));
    case("a folder that exists", &run(&["new", env!("CARGO_MANIFEST_DIR")]));
    golden("bad-input.txt", &found);
}

/// A program that is older than its source.
#[test]
fn a_stale_program_is_refused() {
    let copy = std::env::temp_dir().join(format!("cargo-triton-stale-{}", std::process::id()));
    std::fs::copy(std::env::current_exe().expect("a path"), &copy).expect("copied");
    let file = std::fs::File::options().append(true).open(&copy).expect("opened");
    file.set_modified(std::time::SystemTime::UNIX_EPOCH).expect("an old file");
    let output = run(&["resources", "--program", &copy.display().to_string()]);
    let _ = std::fs::remove_file(&copy);
    assert!(!output.status.success());
    let printed = text(&output);
    assert!(printed.contains("is newer than") && printed.contains("build it again"), "{printed}");
}

#[test]
fn codes_are_explained() {
    let output = run(&["explain", "[T0102]"]);
    assert!(output.status.success());
    golden("explain.txt", &text(&output));
}

#[test]
fn every_command_has_help_with_an_example() {
    let mut found = text(&run(&["--help"]));
    for command in ["show", "resources", "check", "why", "bench", "doctor", "explain", "new"] {
        let help = text(&run(&[command, "--help"]));
        assert!(help.contains("Example"), "{command} has no example");
        found += &format!("\n$ cargo triton {command} --help\n{help}");
    }
    golden("help.txt", &found);
}

#[test]
fn a_project_is_made() {
    let folder = std::env::temp_dir().join(format!("cargo-triton-new-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    let project = folder.join("saxpy");
    let output = run(&["new", &project.display().to_string()]);
    assert!(output.status.success(), "{}", text(&output));
    let mut found =
        format!("$ cargo triton new saxpy\n{}\n", text(&output).replace(&project.display().to_string(), "saxpy"));
    for file in [".gitignore", "Cargo.toml", "src/lib.rs", "src/main.rs", "tests/kernels.rs"] {
        let made = std::fs::read_to_string(project.join(file)).expect(file);
        assert!(!made.contains("{{"), "{file}");
        found += &format!("$ head -4 {file}\n");
        made.lines().take(4).for_each(|line| found += &format!("{line}\n"));
    }
    let _ = std::fs::remove_dir_all(&folder);
    golden("new.txt", &found);
}

/// The book's transcripts are the golden files.
#[test]
fn transcripts_are_what_the_commands_print() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = folder.join("../../docs/src/cargo_triton.md");
    let page = std::fs::read_to_string(&path).expect("the book's page");
    let mut renewed = String::new();
    let mut rest = page.as_str();
    while let Some((before, after)) = rest.split_once("<!-- golden: ") {
        let (name, after) = after.split_once(" -->\n```text\n").expect("a block behind the mark");
        let (_, after) = after.split_once("```\n").expect("its end");
        let golden = std::fs::read_to_string(folder.join("tests/golden").join(name)).expect(name);
        // What a line has behind its first part is cut, as a terminal would.
        let shown = golden.lines().map(|line| line.chars().take(150).collect::<String>() + "\n").collect::<String>();
        renewed += &format!("{before}<!-- golden: {name} -->\n```text\n{shown}```\n");
        rest = after;
    }
    renewed += rest;
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &renewed).expect("written");
        return;
    }
    assert_eq!(page, renewed, "{}: BLESS=1 renews it", path.display());
}

/// The page of a kernel: what it says, and that it opens by itself.
#[test]
fn pages_say_what_the_compiler_does() {
    let folder = std::env::temp_dir().join(format!("cargo-triton-pages-{}", std::process::id()));
    let out = folder.display().to_string();
    let output = with_program(&["show", "product", "--run", "--out", &out], &["--", "--exact", "launches"]);
    assert!(output.status.success(), "{}", text(&output));
    let page = std::fs::read_to_string(folder.join("product-64-64-32.html")).expect("a page");
    assert!(!page.contains("{{") && page.len() < 3 << 20, "{} bytes", page.len());
    // It asks for nothing: all that it names is in it.
    for tag in ["<link", "src=", "@import", "url("] {
        assert!(!page.contains(tag), "a page that needs a network: {tag}");
    }
    golden("page.txt", &outline(&page));
    links(&folder, "product-64-64-32.html");
    let _ = std::fs::remove_dir_all(&folder);
}

/// What a page says, without the code.
fn outline(page: &str) -> String {
    let (_, data) = page.split_once("id=\"data\">").expect("data");
    let data = data.split("</script>").next().expect("its end");
    let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
    let mut out = String::new();
    let mut line = |text: String| out += &format!("{text}\n");
    for key in ["kernel", "instance", "warps", "image", "sass_missing", "timeline_missing", "roofline_missing", "total"]
    {
        line(format!("{key}: {}", data[key]));
    }
    let list = |key: &str| data[key].as_array().cloned().unwrap_or_default();
    for file in list("files") {
        let lines = file["lines"].as_array().map_or(0, Vec::len);
        line(format!(
            "file {}: {}, missing {}",
            file["name"],
            if lines > 0 { "lines" } else { "none" },
            file["missing"]
        ));
    }
    for pass in list("passes").iter().filter(|pass| pass["changed"] == true) {
        line(format!(
            "pass {} of stage {}: {} lines",
            pass["name"],
            pass["stage"],
            pass["lines"].as_array().map_or(0, Vec::len)
        ));
    }
    for image in list("images") {
        line(format!(
            "image {} {} {}: taken {}, {}",
            image["target"], image["assumes"], image["programs"], image["taken"], image["why"]
        ));
    }
    for layout in list("layouts").iter().chain(&list("memories")) {
        line(format!("layout {} of {}: {}", layout["name"], layout["type"], layout["text"]));
    }
    list("rings").iter().for_each(|ring| line(format!("ring {ring}")));
    list("loads").iter().for_each(|load| line(format!("load {}", load["text"])));
    for cost in list("costs") {
        line(format!("cost {} x{} {}", cost["cycles"], cost["times"], cost["text"]));
    }
    line(format!("resources {}", data["resources"]));
    line(format!("bound {}; launch {}", data["roofline"]["bound"], data["roofline"]["launch"]));
    let events = data["timeline"]["events"].as_array().cloned().unwrap_or_default();
    for kind in ["copy", "wait", "multiply", "barrier", "store"] {
        let some = events.iter().any(|event| event["kind"] == kind);
        line(format!("timeline has {kind}: {some}"));
    }
    // Each line of PTX of the loop has a place in the source.
    let ptx = list("ptx");
    let products = ptx.iter().filter(|line| line[0].as_str().is_some_and(|text| text.contains("wgmma.mma_async")));
    line(format!(
        "products with a place: {}",
        products.clone().count() > 0 && products.clone().all(|line| line[1].is_array())
    ));
    out
}

/// Tries every link of a page in a browser, if there is one.
fn links(folder: &Path, name: &str) {
    let browsers = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let find =
        |browser: &&str| std::env::split_paths(&path).map(|folder| folder.join(browser)).find(|path| path.is_file());
    let Some(browser): Option<PathBuf> = browsers.iter().find_map(find) else {
        eprintln!("SKIPPED: the links of pages were not tried, as there is no Chromium here");
        return;
    };
    let page = std::fs::read_to_string(folder.join(name)).expect("a page");
    let script = include_str!("page/links.js");
    let tested = folder.join("tested.html");
    std::fs::write(&tested, page.replace("</body>", &format!("<script>{script}</script></body>"))).expect("written");
    let url = format!("file://{}", tested.display());
    let output =
        Command::new(browser).args(["--headless", "--no-sandbox", "--dump-dom", &url]).output().expect("a browser");
    let dom = String::from_utf8_lossy(&output.stdout);
    let found = dom.split_once("id=\"linkcheck\"").map_or("", |(_, rest)| rest.split("</pre>").next().unwrap_or(rest));
    assert!(found.contains(" 0 broken"), "{found}");
}
