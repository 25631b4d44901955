"""cuBLASLt by its C interface: every algorithm that its heuristic offers for a product, each of which can be run.

`torch.matmul` takes the first one. Numbers of enumerations are those of `cublasLt.h`, `cublas_api.h` and `library_types.h`; they are
part of the library's binary interface. Nothing here needs PyTorch: operands are addresses.
"""

import ctypes

# The first that loads is taken; PyTorch has loaded the one that it was built for.
NAMES = ("libcublasLt.so.13", "libcublasLt.so.12")

# cudaDataType_t
R_32F, R_64F, R_16F, R_16BF = 0, 1, 2, 14

# cublasComputeType_t. 32F does not round operands to TF32: that is another number.
COMPUTE_32F, COMPUTE_64F = 68, 70

# Of each element type: that of matrices, of sums, of α and β, and the last one in C.
TYPES = {
    "f32": (R_32F, COMPUTE_32F, R_32F, ctypes.c_float),
    "f16": (R_16F, COMPUTE_32F, R_32F, ctypes.c_float),
    "bf16": (R_16BF, COMPUTE_32F, R_32F, ctypes.c_float),
    "f64": (R_64F, COMPUTE_64F, R_64F, ctypes.c_double),
}

# cublasOperation_t
OP_N, OP_T = 0, 1

# cublasLtMatmulDescAttributes_t, of 4 bytes each
DESC_TRANSA, DESC_TRANSB = 3, 4

# cublasLtMatmulPreferenceAttributes_t, of 8 bytes
PREF_MAX_WORKSPACE_BYTES = 1

# Algorithms that the heuristic is asked for.
REQUESTED = 64

# Bytes of the workspace that they may use.
WORKSPACE = 64 << 20

# cublasStatus_t
STATUS = {
    1: "NOT_INITIALIZED",
    3: "ALLOC_FAILED",
    7: "INVALID_VALUE",
    8: "ARCH_MISMATCH",
    11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED",
    14: "INTERNAL_ERROR",
    15: "NOT_SUPPORTED",
    16: "LICENSE_ERROR",
}


class Heuristic(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t, whose first field is a cublasLtMatmulAlgo_t."""

    _fields_ = [
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("status", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    ]


HANDLE, NUMBER, SIZE, DOUBLE_POINTER = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.POINTER(ctypes.c_void_p)

# Parameters of the functions, which all return a cublasStatus_t.
FUNCTIONS = {
    "cublasLtCreate": [DOUBLE_POINTER],
    "cublasLtMatmulDescCreate": [DOUBLE_POINTER, NUMBER, NUMBER],
    "cublasLtMatmulDescSetAttribute": [HANDLE, NUMBER, HANDLE, SIZE],
    "cublasLtMatrixLayoutCreate": [DOUBLE_POINTER, NUMBER, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int64],
    "cublasLtMatmulPreferenceCreate": [DOUBLE_POINTER],
    "cublasLtMatmulPreferenceSetAttribute": [HANDLE, NUMBER, HANDLE, SIZE],
    # The handle, the product, layouts of A, B, C and D, the preference, how many, the results, how many there are.
    "cublasLtMatmulAlgoGetHeuristic": [HANDLE] * 7 + [NUMBER, ctypes.POINTER(Heuristic), ctypes.POINTER(NUMBER)],
    # The handle, the product, α, A, B, β, C, D each with its layout, the algorithm, the workspace, its bytes, the stream.
    "cublasLtMatmul": [HANDLE] * 14 + [SIZE, HANDLE],
}


def described(case):
    """A product of row-major matrices in the words of a library of column-major ones.

    What is stored [r, c] row by row is the c × r matrix stored column by column, its transpose. So the library computes
    outᵀ = yᵀ · xᵀ, and y comes first. Of each operand: whether the library transposes it, its rows and columns as they are
    stored, and the elements from one column to the next; of the result the last three.
    """
    m, n, k = case["shape"]
    y = (OP_T, k, n, k) if case["layouts"] in ("NT", "TT") else (OP_N, n, k, n)
    x = (OP_T, m, k, m) if case["layouts"] in ("TN", "TT") else (OP_N, k, m, k)
    return y, x, (n, m, n)


def check(status, function):
    if status != 0:
        raise RuntimeError(f"{function}: {STATUS.get(status, 'status')} ({status})")


class Library:
    """The library and its handle, for the current device."""

    def __init__(self, functions):
        """`functions` has those of `FUNCTIONS`, and `cublasLtGetVersion`."""
        self.functions = functions
        for name, parameters in FUNCTIONS.items():
            function = getattr(functions, name)
            function.argtypes, function.restype = parameters, NUMBER
        functions.cublasLtGetVersion.restype = SIZE
        self.handle = self.created("cublasLtCreate")

    @staticmethod
    def load(names=NAMES):
        """The first library that loads. If none does, that is an error with the reason of each."""
        reasons = []
        for name in names:
            try:
                return Library(ctypes.CDLL(name))
            except (OSError, AttributeError, RuntimeError) as error:
                reasons.append(str(error) if name in str(error) else f"{name}: {error}")
        raise RuntimeError("; ".join(reasons))

    def version(self):
        return str(self.functions.cublasLtGetVersion())

    def call(self, name, *arguments):
        check(getattr(self.functions, name)(*arguments), name)

    def created(self, name, *arguments):
        """What a function makes, whose first parameter says where to put it."""
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made


class Product:
    """A case on operands, and the algorithms that the heuristic offers for it."""

    def __init__(self, library, case, operands, workspace, stream):
        """`operands` are the addresses of x, y and out, `workspace` an address and its bytes, `stream` a function that returns the
        stream on which to run now."""
        self.library, self.workspace, self.stream = library, workspace, stream
        self.x, self.y, self.out = operands
        of_matrices, of_sums, of_scale, scale = TYPES[case["dtype"]]
        self.one, self.zero = scale(1), scale(0)
        y, x, out = described(case)
        self.product = library.created("cublasLtMatmulDescCreate", of_sums, of_scale)
        for attribute, operation in ((DESC_TRANSA, y[0]), (DESC_TRANSB, x[0])):
            value = ctypes.c_int32(operation)
            library.call("cublasLtMatmulDescSetAttribute", self.product, attribute, ctypes.byref(value), 4)
        create = "cublasLtMatrixLayoutCreate"
        self.layouts = [library.created(create, of_matrices, *sizes) for sizes in (y[1:], x[1:], out)]
        self.algorithms = self.offered()

    def offered(self):
        """Those that the heuristic offers, the one that it holds for the fastest first."""
        preference = self.library.created("cublasLtMatmulPreferenceCreate")
        limit = ctypes.c_uint64(self.workspace[1])
        self.library.call(
            "cublasLtMatmulPreferenceSetAttribute", preference, PREF_MAX_WORKSPACE_BYTES, ctypes.byref(limit), 8
        )
        results, count = (Heuristic * REQUESTED)(), ctypes.c_int()
        a, b, c = self.layouts
        self.library.call(
            "cublasLtMatmulAlgoGetHeuristic", self.library.handle, self.product, a, b, c, c, preference, REQUESTED,
            results, ctypes.byref(count),
        )
        return [result for result in results[: count.value] if result.status == 0]

    def run(self, index):
        """Enqueues the product by one of the algorithms."""
        a, b, c = self.layouts
        self.library.call(
            "cublasLtMatmul", self.library.handle, self.product, ctypes.byref(self.one), self.y, a, self.x, b,
            ctypes.byref(self.zero), self.out, c, self.out, c, ctypes.byref(self.algorithms[index].algorithm),
            self.workspace[0], self.workspace[1], self.stream(),
        )
