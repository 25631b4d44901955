"""Makes `text_direction.safetensors` of PP-OCR's text-direction classifier, a MobileNetV3 of 53 convolutions.

    python -m pip install numpy onnx onnxruntime safetensors
    python -m pip download --no-deps rapidocr-onnxruntime==1.4.4
    python convert.py rapidocr_onnxruntime-1.4.4-py3-none-any.whl text_direction.safetensors

Its weights are PaddlePaddle's, under the Apache License 2.0. Batch norms are folded into the convolutions, and the hard sigmoid's 0.2 x + 0.5 into those
before it; filters become [K, R, S, C], depthwise ones [R, S, 1, K]. The file has eight images, and the logits that onnxruntime finds for them.
"""

import sys
import zipfile

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper
from safetensors.numpy import save_file

MODEL = "rapidocr_onnxruntime/models/ch_ppocr_mobile_v2.0_cls_infer.onnx"


def weights(graph):
    values = {node.output[0]: numpy_helper.to_array(node.attribute[0].t) for node in graph.node if node.op_type == "Constant"}
    of_output = {node.input[0]: node for node in graph.node if node.op_type in ("BatchNormalization", "Add")}
    tensors = {"fc.w": values["fc_0.w_0"], "fc.b": values["fc_0.b_0"]}
    for conv in (node for node in graph.node if node.op_type == "Conv"):
        name, w = conv.input[1].removesuffix("_weights"), values[conv.input[1]].astype(np.float64)
        after = of_output[conv.output[0]]
        if after.op_type == "BatchNormalization":
            scale, offset, mean, variance = (values[each].astype(np.float64) for each in after.input[1:])
            scale = scale / np.sqrt(variance + after.attribute[0].f)
            w, b = w * scale[:, None, None, None], offset - mean * scale
        else:
            b = values[name + "_offset"].astype(np.float64)
        if name.endswith("_se_2"):
            w, b = 0.2 * w, 0.2 * b + 0.5
        tensors[name + ".w"] = w.transpose(2, 3, 1, 0) if name.endswith("depthwise") else w.transpose(0, 2, 3, 1)
        tensors[name + ".b"] = b
    return {name: np.ascontiguousarray(of, np.float32) for name, of in tensors.items()}


def main(wheel, path):
    model = onnx.load_from_string(zipfile.ZipFile(wheel).read(MODEL))
    tensors = weights(model.graph)
    x = np.random.default_rng(1).uniform(-1, 1, (8, 3, 48, 192)).astype(np.float32)
    logits = next(node.input[0] for node in model.graph.node if node.op_type == "Softmax")
    model.graph.output.append(onnx.helper.make_tensor_value_info(logits, onnx.TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    save_file(tensors | {"images": x, "logits": session.run([logits], {"x": x})[0]}, path)


if __name__ == "__main__":
    main(*sys.argv[1:])
