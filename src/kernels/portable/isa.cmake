set(ISA_FLAGS -Wno-psabi)
