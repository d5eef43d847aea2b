"""Writer of GGUF files, the container of llama.cpp's models: keys with values, then named tensors.

Tensors hold random weights. For a quantised type they are random blocks: valid ones, with scales that give weights of a known spread.
The CPU and the GPU read the same bytes, so no quantiser of real weights is needed. Only Python's own library is used."""
import array
import math
import random
import struct

MAGIC, VERSION, ALIGNMENT = b"GGUF", 3, 32
UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9


def half(values):
    return struct.pack(f"<{len(values)}e", *values)


def half_one(rng, size):
    """A scale of random size and sign, as 16-bit float."""
    return struct.pack("<e", rng.choice((-1, 1)) * size * rng.uniform(0.8, 1.2))


def f32(rng, count, spread):
    return array.array("f", (rng.uniform(-1.732, 1.732) * spread for _ in range(count))).tobytes()


def f16(rng, count, spread):
    return half([rng.uniform(-1.732, 1.732) * spread for _ in range(count)])


def bf16(rng, count, spread):
    wide = f32(rng, count, spread)
    narrow = bytearray(2 * count)
    narrow[0::2], narrow[1::2] = wide[2::4], wide[3::4]  # the upper half of each 32-bit float
    return bytes(narrow)


def no_offset(levels_spread, after):
    """Blocks of a scale and levels: weight = scale * level, levels around 0. levels_spread: that of the levels; after: bytes of levels."""
    return lambda rng, spread: half_one(rng, spread / levels_spread) + rng.randbytes(after)


def with_offset(levels, after):
    """Blocks of a scale, an offset and levels 0 ... levels - 1: weight = scale * level + offset, with the mean near 0."""
    def block(rng, spread):
        scale = spread / (levels / 12 ** 0.5) * rng.uniform(0.8, 1.2)
        return half([scale, -scale * (levels - 1) / 2]) + rng.randbytes(after)
    return block


def q2_k(rng, spread):
    # 16 scales and offsets of 4 bits each, 64 bytes of levels 0 ... 3. A mean scale and a mean offset are 7.5.
    scale = spread / (1.12 * 7.5 + 1.5 * 4.6)
    return rng.randbytes(16 + 64) + half([scale, 1.5 * scale])


def q3_k(rng, spread):
    # 32 bytes of high bits, 64 of low ones: levels -4 ... 3; 12 bytes of scales -32 ... 31.
    return rng.randbytes(32 + 64 + 12) + half_one(rng, spread / (2.35 * 18.5))


def q4_k(rng, spread):
    # 8 scales and offsets of 6 bits (mean 31.5) in 12 bytes, levels 0 ... 15 in 128.
    scale = spread / (4.6 * 36 + 7.5 * 25)
    return half([scale, 7.5 * scale]) + rng.randbytes(12 + 128)


def q5_k(rng, spread):
    scale = spread / (9.2 * 36 + 15.5 * 25)
    return half([scale, 15.5 * scale]) + rng.randbytes(12 + 32 + 128)


def q6_k(rng, spread):
    # Levels -32 ... 31 in 128 + 64 bytes, 16 scales -128 ... 127.
    return rng.randbytes(128 + 64 + 16) + half_one(rng, spread / (18.5 * 74))


def iq4_xs(rng, spread):
    # 8 scales -32 ... 31 in 2 + 4 bytes; levels are entries of a table of 16 numbers, -127 ... 113.
    return half_one(rng, spread / (18.5 * 69)) + rng.randbytes(2 + 4 + 128)


def mxfp4(rng, spread):
    # The scale is a power of two, with bias 127; a level is a float of 4 bits, of spread 3.
    exponent = round(127 + math.log2(spread / 3))
    return bytes([exponent + rng.choice((-1, 0))]) + rng.randbytes(16)


# name: (number in the file, numbers in a block, what makes a block or None, what makes many numbers or None)
TYPES = {
    "F32": (0, 1, None, f32), "F16": (1, 1, None, f16), "BF16": (30, 1, None, bf16),
    "Q4_0": (2, 32, no_offset(4.6, 16), None), "Q4_1": (3, 32, with_offset(16, 16), None),
    "Q5_0": (6, 32, no_offset(9.2, 20), None), "Q5_1": (7, 32, with_offset(32, 20), None),
    "Q8_0": (8, 32, no_offset(74, 32), None),
    "Q2_K": (10, 256, q2_k, None), "Q3_K": (11, 256, q3_k, None), "Q4_K": (12, 256, q4_k, None), "Q5_K": (13, 256, q5_k, None),
    "Q6_K": (14, 256, q6_k, None),
    "IQ4_NL": (20, 32, no_offset(69, 16), None), "IQ4_XS": (23, 256, iq4_xs, None), "MXFP4": (39, 32, mxfp4, None),
    # Codebooks: a level is an index into a table of vectors, so any bytes are valid.
    "IQ2_XXS": (16, 256, no_offset(70, 64), None), "IQ2_XS": (17, 256, no_offset(70, 72), None),
    "IQ2_S": (22, 256, no_offset(70, 80), None), "IQ3_XXS": (18, 256, no_offset(150, 96), None),
    "IQ3_S": (21, 256, no_offset(145, 108), None), "IQ1_S": (19, 256, no_offset(7.5, 48), None),
}


def weights(rng, kind, count, spread):
    """Bytes of `count` random weights of a type; their standard deviation is about `spread`."""
    _, per_block, block, many = TYPES[kind]
    if many:
        return many(rng, count, spread)
    return b"".join(block(rng, spread) for _ in range(count // per_block))


def text(value):
    coded = value.encode()
    return struct.pack("<Q", len(coded)) + coded


def scalar(kind, value):
    return text(value) if kind == STRING else struct.pack({UINT32: "<I", INT32: "<i", FLOAT32: "<f", BOOL: "<?"}[kind], value)


class File:
    """A GGUF file in memory."""

    def __init__(self):
        self.keys, self.tensors, self.data = [], [], bytearray()

    def set(self, key, kind, value):
        self.keys.append(text(key) + struct.pack("<I", kind) + scalar(kind, value))

    def set_array(self, key, kind, values):
        self.keys.append(text(key) + struct.pack("<IIQ", ARRAY, kind, len(values)) + b"".join(scalar(kind, v) for v in values))

    def add(self, name, kind, sizes, content):
        """sizes: the length of a row first, as ggml counts."""
        head = text(name) + struct.pack("<I", len(sizes)) + struct.pack(f"<{len(sizes)}q", *sizes)
        self.tensors.append(head + struct.pack("<IQ", TYPES[kind][0], len(self.data)))
        self.data += content + bytes(-len(content) % ALIGNMENT)

    def content(self):
        head = MAGIC + struct.pack("<IQQ", VERSION, len(self.tensors), len(self.keys)) + b"".join(self.keys + self.tensors)
        return head + bytes(-len(head) % ALIGNMENT) + bytes(self.data)


def llama(kind, seed=1, width=256, heads=4, key_heads=2, inner=512, layers=2, outputs=320, context=512, experts=0):
    """A model of the llama architecture whose matrices have one type. Its tokens are bytes and a few letters' pairs. With experts, two of
    them compute each token (Mixtral's form)."""
    rng = random.Random(seed)
    file = File()
    file.set("general.architecture", STRING, "llama")
    file.set("general.name", STRING, f"random {kind}")
    for key, value in {"context_length": context, "embedding_length": width, "block_count": layers, "feed_forward_length": inner,
                       "attention.head_count": heads, "attention.head_count_kv": key_heads,
                       "rope.dimension_count": width // heads, "vocab_size": outputs,
                       **({"expert_count": experts, "expert_used_count": 2} if experts else {})}.items():
        file.set(f"llama.{key}", UINT32, value)
    file.set("llama.attention.layer_norm_rms_epsilon", FLOAT32, 1e-5)
    # SentencePiece's vocabulary: three special tokens, the 256 bytes, then pairs of letters.
    pairs = [a + b for a in "aeiou" for b in "bcdfghlmnprst"][:outputs - 259]
    file.set("tokenizer.ggml.model", STRING, "llama")
    file.set("tokenizer.ggml.add_space_prefix", BOOL, False)
    file.set_array("tokenizer.ggml.tokens", STRING, ["<unk>", "<s>", "</s>"] + [f"<0x{n:02X}>" for n in range(256)] + pairs)
    file.set_array("tokenizer.ggml.scores", FLOAT32, [0.0] * 259 + [-float(n) for n in range(len(pairs))])
    file.set_array("tokenizer.ggml.token_type", INT32, [2, 3, 3] + [6] * 256 + [1] * len(pairs))
    for key, value in {"unknown": 0, "bos": 1, "eos": 2}.items():
        file.set(f"tokenizer.ggml.{key}_token_id", UINT32, value)

    def matrix(name, into, out, spread=None):
        file.add(name + ".weight", kind, [into, out], weights(rng, kind, into * out, spread or into ** -0.5))

    def norm(name):
        file.add(name + ".weight", "F32", [width], struct.pack(f"<{width}f", *(rng.uniform(0.5, 1.5) for _ in range(width))))

    matrix("token_embd", width, outputs, 1)
    for layer in range(layers):
        at = f"blk.{layer}."
        norm(at + "attn_norm")
        matrix(at + "attn_q", width, width, 2 * width ** -0.5)  # steep enough that attention is not a mean
        matrix(at + "attn_k", width, width // heads * key_heads)
        matrix(at + "attn_v", width, width // heads * key_heads)
        matrix(at + "attn_output", width, width)
        norm(at + "ffn_norm")
        if experts:
            # Scores of experts decide which one computes, so they are exact, and far apart.
            file.add(at + "ffn_gate_inp.weight", "F32", [width, experts], f32(rng, width * experts, 2 * width ** -0.5))
        for name, into, out in (("gate", width, inner), ("up", width, inner), ("down", inner, width)):
            content = weights(rng, kind, into * out * (experts or 1), into ** -0.5)
            file.add(f"{at}ffn_{name}{'_exps' if experts else ''}.weight", kind, [into, out, experts][:3 if experts else 2], content)
    norm("output_norm")
    matrix("output", width, outputs)
    return file.content()
