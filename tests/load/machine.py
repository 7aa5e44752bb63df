"""What can happen to the machine under a server: it stops for a while, its clock jumps, its disk is full."""
import atexit
import os
import shutil
import signal
import subprocess
import tempfile
import time


class Clock:
    """Wall-clock time as the server sees it, by libfaketime; time that only goes forward isn't touched. Whether it can be had: `is_there`."""

    LIBRARIES = ["/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"]

    def __init__(self):
        self.library = next((path for path in self.LIBRARIES if os.path.exists(path)), None)
        self.is_there = self.library is not None
        self.file = tempfile.NamedTemporaryFile("w", suffix=".clock")
        self.jump(0)

    def environment(self):
        if not self.is_there:
            return {}
        return {"LD_PRELOAD": self.library, "FAKETIME_TIMESTAMP_FILE": self.file.name, "FAKETIME_NO_CACHE": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1"}

    def jump(self, seconds):
        """From now on the clock is `seconds` away from the true one."""
        self.file.seek(0)
        self.file.truncate()
        self.file.write(f"{seconds:+d}s")
        self.file.flush()


class SmallDisk:
    """A folder on a file system of its own with `mebibytes`, which can be filled. Needs the right to mount: `is_there`."""

    def __init__(self, mebibytes):
        self.folder = tempfile.mkdtemp(prefix="small-disk-")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "none", self.folder], capture_output=True)
        self.is_there = mounted.returncode == 0
        atexit.register(self._remove)
        self.filler = os.path.join(self.folder, "filler")

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 20))
            except OSError:
                pass

    def empty(self):
        if os.path.exists(self.filler):
            os.remove(self.filler)

    def _remove(self):
        if self.is_there:
            subprocess.run(["umount", "-l", self.folder], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def stop_for(server, seconds):
    """The process stands still, as in a suspended machine or container."""
    os.kill(server.pid, signal.SIGSTOP)
    time.sleep(seconds)
    os.kill(server.pid, signal.SIGCONT)
