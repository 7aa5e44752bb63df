#!/usr/bin/env python3
"""How does ferrox compare with llama.cpp here, model by model? Makes the models, measures both in turn, prints the table.

Results are kept as they come, one JSON line a model, so that a run that was stopped goes on where it was; --fresh
begins anew. With --page the table replaces what stands between the two markers of that file.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

MODELS = [("1b", weights) for weights in "Q4_0 Q4_K_M Q5_K_M Q6_K Q8_0 IQ4_XS MXFP4 F16 BF16".split()]
MODELS += [("135m", "Q8_0"), ("moe", "Q4_K_M"), ("1b", "IQ2_XS"), ("1b", "IQ3_S"), ("1b", "TQ2_0")]
SHAPE_NAMES = {"1b": "1B", "135m": "135M", "moe": "experts, 7B of which 1B"}
BEGIN, END = "<!-- bench-peers: begin -->\n", "<!-- bench-peers: end -->\n"


def make_model(options, shape, weights):
    path = options.models / f"{shape}-{weights}.gguf"
    if not path.exists():
        options.models.mkdir(parents=True, exist_ok=True)
        subprocess.run([options.build / "make_model", shape, weights, path], check=True)
    return path


def bench(options, path, peer):
    command = [options.build / "ferrox", "bench", "-m", path, "-p", options.n_prompt, "-n", options.n_gen, "-r",
               options.repetitions, "-t", options.threads, "-o", "jsonl"]
    command += ["--compare", peer] if peer else []
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return [json.loads(line) for line in done.stdout.splitlines()], None


def commit():
    found = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return found.stdout.strip() or "unknown"


def measure(options, shape, weights):
    path = make_model(options, shape, weights)
    rows, fault = bench(options, path, options.llama_bench)
    if rows is None:
        print(f"{path.name}: not compared: {fault}", file=sys.stderr)
        rows, fault = bench(options, path, None)
    if rows is None:
        sys.exit(f"{path.name}: {fault}")
    if not options.keep:
        path.unlink()
    return {"shape": shape, "weights": weights, "commit": commit(), "rows": rows}


def test_name(row):
    return f"pp{row['n_prompt']}" if row["n_prompt"] else f"tg{row['n_gen']}"


def table(results):
    lines = ["| model | test | ferrox t/s | share of the limit | llama.cpp t/s | ratio |", "|---|---|---:|---:|---:|---:|"]
    for result in results:
        name = f"{SHAPE_NAMES[result['shape']]} {result['weights']}"
        for row in result["rows"]:
            peer = f"{row['peer_median_ts']:.1f} | {row['ratio']:.2f}" if "ratio" in row else "- | -"
            share = f"{100 * row['share_of_limit']:.0f} % of {row['limit']}"
            lines.append(f"| {name} | {test_name(row)} | {row['median_ts']:.1f} | {share} | {peer} |")
    return "\n".join(lines) + "\n"


def middle(values):
    ordered = sorted(values)
    return ordered[len(ordered) // 2]


def machine_line(options, results):
    rows = [row for result in results for row in result["rows"]]
    commits = ", ".join(sorted({result["commit"] for result in results}))
    read, int8, f32 = (middle([row[name] for row in rows]) * 1e-9 for name in
                       ("read_bytes_per_second", "int8_operations_per_second", "f32_operations_per_second"))
    dates = sorted(row["test_time"][:10] for row in rows)
    return (f"{rows[0]['cpu_info']}, {rows[0]['n_threads']} threads, {rows[0]['backends']}, commit {commits}, "
            f"{dates[-1]}; the machine's own measured limits, medians: read {read:.0f} GB/s, int8 {int8:.0f} GOPS, "
            f"f32 {f32:.0f} GFLOPS. `make bench-peers`, {options.peer_name}, "
            f"-p {options.n_prompt} -n {options.n_gen} -r {options.repetitions} -t {options.threads}.\n\n")


def replace_table(page, text):
    whole = page.read_text()
    first, last = whole.index(BEGIN) + len(BEGIN), whole.index(END)
    page.write_text(whole[:first] + text + whole[last:])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("llama_bench", help="path of a llama-bench")
    parser.add_argument("--peer-name", default="llama-bench", help="how the table's caption calls it and its version")
    parser.add_argument("--build", type=Path, default=Path("build/release"), help="where ferrox and make_model are")
    parser.add_argument("--models", type=Path, default=Path("build/bench-models"))
    parser.add_argument("--keep", action="store_true", help="leave the models for the next time")
    parser.add_argument("--page", type=Path, help="a page whose table is replaced")
    parser.add_argument("--results", type=Path, default=Path("build/bench-peers.jsonl"))
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    parser.add_argument("--limit", type=int, default=len(MODELS), help="models to measure now, the rest later")
    parser.add_argument("-p", "--n-prompt", type=int, default=512)
    parser.add_argument("-n", "--n-gen", type=int, default=64)
    parser.add_argument("-r", "--repetitions", type=int, default=3)
    parser.add_argument("-t", "--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    if options.fresh:
        options.results.unlink(missing_ok=True)
    results = [json.loads(line) for line in options.results.read_text().splitlines()] if options.results.exists() else []
    done = {(result["shape"], result["weights"]) for result in results}
    for shape, weights in [model for model in MODELS if model not in done][: options.limit]:
        results.append(measure(options, shape, weights))
        with options.results.open("a") as out:
            out.write(json.dumps(results[-1]) + "\n")
    results.sort(key=lambda result: MODELS.index((result["shape"], result["weights"])))
    text = machine_line(options, results) + table(results)
    print(text, end="")
    if options.page:
        replace_table(options.page, text)


if __name__ == "__main__":
    main()
