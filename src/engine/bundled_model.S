// The bytes of assets/ferrox-demo.gguf as they are, aligned for tensors that are read in place.
#if defined(__linux__)
    .section .note.GNU-stack, "", %progbits
#endif
    .section .rodata
    .balign 64
    .globl ferrox_bundled_model_begin
ferrox_bundled_model_begin:
    .incbin FERROX_BUNDLED_MODEL
    .globl ferrox_bundled_model_end
ferrox_bundled_model_end:
    .byte 0
