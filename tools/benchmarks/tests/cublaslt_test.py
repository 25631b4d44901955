"""Tests of `cublaslt.py` with a library in Python in place of cuBLASLt, which multiplies column-major matrices in memory.

Run by `tests/peers.rs`, or by `python3 tools/benchmarks/tests/cublaslt_test.py`.
"""

import ctypes
import pathlib
import sys
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import cublaslt

ELEMENTS = {cublaslt.R_32F: ctypes.c_float, cublaslt.R_64F: ctypes.c_double}


def at(reference):
    """What `ctypes.byref` refers to."""
    return reference._obj


class Fake:
    """Handles are numbers; `made` has what each stands for."""

    def __init__(self, offered=((0, 0), (1, 0), (2, 15)), versions=130100):
        self.made, self.offered, self.stream = {}, offered, None
        self.requested = self.limit = None
        for name in cublaslt.FUNCTIONS:
            setattr(self, name, self.function(name))
        self.cublasLtGetVersion = lambda: versions

    def function(self, name):
        """A function, unlike a method, takes attributes; so does one of a library."""
        method = getattr(Fake, name)
        return lambda *arguments: method(self, *arguments)

    def make(self, handle, what):
        number = len(self.made) + 1
        self.made[number] = what
        at(handle).value = number
        return 0

    def cublasLtCreate(self, handle):
        return self.make(handle, "handle")

    def cublasLtMatmulDescCreate(self, handle, sums, scale):
        return self.make(handle, {"sums": sums, "scale": scale})

    def cublasLtMatmulDescSetAttribute(self, handle, attribute, value, size):
        assert size == ctypes.sizeof(at(value)) == 4
        self.made[handle.value][attribute] = at(value).value
        return 0

    def cublasLtMatrixLayoutCreate(self, handle, dtype, rows, columns, apart):
        return self.make(handle, (dtype, rows, columns, apart))

    def cublasLtMatmulPreferenceCreate(self, handle):
        return self.make(handle, "preference")

    def cublasLtMatmulPreferenceSetAttribute(self, handle, attribute, value, size):
        assert self.made[handle.value] == "preference" and attribute == 1 and size == ctypes.sizeof(at(value)) == 8
        self.limit = at(value).value
        return 0

    def cublasLtMatmulAlgoGetHeuristic(self, handle, product, a, b, c, d, preference, requested, results, count):
        assert self.made[handle.value] == "handle" and c.value == d.value
        self.requested = requested
        for result, (number, status) in zip(results, self.offered):
            result.algorithm[0], result.status = number, status
        at(count).value = len(self.offered)
        return 0

    def cublasLtMatmul(
        self, handle, product, alpha, a, layout_a, b, layout_b, beta, c, layout_c, d, layout_d, algorithm, workspace, size,
        stream,
    ):
        if at(algorithm)[0] == 1:
            return 13
        assert (c, layout_c.value) == (d, layout_d.value)
        self.stream = stream
        product = self.made[product.value]
        scale = {cublaslt.R_32F: ctypes.c_float, cublaslt.R_64F: ctypes.c_double}[product["scale"]]
        assert isinstance(at(alpha), scale) and (at(alpha).value, at(beta).value) == (1, 0)
        left = self.matrix(a, layout_a, product[cublaslt.DESC_TRANSA])
        right = self.matrix(b, layout_b, product[cublaslt.DESC_TRANSB])
        dtype, rows, columns, apart = self.made[layout_c.value]
        out = (ELEMENTS[dtype] * (apart * columns)).from_address(c)
        assert len(left) == rows and len(right[0]) == columns and len(left[0]) == len(right)
        for i in range(rows):
            for j in range(columns):
                out[i + j * apart] = sum(left[i][k] * right[k][j] for k in range(len(right)))
        return 0

    def matrix(self, address, layout, operation):
        """Rows of a column-major matrix, transposed if the operation says so."""
        dtype, rows, columns, apart = self.made[layout.value]
        values = (ELEMENTS[dtype] * (apart * columns)).from_address(address)
        stored = [[values[i + j * apart] for j in range(columns)] for i in range(rows)]
        return [list(row) for row in zip(*stored)] if operation == cublaslt.OP_T else stored


def case_of(layouts, dtype, shape=(2, 3, 4)):
    return {"shape": list(shape), "layouts": layouts, "dtype": dtype}


class Products(unittest.TestCase):
    def test_structures_have_the_size_that_c_gives_them(self):
        self.assertEqual(ctypes.sizeof(cublaslt.Heuristic), 96)
        self.assertEqual(cublaslt.Heuristic.workspace.offset, 64)
        self.assertEqual(cublaslt.Heuristic.status.offset, 72)

    def test_row_major_operands_in_every_order(self):
        m, n, k = 2, 3, 4
        x = [[i * k + j + 1 for j in range(k)] for i in range(m)]
        y = [[(i * n + j) % 5 - 2 for j in range(n)] for i in range(k)]
        expected = [sum(x[i][l] * y[l][j] for l in range(k)) for i in range(m) for j in range(n)]
        for dtype, element in (("f32", ctypes.c_float), ("f64", ctypes.c_double)):
            for layouts in ("NN", "NT", "TN", "TT"):
                stored_x = [x[i][l] for l in range(k) for i in range(m)] if layouts[0] == "T" else sum(x, [])
                stored_y = [y[l][j] for j in range(n) for l in range(k)] if layouts[1] == "T" else sum(y, [])
                operands = [(element * len(v))(*v) for v in (stored_x, stored_y, [9] * (m * n))]
                fake = Fake()
                addresses = [ctypes.addressof(operand) for operand in operands]
                product = cublaslt.Product(cublaslt.Library(fake), case_of(layouts, dtype), addresses, (7, 1 << 20), lambda: 5)
                self.assertEqual((fake.requested, fake.limit), (64, 1 << 20))
                product.run(0)
                self.assertEqual(list(operands[2]), expected, (dtype, layouts))
                self.assertEqual(fake.stream, 5)

    def test_halves_are_added_in_single_precision(self):
        for dtype, number in (("f16", 2), ("bf16", 14)):
            fake = Fake()
            cublaslt.Product(cublaslt.Library(fake), case_of("NN", dtype), (1, 2, 3), (7, 1), lambda: 0)
            descriptors = [what for what in fake.made.values() if isinstance(what, dict)]
            layouts = [what for what in fake.made.values() if isinstance(what, tuple)]
            self.assertEqual([(of["sums"], of["scale"]) for of in descriptors], [(68, 0)])
            self.assertEqual(layouts, [(number, 3, 4, 3), (number, 4, 2, 4), (number, 3, 2, 3)])

    def test_algorithms_without_success_are_left_out_and_failures_have_words(self):
        product = cublaslt.Product(cublaslt.Library(Fake()), case_of("NN", "f32"), (1, 2, 3), (7, 1), lambda: 0)
        self.assertEqual([of.algorithm[0] for of in product.algorithms], [0, 1])
        with self.assertRaisesRegex(RuntimeError, r"cublasLtMatmul: EXECUTION_FAILED \(13\)"):
            product.run(1)

    def test_a_heuristic_that_offers_nothing(self):
        library = cublaslt.Library(Fake(offered=()))
        self.assertEqual(cublaslt.Product(library, case_of("NN", "f32"), (1, 2, 3), (7, 1), lambda: 0).algorithms, [])

    def test_no_library(self):
        with self.assertRaisesRegex(RuntimeError, r"libnowhere\.so\.1.*; .*libnowhere\.so\.2"):
            cublaslt.Library.load(("libnowhere.so.1", "libnowhere.so.2"))

    def test_another_library(self):
        with self.assertRaisesRegex(RuntimeError, "cublasLtCreate"):
            cublaslt.Library.load(("libc.so.6",))

    def test_the_version(self):
        self.assertEqual(cublaslt.Library(Fake()).version(), "130100")


if __name__ == "__main__":
    unittest.main()
