"""Is every #include allowed by the room(<name> DEPENDS <rooms>) lines of the root CMakeLists.txt?"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
lines = re.findall(r"^room\((\w+) DEPENDS([\w ]*?)(?: USES .*)?\)", (root / "CMakeLists.txt").read_text(), re.M)
allowed = {name: {name, *depends.split()} for name, depends in lines}
bad = []
for path in sorted((root / "src").rglob("*.*")):
    room = path.relative_to(root / "src").parts[0]
    if room not in allowed:
        continue
    for number, text in enumerate(path.read_text().splitlines(), 1):
        match = re.match(r'\s*#include "([a-z_]+)/', text)
        if match and match[1] not in allowed[room]:
            bad.append(f"{path.relative_to(root)}:{number}: {room} may not include {match[1]}")
print("\n".join(bad) or f"layers: {len(allowed)} rooms, clean")
sys.exit(bool(bad))
