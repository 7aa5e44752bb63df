"""How many outside vectors did the tests meet? Reads the XML results that GoogleTest wrote into a folder.

A test that used them carries the property `outside_vectors`, the number it checked; one that skipped says why.
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as xml

n_vectors = collections.Counter()
skips = collections.Counter()
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xml")):
    for case in xml.parse(path).iter("testcase"):
        for item in case.iter("property"):
            if item.get("name") == "outside_vectors":
                n_vectors[case.get("classname")] += int(item.get("value"))
        for item in case.iter("skipped"):
            skips[(item.get("message") or "no reason given").strip().splitlines()[-1]] += 1

print(f"outside vectors: {sum(n_vectors.values())} ran")
for suite, number in sorted(n_vectors.items()):
    print(f"  {suite}: {number}")
for reason, number in sorted(skips.items()):
    print(f"skipped tests: {number}: {reason}")
