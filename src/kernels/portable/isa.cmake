# -O1: above it g++ spends its time on unrolling what nobody runs for speed.
set(ISA_FLAGS -O1)
