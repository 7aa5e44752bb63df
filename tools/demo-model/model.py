"""What is the network? A small llama: RMSNorm, interleaved RoPE, grouped queries, SwiGLU, tied embeddings."""
import math

import torch
from torch import nn
from torch.nn import functional as F

CONFIG = dict(vocab=2048, width=256, layers=5, ff=768, heads=8, kv_heads=2, head=32, context=4096, rope_base=10000.0, eps=1e-5)
BLOCK = 128  # rows are a multiple of this


def rope_tables(c):
    angle = torch.arange(c["context"])[:, None] * c["rope_base"] ** (-torch.arange(0, c["head"], 2) / c["head"])[None]
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """Pairs of x (batch, time, heads, head) turn together; here a pair is (i, i + head / 2), see row_order."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, a * sin + b * cos), -1)


def row_order(c):
    """`llama` files pair (2i, 2i+1). Even rows first, then odd ones, makes the same pairs contiguous, which is faster."""
    head = [*range(0, c["head"], 2), *range(1, c["head"], 2)]
    turned = (c["heads"] + c["kv_heads"]) * c["head"]
    rows = [start + i for start in range(0, turned, c["head"]) for i in head]
    return torch.tensor(rows + [*range(turned, turned + c["kv_heads"] * c["head"])])


class Softmax(torch.autograd.Function):
    """The usual one, with a backward pass that is faster in bfloat16."""

    @staticmethod
    def forward(ctx, x):
        p = x.softmax(-1)
        ctx.save_for_backward(p)
        return p

    @staticmethod
    def backward(ctx, g):
        p, = ctx.saved_tensors
        g = g * p
        return torch.addcmul(g, p, g.sum(-1, keepdim=True), value=-1)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c, self.order = c, row_order(c)
        w, kv = c["width"], c["kv_heads"] * c["head"]

        def matrix(rows, columns, scale):
            return nn.Parameter(torch.randn(rows, columns) * scale / math.sqrt(columns))
        self.attn_norm, self.ffn_norm = nn.Parameter(torch.ones(w)), nn.Parameter(torch.ones(w))
        self.attn_q, self.attn_k, self.attn_v = matrix(w, w, .8), matrix(kv, w, .8), matrix(kv, w, .8)
        self.attn_output = matrix(w, w, 0)
        self.ffn_gate, self.ffn_up, self.ffn_down = matrix(c["ff"], w, .8), matrix(c["ff"], w, .8), matrix(w, c["ff"], 0)

    def forward(self, x, cos, sin, mask):
        c, (b, t, w) = self.c, x.shape
        low = torch.bfloat16
        h = norm(x, self.attn_norm, c["eps"]).to(low)
        qkv = F.linear(h, torch.cat((self.attn_q, self.attn_k, self.attn_v)).to(low)[self.order])
        q, k, v = qkv.view(b, t, -1, c["head"]).split((c["heads"], c["kv_heads"], c["kv_heads"]), 2)
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        # the query heads of one key head are stacked as rows, so that keys need no copies
        group = c["heads"] // c["kv_heads"]
        q = (q.transpose(1, 2) * c["head"] ** -.5).reshape(b * c["kv_heads"], group, t, c["head"])
        k = k.transpose(1, 2).reshape(b * c["kv_heads"], t, c["head"])
        v = v.transpose(1, 2).reshape(b * c["kv_heads"], t, c["head"])
        o = []
        for i in range(0, t, BLOCK):  # a block of queries sees no key behind it
            end = i + BLOCK
            p = Softmax.apply(torch.baddbmm(mask[:, :, t - end:], q[:, :, i:end].reshape(len(k), -1, c["head"]), k[:, :end].transpose(1, 2)))
            o.append((p @ v[:, :end]).view(b, c["heads"], BLOCK, c["head"]))
        o = torch.cat(o, 2).transpose(1, 2).reshape(b, t, w)
        x = x + F.linear(o, self.attn_output.to(low))
        h = norm(x, self.ffn_norm, c["eps"]).to(low)
        return x + F.linear(F.silu(F.linear(h, self.ffn_gate.to(low))) * F.linear(h, self.ffn_up.to(low)), self.ffn_down.to(low))


def norm(x, g, eps):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * g


class Model(nn.Module):
    def __init__(self, c=CONFIG):
        super().__init__()
        self.c = c
        self.token_embd = nn.Parameter(torch.randn(c["vocab"], c["width"]) * .02)
        self.blk = nn.ModuleList(Layer(c) for _ in range(c["layers"]))
        self.output_norm = nn.Parameter(torch.ones(c["width"]))
        self.cos, self.sin = rope_tables(c)
        self.masks = {}

    def mask(self, t):
        if t not in self.masks:
            m = torch.zeros(BLOCK, t)
            m[:, -BLOCK:] = torch.full((BLOCK, BLOCK), -1e9).triu(1)
            self.masks[t] = m.repeat(self.c["heads"] // self.c["kv_heads"], 1)[None].to(torch.bfloat16)
        return self.masks[t]

    def forward(self, ids, positions, wanted):
        """Logits at the wanted places (a flat index), for ids and positions of shape batch, time."""
        cos, sin = (t[positions][:, :, None].to(torch.bfloat16) for t in (self.cos, self.sin))
        x, mask = self.token_embd[ids], self.mask(ids.shape[1])
        for layer in self.blk:
            x = layer(x, cos, sin, mask)
        x = norm(x.flatten(0, 1)[wanted], self.output_norm, self.c["eps"])
        return F.linear(x.to(torch.bfloat16), self.token_embd.to(torch.bfloat16)).float()
