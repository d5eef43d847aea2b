"""Writer of whisper models in ggml's older format, with random weights, and of a sound.

The vocabulary has the size of the English models, because whisper.cpp has the numbers of its special tokens built in. Each word is the
number of its token, so that a transcript shows them."""
import math
import pathlib
import random
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "llama_cpp"))
import gguf  # noqa: E402

MAGIC = 0x67676D6C
WORDS, SPECIAL = 50257, 51864  # words with a text, and all tokens
FILE_TYPES = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9}
FFT = 201  # frequencies of a filter


def attention(at, cross=False):
    """(name, role) of one attention's tensors: it has no bias for its keys."""
    at += ".cross_attn" if cross else ".attn"
    return [(f"{at}_ln.weight", "norm"), (f"{at}_ln.bias", "bias"), (f"{at}.query.weight", "square"), (f"{at}.query.bias", "bias"),
            (f"{at}.key.weight", "square"), (f"{at}.value.weight", "square"), (f"{at}.value.bias", "bias"),
            (f"{at}.out.weight", "square"), (f"{at}.out.bias", "bias")]


def block(at, cross):
    names = [(f"{at}.mlp_ln.weight", "norm"), (f"{at}.mlp_ln.bias", "bias"), (f"{at}.mlp.0.weight", "widen"), (f"{at}.mlp.0.bias", "wide bias"),
             (f"{at}.mlp.2.weight", "narrow"), (f"{at}.mlp.2.bias", "bias")]
    return names + attention(at) + (attention(at, True) if cross else [])


def whisper(kind, seed=1, width=128, heads=2, layers=4, audio=64, text=64, mels=80, wrong=False):
    """Bytes of a model whose matrices have one type. wrong: a block of the decoder has other weights in one matrix."""
    rng = random.Random(seed)
    out = bytearray(struct.pack("<I11i", MAGIC, SPECIAL, audio, width, heads, layers, text, width, heads, layers, mels, FILE_TYPES[kind]))
    out += struct.pack("<ii", mels, FFT) + struct.pack(f"<{mels * FFT}f", *(max(0.0, 1 - abs(f - 2.5 * m) / 4) for m in range(mels) for f in range(FFT)))
    out += struct.pack("<i", WORDS)
    for word in range(WORDS):
        name = b" " if word == 220 else f" {word}".encode()  # whisper.cpp looks for the word of a space
        out += struct.pack("<I", len(name)) + name

    def add(name, of, sizes, content):
        coded = name.encode()
        out.extend(struct.pack("<iii", len(sizes), len(coded), gguf.TYPES[of][0]) + struct.pack(f"<{len(sizes)}i", *sizes) + coded + content)

    def floats(name, sizes, low, high):
        add(name, "F32", sizes, struct.pack(f"<{math.prod(sizes)}f", *(rng.uniform(low, high) for _ in range(math.prod(sizes)))))

    def matrix(name, of, sizes, spread):
        add(name, of, sizes, gguf.weights(rng, of, math.prod(sizes), spread))

    plain = "F32" if kind == "F32" else "F16"
    floats("encoder.positional_embedding", [width, audio], -1, 1)
    matrix("encoder.conv1.weight", plain, [3, mels, width], (3 * mels) ** -0.5)
    floats("encoder.conv1.bias", [1, width], -0.1, 0.1)
    matrix("encoder.conv2.weight", plain, [3, width, width], (3 * width) ** -0.5)
    floats("encoder.conv2.bias", [1, width], -0.1, 0.1)
    floats("encoder.ln_post.weight", [width], 0.5, 1.5)
    floats("encoder.ln_post.bias", [width], -0.1, 0.1)
    floats("decoder.positional_embedding", [width, text], -1, 1)
    # Small, because the same matrix gives the logits: a large one would repeat the last token.
    matrix("decoder.token_embedding.weight", kind, [width, SPECIAL], 0.2)
    floats("decoder.ln.weight", [width], 0.5, 1.5)
    floats("decoder.ln.bias", [width], -0.1, 0.1)
    shapes = {"square": [width, width], "widen": [width, 4 * width], "narrow": [4 * width, width]}
    for system, cross in (("encoder", False), ("decoder", True)):
        for layer in range(layers):
            for name, role in block(f"{system}.blocks.{layer}", cross):
                if role in shapes:
                    content = gguf.weights(rng, kind, math.prod(shapes[role]), 0.7 * shapes[role][0] ** -0.5)
                    if wrong and name == "decoder.blocks.2.mlp.0.weight":
                        content = gguf.weights(random.Random(99), kind, math.prod(shapes[role]), 0.7 * shapes[role][0] ** -0.5)
                    add(name, kind, shapes[role], content)
                elif role == "norm":
                    floats(name, [width], 0.5, 1.5)
                else:
                    floats(name, [4 * width if role == "wide bias" else width], -0.1, 0.1)
    return bytes(out)


def sound(seconds=2.0, rate=16000):
    """A WAV file: three tones that rise, with noise, from a fixed seed."""
    rng = random.Random(3)
    tones = ((220, 0.2), (640, 0.15), (1810, 0.1))
    samples = [int(32767 * (sum(size * math.sin(2 * math.pi * tone * (1 + 0.2 * n / rate) * n / rate) for tone, size in tones)
                            + rng.uniform(-0.05, 0.05))) for n in range(int(seconds * rate))]
    data = struct.pack(f"<{len(samples)}h", *samples)
    head = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" + struct.pack("<I", len(data))
    return b"RIFF" + struct.pack("<I", len(head) + len(data)) + head + data
