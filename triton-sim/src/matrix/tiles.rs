//! The 8×8 matrices of `ldmatrix`, `stmatrix` and `movmatrix`.
//!
//! PTX ISA, "ldmatrix", "stmatrix", "movmatrix", shape `.m8n8` with elements of 16 bits. Register `q` of a thread belongs to
//! matrix `q`; it holds two elements. `stmatrix` is the inverse of `ldmatrix`. `movmatrix.trans` gives every thread, as its
//! elements of the plain map, those of the transposed one.

use super::Fragment;

/// One, two or four matrices of 8×8 elements of 16 bits, which a warp moves together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// How many, which is also the number of registers.
    pub count: u32,
    /// Whether `.trans` is there.
    pub transposed: bool,
}

impl Tiles {
    /// Bytes of a row in shared memory; its address is a multiple of this.
    pub const ROW_BYTES: u32 = 16;

    /// The lane whose address is that of a row of a matrix. Addresses of further lanes are not used.
    pub fn address_lane(matrix: u32, row: u32) -> u32 {
        8 * matrix + row
    }

    /// The rows that lanes give addresses of: (lane, matrix, row).
    pub fn rows(self) -> impl Iterator<Item = (u32, u32, u32)> {
        (0..8 * self.count).map(|lane| (lane, lane / 8, lane % 8))
    }

    /// Which elements of a matrix in shared memory a lane's register holds. Every matrix has the same map.
    pub fn fragment(self) -> Fragment {
        Fragment::operand(8, 8, 2, self.transposed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the PTX ISA: plain, a lane has row `lane / 4`, columns `2 · (lane % 4)` and the next; `.trans` swaps them.
    #[test]
    fn lanes_hold_what_the_figures_say() {
        for lane in 0..32 {
            for half in 0..2 {
                let at = (lane / 4, lane % 4 * 2 + half);
                let plain = Tiles { count: 4, transposed: false }.fragment();
                let transposed = Tiles { count: 1, transposed: true }.fragment();
                assert_eq!(plain.position(lane, half), at);
                assert_eq!(transposed.position(lane, half), (at.1, at.0));
                assert_eq!((plain.registers(), plain.per_register(), plain.extent()), (1, 2, (8, 8)));
            }
        }
    }

    #[test]
    fn eight_lanes_give_the_addresses_of_a_matrix() {
        for count in [1, 2, 4] {
            let rows: Vec<_> = Tiles { count, transposed: false }.rows().collect();
            assert_eq!(rows.len() as u32, 8 * count);
            assert!(
                rows.iter()
                    .all(|&(lane, matrix, row)| Tiles::address_lane(matrix, row) == lane && matrix < count && row < 8)
            );
        }
    }
}
