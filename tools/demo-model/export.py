"""How does a checkpoint become a GGUF file? `export.py DIR FILE`"""
import json
import os
import pathlib
import sys

import torch

import gguf
from bpe import CONTROL, SPECIALS, Tokenizer
from gguf import BOOL, F32, I32, STRING, U32
from model import CONFIG
from render import SOURCE

CONTROL_TOKEN, USER_DEFINED_TOKEN, NORMAL_TOKEN = 3, 4, 1


def metadata(tokenizer, parameters):
    c = CONFIG
    types = [NORMAL_TOKEN] * (len(tokenizer.tokens) - len(SPECIALS))
    types += [CONTROL_TOKEN] * CONTROL + [USER_DEFINED_TOKEN] * (len(SPECIALS) - CONTROL)
    return {
        "general.architecture": (STRING, "llama"),
        "general.type": (STRING, "model"),
        "general.name": (STRING, "ferrox-demo"),
        "general.description": (STRING, "A tiny chat model trained from scratch on generated text, bundled with ferrox."),
        "general.size_label": (STRING, f"{parameters / 1e6:.1f}M"),
        "general.license": (STRING, "apache-2.0"),
        "general.quantization_version": (U32, 2),
        "general.file_type": (U32, 7),
        "llama.block_count": (U32, c["layers"]),
        "llama.context_length": (U32, c["context"]),
        "llama.embedding_length": (U32, c["width"]),
        "llama.feed_forward_length": (U32, c["ff"]),
        "llama.attention.head_count": (U32, c["heads"]),
        "llama.attention.head_count_kv": (U32, c["kv_heads"]),
        "llama.attention.layer_norm_rms_epsilon": (F32, c["eps"]),
        "llama.rope.freq_base": (F32, c["rope_base"]),
        "llama.rope.dimension_count": (U32, c["head"]),
        "llama.vocab_size": (U32, c["vocab"]),
        "tokenizer.ggml.model": (STRING, "gpt2"),
        "tokenizer.ggml.pre": (STRING, "smollm"),
        "tokenizer.ggml.tokens": (STRING, tokenizer.tokens),
        "tokenizer.ggml.token_type": (I32, types),
        "tokenizer.ggml.merges": (STRING, tokenizer.merges),
        "tokenizer.ggml.bos_token_id": (U32, tokenizer.id["<|endoftext|>"]),
        "tokenizer.ggml.eos_token_id": (U32, tokenizer.id["<|im_end|>"]),
        "tokenizer.ggml.padding_token_id": (U32, tokenizer.id["<|endoftext|>"]),
        "tokenizer.ggml.add_bos_token": (BOOL, False),
        "tokenizer.chat_template": (STRING, SOURCE),
    }


def main(folder, path):
    folder = pathlib.Path(folder)
    state = torch.load(folder / "checkpoint.pt")
    tensors = {f"{name}.weight": p.float().numpy() for name, p in state["model"].items()}
    tokenizer = Tokenizer(json.load(open(folder / "merges.json")))
    gguf.write(path + ".tmp", metadata(tokenizer, sum(x.size for x in tensors.values())), tensors)
    os.replace(path + ".tmp", path)
    print(f"{path}: {os.path.getsize(path)} bytes, step {state['step']}, {state['spent']:.0f} s of training")


if __name__ == "__main__":
    main(*sys.argv[1:3])
