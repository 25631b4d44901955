//! The number of programs of a launch.

use crate::error::{Error, Result};

/// The most programs along each axis, whatever the device: CUDA's limits.
const LIMITS: [u32; 3] = [i32::MAX as u32, 65535, 65535];

/// The number of programs along x, y and z: from an integer, a pair or a triple of `i32`, `u32`, `i64`, `u64` or `usize`.
///
/// ```
/// use triton_runtime::Grid;
///
/// let rows: usize = 100;
/// assert_eq!(Grid::from(7), Grid::from((7, 1, 1)));
/// assert_eq!(Grid::from((rows.div_ceil(64), 3)), Grid::from([2, 3, 1]));
/// ```
///
/// Numbers that no device can run are reported by the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid([i64; 3]);

/// The size of a grid along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSize(i64);

macro_rules! sizes {
    ($($int:ty),*) => {$(
        impl From<$int> for GridSize {
            #[inline]
            fn from(size: $int) -> GridSize {
                // Only positive numbers can be too large, and both ends are errors at the launch.
                GridSize(i64::try_from(size).unwrap_or(i64::MAX))
            }
        }

        impl From<$int> for Grid {
            #[inline]
            fn from(x: $int) -> Grid {
                Grid([GridSize::from(x).0, 1, 1])
            }
        }
    )*};
}

sizes!(i32, u32, i64, u64, usize);

impl<X: Into<GridSize>, Y: Into<GridSize>> From<(X, Y)> for Grid {
    #[inline]
    fn from((x, y): (X, Y)) -> Grid {
        Grid([x.into().0, y.into().0, 1])
    }
}

impl<X: Into<GridSize>, Y: Into<GridSize>, Z: Into<GridSize>> From<(X, Y, Z)> for Grid {
    #[inline]
    fn from((x, y, z): (X, Y, Z)) -> Grid {
        Grid([x.into().0, y.into().0, z.into().0])
    }
}

impl<T: Into<GridSize>> From<[T; 3]> for Grid {
    #[inline]
    fn from(sizes: [T; 3]) -> Grid {
        Grid(sizes.map(|size| size.into().0))
    }
}

impl Grid {
    /// The sizes along x, y and z.
    ///
    /// # Errors
    /// [`Error::Grid`] if one is negative or above the limit: 2³¹ − 1 along x, 65535 along y and z.
    #[inline]
    pub fn dims(self) -> Result<[u32; 3]> {
        self.fitting().ok_or_else(|| self.not_a_grid(""))
    }

    /// The same of a launch of a kernel, which an error names.
    #[inline]
    pub(crate) fn dims_of(self, kernel: &str) -> Result<[u32; 3]> {
        self.fitting().ok_or_else(|| self.not_a_grid(kernel))
    }

    /// The sizes along x, y and z, if they are within the limits.
    #[inline]
    pub(crate) fn fitting(self) -> Option<[u32; 3]> {
        let [x, y, z] = [0, 1, 2].map(|i| self.fits(i));
        // All numbers at once: an array that is filled one by one and then read whole stalls a launch.
        if x && y && z { Some(self.0.map(|size| size as u32)) } else { None }
    }

    /// Whether the size along an axis is within its limit.
    #[inline]
    fn fits(self, axis: usize) -> bool {
        (0..=i64::from(LIMITS[axis])).contains(&self.0[axis])
    }

    #[cold]
    fn not_a_grid(self, kernel: &str) -> Error {
        let i = (0..3).find(|&i| !self.fits(i)).unwrap_or(0);
        let (axis, found, limit) = (['x', 'y', 'z'][i], self.0[i], LIMITS[i]);
        let expected = match (found < 0, i) {
            (true, _) => format!("between 0 and {limit}"),
            (false, 0) => format!("at most {limit}: let each program do more"),
            (false, _) => format!(
                "at most {limit}: launch all programs along x, which may have {}, and compute the index along {axis} from `program_id(0)` by `/` and `%`",
                LIMITS[0]
            ),
        };
        Error::Grid { kernel: kernel.to_owned(), axis, found, expected }
    }
}
