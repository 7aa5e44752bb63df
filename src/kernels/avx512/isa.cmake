set(ISA_FLAGS -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx512vbmi -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
set(ISA_PROCESSOR "x86_64|AMD64")
