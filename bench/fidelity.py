#!/usr/bin/env python3
"""How far does each format's own arithmetic lead from float arithmetic on the same weights? KL divergence per format.

Each file is compared with itself decoded to F32 (float_model): weights are equal, so what differs is that activations
become int8. K and V are kept as f32 in both. A few rows are computed again with FERROX_ISA=portable, the scalar
statement of the arithmetic, and must be equal to the bit.
"""
import argparse
import filecmp
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

FORMATS = ("Q8_0 Q6_K Q5_K Q5_1 Q5_0 Q4_K Q4_1 Q4_0 IQ4_NL IQ4_XS MXFP4 NVFP4 Q3_K Q2_K IQ3_S IQ3_XXS IQ2_S IQ2_XS "
           "IQ2_XXS IQ1_M IQ1_S TQ2_0 TQ1_0 Q2_0 Q1_0 BF16 F16").split()
F32_KV = ["--cache-type-k", "f32", "--cache-type-v", "f32"]


def run(arguments, **environment):
    done = subprocess.run([str(a) for a in arguments], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, arguments))}\n{done.stderr}")
    return done.stdout


def perplexity(ferrox, model, options, **environment):
    out = run([ferrox, "perplexity", "-m", model, "--json", *F32_KV, *options], **environment)
    return json.loads(out)


def equals_scalar_statement(ferrox, model, text, folder):
    """Whether a few rows have the bits that the portable kernels give them."""
    files = []
    for isa in ("", "portable"):
        files.append(folder / f"rows-{isa or 'best'}")
        environment = {"FERROX_ISA": isa} if isa else {}
        perplexity(ferrox, model, ["-f", text, "-c", "16", "--chunks", "1", "--save-logits", files[-1]], **environment)
    return filecmp.cmp(*files, shallow=False)


def measure(options, model, text, folder):
    """The divergence of `model` from itself in floats."""
    as_floats, base = folder / "float.gguf", folder / "base"
    run([options.build / "float_model", model, as_floats])
    ferrox = options.build / "ferrox"
    size = ["-c", options.context, "--chunks", options.chunks]
    perplexity(ferrox, as_floats, ["-f", text, *size, "--save-logits", base])
    report = perplexity(ferrox, model, ["--kl", base])
    report["scalar"] = equals_scalar_statement(ferrox, model, text, folder)
    as_floats.unlink()
    base.unlink()
    return report


def row(name, report):
    kl = report["kl_divergence"]
    return (f"| {name} | {kl['mean']['value']:.2e} | {kl['p99']:.2e} | {kl['maximum']:.2e} "
            f"| {100 * report['same_top_share']['value']:.1f} % | {'yes' if report['scalar'] else 'NO'} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="where ferrox and the makers are")
    parser.add_argument("--shape", default="135m", help="of the random models")
    parser.add_argument("--context", type=int, default=128)
    parser.add_argument("--chunks", type=int, default=4)
    parser.add_argument("--text", type=Path, default=Path("docs/cli.md"))
    parser.add_argument("--model", type=Path, action="append", default=[], help="measure these files instead")
    parser.add_argument("formats", nargs="*", help="formats of the random models; without: all")
    options = parser.parse_args()
    print("| weights | mean KL | 99 % | maximum | same likeliest token | equal to the scalar statement |")
    print("|---|---:|---:|---:|---:|---|", flush=True)
    failed = False
    with tempfile.TemporaryDirectory(dir=options.build) as name:
        folder = Path(name)
        for model in options.model:
            print(row(model.stem, measure(options, model, options.text, folder)), flush=True)
        for weights in [] if options.model else options.formats or FORMATS:
            model = folder / "model.gguf"
            run([options.build / "make_model", options.shape, weights, model])
            report = measure(options, model, options.text, folder)
            failed |= not report["scalar"] or report["kl_divergence"]["mean"]["value"] >= 1e-3
            print(row(f"random {options.shape}, {weights}", report), flush=True)
            model.unlink()
    sys.exit("a divergence of 1e-3 or more, or other bits than the scalar statement's" if failed else 0)


if __name__ == "__main__":
    main()
