#!/usr/bin/env python3
"""Does each type of the program's namespace have one definition? Two of one name link without a word and overwrite each other's memory."""
import collections
import pathlib
import re
import sys

TYPE = re.compile(r"^(?:struct|class|enum class|enum) (\w+)[^;(]*\{", re.M)
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.M)

places = collections.defaultdict(set)
for header in sorted(pathlib.Path("src").rglob("*.h")):
    if header.is_relative_to("src/kernels"):
        continue  # each instruction set has a namespace of its own
    text = header.read_text()
    names = NAMESPACE.findall(text)
    for name in TYPE.findall(text):
        places[names[0] if names else "", name].add(str(header))

twice = {key: where for key, where in places.items() if len(where) > 1}
for (space, name), where in twice.items():
    print(f"{space}::{name}: expected one definition, found {len(where)}: {', '.join(sorted(where))}")
if not twice:
    print(f"types: {len(places)}, each defined once")
sys.exit(1 if twice else 0)
