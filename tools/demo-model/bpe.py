"""How does text become tokens? Byte-level BPE with the `smollm` pre-tokenizer: each digit alone, then GPT-2's splits."""
import collections
import itertools
import json
import re
import string
import sys

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<tools>", "</tools>"]
CONTROL = 3  # the first three are control tokens, the others are text that is always one token

_special = re.compile("(" + "|".join(map(re.escape, SPECIALS)) + ")")
# \p{L} is [^\W\d_] here, which is the same for the ASCII text of the training data
_pieces = re.compile(r"\d|'s|'t|'re|'ve|'m|'ll|'d| ?[^\W\d_]+| ?(?:[^\s\w]|_)+|\s+(?=\d)|\s+(?!\S)|\s+")


def byte_spelling():
    """GPT-2's printable stand-in for each byte."""
    keep = [*range(33, 127), *range(161, 173), *range(174, 256)]
    rest = itertools.count(256)
    return {b: chr(b) if b in keep else chr(next(rest)) for b in range(256)}


BYTE = byte_spelling()
UNBYTE = {c: b for b, c in BYTE.items()}


def spelled(text):
    return "".join(BYTE[b] for b in text.encode())


class Tokenizer:
    def __init__(self, merges):
        self.merges = merges
        self.rank = {tuple(m.split(" ")): i for i, m in enumerate(merges)}
        self.tokens = [BYTE[b] for b in range(256)] + [m.replace(" ", "") for m in merges] + SPECIALS
        self.id = {t: i for i, t in enumerate(self.tokens)}
        self.cache = {s: [self.id[s]] for s in SPECIALS}

    def _merge(self, piece):
        parts = list(spelled(piece))
        while len(parts) > 1:
            best = min(range(len(parts) - 1), key=lambda i: self.rank.get((parts[i], parts[i + 1]), 1 << 30))
            if (parts[best], parts[best + 1]) not in self.rank:
                break
            parts[best:best + 2] = [parts[best] + parts[best + 1]]
        return [self.id[p] for p in parts]

    def encode(self, text):
        ids = []
        for part in _special.split(text):
            for piece in [part] if part in self.cache else _pieces.findall(part):
                if piece not in self.cache:
                    if len(self.cache) > 200000:
                        self.cache = {s: [self.id[s]] for s in SPECIALS}
                    self.cache[piece] = self._merge(piece)
                ids += self.cache[piece]
        return ids

    def decode(self, ids):
        out = b""
        for i in ids:
            t = self.tokens[i]
            out += t.encode() if t in SPECIALS else bytes(UNBYTE[c] for c in t)
        return out.decode(errors="replace")

    def letter_pieces(self):
        """The tokens made of lower-case letters: what spelling has to know."""
        return sorted({t.lstrip("Ġ") for t in self.tokens[256:-len(SPECIALS)] if t.lstrip("Ġ").isascii() and t.lstrip("Ġ").islower() and t.lstrip("Ġ").isalpha()})


def train(texts, size):
    """Merges for a vocabulary of `size`. Space + letter comes first, so that every word starts with a token of its own."""
    counts = collections.Counter(p for t in texts for part in _special.split(t) if part not in SPECIALS for p in _pieces.findall(part))
    words = [(list(spelled(p)), n) for p, n in counts.items()]
    pairs, where = collections.Counter(), collections.defaultdict(set)
    for i, (w, n) in enumerate(words):
        for pair in zip(w, w[1:]):
            pairs[pair] += n
            where[pair].add(i)
    merges = []
    first = [("Ġ", c) for c in string.ascii_letters]
    while len(merges) < size - 256 - len(SPECIALS):
        a, b = pair = first.pop(0) if first else max(pairs, key=lambda p: (pairs[p], p))
        merges.append(f"{a} {b}")
        for i in list(where[pair]):
            w, n = words[i]
            for p in zip(w, w[1:]):
                pairs[p] -= n
            j = 0
            while j < len(w) - 1:
                if w[j] == a and w[j + 1] == b:
                    w[j:j + 2] = [a + b]
                j += 1
            for p in zip(w, w[1:]):
                pairs[p] += n
                where[p].add(i)
        pairs.pop(pair, None)
    return merges


def main(path, size=2048, chats=12000):
    from chats import stream
    merges = train(list(itertools.islice(stream(1, tools=.25), chats)), size)
    json.dump(merges, open(path, "w"), ensure_ascii=False, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:2])
