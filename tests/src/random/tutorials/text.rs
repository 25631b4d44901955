//! The text of a kernel.

use super::choices::{Across, Choices, Mask, Matrix, Of, Scale, Second, Step, Strides, Turns};
use std::fmt::Write;

/// A kernel as it is written, and its parameters in order: their names in a launch.
pub fn written(choices: &Choices) -> (String, Vec<String>) {
    let mut writer = Writer { choices, text: String::new(), indent: 1 };
    writer.indices();
    writer.before();
    writer.turns();
    writer.stores();
    let parameters = parameters(choices);
    let signature: Vec<String> = parameters.iter().map(|(name, ty)| format!("{name}: {ty}")).collect();
    let text = format!(
        "use triton::prelude::*;\n\n#[triton::kernel(num_warps = {}, num_stages = {})]\nfn kernel({}) {{\n{}}}\n",
        choices.num_warps,
        choices.num_stages,
        signature.join(", "),
        writer.text
    );
    (text, parameters.into_iter().map(|(name, _)| name).collect())
}

/// Names and types.
fn parameters(choices: &Choices) -> Vec<(String, String)> {
    let (mut all, mut numbers) = (Vec::new(), Vec::new());
    let stride = if choices.wide { "i64" } else { "i32" };
    let mut matrix = |of: &Matrix, mutable: &str| {
        let (name, dtype) = (of.name, of.raw.name());
        let ty = if of.view { format!("Tensor{mutable}<{dtype}, 2>") } else { format!("Ptr{mutable}<{dtype}>") };
        all.push((name.to_owned(), ty));
        if let Some(Scale { of: lines, dtype, view }) = of.scale {
            let rank = if matches!(lines, Of::Group(_)) { 2 } else { 1 };
            let dtype = dtype.name();
            let ty = if view { format!("Tensor<{dtype}, {rank}>") } else { format!("Ptr<{dtype}>") };
            all.push((format!("{name}_scale"), ty));
            if rank == 2 && !view {
                numbers.push((format!("{name}_groups"), "i32".to_owned()));
            }
        }
        if of.view {
            return;
        }
        let strides: &[&str] = match of.strides {
            Strides::Both => &["across", "along"],
            Strides::Across => &["across"],
            Strides::Along => &["along"],
        };
        numbers.extend(strides.iter().map(|axis| (format!("{name}_{axis}"), stride.to_owned())));
        if of.skips {
            numbers.push((format!("{name}_skip"), "i32".to_owned()));
        }
    };
    choices.operands().into_iter().for_each(|of| matrix(of, ""));
    matrix(&choices.c, "Mut");
    choices.echo.iter().for_each(|of| matrix(of, "Mut"));
    let sum = choices.sum.name();
    if !matches!(choices.second, Second::None) {
        all.push(("f".to_owned(), format!("PtrMut<{sum}>")));
    }
    if choices.sums {
        all.push(("d".to_owned(), format!("PtrMut<{sum}>")));
    }
    all.extend(["m", "n", "k"].map(|name| (name.to_owned(), "i32".to_owned())));
    all.append(&mut numbers);
    let free = choices.turns == Turns::Free;
    let others = [
        ("first", free || choices.turns == Turns::Split),
        ("second", free),
        ("start", free),
        ("shift", choices.shifted),
        ("g_zone", choices.echo.is_some()),
    ];
    all.extend(others.iter().filter(|(_, is)| *is).map(|(name, _)| ((*name).to_owned(), "i32".to_owned())));
    all
}

struct Writer<'a> {
    choices: &'a Choices,
    text: String,
    indent: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{}{line}", "    ".repeat(self.indent));
    }

    fn block(&mut self, head: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("{head} {{"));
        self.indent += 1;
        body(self);
        self.indent -= 1;
        self.line("}");
    }

    /// Which rows and columns a program has.
    fn indices(&mut self) {
        let Choices { tile: [m, n, k], group, rows, columns, shifted, .. } = *self.choices;
        match group {
            None => {
                self.line("let (row_tile, column_tile) = (program_id(0), program_id(1));");
                self.line("let program = row_tile * num_programs(1) + column_tile;");
            }
            Some(1) => {
                self.line("let program = program_id(0);");
                self.line(&format!("let across = (n + {}) / {n};", n - 1));
                self.line("let (row_tile, column_tile) = (program / across, program % across);");
            }
            Some(group) => {
                self.line("let program = program_id(0);");
                self.line(&format!("let (down, across) = ((m + {}) / {m}, (n + {}) / {n});", m - 1, n - 1));
                self.line(&format!("let in_group = {group} * across;"));
                self.line(&format!("let first_row = program / in_group * {group};"));
                self.line(&format!("let size = minimum(down - first_row, {group});"));
                self.line("let row_tile = first_row + program % in_group % size;");
                self.line("let column_tile = program % in_group / size;");
            }
        }
        self.line(&format!("let (row, column) = (row_tile * {m}, column_tile * {n});"));
        let shift = if shifted { " + shift" } else { "" };
        let hinted = self.choices.hinted;
        let inside = |across: Across, sum: String, extent: &str, tile: u32| match across {
            Across::Wrapped => format!("({sum}) % {extent}"),
            // As tutorial 09 does; of whole tiles it holds.
            Across::Whole if hinted => {
                format!("max_contiguous(multiple_of(select({sum} < {extent}, {sum}, 0), 16), {tile})")
            }
            Across::Masked | Across::Whole => sum,
        };
        let rows = inside(rows, format!("row + arange(0, {m}){shift}"), "m", m);
        let columns = inside(columns, format!("column + arange(0, {n})"), "n", n);
        self.line(&format!("let (rows, columns) = ({rows}, {columns});"));
        self.line(&format!("let (own_rows, along) = (row + arange(0, {m}), arange(0, {k}));"));
        let turns =
            if self.choices.turns == Turns::Peeled { format!("k / {k}") } else { format!("(k + {}) / {k}", k - 1) };
        self.line(&format!("let turns = {turns};"));
    }

    /// Pointers, scales of lines, and sums.
    fn before(&mut self) {
        let choices = self.choices;
        let Choices { tile: [m, n, _], sum, .. } = *choices;
        for of in choices.stepped() {
            let mut pointers = self.pointers(of, lines(of), "along");
            if choices.turns == Turns::Down {
                pointers += &format!(" + {}", times(&self.index("(turns - 1)"), &self.step(of)));
            }
            if choices.step == Step::First && choices.turns != Turns::Computed {
                let back = if choices.turns == Turns::Down { 1 } else { -1 };
                pointers += &format!(" + {back} * {}", self.step(of));
            }
            let mutable = if choices.turns == Turns::Computed { "" } else { "mut " };
            self.line(&format!("let {mutable}{}_at = {pointers};", of.name));
        }
        for of in choices.operands() {
            if let Some(scale) = of.scale.filter(|scale| scale.of == Of::Line) {
                let value = self.scale(of, scale, "0");
                self.line(&format!("let {}_by = {value};", of.name));
            }
        }
        if choices.mask == Mask::Counted {
            self.line("let mut left = k;");
        }
        let sum = sum.name();
        self.line(&format!("let mut acc = zeros::<{sum}>([{m}, {n}]);"));
        match choices.second {
            Second::None => {}
            Second::Other(_) => self.line(&format!("let mut other = zeros::<{sum}>([{m}, {n}]);")),
            Second::Gram => self.line(&format!("let mut other = zeros::<{sum}>([{m}, {m}]);")),
        }
        if choices.sums {
            self.line(&format!("let mut sums = zeros::<{sum}>([{m}]);"));
        }
    }

    /// A number, as strides are multiplied by it.
    fn index(&self, number: &str) -> String {
        if self.choices.wide { format!("{number}.to::<i64>()") } else { number.to_owned() }
    }

    /// The elements of a step along K.
    fn step(&self, of: &Matrix) -> String {
        stride(of, self.choices.tile[2])
    }

    /// The pointers to a tile of these lines, and of these indices along K.
    fn pointers(&self, of: &Matrix, lines: &str, along: &str) -> String {
        let (name, axis) = (of.name, of.axis());
        let by = |tile: &str, new: usize, stride: &str, is_argument: bool| {
            let index = self.index(&format!("{tile}.expand_dims({new})"));
            if is_argument { times(&index, &format!("{name}_{stride}")) } else { index }
        };
        let across = by(lines, 1 - axis, "across", of.strides != Strides::Along);
        let along = by(along, axis, "along", of.strides != Strides::Across);
        let mut base = if of.skips { format!("{name} + {name}_skip") } else { name.to_owned() };
        if name == "g" {
            base += " + program * g_zone";
        }
        if of.apart { format!("{base} + {across} + {along}") } else { format!("{base} + ({across} + {along})") }
    }

    /// The loop, or the loops.
    fn turns(&mut self) {
        let k = self.choices.tile[2];
        let tiles = format!("(i * {k})");
        match self.choices.turns {
            Turns::Tiles | Turns::Computed => self.block("for i in 0..turns", |w| w.turn(&tiles, true)),
            Turns::Elements => {
                let a = &self.choices.a;
                let end = if a.view { format!("a.dim({})", 1 - a.axis()) } else { "k".to_owned() };
                self.block(&format!("for i in (0..{end}).step_by({k})"), |w| w.turn("i", true));
            }
            Turns::Split => {
                self.block("for i in 0..first", |w| w.turn(&tiles, true));
                self.block("for i in first..turns", |w| w.turn(&tiles, true));
            }
            Turns::Peeled => {
                if self.choices.mask == Mask::Index {
                    self.block(&format!("for i in (0..turns * {k}).step_by({k})"), |w| w.turn("i", false));
                } else {
                    self.block("for i in 0..turns", |w| w.turn(&tiles, false));
                }
                self.turn(&format!("(turns * {k})"), true);
            }
            Turns::While => {
                self.line("let mut i = 0;");
                self.block("while i < turns", |w| {
                    w.turn(&tiles, true);
                    w.line("i += 1;");
                });
            }
            Turns::Nested => self.block("for o in 0..(turns + 1) / 2", |w| {
                w.block("for i in 0..2", |w| w.turn(&format!("((o * 2 + i) * {k})"), true));
            }),
            Turns::Free => {
                self.block("for i in start..first", |w| w.turn(&tiles, true));
                self.block("for i in (start..second).step_by(2)", |w| w.turn(&tiles, true));
                self.block("for i in second..first", |w| w.turn(&tiles, true));
            }
            Turns::Down => self.block("for i in 0..turns", |w| w.turn(&format!("((turns - 1 - i) * {k})"), true)),
        }
    }

    /// A turn, from this index along K on, which has a mask along K if it is `cut`.
    fn turn(&mut self, from: &str, cut: bool) {
        let choices = self.choices;
        if choices.step == Step::First {
            self.steps();
        }
        if choices.hinted && choices.turns != Turns::Computed {
            for of in choices.stepped() {
                let (name, bytes) = (of.name, of.raw.bytes());
                self.line(&format!("{name}_at = multiple_of({name}_at, [{bytes}, {bytes}]);"));
            }
        }
        for of in choices.operands() {
            let name = of.name;
            let load = self.load(of, from, cut && choices.cut);
            self.line(&format!("let {name}_raw = {load};"));
            let mut value = format!("{name}_raw");
            if of.raw != choices.dtype {
                value = self.converted(of, from);
            }
            if of.turned {
                value += ".transpose()";
            }
            self.line(&format!("let {name}_tile = {value};"));
        }
        let precision = if choices.tf32 { ".precision(Tf32)" } else { "" };
        self.line(&format!("acc = dot(a_tile{precision}, b_tile, acc);"));
        match choices.second {
            Second::None => {}
            Second::Other(_) => self.line(&format!("other = dot(a_tile{precision}, e_tile, other);")),
            Second::Gram => self.line(&format!("other = dot(a_tile{precision}, a_tile.transpose(), other);")),
        }
        if choices.sums {
            let (sum, axis) = (choices.sum.name(), 1 - choices.a.axis());
            self.line(&format!("sums += sum_axis(a_raw.to::<{sum}>(), {axis});"));
        }
        if let Some(echo) = &choices.echo {
            let value = if echo.turned == choices.a.turned { "a_raw" } else { "a_raw.transpose()" };
            let (at, mask) = self.access(echo, from, cut && choices.cut);
            self.line(&format!("store({at}, {value}, {mask});"));
        }
        if choices.step != Step::First {
            self.steps();
        }
        if choices.mask == Mask::Counted {
            self.line(&format!("left -= {};", choices.tile[2]));
        }
    }

    /// The steps of a turn.
    fn steps(&mut self) {
        let choices = self.choices;
        if choices.turns == Turns::Computed {
            return;
        }
        let k = choices.tile[2];
        let (times, elements) = if choices.step == Step::Twice { (2, k / 2) } else { (1, k) };
        let back = if choices.turns == Turns::Down { "-1 * " } else { "" };
        let one = match (choices.step, choices.turns) {
            (Step::Varying, Turns::Tiles | Turns::Split | Turns::While | Turns::Down) => {
                format!(" * {}", self.index("minimum(turns - i, 1)"))
            }
            (Step::Varying, Turns::Elements) => format!(" * {}", self.index("minimum(k - i, 1)")),
            _ => String::new(),
        };
        let branch = choices.step == Step::Branch;
        let step = |w: &mut Self| {
            for of in choices.stepped() {
                // What is 1 has the type of strides.
                let one = if of.strides == Strides::Across { one.replace(".to::<i64>()", "") } else { one.clone() };
                let step = stride(of, elements);
                (0..times).for_each(|_| w.line(&format!("{}_at += {back}{step}{one};", of.name)));
            }
        };
        if branch { self.block("if k < 1000000", step) } else { step(self) }
    }

    fn load(&self, of: &Matrix, from: &str, cut: bool) -> String {
        let (name, axis, [m, n, k]) = (of.name, of.axis(), self.choices.tile);
        if of.view {
            let (line, lines) = if of.left { ("row", m) } else { ("column", n) };
            return match axis {
                0 => format!("{name}.load([{line}, {from}], [{lines}, {k}])"),
                _ => format!("{name}.load([{from}, {line}], [{k}, {lines}])"),
            };
        }
        let (at, mask) = self.access(of, from, cut);
        let other = if of.raw.is_float() { "0.0" } else { "0" };
        if of.other { format!("load_or({at}, {mask}, {other})") } else { format!("load({at}, {mask})") }
    }

    /// The pointers to a tile from this index along K on, and the mask.
    fn access(&self, of: &Matrix, from: &str, cut: bool) -> (String, String) {
        let (name, axis) = (of.name, of.axis());
        let mut at = format!("{name}_at");
        if self.choices.turns == Turns::Computed {
            let from = self.index(from);
            let further = if of.strides == Strides::Across { from } else { times(&from, &format!("{name}_along")) };
            at += &format!(" + {further}");
        }
        let mut masks = Vec::new();
        let across = self.choices.across(of);
        // What wraps around is stored once.
        if across == Across::Masked || name == "g" && across == Across::Wrapped {
            masks.push(inside(of, lines(of), 1 - axis));
        }
        if cut {
            masks.push(self.inside_k(&format!("along.expand_dims({axis})"), from));
        }
        let mask = match &masks[..] {
            [] => "true".to_owned(),
            [mask] => mask.clone(),
            masks => format!("({})", masks.join(") & (")),
        };
        (at, mask)
    }

    fn inside_k(&self, along: &str, from: &str) -> String {
        match self.choices.mask {
            Mask::Left => format!("{along} < k - {from}"),
            Mask::Index => format!("{from} + {along} < k"),
            Mask::Counted => format!("{along} < left"),
        }
    }

    /// An operand as it is multiplied, of what was loaded.
    fn converted(&mut self, of: &Matrix, from: &str) -> String {
        let (name, dtype) = (of.name, self.choices.dtype.name());
        let to = |wide: &str| {
            let converted = format!("{name}_raw.to::<{wide}>()");
            if of.zero { format!("({converted} - 1.0)") } else { converted }
        };
        let Some(scale) = of.scale else { return to(dtype) };
        if scale.of != Of::Line {
            let value = self.scale(of, scale, from);
            self.line(&format!("let {name}_by = {value};"));
        }
        if scale.dtype == self.choices.dtype {
            format!("({} * {name}_by)", to(dtype))
        } else {
            format!("({} * {name}_by).to::<{dtype}>()", to(scale.dtype.name()))
        }
    }

    /// The scale of a tile from this index along K on, which is as wide as it or has one line.
    fn scale(&self, of: &Matrix, scale: Scale, from: &str) -> String {
        let (name, axis, [m, n, k]) = (of.name, of.axis(), self.choices.tile);
        let (line, count) = if of.left { ("row", m) } else { ("column", n) };
        let lines = lines(of);
        let mask = |at: &str| {
            let is_masked = self.choices.across(of) == Across::Masked || of.view;
            if is_masked { format!("{at} < {}", extent(of)) } else { "true".to_owned() }
        };
        // What a view loads does not wrap around.
        let lines = if of.view { format!("({line} + arange(0, {count}))") } else { lines.to_owned() };
        match (scale.of, scale.view) {
            (Of::Line, true) => format!("{name}_scale.load([{line}], [{count}]).expand_dims({})", 1 - axis),
            (Of::Line, false) => {
                format!("load({name}_scale + {lines}, {}).expand_dims({})", mask(&lines), 1 - axis)
            }
            (Of::Group(tiles), true) => {
                let (group, turned) = (format!("{from} / {}", k * tiles), if axis == 1 { ".transpose()" } else { "" });
                format!("{name}_scale.load([{line}, {group}], [{count}, 1]){turned}")
            }
            (Of::Group(tiles), false) => {
                let at = format!("{lines} * {name}_groups + {from} / {}", k * tiles);
                format!("load({name}_scale + ({at}), {}).expand_dims({})", mask(&lines), 1 - axis)
            }
            (Of::Index, true) => format!("{name}_scale.load([{from}], [{k}]).expand_dims({axis})"),
            (Of::Index, false) => {
                let mask = self.inside_k("along", from);
                format!("load({name}_scale + {from} + along, {mask}).expand_dims({axis})")
            }
        }
    }

    fn stores(&mut self) {
        let choices = self.choices;
        let Choices { tile: [m, n, _], c, rows, columns, .. } = choices;
        self.line(&format!("let (rows, columns) = (own_rows, column + arange(0, {n}));"));
        let value = if c.raw == choices.sum { "acc".to_owned() } else { format!("acc.to::<{}>()", c.raw.name()) };
        if c.view {
            self.line(&format!("c.store([row, column], {value});"));
        } else {
            let pointers = self.pointers(c, "rows", "columns");
            let is_whole = *rows == Across::Whole && *columns == Across::Whole;
            let mask = if is_whole { "true" } else { "(rows.expand_dims(1) < m) & (columns.expand_dims(0) < n)" };
            self.line(&format!("store({pointers}, {value}, {mask});"));
        }
        let width = if matches!(choices.second, Second::Gram) { *m } else { *n };
        if !matches!(choices.second, Second::None) {
            let at = format!(
                "(program * {m} + arange(0, {m})).expand_dims(1) * {width} + arange(0, {width}).expand_dims(0)"
            );
            self.line(&format!("store(f + ({at}), other, true);"));
        }
        if choices.sums {
            self.line(&format!("store(d + (program * {m} + arange(0, {m})), sums, true);"));
        }
    }
}

/// The indices of an operand's lines.
fn lines(of: &Matrix) -> &'static str {
    match (of.name, of.left) {
        ("g", _) => "own_rows",
        (_, true) => "rows",
        (_, false) => "columns",
    }
}

/// This many elements along K.
fn stride(of: &Matrix, elements: u32) -> String {
    match of.strides {
        Strides::Across => elements.to_string(),
        Strides::Both | Strides::Along => format!("({elements} * {}_along)", of.name),
    }
}

/// How many lines it has.
fn extent(of: &Matrix) -> &'static str {
    if of.left { "m" } else { "n" }
}

fn inside(of: &Matrix, lines: &str, new: usize) -> String {
    format!("{lines}.expand_dims({new}) < {}", extent(of))
}

fn times(a: &str, b: &str) -> String {
    format!("{a} * {b}")
}
