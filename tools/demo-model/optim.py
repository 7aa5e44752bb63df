"""How are the weights updated? Muon for the matrices of the layers, Adam for the embedding and the norms."""
import collections

import torch


def orthogonal(g):
    """Newton-Schulz steps towards the nearest orthogonal matrix, for a stack of matrices."""
    x = g.to(torch.bfloat16)
    x = x / (x.flatten(1).norm(dim=1)[:, None, None] + 1e-7)
    for _ in range(5):
        a = x @ x.transpose(1, 2)
        x = 3.4445 * x + (-4.775 * a + 2.0315 * a @ a) @ x
    return x.float()


class Muon:
    def __init__(self, parameters):
        self.groups = collections.defaultdict(list)
        for p in parameters:
            self.groups[tuple(sorted(p.shape))].append(p)
        self.m = {k: torch.zeros(len(ps), *k) for k, ps in self.groups.items()}

    def step(self, lr, momentum, decay=.05):
        for shape, ps in self.groups.items():
            flip = [p.shape != shape for p in ps]
            g = torch.stack([p.grad.t() if f else p.grad for p, f in zip(ps, flip)])
            m = self.m[shape].lerp_(g, 1 - momentum)
            update = orthogonal(g.lerp(m, momentum))
            for p, u, f in zip(ps, update, flip):
                p.data.mul_(1 - lr * decay).add_(u.t() if f else u, alpha=-lr * max(1, p.shape[0] / p.shape[1]) ** .5)
