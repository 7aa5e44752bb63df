"""What does the exported file compute? A plain numpy forward pass with a cache, from the file alone."""
import numpy as np

import gguf
from bpe import Tokenizer


class Reference:
    def __init__(self, path, dtype=np.float32):
        m, tensors = gguf.read(path)
        self.metadata = m
        self.w = {k: v.astype(dtype) for k, v in tensors.items()}
        self.layers, self.heads, self.kv_heads = m["llama.block_count"], m["llama.attention.head_count"], m["llama.attention.head_count_kv"]
        self.head, self.eps = m["llama.rope.dimension_count"], m["llama.attention.layer_norm_rms_epsilon"]
        angle = np.arange(m["llama.context_length"])[:, None] * m["llama.rope.freq_base"] ** (-np.arange(0, self.head, 2) / self.head)
        self.cos, self.sin = np.cos(angle)[:, None].astype(dtype), np.sin(angle)[:, None].astype(dtype)
        self.tokenizer = Tokenizer(m["tokenizer.ggml.merges"])

    def _norm(self, x, name):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.w[name + ".weight"]

    def _rotate(self, x, start):
        cos, sin = self.cos[start:start + len(x)], self.sin[start:start + len(x)]
        out = np.empty_like(x)
        a, b = x[..., 0::2], x[..., 1::2]
        out[..., 0::2], out[..., 1::2] = a * cos - b * sin, a * sin + b * cos
        return out

    def forward(self, ids, cache=None):
        """(logits of every position, cache)"""
        cache = cache or [None] * self.layers
        start, t = 0 if cache[0] is None else cache[0][0].shape[1], len(ids)
        x = self.w["token_embd.weight"][ids]
        hidden = np.triu(np.full((t, t), -np.inf, x.dtype), 1)
        hidden = np.concatenate([np.zeros((t, start), x.dtype), hidden], 1)
        after = []
        for n in range(self.layers):
            def linear(v, name):
                return v @ self.w[f"blk.{n}.{name}.weight"].T
            h = self._norm(x, f"blk.{n}.attn_norm")
            q, k, v = (linear(h, "attn_" + c).reshape(t, -1, self.head) for c in "qkv")
            q, k = self._rotate(q, start).transpose(1, 0, 2), self._rotate(k, start).transpose(1, 0, 2)
            v = v.transpose(1, 0, 2)
            if cache[n] is not None:
                k, v = np.concatenate([cache[n][0], k], 1), np.concatenate([cache[n][1], v], 1)
            after.append((k, v))
            group = self.heads // self.kv_heads
            s = np.einsum("gmth,gsh->gmts", q.reshape(self.kv_heads, group, t, self.head), k, optimize=True) / np.sqrt(x.dtype.type(self.head)) + hidden
            p = np.exp(s - s.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            o = np.einsum("gmts,gsh->tgmh", p, v, optimize=True).reshape(t, -1)
            x = x + linear(o, "attn_output")
            h = self._norm(x, f"blk.{n}.ffn_norm")
            gate = linear(h, "ffn_gate")
            x = x + linear(gate / (1 + np.exp(-gate)) * linear(h, "ffn_up"), "ffn_down")
        return self._norm(x, "output_norm") @ self.w["token_embd.weight"].T, after

    def generate(self, ids, limit=80):
        """The greedy continuation, and the logits of its first token."""
        end = self.metadata["tokenizer.ggml.eos_token_id"]
        logits, cache = self.forward(ids)
        first, out = logits[-1], []
        while len(out) < limit:
            out.append(int(logits[-1].argmax()))
            if out[-1] == end:
                break
            logits, cache = self.forward(out[-1:], cache)
        return out, first
