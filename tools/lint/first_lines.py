"""Does each source file begin by saying which question it answers? Its first line must be a comment of some length.

A .cpp file beside a header of its own name is excused: the header says it.
"""
import pathlib
import subprocess
import sys

root = pathlib.Path(sys.argv[1])
listed = subprocess.run(["git", "ls-files", "*.cpp", "*.h", "*.inl", "*.sh", "*.py", "*.cmake"],
                        cwd=root, capture_output=True, text=True, check=True).stdout.split("\n")
starts = {".cpp": "// ", ".h": "// ", ".inl": "// ", ".sh": "# ", ".cmake": "# ", ".py": '"""'}
bad = []
n_files = 0
for name in filter(None, listed):
    path = root / name
    if path.name == "isa.cmake" or not path.exists():
        continue  # two settings a file; its folder is its name
    if path.suffix == ".cpp" and path.with_suffix(".h").exists():
        continue
    n_files += 1
    lines = [line for line in path.read_text(encoding="utf-8").split("\n") if not line.startswith("#!")]
    if not lines[0].startswith(starts[path.suffix]) or len(lines[0]) < 20:
        bad.append(f"{name}: the first line must say which question the file answers, found '{lines[0][:60]}'")
print("\n".join(bad) or f"first lines: {n_files} files, clean")
sys.exit(bool(bad))
