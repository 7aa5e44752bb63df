#!/bin/sh
# How is everything made? run.sh DIR MINUTES: vocabulary, training, GGUF file, evaluation.
set -e
cd "$(dirname "$0")"
dir=$1
python=${PYTHON:-/usr/bin/python3}
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}" OMP_WAIT_POLICY=PASSIVE GOMP_SPINCOUNT=0
# keep big buffers instead of handing them back each step
export GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=8000000000:glibc.malloc.top_pad=268435456
mkdir -p "$dir"
[ -f "$dir/merges.json" ] || $python bpe.py "$dir/merges.json"
$python train.py "$dir" "$2"
$python export.py "$dir" "$dir/ferrox-demo.gguf"
$python evaluate.py "$dir/ferrox-demo.gguf"
