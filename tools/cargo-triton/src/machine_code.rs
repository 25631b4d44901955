//! Machine code by NVIDIA's `ptxas` and `nvdisasm`, where they are found: registers, spills, SASS with its lines.

use crate::error::{Error, Result, at};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Where machine code comes from.
#[derive(Clone, Debug, Default)]
pub struct Tools {
    ptxas: Option<PathBuf>,
    nvdisasm: Option<PathBuf>,
}

/// What the assembler says of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Assembled {
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of a thread that are spilled to local memory, stored and loaded.
    pub spilled: u32,
}

/// A line of SASS, with the PTX or source line that it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The instruction or label.
    pub text: String,
    /// The file and the line, as the line table names them.
    pub at: Option<(String, u32)>,
}

/// How to get the tools.
pub const MISSING: &str = "SASS needs `ptxas` and `nvdisasm`: of the CUDA toolkit, or by `pip install nvidia-cuda-nvcc nvidia-cuda-nvdisasm`; put them on PATH, or name them by PTXAS and NVDISASM";

impl Tools {
    /// Those that `PTXAS` and `NVDISASM` name, else those on PATH and of a toolkit.
    pub fn find() -> Tools {
        Tools { ptxas: find("PTXAS", "ptxas"), nvdisasm: find("NVDISASM", "nvdisasm") }
    }

    /// The assembler.
    pub fn ptxas(&self) -> Option<&Path> {
        self.ptxas.as_deref()
    }

    /// The disassembler.
    pub fn nvdisasm(&self) -> Option<&Path> {
        self.nvdisasm.as_deref()
    }

    /// Assembles PTX for an H100; `None` without an assembler. Where registers are spilled because the PTX asks for several blocks, it is
    /// assembled for one, as a launch does.
    ///
    /// # Errors
    /// The assembler fails.
    pub fn assemble(&self, ptx: &str, target: &str, name: &str) -> Result<Option<(Assembled, PathBuf)>> {
        let first = self.assembled(ptx, target, name)?;
        let bound = ptx.lines().find(|line| line.trim_start().starts_with(".minnctapersm"));
        match (&first, bound) {
            (Some((code, _)), Some(bound)) if code.spilled > 0 => {
                let again = self.assembled(&ptx.replacen(bound, "", 1), target, &format!("{name}-again"))?;
                Ok(again.filter(|(again, _)| again.spilled < code.spilled).or(first))
            }
            _ => Ok(first),
        }
    }

    fn assembled(&self, ptx: &str, target: &str, name: &str) -> Result<Option<(Assembled, PathBuf)>> {
        let Some(ptxas) = &self.ptxas else { return Ok(None) };
        // Code of older devices runs on an H100, too.
        let target = if target.ends_with('a') { target } else { "sm_90" };
        let folder = std::env::temp_dir().join(format!("cargo-triton-{}", std::process::id()));
        at(&folder, std::fs::create_dir_all(&folder))?;
        let safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let (source, cubin) = (folder.join(format!("{safe}.ptx")), folder.join(format!("{safe}.cubin")));
        at(&source, std::fs::write(&source, ptx))?;
        let mut command = Command::new(ptxas);
        command.args(["-v", "-lineinfo", "-arch", target, "-o"]).arg(&cubin).arg(&source);
        let said = run(&mut command, "ptxas")?;
        let number = |before: &str, behind: &str| {
            let line = said.lines().find(|line| line.contains(behind) && line.contains(before))?;
            let number = line.split(behind).next()?.split([' ', ',']).rfind(|word| !word.is_empty())?;
            number.parse::<u32>().ok()
        };
        let registers = number("Used", " registers").unwrap_or(0);
        let spilled = number("", " bytes spill stores").unwrap_or(0) + number("", " bytes spill loads").unwrap_or(0);
        Ok(Some((Assembled { registers, spilled }, cubin)))
    }

    /// Disassembles what was assembled; `None` without a disassembler.
    ///
    /// # Errors
    /// The disassembler fails.
    pub fn disassemble(&self, cubin: &Path) -> Result<Option<Vec<Line>>> {
        let Some(nvdisasm) = &self.nvdisasm else { return Ok(None) };
        let text = run(Command::new(nvdisasm).args(["-g", "-c"]).arg(cubin), "nvdisasm")?;
        Ok(Some(lines(&text)))
    }
}

/// Both streams of a tool that succeeded.
fn run(command: &mut Command, tool: &str) -> Result<String> {
    let failed = |why: String| Error::Tool { tool: tool.into(), why };
    let output = command.output().map_err(|error| failed(error.to_string()))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    match output.status.success() {
        true => Ok(text),
        false => Err(failed(format!("{} {}", output.status, text.trim()).trim_end().to_string())),
    }
}

/// The lines of code of a disassembly, without its control words and tables.
fn lines(text: &str) -> Vec<Line> {
    let (mut lines, mut at, mut is_code) = (Vec::new(), None, false);
    for line in text.lines() {
        let line = line.trim_end();
        // `.sectioninfo` is of the section that it stands in.
        if let Some(section) = line.trim_start().strip_prefix(".section").filter(|rest| rest.starts_with([' ', '\t'])) {
            is_code = section.trim_start().starts_with(".text");
            continue;
        }
        if let Some(place) = line.trim_start().strip_prefix("//## File ") {
            // `"src/lib.rs", line 12 inlined at ..`
            let mut parts = place.split('"').skip(1);
            let file = parts.next().map(str::to_string);
            let number = parts.next().and_then(|rest| rest.trim_start_matches(", line ").split(' ').next());
            at = file.zip(number.and_then(|number| number.parse().ok()));
            continue;
        }
        let code = line.trim_start();
        let is_label = code.starts_with('.') && code.ends_with(':') && code.contains("L_");
        if is_code && (is_label || code.starts_with("/*")) {
            let instruction = code.split_once("*/").map_or(code, |(_, rest)| rest).trim();
            let instruction = instruction.split("/*").next().unwrap_or_default().trim_end();
            if !instruction.is_empty() {
                let text = if is_label { instruction.into() } else { format!("    {instruction}") };
                lines.push(Line { text, at: at.clone().filter(|_| !is_label) });
            }
        }
    }
    lines
}

/// A tool by its variable, on PATH, or of a toolkit.
fn find(variable: &str, name: &str) -> Option<PathBuf> {
    if let Some(path) = std::env::var_os(variable).filter(|path| !path.is_empty()) {
        let path = PathBuf::from(path);
        if !path.is_file() {
            eprintln!(
                "warning: {variable} names {}, which is not a file: `{name}` is taken to be missing",
                path.display()
            );
            return None;
        }
        return Some(path);
    }
    let on_path = std::env::var_os("PATH").unwrap_or_default();
    let toolkits = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(std::env::var_os).map(PathBuf::from);
    let toolkits = toolkits.chain([PathBuf::from("/usr/local/cuda")]).map(|folder| folder.join("bin"));
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&on_path).chain(toolkits).map(|folder| folder.join(&file)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::{Line, lines};

    #[test]
    fn a_disassembly_keeps_code_and_its_lines() {
        let text = "\t.section .text.k,\"ax\"\n        .align 128\n\t.sectioninfo\t@\"SHI_REGISTERS=38\"\n.text.k:\n\t//## File \"src/lib.rs\", line 12\n        /*0000*/                   LDC R1, c[0x0][0x28] ;    /* 0x00000a00ff017b82 */\n.L_x_0:\n\t//## File \"src/f.rs\", line 3 inlined at \"src/lib.rs\", line 14\n        /*0010*/                   EXIT ;\n\t.section .debug_line\n        /*0010*/ .byte 1\n";
        let line = |text: &str, at: Option<(&str, u32)>| Line { text: text.into(), at: at.map(|(f, n)| (f.into(), n)) };
        let expected = [
            line("    LDC R1, c[0x0][0x28] ;", Some(("src/lib.rs", 12))),
            line(".L_x_0:", None),
            line("    EXIT ;", Some(("src/f.rs", 3))),
        ];
        assert_eq!(lines(text), expected);
    }
}
