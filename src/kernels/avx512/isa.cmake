set(ISA_FLAGS -mavx512f -mavx512bw -mavx512vl -mavx512dq -mavx512vnni -mavx512vbmi -mfma -mf16c -mbmi2 -mprefer-vector-width=512)
set(ISA_PROCESSOR "x86_64|AMD64")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 takes its own _mm512_undefined_* for reads of uninitialised variables (GCC bug 105593).
  list(APPEND ISA_FLAGS -Wno-uninitialized -Wno-maybe-uninitialized)
endif()
