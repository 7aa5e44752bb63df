"""What is in a GGUF file? The parts needed here: write and read metadata, F32 and Q8_0 tensors (version 3)."""
import struct

import numpy as np

U32, F32, BOOL, STRING, ARRAY, I32 = 4, 6, 7, 8, 9, 5
TENSOR_F32, TENSOR_Q8_0 = 0, 8
ALIGNMENT = 32
_format = {U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}


def quantize(x):
    """Blocks of 32: a half-precision scale and 32 signed bytes."""
    x = np.asarray(x, np.float32).reshape(-1, 32)
    scale = np.abs(x).max(1, keepdims=True) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
    y = x * inverse
    q = (np.sign(y) * np.floor(np.abs(y) + np.float32(.5))).astype(np.int8)
    return np.concatenate([scale.astype(np.float16).view(np.uint8), q.view(np.uint8)], 1).tobytes()


def dequantize(data, shape):
    blocks = np.frombuffer(data, np.uint8).reshape(-1, 34)
    scale = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    return (blocks[:, 2:].view(np.int8).astype(np.float32) * scale).reshape(shape)


def _string(s):
    b = s.encode()
    return struct.pack("<Q", len(b)) + b


def _value(kind, v):
    return _string(v) if kind == STRING else struct.pack(_format[kind], v)


def write(path, metadata, tensors):
    """metadata: key -> (kind, value), a list becomes an array; tensors: name -> float array, matrices as Q8_0."""
    head = [b"GGUF", struct.pack("<IQQ", 3, len(tensors), len(metadata))]
    for key, (kind, v) in metadata.items():
        if isinstance(v, list):
            head += [_string(key), struct.pack("<IIQ", ARRAY, kind, len(v)), *(_value(kind, x) for x in v)]
        else:
            head += [_string(key), struct.pack("<I", kind), _value(kind, v)]
    body, offset = [], 0
    for name, x in tensors.items():
        kind = TENSOR_Q8_0 if x.ndim == 2 else TENSOR_F32
        data = quantize(x) if kind == TENSOR_Q8_0 else np.asarray(x, np.float32).tobytes()
        head += [_string(name), struct.pack("<I", x.ndim), *(struct.pack("<Q", n) for n in reversed(x.shape)), struct.pack("<IQ", kind, offset)]
        data += bytes(-len(data) % ALIGNMENT)
        body.append(data)
        offset += len(data)
    head = b"".join(head)
    with open(path, "wb") as f:
        f.write(head + bytes(-len(head) % ALIGNMENT) + b"".join(body))


class _Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def number(self, form):
        v = struct.unpack_from(form, self.data, self.at)[0]
        self.at += struct.calcsize(form)
        return v

    def string(self):
        n = self.number("<Q")
        self.at += n
        return self.data[self.at - n:self.at].decode()

    def value(self, kind):
        if kind == STRING:
            return self.string()
        if kind == ARRAY:
            inner, n = self.number("<I"), self.number("<Q")
            return [self.value(inner) for _ in range(n)]
        return self.number(_format[kind])


def read(path):
    """(metadata, tensors as float32 arrays)"""
    r = _Reader(open(path, "rb").read())
    assert r.data[:4] == b"GGUF"
    r.at = 4
    assert r.number("<I") == 3
    n_tensors, n_metadata = r.number("<Q"), r.number("<Q")
    metadata = {r.string(): r.value(r.number("<I")) for _ in range(n_metadata)}
    infos = []
    for _ in range(n_tensors):
        name, dims = r.string(), r.number("<I")
        shape = [r.number("<Q") for _ in range(dims)][::-1]
        infos.append((name, shape, r.number("<I"), r.number("<Q")))
    start = r.at + -r.at % ALIGNMENT
    tensors = {}
    for name, shape, kind, offset in infos:
        n = int(np.prod(shape))
        size = n // 32 * 34 if kind == TENSOR_Q8_0 else n * 4
        data = r.data[start + offset:start + offset + size]
        tensors[name] = dequantize(data, shape) if kind == TENSOR_Q8_0 else np.frombuffer(data, np.float32).reshape(shape)
    return metadata, tensors
