//! The program: built by cargo, and the kernels in it.

use crate::error::{Error, Result, at};
use clap::Args;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use triton_core::embed::Header;
use triton_core::ir::{self, Function};

/// Which program, and how it is built: as for `cargo run`.
#[derive(Args, Clone, Debug, Default)]
pub struct Target {
    /// The package
    #[arg(short, long)]
    pub package: Option<String>,
    /// A binary of it
    #[arg(long, group = "target")]
    pub bin: Option<String>,
    /// An example of it
    #[arg(long, group = "target")]
    pub example: Option<String>,
    /// A test of it
    #[arg(long, group = "target")]
    pub test: Option<String>,
    /// Build in release mode
    #[arg(short, long)]
    pub release: bool,
    /// Features, separated by commas
    #[arg(short = 'F', long)]
    pub features: Option<String>,
    /// Cargo.toml of the package
    #[arg(long)]
    pub manifest_path: Option<PathBuf>,
    /// A program that was built before, in place of all of these
    #[arg(long, conflicts_with_all = ["package", "target", "release", "features"])]
    pub program: Option<PathBuf>,
}

/// A program with its kernels.
#[derive(Debug)]
pub struct Program {
    /// The executable.
    pub path: PathBuf,
    /// Its kernels, by name.
    pub kernels: Vec<Kernel>,
    /// The folder that names of source files are relative to.
    pub root: PathBuf,
}

/// A config of an instance of a kernel.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The instance as the user writes it: `softmax::<f32, 1024>`.
    pub instance: String,
    /// The number of the config.
    pub config: usize,
    /// How many configs the program has of the instance.
    pub configs: usize,
    /// Its meaning: IR of stage 0.
    pub func: Function,
}

impl Kernel {
    /// The function's name.
    pub fn name(&self) -> &str {
        self.instance.split("::<").next().unwrap_or(&self.instance)
    }
}

/// The instance, with the number of the config if there are several.
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.instance)?;
        if self.configs > 1 { write!(f, "#{}", self.config) } else { Ok(()) }
    }
}

impl Target {
    fn cargo(&self, command: &str) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut cargo = Command::new(cargo);
        cargo.arg(command);
        let options = [("--package", &self.package), ("--features", &self.features)];
        for (name, value) in options {
            value.iter().for_each(|value| _ = cargo.args([name, value]));
        }
        if let Some(path) = &self.manifest_path {
            cargo.arg("--manifest-path").arg(path);
        }
        if self.release {
            cargo.arg("--release");
        }
        let targets = [("--bin", &self.bin), ("--example", &self.example), ("--test", &self.test)];
        for (name, value) in targets {
            value.iter().for_each(|value| _ = cargo.args([name, value]));
        }
        cargo
    }

    /// Builds, and yields the programs: several of a package with several binaries.
    fn built(&self) -> Result<Vec<PathBuf>> {
        let failed = |why: String| Error::Cargo { command: "build".into(), why };
        let mut cargo = self.cargo("build");
        cargo.arg("--message-format=json-render-diagnostics").stdout(Stdio::piped());
        let output = cargo.spawn().and_then(std::process::Child::wait_with_output);
        let output = output.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(Error::Build);
        }
        let messages = String::from_utf8_lossy(&output.stdout);
        let executable = |line: &str| {
            let message: serde_json::Value = serde_json::from_str(line).ok()?;
            let is_program = message["target"]["kind"].as_array()?.iter().any(|kind| kind != "custom-build");
            let path = message["executable"].as_str().filter(|_| is_program)?;
            Some(PathBuf::from(path))
        };
        Ok(messages.lines().filter_map(executable).collect())
    }

    /// The folder of the workspace: sources are named from there.
    pub fn root(&self) -> PathBuf {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["locate-project", "--workspace", "--message-format=plain"]).stderr(Stdio::null());
        if let Some(path) = &self.manifest_path {
            cargo.arg("--manifest-path").arg(path);
        }
        let located = cargo.output().ok().filter(|output| output.status.success());
        let manifest = located.map(|output| PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
        manifest.as_deref().and_then(Path::parent).map_or_else(|| PathBuf::from("."), Path::to_path_buf)
    }

    /// What would be named, were a target missing.
    fn known(&self) -> Vec<String> {
        let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["metadata", "--no-deps", "--format-version=1"]).stderr(Stdio::null());
        if let Some(path) = &self.manifest_path {
            cargo.arg("--manifest-path").arg(path);
        }
        let Ok(output) = cargo.output() else { return Vec::new() };
        let Ok(metadata) = serde_json::from_slice::<serde_json::Value>(&output.stdout) else { return Vec::new() };
        let here = std::env::current_dir().unwrap_or_default();
        let packages = metadata["packages"].as_array().cloned().unwrap_or_default();
        let is_asked = |package: &&serde_json::Value| match &self.package {
            Some(name) => package["name"] == **name,
            None => package["manifest_path"].as_str().and_then(|path| Path::new(path).parent()) == Some(&*here),
        };
        let targets = packages.iter().filter(is_asked).filter_map(|package| package["targets"].as_array()).flatten();
        let named = targets.filter_map(|target| {
            let kind = target["kind"][0].as_str().filter(|kind| ["bin", "example", "test"].contains(kind))?;
            Some(format!("--{kind} {}", target["name"].as_str()?))
        });
        named.collect()
    }

    /// Builds the program, and reads its kernels.
    ///
    /// # Errors
    /// Cargo failed, there is no program with kernels, or they are of another version of the compiler.
    pub fn read(&self) -> Result<Program> {
        if let Some(path) = &self.program {
            let program = Program::read(path, self.root())?;
            program.check_age()?;
            return Ok(program);
        }
        let built = self.built()?;
        let mut failure = Error::NoProgram(self.known());
        for path in &built {
            match Program::read(path, self.root()) {
                Err(error) => failure = error,
                program => return program,
            }
        }
        Err(failure)
    }
}

impl Program {
    /// Reads the kernels of an executable.
    ///
    /// # Errors
    /// The file cannot be read, has none, or those of another version.
    pub fn read(path: &Path, root: PathBuf) -> Result<Program> {
        let bytes = at(path, std::fs::read(path))?;
        let mut kernels: Vec<Kernel> = Vec::new();
        for (header, stored) in Header::find(&bytes) {
            let text = match header.stored < header.len {
                true => triton_runtime::inflate(stored, header.len),
                false => String::from_utf8(stored.to_vec()).ok(),
            };
            let wrong = |why: String| Error::Compiler { instance: header.instance.to_string(), why };
            let text = text.ok_or_else(|| wrong("its IR cannot be read".into()))?;
            let func = ir::parse::parse(&text).map_err(|error| wrong(error.to_string()))?;
            let known = |of: &Kernel| of.instance == header.instance && of.config == header.config;
            if !kernels.iter().any(known) {
                kernels.push(Kernel { instance: header.instance.into(), config: header.config, configs: 1, func });
            }
        }
        if kernels.is_empty() {
            return Err(match Header::versions(&bytes).into_iter().find(|found| found != Header::VERSION) {
                Some(found) => Error::Version { program: path.to_path_buf(), found },
                None => Error::NoKernels(path.to_path_buf()),
            });
        }
        kernels.sort_by(|a, b| natural(&a.instance).cmp(&natural(&b.instance)).then(a.config.cmp(&b.config)));
        let names: Vec<String> = kernels.iter().map(|of| of.instance.clone()).collect();
        for kernel in &mut kernels {
            kernel.configs = names.iter().filter(|name| **name == kernel.instance).count();
        }
        Ok(Program { path: path.to_path_buf(), kernels, root })
    }

    /// Cargo's target folder: the one with the profile that the program is of.
    pub fn target(&self) -> PathBuf {
        let profile = |folder: &&Path| folder.ends_with("debug") || folder.ends_with("release");
        let of_profile = self.path.ancestors().find(profile).and_then(Path::parent);
        of_profile.map_or_else(|| self.root.join("target"), Path::to_path_buf)
    }

    /// Whether no source of a kernel has changed since.
    fn check_age(&self) -> Result<()> {
        let age = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
        let built = age(&self.path);
        for file in self.kernels.iter().flat_map(|kernel| &kernel.func.sources.files) {
            let file = self.root.join(file);
            if built.zip(age(&file)).is_some_and(|(built, changed)| changed > built) {
                return Err(Error::Stale { file, program: self.path.clone() });
            }
        }
        Ok(())
    }

    /// The kernels of a name: `softmax` for all of its instances, `softmax::<f32, 1024>` for one, with `#1` for one config of it.
    ///
    /// # Errors
    /// There is none.
    pub fn named(&self, asked: &str) -> Result<Vec<&Kernel>> {
        let (name, config) = match asked.rsplit_once('#') {
            Some((name, config)) => (name, config.parse::<usize>().ok()),
            None => (asked, None),
        };
        let bare = |text: &str| text.replace(' ', "").replace("::<", "<");
        let is_asked = |kernel: &&Kernel| {
            (kernel.name() == name || bare(&kernel.instance) == bare(name))
                && config.is_none_or(|config| kernel.config == config)
        };
        let found: Vec<&Kernel> = self.kernels.iter().filter(is_asked).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        // Of a kernel that is there, its instances; else the names of all.
        let same = self.kernels.iter().filter(|kernel| kernel.name() == name.split("::<").next().unwrap_or(name));
        let mut known: Vec<String> = same.map(ToString::to_string).collect();
        if known.is_empty() {
            known = self.kernels.iter().map(|kernel| kernel.name().to_string()).collect();
        }
        known.dedup();
        Err(Error::NoKernel { asked: asked.into(), known })
    }
}

/// A key by which `f32, 64` is before `f32, 1024`.
fn natural(text: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let word = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[word..].find(|c: char| !c.is_ascii_digit()).map_or(rest.len(), |at| word + at);
        parts.push((rest[..word].to_string(), rest[word..digits].parse().unwrap_or(0)));
        rest = &rest[digits..];
    }
    parts
}
