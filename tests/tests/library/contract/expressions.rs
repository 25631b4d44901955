//! Every expression of two operands and four letters, and longer ones.

use super::{Options, Order, one};
use crate::harness::{Case, Random, Scalar, type_name};
use triton::{bf16, f16};
use triton_kernels::FloatElement;

/// Which operands have a letter: x, y and z.
const KINDS: [[bool; 3]; 6] = [
    [true, false, false],
    [false, true, false],
    [true, true, false],
    [true, false, true],
    [false, true, true],
    [true, true, true],
];

const LETTERS: [char; 4] = ['a', 'b', 'c', 'd'];

pub(super) fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    four_letters(&mut cases);
    longer(&mut cases);
    cases
}

/// One case of a type, in turns.
fn push(cases: &mut Vec<Case>, turn: usize, text: &str, extents: &[(char, usize)], options: Options) {
    fn of<T: FloatElement + Scalar>(text: &str, extents: &[(char, usize)], options: Options) -> Case {
        let (text, extents) = (text.to_string(), extents.to_vec());
        let Options { alpha, beta, orders, .. } = options;
        let all: Vec<String> = extents.iter().map(|(letter, extent)| format!("{letter}{extent}")).collect();
        let all = all.join(" ");
        let title = format!("contract {} {text} {all} {orders:?} alpha {alpha} beta {beta}", type_name::<T>());
        Case::new(title, move |stream, random| one::<T>(stream, random, &text, &extents, &options))
    }
    cases.push(match turn % 3 {
        0 => of::<f32>(text, extents, options),
        1 => of::<bf16>(text, extents, options),
        _ => of::<f16>(text, extents, options),
    });
}

/// Options in turns.
fn options(turn: usize) -> Options {
    let order = |turn: usize| Order::ALL[turn % 5];
    let (alpha, beta) = [(1.0, 0.0), (0.5, 0.0), (1.0, 1.0), (-2.0, 0.5)][turn / 2 % 4];
    let orders = [order(turn), order(turn / 5 + turn), order(turn / 3)];
    Options { alpha, beta, orders, deterministic: turn.is_multiple_of(7), ..Options::PLAIN }
}

/// All ways in which up to four letters are of x, y and z, axes in some order each, extents in turns.
fn four_letters(cases: &mut Vec<Case>) {
    // The same each time, so that names are.
    let mut random = Random::with_seed(1);
    let mut turn = 0;
    for round in 0..2 {
        for count in 0..=4usize {
            for number in 0..6usize.pow(count as u32) {
                let kinds: Vec<[bool; 3]> = (0..count).map(|i| KINDS[number / 6usize.pow(i as u32) % 6]).collect();
                // The second time some.
                if round == 1 && !number.is_multiple_of(3) {
                    continue;
                }
                let mut text = String::new();
                for operand in 0..3 {
                    let of = |(letter, kind): (&char, &[bool; 3])| kind[operand].then_some(*letter);
                    let mut letters: Vec<char> = LETTERS.iter().zip(&kinds).filter_map(of).collect();
                    random.shuffle(&mut letters);
                    text.extend(letters);
                    text += [",", "->", ""][operand];
                }
                let mut has_large = false;
                let extents: Vec<(char, usize)> = LETTERS[..count]
                    .iter()
                    .zip(&kinds)
                    .map(|(letter, kind)| {
                        let extent = [1, 2, 3, 17][random.usize(..4)];
                        // Of batches, whose programs have a tile each, one is large at most.
                        let is_large = extent == 17 && kind[2];
                        let extent = if is_large && has_large && random.usize(..3) > 0 { 2 } else { extent };
                        has_large |= is_large;
                        (*letter, extent)
                    })
                    .collect();
                push(cases, turn, &text, &extents, options(turn + number));
                turn += 1;
            }
        }
    }
}

/// Several letters that are summed over, ranks up to eight, diagonals, letters of one operand, extents of 0.
fn longer(cases: &mut Vec<Case>) {
    let of = |text: &'static str, extents: &'static [usize]| (text, extents);
    let list = [
        // Four-index transformations and coupled-cluster terms, as the literature has them.
        of("icaq,qbjk->abcijk", &[3, 4, 5, 7, 2, 3, 4]),
        of("kiaq,bcjq->abcijk", &[4, 3, 5, 7, 3, 2, 2]),
        of("aq,bq->ab", &[33, 7, 65]),
        of("qa,bq->ab", &[7, 65, 33]),
        of("abcd,ebfd->aecf", &[3, 4, 5, 6, 7, 2]),
        of("abcd,dcef->abef", &[5, 6, 3, 4, 7, 2]),
        of("abcde,cfbg->afdeg", &[3, 4, 5, 2, 6, 3, 7]),
        // More axes of K than tiles are of, in orders that do not merge.
        of("abcdi,dbcaj->ij", &[3, 4, 2, 5, 9, 8]),
        of("aibcjd,dkcab->ikj", &[2, 7, 3, 4, 5, 6, 9]),
        of("abcdei,edcbaj->ij", &[2, 3, 2, 3, 4, 17, 5]),
        // More axes of the output than the kernel is passed as numbers.
        of("abcdefg,h->gfhedcba", &[2, 3, 2, 3, 2, 2, 3, 4]),
        of("abcdefk,kgh->hfgdbeac", &[2, 2, 3, 2, 3, 2, 5, 3, 2]),
        of("abcdefgh,habcdefg->gfedcba", &[2, 2, 2, 3, 2, 2, 2, 3]),
        // Batches.
        of("bik,bkj->bij", &[5, 33, 9, 17]),
        of("ibk,kjb->bij", &[33, 5, 9, 17]),
        of("abik,jkba->abij", &[2, 3, 17, 20, 18]),
        of("abik,jkba->jbai", &[3, 2, 17, 20, 18]),
        of("abc,abc->abc", &[3, 17, 5]),
        of("abc,cab->bca", &[17, 3, 5]),
        // Vectors and scalars.
        of(",->", &[]),
        of("i,->i", &[70]),
        of("i,i->", &[300]),
        of("i,j->ij", &[70, 33]),
        of("i,j->ji", &[70, 33]),
        of(",ij->ji", &[70, 33]),
        of("abcd,d->abc", &[3, 4, 5, 17]),
        of("abcd,b->dac", &[3, 4, 5, 17]),
        of("abc,cba->", &[5, 6, 7]),
        // Diagonals.
        of("ii,->i", &[9]),
        of("ii,->", &[9]),
        of("iik,kj->ij", &[6, 17, 5]),
        of("kik,jkj->ij", &[5, 9, 4]),
        of("iii,ii->i", &[7]),
        // Sums of one operand.
        of("abs,bt->a", &[5, 6, 4, 3]),
        of("as,bt->ba", &[5, 4, 6, 3]),
        of("sa,->a", &[19, 7]),
        // An extent of 0: of the output, and of what is summed.
        of("ik,kj->ij", &[0, 4, 5]),
        of("ik,kj->ij", &[3, 0, 5]),
        of("abk,kbc->cab", &[3, 0, 4, 5]),
        of("ackl,lbkd->cbad", &[3, 5, 0, 4, 7, 2]),
        of("ab,b->a", &[0, 0]),
        // Spaces, and letters that are not of the alphabet.
        of(" ik , k j -> i j ", &[5, 6, 7]),
        of("αβγ,γδ->αδβ", &[5, 6, 7, 3]),
    ];
    for (i, (text, sizes)) in list.into_iter().enumerate() {
        let mut letters: Vec<char> = Vec::new();
        for letter in text.chars().filter(|c| c.is_alphabetic()) {
            if !letters.contains(&letter) {
                letters.push(letter);
            }
        }
        let extents: Vec<(char, usize)> = letters.into_iter().zip(sizes.iter().copied()).collect();
        for turn in 0..6 {
            push(cases, turn, text, &extents, options(i * 5 + turn * 3));
        }
    }
}
