#!/usr/bin/env python3
"""Writes what the example `voice_detector` reads: `python3 convert.py FOLDER`.

The detector is Silero VAD (https://github.com/snakers4/silero-vad), Copyright (c) 2020-present Silero Team, MIT licence; the Python package
`silero-vad` has it as an ONNX file. `pip install onnx onnxruntime numpy safetensors` is what this program needs beside; the package itself is
downloaded without what it depends on, and unpacked.

`weights.safetensors` has the weights, those of convolutions as [filters, taps, channels]; `reference.safetensors` a recording of vowels that
is computed, and the probability of speech of each of its chunks by onnxruntime.
"""

import pathlib
import subprocess
import sys
import tempfile
import zipfile

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import save_file

VERSION = "6.2.3"
RATE, CHUNK, CONTEXT, CHUNKS = 16000, 512, 64, 30
NAMES = {
    "model.stft.forward_basis_buffer": "stft.weight",
    "model.decoder.rnn.weight_ih": "lstm.weight_ih",
    "model.decoder.rnn.weight_hh": "lstm.weight_hh",
    "model.decoder.rnn.bias_ih": "lstm.bias_ih",
    "model.decoder.rnn.bias_hh": "lstm.bias_hh",
    "model.decoder.decoder.2.weight": "decoder.weight",
    "model.decoder.decoder.2.bias": "decoder.bias",
}
NAMES |= {f"model.encoder.{i}.reparam_conv.{of}": f"encoder.{i}.{of}" for i in range(4) for of in ("weight", "bias")}


def network():
    """The ONNX file of the package."""
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", folder, f"silero-vad=={VERSION}"]
        subprocess.run(pip, check=True)
        (wheel,) = pathlib.Path(folder).glob("*.whl")
        return zipfile.ZipFile(wheel).read("silero_vad/data/silero_vad_16k_op15.onnx")


def weights(model):
    """Its weights, by the names of the example."""
    arrays = {of.name: onnx.numpy_helper.to_array(of) for of in onnx.load_from_string(model).graph.initializer}
    for name, to in NAMES.items():
        array = arrays[name]
        if to == "decoder.weight":
            array = array[:, :, 0]
        elif array.ndim == 3:
            array = array.transpose(0, 2, 1)
        yield to, np.ascontiguousarray(array)


def recording():
    """Vowels: harmonics of a pitch that moves, with formants, in syllables; noise before and between them."""
    random, t = np.random.default_rng(1), np.arange(CHUNKS * CHUNK) / RATE
    pitch = 120 + 30 * np.sin(2 * np.pi * 1.5 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    vowels, which = [(700, 1220, 2600), (300, 2300, 3000), (500, 900, 2400)], (4 * t).astype(int) % 3
    voice = np.zeros_like(t)
    for k in range(1, 40):
        gains = [sum(1 / (1 + ((k * pitch - f) / (60 + 0.06 * f)) ** 2) for f in vowel) for vowel in vowels]
        voice += np.choose(which, gains) * np.sin(k * phase)
    syllable = np.sqrt(np.sin(np.pi * (t % 0.5) / 0.35).clip(0)) * (t % 0.5 < 0.35) * (t > 5 * CHUNK / RATE)
    return (0.15 * voice * syllable + 0.002 * random.standard_normal(t.shape)).astype(np.float32)


def probabilities(model, samples):
    """What onnxruntime says of each chunk."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    state, heard = np.zeros((2, 1, 128), np.float32), np.concatenate([np.zeros(CONTEXT, np.float32), samples])
    for at in range(0, len(samples), CHUNK):
        inputs = {"input": heard[None, at : at + CONTEXT + CHUNK], "state": state, "sr": np.array(RATE)}
        speech, state = session.run(None, inputs)
        yield speech[0, 0]


def main():
    folder, model, samples = pathlib.Path(sys.argv[1]), network(), recording()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(dict(weights(model)), folder / "weights.safetensors")
    speech = np.array(list(probabilities(model, samples)), np.float32)
    save_file({"recording": samples, "probabilities": speech}, folder / "reference.safetensors")
    print(np.round(speech, 3))


if __name__ == "__main__":
    main()
