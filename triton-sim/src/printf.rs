//! Formats of C's `printf`, as CUDA's `vprintf` takes them.

/// The largest width and precision: no number has more digits.
const WIDEST: usize = 1100;

/// A part of a format.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// Text that is printed as it is.
    Text(String),
    /// A conversion of the next argument.
    Conversion(Conversion),
}

/// `%-08.3lld`: flags, width, precision, length and letter.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Conversion {
    left: bool,
    zeros: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    width: usize,
    precision: Option<usize>,
    /// Bits of an integer.
    bits: u32,
    letter: char,
}

/// Bits of an integer by its length; the longer ones first.
const LENGTHS: [(&str, u32); 7] = [("hh", 8), ("h", 16), ("ll", 64), ("l", 64), ("z", 64), ("j", 64), ("t", 64)];

/// Takes a format apart.
///
/// # Errors
/// The first conversion that is not known: its text.
pub(crate) fn pieces(format: &str) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let mut rest = format;
    while let Some(start) = rest.find('%') {
        pieces.push(Piece::Text(rest[..start].to_string()));
        rest = &rest[start..];
        if let Some(after) = rest.strip_prefix("%%") {
            pieces.push(Piece::Text("%".to_string()));
            rest = after;
            continue;
        }
        let (conversion, after) = conversion(&rest[1..]);
        match conversion {
            Some(conversion) => pieces.push(Piece::Conversion(conversion)),
            None => return Err(rest[..rest.len() - after.len()].to_string()),
        }
        rest = after;
    }
    pieces.push(Piece::Text(rest.to_string()));
    Ok(pieces)
}

/// What follows a `%`, if it is known, and the rest.
fn conversion(text: &str) -> (Option<Conversion>, &str) {
    let mut c = Conversion { bits: 32, ..Conversion::default() };
    let flags = text.trim_start_matches(['-', '0', '+', ' ', '#']);
    for flag in text[..text.len() - flags.len()].chars() {
        match flag {
            '-' => c.left = true,
            '0' => c.zeros = true,
            '+' => c.plus = true,
            ' ' => c.blank = true,
            _ => c.alternate = true,
        }
    }
    let (width, mut rest) = digits(flags);
    c.width = width;
    if let Some(after_point) = rest.strip_prefix('.') {
        let (precision, after) = digits(after_point);
        c.precision = Some(precision);
        rest = after;
    }
    if let Some((length, bits)) = LENGTHS.iter().find(|(length, _)| rest.starts_with(length)) {
        rest = &rest[length.len()..];
        c.bits = *bits;
    }
    let mut letters = rest.chars();
    c.letter = letters.next().unwrap_or('\0');
    ("diuoxXcspeEfFgG".contains(c.letter).then_some(c), letters.as_str())
}

/// A number at the start of a text, and the rest.
fn digits(text: &str) -> (usize, &str) {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = &text[..text.len() - rest.len()];
    // More digits than fit are more than the widest.
    let value = if digits.is_empty() { 0 } else { digits.parse().unwrap_or(WIDEST) };
    (value.min(WIDEST), rest)
}

impl Conversion {
    /// Bytes of the argument, and its alignment: 4 for integers of up to 32 bits, else 8.
    pub(crate) fn bytes(&self) -> u64 {
        if self.bits == 64 || "speEfFgG".contains(self.letter) { 8 } else { 4 }
    }

    /// Whether the argument is the address of a text.
    pub(crate) fn is_text(&self) -> bool {
        self.letter == 's'
    }

    /// A text.
    pub(crate) fn text(&self, text: &str) -> String {
        let text: String = text.chars().take(self.precision.unwrap_or(usize::MAX)).collect();
        self.padded("", &text, false)
    }

    /// An argument that is not a text, from its bits.
    pub(crate) fn number(&self, value: u64) -> String {
        let unsigned = value & (u64::MAX >> (64 - self.bits));
        match self.letter {
            'd' | 'i' => {
                let signed = (value << (64 - self.bits)) as i64 >> (64 - self.bits);
                self.integer(self.sign(signed < 0), &signed.unsigned_abs().to_string())
            }
            'u' => self.integer("", &unsigned.to_string()),
            'o' => {
                let octal = format!("{unsigned:o}");
                self.integer("", &if self.alternate && unsigned != 0 { format!("0{octal}") } else { octal })
            }
            'x' => self.integer(if self.alternate && unsigned != 0 { "0x" } else { "" }, &format!("{unsigned:x}")),
            'X' => self.integer(if self.alternate && unsigned != 0 { "0X" } else { "" }, &format!("{unsigned:X}")),
            'p' => self.padded("0x", &format!("{value:x}"), false),
            'c' => self.padded("", &char::from(value as u8).to_string(), false),
            _ => self.float(f64::from_bits(value)),
        }
    }

    fn sign(&self, negative: bool) -> &'static str {
        match (negative, self.plus, self.blank) {
            (true, ..) => "-",
            (false, true, _) => "+",
            (false, false, true) => " ",
            (false, false, false) => "",
        }
    }

    /// Digits with at least as many as the precision says; 0 with a precision of 0 has none.
    fn integer(&self, prefix: &str, digits: &str) -> String {
        match self.precision {
            Some(0) if digits == "0" => self.padded(prefix, "", false),
            Some(least) => self.padded(prefix, &format!("{digits:0>least$}"), false),
            None => self.padded(prefix, digits, true),
        }
    }

    fn float(&self, value: f64) -> String {
        let sign = self.sign(value.is_sign_negative() && !value.is_nan());
        let (magnitude, precision) = (value.abs(), self.precision.unwrap_or(6));
        let text = match self.letter.to_ascii_lowercase() {
            _ if value.is_nan() => "nan".to_string(),
            _ if value.is_infinite() => "inf".to_string(),
            'f' => format!("{magnitude:.precision$}"),
            'e' => scientific(magnitude, precision),
            _ => general(magnitude, precision, self.alternate),
        };
        let text = if self.letter.is_ascii_uppercase() { text.to_ascii_uppercase() } else { text };
        self.padded(sign, &text, value.is_finite())
    }

    /// A text after its sign or prefix, padded to the width: zeros go between both, blanks outside.
    fn padded(&self, prefix: &str, text: &str, zeros: bool) -> String {
        let missing = self.width.saturating_sub(prefix.chars().count() + text.chars().count());
        match (self.left, self.zeros && zeros) {
            (true, _) => format!("{prefix}{text}{}", " ".repeat(missing)),
            (false, true) => format!("{prefix}{}{text}", "0".repeat(missing)),
            (false, false) => format!("{}{prefix}{text}", " ".repeat(missing)),
        }
    }
}

/// `%e`
fn scientific(value: f64, precision: usize) -> String {
    let (mantissa, exponent) = decimal(value, precision);
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}

/// Mantissa and exponent with this many digits after the decimal point.
fn decimal(value: f64, precision: usize) -> (String, i32) {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (mantissa.to_string(), exponent.parse().unwrap_or(0))
}

/// `%g`: as `%e` for very small and large numbers, else as `%f`; zeros at the end are dropped, unless `#` keeps them.
fn general(value: f64, precision: usize, keep: bool) -> String {
    let digits = precision.max(1);
    let exponent = decimal(value, digits - 1).1;
    let text = match usize::try_from(digits as i32 - 1 - exponent) {
        Ok(after_point) if exponent >= -4 => format!("{value:.after_point$}"),
        _ => scientific(value, digits - 1),
    };
    if keep || !text.contains('.') {
        return text;
    }
    let (mantissa, exponent) = text.split_at(text.find('e').unwrap_or(text.len()));
    format!("{}{exponent}", mantissa.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `printf` of C prints for one argument.
    fn check(format: &str, value: u64, expected: &str) {
        let printed = pieces(format).map(|pieces| {
            let print = |piece: &Piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Conversion(c) if c.is_text() => c.text("text"),
                Piece::Conversion(c) => c.number(value),
            };
            pieces.iter().map(print).collect::<String>()
        });
        assert_eq!(printed.unwrap_or_else(|unknown| format!("unknown: {unknown}")), expected, "{format} of {value:#x}");
    }

    #[test]
    fn integers() {
        let minus = -42i32 as u32;
        for (format, expected) in [
            ("%d", "-42"),
            ("%6d|", "   -42|"),
            ("%-6d|", "-42   |"),
            ("%06d", "-00042"),
            ("%.4d", "-0042"),
            ("%07.4d", "  -0042"),
            ("%+d", "-42"),
            ("%hhd", "-42"),
            ("%hu", "65494"),
            ("%u", "4294967254"),
            ("%X", "FFFFFFD6"),
            ("%#x", "0xffffffd6"),
            ("%o", "37777777726"),
            ("100%%", "100%"),
        ] {
            check(format, u64::from(minus), expected);
        }
        for (format, expected) in
            [("%+d", "+8"), ("% d", " 8"), ("%#o", "010"), ("%03llu", "008"), ("%p", "0x8"), ("%-03d|", "8  |")]
        {
            check(format, 8, expected);
        }
        check("%.0d|%#x", 0, "|0");
        check("%lld", u64::MAX, "-1");
        check("%3c|", 65, "  A|");
        check("%6.2s|%-5s|", 0, "    te|text |");
    }

    #[test]
    fn floats() {
        for (format, value, expected) in [
            ("%f", 1.5, "1.500000"),
            ("%08.2f", -1.5, "-0001.50"),
            ("%.0f", 2.5, "2"),
            ("%E", 12345.678, "1.234568E+04"),
            ("%.2e", 0.00012, "1.20e-04"),
            ("%g", 0.0001, "0.0001"),
            ("%g", 0.00001, "1e-05"),
            ("%g", 100_000.0, "100000"),
            ("%g", 1e6, "1e+06"),
            ("%G", 1e-10, "1E-10"),
            ("%#g", 1.5, "1.50000"),
            ("%.3g", 999.9, "1e+03"),
            ("%g", 0.0, "0"),
            ("%06f", f64::INFINITY, "   inf"),
            ("%F", f64::NEG_INFINITY, "-INF"),
            ("%+f", f64::NAN, "+nan"),
        ] {
            check(format, f64::to_bits(value), expected);
        }
        let long = pieces("%.70000f").expect("a format");
        assert!(matches!(&long[1], Piece::Conversion(c) if c.number(0).len() == 2 + WIDEST));
    }

    #[test]
    fn unknown_conversions() {
        for (format, unknown) in
            [("%", "%"), ("a %q b", "%q"), ("%5.3", "%5.3"), ("%*d", "%*"), ("%n", "%n"), ("%é", "%é")]
        {
            check(format, 0, &format!("unknown: {unknown}"));
        }
    }
}
