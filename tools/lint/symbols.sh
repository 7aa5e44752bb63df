#!/bin/sh
# An ISA object may define no weak symbol: the linker could pick its copy for the whole program, and an older CPU
# would meet instructions that it lacks.
bad=$(for object in "$@"; do nm -C --defined-only "$object"; done | awk '$2=="W"||$2=="V"||$2=="u"' | grep -v 'DW.ref')
[ -z "$bad" ] || { echo "weak symbols in an ISA object:"; echo "$bad"; exit 1; }
