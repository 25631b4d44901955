//! Reads the header of a program: launch, arguments, and what is expected.

/// How a program is launched, and what comes of it.
#[derive(Debug)]
pub struct Case {
    /// Blocks.
    pub grid: [u32; 3],
    /// Threads of a block.
    pub block: [u32; 3],
    /// Blocks of a cluster.
    pub cluster: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// In the order of the kernel's parameters.
    pub arguments: Vec<Argument>,
    /// Arguments whose buffers are freed before the launch.
    pub freed: Vec<usize>,
    /// Names of faults: the first report of the faulty program has one of them. None: there is no faulty program.
    pub faults: Vec<String>,
    /// Words of this report.
    pub words: Vec<String>,
    /// What the correct program leaves in its buffers.
    pub results: Vec<Expected>,
    /// What the correct program prints.
    pub prints: Option<String>,
}

/// An argument.
#[derive(Debug)]
pub enum Argument {
    /// What a buffer is filled with.
    Buffer(Vec<u8>),
    /// The bits of a scalar.
    Scalar(u64),
    /// A tensor map.
    Map(Map),
}

/// A tensor map, innermost dimension first.
#[derive(Debug)]
pub struct Map {
    /// `bf16`, `f32`, …
    pub element: String,
    /// Elements.
    pub dims: Vec<u64>,
    /// Bytes from one to the next, without the innermost dimension.
    pub strides: Vec<u64>,
    /// Elements of a copy.
    pub extents: Vec<u32>,
    /// Bytes of a row of the pattern; 0: none.
    pub swizzle: u32,
    /// What elements outside are: `zeros` or `nan`.
    pub fill: String,
    /// The argument whose buffer it describes.
    pub buffer: usize,
}

/// The first elements of a buffer, as bytes.
#[derive(Debug)]
pub struct Expected {
    /// Which argument.
    pub buffer: usize,
    /// Elements.
    pub values: Vec<Vec<u8>>,
}

impl Case {
    /// Reads the header of a text.
    ///
    /// # Errors
    /// The first line that is not understood.
    pub fn parse(text: &str) -> Result<Case, String> {
        let mut case = Case {
            grid: [1; 3],
            block: [1; 3],
            cluster: [1; 3],
            shared: 0,
            arguments: Vec::new(),
            freed: Vec::new(),
            faults: Vec::new(),
            words: Vec::new(),
            results: Vec::new(),
            prints: None,
        };
        for line in text.lines().filter_map(|l| l.strip_prefix("//~ ")) {
            case.line(line.trim()).ok_or_else(|| format!("not understood: {line}"))?;
        }
        Ok(case)
    }

    fn line(&mut self, line: &str) -> Option<()> {
        let (key, rest) = line.split_once(' ')?;
        let words: Vec<&str> = rest.split_whitespace().collect();
        match (key, &words[..]) {
            ("launch", settings) => {
                for setting in settings {
                    let (name, value) = setting.split_once('=')?;
                    match name {
                        "grid" => self.grid = extents(value)?,
                        "block" => self.block = extents(value)?,
                        "cluster" => self.cluster = extents(value)?,
                        "shared" => self.shared = value.parse().ok()?,
                        _ => return None,
                    }
                }
            }
            ("arg", words) => self.arguments.push(argument(words)?),
            ("freed", [index]) => self.freed.push(index.parse().ok()?),
            ("expect", [names]) => self.faults = names.split('|').map(str::to_owned).collect(),
            ("expect-text", words) => self.words = words.iter().map(|w| (*w).to_owned()).collect(),
            ("result", [index, ty, list]) => {
                let values = list.split(',').map(|item| elements(ty, item)).collect::<Option<Vec<_>>>()?.concat();
                self.results.push(Expected { buffer: index.parse().ok()?, values });
            }
            ("prints", _) => self.prints = Some(rest.replace("\\n", "\n")),
            _ => return None,
        }
        Some(())
    }
}

/// `2` or `2,1,1`
fn extents(text: &str) -> Option<[u32; 3]> {
    let mut extents = [1; 3];
    for (index, part) in text.split(',').enumerate() {
        *extents.get_mut(index)? = part.parse().ok()?;
    }
    Some(extents)
}

fn argument(words: &[&str]) -> Option<Argument> {
    Some(match words {
        ["buffer", bytes, what] => Argument::Buffer(fill(what, bytes.parse().ok()?)?),
        ["u32" | "u64", value] => Argument::Scalar(integer(value)?),
        ["f32", value] => Argument::Scalar(u64::from(value.parse::<f32>().ok()?.to_bits())),
        ["map", element, settings @ ..] => {
            let find = |name: &str| settings.iter().find_map(|s| s.strip_prefix(name)?.strip_prefix('='));
            Argument::Map(Map {
                element: (*element).to_owned(),
                dims: list(find("dims")?)?,
                strides: list(find("strides")?)?,
                extents: list(find("box")?)?,
                swizzle: find("swizzle")?.parse().ok()?,
                fill: find("fill")?.to_owned(),
                buffer: find("buffer")?.parse().ok()?,
            })
        }
        _ => return None,
    })
}

fn list<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

/// The contents of a buffer: `zeros`; the numbers 0, 1, 2, … as `iota32` and `iota16` (integers of as many bits) or
/// `iota16f` (bf16, from 0 again after 255); `ones32f` (f32) or `ones16f` (bf16).
fn fill(what: &str, bytes: usize) -> Option<Vec<u8>> {
    let bf16 = |value: f32| ((value.to_bits() >> 16) as u16).to_le_bytes().to_vec();
    let element = |index: usize| match what {
        "zeros" => Some(vec![0]),
        "iota32" => Some((index as u32).to_le_bytes().to_vec()),
        "iota16" => Some((index as u16).to_le_bytes().to_vec()),
        "iota16f" => Some(bf16((index % 256) as f32)),
        "ones32f" => Some(1f32.to_le_bytes().to_vec()),
        "ones16f" => Some(bf16(1.0)),
        _ => None,
    };
    let count = bytes / element(0)?.len();
    (0..count).map(element).collect::<Option<Vec<_>>>().map(|e| e.concat())
}

fn integer(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The elements that `5`, `5*3` or `5..8` stand for.
fn elements(ty: &str, item: &str) -> Option<Vec<Vec<u8>>> {
    let one = |text: &str| match ty {
        "u16" => Some(u16::try_from(integer(text)?).ok()?.to_le_bytes().to_vec()),
        "u32" => Some(u32::try_from(integer(text)?).ok()?.to_le_bytes().to_vec()),
        "u64" => Some(integer(text)?.to_le_bytes().to_vec()),
        "f32" => Some(text.parse::<f32>().ok()?.to_le_bytes().to_vec()),
        _ => None,
    };
    if let Some((value, count)) = item.split_once('*') {
        Some(vec![one(value)?; count.parse().ok()?])
    } else if let Some((begin, end)) = item.split_once("..") {
        (integer(begin)?..integer(end)?).map(|value| one(&value.to_string())).collect()
    } else {
        Some(vec![one(item)?])
    }
}
