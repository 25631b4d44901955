"""Times the convolutions of conv_speed by cuDNN: conv_speed --list | python3 conv_speed.py [--forward] [--implicit]

By its best algorithm, and with --implicit by implicit GEMM alone, which is what the papers compare with: the forward algorithm that computes its indices
ahead, by cuDNN's C interface. Each repetition is timed by events of its own, after the L2 cache was overwritten, as conv_speed does.
"""

import ctypes
import statistics
import sys

import torch

torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = False
torch.backends.cuda.matmul.allow_tf32 = False
flush = torch.empty(1 << 26, dtype=torch.int32, device="cuda")


def milliseconds(run, repetitions=20):
    times = []
    for i in range(repetitions + 3):
        flush.fill_(i)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        run()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times[3:])


class ImplicitGemm:
    """cuDNN's `CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM`."""

    ALGORITHM, CROSS_CORRELATION, FLOAT = 1, 1, 0
    # CUDNN_FMA_MATH for f32: TF32 is off for the best algorithm, too. CUDNN_TENSOR_OP_MATH else.
    KINDS = {torch.float32: (0, 3), torch.bfloat16: (9, 1)}

    def __init__(self):
        self.library = ctypes.CDLL("libcudnn.so.9")
        self.handle = ctypes.c_void_p()
        self.call("cudnnCreate", ctypes.byref(self.handle))

    def call(self, name, *arguments):
        status = getattr(self.library, name)(*arguments)
        if status:
            raise RuntimeError(f"{name}: status {status}")

    def made(self, kind, setter, *arguments):
        descriptor = ctypes.c_void_p()
        self.call(f"cudnnCreate{kind}Descriptor", ctypes.byref(descriptor))
        self.call(setter, descriptor, *arguments)
        return descriptor

    def milliseconds(self, x, w, y, stride, padding):
        """None if cuDNN has no such kernel for the operands."""
        last = int(x.is_contiguous(memory_format=torch.channels_last) and x.shape[1] > 1)
        of, math = self.KINDS[x.dtype]
        of_x, of_y = (self.made("Tensor", "cudnnSetTensor4dDescriptor", last, of, *each.shape) for each in (x, y))
        of_w = self.made("Filter", "cudnnSetFilter4dDescriptor", of, last, *w.shape)
        window = [*padding, stride, stride, 1, 1, self.CROSS_CORRELATION, self.FLOAT]
        convolution = self.made("Convolution", "cudnnSetConvolution2dDescriptor", *window)
        self.call("cudnnSetConvolutionMathType", convolution, math)
        size = ctypes.c_size_t()
        shapes = (self.handle, of_x, of_w, convolution, of_y, self.ALGORITHM)
        try:
            self.call("cudnnGetConvolutionForwardWorkspaceSize", *shapes, ctypes.byref(size))
        except RuntimeError:
            return None
        room = torch.empty(max(size.value, 1), dtype=torch.uint8, device="cuda")
        one, zero = ctypes.c_float(1), ctypes.c_float(0)
        pointer = lambda tensor: ctypes.c_void_p(tensor.data_ptr())
        self.call("cudnnSetStream_v2" if hasattr(self.library, "cudnnSetStream_v2") else "cudnnSetStream", self.handle,
                  ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))

        def run():
            self.call("cudnnConvolutionForward", self.handle, ctypes.byref(one), of_x, pointer(x), of_w, pointer(w),
                      convolution, self.ALGORITHM, pointer(room), size, ctypes.byref(zero), of_y, pointer(y))

        try:
            return milliseconds(run)
        except RuntimeError:
            return None


implicit = ImplicitGemm() if "--implicit" in sys.argv else None
print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, "cuDNN", torch.backends.cudnn.version())
for line in sys.stdin:
    name, *numbers = line.rstrip("\n").split("\t")
    n, h, w, c, k, r, s, stride, down, across = map(int, numbers)
    padding = (down, across)
    for kind, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16)]:
        best = {}
        for order in [torch.channels_last, torch.contiguous_format]:
            x = torch.randn(n, c, h, w, device="cuda", dtype=dtype).to(memory_format=order)
            weight = torch.randn(k, c, r, s, device="cuda", dtype=dtype).to(memory_format=order)
            y = torch.nn.functional.conv2d(x, weight, stride=stride, padding=padding)
            dy = torch.randn_like(y, memory_format=order)
            operations = 2 * y.numel() * c * r * s

            def gradient(mask):
                return torch.ops.aten.convolution_backward(
                    dy, x, weight, None, [stride, stride], list(padding), [1, 1], False, [0, 0], 1, mask
                )

            if implicit:
                found = implicit.milliseconds(x, weight, y, stride, padding)
                if found is not None:
                    best[" implicit"] = min(best.get(" implicit", float("inf")), found)
            runs = {"": lambda: torch.nn.functional.conv2d(x, weight, stride=stride, padding=padding)}
            if "--forward" not in sys.argv:
                runs[" dx"] = lambda: gradient([True, False, False])
                runs[" dw"] = lambda: gradient([False, True, False])
            for what, run in runs.items():
                # The faster of both orders in memory.
                best[what] = min(best.get(what, float("inf")), milliseconds(run))
        for what, found in best.items():
            print(f"{name:7} {kind + what:14} {found * 1e3:9.1f} us {operations / found / 1e9:7.1f} TFLOPS", flush=True)
