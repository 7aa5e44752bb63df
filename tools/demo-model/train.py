"""How is the model trained? `train.py DIR MINUTES`: resumable, its schedule counts time spent in steps only."""
import json
import math
import os
import pathlib
import random
import sys
import time

import torch
from torch.nn import functional as F

import chats
import tasks
from bpe import SPECIALS, Tokenizer
from model import CONFIG, Model
from optim import Muon

TOKENS = 4096  # of a step
DECAY = .55    # the last part of the time, in which the learning rate falls


class Rows:
    """Chats packed into rows of one length; a chat too long for the row is skipped."""

    def __init__(self, tokenizer, seed, length):
        self.t, self.r, self.length = tokenizer, random.Random(seed), length
        self.texts = {k: chats.stream(f"{seed}{k}", *k) for k in [(0., .6), (0., 0.), (.85, .2)]}
        self.waiting = []

    def row(self, early):
        key = (.85, .2) if self.length > 256 else (0., .6) if early else (0., 0.)
        while len(self.waiting) < 100:
            ids = self.t.encode(next(self.texts[key])) + [self.t.id[SPECIALS[0]]]
            if len(ids) <= self.length + 1:
                self.waiting.append(ids)
        row = self.waiting.pop(0)
        while True:  # then whatever fills the rest best
            fits = [ids for ids in self.waiting if len(ids) <= self.length + 1 - len(row)]
            if not fits:
                return row + [0] * (self.length + 1 - len(row))
            best = max(fits, key=len)
            self.waiting.remove(best)
            row += best

    def batch(self, early):
        rows = [self.row(early) for _ in range(TOKENS // self.length)]
        ids = torch.tensor(rows)
        start, end = self.t.id["<|im_start|>"], self.t.id["<|im_end|>"]
        who = self.t.encode("assistant")[0]
        positions, wanted = [], []
        for n, row in enumerate(rows):
            jumps = {}
            if self.r.random() < .2:  # gaps in the positions, so that far positions are seen in short rows
                starts = [i for i, x in enumerate(row) if x == start] or [0]
                room = CONFIG["context"] - self.length - 1
                for _ in range(self.r.randint(1, 3)):
                    jump = self.r.randint(0, room)
                    room -= jump
                    i = self.r.choice(starts)
                    jumps[i] = jumps.get(i, 0) + jump
            at, inside = 0, False
            line = []
            for i, x in enumerate(row[:-1]):
                at += jumps.get(i, 0)
                line.append(at)
                at += 1
                if x == start:
                    inside = row[i + 1] == who
                    since = i + 2  # the line break after `assistant` predicts the first token of the answer
                if inside and i >= since:
                    if x == end:
                        inside = False
                    else:
                        wanted.append(n * self.length + i)
            positions.append(line)
        wanted = torch.tensor(wanted)
        return ids[:, :-1], torch.tensor(positions), wanted, ids[:, 1:].reshape(-1)[wanted]


def main(folder, minutes):
    torch.manual_seed(1)
    folder, budget = pathlib.Path(folder), float(minutes) * 60
    tokenizer = Tokenizer(json.load(open(folder / "merges.json")))
    tasks.PIECES[:] = tokenizer.letter_pieces()
    model = Model()
    matrices = [p for n, p in model.named_parameters() if p.dim() == 2 and "blk" in n]
    others = [p for n, p in model.named_parameters() if not (p.dim() == 2 and "blk" in n)]
    muon, adam = Muon(matrices), torch.optim.Adam(others, lr=3e-3, betas=(.9, .98), eps=1e-10)
    step, spent, seed = 0, 0.0, 1
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        s = torch.load(checkpoint)
        model.load_state_dict(s["model"])
        adam.load_state_dict(s["adam"])
        muon.m, step, spent, seed = s["muon"], s["step"], s["spent"], s["seed"] + 1
    short, long = Rows(tokenizer, f"{seed}s", 256), Rows(tokenizer, f"{seed}l", 512)
    saved, losses, answers = spent, {256: [], 512: []}, 0
    while spent < budget:
        begin = time.monotonic()
        done = spent / budget
        rate = min(1, (step + 1) / 40) * min(1, max(.02, (1 - done) / DECAY))
        rows = long if step % 3 == 1 and step > 100 else short
        ids, positions, wanted, target = rows.batch(done < .12)
        loss = F.cross_entropy(model(ids, positions, wanted), target)
        model.zero_grad(set_to_none=True)
        loss.backward()
        for group in adam.param_groups:
            group["lr"] = 3e-3 * rate
        adam.step()
        muon.step(.02 * rate, .85 + .10 * min(1, step / 200))
        losses[rows.length].append(loss.item())
        answers += len(target)
        if math.isnan(losses[rows.length][-1]):
            raise SystemExit("the loss is not a number")
        step += 1
        spent += min(time.monotonic() - begin, 15)  # a pause does not count
        if step % 50 == 0:
            means = " ".join(f"{k}: {sum(v) / max(1, len(v)):.4f}" for k, v in losses.items())
            print(f"{time.strftime('%H:%M:%S')} step {step} time {spent:.0f}/{budget:.0f} rate {rate:.3f} loss {means} "
                  f"{step * TOKENS / spent:.0f} tokens/s, {answers} answer tokens", flush=True)
            losses = {256: [], 512: []}
        if spent - saved > 240 or spent >= budget:
            saved = spent
            torch.save({"model": model.state_dict(), "adam": adam.state_dict(), "muon": muon.m, "step": step, "spent": spent, "seed": seed},
                       folder / "checkpoint.tmp")
            os.replace(folder / "checkpoint.tmp", checkpoint)


if __name__ == "__main__":
    main(*sys.argv[1:3])
