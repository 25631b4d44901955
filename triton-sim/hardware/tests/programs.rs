//! The programs assemble, and their results lie where they are said to.

use std::collections::HashSet;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use triton_chip::archive::{Archive, Record, Run};
use triton_chip::matrix::element::{BF16_, E4M3_, E5M2_, F16_, F32_, F64_, S8_, S32_, TF32_, U8_};
use triton_chip::matrix::verify;
use triton_chip::{Inputs, Program, programs};

fn all() -> Vec<Program> {
    programs().expect("tables that can be read")
}

#[test]
fn names_and_results_are_distinct() {
    let all = all();
    assert!(all.len() >= 240, "only {} programs", all.len());
    let names: HashSet<&str> = all.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    for program in &all {
        let mut written = vec![false; program.output];
        for result in &program.results {
            for offset in result.offsets.iter().flat_map(|offset| *offset..offset + result.bytes) {
                assert!(!written[offset], "{}: {} lies on another result at {offset}", program.name, result.form);
                written[offset] = true;
            }
        }
    }
}

#[test]
fn a_matrix_has_each_element_once() {
    let mut matrices = 0;
    for program in all() {
        for result in &program.results {
            let Inputs::Dots(dots) = &result.inputs else { continue };
            let (m, n) = (dots.case.spec.m, dots.case.spec.n);
            let at: HashSet<(usize, usize)> = dots.at.iter().copied().filter(|(y, x)| *y < m && *x < n).collect();
            assert_eq!((at.len(), dots.at.len()), (m * n, m * n), "{}: {}", program.name, result.form);
            matrices += 1;
        }
    }
    assert!(matrices > 1000, "only {matrices} matrices");
}

#[test]
fn exact_sums() {
    let values = [
        (F16_.integer(3), 0x4200),
        (F16_.integer(-596), 0xe0a8),
        (BF16_.integer(-3), 0xc040),
        (F32_.integer(-1), 0xbf80_0000),
        (TF32_.integer(2), 0x4000_0000),
        (F64_.integer(3), 0x4008_0000_0000_0000),
        (E4M3_.integer(3), 0x44),
        (E5M2_.integer(-3), 0xc2),
        (S8_.integer(-3), 0xfd),
        (U8_.integer(3), 3),
        (S32_.integer(-20), 0xffff_ffec),
    ];
    for (found, expected) in values {
        assert_eq!(found, expected);
    }
    let mut exact = 0;
    for program in all() {
        let mut output = vec![0; program.output];
        let mut last = None;
        for result in &program.results {
            let Inputs::Dots(dots) = &result.inputs else { continue };
            for (i, offset) in result.offsets.iter().enumerate() {
                let Some(sum) = verify::sum(dots, i) else { continue };
                output[*offset..offset + result.bytes].copy_from_slice(&sum.to_le_bytes()[..result.bytes]);
                last = Some(*offset);
                exact += 1;
            }
        }
        assert_eq!(verify::problems(&program, &output), Vec::<String>::new());
        if let Some(last) = last {
            output[last] ^= 1;
            assert_eq!(verify::problems(&program, &output).len(), 1);
        }
    }
    assert!(exact > 5000, "only {exact} exact sums");
}

#[test]
fn an_archive_is_read_as_written() {
    let record = |name: &str, run| Record { name: name.into(), hash: 0x1234_5678_9abc_def0, run };
    let records = vec![record("a", Run::Output(vec![1, 2, 3])), record("b", Run::Failed("no".into()))];
    let archive = Archive { device: "a device".into(), records };
    let file = archive.write().expect("a file in memory");
    assert_eq!(Archive::read(&file), Ok(archive));
    assert!(Archive::read(&file[1..]).is_err());
    assert!(Archive::read(&file[..file.len() / 2]).is_err());
}

/// `ptxas` is looked for in `$PTXAS`, then on the path.
fn ptxas() -> Option<PathBuf> {
    let given = std::env::var_os("PTXAS").map(PathBuf::from);
    given.or_else(|| std::env::split_paths(&std::env::var_os("PATH")?).map(|d| d.join("ptxas")).find(|p| p.is_file()))
}

#[test]
fn programs_assemble() {
    let Some(ptxas) = ptxas() else {
        eprintln!("skipped: ptxas is neither in $PTXAS nor on the path");
        return;
    };
    let mut failures = Vec::new();
    for program in all() {
        let mut child = Command::new(&ptxas)
            .args(["-arch=sm_90a", "-o", "/dev/null", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("ptxas runs");
        child.stdin.take().expect("its input").write_all(program.text.as_bytes()).expect("it reads");
        let output = child.wait_with_output().expect("it ends");
        if !output.status.success() {
            failures.push(format!("{}: {}", program.name, String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failures.is_empty(), "{} programs\n{}", failures.len(), failures.join("\n"));
}
