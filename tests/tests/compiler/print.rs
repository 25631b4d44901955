//! Lines that programs print, as the interpreter gives them away.

use std::sync::Mutex;
use triton_core::interp::{self, Fault, Memory, Program};
use triton_core::ir::parse::parse;
use triton_core::metadata::Arg;

/// No memory, but a page to print on.
#[derive(Default)]
struct Page(Mutex<String>);

impl Memory for Page {
    fn load(&self, _: u32, _: &[u64], _: Option<&[u64]>, _: &mut [u64]) -> Result<(), Fault> {
        Ok(())
    }
    fn store(&self, _: u32, _: &[u64], _: Option<&[u64]>, _: &[u64]) -> Result<(), Fault> {
        Ok(())
    }
    fn update(
        &self,
        _: u32,
        _: &[u64],
        _: Option<&[u64]>,
        _: &dyn Fn(usize, u64) -> u64,
        _: &mut [u64],
    ) -> Result<(), Fault> {
        Ok(())
    }
    fn print(&self, lines: &str) {
        self.0.lock().expect("nothing panics").push_str(lines);
    }
}

#[test]
fn scalars_and_tiles() {
    let text = r#"
        text "{{n}} = {} of {}"
        text "\u{22}{}\u{22}, {}"
        text "no \u{5c}value; 100 %"
        kernel tell(v0 n: i8, v1 x: bf16) warps 1 {
          v2 = gt v0, v0 : bool
          print $0, [v0,v2]
          print $2, []
          v3 = arange -1, 3 : i32[4]
          v4 = reshape v3, [2,2] : i32[2,2]
          v5 = splat v1, [2,2] : bf16[2,2]
          print $1, [v4,v5]
        }
    "#;
    let func = parse(text).expect("well formed");
    // What was printed is read again.
    assert_eq!(parse(&func.to_string()).expect("its own text").texts, func.texts);
    let page = Page::default();
    let program = Program { id: [4, 0, 2], grid: [5, 1, 3] };
    let args = [Arg::Scalar(0xfd), Arg::Scalar(0x3fc0)];
    interp::run(&func, &args, program, &page).expect("it runs");
    let expected = "{n} = -3 of false\nno \\value; 100 %\n(4, 0, 2)[0, 0] \"-1\", 1.5\n(4, 0, 2)[0, 1] \"0\", 1.5\n\
                    (4, 0, 2)[1, 0] \"1\", 1.5\n(4, 0, 2)[1, 1] \"2\", 1.5\n";
    assert_eq!(*page.0.lock().expect("nothing panics"), expected);
}

/// A file may have any name, also one with what texts are read by.
#[test]
fn names_of_files_are_read_again() {
    let text = r#"source "src\u{5c}a \u{22}b\u{22};\u{9}.rs"
kernel nothing() warps 1 {
}
"#;
    let function = parse(text).expect("IR");
    assert_eq!(function.sources.files, ["src\\a \"b\";\t.rs"]);
    assert_eq!(function.to_string(), text);
}
