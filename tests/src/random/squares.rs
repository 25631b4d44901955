//! Random programs over square tiles: elementwise operations, casts, transposes, reductions, loops, branches.

use super::Random;
use std::fmt::Write;
use triton_core::ir::Function;
use triton_core::ir::parse::parse;

/// A program over square tiles of one parameter: loads, some operations on what is there already, a store.
struct Program<'a> {
    random: &'a mut Random,
    text: String,
    /// Number and element type of each tile.
    tiles: Vec<(usize, &'static str)>,
    next: usize,
    side: usize,
}

impl Program<'_> {
    fn line(&mut self, what: &str, elem: &'static str) -> usize {
        let side = self.side;
        let _ = writeln!(self.text, "  v{} = {what} : {elem}[{side},{side}]", self.next);
        self.tiles.push((self.next, elem));
        self.next += 1;
        self.next - 1
    }

    fn any(&mut self) -> (usize, &'static str) {
        self.tiles[self.random.below(self.tiles.len())]
    }

    fn step(&mut self) {
        let (a, elem) = self.any();
        let (n, side) = (self.next, self.side);
        match self.random.below(7) {
            0 => _ = self.line(&format!("permute v{a}, [1,0]"), elem),
            1 => {
                let to = if elem == "f32" { "f16" } else { "f32" };
                self.line(&format!("cast v{a}, {to}"), to);
            }
            2 => _ = self.line(&format!("abs v{a}"), elem),
            3 => {
                let other = self.tiles.iter().rev().find(|&&(v, e)| e == elem && v != a).map_or(a, |&(v, _)| v);
                self.line(&format!("add v{a}, v{other}"), elem);
            }
            4 => {
                let axis = self.random.below(2);
                let one = if axis == 0 { format!("1,{side}") } else { format!("{side},1") };
                let _ = writeln!(
                    self.text,
                    "  v{n} = reduce {axis}, any with v{a} : {elem}[{side}] {{ |v{}: {elem}, v{}: {elem}|\n    v{} = max v{}, v{} : {elem}\n    yield with v{}\n  }}",
                    n + 1,
                    n + 2,
                    n + 3,
                    n + 1,
                    n + 2,
                    n + 3
                );
                let _ = writeln!(self.text, "  v{} = reshape v{n}, [{one}] : {elem}[{one}]", n + 4);
                self.next += 5;
                self.line(&format!("broadcast v{}, [{side},{side}]", n + 4), elem);
            }
            5 => {
                // What only one branch needs in another layout.
                let tile = format!("{elem}[{side},{side}]");
                let _ = writeln!(
                    self.text,
                    "  v{n} = if v9 : {tile} {{
    v{} = permute v{a}, [1,0] : {tile}
    v{} = add v{}, v{a} : {tile}
    yield with v{}
  }} {{
    yield with v{a}
  }}",
                    n + 1,
                    n + 2,
                    n + 1,
                    n + 2
                );
                self.next += 3;
                self.tiles.push((n, elem));
            }
            _ => {
                let _ = writeln!(
                    self.text,
                    "  v{n} = for v2, v3, v4 with v{a} : {elem}[{side},{side}] {{ |v{}: i32, v{}: {elem}[{side},{side}]|\n    v{} = permute v{}, [1,0] : {elem}[{side},{side}]\n    v{} = add v{}, v{} : {elem}[{side},{side}]\n    yield with v{}\n  }}",
                    n + 1,
                    n + 2,
                    n + 3,
                    n + 2,
                    n + 4,
                    n + 3,
                    n + 2,
                    n + 4
                );
                self.next += 5;
                self.tiles.push((n, elem));
            }
        }
    }
}

/// A program of a parameter to read and one to write, whose elements they are.
pub fn program(random: &mut Random) -> (Function, usize) {
    let side = [8, 16, 32, 64][random.below(4)];
    let warps = 1 << random.below(3);
    let elements = side * side;
    let mut p = Program { random, text: String::new(), tiles: Vec::new(), next: 11, side };
    let _ = write!(
        p.text,
        "kernel k(v0 x: ptr<f32> multiple_of 16, v1 out: ptr<mut f32> multiple_of 16) warps {warps} {{
  v2 = const i32 0 : i32
  v3 = const i32 4 : i32
  v4 = const i32 1 : i32
  v5 = arange 0, {elements} : i32[{elements}]
  v6 = reshape v5, [{side},{side}] : i32[{side},{side}]
  v7 = splat v0, [{side},{side}] : ptr<f32>[{side},{side}]
  v8 = offset v7, v6 : ptr<f32>[{side},{side}]
  v10 = program_id 0 : i32
  v9 = lt v10, v3 : bool
"
    );
    p.line("load v8, -, -", "f32");
    for _ in 0..2 + p.random.below(4) {
        p.step();
    }
    let last = p.tiles.last().copied().unwrap_or((11, "f32"));
    let value = if last.1 == "f32" { last.0 } else { p.line(&format!("cast v{}, f32", last.0), "f32") };
    let n = p.next;
    let _ = write!(
        p.text,
        "  v{n} = splat v1, [{side},{side}] : ptr<mut f32>[{side},{side}]
  v{} = offset v{n}, v6 : ptr<mut f32>[{side},{side}]
  store v{}, -, v{value}
}}
",
        n + 1,
        n + 1
    );
    let func = parse(&p.text).unwrap_or_else(|e| panic!("{e}\n{}", p.text));
    (func, elements)
}
