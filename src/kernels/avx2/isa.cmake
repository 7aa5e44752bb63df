set(ISA_FLAGS -mavx2 -mfma -mf16c -mbmi2)
set(ISA_PROCESSOR "x86_64|AMD64")
