//! What a program launched and chose, as its run tells: see `TRITON_DSL_TRACE` in `triton-runtime`.

use crate::error::{Error, Result, at};
use crate::program::Kernel;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use triton_core::metadata::{Arg, Specialization};
use triton_core::types::Elem;

/// Why an image is not taken whose assumptions hold.
const PREFERRED: &str = "one before it is taken";

/// What a run told.
#[derive(Debug, Default)]
pub struct Trace {
    /// The launches, each shape of arguments once.
    pub launches: Vec<Launch>,
    /// The choices of selectors.
    pub choices: Vec<Choice>,
    /// The time of each launch in microseconds, by the instance and its config, if they were asked for.
    pub times: Vec<(String, f64)>,
    /// How the program ended, if it failed.
    pub failure: Option<String>,
}

/// A launch.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The instance.
    pub instance: String,
    /// The number of its config.
    pub config: usize,
    /// Where it ran.
    pub device: String,
    /// Programs along each axis.
    pub programs: [u32; 3],
    /// What holds of the arguments.
    pub holds: (Specialization, u8),
    /// Of each image: nothing if it was taken, else why not.
    pub images: Vec<Option<String>>,
    /// The arguments.
    pub args: Vec<Argument>,
}

/// An argument of a launch.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The parameter's name.
    pub name: String,
    /// What the kernel receives.
    pub words: Vec<u64>,
    /// Where its buffer begins, and how many bytes it has.
    pub memory: Option<(u64, u64)>,
    /// A file with what the buffer held.
    pub data: Option<PathBuf>,
    /// The parameter's type, as the user writes it.
    pub ty: String,
}

/// A selector's choice of a member of a pool.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The pool: the kernel with what is not chosen.
    pub pool: String,
    /// What describes the call.
    pub key: Vec<i64>,
    /// Where it ran.
    pub device: String,
    /// The number of the member.
    pub chosen: usize,
    /// Why.
    pub why: String,
    /// All of them.
    pub members: Vec<Member>,
}

/// A member of a pool.
#[derive(Clone, Debug)]
pub struct Member {
    /// The name: `BM=128 BN=64`.
    pub name: String,
    /// Whether it may run.
    pub fits: bool,
    /// The compiler's estimate in microseconds.
    pub estimate: Option<f64>,
    /// A measured time in microseconds; infinite if it failed.
    pub measured: Option<f64>,
}

impl Launch {
    /// Whether it is of a kernel.
    pub fn is_of(&self, kernel: &Kernel) -> bool {
        self.instance == kernel.instance && self.config == kernel.config
    }

    /// The values of the function's parameters.
    pub fn values(&self, kernel: &Kernel) -> Vec<Arg> {
        let words = self.args.iter().flat_map(|arg| arg.words.iter().copied());
        let value = |(param, bits): (&triton_core::ir::Param, u64)| match kernel.func.ty(param.value).elem {
            Elem::Ptr { .. } => Arg::Ptr(bits),
            Elem::Num(_) => Arg::Scalar(bits),
        };
        kernel.func.params.iter().zip(words).map(value).collect()
    }

    /// Bytes of its buffers: of several launches the one with the most is looked at.
    pub fn bytes(&self) -> u64 {
        self.args.iter().filter_map(|arg| Some(arg.memory?.1)).sum()
    }

    /// Whether it would take an image, were those before it not there.
    pub fn may_take(&self, image: usize) -> bool {
        self.images.get(image).is_some_and(|why| why.as_deref().is_none_or(|why| why == PREFERRED))
    }

    /// The number of the image that it takes.
    pub fn image(&self) -> Option<usize> {
        self.images.iter().position(Option::is_none)
    }
}

/// `64 x 1 x 1 programs; x [1823, 781]; n 5`.
impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.programs;
        write!(f, "{x} x {y} x {z} programs")?;
        for arg in &self.args {
            match &arg.words[..] {
                [_, rest @ ..] if !rest.is_empty() => {
                    write!(f, "; {} {:?}", arg.name, &rest[..rest.len() / 2])?;
                    let (extents, strides) = rest.split_at(rest.len() / 2);
                    let dense = (0..strides.len())
                        .all(|axis| extents[axis] <= 1 || strides[axis] == extents[axis + 1..].iter().product::<u64>());
                    if !dense {
                        write!(f, " strides {strides:?}")?;
                    }
                }
                [_] if arg.memory.is_some() => {
                    write!(f, "; {} of {} bytes", arg.name, arg.memory.map_or(0, |of| of.1))?
                }
                [word, ..] => write!(f, "; {} {}", arg.name, number(*word, &arg.ty))?,
                [] => {}
            }
        }
        Ok(())
    }
}

/// How a program is run for its trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Shapes alone.
    Left,
    /// The time of each launch on its device, too.
    Timed,
    /// What buffers hold, too: on the CPU device, so that it is there without a GPU, and the same each time.
    Taken,
}

impl Trace {
    /// Runs a program, and reads what it tells. Its output goes where this program's does.
    ///
    /// # Errors
    /// The program cannot be run, or launches nothing.
    pub fn of(program: &Path, args: &[String], contents: Contents) -> Result<Trace> {
        let folder = std::env::temp_dir().join(format!("cargo-triton-{}-trace", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        at(&folder, std::fs::create_dir_all(&folder))?;
        let mut command = Command::new(program);
        command.args(args).env("TRITON_DSL_TRACE", &folder);
        if contents == Contents::Taken {
            command.env("TRITON_DSL_TRACE_DATA", "1").env("CUDA_VISIBLE_DEVICES", "");
        }
        if contents == Contents::Timed {
            command.env("TRITON_DSL_TRACE_TIMES", "1").stdout(Stdio::null());
        }
        let status = at(program, command.status())?;
        let (mut trace, mut unreadable) = (Trace::default(), 0);
        let files = at(&folder, std::fs::read_dir(&folder))?;
        let mut files: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
        files.sort();
        for file in files.iter().filter(|file| file.extension().is_some_and(|of| of == "trace")) {
            let text = at(file, std::fs::read_to_string(file))?;
            // The last line of a process that was killed may be cut off.
            let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
            unreadable += whole.filter(|line| trace.read(line, &folder).is_none()).count();
        }
        trace.failure = (!status.success()).then(|| status.to_string());
        if unreadable > 0 {
            return Err(Error::Trace(program.to_path_buf()));
        }
        if trace.launches.is_empty() && trace.choices.is_empty() {
            let how = trace.failure.map_or(String::new(), |status| format!(" (it ended with {status})"));
            return Err(Error::NoLaunch(how));
        }
        Ok(trace)
    }

    /// Reads a record; `None` if it is cut off.
    fn read(&mut self, line: &str, folder: &Path) -> Option<()> {
        let mut fields = line.split('\t');
        match fields.next()? {
            "launch" => {
                let instance = fields.next()?.to_string();
                let config = fields.next()?.parse().ok()?;
                let device = fields.next()?.to_string();
                let programs: Vec<u32> = fields.next()?.split('x').filter_map(|n| n.parse().ok()).collect();
                let (name, order) = fields.next()?.split_once('.')?;
                let specialization = Specialization::ALL.iter().copied().find(|of| of.name() == name)?;
                let images = fields.next()?.split('|').filter_map(|image| {
                    let (_, why) = image.split_once(':')?;
                    Some(Some(why.to_string()).filter(|why| why != "+"))
                });
                let (images, holds) = (images.collect(), (specialization, order.parse().ok()?));
                let args = fields.map(|arg| argument(arg, folder)).collect::<Option<_>>()?;
                let programs = programs.try_into().ok()?;
                self.launches.push(Launch { instance, config, device, programs, holds, images, args });
            }
            "time" => {
                let (instance, config) = (fields.next()?, fields.next()?);
                let name = if config == "0" { instance.to_string() } else { format!("{instance}#{config}") };
                self.times.push((name, fields.next()?.parse().ok()?));
            }
            "select" => {
                let pool = fields.next()?.to_string();
                let key = fields.next()?.split(',').filter_map(|word| word.parse().ok()).collect();
                let device = fields.next()?.to_string();
                let chosen = fields.next()?.parse().ok()?;
                let why = fields.next()?.to_string();
                let members = fields.map(member).collect::<Option<_>>()?;
                self.choices.push(Choice { pool, key, device, chosen, why, members });
            }
            _ => {}
        }
        Some(())
    }
}

/// A scalar of a type by its bits.
fn number(bits: u64, ty: &str) -> String {
    match ty {
        "f32" => f32::from_bits(bits as u32).to_string(),
        "f64" => f64::from_bits(bits).to_string(),
        "i8" => (bits as i8).to_string(),
        "i16" => (bits as i16).to_string(),
        "i32" => (bits as i32).to_string(),
        "i64" => (bits as i64).to_string(),
        "bool" => (bits != 0).to_string(),
        _ => bits.to_string(),
    }
}

fn argument(text: &str, folder: &Path) -> Option<Argument> {
    let mut fields = text.split(';');
    let name = fields.next()?.to_string();
    let words = fields.next()?.split(',').map(|word| word.parse().ok()).collect::<Option<_>>()?;
    let memory = fields.next()?.parse().ok().zip(fields.next()?.parse().ok());
    let data = fields.next().filter(|file| *file != "-").map(|file| folder.join(file));
    let ty = fields.next()?.to_string();
    Some(Argument { name, words, memory, data, ty })
}

fn member(text: &str) -> Option<Member> {
    let mut fields = text.rsplitn(4, ';');
    let measured = fields.next()?.parse().ok();
    let estimate = fields.next()?.parse().ok();
    let fits = fields.next()? == "true";
    Some(Member { name: fields.next()?.to_string(), fits, estimate, measured })
}

#[cfg(test)]
mod tests {
    use super::Trace;
    use std::path::Path;

    #[test]
    fn records_are_read() {
        let mut trace = Trace::default();
        let launch = "launch\tadd::<f32>\t1\tCPU\t4x2x1\taligned16.0\t0:rows of `x` have 5 elements|1:+\tx;4096,8,5,8,1;4096;160;-;Tensor<f32, 2>\tn;4294967289;-;-;-;i32\ta;1069547520;-;-;-;f32";
        assert_eq!(trace.read(launch, Path::new("/t")), Some(()));
        let select =
            "select\tmm::<f16>\t64,-1\tCPU\t1\tit is the first that fits\tBM=64;true;12.50;-\tBM=128;false;-;inf";
        assert_eq!(trace.read(select, Path::new("/t")), Some(()));
        assert_eq!(trace.read("launch\tadd", Path::new("/t")), None, "a line that is cut off");
        let [launch] = &trace.launches[..] else { panic!("{trace:?}") };
        assert_eq!(launch.to_string(), "4 x 2 x 1 programs; x [8, 5] strides [8, 1]; n -7; a 1.5");
        assert_eq!((launch.image(), launch.args[0].memory), (Some(1), Some((4096, 160))));
        let [choice] = &trace.choices[..] else { panic!("{trace:?}") };
        assert_eq!((choice.members[0].estimate, choice.members[1].measured), (Some(12.5), Some(f64::INFINITY)));
    }
}
