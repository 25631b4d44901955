//! The classes of machine instructions, by the word before the first dot.
//!
//! A word says less than an instruction: `IMAD.MOV` is among the integers, and `HADD2.F32`, which widens, among the floats.

/// What a class is called in the record, and its instructions. The record has the classes in this order.
const CLASSES: &[(&str, &[&str])] = &[
    (
        "float",
        &[
            "FADD",
            "FADD32I",
            "FCHK",
            "FFMA",
            "FFMA32I",
            "FMNMX",
            "FMUL",
            "FMUL32I",
            "FSEL",
            "FSET",
            "FSETP",
            "FSWZADD",
            "HADD2",
            "HADD2_32I",
            "HFMA2",
            "HFMA2_32I",
            "HMNMX2",
            "HMUL2",
            "HMUL2_32I",
            "HSET2",
            "HSETP2",
            "VHMNMX",
            "DADD",
            "DFMA",
            "DMUL",
            "DSETP",
        ],
    ),
    ("special", &["MUFU"]),
    ("tensor", &["BGMMA", "BMMA", "DMMA", "HGMMA", "HMMA", "IGMMA", "IMMA", "QGMMA"]),
    ("shuffle", &["MATCH", "MOVM", "REDUX", "SHFL"]),
    ("shared", &["ATOMS", "LDS", "LDSM", "STAS", "STS", "STSM"]),
    ("global", &["ATOM", "ATOMG", "LD", "LDG", "LDGSTS", "RED", "REDG", "ST", "STG"]),
    ("bulk", &["UBLKCP", "UBLKPF", "UBLKRED", "UTMALDG", "UTMAPF", "UTMAREDG", "UTMASTG"]),
    ("local", &["LDL", "STL"]),
    ("convert", &["F2F", "F2FP", "F2I", "F2IP", "FRND", "I2F", "I2FP", "I2I", "I2IP"]),
    (
        "integer",
        &[
            "BMSK",
            "BREV",
            "FLO",
            "IABS",
            "IADD",
            "IADD3",
            "IADD32I",
            "IDP",
            "IMAD",
            "IMNMX",
            "IMUL",
            "ISETP",
            "LEA",
            "LOP",
            "LOP3",
            "LOP32I",
            "POPC",
            "SGXT",
            "SHF",
            "SHL",
            "SHR",
            "VABSDIFF",
            "VABSDIFF4",
            "VIADD",
            "VIADDMNMX",
            "VIMNMX",
            "VIMNMX3",
        ],
    ),
    ("move", &["CS2R", "MOV", "MOV32I", "PRMT", "S2R", "SEL"]),
    ("predicate", &["ELECT", "P2R", "PLOP3", "PSETP", "R2P", "VOTE"]),
    (
        "uniform",
        &[
            "R2UR", "S2UR", "UBMSK", "UBREV", "UCLEA", "UF2FP", "UFLO", "UIADD3", "UIMAD", "UISETP", "ULDC", "ULEA",
            "ULOP", "ULOP3", "UMOV", "UP2UR", "UR2UR", "UPLOP3", "UPOPC", "UPRMT", "UR2UP", "USEL", "USGXT", "USHF",
            "USHL", "USHR", "VOTEU",
        ],
    ),
    ("constant", &["LDC"]),
    (
        "barrier",
        &[
            "BAR",
            "DEPBAR",
            "FENCE",
            "LDGDEPBAR",
            "SYNCS",
            "USETMAXREG",
            "UCGABAR_ARV",
            "UCGABAR_WAIT",
            "UTMACMDFLUSH",
            "WARPGROUP",
            "WARPSYNC",
        ],
    ),
    (
        "control",
        &[
            "BMOV",
            "BPT",
            "BRA",
            "BREAK",
            "BRX",
            "BSSY",
            "BSYNC",
            "CALL",
            "EXIT",
            "JMP",
            "KILL",
            "LEPC",
            "NANOSLEEP",
            "RET",
            "YIELD",
        ],
    ),
    ("other", &["CCTL", "CGAERRBAR", "ERRBAR", "MEMBAR", "UTMACCTL"]),
];

/// What no loop of a kernel should have, unless it concerns the block alone (`.CTA`): it waits for the memory of the device, or is an
/// access of local memory.
pub const STALLS: &[&str] = &["CCTL", "CGAERRBAR", "ERRBAR", "LDL", "MEMBAR", "STL"];

/// Instructions by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counts([usize; CLASSES.len()]);

impl Counts {
    /// Counts instructions by their words before the first dot.
    ///
    /// # Errors
    /// A word that no class has.
    pub fn of<'a>(words: impl Iterator<Item = &'a str>) -> Result<Counts, String> {
        let mut counts = [0; CLASSES.len()];
        for word in words {
            let class = CLASSES.iter().position(|(_, members)| members.contains(&word));
            let class = class
                .ok_or_else(|| format!("`{word}` has no class: give it one in tools/xtask/src/sass/classes.rs"))?;
            counts[class] += 1;
        }
        Ok(Counts(counts))
    }
}

/// `75: float 40, integer 35`.
impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0.iter().sum::<usize>())?;
        let present = CLASSES.iter().zip(self.0).filter(|(_, count)| *count > 0);
        for (index, ((class, _), count)) in present.enumerate() {
            write!(f, "{} {class} {count}", if index == 0 { ":" } else { "," })?;
        }
        Ok(())
    }
}
